/* The bound engine's tree search on the cubic lattice, in plain C. */
#define BOUND_CUBIC
#include "core/engines/bound/bound_tree.h"

const bound_kernel sf_bound_kernel_cubic_portable = {
    .name = "cubic, portable",
    .run = tree_run,
    .expand = tree_expand,
    .probe = tree_probe,
};

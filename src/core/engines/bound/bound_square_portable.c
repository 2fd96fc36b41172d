/* The bound engine's tree search on the square lattice, in plain C. */
#include "core/engines/bound/bound_tree.h"

const bound_kernel sf_bound_kernel_square_portable = {
    .name = "square, portable",
    .run = tree_run,
    .expand = tree_expand,
    .probe = tree_probe,
};

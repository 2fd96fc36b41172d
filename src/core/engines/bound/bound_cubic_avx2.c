/* The bound engine's tree search on the cubic lattice, compiled for AVX2 where that exists. */
#define BOUND_CUBIC
#include "core/engines/bound/bound_tree.h"

const bound_kernel sf_bound_kernel_cubic_avx2 = {
    .name = "cubic, avx2",
    .run = tree_run,
    .expand = tree_expand,
    .probe = tree_probe,
};

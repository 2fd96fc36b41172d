/* The bound engine's tree search on the square lattice, compiled for AVX2 where that exists. */
#include "core/engines/bound/bound_tree.h"

const bound_kernel sf_bound_kernel_square_avx2 = {
    .name = "square, avx2",
    .run = tree_run,
    .expand = tree_expand,
    .probe = tree_probe,
};

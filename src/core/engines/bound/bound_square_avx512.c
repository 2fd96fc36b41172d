/* The bound engine's tree search on the square lattice, compiled for AVX-512 where that exists. */
#include "core/engines/bound/bound_tree.h"

const bound_kernel sf_bound_kernel_square_avx512 = {
    .name = "square, avx512",
    .run = tree_run,
    .expand = tree_expand,
    .probe = tree_probe,
};

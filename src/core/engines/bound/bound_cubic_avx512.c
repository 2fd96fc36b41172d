/* The bound engine's tree search on the cubic lattice, compiled for AVX-512 where that exists. */
#define BOUND_CUBIC
#include "core/engines/bound/bound_tree.h"

const bound_kernel sf_bound_kernel_cubic_avx512 = {
    .name = "cubic, avx512",
    .run = tree_run,
    .expand = tree_expand,
    .probe = tree_probe,
};

/* Tail merging on the square lattice, compiled for AVX2; chosen at run time. */
#ifdef __x86_64__
#define SQUARE_COUNT sf_square_count_avx2
#include "core/engines/merge/merge_square_kernel.h"
#else
typedef int sf_square_count_avx2_absent; /* another kind of processor */
#endif

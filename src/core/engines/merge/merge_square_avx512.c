/* Tail merging on the square lattice, compiled for AVX-512; chosen at run time. */
#ifdef __x86_64__
#define SQUARE_COUNT sf_square_count_avx512
#include "core/engines/merge/merge_square_kernel.h"
#else
typedef int sf_square_count_avx512_absent; /* another kind of processor */
#endif

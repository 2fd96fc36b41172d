/* Tail merging on the cubic lattice, compiled for AVX-512; chosen at run time. */
#ifdef __x86_64__
#define CUBIC_COUNT sf_cubic_count_avx512
#include "core/engines/merge/merge_cubic_kernel.h"
#else
typedef int sf_cubic_count_avx512_absent; /* another kind of processor */
#endif

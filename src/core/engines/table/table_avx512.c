/* The table kernels with AVX-512 and VPOPCNTDQ. Compiled with that instruction set; chosen at run time. */
#ifdef __AVX512VPOPCNTDQ__
#include "core/base/vec_avx512.h"
#include "core/engines/table/table_set_kernel.h"
#include "core/engines/table/table_sliced_kernel.h"
#include "core/engines/table/table_weighted_kernel.h"

const sf_set_kernel sf_set_kernel_avx512 = {.scores = set_scores, .most = set_most};
const sf_sliced_kernel sf_sliced_kernel_avx512 = {.histograms = sliced_histograms, .weighted = weighted_histogram};
#else
typedef int sf_table_avx512_absent; /* another kind of processor */
#endif

/* The table kernels with AVX2. Compiled with that instruction set; chosen at run time. */
#ifdef __AVX2__
#include "core/base/vec_avx2.h"
#include "core/engines/table/table_set_kernel.h"
#include "core/engines/table/table_sliced_kernel.h"
#include "core/engines/table/table_weighted_kernel.h"

const sf_set_kernel sf_set_kernel_avx2 = {.scores = set_scores, .most = set_most};
const sf_sliced_kernel sf_sliced_kernel_avx2 = {.histograms = sliced_histograms, .weighted = weighted_histogram};
#else
typedef int sf_table_avx2_absent; /* another kind of processor */
#endif

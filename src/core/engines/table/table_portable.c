/* The table kernels in plain C. */
#include "core/base/vec_portable.h"
#include "core/engines/table/table_set_kernel.h"
#include "core/engines/table/table_sliced_kernel.h"
#include "core/engines/table/table_weighted_kernel.h"

const sf_set_kernel sf_set_kernel_portable = {.scores = set_scores, .most = set_most};
const sf_sliced_kernel sf_sliced_kernel_portable = {.histograms = sliced_histograms, .weighted = weighted_histogram};

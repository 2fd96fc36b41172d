/* The census kernel in plain C. */
#include "core/engines/census_counts_kernel.h"
#include "core/engines/census_kernel.h"

const sf_census_kernel sf_census_kernel_portable = {.answer = census_answer, .answer_counts = counts_answer};

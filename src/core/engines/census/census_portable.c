/* The census kernel in plain C. */
#include "core/engines/census/census_counts_kernel.h"
#include "core/engines/census/census_kernel.h"
#include "core/engines/census/census_model_kernel.h"

const sf_census_kernel sf_census_kernel_portable = {.answer = census_answer, .answer_counts = counts_answer};
const sf_census_model_kernel sf_census_model_kernel_portable = MODEL_KERNEL;

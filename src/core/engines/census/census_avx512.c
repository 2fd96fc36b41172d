/* The census kernel with AVX-512. Compiled with that instruction set; chosen at run time. */
#ifdef __AVX512VPOPCNTDQ__
#include "core/engines/census/census_counts_kernel.h"
#include "core/engines/census/census_kernel.h"
#include "core/engines/census/census_model_kernel.h"

const sf_census_kernel sf_census_kernel_avx512 = {.answer = census_answer, .answer_counts = counts_answer};
const sf_census_model_kernel sf_census_model_kernel_avx512 = MODEL_KERNEL;
#else
typedef int sf_census_avx512_absent; /* another kind of processor */
#endif

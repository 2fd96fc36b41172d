/* Which kernel runs. */
#include "core/engines/bound/bound_kernel.h"

#include "core/base/isa.h"

const bound_kernel *sf_bound_kernel_choose(int dimension)
{
    static const bound_kernel *const square[SF_ISA_COUNT] = {
        [SF_ISA_PORTABLE] = &sf_bound_kernel_square_portable,
        [SF_ISA_AVX2] = &sf_bound_kernel_square_avx2,
        [SF_ISA_AVX512] = &sf_bound_kernel_square_avx512,
    };
    static const bound_kernel *const cubic[SF_ISA_COUNT] = {
        [SF_ISA_PORTABLE] = &sf_bound_kernel_cubic_portable,
        [SF_ISA_AVX2] = &sf_bound_kernel_cubic_avx2,
        [SF_ISA_AVX512] = &sf_bound_kernel_cubic_avx512,
    };
    const sf_isa isa = sf_isa_get();
    return dimension == 2 ? square[isa] : cubic[isa];
}

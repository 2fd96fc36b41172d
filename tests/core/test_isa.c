/* The choice of the instruction set. */
#include "core/base/isa.h"

#include <stdlib.h>
#include <string.h>

#include "../test_main.h"

static void test_holding_down(void)
{
    unsetenv("STARFOLD_ISA");
    sf_isa best = sf_isa_get();
    CU_ASSERT_EQUAL(sf_isa_check(NULL), 0);
    for (int i = 0; i < SF_ISA_COUNT; i++) {
        setenv("STARFOLD_ISA", sf_isa_name((sf_isa)i), 1);
        CU_ASSERT_EQUAL(sf_isa_get(), (sf_isa)i < best ? (sf_isa)i : best);
        CU_ASSERT_EQUAL(sf_isa_check(NULL), 0);
    }
    setenv("STARFOLD_ISA", "", 1);
    CU_ASSERT_EQUAL(sf_isa_get(), best);
    CU_ASSERT_EQUAL(sf_isa_check(NULL), 0);
    unsetenv("STARFOLD_ISA");
}

static void test_unknown(void)
{
    static const char *const wrong[] = {"AVX2", "avx", "avx2 ", "sse", "neon", "0"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sf_error err = {0};
        setenv("STARFOLD_ISA", wrong[i], 1);
        CU_ASSERT_EQUAL(sf_isa_check(&err), SF_EINPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, wrong[i]));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "portable, avx2 and avx512"));
        CU_ASSERT_EQUAL(sf_isa_get(), SF_ISA_PORTABLE);
    }
    unsetenv("STARFOLD_ISA");
}

const test_case test_cases[] = {
    {"STARFOLD_ISA can only hold the set down", test_holding_down},
    {"an unknown STARFOLD_ISA is an error", test_unknown},
    {NULL, NULL},
};

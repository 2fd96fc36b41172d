/* Runs the table of tests of a unit test program; see test_main.h. */
#include "test_main.h"

#include <CUnit/Basic.h>
#include <inttypes.h>
#include <stdlib.h>

uint64_t test_seed(void)
{
    const char *text = getenv("STARFOLD_TEST_SEED");
    return text ? strtoull(text, NULL, 10) : UINT64_C(20261129);
}

uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

FILE *test_data_open(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", STARFOLD_TEST_DATA, name);
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    return file;
}

int main(void)
{
    printf("seed %" PRIu64 "\n", test_seed());
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite suite = CU_add_suite("tests", NULL, NULL);
    int n = 0;
    for (const test_case *t = test_cases; suite && t->name; t++, n++) {
        if (!CU_add_test(suite, t->name, t->run))
            return 1;
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    if (!suite || n == 0 || CU_basic_run_tests() != CUE_SUCCESS)
        return 1;
    int failed = CU_get_number_of_failures() > 0 || CU_get_number_of_tests_run() != (unsigned)n;
    CU_cleanup_registry();
    return failed;
}

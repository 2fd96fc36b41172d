/* The list of errors and the one line. */
#include "starfold/error.h"

#include <string.h>

#include "../test_main.h"

static void test_list(void)
{
    CU_ASSERT_EQUAL(SF_EINPUT, -1);
    CU_ASSERT_STRING_EQUAL(sf_error_text(SF_OK), "no error");
    CU_ASSERT_STRING_EQUAL(sf_error_text(1), "unknown error");
    CU_ASSERT_STRING_EQUAL(sf_error_text(-SF_ERROR_END), "unknown error");
    for (int code = 1; code < SF_ERROR_END; code++) {
        int status = sf_error_status(-code);
        CU_ASSERT_STRING_NOT_EQUAL(sf_error_text(-code), "unknown error");
        CU_ASSERT(status == 1 || status == 2 || status == 75);
    }
    CU_ASSERT_EQUAL(sf_error_status(SF_OK), 0);
    CU_ASSERT_EQUAL(sf_error_status(SF_EINPUT), 2);
    CU_ASSERT_EQUAL(sf_error_status(SF_ENOMEM), 1);
    CU_ASSERT_EQUAL(sf_error_status(SF_ESTOPPED), 75);
    CU_ASSERT_EQUAL(sf_error_status(-1000), 1);
}

static void test_fail(void)
{
    sf_error err;
    CU_ASSERT_EQUAL(sf_fail(&err, SF_ELIMIT, "two\nlines and %d", 3), SF_ELIMIT);
    CU_ASSERT_EQUAL(err.code, SF_ELIMIT);
    CU_ASSERT_STRING_EQUAL(err.text, "two lines and 3");
    CU_ASSERT_EQUAL(sf_fail(NULL, SF_EIO, "nobody listens"), SF_EIO);

    sf_fail(&err, SF_EINPUT, "%s", "\x1b[2Ja\tb\x7f\xc3\xa4");
    CU_ASSERT_STRING_EQUAL(err.text, "?[2Ja b?\xc3\xa4");

    char large[2 * SF_ERROR_TEXT_SIZE];
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = '\0';
    sf_fail(&err, SF_EIO, "%s", large);
    CU_ASSERT_EQUAL(strlen(err.text), SF_ERROR_TEXT_SIZE - 1);
}

const test_case test_cases[] = {
    {"list", test_list},
    {"fail", test_fail},
    {NULL, NULL},
};

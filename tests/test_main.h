/* What every unit test program shares: it lists its tests in one table and gives it to test_main.c, which runs them with
 * CUnit and returns the exit status (CUnit does not set it). */
#ifndef SF_TEST_MAIN_H
#define SF_TEST_MAIN_H

#include <CUnit/CUnit.h>
#include <stdint.h>
#include <stdio.h>

typedef struct test_case {
    const char *name;
    void (*run)(void);
} test_case;

/* Defined by each program; ends with {NULL, NULL}. */
extern const test_case test_cases[];

/* Seed of the random properties: STARFOLD_TEST_SEED, or a fixed one; printed at the start. */
uint64_t test_seed(void);

/* A small generator for test inputs (splitmix64), apart from the product's. */
uint64_t test_random(uint64_t *state);

/* Opens tests/data/NAME for reading; a missing file ends the program with status 1. */
FILE *test_data_open(const char *name);

#endif

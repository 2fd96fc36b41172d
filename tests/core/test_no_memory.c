/* What happens when memory runs out: the 1st, 2nd, 3rd ... allocation of a call fails until the call succeeds. Each
 * failure must be SF_ENOMEM with a line, and leave nothing that cannot be freed. The calls here start no threads: the
 * thread library would end the program. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/engines/census/census.h"
#include "core/engines/census/census_model.h"
#include "core/engines/engine_ops.h"
#include "core/engines/table/table.h"
#include "core/puzzle/puzzle.h"
#include "core/walk/walk.h"

/* Checkers that bring their own malloc do not let it be replaced; there every call just succeeds. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAN_FAIL 0
static int until_failure;
static long live;
#else
#define CAN_FAIL 1
static int until_failure; /* 0: never; n: the n-th allocation from now fails */
static long live;         /* blocks allocated and not freed */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static int fails(void)
{
    return until_failure > 0 && --until_failure == 0;
}

static void *note(void *block)
{
    live += block != NULL;
    return block;
}

void *malloc(size_t size)
{
    return fails() ? NULL : note(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : note(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
    if (!old)
        return malloc(size);
    return fails() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : note(__libc_memalign(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = aligned_alloc(alignment, size);
    return *block ? 0 : ENOMEM;
}

void free(void *block)
{
    live -= block != NULL;
    __libc_free(block);
}
#endif

static const uint8_t sequence[] = {0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0};

static int call_histogram(const sf_problem *problem, sf_error *err)
{
    uint64_t histogram[SF_SCORES_MAX];
    return sf_walk_histogram(problem, sequence, NULL, histogram, err);
}

static int visit(void *context, const uint8_t *steps)
{
    (void)context, (void)steps;
    return 0;
}

static int call_visit(const sf_problem *problem, sf_error *err)
{
    sf_walk_prefixes prefixes;
    int status = sf_walk_prefixes_init(&prefixes, problem->lattice, problem->length, err);
    if (status == SF_OK)
        status = sf_walk_visit(&prefixes, 0, visit, NULL, err);
    sf_walk_prefixes_free(&prefixes);
    return status;
}

static int call_witness(const sf_problem *problem, sf_error *err)
{
    char walk[SF_LENGTH_MAX + 1];
    return sf_walk_witness(problem, sequence, 1, walk, err);
}

static int call_puzzle(const sf_problem *problem, sf_error *err)
{
    sf_engine_options options;
    sf_puzzle puzzle;
    uint64_t partial[SF_SCORES_MAX] = {0};
    sf_plan plan;
    sf_engine_options_init(&options);
    options.engine = "walk";
    options.memory_limit = UINT64_C(1) << 32; /* not asked from the machine: reading its files allocates */
    int status = sf_puzzle_open_chain(&puzzle, problem, &options, 1, err);
    if (status == SF_OK)
        status = puzzle.kind->plan(puzzle.instance, 1, sequence, &plan, err);
    if (status == SF_OK)
        status = puzzle.kind->evaluate(puzzle.instance, &plan, sequence, 0, partial, err);
    sf_puzzle_close(&puzzle);
    return status;
}

static int call_onemax(const sf_problem *problem, sf_error *err)
{
    sf_puzzle puzzle;
    int status = sf_puzzle_open_onemax(&puzzle, problem->length, err);
    sf_puzzle_close(&puzzle);
    return status;
}

/* memory_limit as in call_puzzle */
static const sf_map_options map_options = {.n_threads = 1, .memory_limit = UINT64_C(1) << 32};

static int call_map_table(const sf_problem *problem, sf_error *err)
{
    sf_map_table table;
    int status = sf_map_table_build(&table, problem->lattice, problem->length, &map_options, err);
    sf_map_table_free(&table);
    return status;
}

static int call_map_table_plain(const sf_problem *problem, sf_error *err)
{
    sf_map_table table;
    int status = sf_map_table_build_plain(&table, problem->lattice, problem->length, &map_options, err);
    sf_map_table_free(&table);
    return status;
}

static int call_table(const sf_problem *problem, sf_error *err)
{
    sf_table *table;
    sf_table_work *work = NULL;
    int status =
        sf_table_open(&table, problem->lattice, problem->length, SF_TABLE_SETS | SF_TABLE_HISTOGRAMS, &map_options, err);
    if (status == SF_OK)
        status = sf_table_work_open(&work, table, err);
    sf_table_work_close(work);
    sf_table_close(table);
    return status;
}

static int call_census(const sf_problem *problem, sf_error *err)
{
    sf_map_table table;
    sf_census_plan *plan = NULL;
    sf_census census = {0};
    int status = sf_map_table_build(&table, problem->lattice, problem->length, &map_options, err);
    if (status == SF_OK)
        status = sf_census_open(&plan, &table, SF_CENSUS_SETS, 1, NULL, err);
    sf_map_table_free(&table);
    if (status == SF_OK)
        status = sf_census_count(plan, 1, 3, 1, NULL, NULL, &census, err);
    sf_census_close(plan);
    return status;
}

static int call_census_shapes(const sf_problem *problem, sf_error *err)
{
    sf_map_table table;
    sf_census_plan *plan = NULL;
    sf_census census = {0};
    sf_shapes shapes = {0};
    sf_shapes_summary summary = {0};
    int status = sf_map_table_build(&table, problem->lattice, problem->length, &map_options, err);
    shapes.n_scores = table.max_contacts + 1;
    if (status == SF_OK)
        status = sf_census_open(&plan, &table, SF_CENSUS_HISTOGRAMS, 1, NULL, err);
    sf_map_table_free(&table);
    if (status == SF_OK)
        status = sf_census_count_shapes(plan, 1, 3, 1, NULL, NULL, &census, &shapes, err);
    if (status == SF_OK)
        sf_shapes_settle(&shapes);
    if (status == SF_OK)
        status = sf_shapes_summarise(&shapes, &summary, err);
    sf_shapes_summary_free(&summary);
    sf_shapes_free(&shapes);
    sf_census_close(plan);
    return status;
}

static int call_census_model(const sf_problem *problem, sf_census_kind kind, sf_error *err)
{
    sf_map_table table;
    sf_census_model *plan = NULL;
    sf_census census = {0};
    sf_shapes shapes = {.n_scores = problem->n_scores};
    int status = sf_map_table_build(&table, problem->lattice, problem->length, &map_options, err);
    if (status == SF_OK)
        status = sf_census_model_open(&plan, &table, problem, kind, err);
    sf_map_table_free(&table);
    if (status == SF_OK)
        status = sf_census_model_count(plan, 1, 3, 1, NULL, NULL, &census, kind == SF_CENSUS_HISTOGRAMS ? &shapes : NULL, err);
    sf_shapes_free(&shapes);
    sf_census_model_close(plan);
    return status;
}

static int call_census_model_sets(const sf_problem *problem, sf_error *err)
{
    return call_census_model(problem, SF_CENSUS_SETS, err);
}

static int call_census_model_shapes(const sf_problem *problem, sf_error *err)
{
    return call_census_model(problem, SF_CENSUS_HISTOGRAMS, err);
}

static void check_call(int (*call)(const sf_problem *problem, sf_error *err), int least_failures)
{
    sf_problem problem;
    int n_failures = 0;
    CU_ASSERT_EQUAL_FATAL(
        sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), sizeof sequence, NULL), SF_OK);
    for (int n = 1; n < 10000; n++, n_failures++) {
        sf_error err = {0};
        long live_before = live;
        until_failure = CAN_FAIL ? n : 0;
        int status = call(&problem, &err);
        until_failure = 0;
        CU_ASSERT_EQUAL(live, live_before);
        if (status == SF_OK)
            break;
        CU_ASSERT_EQUAL(status, SF_ENOMEM);
        CU_ASSERT_EQUAL(err.code, SF_ENOMEM);
        CU_ASSERT(strlen(err.text) > 0);
    }
    CU_ASSERT(!CAN_FAIL || n_failures >= least_failures);
    CU_ASSERT(n_failures < 9999);
}

static void test_histogram(void)
{
    check_call(call_histogram, 256);
}

static void test_visit(void)
{
    check_call(call_visit, 3);
}

static void test_witness(void)
{
    check_call(call_witness, 1);
}

static void test_puzzle(void)
{
    check_call(call_puzzle, 3);
}

static void test_onemax(void)
{
    check_call(call_onemax, 1);
}

static void test_map_table(void)
{
    check_call(call_map_table, 8);
    check_call(call_map_table_plain, 2); /* qsort does without memory */
}

static void test_table(void)
{
    check_call(call_table, 20);
}

static void test_census(void)
{
    check_call(call_census, 40);
    check_call(call_census_shapes, 40);
    check_call(call_census_model_sets, 30);
    check_call(call_census_model_shapes, 30);
}

const test_case test_cases[] = {
    {"histogram", test_histogram}, {"visit", test_visit},         {"witness", test_witness}, {"puzzle", test_puzzle},
    {"onemax", test_onemax},       {"map table", test_map_table}, {"table", test_table},     {"census", test_census},
    {NULL, NULL},
};

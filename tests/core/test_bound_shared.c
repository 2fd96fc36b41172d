/* Engine bound, a search given back half way: wherever that is, the answer and the nodes are those of one go. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "core/engines/bound/bound.h"
#include "core/engines/bound/bound_journal.h"
#include "starfold/engine.h"
#include "test_main.h"

/* Some 150 thousand nodes. */
static const char hard[] = "PHHHPHHPHHPPPHHHHHPPHPHPPHHPPHHPPHPP";

enum { LENGTH = 36 };

static sf_problem problem;
static uint8_t elements[LENGTH];

static void test_open(void)
{
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), LENGTH, NULL),
                          SF_OK);
    CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, hard, elements, NULL), SF_OK);
}

/* Says yes from the n-th time on. */
static bool after(void *context)
{
    int *n = context;
    return (*n)-- <= 0;
}

static void check_given_back(uint64_t node_limit, int n_asked, int n_threads)
{
    uint64_t row[3][SF_SCORES_MAX];
    sf_bound_result result[3] = {{0}};
    sf_error err = {0};
    int n = n_asked;
    bound_journal first = {.wanted = after, .context = &n}, second = {0};
    sf_bound_options options = {.node_limit = node_limit, .n_threads = 1};
    CU_ASSERT_EQUAL(sf_bound_solve(&problem, elements, &options, row[0], &result[0], &err), SF_OK);
    options.journal = &first;
    const int status = sf_bound_solve(&problem, elements, &options, row[1], &result[1], &err);
    CU_ASSERT_EQUAL(status, first.given_back ? SF_ESTOPPED : SF_OK);
    CU_ASSERT(first.given_back);
    CU_ASSERT(n_asked == 0 || first.n > 0);
    second.begun = first.note;
    second.n_begun = first.n;
    options.journal = &second;
    options.n_threads = n_threads;
    CU_ASSERT_EQUAL(sf_bound_solve(&problem, elements, &options, row[2], &result[2], &err), SF_OK);
    CU_ASSERT_FALSE(second.given_back);
    CU_ASSERT_EQUAL(result[2].nodes, result[0].nodes);
    CU_ASSERT_EQUAL(result[2].best_lower, result[0].best_lower);
    CU_ASSERT_EQUAL(result[2].best_upper, result[0].best_upper);
    CU_ASSERT_EQUAL(result[2].exact, result[0].exact);
    CU_ASSERT_EQUAL(memcmp(row[2], row[0], sizeof **row * (size_t)problem.n_scores), 0);
    sf_bound_journal_free(&first);
    sf_bound_journal_free(&second);
}

static void test_given_back(void)
{
    check_given_back(0, 0, 1);
    check_given_back(0, 1, 3);
    check_given_back(0, 100, 1);
    check_given_back(60000, 60, 2);
}

/* What was done is not done again: with all tasks noted a search takes next to nothing; and the notes are believed. */
static void test_notes(void)
{
    bound_journal journal = {0};
    sf_error err;
    for (uint32_t i = 0; i < 1000; i++) {
        if (i % 7 != 3)
            CU_ASSERT_EQUAL(sf_bound_journal_add(&journal, (bound_note){i / 100, i % 100, i, 2 * i}, &err), SF_OK);
    }
    journal.begun = journal.note;
    journal.n_begun = journal.n;
    for (uint32_t i = 0; i < 1000; i++) {
        const bound_note *note = sf_bound_journal_find(&journal, i / 100, i % 100);
        CU_ASSERT_EQUAL(note == NULL, i % 7 == 3);
        CU_ASSERT(!note || (note->nodes == i && note->found == 2 * i));
    }
    CU_ASSERT_PTR_NULL(sf_bound_journal_find(&journal, 10, 0));
    CU_ASSERT_PTR_NULL(sf_bound_journal_find(NULL, 0, 0));
    sf_bound_journal_free(&journal);
}

/* A batch by more threads than sequences, and by fewer: long ones are given back in either. */
static void test_batch(void)
{
    enum { N = 5 };
    uint8_t batch[N * LENGTH];
    uint64_t *row[2], random = test_seed();
    for (int i = 0; i < N * LENGTH; i++)
        batch[i] = i / LENGTH == 3 ? elements[i % LENGTH] : test_random(&random) % 3 > 0;
    for (int n = 2; n <= N; n += 3) {
        const size_t size = (size_t)n * (size_t)problem.n_scores;
        const uint8_t *begin = n == N ? batch : batch + (size_t)2 * LENGTH;
        for (int run = 0; run < 2; run++) {
            sf_engine_options options;
            sf_engine *engine;
            sf_engine_options_init(&options);
            options.engine = "bound";
            options.top_counts = 0;
            options.node_limit = 2000000;
            options.n_threads = 1 + 2 * run;
            row[run] = calloc(size, sizeof *row[run]);
            CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, (size_t)n, NULL), SF_OK);
            CU_ASSERT_EQUAL(sf_engine_histograms(engine, (size_t)n, begin, row[run], NULL), SF_OK);
            sf_engine_close(engine);
        }
        CU_ASSERT_EQUAL(memcmp(row[0], row[1], size * sizeof **row), 0);
        free(row[0]);
        free(row[1]);
    }
}

const test_case test_cases[] = {
    {"open", test_open},   {"given back and taken up again", test_given_back},
    {"notes", test_notes}, {"batch", test_batch},
    {NULL, NULL},
};

/* Both kinds of puzzle through the one interface the search sees. */
#include "core/puzzle/puzzle.h"

#include <string.h>

#include "../test_main.h"

enum { BATCH = 6 };

/* What must hold of any kind. */
static void check_kind(const sf_puzzle *puzzle, int n_threads, uint64_t *random)
{
    const size_t length = (size_t)puzzle->length, n_scores = (size_t)puzzle->n_scores;
    uint8_t genomes[BATCH * SF_LENGTH_MAX];
    uint64_t histograms[BATCH * SF_SCORES_MAX], verified[SF_SCORES_MAX], partial[SF_SCORES_MAX] = {0};
    sf_error err = {0};
    for (size_t i = 0; i < BATCH * length; i++)
        genomes[i] = (uint8_t)(test_random(random) % (uint64_t)puzzle->n_letters);
    CU_ASSERT_EQUAL((int)strlen(puzzle->letters), puzzle->n_letters);
    memset(histograms, 0x5a, sizeof histograms);
    CU_ASSERT_EQUAL(sf_puzzle_evaluate(puzzle, BATCH, genomes, n_threads, histograms, &err), SF_OK);
    for (size_t i = 0; i < BATCH; i++) {
        uint64_t *row = histograms + i * n_scores;
        CU_ASSERT_EQUAL(puzzle->kind->verify(puzzle->instance, genomes + i * length, verified, &err), SF_OK);
        CU_ASSERT_EQUAL(memcmp(row, verified, n_scores * sizeof *row), 0);
        if (puzzle->kind->check) {
            CU_ASSERT_EQUAL(puzzle->kind->check(puzzle->instance, row, &err), SF_OK);
        }
        for (size_t s = 0; s < n_scores; s++) {
            char text[SF_LENGTH_MAX + 1];
            int score = puzzle->min_score + (int)s;
            int status = puzzle->kind->witness(puzzle->instance, genomes + i * length, score, text, &err);
            CU_ASSERT_EQUAL(status, row[s] > 0 ? SF_OK : SF_EINPUT);
            if (status == SF_OK) {
                CU_ASSERT_EQUAL((int)strlen(text), puzzle->witness_size - 1);
            }
        }
    }

    /* the parts of one genome, last first, add up to its histogram */
    sf_plan plan;
    CU_ASSERT_EQUAL(puzzle->kind->plan(puzzle->instance, 1, genomes, &plan, &err), SF_OK);
    for (size_t part = plan.n_parts; part-- > 0;)
        CU_ASSERT_EQUAL(puzzle->kind->evaluate(puzzle->instance, &plan, genomes, part, partial, &err), SF_OK);
    CU_ASSERT_EQUAL(memcmp(partial, histograms, n_scores * sizeof *partial), 0);

    /* reversal: one canonical genome, one histogram */
    uint8_t reverse[SF_LENGTH_MAX], a[SF_LENGTH_MAX], b[SF_LENGTH_MAX];
    for (size_t i = 0; i < length; i++)
        reverse[i] = genomes[length - 1 - i];
    puzzle->kind->canonical(puzzle->instance, genomes, a);
    puzzle->kind->canonical(puzzle->instance, reverse, b);
    CU_ASSERT_EQUAL(memcmp(a, b, length), 0);
    CU_ASSERT_EQUAL(sf_puzzle_evaluate(puzzle, 1, reverse, n_threads, verified, &err), SF_OK);
    CU_ASSERT_EQUAL(memcmp(verified, histograms, n_scores * sizeof *verified), 0);
}

static void test_chain(void)
{
    static const char *const engines[] = {"walk", "auto"};
    uint64_t random = test_seed();
    for (int i = 0; i < 8; i++) {
        sf_problem problem;
        sf_puzzle puzzle;
        sf_engine_options options;
        int cubic = i / 2 % 2;
        sf_engine_options_init(&options);
        options.engine = engines[i % 2];
        CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find(cubic ? "cubic" : "square"),
                                              sf_score_model_find("hp"), cubic ? 8 : 12, NULL),
                              SF_OK);
        CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_chain(&puzzle, &problem, &options, 10, NULL), SF_OK);
        CU_ASSERT_PTR_NOT_NULL(sf_puzzle_engine(&puzzle));
        check_kind(&puzzle, 1 + i / 4, &random);
        sf_puzzle_close(&puzzle);
        CU_ASSERT_PTR_NULL(puzzle.kind);
        sf_puzzle_close(&puzzle);
    }
}

static void test_chain_fails(void)
{
    sf_problem problem;
    sf_puzzle puzzle;
    sf_engine_options options;
    sf_error err = {0};
    sf_engine_options_init(&options);
    options.engine = "nonsense";
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), 10, NULL),
                          SF_OK);
    CU_ASSERT_EQUAL(sf_puzzle_open_chain(&puzzle, &problem, &options, 1, &err), SF_EINPUT);
    CU_ASSERT(strlen(err.text) > 0);
    sf_puzzle_close(&puzzle);
}

static void test_onemax(void)
{
    uint64_t random = test_seed();
    static const int lengths[] = {1, 2, 13, 60};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        sf_puzzle puzzle;
        CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_onemax(&puzzle, lengths[i], NULL), SF_OK);
        CU_ASSERT_PTR_NULL(sf_puzzle_engine(&puzzle));
        check_kind(&puzzle, 1 + (int)i % 2, &random);
        sf_puzzle_close(&puzzle);
    }
}

static void test_onemax_values(void)
{
    sf_puzzle puzzle;
    uint8_t genome[60];
    uint64_t histogram[61], sum = 0;
    char text[61];
    sf_error err = {0};
    memset(genome, 1, sizeof genome);
    CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_onemax(&puzzle, 60, NULL), SF_OK);
    CU_ASSERT_EQUAL(sf_puzzle_evaluate(&puzzle, 1, genome, 1, histogram, NULL), SF_OK);
    CU_ASSERT_EQUAL(histogram[30], UINT64_C(118264581564861424)); /* C(60, 30) */
    for (int s = 0; s <= 60; s++)
        sum += histogram[s];
    CU_ASSERT_EQUAL(sum, UINT64_C(1) << 60);
    genome[7] = 2;
    CU_ASSERT_EQUAL(sf_puzzle_evaluate(&puzzle, 1, genome, 1, histogram, &err), SF_EINPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "element 8 of genome 1 is 2; elements are 0 and 1");
    sf_puzzle_close(&puzzle);

    CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_onemax(&puzzle, 4, NULL), SF_OK);
    const uint8_t small[] = {1, 0, 1, 1};
    CU_ASSERT_EQUAL(puzzle.kind->witness(puzzle.instance, small, 2, text, NULL), SF_OK);
    CU_ASSERT_STRING_EQUAL(text, "1010");
    sf_puzzle_close(&puzzle);
    CU_ASSERT_EQUAL(sf_puzzle_open_onemax(&puzzle, 0, &err), SF_EINPUT);
    CU_ASSERT_EQUAL(sf_puzzle_open_onemax(&puzzle, 61, &err), SF_EINPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "length 61 is out of range; onemax genomes have 1 to 60 elements");
    sf_puzzle_close(&puzzle);
}

const test_case test_cases[] = {
    {"chain", test_chain},
    {"chain_fails", test_chain_fails},
    {"onemax", test_onemax},
    {"onemax_values", test_onemax_values},
    {NULL, NULL},
};

/* Engine walk by its door against other ways to the same numbers: the table engine, the plain enumeration, published
 * homopolymers; any score model at each length; any tables and threads. */
#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/engines/merge/merge_any.h"
#include "core/engines/merge/merge_worker.h"
#include "core/walk/walk.h"
#include "starfold/engine.h"

static void count_with(const char *name, const sf_problem *problem, size_t n, const uint8_t *sequences, int n_threads,
                       uint64_t *histograms)
{
    sf_engine_options options;
    sf_engine *engine;
    sf_error err = {0};
    sf_engine_options_init(&options);
    options.engine = name;
    options.n_threads = n_threads;
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, problem, &options, n, &err), SF_OK);
    CU_ASSERT_EQUAL(sf_engine_histograms(engine, n, sequences, histograms, &err), SF_OK);
    sf_engine_close(engine);
}

/* ---- hp ---- */

enum { N_KINDS = 8 };

/* All H, all P, every second H, the others, one H, two random ones, and the reverse of the last. */
static void fill_kinds(uint64_t *random, size_t length, uint8_t *sequences)
{
    const size_t only = (size_t)(test_random(random) % length);
    for (size_t k = 0; k < length; k++) {
        sequences[k] = 0;
        sequences[length + k] = 1;
        sequences[2 * length + k] = k % 2 == 1;
        sequences[3 * length + k] = k % 2 == 0;
        sequences[4 * length + k] = k != only;
        sequences[5 * length + k] = test_random(random) % 2;
        sequences[6 * length + k] = test_random(random) % 3 == 0;
    }
    for (size_t k = 0; k < length; k++)
        sequences[7 * length + k] = sequences[6 * length + length - 1 - k];
}

/* Walk and table agree on all kinds; the plain enumeration with one of the random ones, and up to `plain_to` with all.
 */
static void check_lengths(const char *lattice, int from, int to, int plain_to)
{
    uint64_t random = test_seed();
    static uint64_t walked[N_KINDS * SF_SCORES_MAX], tabled[N_KINDS * SF_SCORES_MAX], plain[SF_SCORES_MAX];
    uint8_t sequences[N_KINDS * SF_LENGTH_MAX];
    for (int length = from; length <= to; length++) {
        sf_problem problem;
        CU_ASSERT_EQUAL_FATAL(
            sf_problem_init(&problem, sf_lattice_find(lattice), sf_score_model_find("hp"), length, NULL), SF_OK);
        const size_t n_scores = (size_t)problem.n_scores, bytes = n_scores * sizeof *plain;
        fill_kinds(&random, (size_t)length, sequences);
        count_with("walk", &problem, N_KINDS, sequences, 1 + length % 3, walked);
        count_with("table", &problem, N_KINDS, sequences, 1, tabled);
        CU_ASSERT_EQUAL(memcmp(walked, tabled, N_KINDS * bytes), 0);
        CU_ASSERT_EQUAL(memcmp(walked + 6 * n_scores, walked + 7 * n_scores, bytes), 0);
        for (size_t i = 0; i < N_KINDS; i++) {
            if (length > plain_to && i != 5)
                continue;
            CU_ASSERT_EQUAL(sf_walk_histogram(&problem, sequences + i * (size_t)length, NULL, plain, NULL), SF_OK);
            CU_ASSERT_EQUAL(memcmp(walked + i * n_scores, plain, bytes), 0);
        }
    }
}

static void test_square(void)
{
    check_lengths("square", 10, 20, 15);
}

static void test_cubic(void)
{
    check_lengths("cubic", 8, 13, 10);
}

static void test_homopolymers(void)
{
    FILE *file = test_data_open("homopolymer_contacts.csv");
    char line[4096];
    int n = 0;
    while (fgets(line, sizeof line, file)) {
        static const uint8_t elements[SF_LENGTH_MAX]; /* all H */
        uint64_t histogram[SF_SCORES_MAX] = {0};
        char counts[2048], *next = counts;
        int dimension, length, most;
        sf_problem problem;
        if (sscanf(line, "%d,%d,%d,%*d,%*d,%2047[0-9 ]", &dimension, &length, &most, counts) != 4 ||
            length < SF_LENGTH_MIN)
            continue;
        CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find(dimension == 2 ? "square" : "cubic"),
                                              sf_score_model_find("hp"), length, NULL),
                              SF_OK);
        count_with("walk", &problem, 1, elements, 2, histogram);
        for (int s = 0; s < problem.n_scores; s++)
            CU_ASSERT_EQUAL(histogram[s], s <= most ? strtoull(next, &next, 10) : 0);
        n++;
    }
    fclose(file);
    CU_ASSERT_EQUAL(n, 29);
}

/* ---- any model ---- */

static void random_model(uint64_t *random, sf_score_model *model)
{
    *model = (sf_score_model){.name = "random", .n_letters = 2 + (int)(test_random(random) % 3), .letter = "ABCD"};
    for (int a = 0; a < model->n_letters; a++) {
        for (int b = 0; b <= a; b++)
            model->weight[a][b] = model->weight[b][a] = (int)(test_random(random) % 6) - 2;
    }
}

/* Merging by any model, whatever the tables' size, the end and the cut, against the plain enumeration. */
static void check_any(uint64_t *random, const char *lattice, int length)
{
    sf_problem problem;
    sf_score_model model;
    merge_workspace workspace;
    merge_sizes sizes;
    static any_job job;
    uint64_t plain[SF_SCORES_MAX], merged[SF_SCORES_MAX] = {0};
    uint8_t elements[SF_LENGTH_MAX];
    random_model(random, &model);
    for (int k = 0; k < length; k++)
        elements[k] = (uint8_t)(test_random(random) % (unsigned)model.n_letters);
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find(lattice), &model, length, NULL), SF_OK);
    CU_ASSERT_FATAL(sf_any_can(&problem));
    sf_any_sizes(&problem, &sizes);
    for (int r = 0; r <= MERGE_TAIL_MAX; r++)
        sizes.log2_entries[r] = sizes.log2_entries[r] ? (int)(test_random(random) % 14) : 0;
    CU_ASSERT_EQUAL_FATAL(sf_merge_workspace_init(&workspace, &sizes, NULL), SF_OK);
    sf_any_job_init(&job, &problem, elements, test_random(random) % 2 == 1);
    const size_t cut = (size_t)test_random(random) % (job.n_pieces + 1);
    CU_ASSERT_EQUAL(sf_any_count(&job, &workspace, 0, cut, NULL, merged, NULL), SF_OK);
    CU_ASSERT_EQUAL(sf_any_count(&job, &workspace, cut, job.n_pieces, NULL, merged, NULL), SF_OK);
    CU_ASSERT_EQUAL(sf_walk_histogram(&problem, elements, NULL, plain, NULL), SF_OK);
    CU_ASSERT_EQUAL(memcmp(merged, plain, (size_t)problem.n_scores * sizeof *plain), 0);
    sf_merge_workspace_free(&workspace);
}

static void test_any_model(void)
{
    uint64_t random = test_seed();
    for (int length = 8; length <= 19; length++) {
        for (int i = 0; i < (length < 15 ? 6 : 1); i++)
            check_any(&random, "square", length);
    }
    for (int length = 6; length <= 13; length++) {
        for (int i = 0; i < (length < 11 ? 6 : 1); i++)
            check_any(&random, "cubic", length);
    }
}

/* By the door, where merging pays: threads make no difference, the table engine agrees, a chain and its reverse do. */
static void test_any_engine(void)
{
    uint64_t random = test_seed();
    for (int dimension = 2; dimension <= 3; dimension++) {
        const int length = dimension == 2 ? 20 : 13;
        sf_score_model model = {.n_letters = 2};
        sf_problem problem;
        uint8_t sequences[2 * SF_LENGTH_MAX];
        static uint64_t by[3][2 * SF_SCORES_MAX];
        while (model.n_letters < 3)
            random_model(&random, &model);
        CU_ASSERT_EQUAL_FATAL(
            sf_problem_init(&problem, sf_lattice_find(dimension == 2 ? "square" : "cubic"), &model, length, NULL),
            SF_OK);
        CU_ASSERT_EQUAL(sf_merge_kind(&problem), MERGE_ANY);
        for (int k = 0; k < length; k++) {
            sequences[k] = (uint8_t)(test_random(&random) % (unsigned)model.n_letters);
            sequences[2 * length - 1 - k] = sequences[k];
        }
        count_with("walk", &problem, 2, sequences, 1, by[0]);
        count_with("walk", &problem, 2, sequences, 3, by[1]);
        count_with("table", &problem, 2, sequences, 1, by[2]);
        const size_t bytes = (size_t)problem.n_scores * sizeof by[0][0];
        CU_ASSERT_EQUAL(memcmp(by[0], by[1], 2 * bytes), 0);
        CU_ASSERT_EQUAL(memcmp(by[0], by[2], 2 * bytes), 0);
        CU_ASSERT_EQUAL(memcmp(by[0], by[0] + problem.n_scores, bytes), 0);
    }
}

const test_case test_cases[] = {
    {"walk, table and plain, square", test_square},
    {"walk, table and plain, cubic", test_cubic},
    {"homopolymers", test_homopolymers},
    {"merging by any model", test_any_model},
    {"any model by the engine's door", test_any_engine},
    {NULL, NULL},
};

/* Tail merging against the plain enumeration: random and extreme sequences, any split, table size, piece and
 * instruction set, published histograms. STARFOLD_TEST_LONG=1 goes to longer chains. */
#include "core/engines/merge_square.h"

#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/base/isa.h"
#include "core/walk/walk.h"
#include "starfold/engine.h"

typedef struct kernel_case {
    const char *name;
    sf_isa isa;
    square_count *count;
} kernel_case;

static const kernel_case kernels[] = {
    {"portable", SF_ISA_PORTABLE, sf_square_count_portable},
#if defined __x86_64__
    {"avx2", SF_ISA_AVX2, sf_square_count_avx2},
    {"avx512", SF_ISA_AVX512, sf_square_count_avx512},
#endif
};

enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };

static bool long_tests(void)
{
    const char *wanted = getenv("STARFOLD_TEST_LONG");
    return wanted && *wanted;
}

static void random_chain(uint64_t *random, int length, uint8_t *h)
{
    const unsigned percent = (unsigned)(test_random(random) % 101);
    for (int k = 0; k < length; k++)
        h[k] = test_random(random) % 100 < percent;
}

/* hp elements of a chain: H is 0. */
static void plain_histogram(int length, const uint8_t *h, uint64_t *contacts)
{
    sf_problem problem;
    uint8_t elements[SF_LENGTH_MAX];
    uint64_t histogram[SF_SCORES_MAX];
    memset(contacts, 0, SQUARE_CONTACTS * sizeof *contacts);
    CU_ASSERT_EQUAL_FATAL(
        sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), length, NULL), SF_OK);
    for (int k = 0; k < length; k++)
        elements[k] = !h[k];
    CU_ASSERT_EQUAL_FATAL(sf_walk_histogram(&problem, elements, NULL, histogram, NULL), SF_OK);
    memcpy(contacts, histogram, (size_t)problem.n_scores * sizeof *contacts);
}

/* Counts with a split, small or large tables, in two runs of pieces. */
static void merged_histogram(const kernel_case *kernel, int length, const uint8_t *h, int tail, int log2_entries,
                             size_t cut, uint64_t *contacts)
{
    static square_job job;
    square_workspace workspace;
    int tables[SQUARE_TAIL_MAX + 1];
    for (int r = 0; r <= SQUARE_TAIL_MAX; r++)
        tables[r] = log2_entries;
    memset(contacts, 0, SQUARE_CONTACTS * sizeof *contacts);
    sf_square_job_init(&job, length, h, tail, 6);
    CU_ASSERT_EQUAL_FATAL(sf_square_workspace_init(&workspace, tables, NULL), SF_OK);
    cut = cut % (job.n_pieces + 1);
    CU_ASSERT_EQUAL(kernel->count(&job, &workspace, 0, cut, NULL, contacts), SF_OK);
    CU_ASSERT_EQUAL(kernel->count(&job, &workspace, cut, job.n_pieces, NULL, contacts), SF_OK);
    sf_square_workspace_free(&workspace);
}

/* One chain, all kernels, a random split. */
static void check_chain(uint64_t *random, int length, const uint8_t *h)
{
    uint64_t plain[SQUARE_CONTACTS], merged[SQUARE_CONTACTS];
    plain_histogram(length, h, plain);
    for (int i = 0; i < N_KERNELS; i++) {
        const int longest = length - 2 < SQUARE_TAIL_MAX ? length - 2 : SQUARE_TAIL_MAX;
        const int tail = SQUARE_TAIL_MIN + (int)(test_random(random) % (unsigned)(longest - SQUARE_TAIL_MIN + 1));
        const int log2_entries = (int)(test_random(random) % 12);
        if (kernels[i].isa > sf_isa_get())
            continue;
        merged_histogram(&kernels[i], length, h, tail, log2_entries, (size_t)test_random(random), merged);
        CU_ASSERT(memcmp(plain, merged, sizeof plain) == 0);
        if (memcmp(plain, merged, sizeof plain) != 0)
            printf("\n  %s differs: length %d, tail %d, tables 2^%d\n", kernels[i].name, length, tail, log2_entries);
    }
}

static void test_random_chains(void)
{
    uint64_t random = test_seed();
    uint8_t h[SF_LENGTH_MAX];
    for (int length = SQUARE_LENGTH_MIN; length <= (long_tests() ? 20 : 16); length++) {
        for (int i = 0; i < (length < 16 ? 40 : 10); i++) {
            random_chain(&random, length, h);
            check_chain(&random, length, h);
        }
    }
}

static void test_extreme_chains(void)
{
    uint64_t random = test_seed();
    uint8_t h[SF_LENGTH_MAX];
    for (int length = SQUARE_LENGTH_MIN; length <= 17; length += 1 + (length > 14)) {
        for (int kind = 0; kind < 5; kind++) {
            for (int k = 0; k < length; k++)
                h[k] = kind == 0 || (kind == 2 && k % 2 == 0) || (kind == 3 && k % 2 == 1);
            if (kind == 4)
                h[test_random(&random) % (unsigned)length] = 1;
            check_chain(&random, length, h);
        }
    }
}

/* Sums are the known numbers, and a chain and its reverse agree, where the plain enumeration is too slow. */
static void test_reversal(void)
{
    uint64_t random = test_seed(), there[SQUARE_CONTACTS], back[SQUARE_CONTACTS];
    uint8_t h[SF_LENGTH_MAX], reversed[SF_LENGTH_MAX];
    const kernel_case *kernel = &kernels[sf_isa_get()];
    for (int length = 20; length <= (long_tests() ? 26 : 22); length++) {
        uint64_t sum = 0;
        random_chain(&random, length, h);
        for (int k = 0; k < length; k++)
            reversed[k] = h[length - 1 - k];
        merged_histogram(kernel, length, h, 8 + (int)(test_random(&random) % 4), 14, 100, there);
        merged_histogram(kernel, length, reversed, 8 + (int)(test_random(&random) % 4), 13, 200, back);
        CU_ASSERT(memcmp(there, back, sizeof there) == 0);
        for (int c = 0; c < SQUARE_CONTACTS; c++)
            sum += there[c];
        CU_ASSERT_EQUAL(sum, sf_lattice_conformations(sf_lattice_find("square"), length));
    }
}

/* One workspace, one sequence after the other: nothing of the first is left. */
static void test_renewal(void)
{
    static square_job job;
    square_workspace workspace;
    int tables[SQUARE_TAIL_MAX + 1];
    uint64_t random = test_seed(), plain[SQUARE_CONTACTS];
    uint8_t h[SF_LENGTH_MAX];
    for (int r = 0; r <= SQUARE_TAIL_MAX; r++)
        tables[r] = 6;
    CU_ASSERT_EQUAL_FATAL(sf_square_workspace_init(&workspace, tables, NULL), SF_OK);
    workspace.epoch = UINT16_MAX - 10;
    for (int i = 0; i < 20; i++) {
        uint64_t merged[SQUARE_CONTACTS] = {0};
        random_chain(&random, 13, h);
        plain_histogram(13, h, plain);
        sf_square_workspace_renew(&workspace);
        sf_square_job_init(&job, 13, h, 9, 3);
        CU_ASSERT_EQUAL(kernels[sf_isa_get()].count(&job, &workspace, 0, job.n_pieces, NULL, merged), SF_OK);
        CU_ASSERT(memcmp(plain, merged, sizeof plain) == 0);
    }
    sf_square_workspace_free(&workspace);
}

/* The published histograms through the engine's door, by two threads. */
static void test_published(void)
{
    FILE *file = test_data_open("hp_histograms.csv");
    char line[4096];
    int n = 0;
    while (fgets(line, sizeof line, file)) {
        char text[SF_LENGTH_MAX + 1], counts[2048];
        int dimension, length, most;
        if (sscanf(line, "%d,%d,%64[HP],%d,%2047[0-9 ]", &dimension, &length, text, &most, counts) != 5)
            continue;
        sf_problem problem;
        sf_engine_options options;
        sf_engine *engine;
        sf_error err = {0};
        uint8_t elements[SF_LENGTH_MAX];
        uint64_t histogram[SF_SCORES_MAX];
        sf_engine_options_init(&options);
        options.engine = "walk";
        options.n_threads = 2;
        CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find(dimension == 2 ? "square" : "cubic"),
                                              sf_score_model_find("hp"), length, &err),
                              SF_OK);
        CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, text, elements, &err), SF_OK);
        CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_OK);
        CU_ASSERT_EQUAL(sf_engine_histograms(engine, 1, elements, histogram, &err), SF_OK);
        char *next = counts;
        for (int s = 0; s <= most; s++)
            CU_ASSERT_EQUAL(histogram[s], strtoull(next, &next, 10));
        sf_engine_close(engine);
        n++;
    }
    fclose(file);
    CU_ASSERT(n >= 9);
}

/* A model of two like letters, of negative weight, against the plain enumeration. */
static void test_model(void)
{
    sf_score_model model = {.name = "like", .n_letters = 3, .letter = "ABX"};
    sf_problem problem;
    sf_engine_options options;
    sf_engine *engine;
    sf_error err = {0};
    uint64_t random = test_seed(), histogram[SF_SCORES_MAX], plain[SF_SCORES_MAX];
    uint8_t elements[SF_LENGTH_MAX];
    for (int a = 0; a < 2; a++)
        model.weight[a][0] = model.weight[a][1] = -3;
    sf_engine_options_init(&options);
    options.engine = "walk";
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find("square"), &model, 14, &err), SF_OK);
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_OK);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 14; k++)
            elements[k] = (uint8_t)(test_random(&random) % 3);
        CU_ASSERT_EQUAL(sf_engine_histograms(engine, 1, elements, histogram, &err), SF_OK);
        CU_ASSERT_EQUAL(sf_walk_histogram(&problem, elements, NULL, plain, &err), SF_OK);
        CU_ASSERT(memcmp(histogram, plain, (size_t)problem.n_scores * sizeof *plain) == 0);
    }
    sf_engine_close(engine);
}

static void test_stop(void)
{
    const volatile int stop = 1;
    sf_problem problem;
    sf_engine_options options;
    sf_engine *engine;
    sf_error err = {0};
    uint8_t elements[30] = {0};
    uint64_t histogram[SF_SCORES_MAX];
    sf_engine_options_init(&options);
    options.engine = "walk";
    options.stop = &stop;
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), 30, &err),
                          SF_OK);
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_OK);
    CU_ASSERT_EQUAL(sf_engine_histograms(engine, 1, elements, histogram, &err), SF_ESTOPPED);
    sf_engine_close(engine);
}

const test_case test_cases[] = {
    {"random chains", test_random_chains},
    {"extreme chains", test_extreme_chains},
    {"a chain and its reverse", test_reversal},
    {"a new sequence in old tables", test_renewal},
    {"published histograms", test_published},
    {"another score model", test_model},
    {"stop", test_stop},
    {NULL, NULL},
};

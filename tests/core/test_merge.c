/* Tail merging against the plain enumeration: random and extreme sequences, any split, table size, piece and
 * instruction set, published histograms. STARFOLD_TEST_LONG=1 goes to longer chains. */
#include "core/engines/merge/merge_any.h"
#include "core/engines/merge/merge_cubic.h"
#include "core/engines/merge/merge_square.h"

#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/base/isa.h"
#include "core/engines/merge/merge_plan.h"
#include "core/walk/walk.h"
#include "starfold/engine.h"

typedef struct kernel_case {
    const char *name;
    sf_isa isa;
    square_count *square;
    cubic_count *cubic;
} kernel_case;

static const kernel_case kernels[] = {
    {"portable", SF_ISA_PORTABLE, sf_square_count_portable, sf_cubic_count_portable},
#if defined __x86_64__
    {"avx2", SF_ISA_AVX2, sf_square_count_avx2, sf_cubic_count_avx2},
    {"avx512", SF_ISA_AVX512, sf_square_count_avx512, sf_cubic_count_avx512},
#endif
};

enum { N_KERNELS = sizeof kernels / sizeof kernels[0] };

/* What differs between the lattices. */
typedef struct lattice_case {
    const char *name;
    int dimension, tail_min, tail_max, prefix_min, piece_steps;
} lattice_case;

static const lattice_case square = {"square", 2, SQUARE_TAIL_MIN, SQUARE_TAIL_MAX, 2, 6};
static const lattice_case cubic = {"cubic", 3, CUBIC_TAIL_MIN, CUBIC_TAIL_MAX, 3, 3};

static cubic_geometry geometry;

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
static void plain_histogram(const lattice_case *lattice, int length, const uint8_t *h, uint64_t *contacts)
{
    sf_problem problem;
    uint8_t elements[SF_LENGTH_MAX];
    uint64_t histogram[SF_SCORES_MAX];
    memset(contacts, 0, CUBIC_CONTACTS * sizeof *contacts);
    CU_ASSERT_EQUAL_FATAL(
        sf_problem_init(&problem, sf_lattice_find(lattice->name), sf_score_model_find("hp"), length, NULL), SF_OK);
    for (int k = 0; k < length; k++)
        elements[k] = !h[k];
    CU_ASSERT_EQUAL_FATAL(sf_walk_histogram(&problem, elements, NULL, histogram, NULL), SF_OK);
    memcpy(contacts, histogram, (size_t)problem.n_scores * sizeof *contacts);
}

static merge_sizes table_sizes(const lattice_case *lattice, int log2_entries)
{
    merge_sizes sizes = {0};
    for (int r = 0; r <= MERGE_TAIL_MAX; r++) {
        sizes.entry_bytes[r] = lattice->dimension == 2 ? sf_square_entry_bytes(r) : sf_cubic_entry_bytes(r);
        sizes.log2_entries[r] = log2_entries;
    }
    return sizes;
}

/* Adds the pieces before or from the one where the chain is cut. */
static void count_pieces(const kernel_case *kernel, const lattice_case *lattice, int length, const uint8_t *h, int tail,
                         size_t cut, merge_workspace *workspace, uint64_t *contacts)
{
    if (lattice->dimension == 2) {
        static square_job job;
        sf_square_job_init(&job, length, h, tail, lattice->piece_steps);
        cut %= job.n_pieces + 1;
        CU_ASSERT_EQUAL(kernel->square(&job, workspace, 0, cut, NULL, contacts, NULL), SF_OK);
        CU_ASSERT_EQUAL(kernel->square(&job, workspace, cut, job.n_pieces, NULL, contacts, NULL), SF_OK);
    } else {
        static cubic_job job;
        const int steps = length - tail - 4 < 1 ? 1 : length - tail - 4;
        sf_cubic_job_init(&job, &geometry, length, h, tail,
                          steps < lattice->piece_steps ? steps : lattice->piece_steps);
        cut %= job.n_pieces + 1;
        CU_ASSERT_EQUAL(kernel->cubic(&job, workspace, 0, cut, NULL, contacts, NULL), SF_OK);
        CU_ASSERT_EQUAL(kernel->cubic(&job, workspace, cut, job.n_pieces, NULL, contacts, NULL), SF_OK);
    }
}

/* Counts with a split, small or large tables, in two runs of pieces. */
static void merged_histogram(const kernel_case *kernel, const lattice_case *lattice, int length, const uint8_t *h,
                             int tail, int log2_entries, size_t cut, uint64_t *contacts)
{
    merge_workspace workspace;
    const merge_sizes sizes = table_sizes(lattice, log2_entries);
    memset(contacts, 0, CUBIC_CONTACTS * sizeof *contacts);
    CU_ASSERT_EQUAL_FATAL(sf_merge_workspace_init(&workspace, &sizes, NULL), SF_OK);
    count_pieces(kernel, lattice, length, h, tail, cut, &workspace, contacts);
    sf_merge_workspace_free(&workspace);
}

/* One chain, all kernels, a random split. */
static void check_chain(uint64_t *random, const lattice_case *lattice, int length, const uint8_t *h)
{
    uint64_t plain[CUBIC_CONTACTS], merged[CUBIC_CONTACTS];
    plain_histogram(lattice, length, h, plain);
    for (int i = 0; i < N_KERNELS; i++) {
        int longest = length - lattice->prefix_min;
        longest = longest < lattice->tail_max ? longest : lattice->tail_max;
        const int tail = lattice->tail_min + (int)(test_random(random) % (unsigned)(longest - lattice->tail_min + 1));
        const int log2_entries = (int)(test_random(random) % 12);
        if (kernels[i].isa > sf_isa_get())
            continue;
        merged_histogram(&kernels[i], lattice, length, h, tail, log2_entries, (size_t)test_random(random), merged);
        CU_ASSERT(memcmp(plain, merged, sizeof plain) == 0);
        if (memcmp(plain, merged, sizeof plain) != 0)
            printf("\n  %s %s differs: length %d, tail %d, tables 2^%d\n", lattice->name, kernels[i].name, length, tail,
                   log2_entries);
    }
}

static void random_chains(const lattice_case *lattice, int from, int to, int n)
{
    uint64_t random = test_seed();
    uint8_t h[SF_LENGTH_MAX];
    for (int length = from; length <= to; length++) {
        for (int i = 0; i < (length < to ? n : n / 4); i++) {
            random_chain(&random, length, h);
            check_chain(&random, lattice, length, h);
        }
    }
}

static void test_random_square(void)
{
    random_chains(&square, SQUARE_LENGTH_MIN, long_tests() ? 20 : 16, 40);
}

static void test_random_cubic(void)
{
    random_chains(&cubic, CUBIC_LENGTH_MIN, long_tests() ? 13 : 11, 40);
}

/* All H, all P, every second H, the others, one H. */
static void extreme_chains(const lattice_case *lattice, int from, int to)
{
    uint64_t random = test_seed();
    uint8_t h[SF_LENGTH_MAX];
    for (int length = from; length <= to; length++) {
        for (int kind = 0; kind < 5; kind++) {
            for (int k = 0; k < length; k++)
                h[k] = kind == 0 || (kind == 2 && k % 2 == 0) || (kind == 3 && k % 2 == 1);
            if (kind == 4)
                h[test_random(&random) % (unsigned)length] = 1;
            check_chain(&random, lattice, length, h);
        }
    }
}

static void test_extreme_square(void)
{
    extreme_chains(&square, SQUARE_LENGTH_MIN, 16);
}

static void test_extreme_cubic(void)
{
    extreme_chains(&cubic, CUBIC_LENGTH_MIN, 12);
}

/* Sums are the known numbers, and a chain and its reverse agree, where the plain enumeration is too slow. */
static void check_reversal(const lattice_case *lattice, int from, int to)
{
    uint64_t random = test_seed(), there[CUBIC_CONTACTS], back[CUBIC_CONTACTS];
    uint8_t h[SF_LENGTH_MAX], reversed[SF_LENGTH_MAX];
    const kernel_case *kernel = &kernels[sf_isa_get()];
    for (int length = from; length <= to; length++) {
        uint64_t sum = 0;
        const unsigned n_tails = lattice->dimension == 2 ? 3 : CUBIC_TAIL_MAX - CUBIC_TAIL_MIN + 1;
        const int tail = lattice->tail_min + (int)(test_random(&random) % n_tails);
        const int other_tail = lattice->tail_min + (int)(test_random(&random) % n_tails);
        random_chain(&random, length, h);
        for (int k = 0; k < length; k++)
            reversed[k] = h[length - 1 - k];
        merged_histogram(kernel, lattice, length, h, tail, 13, 100, there);
        merged_histogram(kernel, lattice, length, reversed, other_tail, 12, 200, back);
        CU_ASSERT(memcmp(there, back, sizeof there) == 0);
        for (int c = 0; c < CUBIC_CONTACTS; c++)
            sum += there[c];
        CU_ASSERT_EQUAL(sum, sf_lattice_conformations(sf_lattice_find(lattice->name), length));
    }
}

static void test_reversal_square(void)
{
    check_reversal(&square, 20, long_tests() ? 26 : 22);
    if (long_tests())
        check_reversal(&square, 30, 30);
}

static void test_reversal_cubic(void)
{
    check_reversal(&cubic, 13, long_tests() ? 18 : 15);
    if (long_tests())
        check_reversal(&cubic, 20, 20);
}

/* Chains of nearly only H, that have tails of 16 contacts and more: all kernels and tails agree, and the sum is right.
 */
static void test_dense_cubic(void)
{
    uint64_t random = test_seed();
    const int length = long_tests() ? 17 : 14;
    for (int n = 0; n < 3; n++) {
        uint64_t first[CUBIC_CONTACTS], contacts[CUBIC_CONTACTS], sum = 0;
        uint8_t h[SF_LENGTH_MAX];
        for (int k = 0; k < length; k++)
            h[k] = n == 0 || test_random(&random) % 8 != 0;
        merged_histogram(&kernels[0], &cubic, length, h, CUBIC_TAIL_MIN, 9, 50, first);
        for (int c = 0; c < CUBIC_CONTACTS; c++)
            sum += first[c];
        CU_ASSERT_EQUAL(sum, sf_lattice_conformations(sf_lattice_find("cubic"), length));
        for (int i = 0; i < N_KERNELS; i++) {
            if (kernels[i].isa > sf_isa_get())
                continue;
            merged_histogram(&kernels[i], &cubic, length, h, CUBIC_TAIL_MIN + i % 2, 8 + i, 100, contacts);
            CU_ASSERT(memcmp(first, contacts, sizeof first) == 0);
        }
    }
}

/* One workspace, one sequence after the other: nothing of the first is left. */
static void check_renewal(const lattice_case *lattice, int length)
{
    merge_workspace workspace;
    const merge_sizes sizes = table_sizes(lattice, 6);
    uint64_t random = test_seed(), plain[CUBIC_CONTACTS];
    uint8_t h[SF_LENGTH_MAX];
    CU_ASSERT_EQUAL_FATAL(sf_merge_workspace_init(&workspace, &sizes, NULL), SF_OK);
    workspace.epoch = UINT16_MAX - 10;
    for (int i = 0; i < 20; i++) {
        uint64_t merged[CUBIC_CONTACTS] = {0};
        random_chain(&random, length, h);
        plain_histogram(lattice, length, h, plain);
        sf_merge_workspace_renew(&workspace);
        count_pieces(&kernels[sf_isa_get()], lattice, length, h, lattice->tail_min + 1, 10, &workspace, merged);
        CU_ASSERT(memcmp(plain, merged, sizeof plain) == 0);
    }
    sf_merge_workspace_free(&workspace);
}

static void test_renewal(void)
{
    check_renewal(&square, 13);
    check_renewal(&cubic, 9);
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

/* Chains of a model by the engine's door against the plain enumeration. */
static void check_model(const sf_score_model *model, const char *lattice, int length, int n)
{
    sf_problem problem;
    sf_engine_options options;
    sf_engine *engine;
    sf_error err = {0};
    uint64_t random = test_seed(), histogram[SF_SCORES_MAX], plain[SF_SCORES_MAX];
    uint8_t elements[SF_LENGTH_MAX];
    sf_engine_options_init(&options);
    options.engine = "walk";
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find(lattice), model, length, &err), SF_OK);
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_OK);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < length; k++)
            elements[k] = (uint8_t)(test_random(&random) % (unsigned)model->n_letters);
        CU_ASSERT_EQUAL(sf_engine_histograms(engine, 1, elements, histogram, &err), SF_OK);
        CU_ASSERT_EQUAL(sf_walk_histogram(&problem, elements, NULL, plain, &err), SF_OK);
        CU_ASSERT(memcmp(histogram, plain, (size_t)problem.n_scores * sizeof *plain) == 0);
    }
    sf_engine_close(engine);
}

/* Two like letters of negative weight: one class. */
static void test_like_letters(void)
{
    sf_score_model model = {.name = "like", .n_letters = 3, .letter = "ABX"};
    for (int a = 0; a < 2; a++)
        model.weight[a][0] = model.weight[a][1] = -3;
    check_model(&model, "square", 14, 5);
    check_model(&model, "cubic", 10, 5);
}

/* Any model's way of merging against the plain enumeration, in two runs of pieces, from either end. */
static void check_any(const sf_score_model *model, const char *lattice, int length, int n)
{
    sf_problem problem;
    merge_workspace workspace;
    merge_sizes sizes;
    static any_job job;
    uint64_t random = test_seed(), plain[SF_SCORES_MAX];
    uint8_t elements[SF_LENGTH_MAX];
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find(lattice), model, length, NULL), SF_OK);
    CU_ASSERT_FATAL(sf_any_can(&problem));
    sf_any_sizes(&problem, &sizes);
    CU_ASSERT_EQUAL_FATAL(sf_merge_workspace_init(&workspace, &sizes, NULL), SF_OK);
    for (int i = 0; i < n; i++) {
        uint64_t merged[SF_SCORES_MAX] = {0};
        for (int k = 0; k < length; k++)
            elements[k] = (uint8_t)(test_random(&random) % (unsigned)model->n_letters);
        sf_any_job_init(&job, &problem, elements, i % 2 == 1);
        const size_t cut = (size_t)test_random(&random) % (job.n_pieces + 1);
        sf_merge_workspace_renew(&workspace);
        CU_ASSERT_EQUAL(sf_any_count(&job, &workspace, 0, cut, NULL, merged, NULL), SF_OK);
        CU_ASSERT_EQUAL(sf_any_count(&job, &workspace, cut, job.n_pieces, NULL, merged, NULL), SF_OK);
        CU_ASSERT_EQUAL(sf_walk_histogram(&problem, elements, NULL, plain, NULL), SF_OK);
        CU_ASSERT(memcmp(merged, plain, (size_t)problem.n_scores * sizeof *plain) == 0);
    }
    sf_merge_workspace_free(&workspace);
}

/* Hydrophobic, positive, negative, neutral. */
static void test_charges(void)
{
    static const sf_score_model model = {
        .name = "hpnx",
        .n_letters = 4,
        .letter = "HPNX",
        .weight = {{4, 0, 0, 0}, {0, -1, 1, 0}, {0, 1, -1, 0}, {0, 0, 0, 0}},
    };
    for (int length = 6; length <= 14; length++)
        check_any(&model, "square", length, 6);
    for (int length = 6; length <= 10; length++)
        check_any(&model, "cubic", length, 4);
    check_model(&model, "cubic", 13, 1); /* by the engine's door */
}

/* Three letters, no zero among the weights; then one that needs two bytes in a key. */
static void test_great_weights(void)
{
    static const sf_score_model mixed = {
        .name = "mixed", .n_letters = 3, .letter = "ABC", .weight = {{3, -2, 1}, {-2, 7, 1}, {1, 1, -1}}};
    static const sf_score_model great = {
        .name = "great", .n_letters = 3, .letter = "ABC", .weight = {{0, -1, 0}, {-1, 22, 1}, {0, 1, -1}}};
    check_any(&mixed, "square", 13, 8);
    check_any(&great, "cubic", 9, 4);
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

/* What a part holds must not depend on the instruction set, nor on what a workspace was used for. */
static void test_split(void)
{
    uint64_t random = test_seed();
    uint8_t h[SF_LENGTH_MAX];
    merge_sizes sizes;
    for (int dimension = 2; dimension <= 3; dimension++) {
        const int length = dimension == 2 ? 24 : 17;
        merge_split first = {0}, split;
        merge_workspace workspace;
        random_chain(&random, length, h);
        sf_merge_sizes(dimension, length, &sizes);
        CU_ASSERT_EQUAL_FATAL(sf_merge_workspace_init(&workspace, &sizes, NULL), SF_OK);
        for (int i = 0; i < N_KERNELS; i++) {
            if (kernels[i].isa > sf_isa_get())
                continue;
            CU_ASSERT_EQUAL(
                dimension == 2
                    ? sf_merge_square_split(length, h, kernels[i].square, &workspace, NULL, &split, NULL)
                    : sf_merge_cubic_split(&geometry, length, h, kernels[i].cubic, &workspace, NULL, &split, NULL),
                SF_OK);
            if (i == 0)
                first = split;
            CU_ASSERT(split.reversed == first.reversed && split.tail == first.tail);
        }
        sf_merge_workspace_free(&workspace);
    }
}

static void test_geometry(void)
{
    sf_cubic_geometry_init(&geometry);
    int n_even = 0, seen[512] = {0};
    for (int i = 0; i < 8; i++)
        n_even += __builtin_popcountll(geometry.even[i]);
    CU_ASSERT_EQUAL(n_even, 18 + 66 + 146);
    for (int n = 0; n < 64 * CUBIC_WORDS; n++)
        seen[8 * geometry.pack_byte[n / 64][n % 64] + geometry.pack_bit[n / 64][n % 64] % 8]++;
    for (int site = 0; site < 512; site++)
        CU_ASSERT(site == 0 || seen[site] <= 1); /* one to one; where nothing is packed, the head */
    CU_ASSERT_EQUAL(seen[0], 64 * CUBIC_WORDS - 376);
}

const test_case test_cases[] = {
    {"the geometry of the torus", test_geometry}, /* first: the others use it */
    {"random chains, square", test_random_square},
    {"random chains, cubic", test_random_cubic},
    {"extreme chains, square", test_extreme_square},
    {"extreme chains, cubic", test_extreme_cubic},
    {"a chain and its reverse, square", test_reversal_square},
    {"a chain and its reverse, cubic", test_reversal_cubic},
    {"dense chains, cubic", test_dense_cubic},
    {"a new sequence in old tables", test_renewal},
    {"published histograms", test_published},
    {"like letters", test_like_letters},
    {"charges", test_charges},
    {"great weights", test_great_weights},
    {"the split", test_split},
    {"stop", test_stop},
    {NULL, NULL},
};

/* The layered tables against the plain scan of all maps: every instruction set, sets and histograms, one by one and in
 * batches; known histograms. */
#include "core/engines/table/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/base/isa.h"
#include "core/engines/table/table_set.h"
#include "core/engines/table/table_sliced.h"
#include "csv.h"
#include "starfold/engine.h"

enum { WIDTH = SF_TABLE_SCORES };

static void set_isa(int isa)
{
    setenv("STARFOLD_ISA", sf_isa_name((sf_isa)isa), 1);
}

static sf_map_table build(const char *lattice, int length)
{
    sf_map_table maps;
    sf_map_options options = {.n_threads = 2};
    if (sf_map_table_build(&maps, sf_lattice_find(lattice), length, &options, NULL) != 0)
        CU_FAIL_FATAL("a table could not be built");
    return maps;
}

/* The answers of the plain scan for n sequences. */
typedef struct answers {
    size_t n;
    uint32_t *sequence;
    uint32_t *scores;
    uint64_t *histogram; /* histogram[n][WIDTH] */
} answers;

static void ask_plainly(answers *a, const sf_map_table *maps)
{
    a->scores = calloc(a->n, sizeof *a->scores);
    a->histogram = calloc(a->n * WIDTH, sizeof *a->histogram);
    for (size_t i = 0; i < a->n; i++) {
        sf_table_plain_histogram(maps, a->sequence[i], a->histogram + i * WIDTH);
        for (int s = 0; s < WIDTH; s++)
            a->scores[i] |= (uint32_t)(a->histogram[i * WIDTH + (size_t)s] != 0) << s;
    }
}

static answers all_sequences(const sf_map_table *maps)
{
    answers a = {.n = (size_t)1 << maps->layout.length};
    a.sequence = malloc(a.n * sizeof *a.sequence);
    for (size_t i = 0; i < a.n; i++)
        a.sequence[i] = (uint32_t)i;
    ask_plainly(&a, maps);
    return a;
}

/* n random ones, all H and all P among them. */
static answers random_sequences(const sf_map_table *maps, size_t n)
{
    answers a = {.n = n};
    uint64_t state = test_seed() + (uint64_t)maps->layout.length;
    uint32_t all = (UINT32_C(1) << maps->layout.length) - 1;
    a.sequence = malloc(n * sizeof *a.sequence);
    for (size_t i = 0; i < n; i++)
        a.sequence[i] = i < 2 ? (i == 0 ? all : 0) : (uint32_t)test_random(&state) & all;
    ask_plainly(&a, maps);
    return a;
}

static void free_answers(answers *a)
{
    free(a->sequence);
    free(a->scores);
    free(a->histogram);
}

static void check_sets(const sf_map_table *maps, const answers *a, int levels)
{
    sf_set_table set;
    sf_set_work work;
    size_t wrong = 0;
    CU_ASSERT_EQUAL_FATAL(sf_set_table_init(&set, maps, levels, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(sf_set_work_init(&work, &set, NULL), 0);
    CU_ASSERT_EQUAL(set.record_start != NULL, levels == 3 && maps->layout.length > 7); /* shorter ones have no middle */
    for (size_t i = 0; i < a->n; i++)
        wrong += sf_set_scores(&set, a->sequence[i], &work) != a->scores[i];
    CU_ASSERT_EQUAL(wrong, 0);
    sf_set_work_free(&work);
    sf_set_table_free(&set);
}

/* In batches of many sizes, each shared in several pieces. */
static void check_histograms(const sf_map_table *maps, const answers *a)
{
    enum { PIECES = 3 };
    sf_sliced_table sliced;
    uint64_t state = test_seed();
    uint64_t *found = calloc(a->n * WIDTH, sizeof *found);
    CU_ASSERT_EQUAL_FATAL(sf_sliced_table_init(&sliced, maps, NULL), 0);
    for (size_t i = 0; i < a->n;) {
        size_t n = 1 + test_random(&state) % 100;
        n = n < a->n - i ? n : a->n - i;
        for (size_t piece = 0; piece < PIECES; piece++)
            sf_sliced_histograms(&sliced, piece, PIECES, n, a->sequence + i, WIDTH, found + i * WIDTH);
        i += n;
    }
    CU_ASSERT_EQUAL(memcmp(found, a->histogram, a->n * WIDTH * sizeof *found), 0);
    memset(found, 0, WIDTH * sizeof *found);
    sf_sliced_histograms(&sliced, 0, 1, 1, a->sequence + a->n - 1, WIDTH, found);
    CU_ASSERT_EQUAL(memcmp(found, a->histogram + (a->n - 1) * WIDTH, WIDTH * sizeof *found), 0);
    sf_sliced_table_free(&sliced);
    free(found);
}

static void check_all_ways(const sf_map_table *maps, answers a)
{
    for (int isa = 0; isa < SF_ISA_COUNT; isa++) {
        set_isa(isa);
        check_sets(maps, &a, 2);
        check_sets(maps, &a, 3);
        check_histograms(maps, &a);
    }
    unsetenv("STARFOLD_ISA");
    free_answers(&a);
}

static void test_all_sequences(void)
{
    for (int r = 0; r < 2; r++) {
        for (int length = 4; length <= (r ? 10 : 14); length++) {
            sf_map_table maps = build(r ? "cubic" : "square", length);
            check_all_ways(&maps, all_sequences(&maps));
            sf_map_table_free(&maps);
        }
    }
}

static void test_shortest(void)
{
    sf_map_table maps = build("square", 3);
    answers a = all_sequences(&maps);
    check_sets(&maps, &a, 2);
    check_histograms(&maps, &a);
    free_answers(&a);
    sf_map_table_free(&maps);
}

static void test_random_sequences(void)
{
    static const struct {
        const char *lattice;
        int length;
        size_t n;
    } cases[] = {{"square", 15, 1000}, {"square", 16, 600}, {"square", 17, 300}, {"square", 18, 150}, {"square", 19, 80},
                 {"square", 20, 40},   {"cubic", 11, 1000}, {"cubic", 12, 600},  {"cubic", 13, 300},  {"cubic", 14, 80}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sf_map_table maps = build(cases[i].lattice, cases[i].length);
        check_all_ways(&maps, random_sequences(&maps, cases[i].n));
        sf_map_table_free(&maps);
    }
}

static void test_reversal(void)
{
    sf_map_options options = {.n_threads = 1};
    uint64_t state = test_seed();
    for (int length = 13; length <= 16; length++) {
        sf_table *table;
        sf_table_work *work;
        CU_ASSERT_EQUAL_FATAL(sf_table_open(&table, sf_lattice_find("square"), length, SF_TABLE_SETS | SF_TABLE_HISTOGRAMS,
                                            &options, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(sf_table_work_open(&work, table, NULL), 0);
        for (int i = 0; i < 200; i++) {
            uint32_t sequence = (uint32_t)test_random(&state) & ((UINT32_C(1) << length) - 1);
            uint32_t both[2] = {sequence, sf_contact_residues_reverse(length, sequence)};
            uint64_t histograms[2][WIDTH] = {{0}};
            sf_table_histograms(table, 0, 1, 2, both, WIDTH, histograms[0]);
            CU_ASSERT_EQUAL(memcmp(histograms[0], histograms[1], sizeof histograms[0]), 0);
            uint32_t scores = sf_table_scores(table, work, both[0]);
            CU_ASSERT_EQUAL(scores, sf_table_scores(table, work, both[1]));
            for (int s = 0; s < WIDTH; s++)
                CU_ASSERT_EQUAL(scores >> s & 1, histograms[0][s] != 0);
        }
        sf_table_work_close(work);
        sf_table_close(table);
    }
}

static uint32_t residues_of(const char *letters)
{
    uint32_t residues = 0;
    for (int k = 0; letters[k]; k++)
        residues |= (uint32_t)(letters[k] == 'H') << k;
    return residues;
}

static void check_known(const char *lattice, int length, uint32_t sequence, const uint64_t *known)
{
    sf_map_options options = {.n_threads = 2};
    sf_table *table;
    uint64_t histogram[WIDTH] = {0};
    CU_ASSERT_EQUAL_FATAL(sf_table_open(&table, sf_lattice_find(lattice), length, SF_TABLE_HISTOGRAMS, &options, NULL), 0);
    sf_table_histograms(table, 0, 1, 1, &sequence, WIDTH, histogram);
    CU_ASSERT_EQUAL(memcmp(histogram, known, sizeof histogram), 0);
    sf_table_close(table);
}

static void test_known_histograms(void)
{
    csv c;
    uint64_t known[WIDTH];
    int rows = 0;
    csv_open(&c, "hp_histograms.csv");
    while (csv_next(&c)) {
        int length = (int)csv_number(&c, 1);
        if (length > 20)
            continue;
        csv_numbers(&c, 4, known, WIDTH);
        check_known(csv_lattice(&c), length, residues_of(c.column[2]), known);
        rows++;
    }
    CU_ASSERT(rows >= 6);
    csv_open(&c, "homopolymer_contacts.csv");
    while (csv_next(&c)) {
        int length = (int)csv_number(&c, 1);
        if (length < 3 || length > (csv_number(&c, 0) == 2 ? 19 : 14))
            continue;
        csv_numbers(&c, 5, known, WIDTH);
        check_known(csv_lattice(&c), length, (UINT32_C(1) << length) - 1, known);
        rows++;
    }
    CU_ASSERT_EQUAL(rows, 9 + 29);
}

/* Chains of the field's benchmarks that a table holds: best score, and how many conformations have it. */
static void test_benchmarks(void)
{
    csv c;
    int rows = 0;
    csv_open(&c, "benchmarks_hp.csv");
    while (csv_next(&c)) {
        int length = (int)csv_number(&c, 2), best = -atoi(c.column[5]);
        sf_table *table;
        const sf_map_options options = {.n_threads = 2};
        uint64_t histogram[WIDTH] = {0};
        if (length > sf_map_table_length_max(sf_lattice_find(csv_number(&c, 1) == 2 ? "square" : "cubic")))
            continue;
        CU_ASSERT_EQUAL_FATAL(
            sf_table_open(&table, sf_lattice_find("square"), length, SF_TABLE_HISTOGRAMS, &options, NULL), 0);
        const uint32_t sequence = residues_of(c.column[4]);
        sf_table_histograms(table, 0, 1, 1, &sequence, WIDTH, histogram);
        for (int s = best + 1; s < WIDTH; s++)
            CU_ASSERT_EQUAL(histogram[s], 0);
        CU_ASSERT_EQUAL(histogram[best], csv_number(&c, 6));
        sf_table_close(table);
        rows++;
    }
    CU_ASSERT_EQUAL(rows, 3);
}

/* The table of every length there is: all conformations are there, and the best score of H...H is the most contacts known. */
static void test_every_length(void)
{
    const bool is_long = getenv("STARFOLD_TEST_LONG") != NULL;
    csv c;
    int rows = 0;
    csv_open(&c, "max_contacts.csv");
    while (csv_next(&c)) {
        int length = (int)csv_number(&c, 0);
        for (int r = 0; r < 2; r++) {
            const sf_lattice *lattice = sf_lattice_find(r ? "cubic" : "square");
            if (length < 3 || length > (is_long ? sf_map_table_length_max(lattice) : r ? 14 : 20))
                continue;
            sf_map_table maps = build(lattice->name, length);
            uint64_t conformations = 0;
            for (size_t i = 0; i < maps.n_maps; i++)
                conformations += maps.count[i];
            CU_ASSERT_EQUAL(conformations, sf_lattice_conformations(lattice, length));
            CU_ASSERT_EQUAL((uint64_t)maps.max_contacts, csv_number(&c, r ? 3 : 1));
            sf_map_table_free(&maps);
            rows++;
        }
    }
    CU_ASSERT_EQUAL(rows, is_long ? 22 + 15 : 18 + 12);
}

static void test_memory_a_map(void)
{
    for (int length = 14; length <= 20; length += 2) {
        sf_map_table maps = build("square", length);
        sf_set_table set;
        sf_sliced_table sliced;
        CU_ASSERT_EQUAL_FATAL(sf_set_table_init(&set, &maps, 0, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(sf_sliced_table_init(&sliced, &maps, NULL), 0);
        CU_ASSERT(set.bytes <= 6 * maps.n_maps);
        CU_ASSERT(sf_sliced_table_bytes(&sliced) <= 11 * maps.n_maps);
        sf_set_table_free(&set);
        sf_sliced_table_free(&sliced);
        sf_map_table_free(&maps);
    }
}

/* Through the engine's door, in blocks, with threads. */
static void test_engine(void)
{
    enum { LENGTH = 12, N = 1 << LENGTH };
    sf_map_table maps = build("square", LENGTH);
    answers a = all_sequences(&maps);
    sf_problem problem;
    sf_engine_options options;
    static uint8_t elements[N][LENGTH];
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, maps.lattice, sf_score_model_find("hp"), LENGTH, NULL), 0);
    size_t width = (size_t)problem.n_scores;
    uint64_t *histograms = calloc(N * width, sizeof *histograms);
    for (uint32_t s = 0; s < N; s++) {
        for (int k = 0; k < LENGTH; k++)
            elements[s][k] = !(s >> k & 1);
    }
    for (int n_threads = 1; n_threads <= 3; n_threads++) {
        sf_engine *engine;
        sf_engine_options_init(&options);
        options.engine = "table";
        options.n_threads = n_threads;
        CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, N, NULL), 0);
        CU_ASSERT_EQUAL(sf_engine_histograms(engine, N, elements[0], histograms, NULL), 0);
        size_t wrong = 0;
        for (size_t i = 0; i < N; i++)
            wrong += memcmp(histograms + i * width, a.histogram + i * WIDTH, width * sizeof *histograms) != 0;
        CU_ASSERT_EQUAL(wrong, 0);
        sf_engine_close(engine);
    }
    free(histograms);
    free_answers(&a);
    sf_map_table_free(&maps);
}

const test_case test_cases[] = {
    {"all sequences of short chains, every path as the plain scan", test_all_sequences},
    {"the shortest chain", test_shortest},
    {"random sequences of longer chains, every path as the plain scan", test_random_sequences},
    {"a chain and its reverse", test_reversal},
    {"known histograms", test_known_histograms},
    {"chains of the benchmarks", test_benchmarks},
    {"conformations and most contacts of every length", test_every_length},
    {"bytes a map", test_memory_a_map},
    {"the engine gives the plain scan's answers with any threads", test_engine},
    {NULL, NULL},
};

/* The collapsing census against the plain one and the known numbers. */
#include "core/engines/census/census.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/base/isa.h"
#include "csv.h"

static sf_map_table build(const char *lattice, int length)
{
    sf_map_table maps;
    sf_map_options options = {.n_threads = 2};
    if (sf_map_table_build(&maps, sf_lattice_find(lattice), length, &options, NULL) != 0)
        CU_FAIL_FATAL("a table could not be built");
    return maps;
}

/* A census with its entries for every sequence. */
typedef struct result {
    sf_census census;
    sf_census_each each;
    size_t n;
} result;

static result new_result(int length)
{
    result r = {.n = (size_t)1 << length};
    r.each.fitness = calloc(r.n, 1);
    r.each.best = calloc(r.n, 1);
    return r;
}

static void free_result(result *r)
{
    free(r->each.fitness);
    free(r->each.best);
}

static bool same(const result *a, const result *b)
{
    return memcmp(&a->census, &b->census, sizeof a->census) == 0 && memcmp(a->each.fitness, b->each.fitness, a->n) == 0 &&
           memcmp(a->each.best, b->each.best, a->n) == 0;
}

static result count(const sf_map_table *maps, size_t n_parts, int n_threads)
{
    sf_census_plan *plan;
    result r = new_result(maps->layout.length);
    CU_ASSERT_EQUAL_FATAL(sf_census_open(&plan, maps, SF_CENSUS_SETS, 1, NULL, NULL), 0);
    for (size_t part = n_parts; part-- > 0;)
        CU_ASSERT_EQUAL(sf_census_count(plan, part, n_parts, n_threads, NULL, &r.each, &r.census, NULL), 0);
    sf_census_close(plan);
    return r;
}

static void check(const sf_map_table *maps, const result *right, size_t n_parts, int n_threads)
{
    result r = count(maps, n_parts, n_threads);
    CU_ASSERT(same(&r, right));
    free_result(&r);
}

/* The shapes of all sequences by a plan for histograms, with the census and the entries it gives beside. */
static result count_shapes(const sf_map_table *maps, size_t n_parts, int n_threads, sf_shapes *shapes)
{
    sf_census_plan *plan;
    result r = new_result(maps->layout.length);
    *shapes = (sf_shapes){.n_scores = maps->max_contacts + 1};
    CU_ASSERT_EQUAL_FATAL(sf_census_open(&plan, maps, SF_CENSUS_HISTOGRAMS, 1, NULL, NULL), 0);
    for (size_t part = n_parts; part-- > 0;)
        CU_ASSERT_EQUAL(sf_census_count_shapes(plan, part, n_parts, n_threads, NULL, &r.each, &r.census, shapes, NULL), 0);
    CU_ASSERT_EQUAL(shapes->n * sf_shapes_width(shapes) * sizeof *shapes->row,
                    sf_census_shapes_bytes(maps->layout.length, shapes->n_scores));
    sf_census_close(plan);
    sf_shapes_settle(shapes);
    return r;
}

static bool same_shapes(const sf_shapes *a, const sf_shapes *b)
{
    return a->n == b->n && memcmp(a->row, b->row, a->n * sf_shapes_width(a) * sizeof *a->row) == 0;
}

static void check_shapes(const sf_map_table *maps, const result *right, const sf_shapes *right_shapes, size_t n_parts,
                         int n_threads)
{
    sf_shapes shapes;
    result r = count_shapes(maps, n_parts, n_threads, &shapes);
    CU_ASSERT(same(&r, right));
    CU_ASSERT(same_shapes(&shapes, right_shapes));
    sf_shapes_free(&shapes);
    free_result(&r);
}

static void test_shapes_against_plain(void)
{
    for (int r = 0; r < 2; r++) {
        for (int length = 3; length <= (r ? 10 : 14); length++) {
            sf_map_table maps = build(r ? "cubic" : "square", length);
            result plain = new_result(length);
            sf_shapes shapes = {.n_scores = maps.max_contacts + 1};
            CU_ASSERT_EQUAL_FATAL(sf_shapes_reserve(&shapes, plain.n, NULL), 0);
            sf_census_plain(&maps, &plain.each, &plain.census, &shapes);
            sf_shapes_settle(&shapes);
            for (int isa = 0; isa < SF_ISA_COUNT; isa++) {
                setenv("STARFOLD_ISA", sf_isa_name((sf_isa)isa), 1);
                check_shapes(&maps, &plain, &shapes, 1, 1);
            }
            unsetenv("STARFOLD_ISA");
            check_shapes(&maps, &plain, &shapes, 3, 1);
            check_shapes(&maps, &plain, &shapes, 1, 3);
            check_shapes(&maps, &plain, &shapes, 16, 2);
            sf_shapes_free(&shapes);
            free_result(&plain);
            sf_map_table_free(&maps);
        }
    }
}

/* Random sequences of lengths where a plain census would take too long: their histogram by a scan of all maps, and their
 * reverse's, is among the shapes, with no lesser sequence as its example than the one it names. */
static void test_shapes_of_random_sequences(void)
{
    static const struct {
        const char *lattice;
        int length;
    } cases[] = {{"square", 17}, {"square", 18}, {"cubic", 12}, {"cubic", 13}};
    uint64_t seed = test_seed();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sf_map_table maps = build(cases[i].lattice, cases[i].length);
        sf_shapes shapes;
        result r = count_shapes(&maps, 1, 2, &shapes);
        uint64_t sequences = 0, conformations = 0;
        for (size_t k = 0; k < shapes.n; k++) {
            const uint64_t *row = sf_shapes_row(&shapes, k);
            sequences += row[shapes.n_scores];
            conformations = 0;
            for (int s = 0; s < shapes.n_scores; s++)
                conformations += row[s];
            CU_ASSERT_EQUAL(conformations, maps.conformations);
        }
        CU_ASSERT_EQUAL(sequences, r.n);
        for (int try = 0; try < 20; try++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            uint32_t all = (uint32_t)r.n - 1, s = (uint32_t)(seed >> 40) & all;
            uint64_t histogram[SF_TABLE_SCORES] = {0}, number = 0;
            sf_table_plain_histogram(&maps, s, histogram);
            for (int k = 0; k < cases[i].length; k++)
                number = number << 1 | !(s >> k & 1);
            size_t at = 0;
            while (at < shapes.n &&
                   memcmp(sf_shapes_row(&shapes, at), histogram, (size_t)shapes.n_scores * sizeof *histogram) != 0)
                at++;
            CU_ASSERT_FATAL(at < shapes.n);
            CU_ASSERT(sf_shapes_row(&shapes, at)[shapes.n_scores + 1] <= number);
            CU_ASSERT_EQUAL(sf_shapes_fitness(&shapes, at), r.each.fitness[s]);
            CU_ASSERT_EQUAL(sf_shapes_best(&shapes, at), r.each.best[s]);
            CU_ASSERT_EQUAL(r.each.best[sf_contact_residues_reverse(cases[i].length, s)], r.each.best[s]);
        }
        sf_shapes_free(&shapes);
        free_result(&r);
        sf_map_table_free(&maps);
    }
}

/* The summary against a plain recount: each count listed as often as there are sequences. */
static int compare_counts(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void test_shapes_summary(void)
{
    sf_map_table maps = build("square", 12);
    sf_shapes shapes;
    sf_shapes_summary summary;
    result r = count_shapes(&maps, 1, 1, &shapes);
    uint64_t *list = malloc(r.n * sizeof *list), most = 0;
    CU_ASSERT_EQUAL_FATAL(sf_shapes_summarise(&shapes, &summary, NULL), 0);
    for (int f = 0; f <= shapes.n_scores; f++) {
        CU_ASSERT_EQUAL(summary.sequences[f], r.census.fitness[f]);
        for (int s = 0; s < shapes.n_scores; s++) {
            size_t n = 0, n_shapes = 0;
            for (size_t i = 0; i < shapes.n; i++) {
                const uint64_t *row = sf_shapes_row(&shapes, i);
                most = row[shapes.n_scores] > most ? row[shapes.n_scores] : most;
                if (sf_shapes_fitness(&shapes, i) != f)
                    continue;
                n_shapes++;
                for (uint64_t k = 0; k < row[shapes.n_scores]; k++)
                    list[n++] = row[s];
            }
            CU_ASSERT_EQUAL(summary.shapes[f], n_shapes);
            qsort(list, n, sizeof *list, compare_counts);
            const uint64_t *range = sf_shapes_range(&summary, f, s);
            CU_ASSERT_EQUAL(range[0], n ? list[0] : 0);
            CU_ASSERT_EQUAL(range[1], n ? list[(n - 1) / 2] : 0);
            CU_ASSERT_EQUAL(range[2], n ? list[n - 1] : 0);
        }
    }
    CU_ASSERT_EQUAL(summary.most_shared, most);
    CU_ASSERT_EQUAL(summary.most_shared, r.census.best[0]); /* all that never score share one histogram */
    free(list);
    sf_shapes_summary_free(&summary);
    sf_shapes_free(&shapes);
    free_result(&r);
    sf_map_table_free(&maps);
}

static void test_against_plain(void)
{
    for (int r = 0; r < 2; r++) {
        for (int length = 3; length <= (r ? 10 : 14); length++) {
            sf_map_table maps = build(r ? "cubic" : "square", length);
            result plain = new_result(length);
            sf_census_plain(&maps, &plain.each, &plain.census, NULL);
            for (int isa = 0; isa < SF_ISA_COUNT; isa++) {
                setenv("STARFOLD_ISA", sf_isa_name((sf_isa)isa), 1);
                check(&maps, &plain, 1, 1);
            }
            unsetenv("STARFOLD_ISA");
            free_result(&plain);
            sf_map_table_free(&maps);
        }
    }
}

static void test_threads_and_parts(void)
{
    static const size_t n_parts[] = {1, 2, 3, 5, 16, 600};
    static const struct {
        const char *lattice;
        int length;
    } cases[] = {{"square", 13}, {"square", 14}, {"cubic", 9}, {"cubic", 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sf_map_table maps = build(cases[i].lattice, cases[i].length);
        result one = count(&maps, 1, 1);
        for (size_t p = 0; p < sizeof n_parts / sizeof *n_parts; p++) {
            for (int n_threads = 1; n_threads <= 3; n_threads++)
                check(&maps, &one, n_parts[p], n_threads);
        }
        free_result(&one);
        sf_map_table_free(&maps);
    }
}

static void test_known_fitness(void)
{
    csv c;
    int rows = 0;
    csv_open(&c, "fitness_all_sequences.csv");
    while (csv_next(&c)) {
        int length = (int)csv_number(&c, 1);
        uint64_t fitness[SF_TABLE_SCORES], best[SF_TABLE_SCORES];
        sf_map_table maps = build(csv_lattice(&c), length);
        result r = count(&maps, 1, 1);
        csv_numbers(&c, 8, fitness, SF_TABLE_SCORES);
        csv_numbers(&c, 9, best, SF_TABLE_SCORES);
        CU_ASSERT_EQUAL(r.census.fitness[0], 0);
        CU_ASSERT_EQUAL(memcmp(r.census.fitness + 1, fitness, sizeof fitness), 0);
        CU_ASSERT_EQUAL(memcmp(r.census.best, best, sizeof best), 0);
        CU_ASSERT_EQUAL(r.census.sequences_with_gaps, csv_number(&c, 6));
        CU_ASSERT_EQUAL(r.census.sequences, r.n);
        uint64_t sum = 0;
        for (size_t s = 0; s < r.n; s++)
            sum += r.each.fitness[s];
        CU_ASSERT_EQUAL(sum, csv_number(&c, 2));
        free_result(&r);
        sf_map_table_free(&maps);
        rows++;
    }
    CU_ASSERT_EQUAL(rows, 22);
}

static void test_known_unique(void)
{
    csv c;
    int rows = 0;
    csv_open(&c, "designing_sequences.csv");
    while (csv_next(&c)) {
        sf_map_table maps = build(csv_lattice(&c), (int)csv_number(&c, 1));
        result r = count(&maps, 1, 2);
        uint64_t sum = 0;
        for (int s = 0; s < SF_TABLE_SCORES; s++)
            sum += (uint64_t)s * r.census.best[s];
        CU_ASSERT_EQUAL(r.census.unique_best, csv_number(&c, 2));
        CU_ASSERT_EQUAL(sum, csv_number(&c, 5));
        free_result(&r);
        sf_map_table_free(&maps);
        rows++;
    }
    CU_ASSERT_EQUAL(rows, 25);
}

static void test_project_euler_300(void)
{
    const bool is_long = getenv("STARFOLD_TEST_LONG") != NULL;
    csv c;
    int rows = 0;
    csv_open(&c, "project_euler_300.csv");
    while (csv_next(&c)) {
        int length = (int)csv_number(&c, 0);
        if (length > 20 && !is_long)
            continue; /* 21: half a minute under a sanitizer */
        sf_map_table maps = build("square", length);
        result r = count(&maps, 1, 2);
        uint64_t sum = 0;
        for (size_t s = 0; s < r.n; s++)
            sum += r.each.best[s];
        CU_ASSERT_EQUAL(sum, csv_number(&c, 1));
        free_result(&r);
        sf_map_table_free(&maps);
        rows++;
    }
    CU_ASSERT_EQUAL(rows, is_long ? 18 : 17);
}

static void test_known_gaps(void)
{
    csv c;
    int rows = 0;
    csv_open(&c, "score_gap_sequences.csv");
    while (csv_next(&c)) {
        sf_map_table maps = build(csv_lattice(&c), (int)csv_number(&c, 1));
        result r = count(&maps, 1, 1);
        uint32_t sequence = 0;
        for (int k = 0; k < maps.layout.length; k++)
            sequence |= (uint32_t)(c.column[2][k] == 'H') << k;
        CU_ASSERT_EQUAL(r.each.best[sequence], csv_number(&c, 3));
        CU_ASSERT_EQUAL(r.each.fitness[sequence], csv_number(&c, 4));
        free_result(&r);
        sf_map_table_free(&maps);
        rows++;
    }
    CU_ASSERT_EQUAL(rows, 11);
}

static void test_without_each(void)
{
    sf_map_table maps = build("square", 15);
    sf_census_plan *plan;
    sf_census census = {0};
    CU_ASSERT_EQUAL_FATAL(sf_census_open(&plan, &maps, SF_CENSUS_SETS, 1, NULL, NULL), 0);
    CU_ASSERT_EQUAL(sf_census_count(plan, 0, 1, 2, NULL, NULL, &census, NULL), 0);
    CU_ASSERT_EQUAL(census.unique_best, 857);
    CU_ASSERT_EQUAL(census.sequences, 1 << 15);
    sf_census_each only_best = {.best = calloc(1 << 15, 1)};
    CU_ASSERT_EQUAL(sf_census_count(plan, 0, 1, 1, NULL, &only_best, &census, NULL), 0);
    CU_ASSERT_EQUAL(census.sequences, 2 << 15);
    CU_ASSERT_EQUAL(only_best.best[(1 << 15) - 1], 8);
    free(only_best.best);
    sf_census_close(plan);
    sf_map_table_free(&maps);
}

/* Shards of the maps, each counted in full, put together: as all maps at once. Short chains leave some shards empty. */
static void test_shards(void)
{
    static const struct {
        const char *lattice;
        int length;
    } cases[] = {{"square", 5}, {"square", 12}, {"square", 13}, {"cubic", 9}, {"cubic", 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sf_map_table maps = build(cases[i].lattice, cases[i].length);
        result whole = count(&maps, 1, 1), r = new_result(cases[i].length);
        for (size_t n_shards = 1; n_shards <= 7; n_shards += 2) {
            uint32_t *masks = calloc(r.n, sizeof *masks), *other = calloc(r.n, sizeof *other);
            const sf_map_options options = {.n_threads = 2};
            for (size_t shard = n_shards; shard-- > 0;) {
                sf_census_plan *plan;
                sf_map_table part;
                sf_census ignored = {0};
                const sf_census_each each = {.masks = other};
                CU_ASSERT_EQUAL_FATAL(
                    sf_map_table_build_part(&part, maps.lattice, maps.layout.length, shard, n_shards, &options, NULL), 0);
                if (part.n_maps > 0) {
                    CU_ASSERT_EQUAL_FATAL(sf_census_open(&plan, &part, SF_CENSUS_SETS, 1, NULL, NULL), 0);
                    CU_ASSERT_EQUAL(sf_census_count(plan, 0, 1, 2, NULL, &each, &ignored, NULL), 0);
                    sf_census_close(plan);
                    sf_census_masks_add(r.n, masks, other);
                }
                sf_map_table_free(&part);
            }
            memset(&r.census, 0, sizeof r.census);
            sf_census_of_masks(r.n, masks, &r.each, &r.census);
            CU_ASSERT(same(&r, &whole));
            free(masks);
            free(other);
        }
        free_result(&whole);
        free_result(&r);
        sf_map_table_free(&maps);
    }
}

static void test_stop(void)
{
    volatile int stop = 1;
    sf_map_table maps = build("square", 14);
    sf_census_plan *plan;
    sf_census census = {0};
    sf_error err = {0};
    CU_ASSERT_EQUAL_FATAL(sf_census_open(&plan, &maps, SF_CENSUS_SETS, 1, NULL, NULL), 0);
    for (int n_threads = 1; n_threads <= 2; n_threads++)
        CU_ASSERT_EQUAL(sf_census_count(plan, 0, 1, n_threads, &stop, NULL, &census, &err), SF_ESTOPPED);
    CU_ASSERT_EQUAL(census.sequences, 0);
    sf_census_close(plan);
    sf_map_table_free(&maps);
}

const test_case test_cases[] = {
    {"every sequence as in the plain census, every instruction set", test_against_plain},
    {"threads and parts do not show", test_threads_and_parts},
    {"known fitness and best scores of all sequences", test_known_fitness},
    {"known numbers of unique best conformations", test_known_unique},
    {"sums of the best score (Project Euler 300)", test_project_euler_300},
    {"sequences known to have gaps", test_known_gaps},
    {"the shapes of all sequences as in the plain census", test_shapes_against_plain},
    {"the shapes of random longer sequences, and their sums", test_shapes_of_random_sequences},
    {"shapes in short", test_shapes_summary},
    {"counts alone, or only some entries", test_without_each},
    {"shards of the maps, put together", test_shards},
    {"a census can be stopped", test_stop},
    {NULL, NULL},
};

/* The census with models of two letters other than HP, against a plain scan of all maps for every sequence. */
#include "core/engines/census/census_model.h"

#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/base/isa.h"

static sf_map_table build(const char *lattice, int length)
{
    sf_map_table maps;
    sf_map_options options = {.n_threads = 2};
    if (sf_map_table_build(&maps, sf_lattice_find(lattice), length, &options, NULL) != 0)
        CU_FAIL_FATAL("a table could not be built");
    return maps;
}

static sf_score_model model_of(int hh, int hp, int pp)
{
    return (sf_score_model){.name = "custom", .n_letters = 2, .letter = "AB", .weight = {{hh, hp}, {hp, pp}}};
}

typedef struct result {
    sf_census census;
    sf_census_each each;
    sf_shapes shapes;
    size_t n;
} result;

static result new_result(const sf_problem *problem)
{
    result r = {.n = (size_t)1 << problem->length, .shapes = {.n_scores = problem->n_scores}};
    r.each.fitness = calloc(r.n, 1);
    r.each.best = calloc(r.n, 1);
    return r;
}

static void free_result(result *r)
{
    free(r->each.fitness);
    free(r->each.best);
    sf_shapes_free(&r->shapes);
}

static uint64_t number_of(int length, uint32_t sequence)
{
    uint64_t number = 0;
    for (int k = 0; k < length; k++)
        number = number << 1 | !(sequence >> k & 1);
    return number;
}

/* Every sequence by itself. */
static result plain(const sf_map_table *maps, const sf_problem *problem)
{
    result r = new_result(problem);
    CU_ASSERT_EQUAL_FATAL(sf_shapes_reserve(&r.shapes, r.n, NULL), 0);
    for (uint32_t s = 0; s < r.n; s++) {
        uint64_t histogram[SF_SCORES_MAX] = {0};
        uint8_t elements[SF_CONTACT_LENGTH_MAX];
        int fitness = 0, bottom = -1, best = 0;
        for (int k = 0; k < problem->length; k++)
            elements[k] = !(s >> k & 1);
        sf_table_plain_model_histogram(maps, problem, elements, histogram);
        for (int i = 0; i < problem->n_scores; i++) {
            bottom = bottom < 0 && histogram[i] ? i : bottom;
            best = histogram[i] ? i : best;
            fitness += histogram[i] > 0;
        }
        r.census.sequences++;
        r.census.fitness[fitness]++;
        r.census.best[best]++;
        r.census.sequences_with_gaps += fitness < best - bottom + 1;
        r.census.unique_best += histogram[best] == 1;
        r.each.fitness[s] = (uint8_t)fitness;
        r.each.best[s] = (uint8_t)best;
        uint64_t *row = sf_shapes_row(&r.shapes, r.shapes.n++);
        memcpy(row, histogram, (size_t)problem->n_scores * sizeof *row);
        row[problem->n_scores] = 1;
        row[problem->n_scores + 1] = number_of(problem->length, s);
    }
    sf_shapes_settle(&r.shapes);
    return r;
}

static void check(const sf_map_table *maps, const sf_problem *problem, const result *right, sf_census_kind kind, size_t n_parts,
                  int n_threads)
{
    sf_census_model *plan;
    result r = new_result(problem);
    CU_ASSERT_EQUAL_FATAL(sf_census_model_open(&plan, maps, problem, kind, NULL), 0);
    for (size_t part = n_parts; part-- > 0;)
        CU_ASSERT_EQUAL(sf_census_model_count(plan, part, n_parts, n_threads, NULL, &r.each, &r.census,
                                              kind == SF_CENSUS_HISTOGRAMS ? &r.shapes : NULL, NULL),
                        0);
    sf_census_model_close(plan);
    CU_ASSERT(memcmp(&r.census, &right->census, sizeof r.census) == 0);
    CU_ASSERT(memcmp(r.each.fitness, right->each.fitness, r.n) == 0);
    CU_ASSERT(memcmp(r.each.best, right->each.best, r.n) == 0);
    if (kind == SF_CENSUS_HISTOGRAMS) {
        sf_shapes_settle(&r.shapes);
        CU_ASSERT_EQUAL(r.shapes.n, right->shapes.n);
        CU_ASSERT(r.shapes.n == right->shapes.n &&
                  memcmp(r.shapes.row, right->shapes.row, r.shapes.n * sf_shapes_width(&r.shapes) * sizeof(uint64_t)) == 0);
    }
    free_result(&r);
}

/* Sets and histograms, by every instruction set, and in parts by threads. */
static void check_model(const sf_map_table *maps, int hh, int hp, int pp)
{
    sf_score_model model = model_of(hh, hp, pp);
    sf_problem problem;
    if (sf_problem_init(&problem, maps->lattice, &model, maps->layout.length, NULL) != 0)
        return; /* more scores than are allowed */
    result right = plain(maps, &problem);
    for (sf_census_kind kind = SF_CENSUS_SETS; kind <= SF_CENSUS_HISTOGRAMS; kind++) {
        for (int isa = 0; isa < SF_ISA_COUNT; isa++) {
            setenv("STARFOLD_ISA", sf_isa_name((sf_isa)isa), 1);
            check(maps, &problem, &right, kind, 1, 1);
        }
        unsetenv("STARFOLD_ISA");
        check(maps, &problem, &right, kind, 3, 2);
    }
    free_result(&right);
}

/* Each kind of model: one weight, of either letter and sign; those that need the number of contacts alone beside; as many
 * scores as masks hold, and more; nothing at all. */
static void test_kinds(void)
{
    static const int weights[][3] = {{1, 0, 0}, {0, 0, 1}, {-1, 0, 0}, {0, 0, -3}, {0, 2, 0},  {3, 1, 1},    {1, 1, -2},
                                     {-1, -1, 4}, {2, 2, 2}, {0, 0, 0}, {2, -1, 1}, {1, -1, 1}, {100, 50, -100}, {7, -1, 3}};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        for (int r = 0; r < 2; r++) {
            for (int length = 3; length <= (r ? 8 : 11); length++) {
                sf_map_table maps = build(r ? "cubic" : "square", length);
                check_model(&maps, weights[i][0], weights[i][1], weights[i][2]);
                sf_map_table_free(&maps);
            }
        }
    }
}

static void test_random_models(void)
{
    static const struct {
        const char *lattice;
        int length, n_models, most;
    } cases[] = {{"square", 10, 12, 9}, {"square", 11, 12, 40}, {"square", 12, 4, 4}, {"square", 13, 3, 3},
                 {"square", 14, 1, 3},  {"cubic", 8, 8, 9},     {"cubic", 9, 6, 4},   {"cubic", 10, 2, 3}};
    uint64_t state = test_seed();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sf_map_table maps = build(cases[i].lattice, cases[i].length);
        const int most = cases[i].most;
        for (int k = 0; k < cases[i].n_models; k++) {
            int w[3];
            for (int j = 0; j < 3; j++)
                w[j] = (int)(test_random(&state) % (uint64_t)(2 * most + 1)) - most;
            check_model(&maps, w[0], w[1], w[2]);
        }
        sf_map_table_free(&maps);
    }
}

/* Chains too long for a plain census: maps of two words, parts that are cut, several thousand cells. The entries of random
 * sequences and of their reverses. */
static void test_longer_chains(void)
{
    static const struct {
        const char *lattice;
        int length, hh, hp, pp;
    } cases[] = {{"square", 17, 3, -1, -2}, {"square", 18, -1, 2, 0}, {"square", 19, 2, -1, 1}, {"cubic", 12, 1, -1, 2},
                 {"cubic", 13, 2, 1, 0}};
    uint64_t state = test_seed();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int length = cases[i].length;
        sf_map_table maps = build(cases[i].lattice, length);
        sf_score_model model = model_of(cases[i].hh, cases[i].hp, cases[i].pp);
        sf_problem problem;
        sf_census_model *plan;
        CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, maps.lattice, &model, length, NULL), 0);
        result r = new_result(&problem);
        CU_ASSERT_EQUAL_FATAL(sf_census_model_open(&plan, &maps, &problem, SF_CENSUS_SETS, NULL), 0);
        CU_ASSERT_EQUAL(sf_census_model_count(plan, 0, 1, 2, NULL, &r.each, &r.census, NULL, NULL), 0);
        sf_census_model_close(plan);
        CU_ASSERT_EQUAL(r.census.sequences, r.n);
        for (int k = 0; k < 30; k++) {
            uint64_t histogram[SF_SCORES_MAX] = {0};
            uint8_t elements[SF_CONTACT_LENGTH_MAX];
            const uint32_t s = (uint32_t)(test_random(&state) % r.n), reverse = sf_contact_residues_reverse(length, s);
            int fitness = 0, best = 0;
            for (int j = 0; j < length; j++)
                elements[j] = !(s >> j & 1);
            sf_table_plain_model_histogram(&maps, &problem, elements, histogram);
            for (int v = 0; v < problem.n_scores; v++) {
                best = histogram[v] ? v : best;
                fitness += histogram[v] > 0;
            }
            CU_ASSERT(r.each.fitness[s] == fitness && r.each.best[s] == best);
            CU_ASSERT(r.each.fitness[reverse] == fitness && r.each.best[reverse] == best);
        }
        free_result(&r);
        sf_map_table_free(&maps);
    }
}

static void test_stop(void)
{
    volatile int stop = 1;
    sf_map_table maps = build("square", 12);
    sf_score_model model = model_of(2, -1, 1);
    sf_problem problem;
    sf_census_model *plan;
    sf_census census = {0};
    sf_error err = {0};
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, maps.lattice, &model, 12, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(sf_census_model_open(&plan, &maps, &problem, SF_CENSUS_SETS, NULL), 0);
    CU_ASSERT_EQUAL(sf_census_model_count(plan, 0, 1, 2, &stop, NULL, &census, NULL, &err), SF_ESTOPPED);
    CU_ASSERT_EQUAL(census.sequences, 0);
    sf_census_model_close(plan);
    sf_map_table_free(&maps);
}

const test_case test_cases[] = {
    {"every kind of model as by a plain scan for each sequence", test_kinds},
    {"random models likewise", test_random_models},
    {"random sequences of longer chains likewise", test_longer_chains},
    {"a census can be stopped", test_stop},
    {NULL, NULL},
};

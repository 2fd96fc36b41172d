/* The paper's search, statistically: population 30, one elite, mutation 0.1, length 16 on the square lattice. An
 * independent simulation over 4,000 trials gave, after 0, 5, 10, 20 and 50 generations, the mean best score of a
 * population and the mean number of its puzzles that reach 9, the highest score there is. A few hundred trials of ours
 * must agree within their own error bars. */
#include <math.h>
#include <stdlib.h>

#include "core/search/archipelago.h"
#include "test_main.h"

enum { TRIALS = 400, LENGTH = 16, POPULATION = 30, BEST = 9, N_POINTS = 5 };

static const struct {
    int64_t generation;
    double n_at_best, best; /* published to two digits and to two decimals */
    double n_rounding, best_rounding;
} points[N_POINTS] = {{0, 0.07, 7.87, 0.005, 0.005},
                      {5, 0.80, 8.54, 0.005, 0.005},
                      {10, 1.4, 8.83, 0.05, 0.005},
                      {20, 1.7, 8.98, 0.05, 0.005},
                      {50, 1.8, 9.00, 0.05, 0.005}};

/* Mean of x over the trials against the published one: within four standard errors (theirs is a third of ours), and
 * half a unit of the last digit they give. */
static void check_mean(const char *what, int64_t generation, const double *x, double published, double rounding)
{
    double sum = 0, squares = 0;
    for (int t = 0; t < TRIALS; t++) {
        sum += x[t];
        squares += x[t] * x[t];
    }
    const double mean = sum / TRIALS, variance = (squares - sum * mean) / (TRIALS - 1);
    const double error = sqrt(variance / TRIALS * (1 + TRIALS / 4000.0));
    printf("\n    generation %2d: %s %.3f +- %.3f, published %.2f", (int)generation, what, mean, error, published);
    CU_ASSERT(fabs(mean - published) <= 4 * error + rounding);
}

static void measure(const sf_puzzle *puzzle, const sf_record *record, double *best, double *n_at_best)
{
    for (int t = 0; t < TRIALS; t++) {
        best[t] = n_at_best[t] = 0;
        for (int i = 0; i < POPULATION; i++) {
            uint8_t name[LENGTH];
            const uint8_t *genome = record->population + (t * POPULATION + i) * LENGTH;
            puzzle->kind->canonical(puzzle->instance, genome, name);
            const size_t row = sf_known_find(&record->known, name);
            CU_ASSERT_FATAL(row != SIZE_MAX);
            const int score = record->known.best_score[row];
            best[t] = score > best[t] ? score : best[t];
            n_at_best[t] += score == BEST;
        }
    }
}

static void test_paper(void)
{
    sf_problem problem;
    sf_engine_options engine;
    sf_puzzle puzzle;
    sf_search_config config;
    sf_record record;
    sf_archipelago *a;
    sf_error err = {0};
    static double best[TRIALS], n_at_best[TRIALS];
    sf_search_config_init(&config);
    config.trials = TRIALS;
    config.seed = test_seed();
    sf_engine_options_init(&engine);
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), LENGTH, &err),
                          SF_OK);
    CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_chain(&puzzle, &problem, &engine, 100000, &err), SF_OK);
    CU_ASSERT_EQUAL_FATAL(sf_record_init(&record, &config, puzzle.length, puzzle.n_scores, &err), SF_OK);
    const sf_archipelago_options options = {.first_island = 0, .last_island = TRIALS, .n_threads = 1};
    CU_ASSERT_EQUAL_FATAL(sf_archipelago_open(&a, &puzzle, &config, &options, NULL, &err), SF_OK);
    for (int p = 0; p < N_POINTS; p++) {
        while (sf_archipelago_generation(a) < points[p].generation) {
            CU_ASSERT_EQUAL_FATAL(sf_archipelago_step(a, &err), SF_OK);
            CU_ASSERT_EQUAL_FATAL(sf_archipelago_immigrate(a, &err), SF_OK);
        }
        size_t n_bytes;
        uint8_t *packet;
        CU_ASSERT_EQUAL_FATAL(sf_archipelago_pack(a, true, &n_bytes, &packet, &err), SF_OK);
        CU_ASSERT_EQUAL_FATAL(sf_record_take(&record, n_bytes, packet, &err), SF_OK);
        free(packet);
        measure(&puzzle, &record, best, n_at_best);
        check_mean("best score", points[p].generation, best, points[p].best, points[p].best_rounding);
        check_mean("puzzles at 9", points[p].generation, n_at_best, points[p].n_at_best, points[p].n_rounding);
    }
    sf_archipelago_close(a);
    sf_record_free(&record);
    sf_puzzle_close(&puzzle);
}

const test_case test_cases[] = {{"the paper's search at length 16", test_paper}, {NULL, NULL}};

/* The store of known genomes against a plain list. */
#include "core/search/known.h"

#include <string.h>

#include "starfold/problem.h"
#include "test_main.h"

enum { LENGTH = 9, SCORES = 4, N = 3000 };

static sf_place random_place(uint64_t *state)
{
    return (sf_place){.trial = (int32_t)(test_random(state) % 3),
                      .generation = (int64_t)(test_random(state) % 3),
                      .island = (int32_t)(test_random(state) % 3),
                      .individual = (int32_t)(test_random(state) % 3)};
}

static void test_place(void)
{
    sf_place a = {1, 2, 3, 4};
    CU_ASSERT_FALSE(sf_place_less(&a, &a));
    const sf_place later[] = {{2, 0, 0, 0}, {1, 3, 0, 0}, {1, 2, 4, 0}, {1, 2, 3, 5}};
    for (int i = 0; i < 4; i++) {
        CU_ASSERT(sf_place_less(&a, &later[i]));
        CU_ASSERT_FALSE(sf_place_less(&later[i], &a));
    }
}

static void test_against_list(void)
{
    static uint8_t genome[N][LENGTH];
    static sf_place first[N];
    size_t n = 0;
    uint64_t state = test_seed();
    sf_known known;
    CU_ASSERT_EQUAL_FATAL(sf_known_init(&known, LENGTH, SCORES), SF_OK);
    for (int round = 0; round < 3 * N && n < N; round++) {
        uint8_t g[LENGTH];
        uint64_t bits = test_random(&state);
        for (int i = 0; i < LENGTH; i++)
            g[i] = (uint8_t)(bits >> (2 * i) & (i % 2 ? 1 : 3));
        sf_place place = random_place(&state);
        size_t expected = 0, row;
        bool is_new;
        while (expected < n && memcmp(genome[expected], g, LENGTH) != 0)
            expected++;
        CU_ASSERT_EQUAL(sf_known_find(&known, g), expected < n ? expected : SIZE_MAX);
        if (round % 500 == 0)
            sf_known_clear_changed(&known);
        CU_ASSERT_EQUAL_FATAL(sf_known_add(&known, g, &place, &row, &is_new), SF_OK);
        CU_ASSERT_EQUAL_FATAL(row, expected);
        CU_ASSERT_EQUAL(is_new, expected == n);
        if (is_new) {
            memcpy(genome[n], g, LENGTH);
            first[n++] = place;
            CU_ASSERT(known.changed[row]);
        } else if (sf_place_less(&place, &first[row])) {
            first[row] = place;
            CU_ASSERT(known.changed[row]);
        }
        CU_ASSERT_FALSE(sf_place_less(&known.first[row], &first[row]) || sf_place_less(&first[row], &known.first[row]));
    }
    CU_ASSERT_EQUAL(known.n, n);
    CU_ASSERT(n > 500);
    static size_t order[N];
    sf_known_sort(&known, order);
    for (size_t i = 1; i < n; i++)
        CU_ASSERT(memcmp(genome[order[i - 1]], genome[order[i]], LENGTH) < 0);
    sf_known_clear(&known);
    CU_ASSERT_EQUAL(known.n, 0);
    CU_ASSERT_EQUAL(sf_known_find(&known, genome[0]), SIZE_MAX);
    sf_known_free(&known);
    sf_known_free(&known);
}

static void test_fill(void)
{
    static const struct {
        uint64_t histogram[SCORES];
        int min_score, fitness, best, exact;
    } cases[] = {{{5, 0, 2, 0}, 0, 2, 2, 1},
                 {{1, 1, 1, 1}, -2, 4, 1, 1},
                 {{7, SF_COUNT_UNKNOWN, SF_COUNT_SOME, 0}, 0, 2, 2, 0},
                 {{0, 0, 0, 0}, 3, 0, 3, 1}};
    sf_known known;
    CU_ASSERT_EQUAL_FATAL(sf_known_init(&known, LENGTH, SCORES), SF_OK);
    for (uint8_t i = 0; i < 4; i++) {
        uint8_t genome[LENGTH] = {i};
        sf_place place = {0};
        size_t row;
        bool is_new;
        CU_ASSERT_EQUAL(sf_known_add(&known, genome, &place, &row, &is_new), SF_OK);
        sf_known_fill(&known, row, cases[i].histogram, cases[i].min_score);
        CU_ASSERT_EQUAL(known.fitness[row], cases[i].fitness);
        CU_ASSERT_EQUAL(known.best_score[row], cases[i].best);
        CU_ASSERT_EQUAL(known.exact[row], cases[i].exact);
        CU_ASSERT_EQUAL(memcmp(known.histogram + row * SCORES, cases[i].histogram, sizeof cases[i].histogram), 0);
    }
    sf_known_free(&known);
}

static void test_reserve(void)
{
    sf_known known;
    CU_ASSERT_EQUAL_FATAL(sf_known_init(&known, LENGTH, SCORES), SF_OK);
    CU_ASSERT_EQUAL(sf_known_reserve(&known, 1000), SF_OK);
    CU_ASSERT(known.capacity >= 1000);
    CU_ASSERT_EQUAL(sf_known_reserve(&known, SIZE_MAX / 8), SF_ENOMEM);
    CU_ASSERT_EQUAL(sf_known_reserve(&known, SIZE_MAX), SF_ENOMEM);
    const uint8_t genome[LENGTH] = {1};
    CU_ASSERT_EQUAL(sf_known_find(&known, genome), SIZE_MAX);
    sf_known_free(&known);
}

const test_case test_cases[] = {{"order of places", test_place},
                                {"store against a plain list", test_against_list},
                                {"what follows from a histogram", test_fill},
                                {"room is made or refused", test_reserve},
                                {NULL, NULL}};

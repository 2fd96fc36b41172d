/* The pool that threads take parts from: each place once, by runs. */
#include <string.h>

#include "core/engines/parts_omp.h"
#include "test_main.h"

enum { THREADS_MAX = 7, PLACES_MAX = 600 };

static uint8_t taken[PLACES_MAX];

/* Threads in any turn take places from a pool that is filled by runs of at most run_max, as dealers do. Returns how often a
 * thread did not go on where it was. */
static size_t take_all(size_t n_threads, size_t n_places, size_t run_max, bool in_order)
{
    sf_part_pool pool;
    uint64_t random = test_seed() + n_threads + n_places;
    size_t last[THREADS_MAX], added = 0, jumps = 0, n_taken = 0, highest = 0;
    CU_ASSERT_EQUAL_FATAL(sf_part_pool_init(&pool, (int)n_threads, NULL), SF_OK);
    for (size_t i = 0; i < n_threads; i++)
        last[i] = SIZE_MAX;
    memset(taken, 0, sizeof taken);
    for (;;) {
        const size_t thread = test_random(&random) % n_threads;
        while (added < n_places && sf_part_pool_left(&pool) < n_threads) {
            const size_t run = 1 + test_random(&random) % run_max, n = run < n_places - added ? run : n_places - added;
            sf_part_pool_add(&pool, added, added + n);
            added += n;
        }
        size_t place = 0;
        if (!sf_part_pool_take(&pool, in_order, last[thread], &place))
            break;
        CU_ASSERT_TRUE_FATAL(place < added && !taken[place]);
        CU_ASSERT_TRUE(pool.n <= 2 * n_threads);
        CU_ASSERT_TRUE(!in_order || n_taken == 0 || place == highest + 1);
        taken[place] = 1;
        jumps += place != last[thread] + 1;
        highest = place;
        last[thread] = place;
        n_taken++;
    }
    CU_ASSERT_EQUAL(n_taken, n_places);
    CU_ASSERT_EQUAL(sf_part_pool_left(&pool), 0);
    sf_part_pool_free(&pool);
    return jumps;
}

static void test_pool(void)
{
    for (size_t n_threads = 1; n_threads <= THREADS_MAX; n_threads++) {
        for (size_t n_places = 0; n_places <= 40; n_places++) {
            for (size_t run_max = 1; run_max <= 9; run_max += 4) {
                take_all(n_threads, n_places, run_max, false);
                take_all(n_threads, n_places, run_max, true);
            }
        }
        /* one run: each thread is at home in some of it, and moves when that is done */
        CU_ASSERT_TRUE(take_all(n_threads, PLACES_MAX, PLACES_MAX * 1000, false) <= 12 * n_threads);
    }
    CU_ASSERT_EQUAL(take_all(1, PLACES_MAX, 1, false), 0);
}

/* Two threads on one run: the second begins in its middle, and both go on. */
static void test_halves(void)
{
    sf_part_pool pool;
    size_t a = SIZE_MAX, b = SIZE_MAX;
    CU_ASSERT_EQUAL_FATAL(sf_part_pool_init(&pool, 2, NULL), SF_OK);
    sf_part_pool_add(&pool, 0, 9);
    CU_ASSERT_TRUE(sf_part_pool_take(&pool, false, a, &a));
    CU_ASSERT_TRUE(sf_part_pool_take(&pool, false, b, &b));
    CU_ASSERT_EQUAL(a, 0);
    CU_ASSERT_EQUAL(b, 5);
    for (size_t i = 1; i < 4; i++) {
        CU_ASSERT_TRUE(sf_part_pool_take(&pool, false, a, &a));
        CU_ASSERT_TRUE(sf_part_pool_take(&pool, false, b, &b));
        CU_ASSERT_EQUAL(a, i);
        CU_ASSERT_EQUAL(b, 5 + i);
    }
    CU_ASSERT_TRUE(sf_part_pool_take(&pool, false, b, &b)); /* what is left of the other's */
    CU_ASSERT_EQUAL(b, 4);
    CU_ASSERT_FALSE(sf_part_pool_take(&pool, false, a, &a));
    sf_part_pool_free(&pool);
}

const test_case test_cases[] = {
    {"each place once, by runs", test_pool},
    {"halves of a run", test_halves},
    {NULL, NULL},
};

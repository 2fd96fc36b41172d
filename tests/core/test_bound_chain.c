/* The table of most neighbouring pairs, derived anew: all connected sets of sites, by Redelmeier's algorithm (Discrete
 * Math. 36, 1981), whose numbers are OEIS A001168 and A001931. With STARFOLD_TEST_LONG set, up to ten cells in the
 * cubic lattice, too. */
#include "core/engines/bound/bound_chain.h"

#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "../test_main.h"

enum { CELLS_MOST = 10, SIDE = 2 * CELLS_MOST + 1, SITES = SIDE * SIDE * SIDE, WAITING = 6 * CELLS_MOST + 1 };

typedef struct growth {
    int n_steps, cells_most;
    int step[6];
    uint8_t seen[SITES]; /* in the set, or has been or will be tried */
    uint8_t in_set[SITES];
    int waiting[WAITING]; /* sites to be tried */
    uint64_t n_sets[CELLS_MOST + 1];
    int pairs[CELLS_MOST + 1][CELLS_MOST + 1]; /* by cells of one parity and of the other; -1: no such set */
} growth;

static int parity(int site)
{
    return site & 1; /* SIDE is odd: that of x + y + z */
}

static void note(growth *g, int n, int n_pairs, int n_odd)
{
    g->n_sets[n]++;
    if (n_pairs > g->pairs[n - n_odd][n_odd])
        g->pairs[n - n_odd][n_odd] = g->pairs[n_odd][n - n_odd] = n_pairs;
}

/* Adds each waiting site in turn, from number `from` on; n cells, n_odd of them odd, with n_pairs are there. */
static void grow(growth *g, int from, int n_waiting, int n, int n_pairs, int n_odd)
{
    for (int i = from; i < n_waiting; i++) {
        const int site = g->waiting[i];
        int more = n_waiting, touching = 0;
        for (int d = 0; d < g->n_steps; d++)
            touching += g->in_set[site + g->step[d]];
        const int pairs = n_pairs + touching, odd = n_odd + parity(site);
        note(g, n + 1, pairs, odd);
        if (n + 1 == g->cells_most)
            continue;
        g->in_set[site] = 1;
        for (int d = 0; d < g->n_steps; d++) {
            const int next = site + g->step[d];
            if (!g->seen[next]) {
                g->seen[next] = 1;
                g->waiting[more++] = next;
            }
        }
        grow(g, i + 1, more, n + 1, pairs, odd);
        while (more > n_waiting)
            g->seen[g->waiting[--more]] = 0;
        g->in_set[site] = 0;
    }
}

/* Sets may fall apart: pieces add. */
static void join_pieces(growth *g)
{
    for (int sum = 0; sum <= g->cells_most; sum++) {
        for (int a = 0; a <= sum; a++) {
            const int b = sum - a;
            int best = g->pairs[a][b] < 0 ? 0 : g->pairs[a][b];
            for (int c = 0; c <= a; c++) {
                for (int d = 0; d <= b; d++) {
                    if (c + d > 0 && c + d < sum && g->pairs[c][d] + g->pairs[a - c][b - d] > best)
                        best = g->pairs[c][d] + g->pairs[a - c][b - d];
                }
            }
            g->pairs[a][b] = best;
        }
    }
}

static void check(const char *lattice, int cells_most, const uint64_t *n_sets)
{
    const uint8_t elements[2 * CELLS_MOST] = {0};
    growth *g = calloc(1, sizeof *g);
    bound_chain *chain = malloc(sizeof *chain);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT_PTR_NOT_NULL_FATAL(chain);
    sf_bound_chain_init(chain, sf_lattice_find(lattice), 2 * CELLS_MOST, elements);
    const int by[6] = {1, -1, SIDE, -SIDE, SIDE * SIDE, -SIDE * SIDE};
    const int origin = CELLS_MOST * (1 + SIDE + SIDE * SIDE);
    memcpy(g->step, by, sizeof by);
    memset(g->pairs, -1, sizeof g->pairs);
    g->n_steps = 2 * chain->dimension;
    g->cells_most = cells_most;
    for (int site = 0; site < origin; site++) /* the first site of a set, in the order of numbers, is the origin */
        g->seen[site] = 1;
    g->seen[origin] = 1;
    g->waiting[0] = origin;
    grow(g, 0, 1, 0, 0, 0);
    for (int n = 1; n <= cells_most; n++)
        CU_ASSERT_EQUAL(g->n_sets[n], n_sets[n - 1]);
    join_pieces(g);
    for (int a = 0; a <= cells_most; a++) {
        for (int b = 0; a + b <= cells_most; b++)
            CU_ASSERT_EQUAL(bound_pairs(chain, a, b), g->pairs[a][b]);
    }
    free(chain);
    free(g);
}

static void test_pairs(void)
{
    static const uint64_t square[] = {1, 2, 6, 19, 63, 216, 760, 2725, 9910, 36446};
    static const uint64_t cubic[] = {1, 3, 15, 86, 534, 3481, 23502, 162913, 1152870, 8294738};
    check("square", CELLS_MOST, square);
    check("cubic", CELLS_MOST, cubic);
}

const test_case test_cases[] = {{"most pairs of neighbours", test_pairs}, {NULL, NULL}};

/* Letters, sums and simple limits of a chain. */
#include "core/engines/bound/bound_chain.h"

#include <string.h>

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* ---- pairs of neighbours ---- */

enum { PAIRS_SUM = 10 };

/* Most pairs of neighbouring sites among a even and b odd ones, a <= b, a + b <= PAIRS_SUM, by going through all
 * connected sets of sites (fixed polyominoes and polycubes, 36,446 and 8,294,738 of ten cells). */
static const uint8_t exact_pairs[2][PAIRS_SUM / 2 + 1][PAIRS_SUM + 1] = {
    {{0},
     {0, 1, 2, 3, 4, 4, 4, 4, 4, 4},
     {0, 2, 4, 5, 6, 7, 8, 8, 8},
     {0, 3, 5, 7, 8, 9, 10, 11},
     {0, 4, 6, 8, 10, 12, 13},
     {0, 4, 7, 9, 12, 13}},
    {{0},
     {0, 1, 2, 3, 4, 5, 6, 6, 6, 6},
     {0, 2, 4, 5, 6, 7, 8, 9, 10},
     {0, 3, 5, 7, 9, 10, 11, 12},
     {0, 4, 6, 9, 12, 13, 14},
     {0, 5, 7, 10, 13, 15}},
};

/* Of more sites: without any one of a sites of one parity the others have at most the pairs of a - 1, and each pair is
 * left by all but one choice, so pairs(a) (a - 1) <= a pairs(a - 1). */
static void pairs_init(bound_chain *chain)
{
    const int n_even = chain->h_before[0][chain->length], n_odd = chain->h_before[1][chain->length];
    const int most = n_even > n_odd ? n_even : n_odd, dimension = chain->dimension;
    static const int one_line[3] = {1, 1, 1};
    for (int sum = 0; sum <= 2 * most; sum++) {
        for (int a = sum > most ? sum - most : 0; 2 * a <= sum; a++) {
            const int b = sum - a;
            int pairs = 0;
            if (a > 0 && sum <= PAIRS_SUM) {
                pairs = exact_pairs[dimension == 3][a][b];
            } else if (a > 0) {
                pairs = min(2 * dimension * a, dimension * sum - sf_bound_lines_needed(dimension, sum, one_line));
                pairs = min(pairs, b * chain->pairs[a][b - 1] / (b - 1));
                if (a > 1)
                    pairs = min(pairs, a * chain->pairs[a - 1][b] / (a - 1));
            }
            chain->pairs[a][b] = chain->pairs[b][a] = (int16_t)pairs;
        }
    }
}

void sf_bound_chain_init(bound_chain *chain, const sf_lattice *lattice, int length, const uint8_t *elements)
{
    memset(chain, 0, sizeof *chain);
    chain->dimension = lattice->dimension;
    chain->length = length;
    for (int i = 0; i < length; i++) {
        chain->is_h[i] = elements[i] == 0;
        for (int q = 0; q < 2; q++)
            chain->h_before[q][i + 1] = (int16_t)(chain->h_before[q][i] + (chain->is_h[i] && (i & 1) == q));
        const int bond = i > 0 && chain->is_h[i] && chain->is_h[i - 1];
        chain->bonds_before[i + 1] = (int16_t)(chain->bonds_before[i] + bond);
    }
    pairs_init(chain);
    for (int i = 0; i < length; i++) {
        chain->prefix_limit[i] = (int16_t)sf_bound_piece_limit(chain, 0, i);
        chain->suffix_limit[i] = (int16_t)sf_bound_piece_limit(chain, i, length - 1);
    }
}

int sf_bound_lines_needed(int dimension, int n, const int *lines)
{
    int a = lines[0], b = lines[1], c = dimension == 3 ? lines[2] : n;
    while (a * b * c < n * n) {
        if (a <= b && (a <= c || dimension == 2))
            a++;
        else if (b <= c || dimension == 2)
            b++;
        else
            c++;
    }
    return a + b + (dimension == 3 ? c : 0);
}

int sf_bound_piece_limit(const bound_chain *chain, int first, int last)
{
    int slots[2] = {0, 0}, n_h[2] = {0, 0};
    for (int i = first; i <= last; i++) {
        if (chain->is_h[i]) {
            slots[i & 1] += 2 * chain->dimension - 2 + (i == first) + (i == last);
            n_h[i & 1]++;
        }
    }
    const int pairs = bound_pairs(chain, n_h[0], n_h[1]);
    return min(min(slots[0], slots[1]), pairs - bound_bonds_between(chain, first, last));
}

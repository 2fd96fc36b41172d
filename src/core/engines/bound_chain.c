/* Letters, sums and simple limits of a chain. */
#include "core/engines/bound_chain.h"

#include <string.h>

static int min(int a, int b)
{
    return a < b ? a : b;
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
    static const int one_line[3] = {1, 1, 1};
    int slots[2] = {0, 0}, n_h = 0;
    for (int i = first; i <= last; i++) {
        if (chain->is_h[i]) {
            slots[i & 1] += 2 * chain->dimension - 2 + (i == first) + (i == last);
            n_h++;
        }
    }
    if (n_h == 0)
        return 0;
    const int pairs = chain->dimension * n_h - sf_bound_lines_needed(chain->dimension, n_h, one_line);
    return min(min(slots[0], slots[1]), pairs - bound_bonds_between(chain, first, last));
}

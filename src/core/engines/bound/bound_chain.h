/* What the bounds know of a chain whatever is placed: its letters, and limits for the pieces not placed yet.
 *
 * A residue inside the chain has 2D - 2 neighbours that are not its chain neighbours, an end one more: its *slots*.
 * Every contact joins residues of different parity and takes a slot of each. */
#ifndef SF_CORE_BOUND_CHAIN_H
#define SF_CORE_BOUND_CHAIN_H

#include <stdint.h>

#include "starfold/problem.h"

typedef struct bound_chain {
    int dimension;
    int length;
    uint8_t is_h[SF_LENGTH_MAX + 2];
    /* sums over the residues before index i, i in 0..length */
    int16_t h_before[2][SF_LENGTH_MAX + 2];  /* H of each parity */
    int16_t bonds_before[SF_LENGTH_MAX + 2]; /* chain bonds H H that end before i */
    /* no conformation of residues 0..i alone, or of i..length-1 alone, has more contacts */
    int16_t prefix_limit[SF_LENGTH_MAX + 2];
    int16_t suffix_limit[SF_LENGTH_MAX + 2];
    int16_t pairs[SF_LENGTH_MAX / 2 + 2][SF_LENGTH_MAX / 2 + 2]; /* see bound_pairs */
} bound_chain;

/* Letters and sums of an HP sequence; the limits of the pieces are those of sf_bound_piece_limit. */
void sf_bound_chain_init(bound_chain *chain, const sf_lattice *lattice, int length, const uint8_t *elements);

/* Fewest lines, over all axes, that n H can stand on when at least `lines` (one count an axis) are taken already. In D
 * dimensions n sites on R rows and C columns need R C >= n, on A, B, C lines along three axes A B C >= n^2 (Loomis and
 * Whitney 1949). */
int sf_bound_lines_needed(int dimension, int n, const int *lines);

/* No more pairs of neighbouring sites than this are among `even` sites of one parity and `odd` of the other, each at
 * most the number of H of such a parity in the chain. */
static inline int bound_pairs(const bound_chain *chain, int even, int odd)
{
    return chain->pairs[even][odd];
}

/* Most contacts residues first..last can have among themselves: slots of either parity, and packing: n H on a lattice
 * have D n - (maximal runs along all axes) neighbouring pairs, at least one run a line, of which the bonds are no
 * contacts; and bound_pairs. */
int sf_bound_piece_limit(const bound_chain *chain, int first, int last);

static inline int bound_h_between(const bound_chain *chain, int parity, int first, int last)
{
    return first > last ? 0 : chain->h_before[parity][last + 1] - chain->h_before[parity][first];
}

/* Bonds H H with both residues in first..last. */
static inline int bound_bonds_between(const bound_chain *chain, int first, int last)
{
    return first >= last ? 0 : chain->bonds_before[last + 1] - chain->bonds_before[first + 1];
}

#endif

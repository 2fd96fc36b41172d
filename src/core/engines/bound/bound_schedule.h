/* The order in which residues are placed: from a seed bond outwards, always the next residue at either end.
 *
 * The obvious order, from one end to the other, lets the first half of the chain lie anywhere before a bound can say
 * anything. Growing from the inside, towards the end that has more H in its next residues, makes contacts early and
 * loses hopeless branches early; the best seed can make the tree a hundred times smaller than the worst. */
#ifndef SF_CORE_BOUND_SCHEDULE_H
#define SF_CORE_BOUND_SCHEDULE_H

#include <stdint.h>

#include "core/engines/bound/bound_chain.h"

/* What is known when a number of residues is placed: residues left..right of the chain are, the others are not. */
typedef struct bound_step {
    int8_t left, right;
    int8_t residue; /* placed next: left - 1 or right + 1 */
    int8_t to_right;
    int16_t slots[2]; /* of the H not placed, by their parity */
    int16_t n_h[2];   /* H not placed, by parity */
    int16_t inner;    /* no more contacts than this among the residues not placed */
} bound_step;

typedef struct bound_schedule {
    int first, last;                    /* the piece of the chain that is placed at all */
    int n_residues;                     /* last - first + 1, >= 2 */
    int seed;                           /* residues seed, seed + 1 are placed first */
    bound_step step[SF_LENGTH_MAX + 1]; /* by number of residues placed, 2..n_residues */
    uint8_t kind[SF_LENGTH_MAX];        /* 0: P; 1 + k: H with k bonds to P; at the ends of the piece 4 more */
} bound_schedule;

/* Fills *schedule for residues first..last (at least two) and first <= seed < last. */
void sf_bound_schedule_init(bound_schedule *schedule, const bound_chain *chain, int first, int last, int seed);

#endif

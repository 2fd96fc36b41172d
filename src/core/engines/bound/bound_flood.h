/* The reach bound of a node, by the flood that suits the register: both tails at once, or one after the other. */
#ifndef SF_CORE_BOUND_FLOOD_H
#define SF_CORE_BOUND_FLOOD_H

#include "core/engines/bound/bound_reach.h"
#ifndef BOUND_CUBIC
#include "core/engines/bound/bound_pair.h"
#endif

#ifdef BOARD_PAIRS
typedef pair_reach flood;
#else
typedef reach flood;
#endif

/* Floods both tails, with masks or without. False: a dead end. */
static inline bool flood_init(flood *f, const sight *s, const bound_chain *chain, const bound_schedule *schedule,
                              const bound_step *step, bound_place left, bound_place right, bool masked)
{
#ifdef BOARD_PAIRS
    return pair_flood(f, s, chain, schedule, step, left, right, masked);
#else
    if (masked)
        return reach_init(f, s, chain, schedule, step, left, right, true);
    return reach_init(f, s, chain, schedule, step, left, right, false);
#endif
}

/* More H of a parity than sites for them. */
static inline bool flood_lacks_sites(const flood *f)
{
#ifdef BOARD_PAIRS
    return f->too_few_sites;
#else
    return board_count(f->inner[0]) < f->n_inner[0] || board_count(f->inner[1]) < f->n_inner[1];
#endif
}

/* Most contacts of H of parity q with placed H. */
static inline int flood_gain(const flood *f, const bound_step *step, int q)
{
#ifdef BOARD_PAIRS
    (void)step;
    return f->gain[q];
#else
    return reach_gain(f, step, q);
#endif
}

#endif

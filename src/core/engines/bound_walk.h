/* The walk bound (cubic): the residues to come are a walk, so they cannot all take the best sites.
 *
 * The reach bound lets each H to come take the best site it can get to, whatever the residues beside it in the chain
 * do: two H two steps apart may share one site, the next may be behind a corner. Here a tail is a walk that does not
 * turn back on its step: the sites of residue t are flooded by direction of arrival, in levels by what was lost until
 * then. If the reach bound says that H t touches at most m(t) placed H, one on a site with k of them loses m(t) - k.
 * What a node may lose is what its limit exceeds the target by, mostly 0 or 1, so one or two levels do. Half to three
 * quarters of the nodes that the other bounds leave go, nearly as many as by laying either tail in all ways.
 *
 * Where the sites with k placed H beside them are too few for the H of a parity, the reach bound counts sites; there
 * H are not asked for more than the highest level below, and the limit keeps the sites.
 *
 * The torus: a walk that goes out of the box of what was placed, further than the sites beside it, can be replaced by
 * one of the same length, that does not turn back either, in the plane after them, as long as there are two planes: the
 * box is at most BOARD_SPAN - 2 wide. H on such sites open two new lines at least. Where that is too many none goes
 * there; where it is just allowed for some sites, all outside of the box are allowed. */
#ifndef SF_CORE_BOUND_WALK_H
#define SF_CORE_BOUND_WALK_H

#include <string.h>

#include "core/engines/bound_reach.h"
#include "core/engines/bound_run.h"

enum { WALK_LEVELS = 3 }; /* looks for losses below that */

typedef struct walk {
    const sight *s;
    const bound_chain *chain;
    board h_mask;
    int most[2];   /* contacts that are asked of an H, by parity */
    board h_sites; /* out: where H to come can stand */
} walk;

static inline board walk_union(const board by[STEPS])
{
    return (by[0] | by[1] | by[2]) | (by[3] | by[4] | by[5]);
}

/* by[d]: sites reached by lattice step d, before and after one step more. */
static inline void walk_step(board by[STEPS])
{
    const board x = by[0] | by[1], y = by[2] | by[3], z = by[4] | by[5];
    const board not_x = y | z, not_y = x | z, not_z = x | y;
    by[0] = board_forward(by[0] | not_x, 0, 1);
    by[1] = board_backward(by[1] | not_x, 0, 1);
    by[2] = board_forward(by[2] | not_y, 1, 1);
    by[3] = board_backward(by[3] | not_y, 1, 1);
    by[4] = board_forward(by[4] | not_z, 2, 1);
    by[5] = board_backward(by[5] | not_z, 2, 1);
}

/* Keeps the sites of `mask`, and in level d those that lose no more than d when an H there should touch `most`, the
 * bond included. */
static inline __attribute__((always_inline)) void walk_gate(const walk *w, board set[WALK_LEVELS][STEPS],
                                                            const int levels, board mask, int most, int bond)
{
    for (int d = levels - 1; d >= 0; d--) {
        for (int e = 0; e < STEPS; e++) {
            board kept = most > 0 ? set[d][e] & w->s->touch[most + bond] : set[d][e];
            for (int lost = 1; lost <= d && lost <= most; lost++)
                kept |= lost == most ? set[d - lost][e] : set[d - lost][e] & w->s->touch[most - lost + bond];
            set[d][e] = kept & mask;
        }
    }
}

/* The least that a tail loses, if that is less than `levels`; else `levels`. reached[j]: what the reach bound says of
 * residue j. */
static inline __attribute__((always_inline)) int walk_tail(walk *w, const uint8_t *reached, bool to_right, int first,
                                                           int n, bound_place head, const int levels)
{
    const sight *s = w->s;
    const int forward = to_right ? 1 : -1;
    board set[WALK_LEVELS][STEPS];
    const board start = board_site(head);
    for (int e = 0; e < STEPS; e++)
        set[0][e] = start;
    walk_step(set[0]);
    for (int d = 1; d < levels; d++)
        memcpy(set[d], set[0], sizeof set[d]);
    for (int t = 1;; t++) {
        const int j = first + forward * (t - 1);
        const board sites = t == 1 || t == n ? s->free : s->live;
        if (w->chain->is_h[j]) {
            const int asked = t == 1 ? reached[j] : least(reached[j], w->most[j & 1]);
            walk_gate(w, set, levels, sites & w->h_mask, asked, t == 1 && w->chain->is_h[j - forward]);
        } else {
            walk_gate(w, set, levels, sites & s->p_mask, 0, 0);
        }
        const board all = walk_union(set[levels - 1]);
        if (!board_any(all))
            return levels;
        if (w->chain->is_h[j])
            w->h_sites |= all;
        if (t == n)
            break;
        for (int d = 0; d < levels; d++)
            walk_step(set[d]);
    }
    int lost = 0;
    while (lost < levels - 1 && !board_any(walk_union(set[lost])))
        lost++;
    return lost;
}

static inline int walk_lost(walk *w, const uint8_t *reached, bool to_right, int first, int n, bound_place head,
                            int levels)
{
    if (levels == 1)
        return walk_tail(w, reached, to_right, first, n, head, 1);
    if (levels == 2)
        return walk_tail(w, reached, to_right, first, n, head, 2);
    return walk_tail(w, reached, to_right, first, n, head, 3);
}

/* Sites outside of the box. */
static inline board walk_outside(const box *b)
{
    board outside = board_none();
    for (int axis = 0; axis < AXES; axis++) {
        for (int at = b->high[axis] + 1; at < b->low[axis] + BOARD_SPAN; at++)
            outside |= board_plane(axis, at);
    }
    return outside;
}

#endif

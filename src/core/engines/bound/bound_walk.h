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
 * there; where it is just allowed for some sites, all outside of the box are allowed.
 *
 * The sites that H can take on such walks are few. They also say how many pairs of neighbours the H to come can form:
 * with m(k) = sites for H of one parity that have k or more for the other beside them, at most as many as there are H,
 * no more than m(1) + m(2) + ... pairs. Good sites beside placed H are seldom good sites beside each other: this
 * trades contacts inside the tails against those outside. On the torus it holds as long as no H can be further out than
 * beside the box, and sites that far on either side are different ones. */
#ifndef SF_CORE_BOUND_WALK_H
#define SF_CORE_BOUND_WALK_H

#include <string.h>

#include "core/engines/bound/bound_reach.h"
#include "core/engines/bound/bound_run.h"

enum { WALK_LEVELS = 3 }; /* looks for losses below that */

typedef struct walk {
    const sight *s;
    const bound_chain *chain;
    const bound_schedule *schedule;
    const bound_step *step;
    const box *box;
    bound_place left, right; /* the ends */
    board outside;           /* sites outside of the box */
    board h_mask;
    int most[2];   /* contacts that are asked of an H, by parity */
    board h_sites; /* where H to come can stand */
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

/* The least that a tail loses, if that is less than `levels`; else `levels`. */
static inline __attribute__((always_inline)) int walk_tail(walk *w, bool to_right, int n, const int levels)
{
    const sight *s = w->s;
    const int forward = to_right ? 1 : -1, first = to_right ? w->step->right + 1 : w->step->left - 1;
    board set[WALK_LEVELS][STEPS];
    const board start = board_site(to_right ? w->right : w->left);
    for (int e = 0; e < STEPS; e++)
        set[0][e] = start;
    walk_step(set[0]);
    for (int d = 1; d < levels; d++)
        memcpy(set[d], set[0], sizeof set[d]);
    for (int t = 1;; t++) {
        const int j = first + forward * (t - 1);
        const board sites = t == 1 || t == n ? s->free : s->live;
        if (w->chain->is_h[j]) {
            const int asked = t == 1 ? s->most[j] : least(s->most[j], w->most[j & 1]);
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

static inline int walk_lost(walk *w, bool to_right, int n, int levels)
{
    if (levels == 1)
        return walk_tail(w, to_right, n, 1);
    if (levels == 2)
        return walk_tail(w, to_right, n, 2);
    return walk_tail(w, to_right, n, 3);
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

/* How many contacts are asked of an H, by parity: more of them count more losses, as long as there are levels. Where
 * takers are fewer than the H that reach such sites, the sites are too few; returns by how many in all. */
static inline int walk_ask(walk *w, const reach *r, int levels)
{
    const bound_schedule *schedule = w->schedule;
    const uint8_t *most = w->s->most;
    int n[2][INNER + 1] = {{0}}, excess = 0;
    for (int i = schedule->first; i <= schedule->last; i++) {
        const bool inner = i < w->step->left - 1 || i > w->step->right + 1;
        if (inner && w->chain->is_h[i])
            n[i & 1][most[i]]++;
    }
    for (int q = 0; q < 2; q++) {
        for (int k = INNER; k > 1; k--)
            n[q][k - 1] += n[q][k];
        w->most[q] = 0;
    }
    for (int k = 1; k <= INNER; k++) {
        for (int q = 0; q < 2; q++) {
            const int more = n[q][k] - r->takers[k][q];
            if (w->most[q] == k - 1 && excess + more < levels) {
                w->most[q] = k;
                excess += more;
            }
        }
    }
    return excess;
}

/* True when no H to come can be further out than beside the box, and opposite sites there are different ones. */
static inline bool walk_is_near(const walk *w)
{
    for (int axis = 0; axis < AXES; axis++) {
        const int low = w->box->low[axis] - 1, high = w->box->high[axis] + 1;
        if (high - low > BOARD_SPAN - 2)
            return false;
        for (int at = high + 1; at < low + BOARD_SPAN; at++) {
            if (board_meet(w->h_sites, board_plane(axis, at)))
                return false;
        }
    }
    return true;
}

/* Most pairs of n H on `sites` with others, no more than `others` with each. beside[k]: sites with k or more of them.
 */
static inline int walk_pairs(board sites, const board beside[STEPS + 1], int n, int others)
{
    int pairs = 0;
    for (int k = 1; k <= least(others, STEPS); k++)
        pairs += least(board_count(sites & beside[k]), n);
    return pairs;
}

/* True: where the H to come can stand they have too few contacts with each other, or with each other and the placed. */
static inline bool walk_is_short(const walk *w, int can_lose, int need)
{
    const bound_chain *chain = w->chain;
    const bound_step *step = w->step;
    const int first = w->schedule->first, last = w->schedule->last;
    int inner = step->inner, outer = 0;
    board sites[2], beside[STEPS + 1];
    sites[w->schedule->seed & 1] = w->h_sites & board_even;
    sites[!(w->schedule->seed & 1)] = w->h_sites & ~board_even;
    const int bonds =
        bound_bonds_between(chain, first, step->left - 1) + bound_bonds_between(chain, step->right + 1, last);
    for (int q = 0; q < 2; q++) {
        board_layers(sites[!q], beside);
        inner = least(inner, walk_pairs(sites[q], beside, step->n_h[q], step->n_h[!q]) - bonds);
    }
    if (inner < 0 || step->inner - inner > can_lose)
        return true;
    for (int q = 0; q < 2; q++)
        outer += walk_pairs(sites[q], w->s->touch, step->n_h[q], STEPS);
    if (step->right < last)
        outer -= chain->is_h[step->right] && chain->is_h[step->right + 1];
    if (step->left > first)
        outer -= chain->is_h[step->left] && chain->is_h[step->left - 1];
    return outer + inner < need;
}

/* True: the tails cannot gain what they need. Otherwise w->h_sites is known. */
static inline bool walk_excludes(walk *w, const reach *r, int slack, int need)
{
    const int n_left = w->step->left - w->schedule->first, n_right = w->schedule->last - w->step->right;
    int can_lose = r->gain[0] + r->gain[1] + w->step->inner - need, lost = 0;
    for (int k = 1; k <= INNER; k++)
        can_lose += r->takers[k][0] + r->takers[k][1];
    w->outside = walk_outside(w->box);
    w->h_sites = ~board_none();
    if (can_lose >= WALK_LEVELS || (n_left < 2 && n_right < 2))
        return false;
    w->h_mask = slack == 2 ? w->s->h_mask | w->outside : w->s->h_mask;
    w->h_sites = board_none();
    can_lose += walk_ask(w, r, WALK_LEVELS - can_lose);
    if (n_right)
        lost += walk_lost(w, true, n_right, can_lose + 1);
    if (n_left && lost <= can_lose)
        lost += walk_lost(w, false, n_left, can_lose - lost + 1);
    return lost > can_lose || (walk_is_near(w) && walk_is_short(w, can_lose - lost, need));
}

#endif

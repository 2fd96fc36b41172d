/* The reach bound: an unplaced residue can only stand where its end of the chain can still get in time.
 *
 * A bound that looks at free sites alone lets every unplaced H sit beside the best placed H, behind walls and far away
 * too. Here the sites that residue t steps beyond an end can take are flooded: R(1) = free neighbours of the end,
 * R(t+1) = neighbours of R(t) that are free and, before the last residue, have a second free neighbour to leave by.
 * Every fold that completes the node puts residue t into R(t), so
 * - an empty R(t) is a dead end;
 * - of the H of one parity, at most as many touch k or more placed H as the flood reached such sites in time. With m(k)
 * = that number, they touch at most m(1) + m(2) + ... placed H, k up to the slots of a residue. (The count is made as
 * the flood goes, so it also says that few sites are reached early.) The residue beside an end loses the bond, which is
 * no contact; the last residue has one slot more.
 *
 * With masks, H may only take sites of one set and P of another (bound_run.h); without them sets of one parity only
 * grow, and the flood ends when it has stopped to. */
#ifndef SF_CORE_BOUND_REACH_H
#define SF_CORE_BOUND_REACH_H

#include "core/engines/bound_board.h"

typedef struct sight {
    board free, live;       /* sites to end on, sites to pass through */
    board touch[STEPS + 1]; /* [k]: sites with at least k placed H beside them */
    board h_mask, p_mask;
} sight;

typedef struct reach {
    board h_sites;            /* sites some unplaced H can take */
    board inner[2];           /* by parity: those of the H that are neither beside an end nor last */
    int n_inner[2];           /* how many such H there are */
    int takers[INNER + 1][2]; /* m(k) of these H, k in 1..INNER */
    int room[INNER + 1][2];   /* sites of inner[q] with k placed H beside them, when they were counted last */
    int gain[2];              /* the others' contacts with placed H */
} reach;

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

/* Lets n more H of parity q take the sites of r. */
static inline void reach_take(reach *out, const sight *s, board r, int q, int n)
{
    out->h_sites |= r;
    out->inner[q] |= r;
    out->n_inner[q] += n;
    for (int k = 1; k <= INNER && board_meet(r, s->touch[k]); k++) {
        const int takers = out->takers[k][q] + n;
        if (takers > out->room[k][q]) /* sites are only added: count again when they seem not to suffice */
            out->room[k][q] = board_count(out->inner[q] & s->touch[k]);
        out->takers[k][q] = least(takers, out->room[k][q]);
    }
}

/* The residue beside the end: one site, whose best neighbourhood counts, without the bond. */
static inline void reach_first(reach *out, const sight *s, board r, int q, bool is_last, bool bonded)
{
    int most = least(INNER + is_last + bonded, STEPS);
    while (most > 0 && !board_meet(r, s->touch[most]))
        most--;
    out->gain[q] += most > bonded ? most - bonded : 0;
    out->h_sites |= r;
}

/* Floods one tail of n >= 1 residues that begins with residue `first` beside `head` and goes to the right or to the
 * left. False: a dead end. */
static inline __attribute__((always_inline)) bool reach_tail(reach *out, const sight *s, const bound_chain *chain,
                                                             bool to_right, int first, int n, bound_place head,
                                                             bool masked)
{
    const int forward = to_right ? 1 : -1, last = first + forward * (n - 1);
    board r = board_neighbours(board_site(head)) & s->free;
    if (masked)
        r &= chain->is_h[first] ? s->h_mask : s->p_mask;
    if (!board_any(r))
        return false;
    if (chain->is_h[first])
        reach_first(out, s, r, first & 1, n == 1, chain->is_h[first - forward]);
    if (n == 1)
        return true;

    board before = board_none();
    for (int t = 2; t < n; t++) {
        const int j = first + forward * (t - 1), q = j & 1;
        const board two_before = before;
        before = r;
        r = board_neighbours(r) & s->live;
        if (masked) {
            r &= chain->is_h[j] ? s->h_mask : s->p_mask;
            if (!board_any(r))
                return false;
        }
        if (chain->is_h[j])
            reach_take(out, s, r, q, 1);
        if (!masked && t >= 3 && !board_any(r ^ two_before)) {
            const int from = to_right ? j + 1 : last + 1, to = to_right ? last - 1 : j - 1;
            const int same = bound_h_between(chain, q, from, to), other = bound_h_between(chain, !q, from, to);
            if (same)
                reach_take(out, s, r, q, same);
            if (other)
                reach_take(out, s, before, !q, other);
            if ((n - 1 - t) & 1)
                r = before;
            break;
        }
    }
    r = board_neighbours(r) & s->free;
    if (masked)
        r &= chain->is_h[last] ? s->h_mask : s->p_mask;
    if (!board_any(r))
        return false;
    if (chain->is_h[last]) {
        reach_take(out, s, r, last & 1, 1);
        out->gain[last & 1] += board_meet(r, s->touch[INNER + 1]);
    }
    return true;
}

/* Adds what the other tail can do: sites that both reach are there once. */
static inline void reach_join(reach *out, const reach *other, const sight *s)
{
    out->h_sites |= other->h_sites;
    for (int q = 0; q < 2; q++) {
        out->inner[q] |= other->inner[q];
        out->n_inner[q] += other->n_inner[q];
        out->gain[q] += other->gain[q];
        for (int k = 1; k <= INNER; k++) {
            const bool shared = out->takers[k][q] && other->takers[k][q];
            out->takers[k][q] += other->takers[k][q];
            if (shared && out->takers[k][q] > out->room[k][q] && out->takers[k][q] > other->room[k][q])
                out->takers[k][q] = least(out->takers[k][q], board_count(out->inner[q] & s->touch[k]));
        }
    }
}

/* Floods both tails of a node; false: a dead end. */
static inline __attribute__((always_inline)) bool reach_init(reach *out, const sight *s, const bound_chain *chain,
                                                             const bound_schedule *schedule, const bound_step *step,
                                                             bound_place left, bound_place right, bool masked)
{
    const int n_left = step->left - schedule->first, n_right = schedule->last - step->right;
    *out = (reach){.h_sites = board_none()};
    if (n_right && !reach_tail(out, s, chain, true, step->right + 1, n_right, right, masked))
        return false;
    if (!n_left)
        return true;
    if (!n_right)
        return reach_tail(out, s, chain, false, step->left - 1, n_left, left, masked);
    reach other = {.h_sites = board_none()};
    if (!reach_tail(&other, s, chain, false, step->left - 1, n_left, left, masked))
        return false;
    reach_join(out, &other, s);
    return true;
}

/* Most contacts of H of parity q with placed H. */
static inline int reach_gain(const reach *r, const bound_step *step, int q)
{
    int gain = r->gain[q];
    for (int k = 1; k <= INNER; k++)
        gain += r->takers[k][q];
    return least(gain, step->slots[q]);
}

#endif

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
 * With masks, H may only take sites of one set and P of another (bound_run.h, bound_conflict.h); without them sets of
 * one parity only grow, and the flood ends when it has stopped to.
 *
 * A node inherits the sites that H can take from its parent: they only get fewer. So runs and conflicts need not wait
 * for a first flood to say what can still become H, and one flood, masked by them, does the work of two. */
#ifndef SF_CORE_BOUND_REACH_H
#define SF_CORE_BOUND_REACH_H

#include "core/engines/bound/bound_board.h"

typedef struct sight {
    board free, live;       /* sites to end on, sites to pass through */
    board touch[STEPS + 1]; /* [k]: sites with at least k placed H beside them */
    board h_mask, p_mask;
    uint8_t *most; /* [j]: placed H that residue j can touch at most, if it is H; cubic only */

    /* What residues may waste (bound_conflict.h); meaningful when `thrifty`. */
    bool thrifty;
    board of_parity[2];             /* sites by the parity of their residues */
    board placed_p[STEPS + 1];      /* [k]: sites with at least k placed P beside them */
    board dead[STEPS + 1];          /* ... with at least k sites that are not H and cannot become H */
    board fillable[STEPS + 1];      /* touch[k] of the sites that can become H */
    int h_waste[2], p_waste[2];     /* most slots a residue of that parity may waste, >= 0 */
    board h_by_bonds[3], p_thrifty; /* thrifty_h(0..2, 0), thrifty_p */
} sight;

static inline board at_least(const board layer[STEPS + 1], int k)
{
    return k <= STEPS ? layer[k] : board_none();
}

/* Sites where an H with that many P bonds, `placed_bonds` of them placed already, wastes no more than it may. */
static inline board thrifty_h(const sight *s, int p_bonds, int placed_bonds)
{
    board sites = board_none();
    for (int q = 0; q < 2; q++) {
        const int over = s->h_waste[q] + 1;
        sites |= s->of_parity[q] & ~(at_least(s->placed_p, over + placed_bonds) | at_least(s->dead, over + p_bonds));
    }
    return sites;
}

/* The same for P. */
static inline board thrifty_p(const sight *s)
{
    return (s->of_parity[0] & ~at_least(s->fillable, s->p_waste[0] + 1)) |
           (s->of_parity[1] & ~at_least(s->fillable, s->p_waste[1] + 1));
}

/* Sites that residue j, not beside an end, may take; from: the residue before it, as the tail goes. */
static inline board masked_sites(const sight *s, const bound_chain *chain, int j, int from, bool is_last)
{
    if (!s->thrifty)
        return chain->is_h[j] ? s->h_mask : s->p_mask;
    if (!chain->is_h[j])
        return s->p_mask & s->p_thrifty;
    return s->h_mask & s->h_by_bonds[!chain->is_h[from] + (!is_last && !chain->is_h[2 * j - from])];
}

/* The same beside the end `from`. */
static inline board masked_first(const sight *s, const bound_chain *chain, int j, int from, bool is_last)
{
    if (!s->thrifty || !chain->is_h[j])
        return masked_sites(s, chain, j, from, is_last);
    const int p_end = !chain->is_h[from];
    return s->h_mask & thrifty_h(s, p_end + (!is_last && !chain->is_h[2 * j - from]), p_end);
}

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

/* Lets n more H of parity q take the sites of r; returns how many placed H one can touch. */
static inline int reach_take(reach *out, const sight *s, board r, int q, int n)
{
    int k = 1;
    out->h_sites |= r;
    out->inner[q] |= r;
    out->n_inner[q] += n;
    for (; k <= INNER && board_meet(r, s->touch[k]); k++) {
        const int takers = out->takers[k][q] + n;
        if (takers > out->room[k][q]) /* sites are only added: count again when they seem not to suffice */
            out->room[k][q] = board_count(out->inner[q] & s->touch[k]);
        out->takers[k][q] = least(takers, out->room[k][q]);
    }
    return k - 1;
}

/* The residue beside the end: one site, whose best neighbourhood counts, without the bond. */
static inline int reach_first(reach *out, const sight *s, board r, int q, bool is_last, bool bonded)
{
    int most = least(INNER + is_last + bonded, STEPS);
    while (most > 0 && !board_meet(r, s->touch[most]))
        most--;
    most = most > bonded ? most - bonded : 0;
    out->gain[q] += most;
    out->h_sites |= r;
    return most;
}

static inline void reach_note(const sight *s, int residue, int most)
{
    if (AXES == 3)
        s->most[residue] = (uint8_t)most;
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
        r &= masked_first(s, chain, first, first - forward, n == 1);
    if (!board_any(r))
        return false;
    if (chain->is_h[first])
        reach_note(s, first, reach_first(out, s, r, first & 1, n == 1, chain->is_h[first - forward]));
    if (n == 1)
        return true;

    board before = board_none();
    for (int t = 2; t < n; t++) {
        const int j = first + forward * (t - 1), q = j & 1;
        const board two_before = before;
        before = r;
        r = board_neighbours(r) & s->live;
        if (masked) {
            r &= masked_sites(s, chain, j, j - forward, false);
            if (!board_any(r))
                return false;
        }
        if (chain->is_h[j])
            reach_note(s, j, reach_take(out, s, r, q, 1));
        if (!masked && t >= 3 && !board_any(r ^ two_before)) {
            const int from = to_right ? j + 1 : last + 1, to = to_right ? last - 1 : j - 1;
            const int same = bound_h_between(chain, q, from, to), other = bound_h_between(chain, !q, from, to);
            const int most_same = same ? reach_take(out, s, r, q, same) : 0;
            const int most_other = other ? reach_take(out, s, before, !q, other) : 0;
            for (int i = from; i <= to; i++)
                reach_note(s, i, (i & 1) == q ? most_same : most_other);
            if ((n - 1 - t) & 1)
                r = before;
            break;
        }
    }
    r = board_neighbours(r) & s->free;
    if (masked)
        r &= masked_sites(s, chain, last, last - forward, true);
    if (!board_any(r))
        return false;
    if (chain->is_h[last]) {
        reach_note(s, last, reach_take(out, s, r, last & 1, 1));
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

/* The conflict bound: a free site between H and P is paid for whatever becomes of it.
 *
 * Every contact takes a slot of an H of either parity, so for each parity e: score <= S(e) = score so far + slots of
 * placed H of parity e whose site can still become H + slots of unplaced H of parity e. Take a free site, of parity q,
 * beside w placed H and p sites that are P or can no longer be H. If it becomes H, that H loses p of its slots (of
 * parity q); if not, the w placed H lose a slot each (of parity !q). So the slacks S(e) - target must afford, in sum,
 * min(w, p) for every such site; and weighted 2 : 1, min(2w, p) or min(w, 2p). Of sites with w > p no more can become H
 * than there are H to come; the others cost at least 1 more.
 *
 * A chain neighbour is no contact: the P that the residue beside an end is bound to is forgiven once, and of the
 * neighbours that can no longer be H, two are (they may be the chain's own). It pays where both parities have nearly as
 * many H. */
#ifndef SF_CORE_BOUND_CONFLICT_H
#define SF_CORE_BOUND_CONFLICT_H

#include "core/engines/bound_parity.h"

/* A lower value of the sum of min(2w, p): sites with w >= 1 and p >= 1, and with w >= 1 and p >= 2. */
static inline int conflict_double(board sites, const board w[STEPS + 1], const board p[STEPS + 1])
{
    return board_count_two(sites & w[1] & p[1], sites & w[1] & p[2]);
}

/* What of it is known before the flood: slots to spare, and the sets it is made of. */
typedef struct conflict {
    board of_parity[2], sites[2]; /* sites by the parity of their residues; of them, those that can become H */
    int slack[2];                 /* S(q) - target */
    int gain[2];                  /* most contacts of H to come, of parity q, with placed H */
} conflict;

/* Slots and the parity bound by what can become H, without a flood. True: no completion of the node has the target. */
static inline bool conflict_init(conflict *c, const sight *s, board can, const bound_schedule *schedule,
                                 const bound_step *step, int score, int target)
{
    for (int q = 0; q < 2; q++) {
        const board parity = (schedule->seed & 1) == q ? board_even : ~board_even, sites = can & parity;
        const int n_h = step->n_h[q];
        int fillable = board_count_two(sites & s->touch[STEPS - 1], sites & s->touch[STEPS]);
        int most = step->slots[q] - INNER * n_h; /* the ends of the chain have one slot more */
        for (int k = 1; k <= INNER; k++) {
            const int n = board_count(sites & s->touch[k]);
            fillable += n;
            most += least(n, n_h);
        }
        c->of_parity[q] = parity;
        c->sites[q] = sites;
        c->slack[!q] = score + fillable + step->slots[!q] - target;
        c->gain[q] = least(most, step->slots[q]);
    }
    return c->slack[0] < 0 || c->slack[1] < 0 || parity_bound(step, score, c->gain[0], c->gain[1]) < target;
}

/* The bond between an end and the next residue takes a slot of either that is H; what is beside an H next to a P end is
 * forgiven once. */
static inline void conflict_bonds(conflict *c, const bound_chain *chain, const bound_schedule *schedule,
                                  const bound_step *step, int forgiven[2])
{
    for (int side = 0; side < 2; side++) {
        const int end = side ? step->right : step->left, next = side ? end + 1 : end - 1;
        if (end == (side ? schedule->last : schedule->first) || !chain->is_h[next])
            continue;
        if (chain->is_h[end])
            c->slack[end & 1]--;
        else
            forgiven[next & 1]++;
    }
}

/* Lets the flood know what a residue may waste: a P beside w placed H their slots, at a site that could become H; an H
 * its own, by P beside it or by sites that cannot become H, its bonds apart. */
static inline void conflict_tell(const conflict *c, sight *s, const bound_step *step, int score, int target)
{
    enum { SLACK_FEW = 1 }; /* with more to spare hardly a site is lost */
    s->thrifty = false;
    for (int q = 0; q < 2; q++) {
        /* contacts of H of parity q: of placed ones with those to come, and of those to come */
        const int own = score + c->gain[!q] + step->slots[q] - target;
        s->p_waste[!q] = c->slack[q];
        s->h_waste[q] = least(c->slack[q], own);
        s->of_parity[q] = c->of_parity[q];
        s->thrifty |= s->h_waste[q] <= SLACK_FEW;
    }
}

/* True: no completion of the node has the target. Otherwise *s knows what residues may waste. */
static inline bool conflict_excludes(sight *s, board can, const bound_chain *chain, const bound_schedule *schedule,
                                     const bound_step *step, board occupied, board h, int score, int target)
{
    conflict c;
    board p[STEPS + 1];
    int plain[2], double_w[2], double_p[2], forgiven[2] = {0, 0};
    if (conflict_init(&c, s, can, schedule, step, score, target))
        return true;
    board_layers(occupied & ~h, s->placed_p);
    board_layers(~(h | can), s->dead);
    for (int k = 1; k <= STEPS; k++)
        s->fillable[k] = s->touch[k] & can;
    for (int k = 1; k <= STEPS; k++)
        p[k] = s->placed_p[k] | at_least(s->dead, k + 2);
    for (int q = 0; q < 2; q++) {
        const board sites = c.sites[q];
        board more_h = sites & s->touch[1] & ~p[1];
        for (int k = 2; k <= STEPS - 1; k++)
            more_h |= sites & s->touch[k] & ~p[k];
        const int free_of_p = board_count(more_h), takers = step->n_h[q];
        plain[q] = board_count_two(sites & s->touch[1] & p[1], sites & s->touch[2] & p[2]);
        plain[q] += free_of_p > takers ? free_of_p - takers : 0;
        double_w[q] = conflict_double(sites, s->touch, p);
        double_p[q] = conflict_double(sites, p, s->touch);
    }
    conflict_bonds(&c, chain, schedule, step, forgiven);
    const int *slack = c.slack;
    if (slack[0] < 0 || slack[1] < 0 || slack[0] + slack[1] < plain[0] - forgiven[0] + plain[1] - forgiven[1] ||
        2 * slack[0] + slack[1] < double_p[0] - 2 * forgiven[0] + double_w[1] - forgiven[1] ||
        slack[0] + 2 * slack[1] < double_w[0] - forgiven[0] + double_p[1] - 2 * forgiven[1])
        return true;
    conflict_tell(&c, s, step, score, target);
    return s->h_waste[0] < 0 || s->h_waste[1] < 0;
}

#endif

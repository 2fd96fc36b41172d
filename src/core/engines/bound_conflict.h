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

#include "core/engines/bound_reach.h"

/* Sum over k in 1..2 of |sites with w >= k and p >= 2k - 1| + |w >= k, p >= 2k|: a lower value of min(2w, p). */
static inline int conflict_double(board sites, const board w[STEPS + 1], const board p[STEPS + 1])
{
    int n = board_count(sites & w[1] & p[1]) + board_count(sites & w[1] & p[2]);
    if (INNER > 2)
        n += board_count(sites & w[2] & p[3]) + board_count(sites & w[2] & p[4]);
    return n;
}

/* True: no completion of the node reaches the target. */
static inline bool conflict_excludes(const sight *s, const reach *r, const bound_chain *chain,
                                     const bound_schedule *schedule, const bound_step *step, board occupied, board h,
                                     int score, int target)
{
    board dead[STEPS + 1], p[STEPS + 1];
    board_layers(occupied & ~h, p);
    board_layers(~(h | r->h_sites), dead);
    for (int k = 1; k <= STEPS - 2; k++)
        p[k] |= dead[k + 2];

    int slack[2], plain[2], double_w[2], double_p[2], forgiven[2] = {0, 0};
    for (int q = 0; q < 2; q++) {
        const board sites = r->h_sites & ((schedule->seed & 1) == q ? board_even : ~board_even);
        int fillable = 0, beside = 0, free_of_p = 0;
        for (int k = 1; k <= STEPS; k++)
            fillable += board_count(sites & s->touch[k]);
        for (int k = 1; k <= INNER; k++)
            beside += board_count(sites & s->touch[k] & p[k]);
        board more_h = sites & s->touch[1] & ~p[1];
        for (int k = 2; k <= STEPS - 1; k++)
            more_h |= sites & s->touch[k] & ~p[k];
        free_of_p = board_count(more_h);
        slack[!q] = score + fillable + step->slots[!q] - target;
        double_w[q] = conflict_double(sites, s->touch, p);
        double_p[q] = conflict_double(sites, p, s->touch);
        int takers = r->takers[1][q];
        takers += step->left > schedule->first && chain->is_h[step->left - 1] && ((step->left - 1) & 1) == q;
        takers += step->right < schedule->last && chain->is_h[step->right + 1] && ((step->right + 1) & 1) == q;
        plain[q] = beside + (free_of_p > takers ? free_of_p - takers : 0);
    }
    for (int side = 0; side < 2; side++) {
        const int end = side ? step->right : step->left, next = side ? end + 1 : end - 1;
        if (end == (side ? schedule->last : schedule->first) || !chain->is_h[next])
            continue;
        if (chain->is_h[end])
            slack[end & 1]--;
        else
            forgiven[next & 1]++;
    }
    if (slack[0] < 0 || slack[1] < 0)
        return true;
    if (slack[0] + slack[1] < plain[0] - forgiven[0] + plain[1] - forgiven[1])
        return true;
    return 2 * slack[0] + slack[1] < double_p[0] - 2 * forgiven[0] + double_w[1] - forgiven[1] ||
           slack[0] + 2 * slack[1] < double_w[0] - forgiven[0] + double_p[1] - 2 * forgiven[1];
}

#endif

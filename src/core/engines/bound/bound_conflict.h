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

#include "core/engines/bound/bound_parity.h"
#ifndef BOUND_CUBIC
#include "core/engines/bound/bound_board_pair.h"
#endif

/* What of it is known before the flood: slots to spare, and the sets it is made of. */
typedef struct conflict {
    board of_parity[2], sites[2]; /* sites by the parity of their residues; of them, those that can become H */
    int slack[2];                 /* S(q) - target */
    int gain[2];                  /* most contacts of H to come, of parity q, with placed H */
} conflict;

/* Sites of one parity that can become H, by placed H beside them: [1], [2] at least so many; [3] at least 3, and those
 * with 4 once more. */
static inline void conflict_touched(int n[2][INNER + 2], const conflict *c, const sight *s)
{
#ifdef BOARD_PAIRS
    const __m512i sites = pair_of(c->sites[0], c->sites[1]);
    __m512i of[STEPS + 1];
    for (int k = 1; k <= STEPS; k++)
        of[k] = _mm512_popcnt_epi64(_mm512_and_si512(sites, pair_twice(s->touch[k])));
    const __m512i sum = pair_sum(pair_fields(of[1], of[2], _mm512_add_epi64(of[3], of[4]), _mm512_setzero_si512()));
    for (int q = 0; q < 2; q++) {
        const uint64_t word = pair_word(sum, q);
        for (int k = 1; k <= INNER + 1; k++)
            n[q][k] = pair_field(word, k - 1);
    }
#else
    for (int q = 0; q < 2; q++) {
        for (int k = 1; k <= INNER; k++)
            n[q][k] = board_count(c->sites[q] & s->touch[k]);
        n[q][INNER + 1] = board_count_two(c->sites[q] & s->touch[STEPS - 1], c->sites[q] & s->touch[STEPS]);
    }
#endif
}

/* Slots and the parity bound by what can become H, without a flood. True: no completion of the node has the target. */
static inline bool conflict_init(conflict *c, const sight *s, board can, const bound_schedule *schedule,
                                 const bound_step *step, int score, int target)
{
    int n[2][INNER + 2];
    for (int q = 0; q < 2; q++) {
        c->of_parity[q] = (schedule->seed & 1) == q ? board_even : ~board_even;
        c->sites[q] = can & c->of_parity[q];
    }
    conflict_touched(n, c, s);
    for (int q = 0; q < 2; q++) {
        const int n_h = step->n_h[q];
        int fillable = n[q][INNER + 1];
        int most = step->slots[q] - INNER * n_h; /* the ends of the chain have one slot more */
        for (int k = 1; k <= INNER; k++) {
            fillable += n[q][k];
            most += least(n[q][k], n_h);
        }
        c->slack[!q] = score + fillable + step->slots[!q] - target;
        c->gain[q] = least(most, step->slots[q]);
    }
    return c->slack[0] < 0 || c->slack[1] < 0 || parity_bound(step, score, c->gain[0], c->gain[1]) < target;
}

/* What the sites of one parity cost. */
typedef struct conflict_cost {
    int plain;              /* those with w >= 1 and p >= 1, and with 2 and 2 */
    int double_w, double_p; /* lower values of the sums of min(2w, p) and min(w, 2p) */
    int free_of_p;          /* those with w > p */
} conflict_cost;

/* p[k]: sites with at least k beside them that are P or cannot become H; the first two are forgiven of these. */
static inline void conflict_costs(conflict_cost cost[2], const conflict *c, const board w[STEPS + 1],
                                  const board p[STEPS + 1])
{
    const board more_h = (w[1] & ~p[1]) | (w[2] & ~p[2]) | (w[3] & ~p[3]);
#ifdef BOARD_PAIRS
    const __m512i sites = pair_of(c->sites[0], c->sites[1]);
    const __m512i one = _mm512_popcnt_epi64(_mm512_and_si512(sites, pair_twice(w[1] & p[1])));
    const __m512i two = _mm512_popcnt_epi64(_mm512_and_si512(sites, pair_twice(w[2] & p[2])));
    const __m512i two_p = _mm512_popcnt_epi64(_mm512_and_si512(sites, pair_twice(w[1] & p[2])));
    const __m512i two_w = _mm512_popcnt_epi64(_mm512_and_si512(sites, pair_twice(w[2] & p[1])));
    const __m512i more = _mm512_popcnt_epi64(_mm512_and_si512(sites, pair_twice(more_h)));
    const __m512i sum = pair_sum(
        pair_fields(_mm512_add_epi64(one, two), _mm512_add_epi64(one, two_p), _mm512_add_epi64(one, two_w), more));
    for (int q = 0; q < 2; q++) {
        const uint64_t word = pair_word(sum, q);
        cost[q] = (conflict_cost){pair_field(word, 0), pair_field(word, 1), pair_field(word, 2), pair_field(word, 3)};
    }
#else
    for (int q = 0; q < 2; q++) {
        const board sites = c->sites[q], one = sites & w[1] & p[1];
        cost[q] = (conflict_cost){.plain = board_count_two(one, sites & w[2] & p[2]),
                                  .double_w = board_count_two(one, sites & w[1] & p[2]),
                                  .double_p = board_count_two(one, sites & w[2] & p[1]),
                                  .free_of_p = board_count(sites & more_h)};
    }
#endif
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
    conflict_cost cost[2];
    int forgiven[2] = {0, 0};
    if (conflict_init(&c, s, can, schedule, step, score, target))
        return true;
    board_layers(occupied & ~h, s->placed_p);
    board_layers(~(h | can), s->dead);
    for (int k = 1; k <= STEPS; k++)
        s->fillable[k] = s->touch[k] & can;
    for (int k = 1; k <= STEPS; k++)
        p[k] = s->placed_p[k] | at_least(s->dead, k + 2);
    conflict_costs(cost, &c, s->touch, p);
    for (int q = 0; q < 2; q++)
        cost[q].plain += cost[q].free_of_p > step->n_h[q] ? cost[q].free_of_p - step->n_h[q] : 0;
    conflict_bonds(&c, chain, schedule, step, forgiven);
    const int *slack = c.slack;
    if (slack[0] < 0 || slack[1] < 0 ||
        slack[0] + slack[1] < cost[0].plain - forgiven[0] + cost[1].plain - forgiven[1] ||
        2 * slack[0] + slack[1] < cost[0].double_p - 2 * forgiven[0] + cost[1].double_w - forgiven[1] ||
        slack[0] + 2 * slack[1] < cost[0].double_w - forgiven[0] + cost[1].double_p - 2 * forgiven[1])
        return true;
    conflict_tell(&c, s, step, score, target);
    return s->h_waste[0] < 0 || s->h_waste[1] < 0;
}

#endif

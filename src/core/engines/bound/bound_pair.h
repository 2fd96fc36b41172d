/* The reach bound for both tails at once, where a register holds two boards (AVX-512): the left tail's in its lower
 * half, the right tail's in its upper.
 *
 * The obvious flood, one tail after the other (bound_reach.h), waits for each step of a tail before the next, looks
 * whether sites are left at each, and counts sites only where they may not suffice: few instructions, but most of them
 * wait for others or for branches that no one can foresee. Here both tails take each step together and every step is
 * counted, with no branch but for the end. It says exactly the same. */
#ifndef SF_CORE_BOUND_PAIR_H
#define SF_CORE_BOUND_PAIR_H

#include "core/engines/bound/bound_board_pair.h"
#include "core/engines/bound/bound_reach.h"

#ifdef BOARD_PAIRS
/* ---- what residues may stand on, by kind ---- */

enum { KIND_P, KIND_H, KIND_LAST = 4, KIND_NONE = 8, KINDS };

/* mask[kind]: sites for such a residue that is not beside an end. */
static inline void pair_masks(__m256i mask[KINDS], const sight *s)
{
    const board p = s->thrifty ? s->p_mask & s->p_thrifty : s->p_mask;
    mask[KIND_P] = (__m256i)(s->live & p);
    mask[KIND_LAST + KIND_P] = (__m256i)(s->free & p);
    for (int bonds = 0; bonds < 3; bonds++) {
        const board h = s->thrifty ? s->h_mask & s->h_by_bonds[bonds] : s->h_mask;
        mask[KIND_H + bonds] = (__m256i)(s->live & h);
        mask[KIND_LAST + KIND_H + bonds] = (__m256i)(s->free & h);
    }
    mask[KIND_NONE] = (__m256i)board_none();
}

typedef struct pair_tails {
    int n[2];     /* residues of the left and the right tail */
    int first[2]; /* those beside the ends */
    bool first_h[2];
} pair_tails;

/* Sites beside either end. */
static inline __m512i pair_first(const pair_tails *tails, const sight *s, const bound_chain *chain,
                                 const bound_step *step, bound_place left, bound_place right, bool masked)
{
    board sites[2];
    for (int side = 0; side < 2; side++) {
        const int end = side ? step->right : step->left;
        if (tails->n[side] == 0) {
            sites[side] = board_none();
            continue;
        }
        sites[side] = board_neighbours(board_site(side ? right : left)) & s->free;
        if (masked)
            sites[side] &= masked_first(s, chain, tails->first[side], end, tails->n[side] == 1);
    }
    return pair_of(sites[0], sites[1]);
}

/* What reach_first says of both. */
static inline void pair_first_gain(int gain[2], const pair_tails *tails, const bound_chain *chain,
                                   const bound_step *step, __m512i sites, const __m512i touch[STEPS + 1])
{
    int beside[2] = {0, 0};
    if (!tails->first_h[0] && !tails->first_h[1])
        return;
    for (int k = 1; k <= STEPS; k++) {
        const unsigned meet = _mm512_test_epi64_mask(sites, touch[k]);
        beside[0] += (meet & 0x0f) != 0;
        beside[1] += (meet & 0xf0) != 0;
    }
    for (int side = 0; side < 2; side++) {
        if (!tails->first_h[side])
            continue;
        const int bonded = chain->is_h[side ? step->right : step->left];
        const int most = least(beside[side], least(INNER + (tails->n[side] == 1) + bonded, STEPS)) - bonded;
        gain[tails->first[side] & 1] += most > 0 ? most : 0;
    }
}

/* The flood at one time. */
typedef struct pair_state {
    __m512i sites;     /* where the residues can stand */
    __m512i at_end[2]; /* ... and the last one of either tail */
} pair_state;

/* Of the times of one parity: the sites of the H so far; in 16 bits each, how many take sites with one and two placed H
 * beside them. */
typedef struct pair_taken {
    __m512i sites, takers;
} pair_taken;

/* Time t; beyond the end of a tail nothing is left of it. */
static inline __attribute__((always_inline)) void pair_step(pair_state *now, pair_taken *taken, int t, const int n[2],
                                                            const uint8_t *kind_left, const uint8_t *kind_right,
                                                            const __m256i mask[KINDS], __m512i touch_1, __m512i touch_2)
{
    const int left = t <= n[0] ? kind_left[-t] : KIND_NONE, right = t <= n[1] ? kind_right[t] : KIND_NONE;
    const __m512i m = _mm512_inserti64x4(_mm512_castsi256_si512(mask[left]), mask[right], 1);
    now->sites = _mm512_and_si512(pair_neighbours(now->sites), m);
    now->at_end[0] = t == n[0] ? now->sites : now->at_end[0];
    now->at_end[1] = t == n[1] ? now->sites : now->at_end[1];
    const __mmask8 is_h = (__mmask8)((left & 3 ? 0x0f : 0) | (right & 3 ? 0xf0 : 0));
    if (!is_h)
        return;
    const __m512i h = _mm512_maskz_mov_epi64(is_h, now->sites);
    taken->sites = _mm512_or_si512(taken->sites, h);
    const __m512i counts = pair_sum(pair_fields(_mm512_popcnt_epi64(_mm512_and_si512(taken->sites, touch_1)),
                                                _mm512_popcnt_epi64(_mm512_and_si512(taken->sites, touch_2)),
                                                _mm512_popcnt_epi64(_mm512_and_si512(h, touch_1)),
                                                _mm512_popcnt_epi64(_mm512_and_si512(h, touch_2))));
    const __m512i more = _mm512_min_epu16(_mm512_srli_epi64(counts, 2 * FIELD_BITS), _mm512_set1_epi16(1));
    taken->takers = _mm512_min_epu16(_mm512_add_epi16(taken->takers, more), counts);
}

/* Most contacts with placed H, by parity; what reach_init and reach_gain say. */
typedef struct pair_reach {
    board h_sites; /* sites some unplaced H can take */
    int gain[2];
    bool too_few_sites; /* ... for the H of a parity, those beside the ends apart */
} pair_reach;

/* False: a dead end. */
static inline bool pair_flood(pair_reach *out, const sight *s, const bound_chain *chain, const bound_schedule *schedule,
                              const bound_step *step, bound_place left, bound_place right, bool masked)
{
    __m256i mask[KINDS];
    __m512i touch[STEPS + 1];
    const int n_left = step->left - schedule->first, n_right = schedule->last - step->right;
    const int n = n_left > n_right ? n_left : n_right;
    const pair_tails tails = {
        .n = {n_left, n_right},
        .first = {step->left - 1, step->right + 1},
        .first_h = {n_left && chain->is_h[step->left - 1], n_right && chain->is_h[step->right + 1]}};
    pair_masks(mask, s);
    for (int k = 1; k <= STEPS; k++)
        touch[k] = pair_twice(s->touch[k]);
    __m512i r = pair_first(&tails, s, chain, step, left, right, masked);
    const __mmask8 first_h = (__mmask8)((tails.first_h[0] ? 0x0f : 0) | (tails.first_h[1] ? 0xf0 : 0));
    __m512i h_sites = _mm512_maskz_mov_epi64(first_h, r);
    int gain[2] = {0, 0};
    pair_first_gain(gain, &tails, chain, step, r, touch);
    const __m512i none = _mm512_setzero_si512();
    pair_state now = {r, {r, r}};
    pair_taken even = {none, none}, odd = {none, none};
    const uint8_t *kind_left = schedule->kind + step->left, *kind_right = schedule->kind + step->right;
    for (int t = 2; t <= n; t += 2) {
        pair_step(&now, &even, t, tails.n, kind_left, kind_right, mask, touch[1], touch[2]);
        pair_step(&now, &odd, t + 1, tails.n, kind_left, kind_right, mask, touch[1], touch[2]);
    }
    if ((n_left && !board_any(pair_left(now.at_end[0]))) || (n_right && !board_any(pair_right(now.at_end[1]))))
        return false;
    const __m512i sites[2] = {even.sites, odd.sites}, takers[2] = {even.takers, odd.takers};

    board inner[2];
    for (int q = 0; q < 2; q++) {
        const __m512i of_left = sites[(step->left ^ q) & 1], of_right = sites[(step->right ^ q) & 1];
        inner[q] = pair_left(of_left) | pair_right(of_right);
    }
    const __m512i both = pair_of(inner[0], inner[1]);
    const __m512i n_sites =
        pair_sum(pair_fields(_mm512_popcnt_epi64(_mm512_and_si512(both, touch[1])),
                             _mm512_popcnt_epi64(_mm512_and_si512(both, touch[2])), _mm512_popcnt_epi64(both), none));
    out->too_few_sites = false;
    for (int q = 0; q < 2; q++) {
        const uint64_t of_left = pair_word(takers[(step->left ^ q) & 1], 0);
        const uint64_t of_right = pair_word(takers[(step->right ^ q) & 1], 1), room = pair_word(n_sites, q);
        int n_inner = step->n_h[q];
        for (int side = 0; side < 2; side++)
            n_inner -= tails.first_h[side] && (tails.first[side] & 1) == q;
        for (int k = 0; k < INNER; k++)
            gain[q] += least(pair_field(of_left + of_right, k), pair_field(room, k));
        out->too_few_sites |= pair_field(room, INNER) < n_inner;
    }
    if (n_left > 1 && chain->is_h[schedule->first])
        gain[schedule->first & 1] += board_meet(pair_left(now.at_end[0]), s->touch[INNER + 1]);
    if (n_right > 1 && chain->is_h[schedule->last])
        gain[schedule->last & 1] += board_meet(pair_right(now.at_end[1]), s->touch[INNER + 1]);
    h_sites = _mm512_ternarylogic_epi64(h_sites, sites[0], sites[1], OR_OF_THREE);
    out->h_sites = pair_left(h_sites) | pair_right(h_sites);
    for (int q = 0; q < 2; q++)
        out->gain[q] = least(gain[q], step->slots[q]);
    return true;
}

#endif
#endif

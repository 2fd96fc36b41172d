/* The parity bound, and what it needs where the board is too small.
 *
 * Every contact joins an even and an odd residue. If unplaced H of parity e touch at most g(e) placed H, then with s(e)
 * slots they have s(e) - g(e) left for each other, so
 *     score <= score so far + g(0) + g(1) + min(s(0) - g(0), s(1) - g(1), inner limit),
 * which grows with g. The reach bound gives g on the board. A chain stretched wider than that is placed by its list of
 * sites instead, and g(e) is what its H can get from the best free sites beside placed H, each taken once. Such nodes
 * are few (one in a hundred), so this may be plain. */
#ifndef SF_CORE_BOUND_PARITY_H
#define SF_CORE_BOUND_PARITY_H

#include <string.h>

#include "core/engines/bound/bound_reach.h"

static inline int parity_bound(const bound_step *step, int score, int gain_0, int gain_1)
{
    int inner = least(step->slots[0] - gain_0, step->slots[1] - gain_1);
    return score + gain_0 + gain_1 + least(inner, step->inner);
}

static inline bound_place place_step(bound_place p, bound_place by)
{
    return (bound_place){(int8_t)(p.x + by.x), (int8_t)(p.y + by.y), (int8_t)(p.z + by.z)};
}

static inline bool same_place(bound_place a, bound_place b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Residue of left..right on that place, or -1. */
static inline int place_find(const bound_place *path, int left, int right, bound_place p)
{
    for (int i = left; i <= right; i++) {
        if (same_place(path[i], p))
            return i;
    }
    return -1;
}

/* g(q) for H that are `n` in number: the sites with most H beside them first, one each, up to the slots. */
static int parity_take(const int n_sites[STEPS + 1], int n, int slots)
{
    int gain = 0, spare = slots - INNER * n; /* an end has one slot more */
    for (int k = STEPS; k >= 1 && n > 0; k--) {
        const int taken = least(n_sites[k], n);
        gain += taken * least(k, INNER);
        if (k > INNER && spare > 0) {
            const int more = least(spare, taken);
            gain += more;
            spare -= more;
        }
        n -= taken;
    }
    return gain;
}

/* Free sites beside placed H, with how many. */
typedef struct far_sites {
    int n;
    bound_place site[SF_LENGTH_MAX * STEPS];
    uint8_t beside[SF_LENGTH_MAX * STEPS];
    int n_sites[2][STEPS + 1]; /* by parity of the residue that can take them, and number of H */
} far_sites;

/* Adds the site of one H that is beside p; `seen` holds, wrapped around, what was added before. */
static inline void far_add(far_sites *s, board *seen, bound_place p, int parity)
{
    if (board_has(seen, p)) {
        for (int at = 0; at < s->n; at++) {
            if (same_place(s->site[at], p)) {
                s->n_sites[parity][s->beside[at]++]--;
                s->n_sites[parity][s->beside[at]]++;
                return;
            }
        }
    }
    *seen |= board_site(p);
    s->site[s->n] = p;
    s->beside[s->n++] = 1;
    s->n_sites[parity][1]++;
}

/* The parity bound by the list of places; path[left..right] is placed, `occupied` holds them wrapped around. */
static int parity_bound_far(const bound_chain *chain, const bound_step *step, const bound_place *path,
                            const board *occupied, int score)
{
    far_sites s;
    board seen = board_none();
    s.n = 0;
    memset(s.n_sites, 0, sizeof s.n_sites);
    for (int i = step->left; i <= step->right; i++) {
        for (int d = 0; chain->is_h[i] && d < STEPS; d++) {
            const bound_place p = place_step(path[i], board_step[d]);
            if (!board_has(occupied, p) || place_find(path, step->left, step->right, p) < 0)
                far_add(&s, &seen, p, !(i & 1));
        }
    }
    int gain[2];
    for (int q = 0; q < 2; q++)
        gain[q] = parity_take(s.n_sites[q], step->n_h[q], step->slots[q]);
    return parity_bound(step, score, gain[0], gain[1]);
}

#endif

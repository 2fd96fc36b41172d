/* The parity bound, and what it needs where the window of the board is too small.
 *
 * Every contact joins an even and an odd residue. If unplaced H of parity e touch at most g(e) placed H, then with s(e)
 * slots they have s(e) - g(e) left for each other, so
 *     score <= score so far + g(0) + g(1) + min(s(0) - g(0), s(1) - g(1), inner limit),
 * which grows with g. The reach bound gives g inside the window. A chain that is stretched out of it is placed by its
 * list of sites instead, and g(e) is what its H can get from the best free sites beside placed H, each taken once. Such
 * nodes are few (below one in twenty), so this may be plain. */
#ifndef SF_CORE_BOUND_PARITY_H
#define SF_CORE_BOUND_PARITY_H

#include "core/engines/bound_reach.h"

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

/* The parity bound by the list of places; path[left..right] is placed. */
static int parity_bound_far(const bound_chain *chain, const bound_step *step, const bound_place *path, int score)
{
    bound_place site[SF_LENGTH_MAX * STEPS];
    uint8_t beside[SF_LENGTH_MAX * STEPS];
    int n = 0, n_sites[2][STEPS + 1] = {{0}};
    for (int i = step->left; i <= step->right; i++) {
        for (int d = 0; chain->is_h[i] && d < STEPS; d++) {
            const bound_place p = place_step(path[i], board_step[d]);
            int at = 0;
            while (at < n && !same_place(site[at], p))
                at++;
            if (at < n) {
                n_sites[!(i & 1)][beside[at]++]--;
                n_sites[!(i & 1)][beside[at]]++;
            } else if (place_find(path, step->left, step->right, p) < 0) {
                site[n] = p;
                beside[n++] = 1;
                n_sites[!(i & 1)][1]++;
            }
        }
    }
    int gain[2];
    for (int q = 0; q < 2; q++)
        gain[q] = parity_take(n_sites[q], step->n_h[q], step->slots[q]);
    return parity_bound(step, score, gain[0], gain[1]);
}

#endif

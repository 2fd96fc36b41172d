/* Makes schedules and their tables. */
#include "core/engines/bound/bound_schedule.h"

#include <stdbool.h>

enum { LOOK_AHEAD = 5 }; /* residues looked at to choose the side; the nearer weigh more */

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* Towards the side with more H among its next residues; else so that both ends are reached together. */
static bool grows_right(const bound_schedule *s, const bound_chain *chain, int left, int right)
{
    if (left == s->first || right == s->last)
        return left == s->first;
    int weight_left = 0, weight_right = 0;
    for (int d = 1; d <= LOOK_AHEAD; d++) {
        if (left - d >= s->first && chain->is_h[left - d])
            weight_left += LOOK_AHEAD + 3 - d;
        if (right + d <= s->last && chain->is_h[right + d])
            weight_right += LOOK_AHEAD + 3 - d;
    }
    if (weight_left != weight_right)
        return weight_right > weight_left;
    return (s->last - right) * (s->seed - s->first) >= (left - s->first) * (s->last - s->seed - 1);
}

/* Slots of the H of one parity in from..to, when residue `end` is an end of the piece. */
static int slots_between(const bound_chain *chain, int parity, int from, int to, int end)
{
    if (from > to)
        return 0;
    return (2 * chain->dimension - 2) * bound_h_between(chain, parity, from, to) +
           (chain->is_h[end] && (end & 1) == parity);
}

/* Contacts among residues first..left-1 and right+1..last: by packing, and piece by piece plus what may join them. */
static int inner_limit(const bound_chain *chain, const bound_schedule *s, int left, int right, int slots[2][2])
{
    int n_h[2][2], pieces = 0;
    for (int q = 0; q < 2; q++) {
        n_h[0][q] = bound_h_between(chain, q, s->first, left - 1);
        n_h[1][q] = bound_h_between(chain, q, right + 1, s->last);
    }
    for (int q = 0; q < 2; q++)
        pieces += min(min(slots[0][q], slots[1][!q]), bound_pairs(chain, n_h[0][q], n_h[1][!q]));
    const int packed = bound_pairs(chain, n_h[0][0] + n_h[1][0], n_h[0][1] + n_h[1][1]) -
                       bound_bonds_between(chain, s->first, left - 1) - bound_bonds_between(chain, right + 1, s->last);
    if (left > s->first)
        pieces += chain->prefix_limit[left - 1];
    if (right < s->last)
        pieces += chain->suffix_limit[right + 1];
    return min(packed, pieces);
}

static void step_init(bound_step *step, const bound_chain *chain, const bound_schedule *s, int left, int right)
{
    int slots[2][2];
    step->left = (int8_t)left;
    step->right = (int8_t)right;
    step->to_right = grows_right(s, chain, left, right);
    step->residue = (int8_t)(step->to_right ? right + 1 : left - 1);
    for (int q = 0; q < 2; q++) {
        slots[0][q] = slots_between(chain, q, s->first, left - 1, s->first);
        slots[1][q] = slots_between(chain, q, right + 1, s->last, s->last);
        step->slots[q] = (int16_t)(slots[0][q] + slots[1][q]);
        step->n_h[q] =
            (int16_t)(bound_h_between(chain, q, s->first, left - 1) + bound_h_between(chain, q, right + 1, s->last));
    }
    step->inner = (int16_t)inner_limit(chain, s, left, right, slots);
}

static void kinds_init(bound_schedule *s, const bound_chain *chain)
{
    for (int i = s->first; i <= s->last; i++) {
        const bool at_end = i == s->first || i == s->last;
        const int p_bonds = (i > s->first && !chain->is_h[i - 1]) + (i < s->last && !chain->is_h[i + 1]);
        s->kind[i] = (uint8_t)((chain->is_h[i] ? 1 + p_bonds : 0) + (at_end ? 4 : 0));
    }
}

void sf_bound_schedule_init(bound_schedule *schedule, const bound_chain *chain, int first, int last, int seed)
{
    schedule->first = first;
    schedule->last = last;
    schedule->n_residues = last - first + 1;
    schedule->seed = seed;
    kinds_init(schedule, chain);
    int left = seed, right = seed + 1;
    for (int n = 2; n <= schedule->n_residues; n++) {
        step_init(&schedule->step[n], chain, schedule, left, right);
        if (schedule->step[n].to_right)
            right++;
        else
            left--;
    }
}

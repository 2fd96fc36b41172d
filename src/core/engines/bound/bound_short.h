/* The last few residues of a count, laid in all ways with no look at bounds.
 *
 * Most folds that are counted part only in their last residues: there a bound can say little, and takes as long as
 * laying some dozens of residues. The last residue is not laid at all: its sites are counted by what is beside them. */
#ifndef SF_CORE_BOUND_SHORT_H
#define SF_CORE_BOUND_SHORT_H

#include "core/engines/bound/bound_board.h"

/* What is placed, as boards; no completion is wider than the board. */
typedef struct placed {
    board occupied, h, end[2]; /* end[1] is the right one */
} placed;

/* The last residue: sites beside `head` where it has exactly `need` contacts. */
static inline uint64_t short_last(const placed *p, board head, bool is_h, int beside)
{
    board sites = board_neighbours(head) & ~p->occupied, layer[STEPS + 1];
    if (!is_h)
        return beside == 0 ? (uint64_t)board_count(sites) : 0;
    if (beside > STEPS)
        return 0;
    board_layers(p->h, layer);
    if (beside > 0)
        sites &= layer[beside];
    if (beside < STEPS)
        sites &= ~layer[beside + 1];
    return (uint64_t)board_count(sites);
}

/* Ways to lay the residues from n_placed on with exactly `need` more contacts; *n_laid grows by the residues laid. */
static uint64_t short_count(const bound_chain *chain, const bound_schedule *schedule, const placed *p, int n_placed,
                            int need, uint64_t *n_laid)
{
    const bound_step *step = &schedule->step[n_placed];
    const board head = p->end[step->to_right];
    const bool is_h = chain->is_h[step->residue];
    const int bonded = is_h && chain->is_h[step->to_right ? step->residue - 1 : step->residue + 1];
    ++*n_laid;
    if (n_placed + 1 == schedule->n_residues)
        return short_last(p, head, is_h, need + bonded);
    if (need > step->slots[0] + step->slots[1])
        return 0;
    uint64_t n = 0;
#pragma GCC unroll 3
    for (int axis = 0; axis < AXES; axis++) {
#pragma GCC unroll 2
        for (int way = 0; way < 2; way++) {
            const board site = (way ? board_backward(head, axis, 1) : board_forward(head, axis, 1)) & ~p->occupied;
            if (!board_any(site))
                continue;
            const int left = is_h ? need + bonded - board_count(board_neighbours(site) & p->h) : need;
            if (left < 0)
                continue;
            placed next = {.occupied = p->occupied | site, .h = is_h ? p->h | site : p->h};
            next.end[step->to_right] = site;
            next.end[!step->to_right] = p->end[!step->to_right];
            n += short_count(chain, schedule, &next, n_placed + 1, left, n_laid);
        }
    }
    return n;
}

#endif

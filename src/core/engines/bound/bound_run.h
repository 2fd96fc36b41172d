/* The run bound: every line of H costs.
 *
 * Of h H's on a D-dimensional lattice, D h - (maximal runs of H along all axes) pairs are neighbours; less the chain's
 * own bonds they are the contacts. So contacts are at most D h - bonds - runs, and there are at least as many runs as
 * - lines that hold H now, and as many more as h H's need room for (sf_bound_lines_needed; in the square, sites on the
 *   crossings that can no longer be H need room too);
 * - one more for each two H's on a line, one next to the other, with a site between them that can no longer be H.
 * What is left of D h - bonds - target after these is the *slack*: how many more runs a good fold can afford. With
 * slack k below D an H may only take sites that open at most k new lines, and a residue P only sites that lie in at
 * most k gaps (sites between two H's of a line, all of which can still become H). These sets mask the flood of
 * bound_reach.h. */
#ifndef SF_CORE_BOUND_RUN_H
#define SF_CORE_BOUND_RUN_H

#include "core/engines/bound/bound_board.h"

typedef struct box {
    int8_t low[3], high[3];
} box;

/* Spreads `from` along an axis through sites of `through`, as far as it goes. */
static inline board spread_backward(board from, board through, int axis)
{
#pragma GCC unroll 4
    for (int k = 1; k < BOARD_SPAN; k *= 2) {
        from |= through & board_backward(from, axis, k);
        through &= board_backward(through, axis, k);
    }
    return from;
}

static inline board spread_forward(board from, board through, int axis)
{
#pragma GCC unroll 4
    for (int k = 1; k < BOARD_SPAN; k *= 2) {
        from |= through & board_forward(from, axis, k);
        through &= board_forward(through, axis, k);
    }
    return from;
}

/* Sites that belong to at least m of the AXES sets, m in 1..AXES. */
static inline board of_axes(const board set[AXES], int m)
{
    const board a = set[0], b = set[1], c = AXES == 3 ? set[AXES - 1] : board_none();
    if (m == 1)
        return a | b | c;
    if (m == AXES)
        return AXES == 3 ? a & b & c : a & b;
    return (a & b) | (c & (a | b));
}

static inline int lines_needed(int n, int a, int b, int c)
{
    if (AXES == 2) {
        while (a * b < n) {
            if (a <= b)
                a++;
            else
                b++;
        }
        return a + b;
    }
    while (a * b * c < n * n) {
        if (a <= b && a <= c)
            a++;
        else if (b <= c)
            b++;
        else
            c++;
    }
    return a + b + c;
}

/* Groups of H on the lines along an axis: a group ends at a site that is neither H nor in `possible`. No line is
 * followed through the plane just outside the box, where the torus wraps around. */
static inline int run_groups(board h, board possible, const box *b, int axis)
{
    const board live = (h | possible) & ~board_plane(axis, b->high[axis] + 1);
#ifndef BOUND_CUBIC
    if (axis == 0)
        return board_row_groups(h, live, b->high[0] + 1);
#endif
    return board_count(spread_backward(h, live, axis) & ~board_forward(live, axis, 1));
}

/* gap[axis]: sites between two H's of a line that can all still become H. */
static inline void run_gaps(board gap[AXES], board h, board possible, const box *b)
{
    for (int axis = 0; axis < AXES; axis++) {
        const board through = possible & ~board_plane(axis, b->high[axis] + 1);
        gap[axis] = spread_backward(h, through, axis) & spread_forward(h, through, axis) & ~h;
    }
}

#endif

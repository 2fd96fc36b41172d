/* The last five steps, counted without a table, eight tails side by side: lane i of every vector belongs to tail i.
 *
 * The obvious way, a walk through all the tails, takes each of the some 600 in turn. But what the fifth residue gains
 * depends on the fourth alone, but for three sites it must not take; so the sums over the fifth residue are made once
 * for each site of the fourth, those over the last two once for each site of the third, and what was counted too much
 * is taken off again. Let the residues stand on a, b, c, d, e. Too much are d = b, e = c, and, where a, b, c and d are
 * the corners of a square, e = a; and residues 1 and 4, or 2 and 5, on a square's open side gain one contact more.
 *
 * Sums are polynomials: byte i of a lane is the number of tails with i contacts. So a gain is a shift by 8, and a site
 * that is not free a shift out of the lane. Two words a lane hold 16 numbers; tails that may have yet more are walked.
 */
#ifndef SF_CORE_MERGE_CUBIC_FIVE_H
#define SF_CORE_MERGE_CUBIC_FIVE_H

#include "core/engines/merge_cubic_vec.h"

enum {
    LANES = 8,
    BALL = CUBIC_BALL,
    HEAD = BALL, /* the head among the packed sites: never free */
    END_1 = 6,   /* packed sites at distance 1 are 0..END_1 - 1, and so on */
    END_2 = 24,
    END_3 = 62,
    END_4 = 128,
    BLOCKED = 128
};

#define SHIFT_H (BLOCKED | 0x38u) /* what of a site's shift counts for an H, and for a P */
#define SHIFT_P BLOCKED

/* Tails to be counted together. A site's shift is 8 times the number of H beside it, or BLOCKED. */
typedef struct five_batch {
    _Alignas(64) uint8_t shift[(BALL + 7) / 8][LANES][8]; /* [site / 8][tail][site % 8] */
    counts *value[LANES];
    int n;
} five_batch;

typedef struct five_work {
    lanes last[BALL];                     /* residue 5 on a site: 1 at its gain, 0 where it cannot be */
    lanes fourth[BALL + 1];               /* the same of residue 4 */
    lanes from_4[2][END_4], from_3[2][END_3]; /* all ends from residue 4 on that site, its gain in; from 3, without */
    lanes shift_3[END_3], shift_5[END_3]; /* gains of residues 3 and 5 */
} five_work;

typedef struct poly {
    lanes w[2];
} poly;

/* p, all its numbers moved up by as much as `by` says. */
CUBIC_INLINE poly poly_move(poly p, lanes by, const int words)
{
    poly moved = {{lanes_up(p.w[0], by)}};
    if (words == 2)
        moved.w[1] = lanes_up(p.w[1], by) | lanes_down(p.w[0], 64 - by);
    return moved;
}

/* p with one contact more, less p. */
CUBIC_INLINE poly poly_more(poly p, const int words)
{
    poly more = {{(p.w[0] << 8) - p.w[0]}};
    if (words == 2)
        more.w[1] = (p.w[1] << 8 | p.w[0] >> 56) - p.w[1];
    return more;
}

CUBIC_INLINE poly poly_add(poly p, poly q, const int words)
{
    p.w[0] += q.w[0];
    if (words == 2)
        p.w[1] += q.w[1];
    return p;
}

CUBIC_INLINE poly poly_less(poly p, poly q, const int words)
{
    p.w[0] -= q.w[0];
    if (words == 2)
        p.w[1] -= q.w[1];
    return p;
}

#define POLY_AT(array, site, words) ((poly){{(array)[0][site], (words) == 2 ? (array)[1][site] : (lanes){0}}})
#define POLY_OF(vector) ((poly){{vector}})

CUBIC_INLINE lanes shift_at(const five_batch *batch, int site, bool h)
{
    lanes bytes;
    memcpy(&bytes, batch->shift[site >> 3], sizeof bytes);
    return bytes >> (8 * (site & 7)) & (h ? SHIFT_H : SHIFT_P);
}

/* The sums over residue 5, then over 4 and 5. h[1..5] are the residues, h[0] is the head. */
CUBIC_INLINE void five_sum_ends(const cubic_geometry *geometry, const uint8_t *h, const five_batch *batch,
                                five_work *work, const int words)
{
    const lanes one = (lanes){0} + 1;
    for (int e = 0; e < BALL; e++) {
        if (e == END_1)
            e = END_2;
        else if (e == END_3)
            e = END_4;
        const lanes shift = shift_at(batch, e, h[5]) + (uint64_t)(e < END_1 && h[0] && h[5] ? 8 : 0);
        work->last[e] = lanes_up(one, shift);
        if (e < END_3) {
            work->shift_5[e] = shift;
            work->shift_3[e] = shift_at(batch, e, h[3]) + (uint64_t)(e < END_1 && h[0] && h[3] ? 8 : 0);
        }
    }
    work->fourth[HEAD] = (lanes){0};
    for (int d = END_1; d < END_4; d++) {
        if (d == END_2)
            d = END_3;
        const uint8_t *beside = geometry->ball_beside[d];
        const lanes shift = shift_at(batch, d, h[4]);
        poly ends = {{work->last[beside[0]]}};
        for (int i = 1; i < 6; i++)
            ends.w[0] += work->last[beside[i]];
        work->fourth[d] = lanes_up(one, shift);
        ends = poly_move(ends, shift, words);
        work->from_4[0][d] = ends.w[0];
        if (words == 2)
            work->from_4[1][d] = ends.w[1];
    }
    for (int c = 0; c < END_3; c++) {
        if (c == END_1)
            c = END_2;
        const uint8_t *beside = geometry->ball_beside[c];
        poly ends = {{{0}}}, back = {{{0}}};
        for (int i = 0; i < 6; i++) {
            if (beside[i] == HEAD)
                continue;
            ends = poly_add(ends, POLY_AT(work->from_4, beside[i], words), words);
            back.w[0] += work->fourth[beside[i]];
        }
        ends = poly_less(ends, poly_move(back, work->shift_5[c], words), words); /* e = c */
        work->from_3[0][c] = ends.w[0];
        if (words == 2)
            work->from_3[1][c] = ends.w[1];
    }
}

/* The ends from residue 2 on b, 3 a step k further, that do not go back. */
CUBIC_INLINE poly five_from_2(const cubic_geometry *geometry, const five_work *work, int b, int k, bool more_25,
                              const int words)
{
    const int c = geometry->ball_beside[b][k];
    const poly d_is_b = poly_less(POLY_AT(work->from_4, b, words),
                                  poly_move(POLY_OF(work->fourth[b]), work->shift_5[c], words), words);
    poly ends = poly_less(POLY_AT(work->from_3, c, words), d_is_b, words);
    if (more_25) { /* d and e across the square beside b and c */
        poly across = {{{0}}};
        for (int j = 0; j < 6; j++) {
            if (j % 3 != k % 3)
                across = poly_add(across,
                                  poly_move(POLY_OF(work->fourth[geometry->ball_beside[c][j]]),
                                            work->shift_5[geometry->ball_beside[b][j]], words),
                                  words);
        }
        ends = poly_add(ends, poly_more(across, words), words);
    }
    return ends;
}

/* What a, c and d beside each other change, b the fourth corner. */
CUBIC_INLINE poly five_square(const five_work *work, poly ends, int a, int c, int d, bool more_14, bool more_25,
                              const int words)
{
    poly e_is_a = poly_move(POLY_OF(work->fourth[d]), work->shift_5[a], words);
    if (more_14) {
        const poly all = poly_less(POLY_AT(work->from_4, d, words),
                                   poly_move(POLY_OF(work->fourth[d]), work->shift_5[c], words), words);
        const poly others = poly_less(all, e_is_a, words);
        ends = poly_add(ends, poly_more(others, words), words);
    }
    if (more_25)
        e_is_a = poly_add(e_is_a, poly_more(e_is_a, words), words);
    return poly_less(ends, e_is_a, words);
}

/* Adds up all tails by residues 1 and 2: at most 125 for each pair of them, so that bytes are enough. Numbers 0, 2, ..
 * to even, 1, 3, .. to odd. */
CUBIC_INLINE void five_sum(const cubic_geometry *geometry, const uint8_t *h, const five_batch *batch,
                           const five_work *work, lanes even[2], lanes odd[2], const int words)
{
    const bool more_14 = h[1] && h[4], more_25 = h[2] && h[5];
    const lanes low = (lanes){0} + 0x00ff00ff00ff00ffu;
    lanes shift_1[6];
    for (int a = 0; a < 6; a++)
        shift_1[a] = shift_at(batch, a, h[1]);
    for (int b = END_1; b < END_2; b++) {
        const uint8_t *beside = geometry->ball_beside[b];
        const lanes shift_2 = shift_at(batch, b, h[2]);
        poly from_2[6];
        for (int k = 0; k < 6; k++)
            from_2[k] = five_from_2(geometry, work, b, k, more_25, words);
        for (int i = 0; i < 6; i++) {
            const int a = beside[i];
            poly sum = {{{0}}};
            if (a >= END_1)
                continue;
            for (int k = 0; k < 6; k++) {
                const int c = beside[k], d = geometry->ball_beside[a][k];
                if (k == i)
                    continue;
                poly ends = from_2[k];
                if (k % 3 != i % 3 && d != HEAD)
                    ends = five_square(work, ends, a, c, d, more_14, more_25, words);
                sum = poly_add(sum, poly_move(ends, work->shift_3[c], words), words);
            }
            sum = poly_move(poly_move(sum, shift_2, words), shift_1[a], words);
            for (int w = 0; w < words; w++) {
                even[w] += sum.w[w] & low;
                odd[w] += sum.w[w] >> 8 & low;
            }
        }
    }
}

/* Counts the tails of a batch and empties it. */
CUBIC_INLINE void five_count(const cubic_job *job, five_batch *batch, five_work *work, const int words)
{
    const uint8_t *h = job->h + job->length - 6;
    lanes even[2] = {{0}}, odd[2] = {{0}};
    five_sum_ends(job->geometry, h, batch, work, words);
    five_sum(job->geometry, h, batch, work, even, odd, words);
    for (int i = 0; i < batch->n; i++) {
        uint16_t count[N_COUNTS] = {0};
        for (int n = 0; n < 8 * words; n++)
            count[n] = (uint16_t)((n & 1 ? odd : even)[n / 8][i] >> 16 * (n % 8 / 2));
        memcpy(batch->value[i], count, sizeof count);
    }
    batch->n = 0;
}

static void five_count_short(const cubic_job *job, five_batch *batch, five_work *work)
{
    five_count(job, batch, work, 1);
}

static void five_count_long(const cubic_job *job, five_batch *batch, five_work *work)
{
    five_count(job, batch, work, 2);
}

/* One tail, walked plainly from residue k; site[0..k-1] are taken, site[0] is the head. */
static void five_walk(const cubic_job *job, const uint8_t *shift, int *site, int k, int gain, uint16_t *count)
{
    const uint8_t *h = job->h + job->length - 6;
    for (int i = 0; i < 6; i++) {
        const int to = k == 1 ? i : job->geometry->ball_beside[site[k - 1]][i];
        bool free_site = to != HEAD && shift[to] < BLOCKED;
        int with = gain;
        for (int j = 1; j < k && free_site; j++)
            free_site = site[j] != to;
        if (!free_site)
            continue;
        if (h[k]) {
            with += (shift[to] >> 3) + (to < END_1 && k > 1 && h[0]);
            for (int j = 0; j < 6 && k > 3 && h[k - 3]; j++)
                with += job->geometry->ball_beside[site[k - 3]][j] == to;
        }
        if (k == 5) {
            count[with]++;
            continue;
        }
        site[k] = to;
        five_walk(job, shift, site, k + 1, with, count);
    }
}

#endif

/* The last five steps, counted without a table, eight tails side by side: lane i of every vector belongs to tail i.
 *
 * The obvious way, a walk through all the tails, takes each of the some 600 in turn. But what the fifth residue gains
 * depends on the fourth alone, but for three sites it must not take; so the sums over the fifth residue are made once
 * for each site of the fourth, those over the last two once for each site of the third, and what was counted too much
 * is taken off again. Let the residues stand on a, b, c, d, e. Too much are d = b, e = c, and, where a, b, c and d are
 * the corners of a square, e = a; and residues 1 and 4, or 2 and 5, on a square's open side gain one contact more.
 *
 * Sums are polynomials: byte i of a lane is the number of tails with i contacts. So a gain is a shift by 8, and a site
 * that is not free a shift out of the lane. A lane has as many words as the contacts need, one for most tails. */
#ifndef SF_CORE_MERGE_CUBIC_FIVE_H
#define SF_CORE_MERGE_CUBIC_FIVE_H

#include "core/engines/merge/merge_cubic_vec.h"

enum {
    LANES = 8,
    WORDS = 3, /* a tail has at most 4 x 4 + 5 + 2 contacts */
    END_1 = 6, /* packed sites at distance 1 are 0..5, at 2 up to END_2 - 1 */
    END_2 = 24,
    FROM_4 = 64, /* at distance 3 they are from END_2, at 4 from here, */
    FROM_5 = 136,
    END_5 = 238,
    BLOCKED = 128,
    /* Sites in the arrays below, by steps of their own that are one-to-one within 5 of the head, which is 0. */
    LOCAL_1 = CUBIC_LOCAL,
    LOCAL_2 = 2 * CUBIC_LOCAL,
    LOCAL_3 = 3 * CUBIC_LOCAL,
    LOCAL_4 = 4 * CUBIC_LOCAL,
    LOCAL_5 = 5 * CUBIC_LOCAL
};

/* Tails to be counted together. A site's shift is 8 times the number of H beside it, or BLOCKED. */
typedef struct five_batch {
    _Alignas(64) uint8_t shift[CUBIC_BALL / 8][LANES][8]; /* [packed site / 8][tail][site % 8] */
    counts *value[LANES];
    int n;
} five_batch;

typedef struct five_work {
    lanes last[2 * LOCAL_5 + 1];   /* residue 5 on a site: 1 at its gain, 0 where it cannot be */
    lanes fourth[2 * LOCAL_4 + 1]; /* the same of residue 4 */
    lanes shift_3[2 * LOCAL_3 + 1], shift_5[2 * LOCAL_3 + 1]; /* gains of residues 3 and 5 */
    lanes from_4[WORDS][2 * LOCAL_4 + 1]; /* all ends of residue 5, from 4 on that site with its gain */
    lanes from_3[WORDS][2 * LOCAL_3 + 1]; /* all ends of 4 and 5, from 3 on that site without its gain */
} five_work;

typedef struct poly {
    lanes w[WORDS];
} poly;

/* p, all its numbers moved up by as much as `by` says. */
CUBIC_INLINE poly poly_move(poly p, lanes by, const int words)
{
    poly moved = {{lanes_up(p.w[0], by)}};
#pragma GCC unroll 3
    for (int i = 1; i < words; i++)
        moved.w[i] = lanes_up(p.w[i], by) | lanes_down(p.w[i - 1], 64 - by);
    return moved;
}

/* p with one contact more, less p. */
CUBIC_INLINE poly poly_more(poly p, const int words)
{
    poly more = {{(p.w[0] << 8) - p.w[0]}};
#pragma GCC unroll 3
    for (int i = 1; i < words; i++)
        more.w[i] = (p.w[i] << 8 | p.w[i - 1] >> 56) - p.w[i];
    return more;
}

CUBIC_INLINE poly poly_add(poly p, poly q, const int words)
{
#pragma GCC unroll 3
    for (int i = 0; i < words; i++)
        p.w[i] += q.w[i];
    return p;
}

CUBIC_INLINE poly poly_less(poly p, poly q, const int words)
{
#pragma GCC unroll 3
    for (int i = 0; i < words; i++)
        p.w[i] -= q.w[i];
    return p;
}

CUBIC_INLINE poly poly_of(lanes v)
{
    return (poly){{v}};
}

CUBIC_INLINE poly sum_from_4(const five_work *work, int site, const int words)
{
    poly p = {{{0}}};
#pragma GCC unroll 3
    for (int i = 0; i < words; i++)
        p.w[i] = work->from_4[i][LOCAL_4 + site];
    return p;
}

CUBIC_INLINE poly sum_from_3(const five_work *work, int site, const int words)
{
    poly p = {{{0}}};
#pragma GCC unroll 3
    for (int i = 0; i < words; i++)
        p.w[i] = work->from_3[i][LOCAL_3 + site];
    return p;
}

/* Residue 4 on d, 5 on e. */
CUBIC_INLINE poly four_five(const five_work *work, int d, int e, const int words)
{
    return poly_move(poly_of(work->fourth[LOCAL_4 + d]), work->shift_5[LOCAL_3 + e], words);
}

CUBIC_INLINE int local_step(const int d)
{
    return (const int[6]){CUBIC_LOCAL_X, CUBIC_LOCAL_Y, CUBIC_LOCAL, -CUBIC_LOCAL_X, -CUBIC_LOCAL_Y, -CUBIC_LOCAL}[d];
}

/* What of a shift counts for an H and for a P. */
CUBIC_INLINE lanes shift_mask(bool h)
{
    return (lanes){0} + (h ? BLOCKED | 0x38u : BLOCKED);
}

/* Shifts of packed sites 8 n..8 n + 7, and one of them. */
CUBIC_INLINE lanes shifts_of(const five_batch *batch, int n)
{
    lanes bytes;
    memcpy(&bytes, batch->shift[n], sizeof bytes);
    return bytes;
}

CUBIC_INLINE lanes shift_at(const five_batch *batch, int site, lanes mask)
{
    return shifts_of(batch, site >> 3) >> (8 * (site & 7)) & mask;
}

/* Where residues 3 and 5 can be, h[1..5] being the residues and h[0] the head, that the sites' shifts do not know. */
CUBIC_INLINE void five_place_odd(const cubic_geometry *geometry, const uint8_t *h, const five_batch *batch,
                                 five_work *work)
{
    const lanes one = (lanes){0} + 1, mask_3 = shift_mask(h[3]), mask_5 = shift_mask(h[5]);
    const lanes more_3 = (lanes){0} + (h[0] && h[3] ? 8 : 0), more_5 = (lanes){0} + (h[0] && h[5] ? 8 : 0);
    for (int e = 0; e < END_1; e++) {
        const int at = geometry->local[e];
        const lanes shift = shift_at(batch, e, mask_5) + more_5;
        work->last[LOCAL_5 + at] = lanes_up(one, shift);
        work->shift_5[LOCAL_3 + at] = shift;
        work->shift_3[LOCAL_3 + at] = shift_at(batch, e, mask_3) + more_3;
    }
    for (int n = END_2 / 8; n < FROM_4 / 8; n++) {
        const lanes shifts = shifts_of(batch, n);
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            const int at = geometry->local[8 * n + i];
            const lanes shift = shifts >> 8 * i & mask_5;
            work->last[LOCAL_5 + at] = lanes_up(one, shift);
            work->shift_5[LOCAL_3 + at] = shift;
            work->shift_3[LOCAL_3 + at] = shifts >> 8 * i & mask_3;
        }
    }
    for (int n = FROM_5 / 8; n < CUBIC_BALL / 8; n++) {
        const lanes shifts = shifts_of(batch, n);
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++)
            work->last[LOCAL_5 + geometry->local[8 * n + i]] = lanes_up(one, shifts >> 8 * i & mask_5);
    }
}

/* Residue 4 on a site where it has that shift, and the sum over residue 5. */
CUBIC_INLINE void five_sum_last(five_work *work, int d, lanes shift, const int words)
{
    const lanes *last = work->last + LOCAL_5 + d;
    lanes sum = last[local_step(0)];
#pragma GCC unroll 5
    for (int i = 1; i < 6; i++)
        sum += last[local_step(i)];
    work->fourth[LOCAL_4 + d] = lanes_up((lanes){0} + 1, shift);
    const poly ends = poly_move(poly_of(sum), shift, words);
#pragma GCC unroll 3
    for (int i = 0; i < words; i++)
        work->from_4[i][LOCAL_4 + d] = ends.w[i];
}

CUBIC_INLINE void five_sum_all_last(const cubic_geometry *geometry, bool h, const five_batch *batch, five_work *work,
                                    const int words)
{
    const lanes mask = shift_mask(h);
    for (int d = END_1; d < END_2; d++)
        five_sum_last(work, geometry->local[d], shift_at(batch, d, mask), words);
    for (int n = FROM_4 / 8; n < FROM_5 / 8; n++) {
        const lanes shifts = shifts_of(batch, n);
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++)
            five_sum_last(work, geometry->local[8 * n + i], shifts >> 8 * i & mask, words);
    }
    work->fourth[LOCAL_4] = (lanes){0}; /* the head */
    for (int i = 0; i < words; i++)
        work->from_4[i][LOCAL_4] = (lanes){0};
}

/* The sum over residues 4 and 5, residue 3 on a site. */
CUBIC_INLINE void five_sum_last_two(const cubic_geometry *geometry, five_work *work, int site, const int words)
{
    const int c = geometry->local[site];
    poly ends = {{{0}}};
    lanes back = {0};
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        ends = poly_add(ends, sum_from_4(work, c + local_step(i), words), words);
        back += work->fourth[LOCAL_4 + c + local_step(i)];
    }
    ends = poly_less(ends, poly_move(poly_of(back), work->shift_5[LOCAL_3 + c], words), words); /* e = c */
#pragma GCC unroll 3
    for (int i = 0; i < words; i++)
        work->from_3[i][LOCAL_3 + c] = ends.w[i];
}

/* The ends from residue 2 on b, 3 a step k further, that do not go back. */
CUBIC_INLINE poly five_from_2(const five_work *work, int b, const int k, bool more_25, const int words)
{
    const int c = b + local_step(k);
    const poly d_is_b = poly_less(sum_from_4(work, b, words), four_five(work, b, c, words), words);
    poly ends = poly_less(sum_from_3(work, c, words), d_is_b, words);
    if (more_25) { /* d and e across the square beside b and c */
        poly across = {{{0}}};
#pragma GCC unroll 6
        for (int j = 0; j < 6; j++) {
            if (j % 3 != k % 3)
                across = poly_add(across, four_five(work, c + local_step(j), b + local_step(j), words), words);
        }
        ends = poly_add(ends, poly_more(across, words), words);
    }
    return ends;
}

/* What it changes that a, b, c and d are the corners of a square. Nothing, if d is the head. */
CUBIC_INLINE poly five_square(const five_work *work, poly ends, int a, int c, int d, bool more_14, bool more_25,
                              const int words)
{
    poly e_is_a = four_five(work, d, a, words);
    if (more_14) {
        const poly all = poly_less(sum_from_4(work, d, words), four_five(work, d, c, words), words);
        ends = poly_add(ends, poly_more(poly_less(all, e_is_a, words), words), words);
    }
    if (more_25)
        e_is_a = poly_add(e_is_a, poly_more(e_is_a, words), words);
    return poly_less(ends, e_is_a, words);
}

/* Counts of tails, by residues 1 and 2 at most 125: numbers 0, 2, .. and 1, 3, .. in 16 bits each. */
typedef struct five_sums {
    lanes even[WORDS], odd[WORDS];
} five_sums;

/* Adds the tails with residue 2 on a site. */
CUBIC_INLINE void five_sum(const cubic_geometry *geometry, const five_work *work, const lanes shift_1[6], int site,
                           lanes shift_2, bool more_14, bool more_25, five_sums *sums, const int words)
{
    const lanes low = (lanes){0} + 0x00ff00ff00ff00ffu;
    const int b = geometry->local[site];
    poly from_2[6];
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++)
        from_2[k] = five_from_2(work, b, k, more_25, words);
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        const int a = b + local_step(i), first = geometry->first_step[site][i];
        poly sum = {{{0}}};
        if (first < 0)
            continue;
#pragma GCC unroll 6
        for (int k = 0; k < 6; k++) {
            if (k == i)
                continue;
            poly ends = from_2[k];
            if (k % 3 != i % 3)
                ends = five_square(work, ends, a, b + local_step(k), a + local_step(k), more_14, more_25, words);
            sum = poly_add(sum, poly_move(ends, work->shift_3[LOCAL_3 + b + local_step(k)], words), words);
        }
        sum = poly_move(poly_move(sum, shift_2, words), shift_1[first], words);
#pragma GCC unroll 3
        for (int w = 0; w < words; w++) {
            sums->even[w] += sum.w[w] & low;
            sums->odd[w] += sum.w[w] >> 8 & low;
        }
    }
}

/* Counts 0..7 of eight tails. */
CUBIC_INLINE void five_spread(lanes even, lanes odd, uint16_t count[LANES][8])
{
    const counts e = (counts)even, o = (counts)odd;
    const counts first = __builtin_shufflevector(e, o, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 8, 40, 9,
                                                 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47);
    const counts second = __builtin_shufflevector(e, o, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55,
                                                  24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
    memcpy(count[0], &first, sizeof first);
    memcpy(count[4], &second, sizeof second);
}

/* Counts the tails of a batch and empties it. */
CUBIC_INLINE void five_count(const cubic_job *job, five_batch *batch, five_work *work, const int words)
{
    const cubic_geometry *geometry = job->geometry;
    const uint8_t *h = job->h + job->length - 6;
    const bool more_14 = h[1] && h[4], more_25 = h[2] && h[5];
    const lanes mask_1 = shift_mask(h[1]), mask_2 = shift_mask(h[2]);
    five_sums sums;
    lanes shift_1[6];
    uint16_t count[WORDS][LANES][8];
    for (int i = 0; i < words; i++)
        sums.even[i] = sums.odd[i] = (lanes){0};
    five_place_odd(geometry, h, batch, work);
    five_sum_all_last(geometry, h[4], batch, work, words);
    for (int c = 0; c < END_1; c++)
        five_sum_last_two(geometry, work, c, words);
    for (int c = END_2; c < FROM_4; c++)
        five_sum_last_two(geometry, work, c, words);
    for (int a = 0; a < END_1; a++)
        shift_1[a] = shift_at(batch, a, mask_1);
    for (int b = END_1; b < END_2; b++)
        five_sum(geometry, work, shift_1, b, shift_at(batch, b, mask_2), more_14, more_25, &sums, words);
    for (int i = 0; i < words; i++)
        five_spread(sums.even[i], sums.odd[i], count[i]);
    for (int i = 0; i < batch->n; i++) {
        *batch->value[i] = (counts){0};
        for (int w = 0; w < words; w++)
            memcpy((uint8_t *)batch->value[i] + w * 16, count[w][i], 16);
    }
    batch->n = 0;
}

static void five_count_1(const cubic_job *job, five_batch *batch, five_work *work)
{
    five_count(job, batch, work, 1);
}

static void five_count_2(const cubic_job *job, five_batch *batch, five_work *work)
{
    five_count(job, batch, work, 2);
}

static void five_count_3(const cubic_job *job, five_batch *batch, five_work *work)
{
    five_count(job, batch, work, 3);
}

#endif

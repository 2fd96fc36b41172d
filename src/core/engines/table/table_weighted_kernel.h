/* Counting weighted scores across maps, in the instruction set of the file that includes this (after one of
 * core/base/vec_*.h and table_sliced_kernel.h).
 *
 * The obvious way looks up a weight for each contact of each map. Here lanes are maps, as for plain HP: for each binary
 * digit of the weights the planes of its pairs are added into four bit slices, and these, shifted by the digit, to a value
 * of up to nine slices; what weighs less than nothing is added to the complement, which takes it off. Sums are modulo the
 * power of two above the highest value, so it does not matter whether they leave the range on the way. A value is then a
 * way down the tree of its digits, left where no lane goes on. */
#ifndef SF_CORE_TABLE_WEIGHTED_KERNEL_H
#define SF_CORE_TABLE_WEIGHTED_KERNEL_H

#include "core/engines/table/table_sliced_kernel.h"
#include "core/engines/table/table_weighted.h"

/* Values are counted in sixteens. */
enum { WEIGHTED_TOTALS = SF_SCORES_MAX + 16 };

/* The planes of a block for each term. */
typedef struct weighted_planes {
    int n[SF_TERMS_MAX];
    int constant; /* value of the pairs that all maps have, and of score 0 */
    const uint64_t *plane[SF_TERMS_MAX][SLICED_PAIRS + 3];
} weighted_planes;

static inline void weighted_find(const sf_sliced_table *t, const sf_sliced_block *b, const sf_weighted_query *query,
                                 weighted_planes *planes)
{
    planes->constant = query->zero;
    for (int i = 0; i < query->n_terms; i++) {
        sf_contact_map pairs = query->term[i].pairs;
        const uint64_t mask[2] = {(uint64_t)pairs, (uint64_t)(pairs >> 64)};
        int all = __builtin_popcountll(b->all[0] & mask[0]) + __builtin_popcountll(b->all[1] & mask[1]);
        planes->n[i] = sliced_planes(t, b, mask, planes->plane[i]);
        planes->constant += (i < query->n_plus ? all : -all) * (1 << query->term[i].digit);
    }
}

/* value += what the planes of terms first..last-1 add up to. */
static inline void weighted_add(const sf_weighted_query *query, const weighted_planes *planes, int first, int last,
                                size_t at, int n_digits, vec *value)
{
    for (int i = first; i < last; i++) {
        if (planes->n[i] == 0)
            continue;
        sliced_slices s = sliced_add(planes->plane[i], planes->n[i], at);
        const vec slice[4] = {s.one, s.two, s.four, s.eight};
        vec carry = vec_zero();
        for (int d = query->term[i].digit, k = 0; d < n_digits; d++, k++) {
            vec sum = value[d], more = k < 4 ? slice[k] : vec_zero();
            value[d] = vec_xor3(sum, more, carry);
            carry = vec_majority(sum, more, carry);
        }
    }
}

static inline void weighted_complement(vec *value, int n_digits)
{
    for (int d = 0; d < n_digits; d++)
        value[d] = vec_xor(value[d], vec_fill(true));
}

/* Adds the lanes `equal` of a block's row, with their multiplicities, to a total. */
static inline vec_count weighted_count(vec_count total, vec equal, const sf_sliced_block *b, const uint64_t *weight)
{
    total = vec_count_scaled(total, vec_count_add(vec_count_zero(), equal), b->factor);
    for (int w = 0; w < b->n_weights; w++) {
        vec heavy = vec_and(equal, vec_load(weight + (size_t)w * SF_SLICED_ROW_WORDS));
        total = vec_count_shifted(total, vec_count_add(vec_count_zero(), heavy), w);
    }
    return total;
}

/* Adds the lanes of one vector by value to total[]. */
static inline void weighted_values(const vec *value, vec valid, int n_values, const sf_sliced_block *b,
                                   const uint64_t *weight, vec_count *total)
{
    for (int v = 0; v < n_values; v += 16) {
        vec high = vec_pick(valid, value[4], v >> 4 & 1, value[5], v >> 5 & 1);
        high = vec_pick(high, value[6], v >> 6 & 1, value[7], v >> 7 & 1);
        high = vec_pick(high, value[8], v >> 8, vec_fill(true), true);
        if (!vec_any(high))
            continue;
        for (int f = 0; f < 4; f++) {
            vec middle = vec_pick(high, value[2], f & 1, value[3], f >> 1);
            if (!vec_any(middle))
                continue;
            for (int l = 0; l < 4; l++) {
                vec_count *sum = total + v + 4 * f + l;
                *sum = weighted_count(*sum, vec_pick(middle, value[0], l & 1, value[1], l >> 1), b, weight);
            }
        }
    }
}

static inline void weighted_block(const sf_sliced_table *t, const sf_sliced_block *b, const sf_weighted_query *query,
                                  const weighted_planes *planes, int n_digits, vec_count *total)
{
    int n_planes = __builtin_popcountll(b->vary[0]) + __builtin_popcountll(b->vary[1]);
    const uint64_t *weight = t->plane + b->plane + (size_t)n_planes * b->n_rows * SF_SLICED_ROW_WORDS;
    size_t words = (b->n_maps + 63) / 64;
    vec value[SF_VALUE_DIGITS];
    for (size_t at = 0; at < words; at += VEC_WORDS) {
        for (int d = 0; d < SF_VALUE_DIGITS; d++)
            value[d] = vec_fill(d < n_digits && (unsigned)planes->constant >> d & 1);
        weighted_add(query, planes, 0, query->n_plus, at, n_digits, value);
        if (query->n_plus < query->n_terms) {
            weighted_complement(value, n_digits);
            weighted_add(query, planes, query->n_plus, query->n_terms, at, n_digits, value);
            weighted_complement(value, n_digits);
        }
        weighted_values(value, sliced_valid(b, at), query->n_values, b, weight + at, total);
    }
}

/* Adds blocks first..last-1 by value to counts[n_values]. */
static void weighted_histogram(const sf_sliced_table *t, size_t first, size_t last, const sf_weighted_query *query,
                               uint64_t *counts)
{
    vec_count total[WEIGHTED_TOTALS];
    weighted_planes planes;
    int n_digits = 1;
    while (query->n_values > 1 << n_digits)
        n_digits++;
    for (int v = 0; v < query->n_values + 16 && v < WEIGHTED_TOTALS; v++)
        total[v] = vec_count_zero();
    for (const sf_sliced_block *b = t->block + first; b < t->block + last; b++) {
        weighted_find(t, b, query, &planes);
        weighted_block(t, b, query, &planes, n_digits, total);
    }
    for (int v = 0; v < query->n_values; v++)
        counts[v] += vec_count_total(total[v]);
}

#endif

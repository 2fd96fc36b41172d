/* Counting scores across maps, in the instruction set of the file that includes this (after one of core/base/vec_*.h).
 *
 * The obvious way counts the bits of one map at a time and adds to a counter that its score selects. Here the planes of the
 * pairs that are H H in the sequence are added lane by lane with carry-save adders into four bit slices; for each score the
 * lanes that have it are one word, whose bits are counted and scaled by the multiplicity of the block. */
#ifndef SF_CORE_TABLE_SLICED_KERNEL_H
#define SF_CORE_TABLE_SLICED_KERNEL_H

#ifndef SF_CORE_BASE_VEC_H
#include "core/base/vec_portable.h"
#endif
#include <stdbool.h>
#include <string.h>

#include "core/engines/table/table_sliced.h"

enum {
    SLICED_TOTALS = 2 * SF_SLICED_SCORES, /* blocks are counted in up to sixteen scores, from any score on */
    SLICED_PAIRS = 128,
    SLICED_CHUNK_WORDS = 8192, /* several sequences go through so much together */
    SLICED_FAR_WORDS = 1 << 19 /* larger tables, of which a sequence needs about a quarter, lie in no core's own cache */
};

typedef struct sliced_slices {
    vec one, two, four, eight;
} sliced_slices;

/* The planes of the block's pairs that are in the mask, filled up to a multiple of 4 with zero planes; returns how many
 * there are without the filling. */
static inline int sliced_planes(const sf_sliced_table *t, const sf_sliced_block *b, const uint64_t mask[2],
                                const uint64_t **plane)
{
    const uint64_t *first = t->plane + b->plane;
    size_t stride = (size_t)b->n_rows * SF_SLICED_ROW_WORDS;
    int n = 0;
    for (int w = 0; w < 2; w++) {
        for (uint64_t bits = vec_pack(mask[w], b->vary[w]); bits; bits &= bits - 1)
            plane[n++] = first + stride * (size_t)__builtin_ctzll(bits);
        if (t->layout.n_words == 1)
            break;
        first += stride * (size_t)__builtin_popcountll(b->vary[w]);
    }
    for (int i = n; i < n + 3; i++)
        plane[i] = t->plane;
    return n;
}

static inline __attribute__((always_inline)) sliced_slices sliced_add(const uint64_t *const *plane, int n, size_t at)
{
    sliced_slices s = {vec_zero(), vec_zero(), vec_zero(), vec_zero()};
    for (int i = 0; i < n; i += 4) {
        vec a = vec_load(plane[i] + at), b = vec_load(plane[i + 1] + at);
        vec c = vec_load(plane[i + 2] + at), d = vec_load(plane[i + 3] + at);
        vec two_a = vec_majority(s.one, a, b);
        s.one = vec_xor3(s.one, a, b);
        vec two_b = vec_majority(s.one, c, d);
        s.one = vec_xor3(s.one, c, d);
        vec four = vec_majority(s.two, two_a, two_b);
        s.two = vec_xor3(s.two, two_a, two_b);
        s.eight = vec_xor_and(s.eight, s.four, four);
        s.four = vec_xor(s.four, four);
    }
    return s;
}

/* Lanes of the block in the vector that begins at word `at`. */
static inline vec sliced_valid(const sf_sliced_block *b, size_t at)
{
    return vec_first((int64_t)b->n_maps - (int64_t)(at * 64));
}

/* Adds to count[0..7] the lanes of the scores first..first + 7; low[v]: lanes whose last two digits are v. */
static inline __attribute__((always_inline)) void sliced_count8(const vec low[4], vec four, vec eight, int first,
                                                                vec_count *count)
{
    for (int v = 0; v < 8; v++)
        count[v] = vec_count_add(count[v], vec_pick(low[v & 3], four, v >> 2, eight, first == 8));
}

/* Adds one plain block to total[]. Scores (without the pairs all have) are below 4 * n_fours. Few sequences have maps with
 * eight contacts and more in most rows: a row without is left after its first eight scores. */
static inline __attribute__((always_inline)) void sliced_block(const sf_sliced_block *b, const uint64_t *const *plane,
                                                               int n, int n_fours, vec_count *total)
{
    vec_count count[SF_SLICED_SCORES];
    size_t words = (b->n_maps + 63) / 64;
    const vec_count zero = vec_count_unseen_zero();
    bool beyond = false;
    for (int v = 0; v < 4 * n_fours; v++)
        count[v] = zero;
    for (size_t at = 0; at < words; at += VEC_WORDS) {
        sliced_slices s = sliced_add(plane, n, at);
        vec valid = sliced_valid(b, at), low[4];
        for (int v = 0; v < 4; v++)
            low[v] = vec_pick(valid, s.one, v & 1, s.two, v >> 1);
        if (n_fours == 1) {
            for (int v = 0; v < 4; v++)
                count[v] = vec_count_add(count[v], low[v]);
        } else {
            sliced_count8(low, s.four, s.eight, 0, count);
        }
        if (n_fours == 4 && vec_any(s.eight)) {
            sliced_count8(low, s.four, s.eight, 8, count + 8);
            beyond = true;
        }
    }
    for (int v = 0; v < (n_fours == 1 ? 4 : 8); v++)
        total[v] = vec_count_scaled(total[v], count[v], b->factor);
    for (int v = 8; n_fours == 4 && beyond && v < SF_SLICED_SCORES; v++)
        total[v] = vec_count_scaled(total[v], count[v], b->factor);
}

/* A function each, so that the counts stay in registers. */
static __attribute__((noinline)) void sliced_block4(const sf_sliced_block *b, const uint64_t *const *plane, int n,
                                                    vec_count *total)
{
    sliced_block(b, plane, n, 1, total);
}

static __attribute__((noinline)) void sliced_block8(const sf_sliced_block *b, const uint64_t *const *plane, int n,
                                                    vec_count *total)
{
    sliced_block(b, plane, n, 2, total);
}

static __attribute__((noinline)) void sliced_block16(const sf_sliced_block *b, const uint64_t *const *plane, int n,
                                                     vec_count *total)
{
    sliced_block(b, plane, n, 4, total);
}

/* Adds a block of one row whose maps differ in multiplicity; scores up to `most` can occur. Four scores at a time, so that
 * their sums do not wait for each other. */
static inline __attribute__((always_inline)) void sliced_mixed(const sf_sliced_table *t, const sf_sliced_block *b,
                                                               const uint64_t *const *plane, int n, int most,
                                                               vec_count *total)
{
    int n_planes = __builtin_popcountll(b->vary[0]) + __builtin_popcountll(b->vary[1]);
    const uint64_t *weight = t->plane + b->plane + (size_t)n_planes * SF_SLICED_ROW_WORDS;
    for (size_t at = 0; at < SF_SLICED_ROW_WORDS; at += VEC_WORDS) {
        sliced_slices s = sliced_add(plane, n, at);
        vec valid = sliced_valid(b, at), equal[4];
        for (int f = 0; 4 * f <= most; f++) {
            vec high = vec_pick(valid, s.four, f & 1, s.eight, f >> 1);
            vec_count heavy[4], light[4];
            for (int v = 0; v < 4; v++) {
                equal[v] = vec_pick(high, s.one, v & 1, s.two, v >> 1);
                light[v] = vec_count_add(vec_count_zero(), equal[v]);
                heavy[v] = vec_count_zero();
            }
            for (int w = b->n_weights - 1; w >= 0; w--) {
                vec digit = vec_load(weight + (size_t)w * SF_SLICED_ROW_WORDS + at);
                for (int v = 0; v < 4; v++)
                    heavy[v] = vec_count_add(vec_count_shifted(vec_count_zero(), heavy[v], 1), vec_and(equal[v], digit));
            }
            for (int v = 0; v < 4; v++)
                total[4 * f + v] = vec_count_scaled(vec_count_sum(total[4 * f + v], heavy[v]), light[v], b->factor);
        }
    }
}

/* Adds a block whose planes are there. */
static inline __attribute__((always_inline)) void sliced_one(const sf_sliced_table *t, const sf_sliced_block *b,
                                                             const uint64_t mask[2], const uint64_t *const *plane, int n,
                                                             vec_count *total)
{
    int base = __builtin_popcountll(b->all[0] & mask[0]) + __builtin_popcountll(b->all[1] & mask[1]);
    int most = t->max_contacts - base < n ? t->max_contacts - base : n;
    if (b->n_weights)
        sliced_mixed(t, b, plane, n, most, total + base);
    else if (most < 4)
        sliced_block4(b, plane, n, total + base);
    else if (most < 8)
        sliced_block8(b, plane, n, total + base);
    else
        sliced_block16(b, plane, n, total + base);
}

/* Adds blocks first..last-1 for one mask. */
static void sliced_range(const sf_sliced_table *t, size_t first, size_t last, sf_contact_map map, vec_count *total)
{
    const uint64_t mask[2] = {(uint64_t)map, (uint64_t)(map >> 64)};
    const uint64_t *plane[SLICED_PAIRS + 3];
    for (const sf_sliced_block *b = t->block + first; b < t->block + last; b++) {
        int n = sliced_planes(t, b, mask, plane);
        sliced_one(t, b, mask, plane, n, total);
    }
}

/* The same where the table is not in the nearer caches: the planes of the next block, pieces too short for the processor to
 * foresee, are fetched meanwhile. */
static void sliced_range_far(const sf_sliced_table *t, size_t first, size_t last, sf_contact_map map, vec_count *total)
{
    const uint64_t mask[2] = {(uint64_t)map, (uint64_t)(map >> 64)};
    const uint64_t *plane[2][SLICED_PAIRS + 3];
    int n[2] = {first < last ? sliced_planes(t, t->block + first, mask, plane[0]) : 0, 0};
    for (size_t i = first; i < last; i++) {
        const size_t here = (i - first) & 1, next = 1 - here;
        if (i + 1 < last) {
            n[next] = sliced_planes(t, t->block + i + 1, mask, plane[next]);
            for (int k = 0; k < n[next]; k++) {
                for (size_t row = 0; row < t->block[i + 1].n_rows; row++)
                    __builtin_prefetch(plane[next][k] + row * SF_SLICED_ROW_WORDS);
            }
        }
        sliced_one(t, t->block + i, mask, plane[here], n[here], total);
    }
}

/* Several sequences take each stretch of the table in turn, while it is in the cache. */
static void sliced_histograms(const sf_sliced_table *t, size_t first, size_t last, size_t n, const sf_contact_map *masks,
                              size_t width, uint64_t *histograms)
{
    vec_count total[SF_SLICED_BATCH][SLICED_TOTALS];
    const bool far = n == 1 && t->n_words > SLICED_FAR_WORDS;
    for (size_t i = 0; i < n; i++) {
        for (int v = 0; v < SLICED_TOTALS; v++)
            total[i][v] = vec_count_zero();
    }
    while (first < last) {
        size_t end = n > 1 ? first + 1 : last;
        while (end < last && t->block[end].plane - t->block[first].plane < SLICED_CHUNK_WORDS)
            end++;
        for (size_t i = 0; i < n; i++)
            (far ? sliced_range_far : sliced_range)(t, first, end, masks[i], total[i]);
        first = end;
    }
    for (size_t i = 0; i < n; i++) {
        for (int v = 0; v <= t->max_contacts; v++)
            histograms[i * width + (size_t)v] += vec_count_total(total[i][v]);
    }
}

#endif

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
#include <string.h>

#include "core/engines/table_sliced.h"

enum {
    SLICED_TOTALS = SF_SLICED_SCORES + 4, /* blocks are counted in fours of scores, from any score on */
    SLICED_PAIRS = 128,
    SLICED_CHUNK_WORDS = 8192
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
        for (uint64_t bits = b->vary[w] & mask[w]; bits; bits &= bits - 1) {
            uint64_t below = b->vary[w] & ((bits & -bits) - 1);
            plane[n++] = first + stride * (size_t)__builtin_popcountll(below);
        }
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

/* The first n lanes, counted from word `at` of a row on. */
static inline vec sliced_valid(size_t n, size_t at)
{
    uint64_t word[VEC_WORDS] __attribute__((aligned(64)));
    for (size_t i = 0; i < VEC_WORDS; i++) {
        size_t first = (at + i) * 64;
        word[i] = n >= first + 64 ? ~UINT64_C(0) : n <= first ? 0 : (UINT64_C(1) << (n - first)) - 1;
    }
    return vec_load(word);
}

/* Adds one plain block, of whose scores (without the pairs all have) those below 4 * n_fours can occur, to total[]. */
static inline __attribute__((always_inline)) void sliced_block(const sf_sliced_block *b, const uint64_t *const *plane,
                                                               int n, int n_fours, vec_count *total)
{
    vec_count count[SF_SLICED_SCORES];
    size_t words = (b->n_maps + 63) / 64, whole = b->n_maps / 64;
    for (int v = 0; v < 4 * n_fours; v++)
        count[v] = vec_count_zero();
    for (size_t at = 0; at < words; at += VEC_WORDS) {
        sliced_slices s = sliced_add(plane, n, at);
        vec valid = at + VEC_WORDS <= whole ? vec_fill(true) : sliced_valid(b->n_maps, at);
        vec low[4];
        for (int v = 0; v < 4; v++)
            low[v] = vec_pick(valid, s.one, v & 1, s.two, v >> 1);
        for (int f = 0; f < n_fours; f++) {
            for (int v = 0; v < 4; v++)
                count[4 * f + v] =
                    vec_count_add(count[4 * f + v], vec_pick(low[v], s.four, f & 1, s.eight, f >> 1));
        }
    }
    for (int v = 0; v < 4 * n_fours; v++)
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

static __attribute__((noinline)) void sliced_block12(const sf_sliced_block *b, const uint64_t *const *plane, int n,
                                                     vec_count *total)
{
    sliced_block(b, plane, n, 3, total);
}

static __attribute__((noinline)) void sliced_block16(const sf_sliced_block *b, const uint64_t *const *plane, int n,
                                                     vec_count *total)
{
    sliced_block(b, plane, n, 4, total);
}

/* Adds a block of one row whose maps differ in multiplicity; scores up to `most` can occur. */
static void sliced_mixed(const sf_sliced_table *t, const sf_sliced_block *b, const uint64_t *const *plane, int n, int most,
                         vec_count *total)
{
    int n_planes = __builtin_popcountll(b->vary[0]) + __builtin_popcountll(b->vary[1]);
    const uint64_t *weight = t->plane + b->plane + (size_t)n_planes * SF_SLICED_ROW_WORDS;
    for (size_t at = 0; at < SF_SLICED_ROW_WORDS; at += VEC_WORDS) {
        sliced_slices s = sliced_add(plane, n, at);
        vec valid = sliced_valid(b->n_maps, at);
        for (int v = 0; v <= most; v++) {
            vec low = vec_pick(valid, s.one, v & 1, s.two, v >> 1 & 1);
            vec equal = vec_pick(low, s.four, v >> 2 & 1, s.eight, v >> 3);
            vec_count sum = vec_count_scaled(total[v], vec_count_add(vec_count_zero(), equal), b->factor);
            for (int w = 0; w < b->n_weights; w++) {
                vec heavy = vec_and(equal, vec_load(weight + (size_t)w * SF_SLICED_ROW_WORDS + at));
                sum = vec_count_shifted(sum, vec_count_add(vec_count_zero(), heavy), w);
            }
            total[v] = sum;
        }
    }
}

/* Adds blocks first..last-1 for one mask. */
static void sliced_range(const sf_sliced_table *t, size_t first, size_t last, sf_contact_map map, vec_count *total)
{
    const uint64_t mask[2] = {(uint64_t)map, (uint64_t)(map >> 64)};
    const uint64_t *plane[SLICED_PAIRS + 3];
    for (const sf_sliced_block *b = t->block + first; b < t->block + last; b++) {
        int n = sliced_planes(t, b, mask, plane);
        int base = __builtin_popcountll(b->all[0] & mask[0]) + __builtin_popcountll(b->all[1] & mask[1]);
        int most = t->max_contacts - base < n ? t->max_contacts - base : n;
        if (b->n_weights)
            sliced_mixed(t, b, plane, n, most, total + base);
        else if (most < 4)
            sliced_block4(b, plane, n, total + base);
        else if (most < 8)
            sliced_block8(b, plane, n, total + base);
        else if (most < 12)
            sliced_block12(b, plane, n, total + base);
        else
            sliced_block16(b, plane, n, total + base);
    }
}

/* Several sequences take each stretch of the table in turn, while it is in the cache. */
static void sliced_histograms(const sf_sliced_table *t, size_t first, size_t last, size_t n, const sf_contact_map *masks,
                              size_t width, uint64_t *histograms)
{
    vec_count total[SF_SLICED_BATCH][SLICED_TOTALS];
    for (size_t i = 0; i < n; i++) {
        for (int v = 0; v < SLICED_TOTALS; v++)
            total[i][v] = vec_count_zero();
    }
    while (first < last) {
        size_t end = n > 1 ? first + 1 : last;
        while (end < last && t->block[end].plane - t->block[first].plane < SLICED_CHUNK_WORDS)
            end++;
        for (size_t i = 0; i < n; i++)
            sliced_range(t, first, end, masks[i], total[i]);
        first = end;
    }
    for (size_t i = 0; i < n; i++) {
        for (int v = 0; v <= t->max_contacts; v++)
            histograms[i * width + (size_t)v] += vec_count_total(total[i][v]);
    }
}

#endif

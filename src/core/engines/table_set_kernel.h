/* The filter, in the instruction set of the file that includes this (after one of core/base/vec_*.h).
 *
 * The obvious way is to count bits in every map. Instead every node of the levels gets a ceiling, the score of its own
 * residues plus the bound on what the others add; nodes are looked at from the highest ceiling down, and once no ceiling
 * beats the best score found, the best is exact. If every score below it was met on the way too, so is the set; if not,
 * the descent goes on. */
#ifndef SF_CORE_TABLE_SET_KERNEL_H
#define SF_CORE_TABLE_SET_KERNEL_H

#ifndef SF_CORE_BASE_VEC_H
#include "core/base/vec_portable.h"
#endif
#include "core/engines/table_set.h"

/* Adds the active planes: the score of 64 * VEC_WORDS nodes, one bit of it in each slice. */
static inline void set_add_planes(const uint64_t *planes, const sf_set_query *q, vec slice[SF_SET_SLICES])
{
    vec one = vec_zero(), two = one, four = one, eight = one;
    for (int i = 0; i < q->n_active; i += 4) {
        vec a = vec_load(planes + q->active[i]), b = vec_load(planes + q->active[i + 1]);
        vec c = vec_load(planes + q->active[i + 2]), d = vec_load(planes + q->active[i + 3]);
        vec two_a = vec_majority(one, a, b);
        one = vec_xor3(one, a, b);
        vec two_b = vec_majority(one, c, d);
        one = vec_xor3(one, c, d);
        vec four_a = vec_majority(two, two_a, two_b);
        two = vec_xor3(two, two_a, two_b);
        eight = vec_xor_and(eight, four, four_a); /* scores end at 15: nothing is carried further */
        four = vec_xor(four, four_a);
    }
    slice[0] = one;
    slice[1] = two;
    slice[2] = four;
    slice[3] = eight;
}

/* Lanes whose slices spell `value`. */
static inline vec set_equal(const vec slice[SF_SET_SLICES], vec among, int value)
{
    vec low = vec_pick(among, slice[0], value & 1, slice[1], value >> 1 & 1);
    return vec_pick(low, slice[2], value >> 2 & 1, slice[3], value >> 3 & 1);
}

/* Scores of the bare nodes of a block: reached, whatever else there is. */
static uint32_t set_bare_scores(const sf_set_table *t, const sf_set_query *q, size_t block)
{
    uint32_t scores = 0;
    const uint64_t *planes = t->plane + block * (size_t)(t->top_bits + 1) * SF_SET_BLOCK_WORDS;
    for (size_t w = 0; w < SF_SET_BLOCK_WORDS; w += VEC_WORDS) {
        vec slice[SF_SET_SLICES];
        vec bare = vec_load(t->bare + block * SF_SET_BLOCK_WORDS + w);
        set_add_planes(planes + w, q, slice);
        for (int value = 0; value <= q->best; value++)
            scores |= (uint32_t)vec_any(set_equal(slice, bare, value)) << value;
    }
    return scores;
}

/* Ceilings of all top nodes; returns an upper bound on them. */
static int set_ceilings(const sf_set_table *t, const sf_set_query *q, uint64_t *ceiling)
{
    const uint64_t *bound = t->top_bound + (size_t)q->top_pattern * t->n_blocks * SF_SET_SLICES * SF_SET_BLOCK_WORDS;
    const uint64_t *planes = t->plane;
    vec from8 = vec_zero(), from12 = from8, from4 = from8;
    for (size_t block = 0; block < t->n_blocks; block++) {
        for (size_t w = 0; w < SF_SET_BLOCK_WORDS; w += VEC_WORDS) {
            vec slice[SF_SET_SLICES], carry = vec_zero();
            set_add_planes(planes + w, q, slice);
            for (int s = 0; s < SF_SET_SLICES; s++) {
                vec other = vec_load(bound + (size_t)s * SF_SET_BLOCK_WORDS + w), sum = slice[s];
                slice[s] = vec_xor3(sum, other, carry);
                carry = vec_majority(sum, other, carry);
                vec_store(ceiling + (size_t)s * SF_SET_BLOCK_WORDS + w, slice[s]);
            }
            from12 = vec_or(from12, vec_and(slice[3], slice[2]));
            from8 = vec_or(from8, slice[3]);
            from4 = vec_or(from4, slice[2]);
        }
        planes += (size_t)(t->top_bits + 1) * SF_SET_BLOCK_WORDS;
        bound += SF_SET_SLICES * SF_SET_BLOCK_WORDS;
        ceiling += SF_SET_SLICES * SF_SET_BLOCK_WORDS;
    }
    return vec_any(from12) ? 15 : vec_any(from8) ? 11 : vec_any(from4) ? 7 : 3;
}

/* Top nodes with that ceiling, to node[]; returns how many. */
static size_t set_find_top(const sf_set_table *t, const uint64_t *ceiling, int value, uint32_t *node)
{
    size_t n = 0;
    for (size_t block = 0; block < t->n_blocks; block++, ceiling += SF_SET_SLICES * SF_SET_BLOCK_WORDS) {
        for (size_t w = 0; w < SF_SET_BLOCK_WORDS; w += VEC_WORDS) {
            vec slice[SF_SET_SLICES];
            for (size_t s = 0; s < SF_SET_SLICES; s++)
                slice[s] = vec_load(ceiling + s * SF_SET_BLOCK_WORDS + w);
            vec equal = set_equal(slice, vec_fill(true), value);
            if (!vec_any(equal))
                continue;
            uint64_t word[VEC_WORDS] __attribute__((aligned(64)));
            vec_store(word, equal);
            for (size_t i = 0; i < VEC_WORDS; i++) {
                uint32_t first = (uint32_t)(block * SF_SET_BLOCK + (w + i) * 64);
                for (uint64_t bits = word[i]; bits; bits &= bits - 1)
                    node[n++] = first + (uint32_t)__builtin_ctzll(bits);
            }
        }
    }
    return n;
}

static inline int set_base(const uint32_t *record, const sf_set_query *q)
{
    return __builtin_popcountll((record[0] | (uint64_t)record[1] << 32) & q->top_mask);
}

/* Without the middle level: the found nodes are the groups to look at. */
static void set_take(const sf_set_table *t, const sf_set_query *q, sf_set_work *work, size_t n)
{
    enum { AHEAD = 8 };
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(t->record + (size_t)SF_SET_RECORD * work->node[i + AHEAD]);
        const uint32_t *record = t->record + (size_t)SF_SET_RECORD * work->node[i];
        __builtin_prefetch(t->tail + record[2]);
        work->base[i] = (uint8_t)set_base(record, q);
        work->first[i] = record[2];
        work->last[i] = record[3];
        work->hit[i] = (uint32_t)i;
    }
}

/* With it: appends the groups of the found nodes, with their ceilings, to the n_groups known so far; returns how many are
 * known then. */
static size_t set_open(const sf_set_table *t, const sf_set_query *q, sf_set_work *work, size_t n, size_t n_groups)
{
    enum { START_AHEAD = 16, RECORD_AHEAD = 8, LINE = 16 };
    size_t n_bounds = (t->layout.length - t->group_length) > 3 ? 2 : 1;
    int shift = 4 * (int)(q->group_pattern % 8);
    for (size_t i = 0; i < n; i++) {
        if (i + START_AHEAD < n)
            __builtin_prefetch(t->record_start + work->node[i + START_AHEAD]);
        if (i + RECORD_AHEAD < n) {
            const uint32_t *ahead = t->record + t->record_start[work->node[i + RECORD_AHEAD]];
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + LINE);
        }
        const uint32_t *record = t->record + t->record_start[work->node[i]];
        size_t here = record[2];
        const uint32_t *label = record + SF_SET_RECORD_HEAD, *bound = label + here * (1 + q->group_pattern / 8);
        vec_ceilings(work->base + n_groups, work->group + n_groups, label, bound, here, q->label_mask, shift,
                     set_base(record, q));
        const uint32_t *first = label + here * (1 + n_bounds);
        for (size_t g = 0; g < here; g++) {
            work->first[n_groups + g] = first[g];
            work->last[n_groups + g] = first[g + 1];
        }
        n_groups += here;
    }
    return n_groups;
}

/* Marks the scores of all maps of the groups hit[0..n-1]. */
static uint32_t set_scan(const sf_set_table *t, const sf_set_query *q, const sf_set_work *work, size_t n)
{
    enum { AHEAD = 4, LINE = 16 };
    vec_marks marks = vec_marks_zero();
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            const uint32_t *ahead = t->tail + work->first[work->hit[i + AHEAD]];
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + LINE);
        }
        uint32_t g = work->hit[i], first = work->first[g], last = work->last[g];
        marks = vec_marks_scan(marks, t->tail + first, last - first, q->tail_mask, work->base[g]);
    }
    return vec_marks_set(marks);
}

static uint32_t set_scores(const sf_set_table *t, const sf_set_query *q, sf_set_work *work)
{
    uint32_t scores = 1 | set_bare_scores(t, q, 0);
    int best = 31 - __builtin_clz(scores);
    int ceiling = set_ceilings(t, q, work->ceiling);
    size_t n_groups = 0;
    bool all_bare = false;
    for (int value = ceiling; value > 0; value--) {
        if (value <= best || best >= q->best) {
            if ((scores & (scores + 1)) == 0)
                break;
            for (size_t block = 1; !all_bare && block < t->n_blocks; block++)
                scores |= set_bare_scores(t, q, block);
            all_bare = true;
            if ((scores & (scores + 1)) == 0)
                break;
        }
        size_t n = set_find_top(t, work->ceiling, value, work->node);
        if (t->record_start) {
            n_groups = set_open(t, q, work, n, n_groups);
            n = vec_bytes_find(work->group, n_groups, (uint8_t)value, work->hit);
        } else {
            set_take(t, q, work, n);
        }
        scores |= set_scan(t, q, work, n);
        best = 31 - __builtin_clz(scores);
    }
    return scores;
}

static int set_most(const uint32_t *keys, size_t n, uint32_t mask)
{
    int most = 0;
    for (size_t i = 0; i < n; i++) {
        int count = __builtin_popcount(keys[i] & mask);
        most = count > most ? count : most;
    }
    return most;
}

#endif

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
#include "core/engines/table/table_set.h"

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

/* Scores of the bare nodes of a block: reached, whatever else there is. */
static uint32_t set_bare_scores(const sf_set_table *t, const sf_set_query *q, size_t block)
{
    uint32_t scores = 0;
    const uint64_t *planes = t->plane + block * (size_t)(t->top_bits + 1) * SF_SET_BLOCK_WORDS;
    for (size_t w = 0; w < SF_SET_BLOCK_WORDS; w += VEC_WORDS) {
        vec slice[SF_SET_SLICES], low[4], bare = vec_load(t->bare + block * SF_SET_BLOCK_WORDS + w);
        set_add_planes(planes + w, q, slice);
        for (int v = 0; v < 4; v++)
            low[v] = vec_pick(bare, slice[0], v & 1, slice[1], v >> 1);
        for (int f = 0; f < 4; f++) {
            for (int v = 0; v < 4; v++)
                scores |= (uint32_t)vec_any(vec_pick(low[v], slice[2], f & 1, slice[3], f >> 1)) << (4 * f + v);
        }
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
    const vec flip0 = vec_fill(!(value & 1)), flip1 = vec_fill(!(value & 2));
    const vec flip2 = vec_fill(!(value & 4)), flip3 = vec_fill(!(value & 8));
    for (size_t block = 0; block < t->n_blocks; block++, ceiling += SF_SET_SLICES * SF_SET_BLOCK_WORDS) {
        for (size_t w = 0; w < SF_SET_BLOCK_WORDS; w += VEC_WORDS) {
            const uint64_t *slice = ceiling + w;
            vec equal = vec_and(vec_xor(vec_load(slice), flip0), vec_xor(vec_load(slice + SF_SET_BLOCK_WORDS), flip1));
            equal = vec_and(equal, vec_xor(vec_load(slice + 2 * SF_SET_BLOCK_WORDS), flip2));
            equal = vec_and(equal, vec_xor(vec_load(slice + 3 * SF_SET_BLOCK_WORDS), flip3));
            uint32_t words = vec_words(equal);
            if (words == 0)
                continue;
            uint64_t word[VEC_WORDS] __attribute__((aligned(64)));
            vec_store(word, equal);
            for (; words; words &= words - 1) {
                size_t i = (size_t)__builtin_ctz(words);
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

/* With the middle level: appends the groups of the found nodes, with their ceilings, to the n_groups known so far; returns
 * how many are known then. */
static size_t set_open(const sf_set_table *t, const sf_set_query *q, sf_set_work *work, size_t n, size_t n_groups)
{
    enum { START_AHEAD = 16, RECORD_AHEAD = 8, LINE = 16 };
    size_t patterns = (size_t)1 << (t->layout.length - t->group_length);
    size_t n_bounds = patterns <= 8 ? 1 : patterns / 8;
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

static inline void set_prefetch(const uint32_t *tail)
{
    enum { LINE = 16 };
    __builtin_prefetch(tail);
    __builtin_prefetch(tail + LINE);
    __builtin_prefetch(tail + 2 * LINE);
    __builtin_prefetch(tail + 3 * LINE);
}

/* Marks the scores of all maps of those of the groups first..last-1 that have that ceiling. */
static uint32_t set_scan_groups(const sf_set_table *t, const sf_set_query *q, sf_set_work *work, size_t first, size_t last,
                                int value)
{
    enum { AHEAD = 4 };
    const size_t n = vec_bytes_find(work->group + first, last - first, (uint8_t)value, work->hit);
    const uint32_t *hit = work->hit, *begin = work->first + first, *end = work->last + first;
    const uint8_t *base = work->base + first;
    vec_marks marks = vec_marks_zero();
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            set_prefetch(t->tail + begin[hit[i + AHEAD]]);
        const uint32_t from = begin[hit[i]];
        marks = vec_marks_scan(marks, t->tail + from, end[hit[i]] - from, q->tail_mask, base[hit[i]]);
    }
    return vec_marks_set(marks);
}

/* Without the middle level: the same for the nodes node[0..n-1], each one group. */
static uint32_t set_scan_nodes(const sf_set_table *t, const sf_set_query *q, const uint32_t *node, size_t n)
{
    enum { RECORD_AHEAD = 8, TAIL_AHEAD = 4 };
    vec_marks marks = vec_marks_zero();
    for (size_t i = 0; i < RECORD_AHEAD && i < n; i++)
        __builtin_prefetch(t->record + (size_t)SF_SET_RECORD * node[i]);
    for (size_t i = 0; i < n; i++) {
        if (i + RECORD_AHEAD < n)
            __builtin_prefetch(t->record + (size_t)SF_SET_RECORD * node[i + RECORD_AHEAD]);
        if (i + TAIL_AHEAD < n)
            set_prefetch(t->tail + t->record[(size_t)SF_SET_RECORD * node[i + TAIL_AHEAD] + 2]);
        const uint32_t *record = t->record + (size_t)SF_SET_RECORD * node[i];
        marks = vec_marks_scan(marks, t->tail + record[2], record[3] - record[2], q->tail_mask, set_base(record, q));
    }
    return vec_marks_set(marks);
}

/* Whether the set is complete once all maps with a ceiling above `value` are marked; asks bare nodes, where that may do. */
static bool set_is_complete(const sf_set_table *t, const sf_set_query *q, int value, size_t *n_bare, uint32_t *scores)
{
    const int best = 31 - __builtin_clz(*scores);
    if (value > best && best < q->best)
        return false;
    while ((*scores & (*scores + 1)) != 0 && *n_bare < t->n_blocks)
        *scores |= set_bare_scores(t, q, (*n_bare)++);
    return (*scores & (*scores + 1)) == 0;
}

static uint32_t set_scores(const sf_set_table *t, const sf_set_query *q, sf_set_work *work)
{
    uint32_t scores = 1;
    int ceiling = set_ceilings(t, q, work->ceiling);
    size_t n_groups = 0, n_bare = 0; /* groups that are known; blocks whose bare nodes were asked */
    for (int value = ceiling; value > 0 && !set_is_complete(t, q, value, &n_bare, &scores); value--) {
        /* the groups that came along with nodes of higher ceilings often have the score, and no more nodes need be opened */
        const size_t n_known = n_groups;
        if (n_known > 0) {
            scores |= set_scan_groups(t, q, work, 0, n_known, value);
            if (set_is_complete(t, q, value, &n_bare, &scores))
                break;
        }
        const size_t n = set_find_top(t, work->ceiling, value, work->node);
        if (t->record_start) {
            n_groups = set_open(t, q, work, n, n_known);
            scores |= set_scan_groups(t, q, work, n_known, n_groups, value);
        } else {
            scores |= set_scan_nodes(t, q, work->node, n);
        }
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

/* Lays the maps out in levels for the filter, and turns a sequence into a query. */
#include "core/engines/table/table_set.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "starfold/problem.h"

enum {
    TAIL_LENGTH = 5,   /* residues of the tail, unless its bits are too many */
    MIDDLE_LENGTH = 2, /* residues of the middle level, where there is one */
    KEY_BITS = 32,     /* of a tail, and of a label */
    TOP_BITS = 64,
    FLAT_GROUPS = 1 << 16 /* up to this many groups the middle level does not pay */
};

static const sf_set_kernel *kernel_of(sf_isa isa)
{
#if defined __x86_64__
    if (isa == SF_ISA_AVX512)
        return &sf_set_kernel_avx512;
    if (isa == SF_ISA_AVX2)
        return &sf_set_kernel_avx2;
#endif
    (void)isa;
    return &sf_set_kernel_portable;
}

void sf_set_table_dispatch(sf_set_table *t)
{
    t->kernel = kernel_of(sf_isa_get());
}

/* Bits that belong to residues first..last-1. */
static int bits_between(const sf_contact_layout *layout, int first, int last)
{
    return sf_contact_tail_bits(layout, first) - sf_contact_tail_bits(layout, last);
}

static int start_of_level(const sf_contact_layout *layout, int end, int longest)
{
    int first = end - longest > 2 ? end - longest : 2;
    while (bits_between(layout, first, end) > KEY_BITS)
        first++;
    return first;
}

static void choose_levels(sf_set_table *t, size_t groups, int levels)
{
    t->group_length = start_of_level(&t->layout, t->layout.length, TAIL_LENGTH);
    t->top_length = t->group_length;
    bool middle = levels == 0 ? groups > FLAT_GROUPS : levels == 3;
    if (middle || bits_between(&t->layout, 0, t->group_length) > TOP_BITS)
        t->top_length = start_of_level(&t->layout, t->group_length, MIDDLE_LENGTH);
    while (bits_between(&t->layout, 0, t->top_length) > TOP_BITS)
        t->top_length--; /* at 24 residues: to 18, and the label has 26 bits */
    t->group_shift = sf_contact_tail_bits(&t->layout, t->group_length);
    t->top_shift = sf_contact_tail_bits(&t->layout, t->top_length);
    t->top_bits = t->layout.n_bits - t->top_shift;
}

static size_t count_distinct(const sf_map_table *maps, int shift)
{
    size_t n = 0;
    for (size_t i = 0; i < maps->n_maps; i++)
        n += i == 0 || sf_map_table_map(maps, i) >> shift != sf_map_table_map(maps, i - 1) >> shift;
    return n;
}

static size_t bound_words(const sf_set_table *t)
{
    int patterns = 1 << (t->layout.length - t->group_length);
    return patterns <= 8 ? 1 : (size_t)patterns / 8;
}

size_t sf_set_table_arrays(sf_set_table *t, sf_table_array arrays[SF_TABLE_ARRAYS])
{
    size_t words = t->n_blocks * SF_SET_BLOCK_WORDS, n = 0;
    size_t top_patterns = (size_t)1 << (t->layout.length - t->top_length);
    bool middle = t->top_length < t->group_length;
    size_t record_words = middle ? t->n_top * (SF_SET_RECORD_HEAD + 1) + t->n_groups * (2 + bound_words(t)) + SF_SET_PADDING
                                 : t->n_top * SF_SET_RECORD;
    arrays[n++] = sf_table_array_of(&t->plane, words * (size_t)(t->top_bits + 1) * sizeof *t->plane);
    arrays[n++] = sf_table_array_of(&t->top_bound, top_patterns * words * SF_SET_SLICES * sizeof *t->top_bound);
    arrays[n++] = sf_table_array_of(&t->bare, words * sizeof *t->bare);
    arrays[n++] = sf_table_array_of(&t->record, record_words * sizeof *t->record);
    arrays[n++] = sf_table_array_of(&t->tail, t->n_maps * sizeof *t->tail);
    if (middle)
        arrays[n++] = sf_table_array_of(&t->record_start, t->n_top * sizeof *t->record_start);
    return n;
}

/* First map of each top node, in the order of the maps: start[n_top + 1]. */
static void find_top_starts(const sf_set_table *t, const sf_map_table *maps, size_t *start)
{
    size_t n = 0;
    for (size_t i = 0; i < maps->n_maps; i++) {
        if (i == 0 || sf_map_table_map(maps, i) >> t->top_shift != sf_map_table_map(maps, i - 1) >> t->top_shift)
            start[n++] = i;
    }
    start[n] = maps->n_maps;
}

static size_t count_groups(const sf_set_table *t, const sf_map_table *maps, size_t first, size_t last)
{
    size_t n = 1;
    for (size_t i = first + 1; i < last; i++)
        n += sf_map_table_map(maps, i) >> t->group_shift != sf_map_table_map(maps, i - 1) >> t->group_shift;
    return n;
}

/* Writes the record of a node whose maps are first..last-1 and whose tails begin at m; returns the words it takes. */
static size_t place_record(sf_set_table *t, const sf_map_table *maps, uint32_t *record, size_t first, size_t last, size_t m)
{
    uint64_t top = (uint64_t)(sf_map_table_map(maps, first) >> t->top_shift);
    sf_contact_map label_bits = ((sf_contact_map)1 << (t->top_shift - t->group_shift)) - 1;
    record[0] = (uint32_t)top;
    record[1] = (uint32_t)(top >> 32);
    record[2] = (uint32_t)m;
    record[3] = (uint32_t)(m + last - first);
    if (!t->record_start)
        return SF_SET_RECORD;
    size_t n = count_groups(t, maps, first, last), g = 0;
    uint32_t *label = record + SF_SET_RECORD_HEAD, *start = label + n * (1 + bound_words(t));
    record[2] = (uint32_t)n;
    for (size_t i = first; i < last; i++) {
        sf_contact_map map = sf_map_table_map(maps, i);
        if (i == first || map >> t->group_shift != sf_map_table_map(maps, i - 1) >> t->group_shift) {
            label[g] = (uint32_t)(map >> t->group_shift & label_bits);
            start[g++] = (uint32_t)(m + i - first);
        }
    }
    start[n] = (uint32_t)(m + last - first);
    return (size_t)(start + n + 1 - record);
}

/* Gives the maps first..last-1, one top node, their lane in the planes and their tails from m on. */
static void place_node(sf_set_table *t, const sf_map_table *maps, size_t node, size_t first, size_t last, size_t m)
{
    sf_contact_map tail_bits = ((sf_contact_map)1 << t->group_shift) - 1;
    sf_contact_map rest_bits = ((sf_contact_map)1 << t->top_shift) - 1;
    uint64_t top = (uint64_t)(sf_map_table_map(maps, first) >> t->top_shift), lane = UINT64_C(1) << node % 64;
    size_t block = node / SF_SET_BLOCK, word = node % SF_SET_BLOCK / 64;
    for (uint64_t bits = top; bits; bits &= bits - 1) {
        size_t plane = block * (size_t)(t->top_bits + 1) + (size_t)__builtin_ctzll(bits);
        t->plane[plane * SF_SET_BLOCK_WORDS + word] |= lane;
    }
    for (size_t i = first; i < last; i++) {
        sf_contact_map map = sf_map_table_map(maps, i);
        if ((map & rest_bits) == 0)
            t->bare[block * SF_SET_BLOCK_WORDS + word] |= lane;
        t->tail[m + i - first] = (uint32_t)(map & tail_bits);
    }
}

/* Top nodes are dealt out with a stride, so that every block is a sample of all of them: the bare nodes of the first block
 * then show most of the low scores. */
static size_t stride_of(size_t n)
{
    size_t stride = n * 5 / 8 | 1;
    for (;; stride += 2) {
        size_t a = n, b = stride;
        while (b) {
            size_t r = a % b;
            a = b;
            b = r;
        }
        if (a == 1)
            return stride;
    }
}

static int place(sf_set_table *t, const sf_map_table *maps)
{
    size_t *start = sf_array_alloc(t->n_top + 1, sizeof *start);
    if (!start)
        return SF_ENOMEM;
    find_top_starts(t, maps, start);
    size_t stride = stride_of(t->n_top), from = 0, m = 0, word = 0;
    for (size_t node = 0; node < t->n_top; node++) {
        if (t->record_start)
            t->record_start[node] = (uint32_t)word;
        place_node(t, maps, node, start[from], start[from + 1], m);
        word += place_record(t, maps, t->record + word, start[from], start[from + 1], m);
        m += start[from + 1] - start[from];
        from = (from + stride) % t->n_top;
    }
    free(start);
    return 0;
}

/* Pairs that residues first, first + 1, ... own, those of `pattern` (bit 0: residue first) being H and all before. */
static sf_contact_map owned_mask(const sf_contact_layout *layout, int first, uint32_t pattern)
{
    uint32_t before = (UINT32_C(1) << first) - 1;
    sf_contact_map owned = ((sf_contact_map)1 << sf_contact_tail_bits(layout, first)) - 1;
    return sf_contact_mask(layout, before | pattern << first) & owned;
}

static void set_top_bound(sf_set_table *t, size_t pattern, size_t node, int bound)
{
    size_t block = node / SF_SET_BLOCK, word = node % SF_SET_BLOCK / 64;
    for (size_t slice = 0; slice < SF_SET_SLICES; slice++) {
        size_t at = ((pattern * t->n_blocks + block) * SF_SET_SLICES + slice) * SF_SET_BLOCK_WORDS + word;
        t->top_bound[at] |= (uint64_t)(bound >> slice & 1) << node % 64;
    }
}

/* Bounds of all nodes without the middle level. */
static void bound_flat(sf_set_table *t)
{
    size_t n_patterns = (size_t)1 << (t->layout.length - t->top_length);
    for (size_t pattern = 0; pattern < n_patterns; pattern++) {
        uint32_t mask = (uint32_t)owned_mask(&t->layout, t->top_length, (uint32_t)pattern);
        for (size_t node = 0; node < t->n_top; node++) {
            const uint32_t *record = t->record + node * SF_SET_RECORD;
            set_top_bound(t, pattern, node, t->kernel->most(t->tail + record[2], record[3] - record[2], mask));
        }
    }
}

static void bound_groups(sf_set_table *t, uint32_t *record)
{
    size_t n_patterns = (size_t)1 << (t->layout.length - t->group_length), n = record[2];
    uint32_t *bound = record + SF_SET_RECORD_HEAD + n, *start = bound + n * bound_words(t);
    for (size_t pattern = 0; pattern < n_patterns; pattern++) {
        uint32_t mask = (uint32_t)owned_mask(&t->layout, t->group_length, (uint32_t)pattern);
        for (size_t g = 0; g < n; g++) {
            int most = t->kernel->most(t->tail + start[g], start[g + 1] - start[g], mask);
            bound[pattern / 8 * n + g] |= (uint32_t)most << 4 * (pattern % 8);
        }
    }
}

/* Bounds of the groups, and of the top nodes from them: what the middle residues of a group can touch and its tail add. */
static void bound_levels(sf_set_table *t)
{
    size_t n_patterns = (size_t)1 << (t->layout.length - t->top_length);
    int middle = t->group_length - t->top_length;
    for (size_t node = 0; node < t->n_top; node++)
        bound_groups(t, t->record + t->record_start[node]);
    for (size_t pattern = 0; pattern < n_patterns; pattern++) {
        uint32_t mask = (uint32_t)(owned_mask(&t->layout, t->top_length, (uint32_t)pattern) >> t->group_shift);
        size_t tail = pattern >> middle;
        for (size_t node = 0; node < t->n_top; node++) {
            const uint32_t *record = t->record + t->record_start[node], *label = record + SF_SET_RECORD_HEAD;
            const uint32_t *bound = label + record[2] * (1 + tail / 8);
            int most = 0;
            for (size_t g = 0; g < record[2]; g++) {
                int here = __builtin_popcount(label[g] & mask) + (int)(bound[g] >> 4 * (tail % 8) & 15);
                most = here > most ? here : most;
            }
            set_top_bound(t, pattern, node, most);
        }
    }
}

int sf_set_table_init(sf_set_table *t, const sf_map_table *maps, int levels, sf_error *err)
{
    sf_table_array arrays[SF_TABLE_ARRAYS];
    memset(t, 0, sizeof *t);
    t->layout = maps->layout;
    t->n_steps = maps->lattice->n_steps;
    t->n_maps = maps->n_maps;
    sf_set_table_dispatch(t);
    sf_contact_masks_init(&t->masks, &t->layout);
    choose_levels(t, 0, levels);
    t->n_groups = count_distinct(maps, t->group_shift);
    choose_levels(t, t->n_groups, levels);
    t->n_top = count_distinct(maps, t->top_shift);
    t->n_blocks = (t->n_top + SF_SET_BLOCK - 1) / SF_SET_BLOCK;
    int status = sf_table_arrays_alloc(sf_set_table_arrays(t, arrays), arrays, &t->bytes);
    if (status == 0)
        status = place(t, maps);
    if (status != 0) {
        sf_set_table_free(t);
        return sf_fail(err, status, "out of memory for laying out %zu contact maps", maps->n_maps);
    }
    if (t->record_start)
        bound_levels(t);
    else
        bound_flat(t);
    return 0;
}

void sf_set_table_free(sf_set_table *t)
{
    free(t->plane);
    free(t->top_bound);
    free(t->bare);
    free(t->record);
    free(t->record_start);
    free(t->tail);
    memset(t, 0, sizeof *t);
}

int sf_set_work_init(sf_set_work *work, const sf_set_table *t, sf_error *err)
{
    size_t nodes = t->n_blocks * SF_SET_BLOCK;
    size_t groups = (t->n_groups > nodes ? t->n_groups : nodes) + SF_SET_PADDING;
    memset(work, 0, sizeof *work);
    work->ceiling = sf_array_zeroed(nodes / 64 * SF_SET_SLICES, sizeof *work->ceiling);
    work->node = sf_array_zeroed(nodes, sizeof *work->node);
    work->first = sf_array_zeroed(groups, sizeof *work->first);
    work->last = sf_array_zeroed(groups, sizeof *work->last);
    work->base = sf_array_zeroed(groups, sizeof *work->base);
    work->group = sf_array_zeroed(groups, sizeof *work->group);
    work->hit = sf_array_zeroed(groups, sizeof *work->hit);
    if (work->ceiling && work->node && work->first && work->last && work->base && work->group && work->hit)
        return 0;
    sf_set_work_free(work);
    return sf_fail(err, SF_ENOMEM, "out of memory for queries to %zu contact maps", t->n_maps);
}

void sf_set_work_free(sf_set_work *work)
{
    free(work->ceiling);
    free(work->node);
    free(work->first);
    free(work->last);
    free(work->base);
    free(work->group);
    free(work->hit);
    memset(work, 0, sizeof *work);
}

/* What the residues of one parity can touch: every H all its neighbours but those in the chain. The lesser parity is an
 * upper bound on the score. */
static int parity_bound(const sf_set_table *t, uint32_t sequence)
{
    int length = t->layout.length, sides = t->n_steps - 2;
    uint32_t ends = sequence & (1u | 1u << (length - 1)), even = 0x55555555u;
    int a = sides * __builtin_popcount(sequence & even) + __builtin_popcount(ends & even);
    int b = sides * __builtin_popcount(sequence & ~even) + __builtin_popcount(ends & ~even);
    return a < b ? a : b;
}

/* About how much the residues after the top can add: the filter is sharper where they have few H, and then the tail. */
static int tail_weight(const sf_set_table *t, uint32_t sequence)
{
    int sides = t->n_steps - 2, end = (int)(sequence >> (t->layout.length - 1) & 1);
    return 8 * (sides * __builtin_popcount(sequence >> t->top_length) + end) +
           __builtin_popcount(sequence >> t->group_length);
}

uint32_t sf_set_scores(const sf_set_table *t, uint32_t sequence, sf_set_work *work)
{
    uint32_t reverse = sf_contact_residues_reverse(t->layout.length, sequence);
    if (tail_weight(t, reverse) < tail_weight(t, sequence))
        sequence = reverse;
    sf_contact_map mask = t->layout.n_words == 1 ? (uint64_t)sf_contact_masks_get(&t->masks, sequence)
                                                 : sf_contact_masks_get(&t->masks, sequence);
    int label_bits = t->top_shift - t->group_shift, bound = parity_bound(t, sequence);
    sf_set_query q;
    q.top_mask = (uint64_t)(mask >> t->top_shift);
    q.label_mask = (uint32_t)((uint64_t)(mask >> t->group_shift) & ((UINT64_C(1) << label_bits) - 1));
    q.tail_mask = (uint32_t)((uint64_t)mask & ((UINT64_C(1) << t->group_shift) - 1));
    q.top_pattern = sequence >> t->top_length;
    q.group_pattern = sequence >> t->group_length;
    q.best = bound < 15 ? bound : 15;
    q.n_active = 0;
    for (uint64_t bits = q.top_mask; bits; bits &= bits - 1)
        q.active[q.n_active++] = (uint32_t)__builtin_ctzll(bits) * SF_SET_BLOCK_WORDS;
    while (q.n_active % 4 != 0)
        q.active[q.n_active++] = (uint32_t)t->top_bits * SF_SET_BLOCK_WORDS;
    return t->kernel->scores(t, &q, work);
}

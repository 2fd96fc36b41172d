/* Lays the maps out in bit planes for histograms. */
#include "core/engines/table/table_sliced.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

enum { SHORT_RUN = 160 }; /* maps of one multiplicity that are worth a row of their own */

static const sf_sliced_kernel *kernel_of(sf_isa isa)
{
#if defined __x86_64__
    if (isa == SF_ISA_AVX512)
        return &sf_sliced_kernel_avx512;
    if (isa == SF_ISA_AVX2)
        return &sf_sliced_kernel_avx2;
#endif
    (void)isa;
    return &sf_sliced_kernel_portable;
}

void sf_sliced_table_dispatch(sf_sliced_table *t)
{
    t->kernel = kernel_of(sf_isa_get());
}

size_t sf_sliced_table_arrays(sf_sliced_table *t, sf_table_array arrays[SF_TABLE_ARRAYS])
{
    arrays[0] = sf_table_array_of(&t->block, t->n_blocks * sizeof *t->block);
    arrays[1] = sf_table_array_of(&t->plane, t->n_words * sizeof *t->plane);
    return 2;
}

/* order[i]: the maps by multiplicity, those of one in their own order. By digits of 11 bits, least first. */
static uint32_t *order_by_count(const sf_map_table *maps)
{
    enum { DIGIT = 11, N_DIGITS = 1 << DIGIT };
    size_t n = maps->n_maps;
    uint32_t *order = sf_array_alloc(n, sizeof *order), *to = sf_array_alloc(n, sizeof *to);
    size_t *start = malloc(N_DIGITS * sizeof *start);
    if (!order || !to || !start) {
        free(order);
        free(to);
        free(start);
        return NULL;
    }
    uint32_t all = 0;
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
        all |= maps->count[i];
    }
    for (int low = 0; low < 32 && all >> low != 0; low += DIGIT) {
        memset(start, 0, N_DIGITS * sizeof *start);
        for (size_t i = 0; i < n; i++)
            start[maps->count[i] >> low & (N_DIGITS - 1)]++;
        size_t sum = 0;
        for (size_t d = 0; d < N_DIGITS; d++) {
            size_t here = start[d];
            start[d] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            to[start[maps->count[order[i]] >> low & (N_DIGITS - 1)]++] = order[i];
        uint32_t *swap = order;
        order = to;
        to = swap;
    }
    free(to);
    free(start);
    return order;
}

static size_t run_end(const sf_map_table *maps, const uint32_t *order, size_t i)
{
    size_t end = i + 1;
    while (end < maps->n_maps && maps->count[order[end]] == maps->count[order[i]])
        end++;
    return end;
}

/* Where the block that begins at i ends: a long run gives blocks of one multiplicity, the last of which may be short;
 * short runs share rows until a long one comes. */
static size_t block_end(const sf_map_table *maps, const uint32_t *order, size_t i)
{
    size_t end = run_end(maps, order, i), full = (size_t)SF_SLICED_ROW * SF_SLICED_ROWS;
    if (end - i >= SHORT_RUN) {
        if (end - i > full)
            return i + full;
        size_t rest = (end - i) % SF_SLICED_ROW;
        return rest != 0 && rest < SHORT_RUN && end - i > SF_SLICED_ROW ? end - rest : end;
    }
    size_t limit = maps->n_maps - i < SF_SLICED_ROW ? maps->n_maps : i + SF_SLICED_ROW;
    while (end < limit) {
        size_t next = run_end(maps, order, end);
        if (next - end >= SHORT_RUN)
            break;
        end = next;
    }
    return end < limit ? end : limit;
}

/* Describes the block of maps order[first..last-1]; its planes begin at word `plane`. Returns the words they take. */
static size_t describe(const sf_map_table *maps, const uint32_t *order, size_t first, size_t last, size_t plane,
                       sf_sliced_block *b)
{
    uint64_t any[2] = {0, 0}, all[2] = {~UINT64_C(0), ~UINT64_C(0)};
    for (size_t i = first; i < last; i++) {
        uint64_t word[2] = {maps->low[order[i]], maps->high ? maps->high[order[i]] : 0};
        for (int w = 0; w < 2; w++) {
            any[w] |= word[w];
            all[w] &= word[w];
        }
    }
    *b = (sf_sliced_block){.plane = plane, .n_maps = (uint32_t)(last - first)};
    int n_planes = 0;
    for (int w = 0; w < 2; w++) {
        b->vary[w] = any[w] & ~all[w];
        b->all[w] = all[w];
        n_planes += __builtin_popcountll(b->vary[w]);
    }
    b->factor = maps->count[order[first]];
    b->n_rows = (uint16_t)((b->n_maps + SF_SLICED_ROW - 1) / SF_SLICED_ROW);
    for (uint32_t span = maps->count[order[last - 1]] - b->factor; span; span >>= 1)
        b->n_weights++;
    return ((size_t)n_planes * b->n_rows + b->n_weights) * SF_SLICED_ROW_WORDS;
}

/* Sets the lanes of the maps order[first..] in the planes of the block. */
static void fill(sf_sliced_table *t, const sf_map_table *maps, const uint32_t *order, size_t first, const sf_sliced_block *b)
{
    size_t stride = (size_t)b->n_rows * SF_SLICED_ROW_WORDS;
    int n_low = __builtin_popcountll(b->vary[0]), n_planes = n_low + __builtin_popcountll(b->vary[1]);
    uint64_t *weight = t->plane + b->plane + (size_t)n_planes * stride;
    for (size_t i = 0; i < b->n_maps; i++) {
        uint32_t map = order[first + i];
        uint64_t word[2] = {maps->low[map], maps->high ? maps->high[map] : 0};
        uint64_t *lane = t->plane + b->plane + i / 64, bit = UINT64_C(1) << i % 64;
        for (int w = 0; w < 2; w++) {
            for (uint64_t bits = word[w] & b->vary[w]; bits; bits &= bits - 1) {
                int below = __builtin_popcountll(b->vary[w] & ((bits & -bits) - 1));
                lane[(size_t)(below + (w ? n_low : 0)) * stride] |= bit;
            }
        }
        for (uint32_t over = maps->count[map] - b->factor; over; over &= over - 1)
            weight[(size_t)__builtin_ctz(over) * SF_SLICED_ROW_WORDS + i / 64] |= bit;
    }
}

int sf_sliced_table_init(sf_sliced_table *t, const sf_map_table *maps, sf_error *err)
{
    memset(t, 0, sizeof *t);
    t->layout = maps->layout;
    t->max_contacts = maps->max_contacts;
    sf_sliced_table_dispatch(t);
    sf_contact_masks_init(&t->masks, &t->layout);
    uint32_t *order = order_by_count(maps);
    size_t room = 0;
    for (size_t i = 0; order && i < maps->n_maps; i = block_end(maps, order, i))
        room++;
    t->block = sf_array_alloc(room, sizeof *t->block);
    t->n_words = (size_t)SF_SLICED_ROWS * SF_SLICED_ROW_WORDS;
    for (size_t i = 0; order && t->block && i < maps->n_maps;) {
        size_t end = block_end(maps, order, i);
        t->n_words += describe(maps, order, i, end, t->n_words, &t->block[t->n_blocks++]);
        i = end;
    }
    t->plane = order && t->block ? sf_array_zeroed(t->n_words, sizeof *t->plane) : NULL;
    if (!t->plane) {
        free(order);
        sf_sliced_table_free(t);
        return sf_fail(err, SF_ENOMEM, "out of memory for slicing %zu contact maps", maps->n_maps);
    }
    size_t first = 0;
    for (size_t i = 0; i < t->n_blocks; i++) {
        fill(t, maps, order, first, &t->block[i]);
        first += t->block[i].n_maps;
    }
    free(order);
    return 0;
}

void sf_sliced_table_free(sf_sliced_table *t)
{
    free(t->block);
    free(t->plane);
    memset(t, 0, sizeof *t);
}

void sf_sliced_histograms(const sf_sliced_table *t, size_t piece, size_t n_pieces, size_t n, const uint32_t *sequences,
                          size_t width, uint64_t *histograms)
{
    size_t first = t->n_blocks * piece / n_pieces, last = t->n_blocks * (piece + 1) / n_pieces;
    sf_contact_map masks[SF_SLICED_BATCH];
    for (size_t i = 0; i < n; i += SF_SLICED_BATCH) {
        size_t here = n - i < SF_SLICED_BATCH ? n - i : SF_SLICED_BATCH;
        for (size_t j = 0; j < here; j++)
            masks[j] = sf_contact_masks_get(&t->masks, sequences[i + j]);
        t->kernel->histograms(t, first, last, here, masks, width, histograms + i * width);
    }
}

uint64_t sf_sliced_table_bytes(const sf_sliced_table *t)
{
    return t->n_words * sizeof *t->plane + t->n_blocks * sizeof *t->block;
}

/* The store of known genomes: columns that grow together, found through an open-addressing hash table of row numbers.
 *
 * The obvious way, one array sorted by genome, moves rows on every addition, but a row number must stay good while
 * islands hold it. Full genomes are compared, so the hash decides only speed: no result depends on it. */
#include "core/search/known.h"

#include <stdlib.h>
#include <string.h>

#include "starfold/problem.h"

enum { FIRST_CAPACITY = 64 };

bool sf_place_less(const sf_place *a, const sf_place *b)
{
    if (a->trial != b->trial)
        return a->trial < b->trial;
    if (a->generation != b->generation)
        return a->generation < b->generation;
    if (a->island != b->island)
        return a->island < b->island;
    return a->individual < b->individual;
}

int sf_known_init(sf_known *known, int length, int n_scores)
{
    *known = (sf_known){.length = length, .n_scores = n_scores};
    return sf_known_reserve(known, FIRST_CAPACITY);
}

void sf_known_free(sf_known *known)
{
    free(known->genome);
    free(known->histogram);
    free(known->fitness);
    free(known->best_score);
    free(known->exact);
    free(known->first);
    free(known->changed);
    free(known->slot);
    *known = (sf_known){0};
}

/* FNV-1a, with a last mix because the table is indexed by the low bits. */
static uint64_t hash_genome(const sf_known *known, const uint8_t *genome)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < known->length; i++)
        h = (h ^ genome[i]) * UINT64_C(0x100000001b3);
    return h ^ (h >> 32);
}

static const uint8_t *row_genome(const sf_known *known, size_t row)
{
    return known->genome + row * (size_t)known->length;
}

/* The slot that holds the genome, or the empty one where it belongs. */
static size_t find_slot(const sf_known *known, const uint8_t *genome)
{
    size_t mask = known->n_slots - 1;
    size_t at = (size_t)hash_genome(known, genome) & mask;
    while (known->slot[at] && memcmp(row_genome(known, known->slot[at] - 1), genome, (size_t)known->length) != 0)
        at = (at + 1) & mask;
    return at;
}

/* The column with room for n rows, or the old one and *ok = false. */
static void *grow(void *column, size_t n, size_t width, bool *ok)
{
    size_t bytes;
    void *grown = __builtin_mul_overflow(n, width, &bytes) ? NULL : realloc(column, bytes);
    *ok = *ok && grown;
    return grown ? grown : column;
}

static bool grow_columns(sf_known *known, size_t n)
{
    bool ok = true;
    known->genome = grow(known->genome, n, (size_t)known->length, &ok);
    known->histogram = grow(known->histogram, n, (size_t)known->n_scores * sizeof *known->histogram, &ok);
    known->fitness = grow(known->fitness, n, sizeof *known->fitness, &ok);
    known->best_score = grow(known->best_score, n, sizeof *known->best_score, &ok);
    known->exact = grow(known->exact, n, sizeof *known->exact, &ok);
    known->first = grow(known->first, n, sizeof *known->first, &ok);
    known->changed = grow(known->changed, n, sizeof *known->changed, &ok);
    return ok;
}

/* A table of at least twice the capacity, all rows entered anew. */
static bool grow_slots(sf_known *known, size_t capacity)
{
    size_t n_slots = known->n_slots ? known->n_slots : 2;
    while (n_slots / 2 < capacity) {
        if (__builtin_mul_overflow(n_slots, (size_t)2, &n_slots))
            return false;
    }
    size_t *slot = calloc(n_slots, sizeof *slot);
    if (!slot)
        return false;
    free(known->slot);
    known->slot = slot;
    known->n_slots = n_slots;
    for (size_t row = 0; row < known->n; row++)
        known->slot[find_slot(known, row_genome(known, row))] = row + 1;
    return true;
}

int sf_known_reserve(sf_known *known, size_t n_more)
{
    size_t needed;
    if (__builtin_add_overflow(known->n, n_more, &needed))
        return SF_ENOMEM;
    if (needed <= known->capacity)
        return SF_OK;
    size_t capacity = known->capacity > needed / 2 ? 2 * known->capacity : needed;
    if (!grow_columns(known, capacity) || !grow_slots(known, capacity))
        return SF_ENOMEM; /* longer columns than `capacity` says do no harm */
    known->capacity = capacity;
    return SF_OK;
}

size_t sf_known_find(const sf_known *known, const uint8_t *genome)
{
    size_t at = find_slot(known, genome);
    return known->slot[at] ? known->slot[at] - 1 : SIZE_MAX;
}

void sf_known_ask(sf_known *known, size_t row, const sf_place *place)
{
    if (sf_place_less(place, &known->first[row])) {
        known->first[row] = *place;
        known->changed[row] = 1;
    }
}

int sf_known_add(sf_known *known, const uint8_t *genome, const sf_place *place, size_t *row, bool *is_new)
{
    size_t at = find_slot(known, genome);
    if (known->slot[at]) {
        *row = known->slot[at] - 1;
        *is_new = false;
        sf_known_ask(known, *row, place);
        return SF_OK;
    }
    if (known->n == known->capacity) {
        int code = sf_known_reserve(known, 1);
        if (code)
            return code;
        at = find_slot(known, genome);
    }
    size_t new_row = known->n++;
    known->slot[at] = new_row + 1;
    memcpy(known->genome + new_row * (size_t)known->length, genome, (size_t)known->length);
    memset(known->histogram + new_row * (size_t)known->n_scores, 0, (size_t)known->n_scores * sizeof *known->histogram);
    known->fitness[new_row] = 0;
    known->best_score[new_row] = 0;
    known->exact[new_row] = 1;
    known->first[new_row] = *place;
    known->changed[new_row] = 1;
    *row = new_row;
    *is_new = true;
    return SF_OK;
}

void sf_known_fill(sf_known *known, size_t row, const uint64_t *histogram, int min_score)
{
    int32_t fitness = 0, best = min_score;
    uint8_t exact = 1;
    for (int i = 0; i < known->n_scores; i++) {
        if (histogram[i] == SF_COUNT_UNKNOWN) {
            exact = 0;
        } else if (histogram[i] != 0) {
            fitness++;
            best = min_score + i;
        }
    }
    memmove(known->histogram + row * (size_t)known->n_scores, histogram,
            (size_t)known->n_scores * sizeof *known->histogram);
    known->fitness[row] = fitness;
    known->best_score[row] = best;
    known->exact[row] = exact;
}

void sf_known_clear(sf_known *known)
{
    memset(known->slot, 0, known->n_slots * sizeof *known->slot);
    known->n = 0;
}

static int by_genome(const void *left, const void *right, void *context)
{
    const sf_known *known = context;
    return memcmp(row_genome(known, *(const size_t *)left), row_genome(known, *(const size_t *)right),
                  (size_t)known->length);
}

void sf_known_sort(const sf_known *known, size_t *order)
{
    for (size_t row = 0; row < known->n; row++)
        order[row] = row;
    if (known->n)
        qsort_r(order, known->n, sizeof *order, by_genome, (void *)(uintptr_t)known);
}

void sf_known_clear_changed(sf_known *known)
{
    if (known->n)
        memset(known->changed, 0, known->n);
}

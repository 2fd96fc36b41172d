/* Known genomes: canonical genome -> histogram and where it was first asked for. It is the cache of a rank, and merged
 * over the ranks it is the run file's /sequences. Rows stay where they are once added; order is order of addition,
 * which no result depends on: sf_known_sort gives the canonical one. */
#ifndef SF_CORE_SEARCH_KNOWN_H
#define SF_CORE_SEARCH_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"

/* Where a genome was asked for. "First" is the least in this order of members. */
typedef struct sf_place {
    int32_t trial;
    int64_t generation;
    int32_t island; /* within the trial */
    int32_t individual;
} sf_place;

bool sf_place_less(const sf_place *a, const sf_place *b);

typedef struct sf_known {
    int length, n_scores;
    size_t n, capacity;
    uint8_t *genome;     /* [n][length], canonical */
    uint64_t *histogram; /* [n][n_scores] */
    int32_t *fitness;    /* [n] */
    int32_t *best_score; /* [n] */
    uint8_t *exact;      /* [n] 0 or 1 */
    sf_place *first;     /* [n] */
    uint8_t *changed;    /* [n] 1: new, or first seen earlier, since the last sf_known_clear_changed */
    size_t *slot;        /* open addressing, n_slots a power of two; row + 1, or 0 */
    size_t n_slots;
} sf_known;

/* An empty store; free may always be called, also after a failure. */
int sf_known_init(sf_known *known, int length, int n_scores);
void sf_known_free(sf_known *known);

/* Row of a canonical genome, or SIZE_MAX. */
size_t sf_known_find(const sf_known *known, const uint8_t *genome);

/* Makes room for n_more rows, so that as many sf_known_add cannot fail. SF_ENOMEM leaves the store as it was. */
int sf_known_reserve(sf_known *known, size_t n_more);

/* Adds the genome, or finds it, and keeps the lesser place. A new row has an all-zero histogram, to be filled by the
 * caller (sf_known_fill) before anyone else reads it. SF_ENOMEM leaves the store as it was. */
int sf_known_add(sf_known *known, const uint8_t *genome, const sf_place *place, size_t *row, bool *is_new);

/* What sf_known_add does with a row that is known: keeps the lesser place. */
void sf_known_ask(sf_known *known, size_t row, const sf_place *place);

/* Copies a histogram[n_scores], whose entry 0 is score min_score, into the row with what follows from it: fitness =
 * number of distinct scores (entries neither 0 nor SF_COUNT_UNKNOWN), best_score = the highest of them (min_score when
 * there is none), exact = no entry is SF_COUNT_UNKNOWN. */
void sf_known_fill(sf_known *known, size_t row, const uint64_t *histogram, int min_score);

/* Forgets all rows, keeps the memory. */
void sf_known_clear(sf_known *known);

/* order[n]: the rows sorted by genome. Owned by the caller (n entries). */
void sf_known_sort(const sf_known *known, size_t *order);

void sf_known_clear_changed(sf_known *known);

#endif

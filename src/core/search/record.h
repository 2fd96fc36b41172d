/* The record of a search: everything that is known of it up to a generation, in one place (rank 0), whoever computed it.
 * It is what the run file and the checkpoint hold and what a resumed run starts from; nothing in it depends on layout.
 *
 * Ranks send what their islands did since the last time as *packets* (a run of bytes); the record takes them in any
 * order. */
#ifndef SF_CORE_SEARCH_RECORD_H
#define SF_CORE_SEARCH_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "core/search/config.h"
#include "core/search/known.h"
#include "starfold/error.h"

/* One generation of one island. */
typedef struct sf_generation_stats {
    int32_t best, worst; /* fitness */
    int64_t sum;         /* of the fitness; mean = sum / population */
    int32_t n_at_best;   /* individuals at the island's best of this generation */
    int32_t n_distinct;  /* distinct puzzles (canonical genomes) */
} sf_generation_stats;

enum sf_migrant_fate { SF_MIGRANT_IN_FLIGHT = 0, SF_MIGRANT_TAKEN = 1, SF_MIGRANT_REFUSED = 2 };

typedef struct sf_migrant {
    int32_t trial, from, to; /* islands within the trial */
    int32_t index;           /* of the message's migrants, from 0 */
    int64_t sent, taken;     /* generations; taken is where it is (to be) taken in */
    int32_t fate;            /* enum sf_migrant_fate */
} sf_migrant;

typedef struct sf_record {
    sf_search_config config;
    int length, n_scores;
    int64_t generation;           /* the last one that is complete on every island; -1: none */
    sf_generation_stats *stats;   /* [trials][config.generations + 1][islands] */
    uint8_t *population;          /* [trials][islands][population][length], of `generation` */
    uint8_t *populations;         /* [trials][generations + 1][islands][population][length]; NULL unless kept */
    sf_known known;
    size_t n_migrants, migrant_capacity;
    sf_migrant *migrant;          /* in order of arrival; sf_record_sort gives (trial, sent, from, index) */
    uint8_t *migrant_genome;      /* [n_migrants][length] */
} sf_record;

int sf_record_init(sf_record *record, const sf_search_config *config, int length, int n_scores, sf_error *err);
void sf_record_free(sf_record *record);

/* Takes a packet in. SF_EFORMAT when it is not one (nothing is changed then). */
int sf_record_take(sf_record *record, size_t n_bytes, const uint8_t *packet, sf_error *err);

/* Sorts the migration log into its canonical order. */
void sf_record_sort(sf_record *record);

/* The highest fitness in the known store, 0 when empty: "the best possible known". */
int32_t sf_record_best_fitness(const sf_record *record);

#endif

/* The record of a search: everything that is known of it up to a generation, in one place (rank 0), whoever computed
 * it. It is what the run file and the checkpoint hold and what a resumed run starts from; nothing in it depends on
 * layout.
 *
 * Ranks send what their islands did since the last time as *packets* (a run of bytes). The record takes those of
 * different ranks in any order, those of one island in their own. A reader of files fills the members of an initialised
 * record directly; the private ones follow by themselves. */
#ifndef SF_CORE_SEARCH_RECORD_H
#define SF_CORE_SEARCH_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "core/search/config.h"
#include "core/search/known.h"
#include "starfold/error.h"

/* One generation of one island, after its migrants were taken in. */
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
    int64_t generation;         /* the last one that is complete on every island; -1: none */
    sf_generation_stats *stats; /* [trials][config.generations + 1][islands] */
    uint8_t *population;        /* [trials][islands][population][length], of `generation` */
    uint8_t *populations;       /* [trials][generations + 1][islands][population][length]; NULL unless kept */
    sf_known known;
    size_t n_migrants, migrant_capacity;
    sf_migrant *migrant;     /* in order of arrival; sf_record_sort gives (trial, sent, from, index) */
    uint8_t *migrant_genome; /* [n_migrants][length] */

    int64_t *arrived;     /* private: [trials * islands] generations that came of this island; zeros take no memory */
    size_t *migrant_slot; /* private: index of the log by its key, built when needed */
    size_t n_migrant_slots, n_migrants_indexed;
} sf_record;

/* An empty record, at generation -1. SF_ENOMEM with the size when it does not fit. Free may be called after a failure
 * too. */
int sf_record_init(sf_record *record, const sf_search_config *config, int length, int n_scores, sf_error *err);
void sf_record_free(sf_record *record);

/* Takes a packet in; taking one twice changes nothing. SF_EFORMAT when it is none, is of another search, or leaves out
 * generations of its islands; SF_ECHECK when it contradicts a histogram that is known; nothing is changed then. New
 * rows of `known` are at its end, and new or changed ones are marked in known.changed until sf_known_clear_changed. */
int sf_record_take(sf_record *record, size_t n_bytes, const uint8_t *packet, sf_error *err);

/* Packs what islands need to go on from the record's generation (>= 0): its last statistics, populations, known genomes
 * and migrants in flight. An initialised record whose `generation` was set to one less than this one's takes it in.
 * Caller frees. */
int sf_record_pack(const sf_record *record, size_t *n_bytes, uint8_t **packet, sf_error *err);

/* Enters a migrant, or, where its key (trial, sent, from, index) is in the log already, its fate when that is known. */
int sf_record_log_migrant(sf_record *record, const sf_migrant *migrant, const uint8_t *genome);

/* Makes room for n_more migrants, so that as many sf_record_log_migrant cannot fail. */
int sf_record_reserve_migrants(sf_record *record, size_t n_more);

/* Where (trial, island) of generation g is in `stats`, and, times population * length, in `populations`. */
size_t sf_record_stats_index(const sf_record *record, int32_t trial, int64_t generation, int32_t island);

/* Sorts the migration log into its canonical order, in place. */
void sf_record_sort(sf_record *record);

/* The highest fitness in the known store, 0 when empty: "the best possible known". */
int32_t sf_record_best_fitness(const sf_record *record);

#endif

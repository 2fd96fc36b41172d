/* The islands that one rank hosts, stepped through the generations together. Serial in itself (threads are inside the
 * evaluation); `dist` carries its messages between ranks and its packets to the record.
 *
 * Islands have a global number, trial * islands + island; a rank hosts a contiguous range of them. */
#ifndef SF_CORE_SEARCH_ARCHIPELAGO_H
#define SF_CORE_SEARCH_ARCHIPELAGO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/puzzle/puzzle.h"
#include "core/search/config.h"
#include "core/search/known.h"
#include "core/search/record.h"
#include "starfold/error.h"

typedef struct sf_archipelago sf_archipelago;

/* How unknown genomes get their histograms: [n][length] canonical, distinct; fill histograms[n][n_scores]. The default
 * (sf_archipelago_open with evaluate NULL) is sf_puzzle_evaluate on this rank's threads. One that is given is called
 * once in every step, also with n = 0 and on a rank without islands, so that it may be collective. */
typedef int (*sf_evaluate_fn)(void *context, size_t n, const uint8_t *genomes, uint64_t *histograms, sf_error *err);

typedef struct sf_archipelago_options {
    int64_t first_island, last_island; /* global numbers hosted here, half-open; may be empty */
    int n_threads;
    sf_evaluate_fn evaluate;
    void *context;
} sf_archipelago_options;

/* Opens the islands before generation 0 (record NULL, or of generation -1), or as they were after the record's
 * generation (populations, known genomes, migrants in flight). The puzzle and config must outlive it, the record need
 * not. SF_EFORMAT when the record holds genomes that are none or are not in its known store. */
int sf_archipelago_open(sf_archipelago **archipelago, const sf_puzzle *puzzle, const sf_search_config *config,
                        const sf_archipelago_options *options, const sf_record *record, sf_error *err);
void sf_archipelago_close(sf_archipelago *archipelago);

/* The last complete generation (after sf_archipelago_immigrate), -1 before the first. */
int64_t sf_archipelago_generation(const sf_archipelago *archipelago);

/* Breeds, evaluates and records the next generation of every hosted island. On failure (SF_ESTOPPED included) the
 * islands are as after the last complete generation. */
int sf_archipelago_step(sf_archipelago *archipelago, sf_error *err);

/* After a step that ended in a migration epoch: the message that hosted island `island` (global number) sends, its
 * destination (global) and size in bytes; the migrants were chosen before this generation's were taken in. Message
 * layout is the archipelago's own; size is the same for every island and generation (sf_archipelago_message_size).
 * Returns false when this generation sends none. Good until the next step. */
bool sf_archipelago_emigrants(const sf_archipelago *archipelago, int64_t island, int64_t *destination, size_t *n_bytes,
                              const uint8_t **message);

/* Bytes of a message, 0 when nothing migrates in this search. */
size_t sf_archipelago_message_size(const sf_archipelago *archipelago);

/* Where the messages of an island go, or come from; global numbers. */
int64_t sf_archipelago_destination(const sf_search_config *config, int64_t island);
int64_t sf_archipelago_source(const sf_search_config *config, int64_t island);

/* True when islands send messages at the end of this generation. */
bool sf_archipelago_sends_at(const sf_search_config *config, int64_t generation);

/* Before a step may be finished by sf_archipelago_immigrate, the messages it takes in: true when the present generation
 * takes one in for `island` that was not delivered yet, with the global number of its source and the generation it was
 * sent in. */
bool sf_archipelago_expects(const sf_archipelago *archipelago, int64_t island, int64_t *source, int64_t *sent);

/* Hands a message in (copied). It may arrive early. SF_ECHECK when it is not one for this island and generation. */
int sf_archipelago_deliver(sf_archipelago *archipelago, int64_t island, int64_t sent, size_t n_bytes,
                           const uint8_t *message, sf_error *err);

/* Takes the expected migrants of the present generation into the populations and completes its statistics. Call after
 * every step, once the expected messages were delivered. A failure leaves the generation incomplete. */
int sf_archipelago_immigrate(sf_archipelago *archipelago, sf_error *err);

/* Packs what is new since the last packet (statistics, known genomes new or seen earlier, migrants sent and taken, kept
 * populations), and the present populations, which a checkpoint and the final file need, when with_populations. The
 * packet belongs to the caller (free). */
int sf_archipelago_pack(sf_archipelago *archipelago, bool with_populations, size_t *n_bytes, uint8_t **packet,
                        sf_error *err);

/* Best fitness so far on this rank, and genomes evaluated here (physical), for progress reports. */
int32_t sf_archipelago_best(const sf_archipelago *archipelago);
uint64_t sf_archipelago_evaluated(const sf_archipelago *archipelago);

#endif

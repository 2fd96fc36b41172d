/* A whole search over the ranks: hosts islands, carries migrants (non-blocking), gathers packets to rank 0.
 *
 * It goes on in blocks of generations: within a block ranks are only tied by their migrants; between blocks all agree on
 * a status and on whether to stop, and rank 0 takes everything into the record and calls back. */
#ifndef SF_DIST_SEARCH_MPI_H
#define SF_DIST_SEARCH_MPI_H

#include <stdbool.h>
#include <stdint.h>

#include "core/puzzle/puzzle.h"
#include "core/search/record.h"
#include "dist/comm.h"
#include "starfold/error.h"

/* What rank 0 answers at the end of a block. */
typedef enum sf_search_wish { SF_SEARCH_GO_ON, SF_SEARCH_CHECKPOINT, SF_SEARCH_STOP } sf_search_wish;

typedef struct sf_search_hooks {
    void *context;
    /* Rank 0, after each block, the record up to date but for its populations; n_new is how many rows of record->known
     * are new at the end of it. The answer CHECKPOINT or STOP asks for `save` at this very generation. */
    int (*block)(void *context, const sf_record *record, uint64_t evaluated, sf_search_wish *wish, sf_error *err);
    /* Rank 0, with the populations of this generation in the record: write a checkpoint. */
    int (*save)(void *context, const sf_record *record, sf_error *err);
    /* Any rank, polled between generations and inside evaluation: not zero asks for a stop. May be NULL. */
    const volatile int *stop;
} sf_search_hooks;

typedef struct sf_search_options {
    int n_threads;
    bool save_first; /* call `save` before generation 1 */
    int64_t checkpoint_interval; /* generations between saves; 0: only when asked for by `block` */
} sf_search_options;

/* Runs to config.generations, or to a stop (SF_ESTOPPED on every rank, after `save`). On rank 0 the record is complete
 * afterwards, populations included, migration log sorted. `record` is rank 0's, initialised, at generation -1 or at the
 * one to go on from; other ranks pass NULL. Collective; every rank returns the same code, and the line of the failing
 * rank. */
int sf_search_run(const sf_comm *comm, const sf_puzzle *puzzle, const sf_search_config *config,
                  const sf_search_options *options, sf_record *record, const sf_search_hooks *hooks, sf_error *err);

#endif

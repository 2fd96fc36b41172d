/* A whole search over the ranks: hosts islands, carries migrants (non-blocking), gathers packets to rank 0.
 *
 * It goes on in blocks of generations: within a block ranks are only tied by their migrants; between blocks all agree
 * on a status and on whether to stop, and rank 0 takes everything into the record, populations included, and calls
 * back. So the record is always that of the end of a block. A block takes about half a second, or one generation where
 * that takes longer; when an evaluation is stopped on the way, the block is given up on all ranks and the record as it
 * is is saved. */
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
    /* Rank 0, after each block, the record up to date. record->known.changed marks the rows that are new, or first seen
     * earlier, since the last call; new ones are at the end. The migration log is in order of arrival, and a fate may
     * still change. `evaluated` counts the genomes evaluated on all ranks since the start of this call of
     * sf_search_run. The answer CHECKPOINT or STOP asks for `save` at this very generation. */
    int (*block)(void *context, const sf_record *record, uint64_t evaluated, sf_search_wish *wish, sf_error *err);
    /* Rank 0: write a checkpoint. The record may be of generation -1, when the very first one was stopped. */
    int (*save)(void *context, const sf_record *record, sf_error *err);
    /* Any rank, polled between generations and inside evaluation: not zero asks for a stop. May be NULL. */
    const volatile int *stop;
    /* Any rank, may be NULL: this rank failed, and others have not heard of it for some seconds because they are inside
     * a long evaluation. Shows the line and ends the job; does not return. */
    void (*fatal)(void *context, const sf_error *err);
} sf_search_hooks;

typedef struct sf_search_options { /* rank 0's count, but for n_threads */
    int n_threads;
    bool save_first;             /* call `save` before generation 1 */
    int64_t checkpoint_interval; /* generations between saves; 0: only when asked for by `block` */
    int64_t block_generations;   /* at most so many a block; 0: as many as take half a second */
    bool share_evaluation; /* generations in step, unknown genomes dealt out over all ranks (where counting is dear) */
} sf_search_options;

/* Runs to config.generations, or to a stop (SF_ESTOPPED on every rank, after `save`; not when the last generation is
 * complete). On rank 0 the record is complete afterwards, populations included, migration log sorted. `record` is rank
 * 0's, initialised, at generation -1 or at the one to go on from; other ranks pass NULL. Collective; every rank returns
 * the same code, and the line of the failing rank. */
int sf_search_run(const sf_comm *comm, const sf_puzzle *puzzle, const sf_search_config *config,
                  const sf_search_options *options, sf_record *record, const sf_search_hooks *hooks, sf_error *err);

#endif

/* Evaluation shared by all ranks: where counting a genome is dear, more ranks than islands help only if they all count.
 *
 * In every generation the unknown genomes of all ranks are brought together, each once, planned as one batch, and the
 * parts of the plan dealt out as ranks come free; the partial counts add up to the same histograms that a rank alone
 * would have found, so no result depends on who counted what. Every rank learns all of them. */
#ifndef SF_DIST_SHARED_EVALUATION_MPI_H
#define SF_DIST_SHARED_EVALUATION_MPI_H

#include <stdbool.h>
#include <stdint.h>

#include "core/puzzle/puzzle.h"
#include "core/search/known.h"
#include "dist/comm.h"

typedef struct sf_shared_evaluation sf_shared_evaluation;

/* Collective; every rank returns the same code. `known` (the same on all ranks, or NULL) is copied: these genomes are
 * not counted again. A rank that polls *stop (may be NULL) not zero ends the evaluation on all ranks with SF_ESTOPPED.
 */
int sf_shared_evaluation_open(sf_shared_evaluation **shared, const sf_comm *comm, const sf_puzzle *puzzle,
                              int n_threads, const volatile int *stop, const sf_known *known, sf_error *err);
void sf_shared_evaluation_close(sf_shared_evaluation *shared); /* collective; NULL is allowed */

/* Announces n_calls of sf_shared_evaluation_run on every rank. */
void sf_shared_evaluation_expect(sf_shared_evaluation *shared, int64_t n_calls);

/* An sf_evaluate_fn, the context being an sf_shared_evaluation. Collective; every rank returns the same code. */
int sf_shared_evaluation_run(void *context, size_t n, const uint8_t *genomes, uint64_t *histograms, sf_error *err);

/* A rank that cannot go on to the calls it announced says so: takes part in the next one, so that it fails on all ranks
 * and none waits for ever. Nothing is done when no call is left, or when one failed already. */
void sf_shared_evaluation_leave(sf_shared_evaluation *shared, int code, const sf_error *err);

/* Genomes counted so far, by all ranks together. */
uint64_t sf_shared_evaluation_count(const sf_shared_evaluation *shared);

#endif

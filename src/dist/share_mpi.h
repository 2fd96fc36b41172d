/* One batch of sequences over all ranks and threads: parts of the engine's plan are dealt out, partials are added. */
#ifndef SF_DIST_SHARE_MPI_H
#define SF_DIST_SHARE_MPI_H

#include <stddef.h>
#include <stdint.h>

#include "dist/comm.h"
#include "starfold/engine.h"
#include "starfold/error.h"

/* Told now and then, on the calling thread, how many of this rank's parts are done. */
typedef void (*sf_share_progress)(void *context, size_t n_done, size_t n_parts);

/* histograms[n][n_scores] are overwritten with the answers, on every rank, the same for any ranks and threads. Every
 * rank passes the same sequences and an engine opened with the same problem and options. `progress` may be NULL.
 * Collective; every rank returns the same code. */
int sf_share_histograms(const sf_comm *comm, const sf_engine *engine, int n_scores, size_t n, const uint8_t *sequences,
                        int n_threads, uint64_t *histograms, sf_share_progress progress, void *context, sf_error *err);

#endif

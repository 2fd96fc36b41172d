/* One batch of sequences over all ranks and threads: parts of the engine's plan are dealt out (deal_mpi.h), and what is
 * counted comes together on rank 0 while the work goes on, so that it can be saved at any time without a meeting. */
#ifndef SF_DIST_SHARE_MPI_H
#define SF_DIST_SHARE_MPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dist/deal_mpi.h"
#include "starfold/engine.h"
#include "starfold/error.h"

/* What is counted so far. */
typedef struct sf_tally {
    sf_plan plan;
    int n_scores;
    uint64_t *histograms; /* [n_sequences][n_scores]: sums of the counted parts; the caller's */
    uint8_t *done;        /* a bit for each part: counted; owned */
    size_t n_done;        /* how many */
} sf_tally;

/* Plans the batch: nothing is counted, histograms[n_sequences][n_scores] are cleared. Free it in any case. */
int sf_tally_init(sf_tally *tally, const sf_engine *engine, int n_scores, size_t n_sequences, const uint8_t *sequences,
                  uint64_t *histograms, sf_error *err);
void sf_tally_free(sf_tally *tally);

size_t sf_tally_done_bytes(const sf_tally *tally);     /* of `done` */
bool sf_tally_has(const sf_tally *tally, size_t part); /* is it counted? */

/* The share of the work that is done, 0 to 1: of the parts; or, where `conformations` (those of a sequence) is not 0, of the
 * conformations. So many workers are at it, and what each is at counts half. */
double sf_tally_share(const sf_tally *tally, uint64_t conformations, size_t n_workers);

/* Seconds to go when the share came from `before` to `now` in elapsed_s; below 0 where nothing can be said yet. */
double sf_share_left_s(double before, double now, double elapsed_s);

/* Looks `done` over, which was filled from a file: sets n_done. SF_EFORMAT when bits beyond the last
 * part are set. */
int sf_tally_recount(sf_tally *tally, sf_error *err);

/* Called on rank 0 by the calling thread, often; nothing is entered into the tally meanwhile. A code ends the work. */
typedef int sf_share_look(void *context, const sf_tally *tally, sf_error *err);

typedef struct sf_share_work {
    const sf_engine *engine;
    const uint8_t *sequences;
    int n_threads;
    const volatile int *stop; /* as in sf_deal_work */
    sf_share_look *look;      /* may be NULL */
    void *context;
} sf_share_work;

/* Counts what rank 0's tally does not say is done; the other ranks' tallies are planned alike and otherwise ignored. On
 * success every rank has the answers in its histograms, the same for any ranks and threads, checked. Otherwise rank 0
 * has in its tally all that was counted. `code` is this rank's failure so far. Collective; every rank returns the same
 * code. */
int sf_share_run(sf_deal *deal, const sf_comm *comm, sf_tally *tally, const sf_share_work *work, int code,
                 sf_error *err);

/* All of it for a batch that begins and ends here: histograms[n][n_scores] are overwritten. Collective; every rank
 * returns the same code. */
int sf_share_histograms(const sf_comm *comm, const sf_engine *engine, int n_scores, size_t n, const uint8_t *sequences,
                        int n_threads, uint64_t *histograms, sf_share_look *look, void *context, sf_error *err);

#endif

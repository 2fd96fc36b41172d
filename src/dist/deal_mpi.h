/* The parts of a plan, dealt to ranks and threads as they come free; what `enumerate` and the search share.
 *
 * Every rank knows the same list of runs of parts, long ones first; a rank takes the next run by adding one to a
 * counter in rank 0's memory. Nobody is a master, and which rank counts what makes no difference, because partials add.
 */
#ifndef SF_DIST_DEAL_MPI_H
#define SF_DIST_DEAL_MPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engines/parts_omp.h"
#include "dist/comm.h"
#include "starfold/engine.h"
#include "starfold/error.h"

typedef struct sf_deal sf_deal;

/* Makes the counter. Collective; every rank returns the same code. */
int sf_deal_open(sf_deal **deal, const sf_comm *comm, sf_error *err);
void sf_deal_close(sf_deal *deal); /* collective; NULL is allowed */

/* What is dealt. The plan, its order and `done` are the same on all ranks. */
typedef struct sf_deal_work {
    const sf_plan *plan;
    const size_t *order; /* of the parts, hardest first; NULL: they are alike, and taken in the plan's order */
    int n_scores;
    int n_threads;             /* of this rank, >= 1 */
    const uint8_t *done;       /* a bit for each part that is not to be counted again; NULL: all are */
    const volatile int *stop;  /* not zero: give up with SF_ESTOPPED; may be NULL */
    sf_part_evaluate evaluate; /* counts a part */
    const void *context;       /* of evaluate */

    /* Gets a counted part; called by any thread, several at a time. A code ends the dealing. */
    int (*take)(void *taker, size_t part, size_t first, size_t count, const uint64_t *partial, sf_error *err);

    /* Where a part may be given back instead of being counted (aside.h), when a thread or rank has nothing left to do;
     * NULL: nowhere. Emptied by the caller. */
    struct sf_aside *aside;

    /* Where a part may make later ones needless (in `order`, which must then be there): then ranks take no further
     * parts, but count those they have taken. All NULL or 0: all are needed. Called as `between` is. */
    bool (*enough)(void *taker);   /* did one that this rank has counted? */
    uint64_t (*cost)(void *taker); /* of those this rank has counted; grows */
    uint64_t cost_limit;           /* past it, with the costs of all ranks, there is enough */

    /* Called by the thread that may call MPI, between parts and while it waits for other threads. A code ends the
     * dealing. May be NULL. */
    int (*between)(void *taker, sf_error *err);
    void *taker;
} sf_deal_work;

/* Counts until no part is left. `code` is this rank's failure so far, with its line in *err. Collective; returns only
 * this rank's own code but for a failure before the first part, which is agreed: SF_ECHECK where the ranks' plans
 * differ. When one rank fails or stops, the others end after the part they are at, with SF_ESTOPPED. */
int sf_deal_run(sf_deal *deal, const sf_deal_work *work, int code, sf_error *err);

#endif

/* One sequence by all ranks at once, where there are fewer sequences than ranks to keep busy. */
#ifndef SF_DIST_TOGETHER_MPI_H
#define SF_DIST_TOGETHER_MPI_H

#include <stdbool.h>

#include "dist/share_mpi.h"

/* True when the engine shares the work inside a part and there are too few parts to deal. The same on all ranks. */
bool sf_together_pays(const sf_comm *comm, const sf_tally *tally, const sf_engine *engine);

/* Gets a part that all have counted; on rank 0. */
typedef int sf_together_take(void *taker, size_t part, size_t first, size_t count, const uint64_t *partial,
                             sf_error *err);

/* Counts the parts that `done` does not have, one after the other, each by all ranks. The answers are those of one
 * rank. Collective; every rank returns the same code. */
int sf_together_run(const sf_comm *comm, const sf_tally *tally, const sf_share_work *work, const uint8_t *done,
                    sf_together_take *take, void *taker, sf_error *err);

#endif

/* One sequence by all ranks at once, where there are fewer sequences than ranks to keep busy. */
#ifndef SF_DIST_TOGETHER_MPI_H
#define SF_DIST_TOGETHER_MPI_H

#include <stdbool.h>

#include "dist/deal_mpi.h"

/* True when the engine shares the work inside a part and there are too few parts to deal. The same on all ranks. */
bool sf_together_pays(const sf_comm *comm, const sf_plan *plan, const sf_engine *engine);

/* Counts parts one after the other, each by all ranks and threads: those that any rank has in `aside`, going on from
 * what was done of them; aside NULL: all that work->done does not have. They are taken on rank 0 alone, where
 * work->between follows each. The answers are those of one rank. Collective; every rank returns the same code. */
int sf_together_run(sf_deal *deal, const sf_comm *comm, const sf_deal_work *work, const struct sf_aside *aside,
                    sf_error *err);

#endif

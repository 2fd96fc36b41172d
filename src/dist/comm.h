/* A communicator that also works without MPI: started without a launcher, MPI is never initialised and there is one
 * rank. */
#ifndef SF_DIST_COMM_H
#define SF_DIST_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"

typedef struct sf_comm {
    int rank, size;
    bool mpi; /* MPI is initialised, and finalised by sf_comm_close */
} sf_comm;

/* Initialises MPI (MPI_THREAD_FUNNELED) when a launcher's environment is seen. Collective. */
int sf_comm_open(sf_comm *comm, int *argc, char ***argv, sf_error *err);
void sf_comm_close(sf_comm *comm);

/* Ends all ranks at once with the exit status, after a fatal error on one rank. Does not return. */
_Noreturn void sf_comm_abort(const sf_comm *comm, int status);

/* Agrees on a status: 0 when every rank passes 0; otherwise the code and the line of the lowest failing rank, on every
 * rank, in *err (which also carries this rank's own failure in). The line begins with "rank N: " when there are several
 * ranks, unless it is of an input and rank 0 says it, who as a rule says what all would say. Collective. */
int sf_comm_agree(const sf_comm *comm, int code, sf_error *err);

/* Sum over the ranks of n counts or marks (as sf_count_add adds them), in place, on every rank. SF_EOVERFLOW when a sum
 * does not fit. Collective. */
int sf_comm_sum(const sf_comm *comm, size_t n, uint64_t *counts, sf_error *err);

/* Copies n bytes of rank 0 to all. Collective. */
int sf_comm_broadcast(const sf_comm *comm, size_t n_bytes, void *bytes, sf_error *err);

/* Rank r's n bytes go to all + r * room on rank 0, where sizes[r] is n; n <= room < 2^31. Ranks other than 0 may
 * pass NULL for sizes and all. Collective. */
void sf_comm_gather(const sf_comm *comm, size_t n, const void *bytes, size_t room, uint64_t *sizes, void *all);

void sf_comm_barrier(const sf_comm *comm);

#endif

/* Waiting for a request without burning a core: a rank that spins inside MPI_Wait takes the time slices of one that
 * computes when there are more ranks than cores. And a deadline, for the rank whose failure nobody listens to. */
#ifndef SF_DIST_WAIT_MPI_H
#define SF_DIST_WAIT_MPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dist/comm.h"

/* `expired` is called once, from inside a wait, when the time has passed; it is expected to end the job. */
typedef struct sf_deadline {
    double at_s; /* of sf_now_s; 0: never */
    void (*expired)(void *context);
    void *context;
} sf_deadline;

/* Waits until the request is complete; deadline and status may be NULL. */
void sf_wait(MPI_Request *request, MPI_Status *status, sf_deadline *deadline);

/* The same for much data, where every rank of the transfer is in it already: pieces go on only when both ends look, so
 * nobody sleeps; the core is only given away to who wants it. */
void sf_wait_transfer(MPI_Request *request);

/* Seconds of a clock that only goes forward; works without MPI. For lengths of blocks and waits, never for results. */
double sf_now_s(void);

/* sf_comm_agree with a deadline. */
int sf_comm_agree_until(const sf_comm *comm, int code, sf_deadline *deadline, sf_error *err);

/* The greatest of the ranks' values, on every rank. Collective. */
int64_t sf_comm_max(const sf_comm *comm, int64_t value);

#endif

/* Ranks, with or without MPI. Initialising MPI without a launcher costs half a second, so it is done only when one is
 * seen in the environment. Collectives are the non-blocking ones with a wait of our own (wait_mpi.h). Errors inside MPI
 * end the job through MPI's own handler: nothing can be saved then that the last checkpoint does not hold. */
#include "dist/comm.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dist/wait_mpi.h"
#include "starfold/problem.h"

enum { CHUNK_BYTES = 1 << 28, CHUNK_COUNTS = 1 << 16, SPINS = 2000, SLEEP_FIRST_NS = 20000, SLEEP_MOST_NS = 500000 };
enum { GATHER_TAG = 77 };

/* One of these is set by mpirun (Open MPI, MPICH and its relatives), srun --mpi=pmix or --mpi=pmi2. */
static bool launcher_seen(void)
{
    static const char *const names[] = {
        "OMPI_COMM_WORLD_SIZE", "PMIX_RANK",          "PMIX_NAMESPACE", "PMI_RANK", "PMI_SIZE", "PMI_FD",
        "MPI_LOCALNRANKS",      "MV2_COMM_WORLD_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (getenv(names[i]))
            return true;
    }
    return false;
}

/* srun without a PMI that MPI understands starts N copies that each believe to be alone, and all write one output. */
static int refuse_singletons(const sf_comm *comm, bool by_mpirun, sf_error *err)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    const long n = tasks ? strtol(tasks, NULL, 10) : 1;
    if (comm->size > 1 || by_mpirun || n <= 1)
        return SF_OK;
    return sf_fail(err, SF_EINPUT,
                   "srun started %ld copies that do not know of each other: use srun --mpi=pmix, or "
                   "mpirun inside the job",
                   n);
}

int sf_comm_open(sf_comm *comm, int *argc, char ***argv, sf_error *err)
{
    const bool by_mpirun = getenv("OMPI_COMM_WORLD_SIZE") != NULL; /* asked before MPI_Init, which may set it */
    *comm = (sf_comm){.rank = 0, .size = 1};
    if (!launcher_seen())
        return refuse_singletons(comm, false, err);
    int provided;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return sf_fail(err, SF_EMPI, "MPI could not be initialised");
    comm->mpi = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &comm->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm->size);
    if (provided < MPI_THREAD_FUNNELED)
        return sf_fail(err, SF_EMPI, "this MPI library allows no threads: MPI_THREAD_FUNNELED is needed");
    return refuse_singletons(comm, by_mpirun, err);
}

void sf_comm_close(sf_comm *comm)
{
    if (comm->mpi)
        MPI_Finalize();
    *comm = (sf_comm){.rank = 0, .size = 1};
}

void sf_comm_abort(const sf_comm *comm, int status)
{
    fflush(NULL);
    if (comm->mpi)
        MPI_Abort(MPI_COMM_WORLD, status);
    _Exit(status);
}

double sf_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void sf_wait(MPI_Request *request, MPI_Status *status, sf_deadline *deadline)
{
    int done = 0;
    long sleep_ns = SLEEP_FIRST_NS;
    for (int spin = 0;; spin++) {
        MPI_Test(request, &done, status ? status : MPI_STATUS_IGNORE);
        if (done)
            return;
        if (spin < SPINS)
            continue;
        if (deadline && deadline->at_s > 0 && sf_now_s() > deadline->at_s) {
            deadline->at_s = 0;
            deadline->expired(deadline->context);
        }
        nanosleep(&(struct timespec){.tv_nsec = sleep_ns}, NULL);
        sleep_ns = sleep_ns * 2 < SLEEP_MOST_NS ? sleep_ns * 2 : SLEEP_MOST_NS;
    }
}

void sf_wait_transfer(MPI_Request *request)
{
    int done = 0;
    while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        sched_yield();
}

int sf_comm_broadcast(const sf_comm *comm, size_t n_bytes, void *bytes, sf_error *err)
{
    (void)err;
    for (size_t at = 0; comm->size > 1 && at < n_bytes; at += CHUNK_BYTES) {
        const size_t n = n_bytes - at < CHUNK_BYTES ? n_bytes - at : CHUNK_BYTES;
        MPI_Request request;
        MPI_Ibcast((uint8_t *)bytes + at, (int)n, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
        sf_wait(&request, NULL, NULL);
    }
    return SF_OK;
}

/* Names the rank in its line, once: where it failed alone, or for want of something that ranks have one by one. */
static void name_rank(int rank, sf_error *said)
{
    if ((rank == 0 && sf_error_status(said->code) != 1) || said->code == SF_ESTOPPED ||
        strncmp(said->text, "rank ", 5) == 0)
        return;
    sf_error named;
    sf_fail(&named, said->code, "rank %d: %s", rank, said->text);
    *said = named;
}

int sf_comm_agree_until(const sf_comm *comm, int code, sf_deadline *deadline, sf_error *err)
{
    if (comm->size == 1)
        return code;
    /* the lowest failing rank speaks; a stop only where nobody failed */
    const int mine = code == SF_OK ? 2 * comm->size : comm->rank + (code == SF_ESTOPPED ? comm->size : 0);
    int speaker;
    MPI_Request request;
    MPI_Iallreduce(&mine, &speaker, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    sf_wait(&request, NULL, deadline);
    if (speaker == 2 * comm->size)
        return SF_OK;
    speaker %= comm->size;
    sf_error said = {.code = code};
    if (comm->rank == speaker && err && err->code == code)
        said = *err;
    else
        sf_fail(&said, code, "%s", sf_error_text(code));
    name_rank(speaker, &said);
    MPI_Ibcast(&said, sizeof said, MPI_BYTE, speaker, MPI_COMM_WORLD, &request);
    sf_wait(&request, NULL, NULL);
    if (err)
        *err = said;
    return said.code;
}

int sf_comm_agree(const sf_comm *comm, int code, sf_error *err)
{
    return sf_comm_agree_until(comm, code, NULL, err);
}

int64_t sf_comm_max(const sf_comm *comm, int64_t value)
{
    int64_t most = value;
    MPI_Request request;
    if (comm->size > 1) {
        MPI_Iallreduce(&value, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD, &request);
        sf_wait(&request, NULL, NULL);
    }
    return most;
}

/* A count on its way, with a mark that a sum before it did not fit: an operation of MPI cannot fail otherwise. */
typedef struct travelling {
    uint64_t count, overflowed;
} travelling;

static void add_travelling(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const travelling *from = in;
    travelling *into = inout;
    (void)type;
    for (int i = 0; i < *n; i++) {
        if (sf_count_add(&into[i].count, from[i].count))
            into[i].overflowed = 1;
        into[i].overflowed |= from[i].overflowed;
    }
}

static bool sum_chunk(size_t n, uint64_t *counts, travelling *chunk, MPI_Datatype type, MPI_Op operation)
{
    for (size_t i = 0; i < n; i++)
        chunk[i] = (travelling){counts[i], 0};
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, chunk, (int)n, type, operation, MPI_COMM_WORLD, &request);
    sf_wait(&request, NULL, NULL);
    bool fits = true;
    for (size_t i = 0; i < n; i++) {
        fits = fits && !chunk[i].overflowed;
        counts[i] = chunk[i].count;
    }
    return fits;
}

int sf_comm_sum(const sf_comm *comm, size_t n, uint64_t *counts, sf_error *err)
{
    if (comm->size == 1 || n == 0)
        return SF_OK;
    travelling *chunk = malloc((n < CHUNK_COUNTS ? n : CHUNK_COUNTS) * sizeof *chunk);
    int code = chunk ? SF_OK : sf_fail(err, SF_ENOMEM, "out of memory for adding %zu counts over the ranks", n);
    code = sf_comm_agree(comm, code, err);
    if (code)
        goto out;
    MPI_Datatype type;
    MPI_Op operation;
    MPI_Type_contiguous(2, MPI_UINT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_travelling, 1, &operation);
    bool fits = true;
    for (size_t at = 0; at < n; at += CHUNK_COUNTS)
        fits = sum_chunk(n - at < CHUNK_COUNTS ? n - at : CHUNK_COUNTS, counts + at, chunk, type, operation) && fits;
    MPI_Op_free(&operation);
    MPI_Type_free(&type);
    if (!fits)
        code = sf_fail(err, SF_EOVERFLOW, "a count over all ranks does not fit 64 bits");
out:
    free(chunk);
    return code;
}

void sf_comm_gather(const sf_comm *comm, size_t n, const void *bytes, size_t room, uint64_t *sizes, void *all)
{
    const uint64_t mine = n;
    MPI_Request request;
    if (comm->size == 1) {
        sizes[0] = n;
        memcpy(all, bytes, n);
        return;
    }
    MPI_Igather(&mine, 1, MPI_UINT64_T, sizes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
    sf_wait(&request, NULL, NULL);
    if (comm->rank != 0) {
        MPI_Isend(bytes, (int)n, MPI_BYTE, 0, GATHER_TAG, MPI_COMM_WORLD, &request);
        sf_wait(&request, NULL, NULL);
        return;
    }
    memcpy(all, bytes, n);
    for (int r = 1; r < comm->size; r++) {
        MPI_Irecv((uint8_t *)all + (size_t)r * room, (int)sizes[r], MPI_BYTE, r, GATHER_TAG, MPI_COMM_WORLD, &request);
        sf_wait(&request, NULL, NULL);
    }
}

void sf_comm_barrier(const sf_comm *comm)
{
    MPI_Request request;
    if (comm->size == 1)
        return;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    sf_wait(&request, NULL, NULL);
}

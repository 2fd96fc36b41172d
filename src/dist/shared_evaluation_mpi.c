/* A generation's unknown genomes, gathered, made distinct, planned, dealt out and summed.
 *
 * The obvious dealer is a master rank that hands out parts; it idles, or, when it counts too, lets the others wait.
 * Here the plan is cut into the same runs of parts on every rank, large ones first (guided self-scheduling;
 * Polychronopoulos and Kuck, 1987), and a rank takes the next run by adding one to a counter in rank 0's memory,
 * one-sided. Where the MPI cannot make such a counter (Open MPI between some kinds of nodes), runs are dealt in turn. */
#include "dist/shared_evaluation_mpi.h"

#include <inttypes.h>
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/engines/parts_omp.h"
#include "dist/wait_mpi.h"

#define NO_MORE (INT64_C(1) << 40) /* added to the counter to end the dealing */

static const double LOOK_S = 0.05;

struct sf_shared_evaluation {
    const sf_comm *comm;
    const sf_puzzle *puzzle;
    int n_threads;
    size_t least_parts; /* of a run: the most threads a rank has */
    const volatile int *stop;
    sf_known seen;    /* everything counted so far; the same on every rank */
    sf_known batch;   /* of this call: distinct, in order of arrival */
    MPI_Win window;   /* rank 0's counter; MPI_WIN_NULL alone, and where runs are dealt in turn */
    int64_t *counter; /* the window's memory there; alone: an int64_t of our own */
    int64_t alone;
    double look_s;       /* when the counter is to be looked at next */
    uint64_t *n_genomes; /* [size] */
    int *n_bytes, *at;   /* [size] */
    int64_t calls_left;
    bool failed;
    uint64_t n_counted;
};

/* ---- opening ---- */

static int copy_known(sf_known *into, const sf_known *from)
{
    int code = sf_known_reserve(into, from->n);
    for (size_t i = 0; i < from->n && !code; i++) {
        size_t row;
        bool is_new;
        code = sf_known_add(into, from->genome + i * (size_t)from->length, &from->first[i], &row, &is_new);
        if (!code)
            sf_known_fill(into, row, from->histogram + i * (size_t)from->n_scores, 0);
    }
    return code;
}

static int take_memory(sf_shared_evaluation *s, const sf_known *known)
{
    const size_t size = (size_t)s->comm->size;
    s->n_genomes = calloc(size, sizeof *s->n_genomes);
    s->n_bytes = calloc(size, sizeof *s->n_bytes);
    s->at = calloc(size, sizeof *s->at);
    if (!s->n_genomes || !s->n_bytes || !s->at || sf_known_init(&s->seen, s->puzzle->length, s->puzzle->n_scores) ||
        sf_known_init(&s->batch, s->puzzle->length, s->puzzle->n_scores))
        return SF_ENOMEM;
    return known ? copy_known(&s->seen, known) : SF_OK;
}

/* Makes the counter, on every rank or on none. Collective. */
static void open_counter(sf_shared_evaluation *s)
{
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* the default one would end the job */
    int failed = MPI_Win_allocate(s->comm->rank == 0 ? sizeof *s->counter : 0, sizeof *s->counter, MPI_INFO_NULL,
                                  MPI_COMM_WORLD, &s->counter, &s->window) != MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    if (sf_comm_max(s->comm, failed)) { /* freeing is collective, so what some ranks may have stays */
        s->window = MPI_WIN_NULL;
        s->counter = &s->alone;
        return;
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, s->window);
}

int sf_shared_evaluation_open(sf_shared_evaluation **shared, const sf_comm *comm, const sf_puzzle *puzzle,
                              int n_threads, const volatile int *stop, const sf_known *known, sf_error *err)
{
    sf_shared_evaluation *s = calloc(1, sizeof *s);
    int code = SF_ENOMEM;
    if (s) {
        s->comm = comm;
        s->puzzle = puzzle;
        s->n_threads = n_threads;
        s->stop = stop;
        s->window = MPI_WIN_NULL;
        s->counter = &s->alone;
        code = take_memory(s, known);
    }
    if (code)
        sf_fail(err, code, "out of memory for sharing evaluations over the ranks");
    code = sf_comm_agree(comm, code, err);
    if (code) {
        sf_shared_evaluation_close(s);
        *shared = NULL;
        return code;
    }
    s->least_parts = (size_t)sf_comm_max(comm, n_threads);
    if (comm->size > 1)
        open_counter(s);
    *shared = s;
    return SF_OK;
}

void sf_shared_evaluation_close(sf_shared_evaluation *shared)
{
    if (!shared)
        return;
    if (shared->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(shared->window);
        MPI_Win_free(&shared->window);
    }
    sf_known_free(&shared->seen);
    sf_known_free(&shared->batch);
    free(shared->n_genomes);
    free(shared->n_bytes);
    free(shared->at);
    free(shared);
}

void sf_shared_evaluation_expect(sf_shared_evaluation *shared, int64_t n_calls)
{
    shared->calls_left = n_calls;
}

uint64_t sf_shared_evaluation_count(const sf_shared_evaluation *shared)
{
    return shared->n_counted;
}

/* ---- the counter ---- */

/* Adds to the counter and returns what it was; replaces it when `operation` is MPI_REPLACE. */
static int64_t update_counter(sf_shared_evaluation *s, MPI_Op operation, int64_t value)
{
    int64_t before = 0;
    if (s->window == MPI_WIN_NULL) {
        before = *s->counter;
        *s->counter = operation == MPI_REPLACE ? value : before + value;
        return before;
    }
    MPI_Fetch_and_op(&value, &before, MPI_INT64_T, 0, 0, operation, s->window);
    MPI_Win_flush(0, s->window);
    return before;
}

/* ---- bringing the genomes together ---- */

/* The ranks' numbers of genomes, and with them whether one of them has failed. */
static bool exchange_counts(sf_shared_evaluation *s, uint64_t mine)
{
    s->n_genomes[0] = mine;
    if (s->comm->size > 1) {
        MPI_Request request;
        MPI_Iallgather(&mine, 1, MPI_UINT64_T, s->n_genomes, 1, MPI_UINT64_T, MPI_COMM_WORLD, &request);
        sf_wait(&request, NULL, NULL);
    }
    bool ok = true;
    for (int r = 0; r < s->comm->size; r++)
        ok = ok && s->n_genomes[r] != UINT64_MAX;
    return ok;
}

/* All ranks' genomes one after the other; NULL when there is no memory. Sizes were checked. */
static uint8_t *gather_genomes(sf_shared_evaluation *s, const sf_known *mine, size_t total, sf_error *err, int *code)
{
    const size_t length = (size_t)s->puzzle->length;
    uint8_t *all = malloc(total * length + 1);
    *code = all ? SF_OK : sf_fail(err, SF_ENOMEM, "out of memory for %zu genomes to be counted", total);
    *code = sf_comm_agree(s->comm, *code, err);
    if (*code || s->comm->size == 1) {
        if (!*code)
            memcpy(all, mine->genome, total * length);
        return all;
    }
    int at = 0;
    for (int r = 0; r < s->comm->size; r++) {
        s->at[r] = at;
        s->n_bytes[r] = (int)(s->n_genomes[r] * length);
        at += s->n_bytes[r];
    }
    MPI_Request request;
    MPI_Iallgatherv(mine->genome, s->n_bytes[s->comm->rank], MPI_BYTE, all, s->n_bytes, s->at, MPI_BYTE, MPI_COMM_WORLD,
                    &request);
    sf_wait(&request, NULL, NULL);
    return all;
}

/* Collects distinct genomes that are not in `seen` in `batch`. */
static int collect(sf_shared_evaluation *s, size_t n, const uint8_t *genomes)
{
    const size_t length = (size_t)s->puzzle->length;
    const sf_place nowhere = {0};
    int code = SF_OK;
    sf_known_clear(&s->batch);
    for (size_t i = 0; i < n && !code; i++) {
        size_t row;
        bool is_new;
        if (sf_known_find(&s->seen, genomes + i * length) == SIZE_MAX)
            code = sf_known_add(&s->batch, genomes + i * length, &nowhere, &row, &is_new);
    }
    return code;
}

/* ---- dealing ---- */

typedef struct job {
    sf_shared_evaluation *shared;
    const uint8_t *genomes; /* the batch in canonical order, the same for every layout */
    sf_plan plan;
} job;

/* Between parts, on the thread that may call MPI: lets it answer those who ask for the counter, and looks now and then
 * whether another rank has ended the dealing: a run of parts may take minutes. */
static bool dealing_ended(sf_shared_evaluation *s)
{
    int flag;
    if (s->window == MPI_WIN_NULL || omp_get_thread_num() != 0)
        return false;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (sf_now_s() < s->look_s)
        return false;
    s->look_s = sf_now_s() + LOOK_S;
    return update_counter(s, MPI_NO_OP, 0) >= NO_MORE;
}

static int evaluate_part(const void *context, const sf_plan *plan, size_t part, uint64_t *partial, sf_error *err)
{
    const job *j = context;
    sf_shared_evaluation *s = j->shared;
    if (dealing_ended(s))
        return sf_fail(err, SF_ESTOPPED, "stopped because another rank was");
    return s->puzzle->kind->evaluate(s->puzzle->instance, plan, j->genomes, part, partial, err);
}

/* Parts of the run that begins where `left` parts are left. */
static size_t run_length(const sf_shared_evaluation *s, size_t left)
{
    size_t n = left / (2 * (size_t)s->comm->size);
    n = n > s->least_parts ? n : s->least_parts;
    return n < left ? n : left;
}

/* Counts runs of parts until none is left, adding to histograms. The first run of every rank is its own number's. */
static int count_parts(job *j, uint64_t *histograms, sf_error *err)
{
    sf_shared_evaluation *s = j->shared;
    int64_t mine = s->comm->rank, run = 0;
    size_t left = j->plan.n_parts;
    int code = SF_OK;
    while (left > 0 && !code) {
        const size_t n = run_length(s, left), first = j->plan.n_parts - left;
        left -= n;
        if (run++ != mine)
            continue;
        code = sf_parts_run_some(&j->plan, first, first + n, s->puzzle->n_scores, s->n_threads, s->stop, evaluate_part,
                                 j, histograms, err);
        if (s->comm->size > 1 && s->window == MPI_WIN_NULL)
            mine += s->comm->size;
        else if (left > 0 || code)
            mine = update_counter(s, MPI_SUM, code ? NO_MORE : 1);
    }
    return code;
}

/* Counts the batch, in canonical order `genomes`, over all ranks. Collective, agreed. */
static int count_batch(sf_shared_evaluation *s, size_t n, const uint8_t *genomes, uint64_t *histograms, sf_error *err)
{
    job j = {.shared = s, .genomes = genomes};
    if (s->comm->rank == 0)
        update_counter(s, MPI_REPLACE, s->comm->size);
    int code = s->puzzle->kind->plan(s->puzzle->instance, n, genomes, &j.plan, err);
    code = sf_comm_agree(s->comm, code, err); /* and nobody asks for the counter before it is set */
    if (!code && sf_comm_max(s->comm, (int64_t)j.plan.n_parts) != -sf_comm_max(s->comm, -(int64_t)j.plan.n_parts))
        return sf_fail(err, SF_ECHECK, "the ranks would cut the work differently: their engines or threads differ");
    if (!code)
        code = sf_comm_agree(s->comm, count_parts(&j, histograms, err), err);
    if (!code)
        code = sf_comm_sum(s->comm, n * (size_t)s->puzzle->n_scores, histograms, err);
    for (size_t i = 0; !code && s->puzzle->kind->check && i < n; i++)
        code = s->puzzle->kind->check(s->puzzle->instance, histograms + i * (size_t)s->puzzle->n_scores, err);
    return code;
}

/* Counts what is in `batch` and enters it in `seen`. Collective, agreed. */
static int count_and_learn(sf_shared_evaluation *s, sf_error *err)
{
    const size_t n = s->batch.n, length = (size_t)s->puzzle->length, n_scores = (size_t)s->puzzle->n_scores;
    size_t *order = calloc(n + 1, sizeof *order);
    uint8_t *genomes = malloc(n * length + 1);
    uint64_t *histograms = calloc(n * n_scores + 1, sizeof *histograms);
    int code = SF_OK;
    if (!order || !genomes || !histograms || sf_known_reserve(&s->seen, n))
        code = sf_fail(err, SF_ENOMEM, "out of memory for %zu genomes to be counted", n);
    code = sf_comm_agree(s->comm, code, err);
    if (code)
        goto out;
    sf_known_sort(&s->batch, order);
    for (size_t i = 0; i < n; i++)
        memcpy(genomes + i * length, s->batch.genome + order[i] * length, length);
    code = count_batch(s, n, genomes, histograms, err);
    for (size_t i = 0; i < n && !code; i++) {
        const sf_place nowhere = {0};
        size_t row;
        bool is_new;
        code = sf_known_add(&s->seen, genomes + i * length, &nowhere, &row, &is_new); /* room was made */
        sf_known_fill(&s->seen, row, histograms + i * n_scores, s->puzzle->min_score);
    }
    if (!code)
        s->n_counted += n;
out:
    free(order);
    free(genomes);
    free(histograms);
    return code;
}

/* The whole of a call but for handing the histograms out. `code` is this rank's failure so far. */
static int run(sf_shared_evaluation *s, int code, sf_error *err)
{
    if (!exchange_counts(s, code ? UINT64_MAX : s->batch.n)) {
        code = sf_comm_agree(s->comm, code, err);
        return code;
    }
    uint64_t total = 0;
    for (int r = 0; r < s->comm->size; r++)
        total += s->n_genomes[r];
    if (total == 0)
        return SF_OK;
    if (total > (uint64_t)INT32_MAX / (uint64_t)s->puzzle->length)
        return sf_fail(err, SF_ELIMIT,
                       "%" PRIu64 " genomes to be counted in one generation are too many to share: lower "
                       "--population or --islands",
                       total);
    uint8_t *all = gather_genomes(s, &s->batch, (size_t)total, err, &code);
    if (!code && collect(s, (size_t)total, all))
        code = sf_fail(err, SF_ENOMEM, "out of memory for %" PRIu64 " genomes to be counted", total);
    free(all);
    code = sf_comm_agree(s->comm, code, err);
    return code ? code : count_and_learn(s, err);
}

int sf_shared_evaluation_run(void *context, size_t n, const uint8_t *genomes, uint64_t *histograms, sf_error *err)
{
    sf_shared_evaluation *s = context;
    const size_t length = (size_t)s->puzzle->length, n_scores = (size_t)s->puzzle->n_scores;
    int code = collect(s, n, genomes);
    if (code)
        sf_fail(err, code, "out of memory for %zu genomes to be counted", n);
    code = run(s, code, err);
    s->calls_left--;
    s->failed = code != SF_OK;
    for (size_t i = 0; i < n && !code; i++)
        memcpy(histograms + i * n_scores, s->seen.histogram + sf_known_find(&s->seen, genomes + i * length) * n_scores,
               n_scores * sizeof *histograms);
    return code;
}

void sf_shared_evaluation_leave(sf_shared_evaluation *shared, int code, const sf_error *err)
{
    if (shared->calls_left <= 0 || shared->failed)
        return;
    /* one that gives up because of another has no reason of its own: a stop gives way to the failure */
    sf_error why = {.code = SF_ESTOPPED};
    if (code && err)
        why = *err;
    else
        sf_fail(&why, code ? code : SF_ESTOPPED, "%s", sf_error_text(code ? code : SF_ESTOPPED));
    (void)run(shared, why.code, &why);
    shared->failed = true;
}

/* A generation's unknown genomes, gathered, made distinct, planned, dealt out (deal_mpi.h) and summed. */
#include "dist/shared_evaluation_mpi.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "core/engines/aside.h"
#include "dist/together_mpi.h"
#include "dist/wait_mpi.h"

struct sf_shared_evaluation {
    const sf_comm *comm;
    const sf_puzzle *puzzle;
    int n_threads;
    const volatile int *stop;
    sf_known seen;  /* everything counted so far; the same on every rank */
    sf_known batch; /* of this call: distinct, in order of arrival */
    sf_deal *deal;
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
        code = take_memory(s, known);
    }
    if (code)
        sf_fail(err, code, "out of memory for sharing evaluations over the ranks");
    code = sf_comm_agree(comm, code, err);
    if (!code)
        code = sf_deal_open(&s->deal, comm, err);
    if (code) {
        sf_shared_evaluation_close(s);
        s = NULL;
    }
    *shared = s;
    return code;
}

void sf_shared_evaluation_close(sf_shared_evaluation *shared)
{
    if (!shared)
        return;
    sf_deal_close(shared->deal);
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
    const sf_puzzle *puzzle;
    const uint8_t *genomes; /* the batch in canonical order, the same for every layout */
    uint64_t *histograms;   /* this rank's share of the counts */
    sf_plan plan;
} job;

static int evaluate_part(const void *context, const sf_plan *plan, size_t part, uint64_t *partial, sf_error *err)
{
    const job *j = context;
    return j->puzzle->kind->evaluate(j->puzzle->instance, plan, j->genomes, part, partial, err);
}

static int take_part(void *taker, size_t part, size_t first, size_t count, const uint64_t *partial, sf_error *err)
{
    const job *j = taker;
    const size_t n_scores = (size_t)j->puzzle->n_scores;
    int code;
    (void)part;
#pragma omp critical(sf_shared_evaluation)
    code = sf_counts_add(count * n_scores, j->histograms + first * n_scores, partial);
    return code ? sf_fail(err, code, "a histogram needs counts beyond 64 bits") : SF_OK;
}

/* Counts the batch, in canonical order `genomes`, over all ranks. Collective, agreed. */
static int count_batch(sf_shared_evaluation *s, size_t n, const uint8_t *genomes, uint64_t *histograms, sf_error *err)
{
    job j = {.puzzle = s->puzzle, .genomes = genomes, .histograms = histograms};
    size_t *order = NULL;
    sf_aside aside = {0};
    sf_deal_work work = {.plan = &j.plan,
                         .n_scores = s->puzzle->n_scores,
                         .n_threads = s->n_threads,
                         .stop = s->stop,
                         .evaluate = evaluate_part,
                         .context = &j,
                         .take = take_part,
                         .aside = &aside,
                         .taker = &j};
    int code;
    if (s->puzzle->partial) { /* each rank counts all of it on its shard */
        code = sf_puzzle_evaluate(s->puzzle, n, genomes, s->n_threads, histograms, err);
    } else {
        code = s->puzzle->kind->plan(s->puzzle->instance, n, genomes, &j.plan, err);
        if (!code && s->puzzle->kind->order)
            code = s->puzzle->kind->order(s->puzzle->instance, &j.plan, genomes, &order, err);
        work.order = order;
        code = sf_comm_agree(s->comm, sf_deal_run(s->deal, &work, code, err), err);
        if (!code)
            code = sf_together_run(s->deal, s->comm, &work, &aside, err);
        sf_aside_free(&aside);
        free(order);
    }
    code = sf_comm_agree(s->comm, code, err);
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

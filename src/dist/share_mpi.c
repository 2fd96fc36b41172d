/* The obvious way to save what several ranks have counted is to let them meet and add up; then all wait for the one
 * whose part takes longest. Here each rank sends its counted parts to rank 0 in passing, some bytes each, and rank 0
 * always knows which parts are done and what they sum to. */
#include "dist/share_mpi.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/engines/aside.h"
#include "dist/together_mpi.h"
#include "dist/wait_mpi.h"

enum { TAG_PARTS = 71, FLUSH_WORDS = 1 << 17, NAP_NS = 200000 };
static const double FLUSH_S = 0.05;

/* ---- the tally ---- */

int sf_tally_init(sf_tally *tally, const sf_engine *engine, int n_scores, size_t n_sequences, const uint8_t *sequences,
                  uint64_t *histograms, sf_error *err)
{
    *tally = (sf_tally){.n_scores = n_scores, .histograms = histograms};
    size_t n_counts;
    if (__builtin_mul_overflow(n_sequences, (size_t)n_scores * sizeof *histograms, &n_counts))
        return sf_fail(err, SF_ELIMIT, "%zu sequences are too many for one batch", n_sequences);
    int code = sf_engine_plan(engine, n_sequences, sequences, &tally->plan, err);
    if (code)
        return code;
    memset(histograms, 0, n_counts);
    tally->done = calloc(sf_tally_done_bytes(tally), 1);
    return tally->done ? SF_OK : sf_fail(err, SF_ENOMEM, "out of memory for a plan of %zu parts", tally->plan.n_parts);
}

void sf_tally_free(sf_tally *tally)
{
    free(tally->done);
    *tally = (sf_tally){0};
}

size_t sf_tally_done_bytes(const sf_tally *tally)
{
    return tally->plan.n_parts / 8 + 1;
}

bool sf_tally_has(const sf_tally *tally, size_t part)
{
    return tally->done[part / 8] >> part % 8 & 1;
}

double sf_tally_share(const sf_tally *tally, uint64_t conformations, size_t n_workers)
{
    const double n_parts = (double)tally->plan.n_parts, n_left = n_parts - (double)tally->n_done;
    const double n_busy = (double)n_workers < n_left ? (double)n_workers : n_left;
    double done = (double)tally->n_done / n_parts, whole = (double)conformations * (double)tally->plan.n_sequences;
    if (tally->n_done == tally->plan.n_parts)
        return 1;
    if (conformations > 0) {
        done = 0;
        for (size_t i = 0; i < tally->plan.n_sequences * (size_t)tally->n_scores; i++)
            done += (double)tally->histograms[i] / whole;
    }
    done += n_busy / 2 / n_parts;
    return done < 1 ? done : 1;
}

double sf_share_left_s(double before, double now, double elapsed_s)
{
    return now > before ? elapsed_s * (1 - now) / (now - before) : -1;
}

int sf_tally_recount(sf_tally *tally, sf_error *err)
{
    tally->n_done = 0;
    for (size_t part = tally->plan.n_parts; part < 8 * sf_tally_done_bytes(tally); part++) {
        if (sf_tally_has(tally, part))
            return sf_fail(err, SF_EFORMAT, "part %zu is said to be counted, but there are %zu", part + 1,
                           tally->plan.n_parts);
    }
    for (size_t part = 0; part < tally->plan.n_parts; part++)
        tally->n_done += sf_tally_has(tally, part);
    return SF_OK;
}

/* Enters a counted part. The caller has the critical section. */
static int enter(sf_tally *tally, size_t part, size_t first, size_t count, const uint64_t *partial, sf_error *err)
{
    const size_t n_scores = (size_t)tally->n_scores;
    if (sf_tally_has(tally, part))
        return sf_fail(err, SF_ECHECK, "part %zu was counted twice; this is an error of the program", part);
    int code = sf_counts_add(count * n_scores, tally->histograms + first * n_scores, partial);
    if (code)
        return sf_fail(err, code, "a count of conformations does not fit 64 bits");
    tally->done[part / 8] |= (uint8_t)(1 << part % 8);
    tally->n_done++;
    return SF_OK;
}

/* ---- parts on their way to rank 0 ---- */

/* A message: 1 in the last one of a rank, else 0; then for each part its number and its counts. */
typedef struct letters {
    uint64_t *word;
    size_t n, room;
} letters;

typedef struct sharing {
    const sf_comm *comm;
    sf_tally *tally;
    const sf_share_work *work;
    letters out;     /* guarded by the critical section sf_share */
    letters sending; /* of the first thread, as all below */
    MPI_Request request;
    double flush_s;
    letters in;
    int n_ended; /* ranks whose last message is here */
    bool blind;  /* looking has failed */
} sharing;

static int make_room(letters *l, size_t n_more, sf_error *err)
{
    if (l->room - l->n >= n_more)
        return SF_OK;
    const size_t room = 2 * (l->n + n_more);
    uint64_t *word = realloc(l->word, room * sizeof *word);
    if (!word)
        return sf_fail(err, SF_ENOMEM, "out of memory for counted parts");
    l->word = word;
    l->room = room;
    return SF_OK;
}

static int write_part(sharing *s, size_t part, size_t n_counts, const uint64_t *partial, sf_error *err)
{
    letters *out = &s->out;
    int code = make_room(out, n_counts + 2, err);
    if (code)
        return code;
    if (out->n == 0)
        out->word[out->n++] = 0;
    out->word[out->n++] = part;
    memcpy(out->word + out->n, partial, n_counts * sizeof *partial);
    out->n += n_counts;
    return SF_OK;
}

static int take_part(void *taker, size_t part, size_t first, size_t count, const uint64_t *partial, sf_error *err)
{
    sharing *s = taker;
    int code;
#pragma omp critical(sf_share)
    code = s->comm->rank == 0 ? enter(s->tally, part, first, count, partial, err)
                              : write_part(s, part, count * (size_t)s->tally->n_scores, partial, err);
    return code;
}

/* Sends what is written, once what was sent before has left. `last`: waits for that, and says that it is all. */
static void send_parts(sharing *s, bool last)
{
    int left = 1;
    size_t n;
    if (last && s->request != MPI_REQUEST_NULL)
        sf_wait(&s->request, NULL, NULL);
    else if (s->request != MPI_REQUEST_NULL)
        MPI_Test(&s->request, &left, MPI_STATUS_IGNORE);
    if (!left)
        return;
#pragma omp critical(sf_share)
    {
        const double now = sf_now_s();
        n = s->out.n;
        if (n > 0 && (last || n > FLUSH_WORDS || now > s->flush_s)) {
            const letters empty = {s->sending.word, 0, s->sending.room};
            s->sending = s->out;
            s->out = empty;
            s->flush_s = now + FLUSH_S;
        } else {
            n = 0;
        }
    }
    static uint64_t nothing_more = 1;
    if (last && n > 0)
        s->sending.word[0] = 1;
    if (n > 0)
        MPI_Isend(s->sending.word, (int)n, MPI_UINT64_T, 0, TAG_PARTS, MPI_COMM_WORLD, &s->request);
    else if (last)
        MPI_Isend(&nothing_more, 1, MPI_UINT64_T, 0, TAG_PARTS, MPI_COMM_WORLD, &s->request);
}

/* Enters the parts of a message of n words. */
static int read_parts(sharing *s, size_t n, sf_error *err)
{
    const uint64_t *word = s->in.word;
    int code = SF_OK;
    s->n_ended += word[0] == 1;
    for (size_t at = 1; at < n && !code;) {
        size_t first, count;
        const size_t part = word[at++];
        sf_plan_part(&s->tally->plan, part, &first, &count);
#pragma omp critical(sf_share)
        code = enter(s->tally, part, first, count, word + at, err);
        at += count * (size_t)s->tally->n_scores;
    }
    return code;
}

static int receive_parts(sharing *s, sf_error *err)
{
    for (;;) {
        int here, n;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_PARTS, MPI_COMM_WORLD, &here, &status);
        if (!here)
            return SF_OK;
        MPI_Get_count(&status, MPI_UINT64_T, &n);
        s->in.n = 0;
        int code = make_room(&s->in, (size_t)n, err);
        if (code)
            return code;
        MPI_Recv(s->in.word, n, MPI_UINT64_T, status.MPI_SOURCE, TAG_PARTS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        code = read_parts(s, (size_t)n, err);
        if (code)
            return code;
    }
}

static int between(void *taker, sf_error *err)
{
    sharing *s = taker;
    int code = SF_OK;
    if (s->comm->rank > 0) {
        send_parts(s, false);
        return SF_OK;
    }
    if (s->comm->size > 1)
        code = receive_parts(s, err);
    if (!code && s->work->look && !s->blind) {
#pragma omp critical(sf_share)
        code = s->work->look(s->work->context, s->tally, err);
        s->blind = code != SF_OK;
    }
    return code;
}

/* All parts that were counted, by whom ever, come to rank 0. */
static int settle(sharing *s, int code, sf_error *err)
{
    if (s->comm->rank > 0) {
        send_parts(s, true);
        sf_wait(&s->request, NULL, NULL);
    }
    while (s->comm->rank == 0 && s->n_ended < s->comm->size - 1) {
        sf_error later = {0};
        const int status = between(s, &later);
        if (status && !code) {
            code = status;
            if (err)
                *err = later;
        }
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return code;
}

/* ---- the whole ---- */

static int evaluate_part(const void *context, const sf_plan *plan, size_t part, uint64_t *partial, sf_error *err)
{
    const sf_share_work *work = context;
    return sf_engine_evaluate(work->engine, plan, work->sequences, part, partial, err);
}

static int check_all(const sf_tally *tally, const sf_engine *engine, sf_error *err)
{
    int code = SF_OK;
    for (size_t i = 0; !code && i < tally->plan.n_sequences; i++)
        code = sf_engine_check(engine, tally->histograms + i * (size_t)tally->n_scores, err);
    return code;
}

/* Which parts rank 0 has, for every rank. */
static int tell_done(const sf_comm *comm, const sf_tally *tally, uint8_t **done, sf_error *err)
{
    const int64_t n_parts = (int64_t)tally->plan.n_parts;
    if (sf_comm_max(comm, n_parts) != -sf_comm_max(comm, -n_parts))
        return sf_fail(err, SF_ECHECK, "the ranks would cut the work differently: their engines or threads differ");
    *done = malloc(sf_tally_done_bytes(tally));
    int code = *done ? SF_OK : sf_fail(err, SF_ENOMEM, "out of memory for a plan of %zu parts", tally->plan.n_parts);
    code = sf_comm_agree(comm, code, err);
    if (code)
        return code;
    memcpy(*done, tally->done, sf_tally_done_bytes(tally));
    return sf_comm_broadcast(comm, sf_tally_done_bytes(tally), *done, err);
}

/* Where ranks hold shards of a table, each counts every part on its own, all that a tally may have anew, and the counts
 * of all ranks are added. */
static int run_shards(const sf_comm *comm, sf_tally *tally, const sf_share_work *work, sf_error *err)
{
    const size_t n = tally->plan.n_sequences;
    int code = sf_engine_histograms(work->engine, n, work->sequences, tally->histograms, err);
    code = sf_comm_agree(comm, code, err);
    if (code) { /* what is there is not the whole of any part */
        memset(tally->histograms, 0, n * (size_t)tally->n_scores * sizeof *tally->histograms);
        memset(tally->done, 0, sf_tally_done_bytes(tally));
        tally->n_done = 0;
        return code;
    }
    code = sf_comm_sum(comm, n * (size_t)tally->n_scores, tally->histograms, err);
    for (size_t part = 0; part < tally->plan.n_parts; part++)
        tally->done[part / 8] |= (uint8_t)(1 << part % 8);
    tally->n_done = tally->plan.n_parts;
    return code ? code : check_all(tally, work->engine, err);
}

int sf_share_run(sf_deal *deal, const sf_comm *comm, sf_tally *tally, const sf_share_work *work, int code,
                 sf_error *err)
{
    sf_aside aside = {0};
    sharing s = {.comm = comm, .tally = tally, .work = work, .request = MPI_REQUEST_NULL};
    sf_deal_work dealt = {.plan = &tally->plan,
                          .n_scores = tally->n_scores,
                          .n_threads = work->n_threads,
                          .stop = work->stop,
                          .evaluate = evaluate_part,
                          .context = work,
                          .take = take_part,
                          .aside = &aside,
                          .between = between,
                          .taker = &s};
    uint8_t *done = NULL;
    size_t *order = NULL;
    code = sf_comm_agree(comm, code, err);
    if (!code && sf_engine_is_shard(work->engine))
        return run_shards(comm, tally, work, err);
    if (!code)
        code = tell_done(comm, tally, &done, err);
    if (code)
        goto out;
    dealt.done = done;
    if (sf_together_pays(comm, &tally->plan, work->engine)) {
        code = sf_together_run(deal, comm, &dealt, NULL, err);
    } else {
        code = sf_engine_order(work->engine, &tally->plan, work->sequences, &order, err);
        dealt.order = order;
        code = settle(&s, sf_deal_run(deal, &dealt, code, err), err);
        code = sf_comm_agree(comm, code, err);
        if (!code)
            code = sf_together_run(deal, comm, &dealt, &aside, err);
    }
    if (!code)
        code = sf_comm_broadcast(comm, tally->plan.n_sequences * (size_t)tally->n_scores * sizeof(uint64_t),
                                 tally->histograms, err);
    if (!code)
        code = check_all(tally, work->engine, err); /* the same counts everywhere, so the same answer */
out:
    sf_aside_free(&aside);
    free(order);
    free(done);
    free(s.out.word);
    free(s.sending.word);
    free(s.in.word);
    return code;
}

int sf_share_histograms(const sf_comm *comm, const sf_engine *engine, int n_scores, size_t n, const uint8_t *sequences,
                        int n_threads, uint64_t *histograms, sf_share_look *look, void *context, sf_error *err)
{
    const sf_share_work work = {
        .engine = engine, .sequences = sequences, .n_threads = n_threads, .look = look, .context = context};
    sf_tally tally;
    sf_deal *deal = NULL;
    int code = sf_tally_init(&tally, engine, n_scores, n, sequences, histograms, err);
    code = sf_comm_agree(comm, code, err);
    if (!code)
        code = sf_deal_open(&deal, comm, err);
    if (!code)
        code = sf_share_run(deal, comm, &tally, &work, code, err);
    sf_deal_close(deal);
    sf_tally_free(&tally);
    return code;
}

/* The search over ranks, block by block.
 *
 * The obvious way, a barrier and a gather after every generation, makes each of them as long as the slowest rank's.
 * Here ranks meet only at the end of a block. What must be the same on every rank (the length of the next block,
 * whether to stop) is decided by rank 0 there and sent to all, so that no rank can take another branch than the others.
 *
 * A stop that is seen between evaluations waits for the end of the block. One that ends an evaluation (SF_ESTOPPED)
 * gives the block up: ranks may be generations apart then, but the record and its populations are those of the block's
 * begin, and these are saved. No generation is ever taken back. */
#include "dist/search_mpi.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/search/archipelago.h"
#include "dist/exchange_mpi.h"
#include "dist/shared_evaluation_mpi.h"
#include "dist/wait_mpi.h"

enum { CHUNK_BYTES = 1 << 20, BLOCK_MAX = 100000 };
static const double block_s = 0.5, patience_s = 5.0;

typedef struct search {
    const sf_comm *comm;
    const sf_search_config *config;
    sf_search_options options;
    const sf_search_hooks *hooks;
    sf_record *record; /* rank 0 */
    sf_archipelago *archipelago;
    sf_exchange *exchange;
    sf_shared_evaluation *shared; /* NULL: every rank evaluates what it needs */
    uint8_t *chunk;               /* rank 0: where packets go that cannot be taken */
    int64_t generation;           /* the last one in the record, the same on all ranks */
    int64_t length;               /* of the next block */
    bool saved;                   /* rank 0: the record's generation was saved */
    sf_error failure;             /* this rank's, for the deadline */
} search;

/* What rank 0 sends to all at the end of a block. */
typedef struct decision {
    int64_t length;
    bool stop;
    int code;
    sf_error err;
} decision;

static bool stop_seen(const search *s)
{
    return s->hooks->stop && *s->hooks->stop;
}

/* ---- one block ---- */

static void report_fatal(void *context)
{
    search *s = context;
    s->hooks->fatal(s->hooks->context, &s->failure);
}

/* The generations after s->generation up to `target`. Returns this rank's own failure; a rank that gives up because
 * another one did returns SF_OK, and the agreement that follows tells it why. */
static int run_generations(search *s, int64_t target, bool *given_up, sf_error *err)
{
    int code = SF_OK;
    for (int64_t g = s->generation + 1; g <= target && !code && !*given_up; g++) {
        code = sf_archipelago_step(s->archipelago, err);
        if (!code)
            code = sf_exchange_send(s->exchange, g, err);
        if (!code)
            code = sf_exchange_receive(s->exchange, given_up, err);
        if (!code && !*given_up)
            code = sf_archipelago_immigrate(s->archipelago, err);
    }
    *given_up = *given_up || code;
    return code;
}

/* Runs a block and packs it; agreed. */
static int run_block(search *s, int64_t target, size_t *n_bytes, uint8_t **packet, sf_error *err)
{
    sf_deadline deadline = {.expired = report_fatal, .context = s};
    bool given_up = false;
    sf_exchange_begin(s->exchange, s->generation, target);
    if (s->shared)
        sf_shared_evaluation_expect(s->shared, target - s->generation);
    int code = run_generations(s, target, &given_up, err);
    if (code && code != SF_ESTOPPED && s->hooks->fatal) {
        s->failure.code = code;
        if (err)
            s->failure = *err;
        deadline.at_s = sf_now_s() + patience_s;
    }
    if (given_up) {
        sf_exchange_give_up(s->exchange);
        if (s->shared)
            sf_shared_evaluation_leave(s->shared, code, err);
    }
    sf_error late = {.code = SF_OK};
    int end = sf_exchange_end(s->exchange, &deadline, code ? &late : err);
    code = code ? code : end;
    if (!code && !given_up)
        code = sf_archipelago_pack(s->archipelago, true, n_bytes, packet, err);
    return sf_comm_agree_until(s->comm, code, &deadline, err);
}

/* ---- gathering at rank 0 ---- */

static void send_packet(size_t n_bytes, uint8_t *packet)
{
    for (size_t at = 0; at < n_bytes; at += CHUNK_BYTES) {
        const size_t n = n_bytes - at < CHUNK_BYTES ? n_bytes - at : CHUNK_BYTES;
        MPI_Request request;
        MPI_Isend(packet + at, (int)n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
        sf_wait(&request, NULL, NULL);
    }
}

/* Takes the packet of another rank in, or, after a failure, only receives it, so that its sender gets on. */
static int receive_packet(search *s, int rank, size_t n_bytes, int failed, sf_error *err)
{
    uint8_t *packet = failed ? NULL : malloc(n_bytes);
    int code = failed;
    if (!failed && !packet)
        code = sf_fail(err, SF_ENOMEM, "out of memory for %zu bytes of results of rank %d", n_bytes, rank);
    for (size_t at = 0; at < n_bytes; at += CHUNK_BYTES) {
        const size_t n = n_bytes - at < CHUNK_BYTES ? n_bytes - at : CHUNK_BYTES;
        MPI_Request request;
        MPI_Irecv(packet ? packet + at : s->chunk, (int)n, MPI_BYTE, rank, 0, MPI_COMM_WORLD, &request);
        sf_wait(&request, NULL, NULL);
    }
    if (!code)
        code = sf_record_take(s->record, n_bytes, packet, err);
    free(packet);
    return code;
}

/* Brings all packets into the record. Collective; rank 0's code counts, *evaluated is good there. */
static int gather_packets(search *s, size_t n_bytes, uint8_t *packet, uint64_t *evaluated, sf_error *err)
{
    const uint64_t counted = !s->shared           ? sf_archipelago_evaluated(s->archipelago)
                             : s->comm->rank == 0 ? sf_shared_evaluation_count(s->shared)
                                                  : 0;
    const uint64_t mine[2] = {n_bytes, counted};
    *evaluated = mine[1];
    if (s->comm->rank != 0) {
        MPI_Request request;
        MPI_Igather(mine, 2, MPI_UINT64_T, NULL, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
        sf_wait(&request, NULL, NULL);
        send_packet(n_bytes, packet);
        return SF_OK;
    }
    int code = sf_record_take(s->record, n_bytes, packet, err);
    if (s->comm->size == 1)
        return code;
    uint64_t(*all)[2] = (uint64_t(*)[2])(void *)(s->chunk + CHUNK_BYTES); /* [size] */
    MPI_Request request;
    MPI_Igather(mine, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
    sf_wait(&request, NULL, NULL);
    for (int rank = 1; rank < s->comm->size; rank++) {
        code = receive_packet(s, rank, (size_t)all[rank][0], code, err);
        *evaluated += all[rank][1];
    }
    return code;
}

/* ---- what happens between blocks ---- */

static int64_t next_length(const search *s, double elapsed_s)
{
    const double fitting = elapsed_s > 0 ? (double)s->length * block_s / elapsed_s : BLOCK_MAX;
    int64_t length = fitting < (double)(4 * s->length) ? (int64_t)fitting : 4 * s->length;
    if (s->options.block_generations > 0)
        length = s->options.block_generations;
    return length < 1 ? 1 : length > BLOCK_MAX ? BLOCK_MAX : length;
}

/* Where a block of the present length ends: not beyond the run, the next checkpoint and what the exchange holds; the
 * initial populations are a block of their own. */
static int64_t block_end(const search *s)
{
    int64_t end = s->generation < 0 ? 0 : s->generation + s->length;
    const int64_t interval = s->options.checkpoint_interval, limit = sf_exchange_limit(s->exchange, s->generation);
    if (interval > 0 && s->generation >= 0 && end - s->generation > interval - s->generation % interval)
        end = s->generation + interval - s->generation % interval;
    end = end < limit ? end : limit;
    return end < s->config->generations ? end : s->config->generations;
}

static int save(search *s, sf_error *err)
{
    int code = s->hooks->save ? s->hooks->save(s->hooks->context, s->record, err) : SF_OK;
    s->saved = code == SF_OK;
    return code;
}

/* Rank 0: the callbacks after a block, and what all do next. */
static int decide(search *s, int code, bool stop, double elapsed_s, uint64_t evaluated, decision *d)
{
    sf_search_wish wish = SF_SEARCH_GO_ON;
    s->saved = false;
    if (!code && s->hooks->block)
        code = s->hooks->block(s->hooks->context, s->record, evaluated, &wish, &d->err);
    if (!code)
        sf_known_clear_changed(&s->record->known);
    const int64_t g = s->record->generation, interval = s->options.checkpoint_interval;
    d->stop = (stop || wish == SF_SEARCH_STOP) && g < s->config->generations;
    const bool wanted = wish == SF_SEARCH_CHECKPOINT || (s->options.save_first && g == 0) ||
                        (interval > 0 && g > 0 && g % interval == 0);
    if (!code && (d->stop || (wanted && g < s->config->generations)))
        code = save(s, &d->err);
    d->length = next_length(s, elapsed_s);
    return code;
}

/* Runs one block and everything after it. Every rank returns the same. */
static int next_block(search *s, bool *stop, sf_error *err)
{
    const double began_s = sf_now_s();
    const int64_t target = block_end(s);
    uint8_t *packet = NULL;
    size_t n_bytes = 0;
    uint64_t evaluated = 0;
    int code = run_block(s, target, &n_bytes, &packet, err);
    if (code)
        goto out;
    const bool stop_agreed = sf_comm_max(s->comm, stop_seen(s)) > 0;
    decision d = {0};
    d.code = gather_packets(s, n_bytes, packet, &evaluated, &d.err);
    if (s->comm->rank == 0)
        d.code = decide(s, d.code, stop_agreed, sf_now_s() - began_s, evaluated, &d);
    code = sf_comm_broadcast(s->comm, sizeof d, &d, err);
    if (!code)
        code = d.code;
    if (code && err)
        *err = d.err;
    s->generation = target;
    s->length = d.length;
    *stop = d.stop;
out:
    free(packet);
    return code;
}

/* After a block was given up for a stop: the record is as before it. */
static int save_stopped(search *s, sf_error *err)
{
    sf_error stopped = {.code = SF_OK};
    if (err)
        stopped = *err;
    int code = s->comm->rank == 0 && !s->saved ? save(s, err) : SF_OK;
    code = sf_comm_agree(s->comm, code, err);
    if (!code && err)
        *err = stopped;
    return code ? code : SF_ESTOPPED;
}

/* ---- beginning ---- */

/* Rank 0 hands the record to go on from to the others: its generation, then a packet. `copy` is initialised there. */
static int share_record(search *s, const sf_puzzle *puzzle, sf_record *copy, sf_error *err)
{
    uint64_t n_bytes = 0;
    uint8_t *packet = NULL;
    size_t size = 0;
    int code = SF_OK;
    if (s->comm->rank == 0)
        code = sf_record_pack(s->record, &size, &packet, err);
    n_bytes = size;
    code = sf_comm_agree(s->comm, code, err);
    if (!code)
        code = sf_comm_broadcast(s->comm, sizeof n_bytes, &n_bytes, err);
    if (code)
        goto out;
    if (s->comm->rank != 0) {
        packet = malloc((size_t)n_bytes);
        code = packet
                   ? sf_record_init(copy, s->config, puzzle->length, puzzle->n_scores, err)
                   : sf_fail(err, SF_ENOMEM, "out of memory for %" PRIu64 " bytes of the run to go on from", n_bytes);
    }
    code = sf_comm_agree(s->comm, code, err);
    if (!code)
        code = sf_comm_broadcast(s->comm, (size_t)n_bytes, packet, err);
    if (!code && s->comm->rank != 0) {
        copy->generation = s->generation - 1;
        code = sf_record_take(copy, (size_t)n_bytes, packet, err);
    }
    code = sf_comm_agree(s->comm, code, err);
out:
    free(packet);
    return code;
}

static int begin(search *s, const sf_puzzle *puzzle, sf_error *err)
{
    sf_record copy = {.generation = -1};
    int code = SF_OK;
    /* what must be the same everywhere is rank 0's: an option that was chosen by a measurement may differ */
    struct {
        int64_t generation;
        sf_search_options options;
    } opening = {s->record ? s->record->generation : -1, s->options};
    code = sf_comm_broadcast(s->comm, sizeof opening, &opening, err);
    opening.options.n_threads = s->options.n_threads;
    s->options = opening.options;
    s->generation = opening.generation;
    if (!code && s->comm->size > 1 && s->generation >= 0)
        code = share_record(s, puzzle, &copy, err);
    if (code)
        goto out;
    if (s->comm->rank == 0 && s->comm->size > 1) {
        s->chunk = malloc(CHUNK_BYTES + (size_t)s->comm->size * 2 * sizeof(uint64_t));
        if (!s->chunk)
            code = sf_fail(err, SF_ENOMEM, "out of memory for gathering results");
    }
    const sf_record *from = s->record ? s->record : &copy;
    if (s->options.share_evaluation || puzzle->partial) {
        code = sf_comm_agree(s->comm, code, err);
        if (!code)
            code = sf_shared_evaluation_open(&s->shared, s->comm, puzzle, s->options.n_threads, s->hooks->stop,
                                             s->generation >= 0 ? &from->known : NULL, err);
        if (code)
            goto out;
    }
    sf_archipelago_options options = {.n_threads = s->options.n_threads,
                                      .evaluate = s->shared ? sf_shared_evaluation_run : NULL,
                                      .context = s->shared};
    sf_exchange_range(s->config, s->comm->rank, s->comm->size, &options.first_island, &options.last_island);
    if (!code)
        code = sf_archipelago_open(&s->archipelago, puzzle, s->config, &options, from, err);
    code = sf_comm_agree(s->comm, code, err);
    if (!code)
        code = sf_exchange_open(&s->exchange, s->comm, s->config, s->archipelago, err);
out:
    sf_record_free(&copy);
    return code;
}

int sf_search_run(const sf_comm *comm, const sf_puzzle *puzzle, const sf_search_config *config,
                  const sf_search_options *options, sf_record *record, const sf_search_hooks *hooks, sf_error *err)
{
    search s = {.comm = comm,
                .config = config,
                .options = *options,
                .hooks = hooks,
                .record = comm->rank == 0 ? record : NULL,
                .length = 1};
    bool stop = false;
    int code = begin(&s, puzzle, err);
    while (!code && !stop && s.generation < config->generations)
        code = next_block(&s, &stop, err);
    if (code == SF_ESTOPPED)
        code = save_stopped(&s, err);
    else if (!code && stop)
        code = sf_fail(err, SF_ESTOPPED, "stopped after generation %" PRId64, s.generation);
    if (s.record)
        sf_record_sort(s.record);
    sf_exchange_close(s.exchange);
    sf_shared_evaluation_close(s.shared);
    sf_archipelago_close(s.archipelago);
    free(s.chunk);
    return code;
}

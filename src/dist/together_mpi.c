/* The obvious way to give several ranks one hard sequence is to deal branches of its tree as ranks come free; then the
 * nodes spent, and what a limit leaves open, depend on timing. Here every rank runs the same search, small trees each
 * for itself; the tasks of a large one are dealt out (deal_mpi.h), and all tell each other what came of them before any
 * goes on. */
#include "dist/together_mpi.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "core/engines/aside.h"
#include "dist/wait_mpi.h"

enum { FEW_PARTS = 2, JOIN_BYTES = 1 << 20 };

bool sf_together_pays(const sf_comm *comm, const sf_plan *plan, const sf_engine *engine)
{
    return comm->size > 1 && strcmp(sf_engine_name(engine), "bound") == 0 &&
           plan->n_parts < FEW_PARTS * (size_t)comm->size;
}

/* ---- the team ---- */

typedef struct together {
    const sf_comm *comm;
    sf_deal *deal;
} together;

static int agree(void *context, int code, sf_error *err)
{
    const together *t = context;
    return sf_comm_agree(t->comm, code, err);
}

static void join_bytes(const sf_comm *comm, size_t n, uint8_t *bytes)
{
    for (size_t at = 0; comm->size > 1 && at < n; at += JOIN_BYTES) {
        MPI_Request request;
        MPI_Iallreduce(MPI_IN_PLACE, bytes + at, (int)(n - at < JOIN_BYTES ? n - at : JOIN_BYTES), MPI_BYTE, MPI_BOR,
                       MPI_COMM_WORLD, &request);
        sf_wait(&request, NULL, NULL);
    }
}

static int join(void *context, size_t n, void *bytes, sf_error *err)
{
    const together *t = context;
    (void)err;
    join_bytes(t->comm, n, bytes);
    return SF_OK;
}

static int run_piece(const void *context, const sf_plan *plan, size_t part, uint64_t *partial, sf_error *err)
{
    const sf_team_work *work = context;
    (void)plan;
    (void)partial;
    (void)err;
    work->run(work->context, part);
    return SF_OK;
}

static int take_nothing(void *taker, size_t part, size_t first, size_t count, const uint64_t *partial, sf_error *err)
{
    (void)taker;
    (void)part;
    (void)first;
    (void)count;
    (void)partial;
    (void)err;
    return SF_OK;
}

static bool enough(void *taker)
{
    const sf_team_work *work = taker;
    return work->enough && work->enough(work->context);
}

static uint64_t cost(void *taker)
{
    const sf_team_work *work = taker;
    return work->cost(work->context);
}

static int share(void *context, const sf_team_work *work, sf_error *err)
{
    const together *t = context;
    sf_team_work copy = *work;
    const sf_plan plan = {.n_sequences = work->n, .block = 1, .parts_per_block = 1, .n_parts = work->n};
    size_t *order = calloc(work->n + 1, sizeof *order);
    const sf_deal_work dealt = {.plan = &plan,
                                .order = order,
                                .n_scores = 1,
                                .n_threads = work->n_threads,
                                .evaluate = run_piece,
                                .context = &copy,
                                .take = take_nothing,
                                .enough = enough,
                                .cost = cost,
                                .cost_limit = work->limit,
                                .taker = &copy};
    for (size_t i = 0; order && i < work->n; i++)
        order[i] = i;
    int code = order ? SF_OK : sf_fail(err, SF_ENOMEM, "out of memory for the tasks of a tree search");
    code = sf_comm_agree(t->comm, sf_deal_run(t->deal, &dealt, code, err), err);
    free(order);
    return code;
}

/* ---- parts, one after the other ---- */

static int run_part(const sf_comm *comm, const sf_deal_work *work, const sf_plan *plan, size_t part, uint64_t *partial,
                    sf_error *err)
{
    size_t first, count;
    sf_plan_part(plan, part, &first, &count);
    memset(partial, 0, count * (size_t)work->n_scores * sizeof *partial);
    int code = work->stop && *work->stop ? sf_fail(err, SF_ESTOPPED, "stopped while histograms were counted") : SF_OK;
    code = sf_comm_agree(comm, code, err);
    if (!code)
        code = work->evaluate(work->context, plan, part, partial, err);
    if (!code && comm->rank == 0)
        code = work->take(work->taker, part, first, count, partial, err);
    if (!code && comm->rank == 0 && work->between)
        code = work->between(work->taker, err);
    return sf_comm_agree(comm, code, err);
}

static const sf_aside_part *find_part(const sf_aside *aside, size_t part)
{
    for (size_t i = 0; i < aside->n; i++) {
        if (aside->parts[i].part == part)
            return &aside->parts[i];
    }
    return NULL;
}

/* A part that one of the ranks has given back: what it did of it becomes known to all. */
static int run_given_back(const sf_comm *comm, const sf_deal_work *work, sf_plan *plan, const sf_aside *aside,
                          size_t part, uint64_t *partial, sf_error *err)
{
    const sf_aside_part *mine = find_part(aside, part);
    sf_aside_part begun = {.part = part, .n_bytes = (size_t)sf_comm_max(comm, mine ? (int64_t)mine->n_bytes : 0)};
    begun.bytes = calloc(begun.n_bytes + 1, 1);
    int code = begun.bytes ? SF_OK : sf_fail(err, SF_ENOMEM, "out of memory for a sequence that is to be shared");
    code = sf_comm_agree(comm, code, err);
    if (!code) {
        if (mine)
            memcpy(begun.bytes, mine->bytes, mine->n_bytes);
        join_bytes(comm, begun.n_bytes, begun.bytes);
        plan->begun = &begun;
        code = run_part(comm, work, plan, part, partial, err);
        plan->begun = NULL;
    }
    free(begun.bytes);
    return code;
}

/* Bits of the parts that are to be counted. */
static uint8_t *parts_wanted(const sf_comm *comm, const sf_deal_work *work, const sf_aside *aside)
{
    const size_t n_bytes = work->plan->n_parts / 8 + 1;
    uint8_t *wanted = calloc(n_bytes, 1);
    for (size_t i = 0; wanted && aside && i < aside->n; i++)
        wanted[aside->parts[i].part / 8] |= (uint8_t)(1 << aside->parts[i].part % 8);
    for (size_t part = 0; wanted && !aside && part < work->plan->n_parts; part++)
        wanted[part / 8] |= (uint8_t)((work->done ? ~(unsigned)work->done[part / 8] : 255u) & (1u << part % 8));
    if (!sf_comm_max(comm, wanted == NULL) && aside)
        join_bytes(comm, n_bytes, wanted);
    return wanted;
}

int sf_together_run(sf_deal *deal, const sf_comm *comm, const sf_deal_work *work, const sf_aside *aside, sf_error *err)
{
    together t = {.comm = comm, .deal = deal};
    const sf_team team = {
        .rank = comm->rank, .size = comm->size, .context = &t, .agree = agree, .join = join, .share = share};
    sf_plan plan = *work->plan;
    if (aside && sf_comm_max(comm, (int64_t)aside->n) == 0)
        return SF_OK;
    plan.team = comm->size > 1 ? &team : NULL;
    uint64_t *partial = calloc(plan.block, (size_t)work->n_scores * sizeof *partial);
    uint8_t *wanted = parts_wanted(comm, work, aside);
    int code = partial && wanted ? SF_OK : sf_fail(err, SF_ENOMEM, "out of memory for a histogram");
    code = sf_comm_agree(comm, code, err);
    for (size_t part = 0; part < plan.n_parts && !code; part++) {
        if (!(wanted[part / 8] >> part % 8 & 1))
            continue;
        if (aside)
            code = run_given_back(comm, work, &plan, aside, part, partial, err);
        else
            code = run_part(comm, work, &plan, part, partial, err);
    }
    free(wanted);
    free(partial);
    return code;
}

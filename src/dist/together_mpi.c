/* The obvious way to give several ranks one hard sequence is to deal branches of its tree as ranks come free; then the
 * nodes spent, and what a limit leaves open, depend on timing. Here every rank runs the same search, small trees each
 * for itself, and of the tasks of a large one each takes its share by number; they tell each other what came of them.
 */
#include "dist/together_mpi.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "dist/wait_mpi.h"

enum { FEW_PARTS = 2, JOIN_BYTES = 1 << 20 };

bool sf_together_pays(const sf_comm *comm, const sf_tally *tally, const sf_engine *engine)
{
    return comm->size > 1 && strcmp(sf_engine_name(engine), "bound") == 0 &&
           tally->plan.n_parts < FEW_PARTS * (size_t)comm->size;
}

static int agree(void *context, int code, sf_error *err)
{
    return sf_comm_agree(context, code, err);
}

static int join(void *context, size_t n, void *bytes, sf_error *err)
{
    (void)context;
    (void)err;
    for (size_t at = 0; at < n; at += JOIN_BYTES) {
        MPI_Request request;
        MPI_Iallreduce(MPI_IN_PLACE, (uint8_t *)bytes + at, (int)(n - at < JOIN_BYTES ? n - at : JOIN_BYTES), MPI_BYTE,
                       MPI_BOR, MPI_COMM_WORLD, &request);
        sf_wait(&request, NULL, NULL);
    }
    return SF_OK;
}

int sf_together_run(const sf_comm *comm, const sf_tally *tally, const sf_share_work *work, const uint8_t *done,
                    sf_together_take *take, void *taker, sf_error *err)
{
    sf_comm everyone = *comm;
    const sf_team team = {.rank = comm->rank, .size = comm->size, .context = &everyone, .agree = agree, .join = join};
    sf_plan plan = tally->plan;
    plan.team = &team;
    const size_t n_counts = plan.block * (size_t)tally->n_scores;
    uint64_t *partial = malloc(n_counts * sizeof *partial);
    int code = partial ? SF_OK : sf_fail(err, SF_ENOMEM, "out of memory for a histogram");
    code = sf_comm_agree(comm, code, err);
    for (size_t part = 0; !code && part < plan.n_parts; part++) {
        size_t first, count;
        if (done[part / 8] >> part % 8 & 1)
            continue;
        sf_plan_part(&plan, part, &first, &count);
        memset(partial, 0, n_counts * sizeof *partial);
        code = work->stop && *work->stop ? sf_fail(err, SF_ESTOPPED, "stopped while histograms were counted") : SF_OK;
        code = sf_comm_agree(comm, code, err);
        if (!code)
            code = sf_engine_evaluate(work->engine, &plan, work->sequences, part, partial, err);
        if (!code && comm->rank == 0)
            code = take(taker, part, first, count, partial, err);
        code = sf_comm_agree(comm, code, err);
    }
    free(partial);
    return code;
}

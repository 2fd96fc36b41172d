/* Engine "walk": exact histograms by merging equal tails (merge_square_kernel.h tells how, merge_cubic_kernel.h what
 * differs in space, merge_any.h what any score model takes); what it cannot merge goes to the plain enumeration of
 * walk_plain.c.
 *
 * A part is a contiguous run of *pieces*, the backward prefixes of a fixed number of steps; there are many more parts
 * than workers, so that nobody waits. Where the chain is split, which end is the tail, and so what a part holds,
 * follows from the sequence alone. Each thread brings its own tables, which live on from part to part: a part's counts
 * do not depend on what they hold. */
#include <stdlib.h>

#include "core/base/isa.h"
#include "core/engines/engine_ops.h"
#include "core/engines/merge/merge_worker.h"

typedef struct merge_state {
    merge_setup setup;
    merge_crew crew;
    void *plain; /* state of the plain engine when that does the work, or NULL */
} merge_state;

static int estimate(const sf_problem *problem, const sf_engine_options *options, sf_engine_cost *cost, sf_error *err)
{
    const merge_kind kind = sf_merge_kind(problem);
    if (kind == MERGE_NOT)
        return sf_engine_walk_plain.estimate(problem, options, cost, err);
    const int dimension = problem->lattice->dimension, length = problem->length;
    *cost = (sf_engine_cost){
        .memory_bytes = (uint64_t)options->n_threads * sf_merge_worker_bytes(problem, kind) + sizeof(cubic_geometry),
        .open_s = 3e-4,
        .parts = sf_merge_parts(dimension, length),
        .sequence_s = kind == MERGE_ANY ? sf_merge_any_seconds(dimension, length)
                                        : sf_merge_seconds(dimension, length, sf_isa_get()),
    };
    return SF_OK;
}

static int open_merge(void **state, const sf_problem *problem, const sf_engine_options *options, sf_error *err)
{
    merge_state *m = calloc(1, sizeof *m);
    *state = NULL;
    if (!m)
        return sf_fail(err, SF_ENOMEM, "no memory to open engine walk");
    int status = sf_merge_setup_init(&m->setup, problem, options->stop, err);
    if (status == SF_OK && m->setup.kind == MERGE_NOT)
        status = sf_engine_walk_plain.open(&m->plain, problem, options, err);
    if (status != SF_OK) {
        sf_merge_setup_free(&m->setup);
        free(m);
        return status;
    }
    *state = m;
    return SF_OK;
}

static int plan_merge(const void *state, size_t n_sequences, const uint8_t *sequences, sf_plan *plan, sf_error *err)
{
    const merge_state *m = state;
    if (m->plain)
        return sf_engine_walk_plain.plan(m->plain, n_sequences, sequences, plan, err);
    plan->block = 1;
    plan->parts_per_block = m->setup.n_parts;
    return SF_OK;
}

static int evaluate(const void *state, const sf_plan *plan, const uint8_t *sequences, size_t part, uint64_t *partial,
                    sf_error *err)
{
    merge_state *m = (merge_state *)(uintptr_t)state; /* only the crew changes, under its lock */
    size_t first, count;
    if (m->plain)
        return sf_engine_walk_plain.evaluate(m->plain, plan, sequences, part, partial, err);
    sf_plan_part(plan, part, &first, &count);
    return sf_merge_crew_count(&m->setup, &m->crew, sequences + first * (size_t)m->setup.problem->length,
                               part % plan->parts_per_block, partial, err);
}

/* The walks of any model miss more often where there is more to count. Those of one class take the same time a part, to 7 %
 * (square) and 14 % (cubic) of the first quarter, whose conformations are 0.7 to 1.2 of a quarter. */
static bool by_conformations(const void *state)
{
    const merge_state *m = state;
    return m->plain || m->setup.kind == MERGE_ANY;
}

static uint64_t memory(const void *state)
{
    merge_state *m = (merge_state *)(uintptr_t)state;
    return sizeof *m + (m->plain ? sf_engine_walk_plain.memory(m->plain) : sf_merge_crew_bytes(&m->crew));
}

static void close_merge(void *state)
{
    merge_state *m = state;
    if (m->plain)
        sf_engine_walk_plain.close(m->plain);
    sf_merge_crew_free(&m->crew);
    sf_merge_setup_free(&m->setup);
    free(m);
}

const sf_engine_ops sf_engine_walk = {
    .name = "walk",
    .counts_everything = true,
    .estimate = estimate,
    .open = open_merge,
    .plan = plan_merge,
    .evaluate = evaluate,
    .by_conformations = by_conformations,
    .memory = memory,
    .close = close_merge,
};

/* The plain half of engine "walk": depth-first enumeration, a prefix a part. merge.c calls it for what it cannot merge. */
#include <stdlib.h>

#include "core/engines/engine_ops.h"
#include "core/walk/walk.h"

/* Seconds a conformation takes on one core, measured; good to a factor of two. */
static const double CONFORMATION_S = 6e-9;

typedef struct walk_state {
    const sf_problem *problem;
    const volatile int *stop;
    sf_walk_prefixes prefixes;
} walk_state;

static int estimate(const sf_problem *problem, const sf_engine_options *options, sf_engine_cost *cost, sf_error *err)
{
    uint64_t conformations = sf_lattice_conformations(problem->lattice, problem->length);
    uint64_t sites = 1;
    if (conformations == 0)
        return sf_fail(
            err, SF_ELIMIT,
            "the conformations of %d residues on the %s lattice are more than 64 bits count; take engine bound",
            problem->length, problem->lattice->name);
    for (int axis = 0; axis < problem->lattice->dimension; axis++)
        sites *= (uint64_t)(2 * problem->length + 1);
    *cost = (sf_engine_cost){
        .memory_bytes = (uint64_t)options->n_threads * (sites + (UINT64_C(1) << 16)) + (UINT64_C(1) << 18),
        .open_s = 1e-4,
        .sequence_s = 1e-4 + CONFORMATION_S * (double)conformations,
    };
    return SF_OK;
}

static int open_walk(void **state, const sf_problem *problem, const sf_engine_options *options, sf_error *err)
{
    walk_state *w = malloc(sizeof *w);
    *state = NULL;
    if (!w)
        return sf_fail(err, SF_ENOMEM, "no memory to open engine walk");
    *w = (walk_state){.problem = problem, .stop = options->stop};
    int status = sf_walk_prefixes_init(&w->prefixes, problem->lattice, problem->length, err);
    if (status != SF_OK) {
        free(w);
        return status;
    }
    *state = w;
    return SF_OK;
}

static int plan_walk(const void *state, size_t n_sequences, const uint8_t *sequences, sf_plan *plan, sf_error *err)
{
    const walk_state *w = state;
    (void)n_sequences, (void)sequences, (void)err;
    plan->block = 1;
    plan->parts_per_block = w->prefixes.n;
    return SF_OK;
}

static int evaluate(const void *state, const sf_plan *plan, const uint8_t *sequences, size_t part, uint64_t *partial,
                    sf_error *err)
{
    const walk_state *w = state;
    size_t first, count;
    sf_plan_part(plan, part, &first, &count);
    return sf_walk_count(w->problem, &w->prefixes, part % plan->parts_per_block,
                         sequences + first * (size_t)w->problem->length, w->stop, partial, err);
}

static uint64_t memory(const void *state)
{
    const walk_state *w = state;
    return sizeof *w + w->prefixes.n * (size_t)w->prefixes.n_steps;
}

static void close_walk(void *state)
{
    walk_state *w = state;
    sf_walk_prefixes_free(&w->prefixes);
    free(w);
}

const sf_engine_ops sf_engine_walk_plain = {
    .name = "walk",
    .counts_everything = true,
    .estimate = estimate,
    .open = open_walk,
    .plan = plan_walk,
    .evaluate = evaluate,
    .memory = memory,
    .close = close_walk,
};

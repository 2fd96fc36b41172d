/* Chains on a lattice as a puzzle: the genome is the sequence, a solution a walk, and an engine counts. */
#include <stdlib.h>

#include "core/puzzle/puzzle.h"
#include "core/walk/walk.h"

typedef struct chain {
    sf_problem problem;
    sf_engine *engine;
    const volatile int *stop;
} chain;

static int plan_chain(const void *instance, size_t n, const uint8_t *genomes, sf_plan *plan, sf_error *err)
{
    const chain *c = instance;
    return sf_engine_plan(c->engine, n, genomes, plan, err);
}

static int order_chain(const void *instance, const sf_plan *plan, const uint8_t *genomes, size_t **order, sf_error *err)
{
    const chain *c = instance;
    return sf_engine_order(c->engine, plan, genomes, order, err);
}

static int evaluate(const void *instance, const sf_plan *plan, const uint8_t *genomes, size_t part, uint64_t *partial,
                    sf_error *err)
{
    const chain *c = instance;
    return sf_engine_evaluate(c->engine, plan, genomes, part, partial, err);
}

static int witness(const void *instance, const uint8_t *genome, int score, char *text, sf_error *err)
{
    const chain *c = instance;
    return sf_witness_find(&c->problem, genome, score, text, err);
}

static void canonical(const void *instance, const uint8_t *genome, uint8_t *result)
{
    const chain *c = instance;
    sf_sequence_canonical(c->problem.length, genome, result);
}

static int verify(const void *instance, const uint8_t *genome, uint64_t *histogram, sf_error *err)
{
    const chain *c = instance;
    return sf_walk_histogram(&c->problem, genome, c->stop, histogram, err);
}

static int check(const void *instance, const uint64_t *histogram, sf_error *err)
{
    const chain *c = instance;
    return sf_engine_check(c->engine, histogram, err);
}

static void close_chain(void *instance)
{
    chain *c = instance;
    sf_engine_close(c->engine);
    free(c);
}

static const sf_puzzle_kind chain_kind = {
    .name = "chain",
    .plan = plan_chain,
    .order = order_chain,
    .evaluate = evaluate,
    .witness = witness,
    .canonical = canonical,
    .verify = verify,
    .check = check,
    .close = close_chain,
};

int sf_puzzle_open_chain(sf_puzzle *puzzle, const sf_problem *problem, const sf_engine_options *options,
                         size_t n_expected, sf_error *err)
{
    *puzzle = (sf_puzzle){0};
    chain *c = malloc(sizeof *c);
    if (!c)
        return sf_fail(err, SF_ENOMEM, "no memory to open a puzzle");
    *c = (chain){.problem = *problem, .stop = options->stop};
    int status = sf_engine_open(&c->engine, &c->problem, options, n_expected, err);
    if (status != SF_OK) {
        free(c);
        return status;
    }
    *puzzle = (sf_puzzle){
        .kind = &chain_kind,
        .instance = c,
        .length = problem->length,
        .n_letters = problem->model->n_letters,
        .letters = problem->model->letter,
        .min_score = problem->min_score,
        .n_scores = problem->n_scores,
        .partial = sf_engine_is_shard(c->engine),
        .witness_size = problem->length, /* length - 1 steps and '\0' */
    };
    return SF_OK;
}

const sf_engine *sf_puzzle_engine(const sf_puzzle *puzzle)
{
    return puzzle->kind == &chain_kind ? ((const chain *)puzzle->instance)->engine : NULL;
}

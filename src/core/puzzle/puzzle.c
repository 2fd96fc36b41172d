/* What all kinds of puzzle share: evaluating a batch with threads, and closing. */
#include "core/puzzle/puzzle.h"

#include <stdlib.h>

#include "core/engines/parts_omp.h"

void sf_puzzle_close(sf_puzzle *puzzle)
{
    if (puzzle->kind)
        puzzle->kind->close(puzzle->instance);
    *puzzle = (sf_puzzle){0};
}

typedef struct batch {
    const sf_puzzle *puzzle;
    const uint8_t *genomes;
} batch;

static int evaluate_part(const void *context, const sf_plan *plan, size_t part, uint64_t *partial, sf_error *err)
{
    const batch *b = context;
    return b->puzzle->kind->evaluate(b->puzzle->instance, plan, b->genomes, part, partial, err);
}

int sf_puzzle_evaluate(const sf_puzzle *puzzle, size_t n, const uint8_t *genomes, int n_threads, uint64_t *histograms,
                       sf_error *err)
{
    const batch b = {.puzzle = puzzle, .genomes = genomes};
    sf_plan plan;
    size_t *order = NULL;
    int status = puzzle->kind->plan(puzzle->instance, n, genomes, &plan, err);
    if (status == SF_OK && puzzle->kind->order)
        status = puzzle->kind->order(puzzle->instance, &plan, genomes, &order, err);
    if (status == SF_OK)
        status = sf_parts_run(&plan, order, puzzle->n_scores, n_threads, NULL, evaluate_part, &b, histograms, err);
    free(order);
    for (size_t i = 0; status == SF_OK && puzzle->kind->check && !puzzle->partial && i < n; i++)
        status = puzzle->kind->check(puzzle->instance, histograms + i * (size_t)puzzle->n_scores, err);
    return status;
}

/* The parts of a plan, by OpenMP threads: what engines and puzzles share. */
#ifndef SF_CORE_PARTS_OMP_H
#define SF_CORE_PARTS_OMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/engine.h"
#include "starfold/error.h"

/* Adds one part to partial[count][n_scores] (count as sf_plan_part says). Thread-safe. */
typedef int (*sf_part_evaluate)(const void *context, const sf_plan *plan, size_t part, uint64_t *partial,
                                sf_error *err);

/* Completes a plan whose block and parts_per_block are set. SF_ELIMIT when there would be more parts than can be
 * numbered. */
int sf_plan_complete(sf_plan *plan, size_t n_sequences, sf_error *err);

/* What threads take parts from: runs of places, each at best worked off by one thread, for what one part leaves in caches and
 * tables serves the next. The caller sees that one thread at a time uses it. */
typedef struct sf_part_run {
    size_t next, end;
    bool owned; /* some thread goes on there */
} sf_part_run;

typedef struct sf_part_pool {
    sf_part_run *run;
    size_t n;
} sf_part_pool;

/* For n_threads threads, and runs added only while fewer places than threads are left. SF_ENOMEM. */
int sf_part_pool_init(sf_part_pool *pool, int n_threads, sf_error *err);
void sf_part_pool_free(sf_part_pool *pool); /* a zeroed one is allowed */
void sf_part_pool_add(sf_part_pool *pool, size_t next, size_t end);
size_t sf_part_pool_left(const sf_part_pool *pool);

/* Takes a place: for a thread that was at `last` (SIZE_MAX: at none) the next one, as long as its run lasts; then the first of
 * a run that nobody has, or else of the second half of the longest. With in_order always the first of the first run. False
 * when none is left. */
bool sf_part_pool_take(sf_part_pool *pool, bool in_order, size_t last, size_t *place);

/* Evaluates all parts with n_threads >= 1 threads and sums them: histograms[n_sequences][n_scores] are overwritten. The
 * threads take parts as they come free, in `order` (sf_engine_order) or, when that is NULL, by runs of the plan's; sums are of
 * integers, so the result does not depend on it. The first failure ends the work and is reported once (of several at a
 * time, the one of the lowest part). *stop not zero ends it with SF_ESTOPPED; stop may be NULL. */
int sf_parts_run(const sf_plan *plan, const size_t *order, int n_scores, int n_threads, const volatile int *stop,
                 sf_part_evaluate evaluate, const void *context, uint64_t *histograms, sf_error *err);

#endif

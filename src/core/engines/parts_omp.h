/* The parts of a plan, by OpenMP threads: what engines and puzzles share. */
#ifndef SF_CORE_PARTS_OMP_H
#define SF_CORE_PARTS_OMP_H

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

/* Evaluates all parts with n_threads >= 1 threads and sums them: histograms[n_sequences][n_scores] are overwritten. The
 * threads take parts as they come free, in `order` (sf_engine_order) or, when that is NULL, in the plan's; sums are of
 * integers, so the result does not depend on it. The first failure ends the work and is reported once (of several at a
 * time, the one of the lowest part). *stop not zero ends it with SF_ESTOPPED; stop may be NULL. */
int sf_parts_run(const sf_plan *plan, const size_t *order, int n_scores, int n_threads, const volatile int *stop,
                 sf_part_evaluate evaluate, const void *context, uint64_t *histograms, sf_error *err);

#endif

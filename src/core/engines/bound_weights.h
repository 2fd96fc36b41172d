/* Branch and bound for score models other than hp: any symmetric weights, of either sign. */
#ifndef SF_CORE_BOUND_WEIGHTS_H
#define SF_CORE_BOUND_WEIGHTS_H

#include <stdbool.h>

#include "core/engines/bound.h"
#include "core/engines/bound_kernel.h"

/* As sf_bound_solve, on one thread; histogram[n_scores], entry 0 is problem->min_score. */
int sf_bound_weights_solve(const sf_problem *problem, const uint8_t *elements, const sf_bound_options *options,
                           uint64_t *histogram, sf_bound_result *result, sf_error *err);

/* A fold with exactly that score: fold[length], always the same. *found is false when there is none. */
int sf_bound_weights_find(const sf_problem *problem, const uint8_t *elements, int score, bound_place *fold, bool *found,
                          sf_error *err);

#endif

/* Branch and bound for score models other than hp: any symmetric weights, of either sign. */
#ifndef SF_CORE_BOUND_WEIGHTS_H
#define SF_CORE_BOUND_WEIGHTS_H

#include "core/engines/bound/bound.h"

/* As sf_bound_solve, on one thread; histogram[n_scores], entry 0 is problem->min_score. */
int sf_bound_weights_solve(const sf_problem *problem, const uint8_t *elements, const sf_bound_options *options,
                           uint64_t *histogram, sf_bound_result *result, sf_error *err);

#endif

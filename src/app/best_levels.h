/* The best sequences of a search as levels: stars and an example solution for each. */
#ifndef SF_APP_BEST_LEVELS_H
#define SF_APP_BEST_LEVELS_H

#include <stddef.h>

#include "core/puzzle/puzzle.h"
#include "core/search/known.h"
#include "io/run_file.h"
#include "starfold/error.h"

/* The `count` best rows (fewer when fewer are known): highest fitness first, then highest best score, then by letters.
 * The example of a star is a solution with the least reachable score that earns it. */
int sf_best_levels(const sf_problem *problem, const sf_known *known, size_t count, sf_level **levels, size_t *n,
                   sf_error *err);
void sf_best_levels_free(sf_level *levels, size_t n);

#endif

/* Branch and bound for the set of scores a sequence can reach, the best among them with proof, and exact numbers of
 * conformations at the top scores, without walking all conformations. */
#ifndef SF_CORE_BOUND_H
#define SF_CORE_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "starfold/engine.h"
#include "starfold/error.h"
#include "starfold/problem.h"

typedef struct sf_bound_options {
    uint64_t node_limit;      /* nodes of the search trees altogether; 0: no limit */
    int top_counts;           /* how many of the highest reachable scores are counted, >= 0 */
    int n_threads;            /* >= 1; never changes what is found */
    const volatile int *stop; /* NULL: never */
    const sf_team *team;      /* others that solve the same sequence with the same options; NULL: none */
    struct bound_journal *journal; /* what was done before, and what is done now, for a search that may be given back; NULL */
} sf_bound_options;

typedef struct sf_bound_result {
    int best_lower, best_upper; /* the best score is between; equal when proven */
    bool exact;                 /* every score is known to be reachable or not */
    uint64_t nodes;             /* spent, at most node_limit */
    uint64_t solutions;         /* conformations of score best_lower, when they were counted; else 0 */
} sf_bound_result;

/* What is proven of the sequence: histogram[n_scores] is overwritten with exact counts at the top_counts highest
 * reachable scores, SF_COUNT_SOME at other reachable ones, 0 where no conformation has the score, SF_COUNT_UNKNOWN
 * where the limit left it open. The same for any number of threads, any team and every instruction set; collective over
 * a team. Models other than hp get the one bound that holds for all weights, on one thread. SF_ESTOPPED: then all is
 * filled in likewise, as far as it was proven; also when the search was given back. SF_ENOMEM. */
int sf_bound_solve(const sf_problem *problem, const uint8_t *elements, const sf_bound_options *options,
                   uint64_t *histogram, sf_bound_result *result, sf_error *err);

/* Of model hp: conformations of each score that the histogram says is reachable, as sf_witnesses_find wants them:
 * walk[n_scores]. The first step is in the first direction, further axes are opened in their positive direction. Always the
 * same one for a score, whichever others are wanted; the straight one for 0, however soon *stop is raised. SF_EINPUT where
 * there is none. SF_ENOMEM. */
int sf_bound_witnesses(const sf_problem *problem, const uint8_t *elements, const uint64_t *histogram,
                       const volatile int *stop, char (*walk)[SF_LENGTH_MAX], sf_error *err);

#endif

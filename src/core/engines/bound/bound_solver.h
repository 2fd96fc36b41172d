/* One sequence and what its searches share: sub-chain limits, the schedule in use, what was spent. */
#ifndef SF_CORE_BOUND_SOLVER_H
#define SF_CORE_BOUND_SOLVER_H

#include "core/engines/bound/bound_journal.h"
#include "core/engines/bound/bound_kernel.h"
#include "starfold/engine.h"
#include "starfold/error.h"

/* Where the last score was found that took tasks: those before it need not be counted. */
typedef struct bound_success {
    bool known;
    int seed, target, ceiling, n_tasks, task;
} bound_success;

typedef struct bound_solver {
    const bound_kernel *kernel;
    bound_chain chain;
    bound_schedule schedule;
    int n_threads;
    uint64_t nodes;      /* spent */
    uint64_t node_limit; /* of nodes */
    bound_success success;
    const volatile int *stop; /* NULL: never */
    const sf_team *team;      /* NULL: none */
    bound_journal *journal;   /* NULL: none */
    uint32_t n_lists;         /* of tasks, so far */
} bound_solver;

/* Learns the sequence; the best scores of short pieces at either end are searched, with few nodes each. */
void sf_bound_solver_init(bound_solver *solver, const sf_lattice *lattice, int length, const uint8_t *elements,
                          uint64_t node_limit, int n_threads, const volatile int *stop, const sf_team *team);

/* A search with the present schedule, within what is left of the solver's limit. */
bound_search sf_bound_question(const bound_solver *solver, bound_goal goal, int target, int ceiling,
                               uint64_t node_limit);

/* One question about the whole chain: conformations with scores in target..ceiling, found or counted. outcome is
 * BOUND_DONE, BOUND_LIMIT (then `found` counts some) or BOUND_STOPPED. The answer, the nodes spent and the fold are the
 * same for any number of threads. SF_ENOMEM. */
int sf_bound_decide(bound_solver *solver, bound_goal goal, int target, int ceiling, bound_search *answer,
                    sf_error *err);

/* Searches the tree with the present schedule, cut into at least n_tasks tasks where it has so many branches, by depth
 * alone; they are taken by threads and by the ranks of a team (collective). What is reported is what one thread would
 * find that does the tasks in order: the fold of the first task that meets a BOUND_FIND, with its number, the nodes up
 * to it; and BOUND_LIMIT when the tasks up to there need more than node_limit together. Tasks before `first` are known
 * to have no success, and left out. Tasks that the journal knows are not searched again; where the search is given
 * back, BOUND_STOPPED. */
int sf_bound_tasks_run(bound_solver *solver, const bound_search *question, int n_tasks, int first, bound_search *answer,
                       sf_error *err);

#endif

/* The tree search, compiled once for each lattice and instruction set; all give the same answers and node counts.
 *
 * A *node* of the tree is a residue placed on a site with no bound against it. Limits count nodes, so they mean the
 * same on every machine. */
#ifndef SF_CORE_BOUND_KERNEL_H
#define SF_CORE_BOUND_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engines/bound/bound_schedule.h"

typedef enum bound_goal {
    BOUND_FIND,    /* one conformation whose score is in target..ceiling */
    BOUND_COUNT,   /* how many conformations there are with scores in target..ceiling */
    BOUND_MAXIMISE /* the best score, if it is at least target; search ends when ceiling is reached */
} bound_goal;

typedef enum bound_outcome {
    BOUND_DONE,   /* the goal is reached, or all was searched */
    BOUND_LIMIT,  /* the node limit ended it */
    BOUND_LARGE,  /* the tree seems large; see look_after */
    BOUND_BEATEN, /* a search with a lower number met the goal */
    BOUND_STOPPED
} bound_outcome;

typedef struct bound_place {
    int8_t x, y, z;
} bound_place;

/* One search: the question above, the answer below. */
typedef struct bound_search {
    const bound_chain *chain;
    const bound_schedule *schedule;
    bound_goal goal;
    int target, ceiling;
    uint64_t node_limit;
    uint64_t look_after;      /* nodes after which the search gives up (BOUND_LARGE) unless its end is near; 0: never */
    const volatile int *stop; /* NULL: never */
    int number;
    const volatile int *first_success; /* number of the first search that met the goal; NULL: there is one search */

    bound_outcome outcome;
    uint64_t nodes;
    uint64_t found;                  /* conformations that met the goal */
    int best;                        /* score of the last one found; -1: none */
    bound_place fold[SF_LENGTH_MAX]; /* of the last one found */
} bound_search;

/* Where a search begins: the first residues of the schedule are placed already, by these lattice steps. */
typedef struct bound_task {
    int n_placed;                /* >= 2; the seed bond takes step 0 */
    uint8_t step[SF_LENGTH_MAX]; /* step[n] placed the residue that came when n were placed, n in 2..n_placed-1 */
} bound_task;

typedef struct bound_kernel {
    const char *name;
    /* Searches below `task` and fills the lower part of *search. */
    void (*run)(bound_search *search, const bound_task *task);
    /* The children of `task` that no bound is against, best first, to children[2 D]; returns how many. */
    int (*expand)(bound_search *search, const bound_task *task, bound_task *children);
    /* Knuth's estimate (Math. Comp. 29, 1975) of the nodes of the whole tree, the sum over the random paths number
     * first..first+n_probes-1 (saturating); *n_visited grows by the nodes whose children were looked at. */
    uint64_t (*probe)(bound_search *search, int first, int n_probes, uint64_t *n_visited);
} bound_kernel;

extern const bound_kernel sf_bound_kernel_square_portable, sf_bound_kernel_square_avx2, sf_bound_kernel_square_avx512;
extern const bound_kernel sf_bound_kernel_cubic_portable, sf_bound_kernel_cubic_avx2, sf_bound_kernel_cubic_avx512;

/* The kernel for a lattice of that dimension and the instruction set in force. */
const bound_kernel *sf_bound_kernel_choose(int dimension);

#endif

/* Tail merging for any score model, on any lattice, in plain C: slower than the kernels for one class of contacts
 * (merge_square.h, merge_cubic.h), faster than no merging.
 *
 * What a tail sees is written down as a string: the sites it can reach, in the order of a breadth-first search from the
 * head, for each of them which neighbours are free, and what the letters of the tail that can get there would gain
 * there from placed residues. From the strings the search can be done again, so equal strings have equal tails. */
#ifndef SF_CORE_MERGE_ANY_H
#define SF_CORE_MERGE_ANY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engines/merge/merge_workspace.h"
#include "starfold/problem.h"

enum {
    ANY_DIRECT = 3,      /* tails of so many residues are walked plainly */
    ANY_TAIL_MAX = 8,    /* counts of a tail fit 32 bits many times over */
    ANY_KEY_BYTES = 440, /* longer strings are not kept: the surroundings are nearly empty */
    ANY_LENGTH_MAX = 30,
    ANY_DISTANCES = ANY_TAIL_MAX + 1
};

/* Letters that matter at sites first reached in `distance` steps: those of later residues that can take them. */
typedef struct any_letters {
    uint8_t n;
    uint8_t letter[SF_LETTERS_MAX];
} any_letters;

/* What of the sequence matters to a tail of r residues. */
typedef struct any_level {
    any_letters at[ANY_DISTANCES]; /* [distance], 1..r */
    int low, width;                /* its scores are low..low + width - 1 */
} any_level;

/* A sequence made ready: constant, shared by threads. */
typedef struct any_job {
    const sf_problem *problem;
    int length;
    int tail;        /* ANY_DIRECT + 1..ANY_TAIL_MAX, at most length - 2 */
    int piece_steps; /* steps of the prefix, from the head backwards, that tell pieces apart */
    size_t n_pieces;
    uint8_t elements[SF_LENGTH_MAX];
    any_level level[ANY_TAIL_MAX + 1];
} any_job;

/* True when sequences of the problem can be counted this way, and when that is also faster than the plain enumeration.
 */
bool sf_any_can(const sf_problem *problem);
bool sf_any_pays(const sf_problem *problem);

/* Prepares the chain; which end is the tail makes no difference to what can be done, only to time. */
void sf_any_job_init(any_job *job, const sf_problem *problem, const uint8_t *elements, bool reversed);

/* Table sizes for the problem's sequences. */
void sf_any_sizes(const sf_problem *problem, merge_sizes *sizes);

/* Adds the conformations that begin with the pieces first..last-1 to histogram[n_scores]. SF_ESTOPPED when *stop was
 * seen not zero. */
int sf_any_count(const any_job *job, merge_workspace *workspace, size_t first, size_t last, const volatile int *stop,
                 uint64_t *histogram, sf_error *err);

#endif

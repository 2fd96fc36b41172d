/* Folds found by a search: as letters, and as the beginning of another search. */
#ifndef SF_CORE_BOUND_FOLD_H
#define SF_CORE_BOUND_FOLD_H

#include "core/engines/bound/bound_kernel.h"

/* The fold's letters from the first residue on, turned so that it opens the axes in order, each in its positive
 * direction; length - 1 letters and '\0'. */
void sf_bound_fold_walk(const sf_lattice *lattice, int length, const bound_place *fold, char *walk);

/* The task that places the first n_placed residues of the schedule as the fold has them, turned likewise. */
void sf_bound_fold_task(const bound_schedule *schedule, const bound_place *fold, int n_placed, bound_task *task);

#endif

/* How a chain is cut for tail merging: which end is the tail, how long it is, how many parts, how large the tables. */
#ifndef SF_CORE_MERGE_PLAN_H
#define SF_CORE_MERGE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/isa.h"
#include "core/engines/merge_cubic.h"
#include "core/engines/merge_square.h"

/* True when chains of that length can be merged on a lattice of that dimension. */
bool sf_merge_can(int dimension, int length);

/* Parts of every sequence of that length: some hundreds for long chains. */
size_t sf_merge_parts(int dimension, int length);

/* Table sizes for chains of that length. */
void sf_merge_sizes(int dimension, int length, merge_sizes *sizes);

/* Prepares the job of h[length] (1 = H) with the end and the split that a fixed rule finds cheapest; the same on every
 * machine. */
void sf_merge_square_plan(int length, const uint8_t *h, square_job *job);
void sf_merge_cubic_plan(const cubic_geometry *geometry, int length, const uint8_t *h, cubic_job *job);

/* About how long a sequence takes on one core. */
double sf_merge_seconds(int dimension, int length, sf_isa isa);

#endif

/* How a chain is cut for tail merging: which end is the tail, how long it is, how many parts, how large the tables. */
#ifndef SF_CORE_MERGE_PLAN_H
#define SF_CORE_MERGE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/isa.h"
#include "core/engines/merge_square.h"

/* Parts of every sequence of that length: some hundreds for long chains. */
size_t sf_merge_square_parts(int length);

/* Table sizes for chains of that length, as sf_square_workspace_init takes them; returns their bytes. */
size_t sf_merge_square_tables(int length, int log2_entries[SQUARE_TAIL_MAX + 1]);

/* Prepares the job of h[length] (1 = H) with the end and the split that a fixed rule finds cheapest; the same on
 * every machine. */
void sf_merge_square_plan(int length, const uint8_t *h, square_job *job);

/* About how long a sequence takes on one core. */
double sf_merge_square_seconds(int length, sf_isa isa);

#endif

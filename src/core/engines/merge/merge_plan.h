/* How a chain is cut for tail merging: which end is the tail, how long it is, how many parts, how large the tables. */
#ifndef SF_CORE_MERGE_PLAN_H
#define SF_CORE_MERGE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/isa.h"
#include "core/engines/merge/merge_cubic.h"
#include "core/engines/merge/merge_square.h"

/* True when chains of that length can be merged on a lattice of that dimension. */
bool sf_merge_can(int dimension, int length);

/* Parts of every sequence of that length: some hundreds for long chains. */
size_t sf_merge_parts(int dimension, int length);

/* Table sizes for chains of that length. */
void sf_merge_sizes(int dimension, int length, merge_sizes *sizes);

/* The end and the split a chain is counted with. */
typedef struct merge_split {
    bool reversed; /* the first residues are the tail */
    int tail;
} merge_split;

/* Prepares the job of h[length] (1 = H) with a split. */
void sf_merge_square_prepare(int length, const uint8_t *h, merge_split split, square_job *job);
void sf_merge_cubic_prepare(const cubic_geometry *geometry, int length, const uint8_t *h, merge_split split,
                            cubic_job *job);

/* The split that a small sample of pieces finds cheapest; the same for every kernel and on every machine. The workspace
 * has the sizes of sf_merge_sizes; it is renewed. Short chains are split by a plain rule. Costs about half a per cent
 * of the whole. Errors: those of the kernel. */
int sf_merge_square_split(int length, const uint8_t *h, square_count *count, merge_workspace *workspace,
                          const volatile int *stop, merge_split *split, sf_error *err);
int sf_merge_cubic_split(const cubic_geometry *geometry, int length, const uint8_t *h, cubic_count *count,
                         merge_workspace *workspace, const volatile int *stop, merge_split *split, sf_error *err);

/* About how long a sequence takes on one core. */
double sf_merge_seconds(int dimension, int length, sf_isa isa);
double sf_merge_any_seconds(int dimension, int length); /* with any score model */

#endif

/* The tables of tails that one thread works with, shared in form by the lattices. */
#ifndef SF_CORE_MERGE_WORKSPACE_H
#define SF_CORE_MERGE_WORKSPACE_H

#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"

enum { MERGE_TAIL_MAX = 14 }; /* residues of a tail, on any lattice */

/* Tails of r residues: direct mapped, the newer entry stays. */
typedef struct merge_table {
    uint8_t *entries;
    uint64_t mask; /* number of entries - 1 */
    size_t entry_bytes;
} merge_table;

/* Deterministic counts of the work done, for choosing a split. */
typedef struct merge_stats {
    uint64_t leaves;                       /* prefixes */
    uint64_t look_ups[MERGE_TAIL_MAX + 1]; /* by r */
    uint64_t misses[MERGE_TAIL_MAX + 1];
} merge_stats;

typedef struct merge_workspace {
    merge_table table[MERGE_TAIL_MAX + 1];
    uint16_t epoch; /* entries of another epoch belong to another sequence */
    merge_stats stats;
    void *memory; /* of all tables */
    size_t memory_bytes;
    void *scratch; /* of the kernel, kept for the next part */
    size_t scratch_bytes;
} merge_workspace;

/* What tables hold: entry_bytes[r] << log2_entries[r] for tails of r residues; no table where entry_bytes is 0. */
typedef struct merge_sizes {
    size_t entry_bytes[MERGE_TAIL_MAX + 1];
    int log2_entries[MERGE_TAIL_MAX + 1];
} merge_sizes;

/* Bytes sf_merge_workspace_init will take. */
size_t sf_merge_workspace_bytes(const merge_sizes *sizes);

/* Empty tables; huge pages where the system has them. */
int sf_merge_workspace_init(merge_workspace *workspace, const merge_sizes *sizes, sf_error *err);

void sf_merge_workspace_free(merge_workspace *workspace);

/* Forgets what the tables hold: to be called before another sequence uses them. */
void sf_merge_workspace_renew(merge_workspace *workspace);

/* At least so many bytes, aligned to 64, of any content; the same until the workspace is freed. NULL: no memory. */
void *sf_merge_workspace_scratch(merge_workspace *workspace, size_t bytes);

#endif

/* Census: the set of scores of all 2^N sequences of a length at once, from the table of contact maps. HP model. */
#ifndef SF_CORE_CENSUS_H
#define SF_CORE_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/contacts/map_table.h"
#include "core/engines/census/census_shapes.h"
#include "core/engines/table/table.h"

/* Counts of sequences; a chain and its reverse are two. */
typedef struct sf_census {
    uint64_t sequences;
    uint64_t unique_best;                /* exactly one conformation has the best score */
    uint64_t sequences_with_gaps;        /* fitness < best score + 1 */
    uint64_t fitness[SF_SCORES_MAX + 1]; /* by number of distinct scores */
    uint64_t best[SF_SCORES_MAX];        /* by best score */
} sf_census;

/* Fitness and best score of every sequence, where asked: arrays of 2^N, owned by the caller, or NULL. Sequence s has an H at
 * residue k where bit k of s is set. masks: which scores there are in the low half, in the high half which of them at least
 * two conformations have. */
typedef struct sf_census_each {
    uint8_t *fitness;
    uint8_t *best;
    uint32_t *masks;
} sf_census_each;

typedef struct sf_census_plan sf_census_plan; /* constant after opening */

/* What a census is asked for: sets of scores, or whole histograms too. */
typedef enum sf_census_kind { SF_CENSUS_SETS, SF_CENSUS_HISTOGRAMS } sf_census_kind;

/* Several processes that see the same maps and lay them out together: this one is `part` of n_parts. */
typedef struct sf_census_team {
    size_t part, n_parts;
    void *context;
    bool (*agree)(void *context, bool well);                    /* true when all are well */
    void (*sum)(void *context, size_t n, uint64_t *counts);     /* over all, in place */
    void *(*room)(void *context, uint64_t bytes);               /* memory that all see, aligned to SF_ARRAY_ALIGNMENT, until
                                                                   after sf_census_close; NULL in all where there is none */
    void (*settle)(void *context);                              /* all see what any wrote there before */
} sf_census_team;

/* Lays maps out by n_threads threads; they are not kept. With a team (or NULL) all of it call this at once with the same
 * maps, and what is laid out is there once, where they have room for it. SF_ENOMEM, in all when it is in one. *plan is NULL
 * on failure. */
int sf_census_open(sf_census_plan **plan, const sf_map_table *maps, sf_census_kind kind, int n_threads,
                   const sf_census_team *team, sf_error *err);
void sf_census_close(sf_census_plan *plan); /* NULL is allowed */

/* Adds part `part` of n_parts to *census and, where not NULL, writes the part's entries of `each`. The parts add to the whole
 * and write all of `each`, whoever does them. Parts cost about the same, and somewhat more together than the whole at
 * once. n_threads threads. SF_ENOMEM; SF_ESTOPPED when *stop (may be NULL) is seen not zero. */
int sf_census_count(const sf_census_plan *plan, size_t part, size_t n_parts, int n_threads, const volatile int *stop,
                    const sf_census_each *each, sf_census *census, sf_error *err);

/* The same, and appends a row for each pair of a sequence and its reverse to *shapes (rows in any order, some shapes in
 * several rows: see sf_shapes_settle). shapes->n_scores is above the most contacts of the maps. The plan is for
 * histograms. Exact: all counts fit the 32 bits they are counted with. */
int sf_census_count_shapes(const sf_census_plan *plan, size_t part, size_t n_parts, int n_threads, const volatile int *stop,
                           const sf_census_each *each, sf_census *census, sf_shapes *shapes, sf_error *err);

/* sum += other */
void sf_census_add(sf_census *sum, const sf_census *other);

/* A census of shards of the maps (sf_map_table_build_part): each is counted in full for its masks, these are put together, a
 * pair of shards after the other in any order, and the census is read from what comes out. A sequence's masks are zero where
 * a shard has no maps. */
void sf_census_masks_add(size_t n, uint32_t *masks, const uint32_t *other);
void sf_census_of_masks(size_t n, const uint32_t *masks, const sf_census_each *each, sf_census *census);

/* The plain census: every sequence by a scan of all maps; overwrites *census, appends a row for every sequence to *shapes
 * where not NULL (room is there). The oracle, and what benchmarks compare with: square 16 residues take seconds. */
void sf_census_plain(const sf_map_table *maps, const sf_census_each *each, sf_census *census, sf_shapes *shapes);

/* Bytes that opening takes at its highest, the maps not included, and bytes that a plan with threads that count takes, the
 * shapes not included; about. */
uint64_t sf_census_open_bytes(const sf_lattice *lattice, int length, sf_census_kind kind);
uint64_t sf_census_count_bytes(const sf_lattice *lattice, int length, sf_census_kind kind, int n_threads);

/* Bytes of the rows that sf_census_count_shapes appends in all. */
uint64_t sf_census_shapes_bytes(int length, int n_scores);

/* Adds one sequence to a census: `scores` are the scores some conformation has, `twice` those at least two have. */
static inline void sf_census_tally(sf_census *census, uint32_t scores, uint32_t twice, uint64_t weight)
{
    int fitness = __builtin_popcount(scores), best = 31 - __builtin_clz(scores);
    census->sequences += weight;
    census->fitness[fitness] += weight;
    census->best[best] += weight;
    census->sequences_with_gaps += fitness <= best ? weight : 0;
    census->unique_best += twice >> best & 1 ? 0 : weight;
}

/* Writes the entries of a sequence and its reverse where they are asked for; each may be NULL. */
static inline void sf_census_tell(const sf_census_each *each, uint32_t sequence, uint32_t reverse, uint32_t scores,
                                  uint32_t twice)
{
    if (each && each->fitness)
        each->fitness[sequence] = each->fitness[reverse] = (uint8_t)__builtin_popcount(scores);
    if (each && each->best)
        each->best[sequence] = each->best[reverse] = (uint8_t)(31 - __builtin_clz(scores));
    if (each && each->masks)
        each->masks[sequence] = each->masks[reverse] = scores | twice << 16;
}

#endif

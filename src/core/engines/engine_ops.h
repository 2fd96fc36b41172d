/* What an engine is made of. An engine is one constant `sf_engine_ops`, written with designated initialisers, and one
 * line in the list of engine.c; nothing else names it.
 *
 * engine.c keeps the opened engine: it copies the problem and the options, asks `estimate` before `open`, checks
 * results and sums partials. The functions here may rely on their arguments being valid. */
#ifndef SF_CORE_ENGINE_OPS_H
#define SF_CORE_ENGINE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/engine.h"

typedef struct sf_engine_ops {
    const char *name; /* as in sf_engine_names() */

    /* True when every entry of its histograms is a number; `auto` chooses among these alone, so that what is chosen by
     * cost never changes an answer. False for an engine that may leave SF_COUNT_SOME or SF_COUNT_UNKNOWN. */
    bool counts_everything;

    /* True when with options->sets its entries are those of every other such engine: numbers for the top_counts highest
     * scores there are, SF_COUNT_SOME for the others. */
    bool answers_sets;

    /* What it would cost. SF_ELIMIT, with one line that says why and what is allowed, when it cannot do this problem at
     * all (length, model, counters too narrow). Not fitting memory is not judged here: engine.c compares memory_bytes
     * with the limit. options->memory_limit is never 0 here nor in open: it was replaced by what the machine has free.
     * Must be quick (below a millisecond) and the same for every call on one machine. */
    int (*estimate)(const sf_problem *problem, const sf_engine_options *options, sf_engine_cost *cost, sf_error *err);

    /* Makes *state (NULL on failure). problem and options live until close, so state may keep the pointers; what
     * options->maps points to is there during open only. options->n_threads threads may be used. */
    int (*open)(void **state, const sf_problem *problem, const sf_engine_options *options, sf_error *err);

    /* Fills plan->block and plan->parts_per_block (both >= 1) for n_sequences >= 1 sequences; engine.c does the rest.
     * May depend on the problem, the sequences and the options that change results; never on threads or memory. NULL:
     * block 1, one part each. */
    int (*plan)(const void *state, size_t n_sequences, const uint8_t *sequences, sf_plan *plan, sf_error *err);

    /* Adds part `part` to partial[count][n_scores]; sequences is the whole batch, and (first, count) = what
     * sf_plan_part(plan, part) says, so piece `part % parts_per_block` of the block that begins at sequence `first`.
     * Thread-safe. Polls options->stop at least every few milliseconds and then returns SF_ESTOPPED. On failure
     * partial holds anything. Marks (SF_COUNT_SOME, SF_COUNT_UNKNOWN) are added with sf_count_add. */
    int (*evaluate)(const void *state, const sf_plan *plan, const uint8_t *sequences, size_t part, uint64_t *partial,
                    sf_error *err);

    /* How hard a sequence is beside others of the batch, as a number that follows from the sequence alone; for engines
     * that make each sequence one part. Hard ones are begun first, so that none is left for the end. NULL: all parts
     * are alike. */
    uint64_t (*hardness)(const sf_problem *problem, const uint8_t *sequence);

    /* True when the time of a part goes along with the conformations in it; NULL or false: parts take about the same. */
    bool (*by_conformations)(const void *state);

    uint64_t (*memory)(const void *state); /* bytes held */
    void (*close)(void *state);            /* frees; state is never NULL */
} sf_engine_ops;

extern const sf_engine_ops sf_engine_table; /* table.c */
extern const sf_engine_ops sf_engine_walk;  /* merge.c */
extern const sf_engine_ops sf_engine_walk_plain; /* walk_plain.c; not in the list: the fallback of walk */
extern const sf_engine_ops sf_engine_bound; /* bound.c */

#endif

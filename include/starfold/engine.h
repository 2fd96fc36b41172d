/* Engines: several ways to the same exact histograms, behind one struct of functions.
 *
 * Work on a batch is cut into *parts* by a plan: blocks of sequences, each in `parts_per_block` pieces. The partial
 * histograms of the pieces of a block add up, in any order, to the exact answer, so parts may be dealt to threads and
 * ranks at will. */
#ifndef STARFOLD_ENGINE_H
#define STARFOLD_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"
#include "starfold/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sf_map_table; /* core/contacts/map_table.h, not installed */
struct sf_table;     /* core/engines/table/table.h, not installed */
struct sf_aside;     /* core/engines/aside.h, not installed */

typedef struct sf_engine_options {
    const char *engine;       /* "auto", or a name of sf_engine_names() */
    int n_threads;            /* threads for opening and for sf_engine_histograms, >= 1 */
    uint64_t memory_limit;    /* bytes the engine may take; 0: what the machine (and its cgroup) has free */
    uint64_t node_limit;      /* engine bound: nodes a sequence may take; 0: no limit. Others refuse it, auto takes bound */
    double within_s;          /* auto: processor seconds there are; where counting takes more, bound is taken; 0: no limit */
    int top_counts;           /* engine bound, and all with `sets`: how many of the highest scores are counted, >= 0 */
    /* Only the set of scores is wanted, and top_counts counts: other entries of a histogram become SF_COUNT_SOME or 0, by each
     * engine that can the same. Engine table then answers sets alone (hp, top_counts 0) many times faster than histograms. */
    bool sets;
    bool maps_at_hand;        /* estimates: the contact maps of the problem need not be built, as `maps` will be given */
    /* Engine table: contact maps of the problem that exist already, laid out instead of built; NULL: it builds them. The
     * caller's, read during opening only. Lattice and length must be the problem's. */
    const struct sf_map_table *maps;
    /* Engine table: a table of the problem for histograms that is open already, as in memory that processes share; NULL: it
     * makes its own. The caller's, for as long as the engine is open. */
    const struct sf_table *table;
    /* Engine table: take share `shard` of n_shards of the contact maps (0 and 1: all of them). The histograms of all shards
     * add up to the exact ones; what one of them gives is not checked. */
    int shard, n_shards;
    int n_sharers; /* engine table: so many ranks have it together, and each is counted its part of the memory; 0, 1: one */
    const volatile int *stop; /* polled now and then; not zero: give up with SF_ESTOPPED; NULL: never */
    bool keep_stopped;        /* engine bound: what is proven of a sequence when it is stopped is its answer, and no failure */
} sf_engine_options;

/* The defaults: auto, 1 thread, no limits, top_counts 1. */
void sf_engine_options_init(sf_engine_options *options);

/* A cost estimate, for `auto`, for --explain and for refusing what does not fit. */
typedef struct sf_engine_cost {
    uint64_t memory_bytes; /* resident while open, over all threads */
    double open_s;         /* seconds to open on one thread */
    double sequence_s;     /* seconds a sequence on one thread */
    size_t parts;          /* into which a sequence, or a block of them, can be cut; 0: not known before it is open */
    bool guess;            /* single sequences may take a hundredth or a hundred times that */
} sf_engine_cost;

/* Times here over times where the estimates were measured: building a table, scanning one, walking. */
typedef struct sf_engine_speed {
    double build, scan, walk;
} sf_engine_speed;

/* Measures this machine, once a process, in some 5 ms; from then on estimates go by it. `auto` does so by itself where there
 * is much to lose. No result depends on it. */
sf_engine_speed sf_engine_calibrate(void);

/* Takes these for measured: estimates of this process go by them. Before it opens or chooses an engine. */
void sf_engine_set_speed(sf_engine_speed speed);

/* Pieces of work that a team shares. */
typedef struct sf_team_work {
    size_t n;
    void (*run)(void *context, size_t i); /* any piece, on any thread of any rank; begun in ascending order */
    bool (*enough)(void *context);        /* no piece after those that this rank has run is needed */
    uint64_t (*cost)(void *context);      /* of the pieces this rank has run; grows */
    uint64_t limit;                       /* of the ranks' costs together: past it no further piece is begun */
    void *context;
    int n_threads;
} sf_team_work;

/* Processes that evaluate the same part at the same time and share what is long in it; each gets the whole answer. Of
 * the engines "bound" knows teams; the others do without. */
typedef struct sf_team {
    int rank, size;
    void *context;
    /* Collective: 0 when all pass 0, otherwise everywhere the same code, with its line in *err. */
    int (*agree)(void *context, int code, sf_error *err);
    /* Collective: everyone's n bytes, joined by OR, everywhere. */
    int (*join)(void *context, size_t n, void *bytes, sf_error *err);
    /* Collective: runs the pieces, each on one rank, as ranks come free. The same code everywhere. */
    int (*share)(void *context, const sf_team_work *work, sf_error *err);
} sf_team;

typedef struct sf_plan {
    size_t n_sequences;
    size_t block;           /* sequences a block, >= 1; the last block may be shorter */
    size_t parts_per_block; /* >= 1 */
    size_t n_parts;         /* ceil(n_sequences / block) * parts_per_block */
    const struct sf_team *team; /* others that evaluate the same parts with us; NULL: none */
    struct sf_aside *aside;     /* an engine may leave a part unfinished, its partial untouched, and keep it here; NULL: no */
    const struct sf_aside_part *begun; /* what was done of the part to be evaluated now, which has all threads; NULL: nothing */
} sf_plan;

typedef struct sf_engine sf_engine; /* an opened engine; constant afterwards, shared between threads */

/* Name of the engine that sf_engine_open would open, in static storage; the same errors as there. */
int sf_engine_choose(const sf_problem *problem, const sf_engine_options *options, size_t n_expected, const char **name,
                     sf_error *err);

/* Opens the engine that `options` names. auto: the cheapest that counts n_expected sequences; for chains of more than
 * 32 residues (square) or 22 (cubic) the one that proves the set of scores, where it knows the model; with options->sets the
 * cheapest that answers sets. *engine is NULL on failure. SF_ELIMIT, with the size it would need, when it does not fit
 * memory, or answers no sets where they are asked for; SF_EINPUT for an unknown name. */
int sf_engine_open(sf_engine **engine, const sf_problem *problem, const sf_engine_options *options, size_t n_expected,
                   sf_error *err);

/* Frees; NULL is allowed. */
void sf_engine_close(sf_engine *engine);

/* "table", "walk" or "bound": what was chosen. Static storage. */
const char *sf_engine_name(const sf_engine *engine);

/* True for an engine that holds one of several shards: its histograms are parts of the exact ones. */
int sf_engine_is_shard(const sf_engine *engine);

/* True for an engine whose parts take a time in proportion to the conformations in them; with others parts are alike. */
bool sf_engine_by_conformations(const sf_engine *engine);

/* Bytes the opened engine holds. */
uint64_t sf_engine_memory(const sf_engine *engine);

/* Names of the engines, ended by NULL; "auto" is not among them. */
const char *const *sf_engine_names(void);

/* What the named engine would cost for this problem; SF_ELIMIT with the reason when it cannot do it at all. */
int sf_engine_estimate(const char *name, const sf_problem *problem, const sf_engine_options *options,
                       sf_engine_cost *cost, sf_error *err);

/* Cuts a batch into parts; the same for every layout. */
int sf_engine_plan(const sf_engine *engine, size_t n_sequences, const uint8_t *sequences, sf_plan *plan, sf_error *err);

/* The order in which the parts should be begun: hardest first, so that no worker is left with a long one at the end;
 * the same for every layout. *order = a permutation of the parts, to be freed by the caller, or NULL: the plan's order
 * is as good. */
int sf_engine_order(const sf_engine *engine, const sf_plan *plan, const uint8_t *sequences, size_t **order,
                    sf_error *err);

/* First sequence and number of sequences that a part touches. */
void sf_plan_part(const sf_plan *plan, size_t part, size_t *first, size_t *count);

/* Adds part `part` to partial[count][n_scores] (count and first as sf_plan_part says). Thread-safe. */
int sf_engine_evaluate(const sf_engine *engine, const sf_plan *plan, const uint8_t *sequences, size_t part,
                       uint64_t *partial, sf_error *err);

/* The whole batch with the engine's threads: histograms[n_sequences][n_scores] are overwritten with the answers. */
int sf_engine_histograms(const sf_engine *engine, size_t n_sequences, const uint8_t *sequences, uint64_t *histograms,
                         sf_error *err);

/* A histogram whose every entry is a number must sum to the known number of conformations, where one is known:
 * SF_ECHECK otherwise. sf_engine_histograms has done it; who sums partials calls it. */
int sf_engine_check(const sf_engine *engine, const uint64_t *histogram, sf_error *err);

/* A conformation of the sequence whose score is exactly `score`, as length - 1 letters and '\0' in walk[length]; found
 * by one fixed method, whatever engine counted, and checked with sf_walk_score. SF_EINPUT when there is none. */
int sf_witness_find(const sf_problem *problem, const uint8_t *elements, int score, char *walk, sf_error *err);

/* The same for every score that histogram[n_scores] says is reachable, at once: walk[n_scores]. "" for other scores, and
 * where *stop (NULL: never) is seen not zero before one is found. */
int sf_witnesses_find(const sf_problem *problem, const uint8_t *elements, const uint64_t *histogram,
                      const volatile int *stop, char (*walk)[SF_LENGTH_MAX], sf_error *err);

#ifdef __cplusplus
}
#endif
#endif

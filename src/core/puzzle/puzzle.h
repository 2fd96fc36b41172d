/* Puzzles as the search sees them: genomes, histograms, best scores. The search knows neither chains nor lattices.
 *
 * A kind of puzzle is one `sf_puzzle_kind`; a second kind is one more folder. Genomes come in batches because all of one
 * length share the same solutions. Work comes in parts whose integer partials add, so nothing depends on who computed
 * what or when. */
#ifndef SF_CORE_PUZZLE_H
#define SF_CORE_PUZZLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/engine.h"
#include "starfold/error.h"

typedef struct sf_puzzle sf_puzzle;

typedef struct sf_puzzle_kind {
    const char *name;
    /* Cuts the evaluation of n genomes into parts (sf_plan_part tells which genomes a part touches). */
    int (*plan)(const void *instance, size_t n, const uint8_t *genomes, sf_plan *plan, sf_error *err);
    /* The order in which the parts should be begun, as sf_engine_order says. NULL: the plan's is as good. */
    int (*order)(const void *instance, const sf_plan *plan, const uint8_t *genomes, size_t **order, sf_error *err);
    /* Adds the part to partial[count][n_scores]. Thread-safe. */
    int (*evaluate)(const void *instance, const sf_plan *plan, const uint8_t *genomes, size_t part, uint64_t *partial,
                    sf_error *err);
    /* A solution with exactly that score, as text of at most witness_size - 1 characters. */
    int (*witness)(const void *instance, const uint8_t *genome, int score, char *text, sf_error *err);
    /* One name for genomes that are the same puzzle. */
    void (*canonical)(const void *instance, const uint8_t *genome, uint8_t *canonical);
    /* The exact histogram, slowly and independently of `evaluate`; overwrites histogram[n_scores]. */
    int (*verify)(const void *instance, const uint8_t *genome, uint64_t *histogram, sf_error *err);
    /* Compares a complete histogram with what is known of all of them: SF_ECHECK. NULL where nothing is. */
    int (*check)(const void *instance, const uint64_t *histogram, sf_error *err);
    void (*close)(void *instance);
} sf_puzzle_kind;

struct sf_puzzle {
    const sf_puzzle_kind *kind;
    void *instance;      /* constant after opening; owned; closed by sf_puzzle_close */
    int length;          /* elements of a genome */
    int n_letters;       /* elements are 0..n_letters-1 */
    const char *letters; /* how elements are written */
    int min_score;       /* score of entry 0 */
    int n_scores;        /* width of a histogram */
    bool partial;        /* this process holds a shard: what `evaluate` gives must be added over all ranks */
    int witness_size;    /* characters a witness needs, with the closing '\0' */
};

/* Opens chains on a lattice (puzzle_chain.c). The problem is copied; the engine is opened with `options`. */
int sf_puzzle_open_chain(sf_puzzle *puzzle, const sf_problem *problem, const sf_engine_options *options,
                         size_t n_expected, sf_error *err);

/* The engine inside a chain puzzle, for reports; NULL for other kinds. */
const sf_engine *sf_puzzle_engine(const sf_puzzle *puzzle);

/* Opens the closed-form kind (puzzle_onemax.c): letters 01, a genome with k ones has the histogram C(k, s), s = 0..k;
 * a genome and its reverse are the same puzzle. For tests. length in 1..60. */
int sf_puzzle_open_onemax(sf_puzzle *puzzle, int length, sf_error *err);

/* Closes the instance and clears the struct; a cleared puzzle is allowed. */
void sf_puzzle_close(sf_puzzle *puzzle);

/* Evaluates n genomes with n_threads OpenMP threads: histograms[n][n_scores] are overwritten, and checked. */
int sf_puzzle_evaluate(const sf_puzzle *puzzle, size_t n, const uint8_t *genomes, int n_threads, uint64_t *histograms,
                       sf_error *err);

#endif

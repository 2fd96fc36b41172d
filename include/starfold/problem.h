/* A problem: what all sequences of a batch share (lattice, score model, length), and with it the width of a histogram.
 *
 * A sequence is an array of `length` elements, each an index into the model's alphabet (hp: 0 = H, 1 = P); a batch is
 * `n` sequences one after the other. A histogram is an array of `n_scores` counts; entry i counts the conformations of
 * score min_score + i. */
#ifndef STARFOLD_PROBLEM_H
#define STARFOLD_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"
#include "starfold/lattice.h"
#include "starfold/score_model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SF_LENGTH_MIN = 3, SF_LENGTH_MAX = 64, SF_SCORES_MAX = 512 };

/* Two values of a count that are not numbers. An engine that proves what it was asked without counting leaves them. */
#define SF_COUNT_SOME (UINT64_MAX)        /* at least one conformation has this score; not counted */
#define SF_COUNT_UNKNOWN (UINT64_MAX - 1) /* a limit ended the work: not known whether the score is reachable */

typedef struct sf_problem {
    const sf_lattice *lattice;   /* static or owned by the caller; must outlive the problem */
    const sf_score_model *model; /* likewise */
    int length;                  /* residues, SF_LENGTH_MIN..SF_LENGTH_MAX */
    int min_score;               /* score of histogram[0]; 0 for models without negative weights */
    int n_scores;                /* width of a histogram, 1..SF_SCORES_MAX; the last entries may always be 0 */
} sf_problem;

/* Fills *problem. SF_EINPUT for a length out of range (names what is allowed), SF_ELIMIT when scores need more than
 * SF_SCORES_MAX entries. */
int sf_problem_init(sf_problem *problem, const sf_lattice *lattice, const sf_score_model *model, int length,
                    sf_error *err);

/* Reads text (exactly `length` letters, upper case or lower case) into elements[length]. SF_EINPUT names the letter, its
 * position from 1, and the alphabet, or both lengths. */
int sf_sequence_parse(const sf_problem *problem, const char *text, uint8_t *elements, sf_error *err);

/* Writes `length` letters and '\0' to text[length + 1]. */
void sf_sequence_write(const sf_problem *problem, const uint8_t *elements, char *text);

/* Writes the lesser of a sequence and its reverse, compared element by element from the front, to canonical[length]. */
void sf_sequence_canonical(int length, const uint8_t *elements, uint8_t *canonical);

/* Adds a count to another, both numbers or marks, in any order: numbers add; SF_COUNT_SOME stays; SF_COUNT_UNKNOWN stays
 * unless something was counted, then it becomes SF_COUNT_SOME. SF_EOVERFLOW when a sum of numbers reaches the marks. */
int sf_count_add(uint64_t *into, uint64_t count);

/* sf_count_add for n counts. */
int sf_counts_add(size_t n, uint64_t *into, const uint64_t *counts);

/* What follows from a histogram of n_scores counts. */
typedef struct sf_summary {
    uint64_t conformations; /* sum of the counted entries */
    int distinct_scores;    /* entries known to be reachable: the fitness, or its proven lower value */
    int best_score;         /* highest score known to be reachable */
    bool exact;             /* no entry is SF_COUNT_UNKNOWN */
    bool counted;           /* every entry is a number */
} sf_summary;

/* SF_EOVERFLOW when the sum does not fit 64 bits. */
int sf_histogram_summary(const sf_problem *problem, const uint64_t *histogram, sf_summary *summary);

/* True when all that was asked is known: of each score whether it is reachable, and the counts of the top_counts highest
 * that are. */
bool sf_histogram_settled(int n_scores, const uint64_t *histogram, int top_counts);

/* The paper's rule for best score M >= 3: stars[0] = floor(M / 2), stars[1] = M - 1, stars[2] = M. Below, returns false
 * and leaves stars as they were. */
bool sf_stars(int best_score, int stars[3]);

/* Score of a walk: `length` - 1 letters of the lattice. SF_EINPUT when a letter is not one of the lattice's or the walk
 * meets itself. Plain and independent of the engines. */
int sf_walk_score(const sf_problem *problem, const uint8_t *elements, const char *walk, int *score, sf_error *err);

#ifdef __cplusplus
}
#endif
#endif

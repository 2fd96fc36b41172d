/* The shapes of a census: its distinct histograms, and how many sequences have each.
 *
 * All sequences of a length share the same conformations, so equal histograms are equal distributions over the scores and
 * the other way round: the exact histogram is the shape, and nothing is rounded. A search towards a target distribution
 * asks this list whether any sequence can have it, and what range of counts the sequences of a fitness leave it. */
#ifndef SF_CORE_CENSUS_SHAPES_H
#define SF_CORE_CENSUS_SHAPES_H

#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"

/* Row i: n_scores counts, then how many sequences have them, then the least of these sequences (as a number, residue 0 in
 * the highest of `length` bits, 0 for the first letter of the alphabet: the order of the letters). */
typedef struct sf_shapes {
    int n_scores;
    size_t n, room;
    uint64_t *row; /* row[room][n_scores + 2] */
} sf_shapes;

/* Where shapes->n and room are 0 and row is NULL, nothing was taken yet. */
static inline size_t sf_shapes_width(const sf_shapes *shapes)
{
    return (size_t)shapes->n_scores + 2;
}

static inline uint64_t *sf_shapes_row(const sf_shapes *shapes, size_t i)
{
    return shapes->row + i * sf_shapes_width(shapes);
}

/* Room for n more rows. SF_ENOMEM; the rows are kept. */
int sf_shapes_reserve(sf_shapes *shapes, size_t n, sf_error *err);
void sf_shapes_free(sf_shapes *shapes);

/* Sorts the rows by their counts, that of the lowest score first, and makes one row of those with the same counts. The
 * result does not depend on the order before. Takes 8 bytes a row beside. */
void sf_shapes_settle(sf_shapes *shapes);

/* What the shapes say in short, by fitness (distinct scores, 0..n_scores). */
typedef struct sf_shapes_summary {
    int n_scores;
    uint64_t most_shared; /* sequences that the commonest shape has */
    uint64_t *sequences;  /* [n_scores + 1], by fitness */
    uint64_t *shapes;     /* likewise */
    uint64_t *range;      /* [n_scores + 1][n_scores][3]: least, middle (of an even number the lower) and greatest count of
                           * each score over the sequences of that fitness */
} sf_shapes_summary;

/* The shapes are settled. SF_ENOMEM; takes 16 bytes a shape while it works. */
int sf_shapes_summarise(const sf_shapes *shapes, sf_shapes_summary *summary, sf_error *err);
void sf_shapes_summary_free(sf_shapes_summary *summary);

static inline const uint64_t *sf_shapes_range(const sf_shapes_summary *summary, int fitness, int score)
{
    return summary->range + ((size_t)fitness * (size_t)summary->n_scores + (size_t)score) * 3;
}

/* Entries of row i that are not zero, and the index of the last of them. */
int sf_shapes_fitness(const sf_shapes *shapes, size_t i);
int sf_shapes_best(const sf_shapes *shapes, size_t i);

#endif

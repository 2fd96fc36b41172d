/* Histograms for score models other than plain HP, from the sliced layout: any number of letters, weights of either sign.
 *
 * Letters and weights enter through sets of pairs alone. A model whose contacts count k or nothing asks for the pairs that
 * count, and the scores of plain HP, times k, are the answer. For all others a score is the sum, over the binary digits of
 * the weights' sizes, of how many contacts have that digit; each digit and sign is one set of pairs. */
#ifndef SF_CORE_TABLE_WEIGHTED_H
#define SF_CORE_TABLE_WEIGHTED_H

#include <stddef.h>
#include <stdint.h>

#include "core/engines/table/table_sliced.h"
#include "starfold/problem.h"

/* Weights are at most SF_WEIGHT_MAX in size, and scores span at most SF_SCORES_MAX: 7 and 9 binary digits. */
enum { SF_WEIGHT_DIGITS = 7, SF_VALUE_DIGITS = 9, SF_TERMS_MAX = 2 * SF_WEIGHT_DIGITS };

/* Contacts of these pairs add 2^digit to the value, or take it off. */
typedef struct sf_weighted_term {
    sf_contact_map pairs;
    int digit;
} sf_weighted_term;

/* A sequence, as sets of pairs. Its scores are unit * (value - zero), 0 <= value < n_values. */
typedef struct sf_weighted_query {
    int unit;                            /* greatest common divisor of the model's weights, >= 1 */
    int zero;                            /* value of score 0 */
    int n_values;                        /* 1..SF_SCORES_MAX */
    int n_plus, n_terms;                 /* the first n_plus terms add, the others take off */
    sf_weighted_term term[SF_TERMS_MAX]; /* none with an empty set */
} sf_weighted_query;

/* Fills *query for elements[length] of the problem. */
void sf_weighted_query_init(sf_weighted_query *query, const sf_problem *problem, const sf_contact_layout *layout,
                            const uint8_t *elements);

/* Adds the conformations of each of n sequences elements[n][length], by score, to histograms[n][problem->n_scores]. Looks
 * only at piece `piece` of `n_pieces` of the table. Thread-safe. */
void sf_weighted_histograms(const sf_sliced_table *sliced, const sf_problem *problem, size_t piece, size_t n_pieces,
                            size_t n, const uint8_t *elements, uint64_t *histograms);

#endif

/* The operators of the genetic algorithm, as pure functions of arrays and a stream. Integers only; every tie is broken
 * by the index, so a generation is a function of the one before and the seed. */
#ifndef SF_CORE_SEARCH_OPERATORS_H
#define SF_CORE_SEARCH_OPERATORS_H

#include <stdint.h>

#include "core/base/stream.h"
#include "core/search/config.h"

/* order[0..n_first-1]: the first of the indices sorted by fitness descending, index ascending; what is behind them in
 * order[n] is anything. */
void sf_rank(int32_t n, const int32_t *fitness, int32_t n_first, int32_t *order);

/* The last one of sf_rank's order: least fitness, highest index. */
int32_t sf_rank_worst(int32_t n, const int32_t *fitness);

/* Fitness-proportional selection: cumulative[i] = fitness[0] + ... + fitness[i]; when all are 0, i + 1 (uniform). */
void sf_selection_weights(int32_t n, const int32_t *fitness, uint64_t *cumulative);

/* Draws an index with probability proportional to its weight; one number of the stream is used. O(log n). */
int32_t sf_selection_draw(int32_t n, const uint64_t *cumulative, sf_stream *stream);

/* The cut of one-point crossover, uniform in 1..length-1 (length 1: 1, nothing is swapped). */
int sf_crossover_cut(int length, sf_stream *stream);

/* Children of a and b, with everything from element `cut` on swapped. second may be NULL. The arrays do not overlap. */
void sf_crossover_one_point(int length, const uint8_t *a, const uint8_t *b, int cut, uint8_t *first, uint8_t *second);

/* Each element changes with probability rate / SF_RATE_ONE: of two letters to the other one, of more to one of the
 * others, each as likely. */
void sf_mutation_flip(int length, int n_letters, uint64_t rate, sf_stream *stream, uint8_t *genome);

/* Individual `individual` of generation 0: every element uniform. */
void sf_initial_genome(const sf_search_config *config, int32_t trial, int32_t island, int32_t individual, int length,
                       int n_letters, uint8_t *genome);

/* Breeds generation `generation` of an island from the one before, genomes[population][length] with its fitness, into
 * next[population][length]: the elites unchanged at the front, best first, then children in pairs, the second of the
 * last pair dropped when there is no place for it. cumulative[population] and order[population] are scratch. */
void sf_breed(const sf_search_config *config, int32_t trial, int32_t island, int64_t generation, int length,
              int n_letters, const uint8_t *genomes, const int32_t *fitness, uint8_t *next, uint64_t *cumulative,
              int32_t *order);

#endif

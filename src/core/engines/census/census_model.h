/* Census with a model of two letters other than HP: all 2^N sequences of a length from the table of contact maps.
 *
 * As for HP (census_trie.h) the residues of one class are decided one way after the other and those of the other class, the
 * dense ones, answered together. What matters of a map then is, for each dense residue, how many of its contacts are with
 * H and how many with P: a digit each, together the *code*. There are far more codes than for HP, where P does not count,
 * so few maps meet on the way to them, and merging as HP does costs more than it saves. Instead a map is two numbers, of
 * what its outer and of what its inner decided residues touch; a code is the sum of two look-ups. */
#ifndef SF_CORE_CENSUS_MODEL_H
#define SF_CORE_CENSUS_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/contacts/map_table.h"
#include "core/engines/census/census.h"
#include "starfold/problem.h"

typedef struct sf_census_model sf_census_model; /* constant after opening */

/* True for a model of two letters. */
bool sf_census_model_can(const sf_problem *problem);

/* Lays maps of the problem's lattice and length out; they are not kept. SF_ENOMEM. *plan is NULL on failure. */
int sf_census_model_open(sf_census_model **plan, const sf_map_table *maps, const sf_problem *problem, sf_census_kind kind,
                         sf_error *err);
void sf_census_model_close(sf_census_model *plan); /* NULL is allowed */

/* As sf_census_count and sf_census_count_shapes: letter 0 of the alphabet in the place of H; scores are counted from
 * problem->min_score on, and a gap is a score between lowest and best that no conformation has. `each` without masks; best
 * scores there fit a byte. shapes (NULL but for histograms) have problem->n_scores scores. */
int sf_census_model_count(const sf_census_model *plan, size_t part, size_t n_parts, int n_threads, const volatile int *stop,
                          const sf_census_each *each, sf_census *census, sf_shapes *shapes, sf_error *err);

/* Bytes that opening takes at its highest, the maps not included, and bytes that a plan with threads that count takes, the
 * shapes not included; about. */
uint64_t sf_census_model_open_bytes(const sf_problem *problem, sf_census_kind kind);
uint64_t sf_census_model_count_bytes(const sf_problem *problem, sf_census_kind kind, int n_threads);

/* Seconds that counting takes one thread, about, as measured on one core of 2.8 GHz. */
double sf_census_model_seconds(const sf_problem *problem, sf_census_kind kind);

#endif

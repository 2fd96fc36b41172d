/* The table engine: everything about a sequence as a question to the distinct contact maps of its length.
 *
 * With the HP model a sequence is its set of H residues, bit k = residue k. A map of a table's lengths has at most
 * SF_TABLE_SCORE_MAX contacts (square 24 residues: 15; cubic 17: 14), so a set of HP scores fits 16 bits and a number of
 * contacts 4. Other score models have a path of their own, for up to SF_SCORES_MAX scores. */
#ifndef SF_CORE_TABLE_H
#define SF_CORE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "core/contacts/map_table.h"
#include "starfold/engine.h"
#include "starfold/problem.h"

enum { SF_TABLE_SCORE_MAX = 15, SF_TABLE_SCORES = SF_TABLE_SCORE_MAX + 1 };

/* What a table is made for. */
enum { SF_TABLE_SETS = 1, SF_TABLE_HISTOGRAMS = 2 };

typedef struct sf_table sf_table; /* constant after opening; shared between threads */

/* Builds the maps and lays them out for `kinds` (SF_TABLE_SETS, SF_TABLE_HISTOGRAMS or both). SF_ELIMIT as
 * sf_map_table_build. *table is NULL on failure. */
int sf_table_open(sf_table **table, const sf_lattice *lattice, int length, unsigned kinds,
                  const sf_map_options *options, sf_error *err);

/* The same from maps that exist; they are not kept and may be freed afterwards. */
int sf_table_open_maps(sf_table **table, const sf_map_table *maps, unsigned kinds, sf_error *err);

/* Makes the table for histograms that an engine of the problem needs: lays options->maps out, or builds the shard that the
 * options name. SF_EINPUT when the maps are of another lattice or length. */
int sf_table_open_for(sf_table **table, const sf_problem *problem, const sf_engine_options *options, sf_error *err);

/* About the bytes that one of n_shards (1: the whole) of such a table holds; and those that making it takes at its highest,
 * its maps included, when they are built in n_parts (0: they are there already) by as many ranks, with n_threads each. */
uint64_t sf_table_bytes(const sf_lattice *lattice, int length, int n_shards);
uint64_t sf_table_making_bytes(const sf_lattice *lattice, int length, int n_threads, int n_parts, int n_shards);

/* NULL is allowed. */
void sf_table_close(sf_table *table);

size_t sf_table_maps(const sf_table *table);
uint64_t sf_table_memory(const sf_table *table); /* bytes held */

/* Adds the conformations of each of n sequences, by score, to histograms[n][width], width > most contacts. Looks at piece
 * `piece` of `n_pieces` of the table only: the pieces add to the whole. Thread-safe. The table was made for histograms. */
void sf_table_histograms(const sf_table *table, size_t piece, size_t n_pieces, size_t n, const uint32_t *sequences,
                         size_t width, uint64_t *histograms);

/* The same for any score model: adds the conformations of each of n sequences elements[n][length] of the problem, which is of
 * the table's lattice and length, by score, to histograms[n][problem->n_scores]. */
void sf_table_model_histograms(const sf_table *table, const sf_problem *problem, size_t piece, size_t n_pieces, size_t n,
                               const uint8_t *elements, uint64_t *histograms);

/* Room for one thread's questions for sets of scores. SF_ENOMEM; *work is NULL on failure. Closed before the table. */
typedef struct sf_table_work sf_table_work;
int sf_table_work_open(sf_table_work **work, const sf_table *table, sf_error *err);
void sf_table_work_close(sf_table_work *work); /* NULL is allowed */

/* Bit s of the answer is set when some conformation of the sequence has score s. The table was made for sets. */
uint32_t sf_table_scores(const sf_table *table, sf_table_work *work, uint32_t sequence);

/* The plain scans (table_plain.c): AND and count bits, for every map; or add the weight of every contact of it. Oracles, and
 * what benchmarks compare with. Histograms are added to. */
uint32_t sf_table_plain_scores(const sf_map_table *maps, uint32_t sequence);
void sf_table_plain_histogram(const sf_map_table *maps, uint32_t sequence, uint64_t *histogram);
void sf_table_plain_model_histogram(const sf_map_table *maps, const sf_problem *problem, const uint8_t *elements,
                                    uint64_t *histogram);

#endif

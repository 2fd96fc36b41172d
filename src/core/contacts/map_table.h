/* The distinct contact maps of all reduced conformations of a length, each with its multiplicity: how many conformations
 * share it. Sequence and engine do not enter; everything about a sequence is then a question to this table. */
#ifndef SF_CORE_MAP_TABLE_H
#define SF_CORE_MAP_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "core/contacts/contact.h"
#include "starfold/error.h"
#include "starfold/lattice.h"

typedef struct sf_map_table {
    const sf_lattice *lattice;
    sf_contact_layout layout;
    size_t n_maps;
    uint64_t *low;          /* low[n_maps]: low words of the maps */
    uint64_t *high;         /* high[n_maps], or NULL when a map is one word */
    uint32_t *count;        /* count[n_maps] >= 1 */
    uint64_t conformations; /* sum of count, equal to sf_lattice_conformations */
    int max_contacts;       /* most contacts of a map */
} sf_map_table;

typedef struct sf_map_options {
    int n_threads;            /* >= 1 */
    uint64_t memory_limit;    /* bytes that building and the table may take together; 0: what the machine has free */
    const volatile int *stop; /* polled; not zero: SF_ESTOPPED; may be NULL */
} sf_map_options;

/* Builds the table by groups of prefixes (map_build.c): maps strictly ascending as integers, the same bytes for any number
 * of threads. Checked with sf_map_table_check. SF_ELIMIT for a length outside 3..sf_map_table_length_max, and, before
 * any work, when the memory is not there (the line names the size). On failure the table is empty and may be freed. */
int sf_map_table_build(sf_map_table *table, const sf_lattice *lattice, int length, const sf_map_options *options,
                       sf_error *err);

/* The same table by plain depth-first search and one big hash table; the oracle, and what benchmarks compare with. */
int sf_map_table_build_plain(sf_map_table *table, const sf_lattice *lattice, int length, const sf_map_options *options,
                             sf_error *err);

/* One part of the table for ranks that share the work: the parts 0..n_parts-1, one after the other, are the whole table.
 * `conformations` is this part's sum; the total cannot be checked here, see sf_map_table_check on the whole. */
int sf_map_table_build_part(sf_map_table *table, const sf_lattice *lattice, int length, size_t part, size_t n_parts,
                            const sf_map_options *options, sf_error *err);

/* SF_ECHECK unless maps are strictly ascending, within the layout's bits, with counts >= 1 that sum to `conformations` and
 * to the known number of walks, and max_contacts is right. */
int sf_map_table_check(const sf_map_table *table, sf_error *err);

/* The same for a part, whose conformations are not known beforehand. */
int sf_map_table_check_part(const sf_map_table *table, sf_error *err);

/* Frees and clears; an empty (zeroed) table is allowed. */
void sf_map_table_free(sf_map_table *table);

/* Makes room for n_maps maps; contents undefined. SF_ENOMEM. */
int sf_map_table_alloc(sf_map_table *table, const sf_lattice *lattice, int length, size_t n_maps, sf_error *err);

static inline sf_contact_map sf_map_table_map(const sf_map_table *table, size_t i)
{
    return (table->high ? (sf_contact_map)table->high[i] << 64 : 0) | table->low[i];
}

/* Longest chain whose maps fit two words and whose multiplicities fit 32 bits: 24 square, 17 cubic. */
int sf_map_table_length_max(const sf_lattice *lattice);

/* SF_ELIMIT, naming what is allowed, unless length is in 3..sf_map_table_length_max. */
int sf_map_table_length_check(const sf_lattice *lattice, int length, sf_error *err);

/* How many maps the table has; 0 for a length outside 3..sf_map_table_length_max. */
uint64_t sf_map_table_expected(const sf_lattice *lattice, int length);

/* How many of them the largest of n_parts parts has, about: parts are of like work, and chains that begin straight have many
 * conformations and few maps. */
uint64_t sf_map_table_part_expected(const sf_lattice *lattice, int length, int n_parts);

/* Bytes of such a table, and about those that building one part of n_parts (1: the whole) with n_threads takes at its
 * highest, the part included. */
uint64_t sf_map_table_bytes(const sf_lattice *lattice, int length);
uint64_t sf_map_table_build_bytes(const sf_lattice *lattice, int length, int n_threads, int n_parts);

/* Bytes lost besides, once n maps are worked on: to huge pages that are not full, and to what was freed in small pieces. */
uint64_t sf_map_table_slack_bytes(uint64_t n_maps, int n_threads);

#endif

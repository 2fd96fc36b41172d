/* The layout for the census: a contact joins an even and an odd residue, so a map is, for each residue of one class (the
 * decided ones), the row of residues of the other class (the dense ones) that it touches.
 *
 * Once the decided residues are H or P, all that matters of a map is how many contacts with H each dense residue has: one
 * mixed-radix digit each, together the *code*. Maps are sorted by rows, the one decided last first, as a trie: maps that
 * agree on what is still undecided are one node, and of those only the distinct codes go on. */
#ifndef SF_CORE_CENSUS_TRIE_H
#define SF_CORE_CENSUS_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/isa.h"
#include "core/contacts/map_table.h"
#include "core/engines/census/census.h"

enum { SF_CENSUS_LEVELS = SF_CONTACT_LENGTH_MAX / 2 + 1, SF_CENSUS_TAIL = 3 };

/* An entry, what a node carries along, is a code (the low code_bits), the row of the node it is at (above the code), and
 * this bit: at least two conformations have the code. A row needs at most 11 bits, a code 22, together at most 31. */
#define SF_CENSUS_TWICE UINT32_C(0x80000000)
#define SF_CENSUS_MAP_TWICE UINT16_C(0x8000) /* the same for a map, in row[0] */

typedef struct sf_census_trie {
    int length;
    int n_decided, n_dense;
    int decided[SF_CENSUS_LEVELS]; /* residues, in the order in which they are decided */
    int dense[SF_CENSUS_LEVELS];   /* residues, the one of the most significant digit first */
    int radix[SF_CENSUS_LEVELS];
    uint32_t size[SF_CENSUS_LEVELS + 1]; /* size[l]: product of the radices of digits l and on; size[0] codes in all */
    bool mirror; /* even length: the reverse of a chain swaps the classes; else it reverses each */
    /* Level l is where decided[l] is decided. Node i of level l + 1 has the nodes child[l][i] .. child[l][i + 1] - 1 of level
     * l; these differ in the row of decided[l] alone, which is row[l], and row_code[l][row] is its code. On level 0 a node
     * is a map, and its row carries SF_CENSUS_MAP_TWICE when several conformations share the map. */
    size_t n_nodes[SF_CENSUS_LEVELS + 1];
    uint32_t *child[SF_CENSUS_LEVELS];
    uint16_t *row[SF_CENSUS_LEVELS];
    uint32_t *row_code[SF_CENSUS_LEVELS];
    uint32_t *map_count; /* conformations of each map, where histograms are wanted; else NULL */
    void *memory;        /* what child, row and map_count lie in; NULL: it is the team's */
    int code_bits;
    /* From level tail_level on, SF_CENSUS_TAIL levels before the last (0 for short chains), nothing is folded any more:
     * tail_code[choices][i] is what the residues still to be decided add to a code of node i of that level; choices has
     * the first of them highest. */
    int tail_level;
    uint32_t *tail_code[1 << SF_CENSUS_TAIL];
    uint32_t spread_decided[1 << (SF_CONTACT_LENGTH_MAX / 2)]; /* bits of decisions (first highest) to residues */
    uint32_t spread_dense[1 << (SF_CONTACT_LENGTH_MAX / 2)];
    uint64_t bytes; /* of child, row and map_count */
} sf_census_trie;

/* Fills the classes, the radices and the tables from choices to residues alone; nothing to be freed. */
void sf_census_trie_classes(sf_census_trie *trie, const sf_lattice *lattice, int length);

/* As sf_census_open. Freed with sf_census_trie_free; a zeroed trie is allowed there. */
int sf_census_trie_init(sf_census_trie *trie, const sf_map_table *maps, sf_census_kind kind, int n_threads,
                        const sf_census_team *team, sf_error *err);
void sf_census_trie_free(sf_census_trie *trie);

/* One thread's room for the dense digits. */
enum { SF_CENSUS_LANES = 32, SF_CENSUS_LANE_DIGITS = 5 };

typedef struct sf_census_dense {
    uint8_t *mark[2];                             /* mark[h][size[0]]: 0 absent, 1 once, more: at least twice */
    uint16_t *scores[SF_CENSUS_LEVELS + 1];       /* scores[l][size[l]], sets of scores, by the codes still open */
    uint16_t *twice[SF_CENSUS_LEVELS + 1];
    uint16_t *lane_scores[SF_CENSUS_LEVELS + 1];  /* the same for SF_CENSUS_LANES choices of the first digits at once */
    uint16_t *lane_twice[SF_CENSUS_LEVELS + 1];
} sf_census_dense;

int sf_census_dense_init(sf_census_dense *dense, const sf_census_trie *trie, sf_error *err);
void sf_census_dense_free(sf_census_dense *dense);

/* The same for histograms. */
typedef struct sf_census_sums {
    uint32_t *sum;                          /* sum[size[0]]: conformations of a code */
    uint32_t *lane[SF_CENSUS_LEVELS + 1];   /* lane[l][size[l]][SF_TABLE_SCORES], histograms, by the codes still open; l > 0 */
    void *room[SF_CENSUS_LEVELS + 1];       /* what lane[l] lies in: there is something to read before it */
} sf_census_sums;

int sf_census_sums_init(sf_census_sums *sums, const sf_census_trie *trie, sf_error *err);
void sf_census_sums_free(sf_census_sums *sums);

/* Answers for all ways the dense residues can be H or P, given the decisions (first highest) and the codes they leave,
 * dense->mark[last decision]; adds them to *census. One for each instruction set; see census_kernel.h. */
typedef struct sf_census_kernel {
    void (*answer)(const sf_census_trie *trie, sf_census_dense *dense, uint32_t decisions, const sf_census_each *each,
                   sf_census *census);
    /* From sums->sum; also writes one row of n_scores counts, how many sequences, and the least of them, for each. */
    void (*answer_counts)(const sf_census_trie *trie, sf_census_sums *sums, uint32_t decisions, const sf_census_each *each,
                          sf_census *census, int n_scores, uint64_t *row);
} sf_census_kernel;

extern const sf_census_kernel sf_census_kernel_portable;
extern const sf_census_kernel sf_census_kernel_avx2;   /* census_avx2.c, x86-64 only */
extern const sf_census_kernel sf_census_kernel_avx512; /* census_avx512.c, x86-64 only */

#endif

/* The layout for sets of scores: maps in levels, so that most are never looked at.
 *
 *   top     maps that agree on the first `top_length` residues; kept as bit planes, 512 nodes a block
 *   group   maps that agree on the first `group_length` residues; the groups of a top node lie together
 *   tail    what the last residues touch: one 32-bit key a map; the tails of a group lie together
 *
 * With top_length = group_length the middle level is absent: group g is top node g. For each way the last residues can be
 * H or P, every node knows a bound on the contacts that they can add, whatever the residues before. */
#ifndef SF_CORE_TABLE_SET_H
#define SF_CORE_TABLE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/isa.h"
#include "core/contacts/map_table.h"
#include "core/engines/table/table_image.h"

enum { SF_SET_BLOCK = 512, SF_SET_BLOCK_WORDS = SF_SET_BLOCK / 64, SF_SET_SLICES = 4 };

typedef struct sf_set_table {
    sf_contact_layout layout;
    sf_contact_masks masks;
    int n_steps; /* of the lattice */
    int top_length, group_length;
    int top_shift;   /* bits of a map below the top part: middle and tail */
    int group_shift; /* bits of the tail */
    size_t n_maps, n_groups, n_top, n_blocks;
    int top_bits;           /* planes of a block, and one more that is zero */
    uint64_t *plane;        /* plane[n_blocks][top_bits + 1][SF_SET_BLOCK_WORDS] */
    uint64_t *top_bound;    /* top_bound[1 << (length - top_length)][n_blocks][SF_SET_SLICES][SF_SET_BLOCK_WORDS] */
    uint64_t *bare;         /* bare[n_blocks][SF_SET_BLOCK_WORDS]: nodes with a map whose other residues touch nothing */
    uint32_t *record;       /* of each top node, see below */
    uint32_t *record_start; /* record of node i: record + record_start[i]; NULL without the middle level: 4 * i */
    uint32_t *tail;         /* tail[n_maps] */
    uint64_t bytes;
    const struct sf_set_kernel *kernel;
} sf_set_table;

/* A record is what a node needs once it is looked at, side by side so that it costs one cache miss, in 32-bit words:
 *
 *   map (low word, high word)   the node's own contacts
 *   without the middle level:   first, last: its tails are tail[first] .. tail[last - 1]
 *   with it:                    n, the number of its groups; label[n], what the middle residues touch; bound[w][n], where
 *                               bits 4 (p % 8) .. of word w = p / 8 bound what the tail adds when its H are pattern p;
 *                               first[n + 1]: the tails of group g are tail[first[g]] .. tail[first[g + 1] - 1] */
enum { SF_SET_RECORD = 4, SF_SET_RECORD_HEAD = 3, SF_SET_PADDING = 64 };

/* Room for one thread's queries. */
typedef struct sf_set_work {
    uint64_t *ceiling; /* of the top nodes: ceiling[n_blocks][SF_SET_SLICES][SF_SET_BLOCK_WORDS] */
    uint32_t *node;    /* top nodes found */
    /* Groups, in the order in which they were come upon. */
    uint32_t *first, *last; /* their tails */
    uint8_t *base;          /* their scores before the tail */
    uint8_t *group;         /* their ceilings */
    uint32_t *hit;          /* which of them to look at */
} sf_set_work;

typedef struct sf_set_query {
    uint64_t top_mask;
    uint32_t label_mask, tail_mask;
    uint32_t top_pattern, group_pattern; /* which of the last residues are H; the first of them is bit 0 */
    int best;                            /* no conformation can have a higher score */
    int n_active;                        /* planes to add, filled up with the zero plane to a multiple of 4 */
    uint32_t active[68];
} sf_set_query;

/* One for each instruction set; see table_set_kernel.h. */
typedef struct sf_set_kernel {
    uint32_t (*scores)(const sf_set_table *table, const sf_set_query *query, sf_set_work *work);
    int (*most)(const uint32_t *keys, size_t n, uint32_t mask); /* largest popcount(key & mask) */
} sf_set_kernel;

extern const sf_set_kernel sf_set_kernel_portable;
extern const sf_set_kernel sf_set_kernel_avx2;   /* table_avx2.c, x86-64 only */
extern const sf_set_kernel sf_set_kernel_avx512; /* table_avx512.c, x86-64 only */

/* Lays maps out for the instruction set of sf_isa_get; they are not kept. `levels`: 0 as fits the number of maps, 2 or 3 to
 * go without or with the middle level (2 is not heeded where the top would be too wide). SF_ENOMEM. Freed with
 * sf_set_table_free; a zeroed table is allowed there. */
int sf_set_table_init(sf_set_table *set, const sf_map_table *maps, int levels, sf_error *err);
void sf_set_table_free(sf_set_table *set);

/* Lists the arrays of a table whose numbers are set; returns how many. */
size_t sf_set_table_arrays(sf_set_table *set, sf_table_array arrays[SF_TABLE_ARRAYS]);

/* Takes the kernel for the instruction set of sf_isa_get. */
void sf_set_table_dispatch(sf_set_table *set);

int sf_set_work_init(sf_set_work *work, const sf_set_table *set, sf_error *err);
void sf_set_work_free(sf_set_work *work);

/* Set of scores of a sequence (bit k: residue k is H). */
uint32_t sf_set_scores(const sf_set_table *set, uint32_t sequence, sf_set_work *work);

#endif

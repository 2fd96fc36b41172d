/* What the builders of the table share. */
#ifndef SF_CORE_MAP_BUILD_H
#define SF_CORE_MAP_BUILD_H

#include "core/contacts/map_table.h"

/* A prefix of a chain: what its residues touch, and its steps (3 bits each, the second step lowest; the first is fixed). */
typedef struct sf_map_prefix {
    uint64_t map;
    uint64_t steps;
} sf_map_prefix;

/* Residues of the prefixes that the grouped build starts from. */
int sf_map_build_prefix_length(const sf_lattice *lattice, int length);

/* SF_ELIMIT with the size when building a part does not fit the limit. */
int sf_map_table_memory_check(const sf_lattice *lattice, int length, size_t n_parts, const sf_map_options *options,
                              sf_error *err);

/* A board large enough that no chain leaves it, for depth-first search; all cells 0 at first. What a cell holds is the
 * builder's own business. */
typedef struct sf_map_board {
    uint32_t *cell;
    int offset[SF_STEPS_MAX]; /* index difference of each step; offset[i ^ 1] = -offset[i] */
    int n_steps;
    int origin; /* index of residue 0 */
} sf_map_board;

#define SF_MAP_BOARD_TAKEN UINT32_C(0x80000000) /* in a cell: a residue is there */

/* SF_ENOMEM. Freed with sf_map_board_free; a zeroed board is allowed there. */
int sf_map_board_init(sf_map_board *board, const sf_lattice *lattice, int length, sf_error *err);
void sf_map_board_free(sf_map_board *board);

/* The bit of residue k among the places of the residues of its parity. */
static inline uint32_t sf_map_board_place(int residue)
{
    return UINT32_C(1) << residue / 2;
}

/* How many steps, from the first on, may be tried when `axes` axes are open (the first step opens one): both ways along
 * the open ones, and the positive way along the next. Taking that last one opens it. */
static inline int sf_map_board_choices(const sf_map_board *board, int axes)
{
    int choices = 2 * axes + 1;
    return choices < board->n_steps ? choices : board->n_steps;
}

#endif

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

/* SF_ELIMIT with the size when building does not fit the limit. */
int sf_map_table_memory_check(const sf_lattice *lattice, int length, const sf_map_options *options, sf_error *err);

/* A board large enough that no chain leaves it, for depth-first search: empty cells are 0, an occupied one holds
 * SF_MAP_BOARD_TAKEN and the place bit of its residue (bit k / 2), so that the OR of the neighbours of residue k's site is
 * the row of contacts k owns, but for its predecessor. */
#define SF_MAP_BOARD_TAKEN UINT32_C(0x80000000)

typedef struct sf_map_board {
    uint32_t *cell;
    int offset[SF_STEPS_MAX]; /* index difference of each step; offset[i ^ 1] = -offset[i] */
    int n_steps;
    int origin; /* index of residue 0 */
} sf_map_board;

/* SF_ENOMEM. Freed with sf_map_board_free; a zeroed board is allowed there. */
int sf_map_board_init(sf_map_board *board, const sf_lattice *lattice, int length, sf_error *err);
void sf_map_board_free(sf_map_board *board);

static inline uint32_t sf_map_board_label(int residue)
{
    return SF_MAP_BOARD_TAKEN | UINT32_C(1) << residue / 2;
}

/* How many steps, from the first on, may be tried when `axes` axes are open (the first step opens one): both ways along
 * the open ones, and the positive way along the next. Taking that last one opens it. */
static inline int sf_map_board_choices(const sf_map_board *board, int axes)
{
    int choices = 2 * axes + 1;
    return choices < board->n_steps ? choices : board->n_steps;
}

/* OR of the neighbour cells, without SF_MAP_BOARD_TAKEN. */
static inline uint32_t sf_map_board_touched(const sf_map_board *board, int position)
{
    uint32_t row = 0;
    for (int i = 0; i < board->n_steps; i++)
        row |= board->cell[position + board->offset[i]];
    return row & ~SF_MAP_BOARD_TAKEN;
}

#endif

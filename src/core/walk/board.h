/* A board around the first residue, wide enough that no neighbour of a walk falls off it: one byte a site. */
#ifndef SF_CORE_WALK_BOARD_H
#define SF_CORE_WALK_BOARD_H

#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"
#include "starfold/lattice.h"

typedef struct sf_walk_board {
    uint8_t *site; /* site[n_sites], 0 where nothing is; owned */
    size_t n_sites;
    ptrdiff_t origin;             /* of the first residue */
    ptrdiff_t move[SF_STEPS_MAX]; /* what each step adds to a site */
    int n_steps;
} sf_walk_board;

/* An empty board for walks of `length` residues from the origin: (2 length + 1)^dimension sites. */
int sf_walk_board_init(sf_walk_board *board, const sf_lattice *lattice, int length, sf_error *err);

void sf_walk_board_free(sf_walk_board *board);

#endif

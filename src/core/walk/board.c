/* Where the walks are laid out; see board.h. */
#include "core/walk/board.h"

#include <stdlib.h>

int sf_walk_board_init(sf_walk_board *board, const sf_lattice *lattice, int length, sf_error *err)
{
    const ptrdiff_t side = 2 * length + 1; /* coordinates -length .. length; a walk reaches length - 1 */
    ptrdiff_t stride[3] = {1, side, side * side};
    ptrdiff_t n_sites = 1;
    *board = (sf_walk_board){.n_steps = lattice->n_steps};
    for (int axis = 0; axis < lattice->dimension; axis++) {
        n_sites *= side;
        board->origin += length * stride[axis];
    }
    for (int i = 0; i < lattice->n_steps; i++) {
        for (int axis = 0; axis < lattice->dimension; axis++)
            board->move[i] += lattice->step[i][axis] * stride[axis];
    }
    board->n_sites = (size_t)n_sites;
    board->site = calloc(board->n_sites, 1);
    if (!board->site)
        return sf_fail(err, SF_ENOMEM, "no memory for a board of %zu sites", board->n_sites);
    return SF_OK;
}

void sf_walk_board_free(sf_walk_board *board)
{
    free(board->site);
    *board = (sf_walk_board){0};
}

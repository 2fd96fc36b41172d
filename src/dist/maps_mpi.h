/* The table of contact maps, built by all ranks together: each builds a share of the groups of prefixes. The whole lies once
 * on each node, in memory that its ranks share; small ones, and where there is no such memory, in each rank. */
#ifndef SF_DIST_MAPS_MPI_H
#define SF_DIST_MAPS_MPI_H

#include "core/contacts/map_table.h"
#include "dist/comm.h"
#include "dist/node_mpi.h"

/* Maps that every rank sees. All zero: none. */
typedef struct sf_maps {
    sf_map_table table; /* constant */
    sf_node *node;      /* whose memory the table's arrays are; NULL: they are this rank's own */
} sf_maps;

/* The whole table on every rank, checked as sf_map_table_check does; the same for any ranks and threads. On failure it is
 * empty. Collective; every rank passes the same lattice and length and gets the same code. */
int sf_maps_build_together(const sf_comm *comm, sf_maps *maps, const sf_lattice *lattice, int length,
                           const sf_map_options *options, sf_error *err);

/* Rank 0's maps to all; the other ranks pass none and need not know what they will get. On failure all have none.
 * Collective; the same code. */
int sf_maps_broadcast(const sf_comm *comm, sf_maps *maps, const sf_lattice *lattice, int length, sf_error *err);

/* Frees and clears. Collective. */
void sf_maps_free(sf_maps *maps);

#endif

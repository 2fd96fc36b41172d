/* The table of contact maps, built by all ranks together: each builds a share of the groups of prefixes and gets the
 * others' shares. */
#ifndef SF_DIST_MAPS_MPI_H
#define SF_DIST_MAPS_MPI_H

#include <stdbool.h>

#include "core/contacts/map_table.h"
#include "dist/comm.h"

/* The whole table on every rank that wants it and an empty one on the others, checked with sf_map_table_check; the same for
 * any ranks and threads. On failure it is empty. Collective; every rank passes the same lattice and length and gets the
 * same code. */
int sf_maps_build_together(const sf_comm *comm, sf_map_table *maps, const sf_lattice *lattice, int length,
                           const sf_map_options *options, bool wanted, sf_error *err);

/* Rank 0's maps to all that want them: the other ranks pass a table that is empty and need not know what it will hold.
 * Collective. */
int sf_maps_broadcast(const sf_comm *comm, sf_map_table *maps, const sf_lattice *lattice, int length, bool wanted,
                      sf_error *err);

#endif

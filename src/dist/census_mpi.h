/* The census's layout of the maps, made by the ranks of each node together. */
#ifndef SF_DIST_CENSUS_MPI_H
#define SF_DIST_CENSUS_MPI_H

#include "core/engines/census/census.h"
#include "dist/maps_mpi.h"

typedef struct sf_node_census {
    sf_census_plan *plan;
    sf_node *node; /* whose memory it lies in; NULL: it is this rank's own */
} sf_node_census;

/* sf_census_open of the same maps on every rank; where maps lie once on each node, so does what is laid out, if there is
 * room for it, and each rank does a part of the work. On failure nothing is open. Collective; every rank gets the same code. */
int sf_node_census_open(const sf_comm *comm, sf_node_census *census, const sf_maps *maps, sf_census_kind kind, int n_threads,
                        sf_error *err);

/* Collective. */
void sf_node_census_close(sf_node_census *census);

#endif

/* The ranks of one node, and a table that they have in common: one copy a node, in memory that MPI lets them share. */
#ifndef SF_DIST_NODE_MPI_H
#define SF_DIST_NODE_MPI_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engines/table.h"
#include "dist/comm.h"

typedef struct sf_node sf_node;

/* What holds on every node of the job; the same on every rank. */
typedef struct sf_node_facts {
    int most_ranks, least_ranks; /* on a node */
    uint64_t memory;             /* bytes free, the least of all nodes (sf_memory_available) */
    uint64_t window;             /* bytes that ranks can share, the least of all nodes; 0 where it cannot be told */
} sf_node_facts;

/* Works without MPI too. Collective; every rank gets the same code. */
int sf_node_open(sf_node **node, const sf_comm *comm, sf_error *err);

/* Closes the table that was shared. Collective; NULL is allowed. */
void sf_node_close(sf_node *node);

/* True on one rank of each node. */
bool sf_node_leads(const sf_node *node);

sf_node_facts sf_node_get_facts(const sf_node *node);

/* Makes the leader's table the node's. The leader passes it and must not use it afterwards, the other ranks pass NULL; *shared
 * is there until the node is closed. Where the memory cannot be shared each rank gets a copy, if there is room for that:
 * SF_ELIMIT otherwise. Collective; every rank gets the same code. Once a node. */
int sf_node_share_table(sf_node *node, sf_table *table, const sf_table **shared, sf_error *err);

/* Bytes free where MPI puts the windows that it allocates; 0 when it cannot be told. Open MPI 4.1 leaves the other ranks
 * waiting inside the call when one finds no room there, so ask first. */
uint64_t sf_node_window_free(void);

#endif

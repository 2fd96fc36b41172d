/* The ranks of one node, and what they have in common: one copy a node, in memory that MPI lets them share. */
#ifndef SF_DIST_NODE_MPI_H
#define SF_DIST_NODE_MPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engines/table/table.h"
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

/* That rank's number in the job, the lowest of the node's. */
int sf_node_leader(const sf_node *node);

sf_node_facts sf_node_get_facts(const sf_node *node);

/* This rank among those of its node, and how many these are. */
int sf_node_rank(const sf_node *node);
int sf_node_size(const sf_node *node);

/* True on all ranks of the node when all of them pass true. Collective over the node, which has several. */
bool sf_node_agree(const sf_node *node, bool well);

/* Sum over the ranks of the node of n counts, in place; the caller knows that it fits. Collective over the node. */
void sf_node_sum(const sf_node *node, size_t n, uint64_t *counts);

/* Memory of that size for all ranks of the node, aligned to SF_TABLE_IMAGE_ALIGNMENT: true on all of them, or false where it
 * cannot be had. Its pages are there; contents undefined. Until the node is closed, or _close. Once a node, which has several
 * ranks; collective over these. */
bool sf_node_memory_open(sf_node *node, uint64_t bytes, void **memory);
void sf_node_memory_close(sf_node *node);

/* What any rank of the node wrote to that memory before, all see afterwards. Collective over the node. */
void sf_node_memory_settle(const sf_node *node);

/* SF_ELIMIT unless each rank of the node can have so many bytes of its own instead. Collective over the node. */
int sf_node_copies_check(const sf_node *node, uint64_t bytes, sf_error *err);

/* Makes the leader's table the node's. The leader passes it and must not use it afterwards, the other ranks pass NULL; *shared
 * is there until the node is closed. Where the memory cannot be shared each rank gets a copy, if there is room for that:
 * SF_ELIMIT otherwise. Collective; every rank gets the same code. Once a node, in place of sf_node_memory_open. */
int sf_node_share_table(sf_node *node, sf_table *table, const sf_table **shared, sf_error *err);

/* Bytes free where MPI puts the windows that it allocates; 0 when it cannot be told. Open MPI 4.1 leaves the other ranks
 * waiting inside the call when one finds no room there, so ask first. */
uint64_t sf_node_window_free(void);

#endif

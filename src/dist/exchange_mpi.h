/* How migrants travel between ranks within a block of generations.
 *
 * Which messages a block brings follows from the configuration, so all receives are posted when it begins and all are
 * complete when it ends: no message crosses a block. A rank that gives a block up sends empty messages in place of
 * those it owes; who needs one of them gives up too. So nobody waits for a rank that has failed, and nothing is left
 * over. */
#ifndef SF_DIST_EXCHANGE_MPI_H
#define SF_DIST_EXCHANGE_MPI_H

#include <stdbool.h>
#include <stdint.h>

#include "core/search/archipelago.h"
#include "dist/wait_mpi.h"

typedef struct sf_exchange sf_exchange;

/* The islands [*first, *last) that a rank hosts: contiguous ranges, as even as they go, none where there are more
 * ranks. */
void sf_exchange_range(const sf_search_config *config, int rank, int size, int64_t *first, int64_t *last);

/* Collective; every rank returns the same code. The pointers must outlive it. */
int sf_exchange_open(sf_exchange **exchange, const sf_comm *comm, const sf_search_config *config,
                     sf_archipelago *archipelago, sf_error *err);
void sf_exchange_close(sf_exchange *exchange); /* NULL is allowed */

/* The last generation that a block beginning after `generation` may reach; the same on every rank. */
int64_t sf_exchange_limit(const sf_exchange *exchange, int64_t generation);

/* Posts the receives of the block (from, to]. */
void sf_exchange_begin(sf_exchange *exchange, int64_t from, int64_t to);

/* Sends the messages of the generation just stepped; those between islands of this rank are handed over. */
int sf_exchange_send(sf_exchange *exchange, int64_t generation, sf_error *err);

/* Waits for the messages that the present generation takes in and hands them over. *given_up: the sender gave up. */
int sf_exchange_receive(sf_exchange *exchange, bool *given_up, sf_error *err);

/* The block is given up here: empty messages for those owed and not sent. */
void sf_exchange_give_up(sf_exchange *exchange);

/* Ends the block: all messages are awaited and, unless it was given up, handed over, also those for later blocks. The
 * deadline is that of a rank that failed. */
int sf_exchange_end(sf_exchange *exchange, sf_deadline *deadline, sf_error *err);

#endif

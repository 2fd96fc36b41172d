/* The other ranks of this host. mpirun ends a job one rank of which was killed (by the system, for want of memory), and
 * with -q says nothing; the ranks that are left get SIGCONT and SIGTERM, and one of them tells. */
#ifndef SF_APP_PEERS_H
#define SF_APP_PEERS_H

#include "app/app.h"

/* Learns who the peers are. Collective. From here on until sf_peers_forget a peer that is gone was killed or crashed. A
 * SIGTERM that nobody else catches is caught here; it ends the process as it would have. */
int sf_peers_watch(const sf_app *app, sf_error *err);

/* How to go on after the death of a peer, the end of the line; at first: "give the same command again". */
void sf_peers_advise(const char *advice);

/* The ranks are about to part in order. */
void sf_peers_forget(void);

/* On SIGTERM, in the handler: says which peer is gone, where this is the lowest rank left on the host. Returns that peer,
 * whoever tells of it, -1 for none. */
int sf_peers_tell_gone(void);

/* This rank leaves at once and has said why: the peers are to say nothing. For handlers too. */
void sf_peers_hush(void);

/* True when this rank has told of a peer that is gone. For handlers too. */
bool sf_peers_told(void);

#endif

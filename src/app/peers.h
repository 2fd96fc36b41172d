/* The other ranks of this host. mpirun ends a job one rank of which was killed (by the system, for want of memory), and
 * with -q says nothing; the ranks that are left get SIGTERM, and one of them tells. */
#ifndef SF_APP_PEERS_H
#define SF_APP_PEERS_H

#include "app/app.h"

/* Learns who the peers are; `output` is named as what to resume (NULL: there is no checkpoint yet). Collective. From
 * here on until sf_peers_forget a peer that is gone was killed or crashed. */
int sf_peers_watch(const sf_app *app, const char *output, sf_error *err);

/* The same for a command that is given again after a death. Until it catches signals itself, SIGTERM ends it. */
int sf_peers_watch_command(const sf_app *app, sf_error *err);

/* The ranks are about to part in order. */
void sf_peers_forget(void);

/* On SIGTERM, in the handler: says which peer is gone, where this is the lowest rank left on the host. */
void sf_peers_tell_gone(void);

/* This rank leaves at once and has said why: the peers are to say nothing. For handlers too. */
void sf_peers_hush(void);

#endif

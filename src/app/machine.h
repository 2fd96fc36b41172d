/* --machine FILE: how fast this machine is, read from a small text file instead of measured, so that every job of a cluster
 * plans alike. A missing file is made. */
#ifndef SF_APP_MACHINE_H
#define SF_APP_MACHINE_H

#include "app/app.h"

/* Has estimates go by the file of --machine, if that is given; rank 0 reads it, or measures and writes it. SF_EINPUT for a
 * file that says something else, SF_EIO when it cannot be written. Collective. */
int sf_machine_take(const sf_app *app, sf_error *err);

#endif

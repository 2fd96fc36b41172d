/* Views for writing, and what every run file begins with. */
#ifndef SF_IO_VIEW_H
#define SF_IO_VIEW_H

#include "io/h5.h"
#include "io/schema.h"

/* A view of a record for writing. Not live: rows in canonical order, which takes memory until sf_view_free. The record
 * and meta must outlive it. SF_EINPUT for a text of meta that is too long. */
int sf_view_init(sf_view *view, const sf_record *record, const sf_run_meta *meta, bool live, sf_error *err);
void sf_view_free(sf_view *view);

/* Takes the present counts of the record into the view. */
void sf_view_update(sf_view *view);

/* Writes the root attributes, the groups and /config. */
int sf_run_begin(sf_h5 *h5, const sf_view *view, const sf_run_meta *meta);

/* Reads the root attributes and refuses another kind of file or another schema; state[16] is the run's state. */
int sf_run_check_root(sf_h5 *h5, char *state, bool *live);

#endif

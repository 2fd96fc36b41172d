/* Where a command gets contact maps from. One place, so that no command builds what is there already. */
#ifndef SF_APP_TABLE_SOURCE_H
#define SF_APP_TABLE_SOURCE_H

#include "app/app.h"
#include "core/contacts/map_table.h"

/* Maps that a command borrows; all zero: none. */
typedef struct sf_app_maps {
    sf_map_table table; /* constant */
} sf_app_maps;

/* The contact maps of the problem, whole on every rank, built by all together with the threads, memory and stop flag of
 * `options`. On failure *maps is empty. Collective; every rank returns the same code. */
int sf_app_maps_get(const sf_app *app, const sf_problem *problem, const sf_engine_options *options, sf_app_maps *maps,
                    sf_error *err);

/* For an engine that is about to be opened: where options->engine is "table", gets the maps and lets options->maps point
 * to them; for another engine does nothing. Free the maps once the engine is open. Collective; every rank passes the
 * same engine. */
int sf_app_maps_for_engine(const sf_app *app, const sf_problem *problem, sf_engine_options *options, sf_app_maps *maps,
                           sf_error *err);

/* Gives them back; empty ones are allowed. Collective. */
void sf_app_maps_free(sf_app_maps *maps);

#endif

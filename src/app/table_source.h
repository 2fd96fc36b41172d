/* Where a command gets contact maps from: the file of --table; a cache of such files; or all ranks build them together.
 * One place, so that no command builds what is there already. No result depends on it. */
#ifndef SF_APP_TABLE_SOURCE_H
#define SF_APP_TABLE_SOURCE_H

#include "app/app.h"
#include "dist/maps_mpi.h"

/* SF_EINPUT when --table is given beside an engine that reads none. */
int sf_app_table_check(const sf_app *app, sf_error *err);

/* Makes `auto` the engine table where the user named a table; and has estimates go by what is there already, in that file or
 * in the cache. What is missing in the cache makes `auto` build nothing that it would not build without. */
void sf_app_table_prefer(const sf_app *app, const sf_problem *problem, sf_engine_options *options);

/* The contact maps of the problem, for every rank; where they are built, with the threads, memory and stop flag of
 * `options`. SF_EFORMAT or SF_EMISMATCH, with what to do, for a file that is damaged or of something else. On failure *maps
 * is empty. Freed with sf_maps_free. Collective; every rank returns the same code. */
int sf_app_maps_get(const sf_app *app, const sf_problem *problem, const sf_engine_options *options, sf_maps *maps,
                    sf_error *err);

/* Writes the maps to a table file: all ranks pack, rank 0 writes. The lock is held. Collective. */
int sf_app_table_write(const sf_app *app, const char *path, const sf_map_table *maps, const char *letters, sf_error *err);

/* Adds what to do to the line about a table file that could not be read; returns the code. */
int sf_app_table_advise(int code, const char *advice, sf_error *err);

#endif

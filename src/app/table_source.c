/* Every rank needs the whole table of contact maps, so obvious would be that each builds it; together they are done
 * sooner. */
#include "app/table_source.h"

#include <string.h>

#include "dist/maps_mpi.h"

int sf_app_maps_get(const sf_app *app, const sf_problem *problem, const sf_engine_options *options, sf_app_maps *maps,
                    sf_error *err)
{
    const sf_map_options build = {options->n_threads, options->memory_limit, options->stop};
    return sf_maps_build_together(&app->comm, &maps->table, problem->lattice, problem->length, &build, err);
}

int sf_app_maps_for_engine(const sf_app *app, const sf_problem *problem, sf_engine_options *options, sf_app_maps *maps,
                           sf_error *err)
{
    *maps = (sf_app_maps){0};
    if (strcmp(options->engine, "table") != 0)
        return 0;
    int code = sf_app_maps_get(app, problem, options, maps, err);
    options->maps = code ? NULL : &maps->table;
    return code;
}

void sf_app_maps_free(sf_app_maps *maps)
{
    sf_map_table_free(&maps->table);
}

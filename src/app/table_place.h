/* Where the table of engine `table` lies when there are several ranks: in each of them, once on every node, or in shards.
 *
 * The rule, by what each rank may take (--memory-limit, or its part of what its node has free):
 *   once a node   where several ranks share a node and the table is of some size: one of them makes it, the others use it
 *   in each rank  where ranks are alone on their node, or the table is small
 *   in shards     where it does not fit that way, but a part of it, one for each rank, does
 * No result depends on it. */
#ifndef SF_APP_TABLE_PLACE_H
#define SF_APP_TABLE_PLACE_H

#include "app/app.h"
#include "app/table_source.h"
#include "dist/node_mpi.h"

typedef enum sf_table_where { SF_PLACE_RANK, SF_PLACE_NODE, SF_PLACE_SHARDS } sf_table_where;

typedef struct sf_table_place {
    sf_table_where place;
    sf_node *node;       /* NULL with one rank */
    int n_ranks;         /* most ranks of a node */
    int n_shards;        /* 1 but for SF_PLACE_SHARDS */
    uint64_t rank_bytes; /* most that a rank takes */
    uint64_t node_bytes; /* most that all ranks of a node take together */
    sf_maps maps;
} sf_table_place;

/* Settles the place for the problem and lets `options` say so; where the user gave no limit, options->memory_limit becomes what
 * every rank may take, the same on all. Meant for any engine, before one is chosen. Collective; the same code. */
int sf_table_place_choose(sf_table_place *place, const sf_app *app, const sf_problem *problem, sf_engine_options *options,
                          sf_error *err);

/* For an engine that is about to be opened: where options->engine is "table", gets maps or the table itself, and lets
 * `options` point there; for another engine does nothing. Collective; every rank passes the same engine. */
int sf_table_place_fill(sf_table_place *place, const sf_app *app, const sf_problem *problem, sf_engine_options *options,
                        sf_error *err);

/* Frees what is not needed any more once the engine is open. Collective. */
void sf_table_place_opened(sf_table_place *place, sf_engine_options *options);

/* After the engine is closed; all zero is allowed. Collective. */
void sf_table_place_close(sf_table_place *place);

/* "a copy a rank", "one copy a node", "in 4 shards"; text has room for 32. */
const char *sf_table_place_text(const sf_table_place *place, char *text);

#endif

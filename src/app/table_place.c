/* The obvious way, a table in every rank, takes the memory of a node as often as it has ranks. */
#include "app/table_place.h"

#include <stdio.h>
#include <string.h>

enum { WORTH_SHARING = 1 << 20 }; /* bytes; a smaller table is quicker made than shared */

/* Bytes that all ranks of a node take when one of them makes the table: while they build parts of the maps; while these and
 * the whole are there, once or in `copies`; or what that one takes with, where it must be, the copies of the others. */
static uint64_t node_bytes_of(const sf_app *app, const sf_problem *problem, const sf_table_place *p, int n_threads,
                              uint64_t making, uint64_t copy, int copies)
{
    uint64_t building = sf_map_table_build_bytes(problem->lattice, problem->length, n_threads, app->comm.size) *
                        (uint64_t)p->n_ranks;
    uint64_t maps = sf_map_table_bytes(problem->lattice, problem->length);
    uint64_t gathering = maps * (uint64_t)p->n_ranks / (uint64_t)app->comm.size + maps * (uint64_t)copies;
    uint64_t most = making > copy * (uint64_t)p->n_ranks ? making : copy * (uint64_t)p->n_ranks;
    most = most > building ? most : building;
    return most > gathering ? most : gathering;
}

/* The rule. */
static void decide(sf_table_place *p, const sf_app *app, const sf_problem *problem, const sf_node_facts *facts,
                   sf_engine_options *options)
{
    const sf_lattice *lattice = problem->lattice;
    const int length = problem->length, n_threads = options->n_threads, size = app->comm.size;
    const uint64_t limit = options->memory_limit, ranks = (uint64_t)facts->most_ranks;
    const uint64_t each = limit ? limit : facts->memory / ranks + 1;
    const uint64_t making = sf_table_making_bytes(lattice, length, n_threads, 1, 1), table = sf_table_bytes(lattice, length, 1);
    const uint64_t shard = sf_table_making_bytes(lattice, length, n_threads, size, size);
    const uint64_t maps = sf_map_table_bytes(lattice, length), shared = table > maps ? table : maps;
    const bool window = facts->window > shared + shared / 16;
    const uint64_t node =
        node_bytes_of(app, problem, p, n_threads, making, window ? 2 : table, window ? 1 : facts->most_ranks);
    options->memory_limit = each;
    p->rank_bytes = sf_table_making_bytes(lattice, length, n_threads, size, 1); /* all ranks build the maps together */
    p->node_bytes = p->rank_bytes * ranks;
    if (ranks > 1 && table >= WORTH_SHARING && (limit ? making <= limit : node <= facts->memory)) {
        p->place = SF_PLACE_NODE;
        p->node_bytes = node;
        options->n_sharers = limit ? 1 : facts->most_ranks;
    } else if (making > each && shard < making) { /* also where a shard does not fit: what it needs is then told */
        p->place = SF_PLACE_SHARDS;
        p->n_shards = size;
        p->rank_bytes = shard;
        p->node_bytes = shard * ranks;
        options->n_shards = size;
        options->shard = app->comm.rank;
    }
}

int sf_table_place_choose(sf_table_place *place, const sf_app *app, const sf_problem *problem, sf_engine_options *options,
                          sf_error *err)
{
    *place = (sf_table_place){.n_ranks = 1, .n_shards = 1};
    const bool possible = sf_map_table_length_check(problem->lattice, problem->length, NULL) == 0;
    if (possible)
        place->rank_bytes = place->node_bytes =
            sf_table_making_bytes(problem->lattice, problem->length, options->n_threads, 1, 1);
    if (app->comm.size == 1)
        return 0;
    int code = sf_node_open(&place->node, &app->comm, err);
    if (code)
        return code;
    const sf_node_facts facts = sf_node_get_facts(place->node);
    place->n_ranks = facts.most_ranks;
    if (possible)
        decide(place, app, problem, &facts, options);
    else if (!options->memory_limit)
        options->memory_limit = facts.memory / (uint64_t)facts.most_ranks + 1;
    return 0;
}

/* The leaders make the table. Collective. */
static int fill_node(sf_table_place *place, const sf_app *app, const sf_problem *problem, sf_engine_options *options,
                     sf_error *err)
{
    const bool leads = sf_node_leads(place->node);
    sf_table *table = NULL;
    sf_engine_options making = *options;
    int code = sf_app_maps_get(app, problem, options, &place->maps, err);
    making.maps = &place->maps.table;
    if (!code && leads)
        code = sf_table_open_for(&table, problem, &making, err);
    sf_maps_free(&place->maps);
    code = sf_comm_agree(&app->comm, code, err);
    if (code) {
        sf_table_close(table);
        return code;
    }
    return sf_node_share_table(place->node, table, &options->table, err);
}

int sf_table_place_fill(sf_table_place *place, const sf_app *app, const sf_problem *problem, sf_engine_options *options,
                        sf_error *err)
{
    if (strcmp(options->engine, "table") != 0)
        return 0;
    if (place->place == SF_PLACE_SHARDS)
        return 0; /* the engine builds its shard by itself, whatever table there is on disk */
    if (place->place == SF_PLACE_NODE)
        return fill_node(place, app, problem, options, err);
    int code = sf_app_maps_get(app, problem, options, &place->maps, err);
    options->maps = code ? NULL : &place->maps.table;
    return code;
}

void sf_table_place_opened(sf_table_place *place, sf_engine_options *options)
{
    sf_maps_free(&place->maps);
    options->maps = NULL;
}

void sf_table_place_close(sf_table_place *place)
{
    sf_maps_free(&place->maps);
    sf_node_close(place->node);
    *place = (sf_table_place){0};
}

const char *sf_table_place_text(const sf_table_place *place, char *text)
{
    if (place->place == SF_PLACE_SHARDS)
        snprintf(text, 32, "in %d shards", place->n_shards);
    else
        snprintf(text, 32, "%s", place->place == SF_PLACE_NODE ? "one copy a node" : "a copy a rank");
    return text;
}

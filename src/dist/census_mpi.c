/* Obvious is that each rank lays out all maps for itself, as each counts for itself what is its part of the sequences; with
 * two ranks and 22 residues that was a third of the time, and a copy of the layout in each. */
#include "dist/census_mpi.h"

static bool agree(void *context, bool well)
{
    return sf_node_agree(context, well);
}

static void sum(void *context, size_t n, uint64_t *counts)
{
    sf_node_sum(context, n, counts);
}

static void *room(void *context, uint64_t bytes)
{
    void *memory = NULL;
    return sf_node_memory_open(context, bytes, &memory) ? memory : NULL;
}

static void settle(void *context)
{
    sf_node_memory_settle(context);
}

int sf_node_census_open(const sf_comm *comm, sf_node_census *census, const sf_maps *maps, sf_census_kind kind, int n_threads,
                        sf_error *err)
{
    *census = (sf_node_census){0};
    int code = maps->node ? sf_node_open(&census->node, comm, err) : 0; /* the maps' own has no second window */
    if (!code && census->node) {
        const sf_census_team team = {.part = (size_t)sf_node_rank(census->node),
                                     .n_parts = (size_t)sf_node_size(census->node),
                                     .context = census->node,
                                     .agree = agree,
                                     .sum = sum,
                                     .room = room,
                                     .settle = settle};
        code = sf_census_open(&census->plan, &maps->table, kind, n_threads, &team, err);
    } else if (!code) {
        code = sf_census_open(&census->plan, &maps->table, kind, n_threads, NULL, err);
    }
    code = sf_comm_agree(comm, code, err);
    if (code)
        sf_node_census_close(census);
    return code;
}

void sf_node_census_close(sf_node_census *census)
{
    sf_census_close(census->plan);
    sf_node_close(census->node);
    *census = (sf_node_census){0};
}

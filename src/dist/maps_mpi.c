/* A rank's share is one part of sf_map_table_build_part; more parts than ranks would even out what the parts' costs
 * differ by, but every part enumerates all prefixes again, which costs more than that. */
#include "dist/maps_mpi.h"

#include <mpi.h>
#include <stdlib.h>

#include "dist/wait_mpi.h"

/* What the ranks tell each other of their shares. */
typedef struct share {
    uint64_t n_maps, conformations, max_contacts;
} share;

static void gather_shares(const sf_map_table *part, share *all)
{
    const share mine = {part->n_maps, part->conformations, (uint64_t)part->max_contacts};
    MPI_Request request;
    MPI_Iallgather(&mine, 3, MPI_UINT64_T, all, 3, MPI_UINT64_T, MPI_COMM_WORLD, &request);
    sf_wait(&request, NULL, NULL);
}

/* Tables have fewer than 2^31 maps (sf_map_table_expected), so MPI's ints hold the counts. */
static void gather_array(const void *mine, int n, MPI_Datatype type, void *all, const int *counts, const int *offsets)
{
    MPI_Request request;
    MPI_Iallgatherv(mine, n, type, all, counts, offsets, type, MPI_COMM_WORLD, &request);
    sf_wait(&request, NULL, NULL);
}

/* The whole from its shares, on every rank. Collective. */
static int join(const sf_comm *comm, sf_map_table *maps, const sf_map_table *part, const sf_lattice *lattice, int length,
                sf_error *err)
{
    const size_t size = (size_t)comm->size;
    share *all = calloc(size, sizeof *all);
    int *counts = calloc(size, sizeof *counts), *offsets = calloc(size, sizeof *offsets), total = 0;
    int code = all && counts && offsets ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %d ranks", comm->size);
    code = sf_comm_agree(comm, code, err);
    if (code)
        goto out;
    gather_shares(part, all);
    for (size_t r = 0; r < size; r++) {
        counts[r] = (int)all[r].n_maps;
        offsets[r] = total;
        total += counts[r];
    }
    code = sf_comm_agree(comm, sf_map_table_alloc(maps, lattice, length, (size_t)total, err), err);
    if (code)
        goto out;
    for (size_t r = 0; r < size; r++) {
        maps->conformations += all[r].conformations;
        if ((int)all[r].max_contacts > maps->max_contacts)
            maps->max_contacts = (int)all[r].max_contacts;
    }
    gather_array(part->low, (int)part->n_maps, MPI_UINT64_T, maps->low, counts, offsets);
    if (maps->high)
        gather_array(part->high, (int)part->n_maps, MPI_UINT64_T, maps->high, counts, offsets);
    gather_array(part->count, (int)part->n_maps, MPI_UINT32_T, maps->count, counts, offsets);
out:
    free(all);
    free(counts);
    free(offsets);
    return code;
}

int sf_maps_build_together(const sf_comm *comm, sf_map_table *maps, const sf_lattice *lattice, int length,
                           const sf_map_options *options, sf_error *err)
{
    sf_map_table part = {0};
    *maps = (sf_map_table){0};
    if (comm->size == 1)
        return sf_map_table_build(maps, lattice, length, options, err);
    int code =
        sf_map_table_build_part(&part, lattice, length, (size_t)comm->rank, (size_t)comm->size, options, err);
    code = sf_comm_agree(comm, code, err);
    if (!code)
        code = join(comm, maps, &part, lattice, length, err);
    sf_map_table_free(&part);
    if (!code)
        code = sf_comm_agree(comm, sf_map_table_check(maps, err), err);
    if (code)
        sf_map_table_free(maps);
    return code;
}

int sf_maps_broadcast(const sf_comm *comm, sf_map_table *maps, const sf_lattice *lattice, int length, sf_error *err)
{
    share about = {maps->n_maps, maps->conformations, (uint64_t)maps->max_contacts};
    if (comm->size == 1)
        return 0;
    int code = sf_comm_broadcast(comm, sizeof about, &about, err);
    if (!code && comm->rank != 0)
        code = sf_map_table_alloc(maps, lattice, length, (size_t)about.n_maps, err);
    code = sf_comm_agree(comm, code, err);
    if (code)
        return code;
    maps->conformations = about.conformations;
    maps->max_contacts = (int)about.max_contacts;
    code = sf_comm_broadcast(comm, maps->n_maps * sizeof *maps->low, maps->low, err);
    if (!code && maps->high)
        code = sf_comm_broadcast(comm, maps->n_maps * sizeof *maps->high, maps->high, err);
    return code ? code : sf_comm_broadcast(comm, maps->n_maps * sizeof *maps->count, maps->count, err);
}

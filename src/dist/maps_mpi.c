/* A rank's share is one part of sf_map_table_build_part; more parts than ranks would even out what the parts' costs
 * differ by, but every part enumerates all prefixes again, which costs more than that. */
#include "dist/maps_mpi.h"

#include <mpi.h>
#include <stdlib.h>

#include "dist/wait_mpi.h"

/* What the ranks tell each other of their shares. */
typedef struct share {
    uint64_t n_maps, conformations, max_contacts, wanted;
} share;

static void gather_shares(const sf_map_table *part, bool wanted, share *all)
{
    const share mine = {part->n_maps, part->conformations, (uint64_t)part->max_contacts, wanted};
    MPI_Request request;
    MPI_Iallgather(&mine, 4, MPI_UINT64_T, all, 4, MPI_UINT64_T, MPI_COMM_WORLD, &request);
    sf_wait(&request, NULL, NULL);
}

/* To all ranks, or to each that wants it. Tables have fewer than 2^31 maps (sf_map_table_expected), so MPI's ints hold the
 * counts. */
static void gather_array(const sf_comm *comm, const share *shares, const void *mine, int n, MPI_Datatype type, void *all,
                         const int *counts, const int *offsets)
{
    MPI_Request request;
    int n_wanted = 0;
    for (int r = 0; r < comm->size; r++)
        n_wanted += shares[r].wanted != 0;
    if (n_wanted == comm->size) {
        MPI_Iallgatherv(mine, n, type, all, counts, offsets, type, MPI_COMM_WORLD, &request);
        sf_wait_transfer(&request);
    }
    for (int r = 0; r < comm->size && n_wanted < comm->size; r++) {
        if (!shares[r].wanted)
            continue;
        MPI_Igatherv(mine, n, type, all, counts, offsets, type, r, MPI_COMM_WORLD, &request);
        sf_wait_transfer(&request);
    }
}

/* The whole from its shares, on every rank. Collective. */
static int join(const sf_comm *comm, sf_map_table *maps, const sf_map_table *part, const sf_lattice *lattice, int length,
                bool wanted, sf_error *err)
{
    const size_t size = (size_t)comm->size;
    share *all = calloc(size, sizeof *all);
    int *counts = calloc(size, sizeof *counts), *offsets = calloc(size, sizeof *offsets), total = 0;
    int code = all && counts && offsets ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %d ranks", comm->size);
    code = sf_comm_agree(comm, code, err);
    if (code)
        goto out;
    gather_shares(part, wanted, all);
    for (size_t r = 0; r < size; r++) {
        counts[r] = (int)all[r].n_maps;
        offsets[r] = total;
        total += counts[r];
    }
    code = sf_comm_agree(comm, wanted ? sf_map_table_alloc(maps, lattice, length, (size_t)total, err) : 0, err);
    if (code)
        goto out;
    for (size_t r = 0; wanted && r < size; r++) {
        maps->conformations += all[r].conformations;
        if ((int)all[r].max_contacts > maps->max_contacts)
            maps->max_contacts = (int)all[r].max_contacts;
    }
    gather_array(comm, all, part->low, (int)part->n_maps, MPI_UINT64_T, maps->low, counts, offsets);
    if (part->layout.n_words > 1)
        gather_array(comm, all, part->high, (int)part->n_maps, MPI_UINT64_T, maps->high, counts, offsets);
    gather_array(comm, all, part->count, (int)part->n_maps, MPI_UINT32_T, maps->count, counts, offsets);
out:
    free(all);
    free(counts);
    free(offsets);
    return code;
}

int sf_maps_build_together(const sf_comm *comm, sf_map_table *maps, const sf_lattice *lattice, int length,
                           const sf_map_options *options, bool wanted, sf_error *err)
{
    sf_map_table part = {0};
    *maps = (sf_map_table){0};
    if (comm->size == 1)
        return sf_map_table_build(maps, lattice, length, options, err);
    int code =
        sf_map_table_build_part(&part, lattice, length, (size_t)comm->rank, (size_t)comm->size, options, err);
    code = sf_comm_agree(comm, code, err);
    if (!code)
        code = join(comm, maps, &part, lattice, length, wanted, err);
    sf_map_table_free(&part);
    if (!code)
        code = sf_comm_agree(comm, wanted ? sf_map_table_check(maps, err) : 0, err);
    if (code)
        sf_map_table_free(maps);
    return code;
}

/* An array of rank 0, to the ranks of `all`. */
static void broadcast_array(MPI_Comm all, size_t n_bytes, void *bytes)
{
    enum { CHUNK_BYTES = 1 << 28 };
    for (size_t at = 0; at < n_bytes; at += CHUNK_BYTES) {
        MPI_Request request;
        MPI_Ibcast((uint8_t *)bytes + at, (int)(n_bytes - at < CHUNK_BYTES ? n_bytes - at : CHUNK_BYTES), MPI_BYTE, 0, all,
                   &request);
        sf_wait_transfer(&request);
    }
}

int sf_maps_broadcast(const sf_comm *comm, sf_map_table *maps, const sf_lattice *lattice, int length, bool wanted,
                      sf_error *err)
{
    share about = {maps->n_maps, maps->conformations, (uint64_t)maps->max_contacts, true};
    MPI_Comm all;
    if (comm->size == 1)
        return 0;
    int code = sf_comm_broadcast(comm, sizeof about, &about, err);
    if (!code && comm->rank != 0 && wanted)
        code = sf_map_table_alloc(maps, lattice, length, (size_t)about.n_maps, err);
    code = sf_comm_agree(comm, code, err);
    if (code)
        return code;
    MPI_Comm_split(MPI_COMM_WORLD, comm->rank == 0 || wanted ? 0 : MPI_UNDEFINED, comm->rank, &all);
    if (all == MPI_COMM_NULL)
        return 0;
    maps->conformations = about.conformations;
    maps->max_contacts = (int)about.max_contacts;
    broadcast_array(all, maps->n_maps * sizeof *maps->low, maps->low);
    if (maps->high)
        broadcast_array(all, maps->n_maps * sizeof *maps->high, maps->high);
    broadcast_array(all, maps->n_maps * sizeof *maps->count, maps->count);
    MPI_Comm_free(&all);
    return 0;
}

/* A rank's share is one part of sf_map_table_build_part. More parts than ranks would not even out what the parts' costs
 * differ by: every part enumerates all prefixes again, and on the cubic lattice what is uneven is one group, of the prefixes
 * that touch nothing: a third of the work (16 residues), and no part is smaller than a group.
 *
 * Obvious is to send every share to every rank; of 97 MB (22 residues) that took as long as a third of the building. The
 * ranks of a node copy their shares to memory that they have in common, and only one rank of each node sends and
 * receives. Parts are numbered so that those of a node are one piece of the table. */
#include "dist/maps_mpi.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "core/engines/table/table_image.h"
#include "dist/wait_mpi.h"
#include "starfold/problem.h"

enum { WORTH_SHARING = 1 << 20 }; /* bytes; smaller tables are sooner sent than shared */

/* What the ranks tell each other of their parts. */
typedef struct share {
    uint64_t leader; /* of the node: its rank */
    uint64_t n_maps, conformations, max_contacts;
    uint64_t first[2], last[2]; /* maps, low and high words; only where there are any */
} share;

enum { SHARE_WORDS = sizeof(share) / sizeof(uint64_t) };

/* Who holds what: a rank for itself, or the ranks of a node together. */
typedef struct holders {
    const sf_comm *comm;
    sf_node *node;   /* NULL: each rank for itself */
    size_t part;    /* of this rank */
    MPI_Comm fetch; /* a rank of each holder, in the order of their parts; MPI_COMM_NULL on the others */
    int n_holders;
} holders;

static void gather_words(int n, const void *mine, void *all)
{
    MPI_Request request;
    MPI_Iallgather(mine, n, MPI_UINT64_T, all, n, MPI_UINT64_T, MPI_COMM_WORLD, &request);
    sf_wait(&request, NULL, NULL);
}

/* Numbers the parts by node, and counts the nodes. Collective. */
static int number_parts(holders *h, sf_error *err)
{
    const size_t size = (size_t)h->comm->size, rank = (size_t)h->comm->rank;
    const uint64_t mine = (uint64_t)sf_node_leader(h->node);
    uint64_t *leader = calloc(size, sizeof *leader);
    int code = sf_comm_agree(h->comm, leader ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %zu ranks", size), err);
    if (!code)
        gather_words(1, &mine, leader);
    h->part = 0;
    h->n_holders = 0;
    for (size_t r = 0; !code && r < size; r++) {
        h->part += leader[r] < mine || (leader[r] == mine && r < rank);
        h->n_holders += leader[r] == r;
    }
    free(leader);
    return code;
}

/* Settles who holds a table of about so many bytes. Collective. */
static int open_holders(holders *h, const sf_comm *comm, uint64_t bytes, sf_error *err)
{
    *h = (holders){.comm = comm, .part = (size_t)comm->rank, .fetch = MPI_COMM_NULL, .n_holders = comm->size};
    if (bytes < WORTH_SHARING)
        return 0;
    int code = sf_node_open(&h->node, comm, err);
    if (!code && sf_node_get_facts(h->node).most_ranks > 1) {
        code = number_parts(h, err);
    } else {
        sf_node_close(h->node);
        h->node = NULL;
    }
    return code;
}

static void close_holders(holders *h)
{
    if (h->fetch != MPI_COMM_NULL && h->fetch != MPI_COMM_WORLD)
        MPI_Comm_free(&h->fetch);
    sf_node_close(h->node);
    h->node = NULL;
}

/* Those that send and receive for their holders. Collective. */
static void open_fetch(holders *h, bool numbered)
{
    h->fetch = MPI_COMM_WORLD;
    if (h->node || numbered)
        MPI_Comm_split(MPI_COMM_WORLD, !h->node || sf_node_leads(h->node) ? 0 : MPI_UNDEFINED, (int)h->part, &h->fetch);
}

/* ---- room ---- */

static uint64_t aligned(uint64_t bytes)
{
    const uint64_t unit = SF_TABLE_IMAGE_ALIGNMENT;
    return (bytes + unit - 1) / unit * unit;
}

static uint64_t shared_bytes(size_t n_maps, int n_words)
{
    return (uint64_t)n_words * aligned(n_maps * sizeof(uint64_t)) + n_maps * sizeof(uint32_t);
}

/* Lets the table's arrays lie in the memory of the node. */
static void lay_out(sf_map_table *table, const sf_lattice *lattice, int length, size_t n_maps, uint8_t *memory)
{
    const uint64_t step = aligned(n_maps * sizeof(uint64_t));
    *table = (sf_map_table){.lattice = lattice, .n_maps = n_maps};
    sf_contact_layout_init(&table->layout, length);
    table->low = (void *)memory;
    if (table->layout.n_words > 1)
        table->high = (void *)(memory + step);
    table->count = (void *)(memory + (uint64_t)table->layout.n_words * step);
}

/* Room for n_maps maps: on every node, where all nodes have it, or else in every rank. Collective. */
static int take_room(holders *h, sf_maps *maps, const sf_lattice *lattice, int length, size_t n_maps, sf_error *err)
{
    sf_contact_layout layout;
    void *memory = NULL;
    int code = 0;
    const bool numbered = h->node != NULL;
    sf_contact_layout_init(&layout, length);
    const uint64_t bytes = shared_bytes(n_maps, layout.n_words);
    if (numbered && sf_comm_max(h->comm, !sf_node_memory_open(h->node, bytes, &memory)) != 0) {
        code = sf_comm_agree(h->comm, sf_node_copies_check(h->node, bytes, err), err);
        sf_node_close(h->node);
        h->node = NULL;
        h->n_holders = h->comm->size;
    }
    if (h->node)
        lay_out(&maps->table, lattice, length, n_maps, memory);
    else if (!code)
        code = sf_comm_agree(h->comm, sf_map_table_alloc(&maps->table, lattice, length, n_maps, err), err);
    if (!code && h->n_holders > 1)
        open_fetch(h, numbered);
    return code;
}

/* Gives what was taken to the maps, or back. */
static int leave_room(holders *h, sf_maps *maps, int code)
{
    maps->node = h->node;
    h->node = NULL;
    close_holders(h);
    if (code)
        sf_maps_free(maps);
    return code;
}

static void settle(const holders *h)
{
    if (h->node)
        sf_node_memory_settle(h->node);
}

/* ---- building ---- */

/* What each holder has of the table: maps from offsets[i] on. */
static void list_pieces(const holders *h, const share *all, int *counts, int *offsets)
{
    int n = 0, at = 0;
    for (int part = 0; part < h->comm->size; part++) {
        if (part == 0 || !h->node || all[part].leader != all[part - 1].leader) {
            offsets[n] = at;
            counts[n++] = 0;
        }
        counts[n - 1] += (int)all[part].n_maps;
        at += (int)all[part].n_maps;
    }
}

/* Tables have fewer than 2^31 maps (sf_map_table_expected), so MPI's ints hold the counts. */
static void fetch_array(const holders *h, void *array, MPI_Datatype type, const int *counts, const int *offsets)
{
    MPI_Request request;
    MPI_Iallgatherv(MPI_IN_PLACE, 0, type, array, counts, offsets, type, h->fetch, &request);
    sf_wait_transfer(&request);
}

/* The parts of the other holders. */
static int fetch(const holders *h, const share *all, sf_map_table *table, sf_error *err)
{
    const size_t n = (size_t)h->n_holders;
    int *counts = calloc(n, sizeof *counts), *offsets = calloc(n, sizeof *offsets);
    int code = counts && offsets ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %zu parts", n);
    code = sf_comm_agree(h->comm, code, err);
    if (!code && h->fetch != MPI_COMM_NULL) {
        list_pieces(h, all, counts, offsets);
        fetch_array(h, table->low, MPI_UINT64_T, counts, offsets);
        if (table->high)
            fetch_array(h, table->high, MPI_UINT64_T, counts, offsets);
        fetch_array(h, table->count, MPI_UINT32_T, counts, offsets);
    }
    free(counts);
    free(offsets);
    return code;
}

static share share_of(const sf_map_table *part, const holders *h)
{
    share s = {.leader = h->node ? (uint64_t)sf_node_leader(h->node) : (uint64_t)h->comm->rank,
               .n_maps = part->n_maps,
               .conformations = part->conformations,
               .max_contacts = (uint64_t)part->max_contacts};
    for (int high = 0; part->n_maps > 0 && high < part->layout.n_words; high++) {
        const uint64_t *word = high ? part->high : part->low;
        s.first[high] = word[0];
        s.last[high] = word[part->n_maps - 1];
    }
    return s;
}

/* The parts are checked each for itself; now whether they are one table. */
static int check_parts(size_t n, const share *all, const sf_map_table *table, sf_error *err)
{
    const share *before = NULL;
    const uint64_t known = sf_lattice_conformations(table->lattice, table->layout.length);
    for (size_t i = 0; i < n; i++) {
        const share *here = &all[i];
        if (here->n_maps == 0)
            continue;
        if (before && (before->last[1] > here->first[1] ||
                       (before->last[1] == here->first[1] && before->last[0] >= here->first[0])))
            return sf_fail(err, SF_ECHECK, "part %zu of the contact maps begins below the end of the one before", i);
        before = here;
    }
    if (table->conformations == known)
        return 0;
    return sf_fail(err, SF_ECHECK, "the parts hold %" PRIu64 " conformations of %d residues; there are %" PRIu64,
                   table->conformations, table->layout.length, known);
}

static void put_part(sf_map_table *table, size_t at, const sf_map_table *part)
{
    memcpy(table->low + at, part->low, part->n_maps * sizeof *part->low);
    if (table->high)
        memcpy(table->high + at, part->high, part->n_maps * sizeof *part->high);
    memcpy(table->count + at, part->count, part->n_maps * sizeof *part->count);
}

/* The parts, by their numbers. */
static void sort_shares(size_t n, const share *by_rank, share *by_part)
{
    size_t at = 0;
    for (size_t leader = 0; leader < n; leader++) {
        for (size_t r = leader; r < n && by_rank[leader].leader == leader; r++) {
            if (by_rank[r].leader == leader)
                by_part[at++] = by_rank[r];
        }
    }
}

/* The whole from its parts. Collective. */
static int join(holders *h, sf_maps *maps, const sf_map_table *part, sf_error *err)
{
    const size_t size = (size_t)h->comm->size;
    const share mine = share_of(part, h);
    share *by_rank = calloc(size, sizeof *by_rank), *all = calloc(size, sizeof *all), sum = {0};
    size_t at = 0;
    int code = by_rank && all ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %zu ranks", size);
    code = sf_comm_agree(h->comm, code, err);
    if (!code) {
        gather_words(SHARE_WORDS, &mine, by_rank);
        sort_shares(size, by_rank, all);
    }
    for (size_t i = 0; !code && i < size; i++) {
        at += i < h->part ? (size_t)all[i].n_maps : 0;
        sum.n_maps += all[i].n_maps;
        sum.conformations += all[i].conformations;
        sum.max_contacts = all[i].max_contacts > sum.max_contacts ? all[i].max_contacts : sum.max_contacts;
    }
    if (!code)
        code = take_room(h, maps, part->lattice, part->layout.length, (size_t)sum.n_maps, err);
    maps->table.conformations = sum.conformations;
    maps->table.max_contacts = (int)sum.max_contacts;
    if (!code)
        code = check_parts(size, all, &maps->table, err);
    if (!code && part->n_maps > 0)
        put_part(&maps->table, at, part);
    if (!code)
        settle(h);
    if (!code && h->n_holders > 1)
        code = fetch(h, all, &maps->table, err);
    if (!code)
        settle(h);
    free(by_rank);
    free(all);
    return code;
}

int sf_maps_build_together(const sf_comm *comm, sf_maps *maps, const sf_lattice *lattice, int length,
                           const sf_map_options *options, sf_error *err)
{
    holders h;
    sf_map_table part = {0};
    *maps = (sf_maps){0};
    if (comm->size == 1)
        return sf_map_table_build(&maps->table, lattice, length, options, err);
    int code = open_holders(&h, comm, sf_map_table_bytes(lattice, length), err);
    if (!code) {
        code = sf_map_table_build_part(&part, lattice, length, h.part, (size_t)comm->size, options, err);
        if (!code)
            code = sf_map_table_check_part(&part, err);
        code = sf_comm_agree(comm, code, err);
    }
    if (!code)
        code = join(&h, maps, &part, err);
    sf_map_table_free(&part);
    return leave_room(&h, maps, code);
}

/* ---- from rank 0 ---- */

/* An array of the first holder, to all. */
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

static void broadcast_table(const holders *h, sf_map_table *table)
{
    if (h->n_holders == 1 || h->fetch == MPI_COMM_NULL)
        return;
    broadcast_array(h->fetch, table->n_maps * sizeof *table->low, table->low);
    if (table->high)
        broadcast_array(h->fetch, table->n_maps * sizeof *table->high, table->high);
    broadcast_array(h->fetch, table->n_maps * sizeof *table->count, table->count);
}

int sf_maps_broadcast(const sf_comm *comm, sf_maps *maps, const sf_lattice *lattice, int length, sf_error *err)
{
    holders h;
    sf_map_table read = maps->table;
    uint64_t about[] = {read.n_maps, read.conformations, (uint64_t)read.max_contacts};
    if (comm->size == 1)
        return 0;
    *maps = (sf_maps){0};
    int code = open_holders(&h, comm, sf_map_table_bytes(lattice, length), err);
    if (!code)
        code = sf_comm_broadcast(comm, sizeof about, about, err);
    if (!code)
        code = take_room(&h, maps, lattice, length, (size_t)about[0], err);
    maps->table.conformations = about[1];
    maps->table.max_contacts = (int)about[2];
    if (!code && comm->rank == 0)
        put_part(&maps->table, 0, &read);
    sf_map_table_free(&read);
    if (!code)
        broadcast_table(&h, &maps->table);
    if (!code)
        settle(&h);
    return leave_room(&h, maps, code);
}

void sf_maps_free(sf_maps *maps)
{
    if (maps->node)
        sf_node_close(maps->node);
    else
        sf_map_table_free(&maps->table);
    *maps = (sf_maps){0};
}

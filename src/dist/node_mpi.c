/* What the ranks of a node have in common lies in a window that MPI_Win_allocate_shared opened: each writes its share, or one
 * the image of a table, and all use it where it is.
 *
 * Such a window is a file in /dev/shm, which a container may keep at 64 MiB: the window opens all the same, and the first
 * write beyond that ends the process with SIGBUS. So the free space is looked at first, and then the kernel is asked for
 * the pages in a way that can fail, by all ranks, each its share: a first touch is dear. Where there is no room every rank
 * of the node has a copy instead. */
#define _DEFAULT_SOURCE /* madvise */
#include "dist/node_mpi.h"

#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/array.h"
#include "core/base/memory.h"
#include "core/engines/table/table_image.h"
#include "dist/wait_mpi.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older kernels say EINVAL */
#endif

enum { CHUNK_BYTES = 1 << 28 };

struct sf_node {
    const sf_comm *comm;
    MPI_Comm ranks; /* of this node; MPI_COMM_NULL without MPI */
    int rank, size; /* there */
    int leader;     /* rank in the job of rank 0 there */
    sf_node_facts facts;
    MPI_Win window; /* MPI_WIN_NULL: none */
    void *copy;     /* an image of this rank's own; NULL: none */
    sf_table *table;
};

uint64_t sf_node_window_free(void)
{
    const char *told = getenv("OMPI_MCA_osc_sm_backing_directory");
    struct statvfs fs;
    if (statvfs(told ? told : "/dev/shm", &fs) != 0)
        return 0;
    return (uint64_t)fs.f_bavail * fs.f_frsize;
}

/* ---- within the node ---- */

static void broadcast(const sf_node *n, uint64_t n_bytes, void *bytes)
{
    for (uint64_t at = 0; at < n_bytes; at += CHUNK_BYTES) {
        const uint64_t here = n_bytes - at < CHUNK_BYTES ? n_bytes - at : CHUNK_BYTES;
        MPI_Request request;
        MPI_Ibcast((uint8_t *)bytes + at, (int)here, MPI_BYTE, 0, n->ranks, &request);
        sf_wait(&request, NULL, NULL);
    }
}

/* Whoever comes here has done what it did before. */
bool sf_node_agree(const sf_node *n, bool well)
{
    const int say = well;
    int all = 0;
    MPI_Request request;
    MPI_Iallreduce(&say, &all, 1, MPI_INT, MPI_MIN, n->ranks, &request);
    sf_wait(&request, NULL, NULL);
    return all;
}

void sf_node_sum(const sf_node *node, size_t n, uint64_t *counts)
{
    for (size_t at = 0; at < n; at += CHUNK_BYTES / sizeof *counts) {
        const size_t most = CHUNK_BYTES / sizeof *counts;
        MPI_Request request;
        MPI_Iallreduce(MPI_IN_PLACE, counts + at, (int)(n - at < most ? n - at : most), MPI_UINT64_T, MPI_SUM, node->ranks,
                       &request);
        sf_wait_transfer(&request);
    }
}

/* ---- opening and closing ---- */

int sf_node_open(sf_node **node, const sf_comm *comm, sf_error *err)
{
    sf_node *n = calloc(1, sizeof *n);
    *node = NULL;
    int code = n ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %d ranks", comm->size);
    code = sf_comm_agree(comm, code, err);
    if (code) {
        free(n);
        return code;
    }
    *n = (sf_node){.comm = comm, .ranks = MPI_COMM_NULL, .size = 1, .leader = comm->rank, .window = MPI_WIN_NULL};
    if (comm->size > 1) {
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, comm->rank, MPI_INFO_NULL, &n->ranks);
        MPI_Comm_set_errhandler(n->ranks, MPI_ERRORS_RETURN); /* a window that cannot be had is no reason to end */
        MPI_Comm_rank(n->ranks, &n->rank);
        MPI_Comm_size(n->ranks, &n->size);
        broadcast(n, sizeof n->leader, &n->leader);
    }
    const uint64_t memory = sf_memory_available(), window = sf_node_window_free();
    n->facts.most_ranks = (int)sf_comm_max(comm, n->size);
    n->facts.least_ranks = -(int)sf_comm_max(comm, -n->size);
    n->facts.memory = (uint64_t)-sf_comm_max(comm, -(int64_t)(memory < INT64_MAX ? memory : INT64_MAX));
    n->facts.window = (uint64_t)-sf_comm_max(comm, -(int64_t)(window < INT64_MAX ? window : INT64_MAX));
    *node = n;
    return 0;
}

void sf_node_memory_close(sf_node *n)
{
    if (n->window == MPI_WIN_NULL)
        return;
    MPI_Win_unlock_all(n->window);
    MPI_Win_free(&n->window);
    n->window = MPI_WIN_NULL;
}

void sf_node_close(sf_node *node)
{
    if (!node)
        return;
    sf_table_close(node->table);
    free(node->copy);
    sf_node_memory_close(node);
    if (node->ranks != MPI_COMM_NULL)
        MPI_Comm_free(&node->ranks);
    free(node);
}

bool sf_node_leads(const sf_node *node)
{
    return node->rank == 0;
}

int sf_node_leader(const sf_node *node)
{
    return node->leader;
}

int sf_node_rank(const sf_node *node)
{
    return node->rank;
}

int sf_node_size(const sf_node *node)
{
    return node->size;
}

sf_node_facts sf_node_get_facts(const sf_node *node)
{
    return node->facts;
}

/* ---- memory ---- */

static uint8_t *aligned(void *memory)
{
    const uintptr_t unit = SF_TABLE_IMAGE_ALIGNMENT;
    return (uint8_t *)(((uintptr_t)memory + unit - 1) / unit * unit);
}

/* Takes this rank's share of the window's pages. False when there is no room for them; true, too, where this cannot be asked
 * and only the free space speaks for it. */
static bool take_pages(const sf_node *n, void *memory, uint64_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)memory / page, rank = (uintptr_t)n->rank;
    const uintptr_t pages = ((uintptr_t)memory + bytes + page - 1) / page - begin, size = (uintptr_t)n->size;
    const uintptr_t first = begin + pages * rank / size, end = begin + pages * (rank + 1) / size;
    if (first == end)
        return true;
    (void)madvise((void *)(first * page), (end - first) * page, MADV_HUGEPAGE); /* a wish */
    return madvise((void *)(first * page), (end - first) * page, MADV_POPULATE_WRITE) == 0 || errno == EINVAL;
}

/* Whole pages are mapped, so that what is aligned here is aligned alike for all. */
bool sf_node_memory_open(sf_node *n, uint64_t bytes, void **shared)
{
    const uint64_t room = bytes + SF_TABLE_IMAGE_ALIGNMENT;
    void *memory = NULL;
    int unit;
    MPI_Aint size;
    if (!sf_node_agree(n, n->rank != 0 || sf_node_window_free() > room + room / 64))
        return false;
    const bool opened = MPI_Win_allocate_shared(n->rank == 0 ? (MPI_Aint)room : 0, 1, MPI_INFO_NULL, n->ranks, &memory,
                                                &n->window) == MPI_SUCCESS;
    if (!sf_node_agree(n, opened)) { /* freeing is collective, so what some ranks may have stays */
        n->window = MPI_WIN_NULL;
        return false;
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, n->window);
    MPI_Win_shared_query(n->window, 0, &size, &unit, &memory);
    if (!sf_node_agree(n, take_pages(n, memory, room))) {
        sf_node_memory_close(n);
        return false;
    }
    *shared = aligned(memory);
    return true;
}

void sf_node_memory_settle(const sf_node *n)
{
    MPI_Win_sync(n->window);
    (void)sf_node_agree(n, true);
    MPI_Win_sync(n->window);
}

int sf_node_copies_check(const sf_node *n, uint64_t bytes, sf_error *err)
{
    if (sf_node_agree(n, n->rank != 0 || bytes * (uint64_t)n->size < sf_memory_available()))
        return 0;
    return sf_fail(err, SF_ELIMIT,
                   "the ranks of a node cannot share a table of %" PRIu64 " MiB (is /dev/shm too small?), and there is no "
                   "memory for a copy each: enlarge /dev/shm, or start fewer ranks a node with more --threads",
                   (bytes >> 20) + 1);
}

/* ---- a table ---- */

/* Room for a copy on every rank of the node, or on none. */
static int take_copy(sf_node *n, uint64_t bytes, void **image, sf_error *err)
{
    int code = sf_node_copies_check(n, bytes, err);
    if (code)
        return code;
    n->copy = sf_array_alloc((size_t)bytes, 1);
    *image = n->copy;
    if (sf_node_agree(n, n->copy != NULL))
        return 0;
    return sf_fail(err, SF_ENOMEM, "out of memory for a copy of a table of %" PRIu64 " MiB", (bytes >> 20) + 1);
}

/* The leader's table to all ranks of a node that has several. */
static int share(sf_node *n, sf_table *table, uint64_t bytes, sf_error *err)
{
    void *image = NULL;
    const bool window = sf_node_memory_open(n, bytes, &image);
    int code = window ? 0 : take_copy(n, bytes, &image, err);
    if (code)
        return code;
    if (n->rank == 0)
        sf_table_image_write(table, image);
    if (window)
        sf_node_memory_settle(n);
    else
        broadcast(n, bytes, image);
    return sf_table_image_open(&n->table, image, bytes, err);
}

int sf_node_share_table(sf_node *n, sf_table *table, const sf_table **shared, sf_error *err)
{
    int code = 0;
    *shared = NULL;
    if (n->size == 1) {
        n->table = table;
    } else {
        uint64_t bytes = n->rank == 0 ? sf_table_image_bytes(table) : 0;
        broadcast(n, sizeof bytes, &bytes);
        code = share(n, table, bytes, err);
        sf_table_close(table);
    }
    code = sf_comm_agree(n->comm, code, err);
    if (!code)
        *shared = n->table;
    return code;
}

/* A table of contact maps built by the ranks together equals one that is built alone, whatever the ranks, threads and nodes;
 * and what fails on one rank fails on all. Run alone and under mpirun. */
#include "dist/maps_mpi.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "starfold/problem.h"
#include "test_main.h"

static sf_comm comm;
static int n_nodes = 1; /* that this machine plays */

/* In place of the library's: ranks are dealt to nodes in turn. */
int MPI_Comm_split_type(MPI_Comm all, int type, int key, MPI_Info info, MPI_Comm *ranks)
{
    (void)type;
    (void)info;
    return PMPI_Comm_split(all, comm.rank % n_nodes, key, ranks);
}

static bool same(const sf_map_table *a, const sf_map_table *b)
{
    return a->lattice == b->lattice && a->n_maps == b->n_maps && a->conformations == b->conformations &&
           a->max_contacts == b->max_contacts && !a->high == !b->high &&
           memcmp(a->low, b->low, a->n_maps * sizeof *a->low) == 0 &&
           (!a->high || memcmp(a->high, b->high, a->n_maps * sizeof *a->high) == 0) &&
           memcmp(a->count, b->count, a->n_maps * sizeof *a->count) == 0;
}

static void check(const char *name, int length)
{
    const sf_lattice *lattice = sf_lattice_find(name);
    const sf_map_options one = {1, 0, NULL}, mine = {1 + comm.rank % 2, 0, NULL};
    sf_map_table alone;
    sf_maps together, copy = {0};
    sf_error err = {0};
    CU_ASSERT_EQUAL_FATAL(sf_map_table_build(&alone, lattice, length, &one, &err), 0);
    CU_ASSERT_EQUAL_FATAL(sf_maps_build_together(&comm, &together, lattice, length, &mine, &err), 0);
    CU_ASSERT_TRUE(same(&alone, &together.table));
    if (comm.rank == 0)
        CU_ASSERT_EQUAL_FATAL(sf_map_table_build(&copy.table, lattice, length, &one, &err), 0);
    CU_ASSERT_EQUAL_FATAL(sf_maps_broadcast(&comm, &copy, lattice, length, &err), 0);
    CU_ASSERT_TRUE(same(&alone, &copy.table));
    sf_maps_free(&copy);
    sf_maps_free(&together);
    sf_map_table_free(&alone);
}

static void test_equal(void)
{
    for (int length = 3; length <= 16; length++) /* the shortest have fewer maps than ranks */
        check("square", length);
    for (int length = 3; length <= 11; length++)
        check("cubic", length);
}

/* Large enough for memory that ranks share. */
static void test_nodes(void)
{
    for (n_nodes = 1; n_nodes <= comm.size; n_nodes++)
        check("cubic", 14);
    check("square", 19); /* maps of two words */
    n_nodes = 2;
    check("square", 19);
    n_nodes = 1;
}

static void test_no_room(void)
{
    for (int bad = 0; bad < 2; bad++) { /* on one node of one or two there seems to be no room */
        if (comm.rank == bad)
            setenv("OMPI_MCA_osc_sm_backing_directory", "/there is no such folder", 1);
        n_nodes = bad + 1;
        check("cubic", 14);
        unsetenv("OMPI_MCA_osc_sm_backing_directory");
    }
    n_nodes = 1;
}

/* All ranks of a node see the same memory, where it is large enough for that. */
static void test_one_copy(void)
{
    const sf_map_options one = {1, 0, NULL};
    sf_maps maps;
    CU_ASSERT_EQUAL_FATAL(sf_maps_build_together(&comm, &maps, sf_lattice_find("square"), 18, &one, NULL), 0);
    CU_ASSERT_EQUAL(maps.node != NULL, comm.size > 1);
    const uint32_t before = maps.table.count[0];
    sf_comm_barrier(&comm);
    if (comm.rank == 0)
        maps.table.count[0] = before + 1;
    sf_comm_barrier(&comm);
    CU_ASSERT_EQUAL(maps.table.count[0], before + 1);
    sf_maps_free(&maps);
    CU_ASSERT_EQUAL_FATAL(sf_maps_build_together(&comm, &maps, sf_lattice_find("square"), 12, &one, NULL), 0);
    CU_ASSERT_PTR_NULL(maps.node);
    sf_maps_free(&maps);
}

static void expect_failure(int length, const sf_map_options *options, int code, const char *part)
{
    sf_maps maps;
    sf_error err = {0};
    CU_ASSERT_EQUAL(sf_maps_build_together(&comm, &maps, sf_lattice_find("square"), length, options, &err), code);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, part));
    CU_ASSERT_TRUE(!maps.table.low && maps.table.n_maps == 0 && !maps.node);
    sf_maps_free(&maps);
}

static void test_failing_rank(void)
{
    volatile int stop = 0;
    for (int bad = 0; bad < comm.size; bad++) {
        const sf_map_options options = {1, comm.rank == bad ? 1000 : 0, &stop};
        expect_failure(16, &options, SF_ELIMIT, "MiB may be used");
        expect_failure(18, &options, SF_ELIMIT, "MiB may be used"); /* where ranks share memory */
        stop = comm.rank == bad;
        const sf_map_options stopped = {1, 0, &stop};
        expect_failure(16, &stopped, SF_ESTOPPED, "stopped");
        expect_failure(18, &stopped, SF_ESTOPPED, "stopped");
        stop = 0;
    }
    check("square", 12); /* and the ranks are still together */
}

/* Every rank's bytes come to rank 0, also none, each to its place. */
static void test_gather(void)
{
    enum { ROOM = 100000 };
    uint8_t *mine = malloc(ROOM), *all = malloc((size_t)comm.size * ROOM);
    uint64_t *sizes = calloc((size_t)comm.size, sizeof *sizes);
    CU_ASSERT_TRUE_FATAL(mine && all && sizes);
    for (size_t step = 0; step < 3; step++) {
        size_t n = ((size_t)comm.rank + step) % 3 * (ROOM / 2);
        memset(mine, 'a' + comm.rank, n);
        sf_comm_gather(&comm, n, mine, ROOM, sizes, all);
        for (size_t r = 0; comm.rank == 0 && r < (size_t)comm.size; r++) {
            const uint8_t *from = all + r * ROOM;
            CU_ASSERT_EQUAL_FATAL(sizes[r], (r + step) % 3 * (ROOM / 2));
            for (size_t i = 0; i < sizes[r]; i++)
                CU_ASSERT_EQUAL_FATAL(from[i], 'a' + r);
        }
    }
    free(mine);
    free(all);
    free(sizes);
}

static void test_open(void)
{
    sf_error err = {0};
    CU_ASSERT_EQUAL_FATAL(sf_comm_open(&comm, NULL, NULL, &err), 0);
    const char *expected = getenv("STARFOLD_TEST_RANKS");
    CU_ASSERT_EQUAL(comm.size, expected ? atoi(expected) : 1);
}

static void test_close(void)
{
    sf_comm_close(&comm);
}

const test_case test_cases[] = {
    {"open", test_open},
    {"equal to one built alone", test_equal},
    {"several nodes", test_nodes},
    {"no room to share", test_no_room},
    {"one copy a node", test_one_copy},
    {"a failing rank", test_failing_rank},
    {"gather", test_gather},
    {"close", test_close},
    {NULL, NULL},
};

/* The census's layout made by the ranks together gives what one made alone gives, whatever the ranks, threads and nodes. Run
 * alone and under mpirun. */
#include "dist/census_mpi.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "test_main.h"

static sf_comm comm;
static int n_nodes = 1; /* that this machine plays */
static bool no_room;    /* on rank 0's node, for what is laid out */

/* In place of the library's: ranks are dealt to nodes in turn. */
int MPI_Comm_split_type(MPI_Comm all, int type, int key, MPI_Info info, MPI_Comm *ranks)
{
    (void)type;
    (void)info;
    return PMPI_Comm_split(all, comm.rank % n_nodes, key, ranks);
}

static void count(const sf_census_plan *plan, sf_census *census, sf_shapes *shapes)
{
    *census = (sf_census){0};
    CU_ASSERT_EQUAL(sf_census_count_shapes(plan, (size_t)comm.rank, (size_t)comm.size, 1, NULL, NULL, census, shapes, NULL), 0);
    if (shapes)
        sf_shapes_settle(shapes);
}

static void check(const char *lattice, int length, sf_census_kind kind)
{
    const sf_map_options options = {1, 0, NULL};
    sf_maps maps;
    sf_node_census together;
    sf_census_plan *alone;
    sf_census right, census;
    CU_ASSERT_EQUAL_FATAL(sf_maps_build_together(&comm, &maps, sf_lattice_find(lattice), length, &options, NULL), 0);
    sf_shapes right_shapes = {.n_scores = maps.table.max_contacts + 1}, shapes = right_shapes;
    const bool histograms = kind == SF_CENSUS_HISTOGRAMS;
    const bool large = sf_map_table_bytes(maps.table.lattice, length) >= 1 << 20;
    CU_ASSERT_EQUAL(maps.node != NULL, large && comm.size > n_nodes); /* some node has several ranks */
    if (no_room && comm.rank == 0)
        setenv("OMPI_MCA_osc_sm_backing_directory", "/there is no such folder", 1);
    CU_ASSERT_EQUAL_FATAL(sf_node_census_open(&comm, &together, &maps, kind, 1 + comm.rank % 2, NULL), 0);
    unsetenv("OMPI_MCA_osc_sm_backing_directory");
    CU_ASSERT_EQUAL_FATAL(sf_census_open(&alone, &maps.table, kind, 1, NULL, NULL), 0);
    sf_maps_free(&maps);
    count(alone, &right, histograms ? &right_shapes : NULL);
    count(together.plan, &census, histograms ? &shapes : NULL);
    CU_ASSERT_EQUAL(memcmp(&census, &right, sizeof right), 0);
    CU_ASSERT_EQUAL(shapes.n, right_shapes.n);
    CU_ASSERT_TRUE(shapes.n == 0 ||
                   memcmp(shapes.row, right_shapes.row, shapes.n * sf_shapes_width(&shapes) * sizeof *shapes.row) == 0);
    sf_shapes_free(&shapes);
    sf_shapes_free(&right_shapes);
    sf_census_close(alone);
    sf_node_census_close(&together);
}

static void test_equal(void)
{
    check("square", 12, SF_CENSUS_SETS); /* each rank for itself */
    check("square", 18, SF_CENSUS_HISTOGRAMS);
    check("cubic", 14, SF_CENSUS_HISTOGRAMS);
    for (n_nodes = 1; n_nodes <= comm.size; n_nodes++)
        check("square", 18, SF_CENSUS_SETS);
    n_nodes = 2;
    check("square", 19, SF_CENSUS_SETS);
    n_nodes = 1;
}

/* One node finds no room for the layout when the maps are there already. */
static void test_no_room(void)
{
    no_room = true;
    for (n_nodes = 1; n_nodes <= 2; n_nodes++)
        check("square", 18, SF_CENSUS_SETS);
    n_nodes = 1;
    no_room = false;
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
    {"equal to one laid out alone", test_equal},
    {"no room to share", test_no_room},
    {"close", test_close},
    {NULL, NULL},
};

/* One table a node, a copy a rank where that cannot be, and shards of it over the ranks: each gives the answers of an engine
 * that has a table of its own. Alone and on several ranks. */
#include "dist/node_mpi.h"

#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/puzzle/puzzle.h"
#include "dist/maps_mpi.h"
#include "dist/share_mpi.h"
#include "dist/shared_evaluation_mpi.h"
#include "starfold/engine.h"

enum { LENGTH = 15, N = 150 };

static sf_comm comm;
static sf_problem problem;
static size_t width;
static uint8_t elements[N * LENGTH]; /* elements[N][LENGTH] */
static uint64_t *known; /* known[N][width]: of the engine alone */

static void open_comm(void)
{
    int argc = 0;
    char **argv = NULL;
    if (sf_comm_open(&comm, &argc, &argv, NULL) != 0)
        CU_FAIL_FATAL("no communicator");
    const char *expected = getenv("STARFOLD_TEST_RANKS");
    CU_ASSERT_EQUAL(comm.size, expected ? atoi(expected) : 1);
}

static sf_engine_options options_of_table(void)
{
    sf_engine_options options;
    sf_engine_options_init(&options);
    options.engine = "table";
    options.n_threads = 2;
    return options;
}

static void count_alone(void)
{
    sf_engine *engine;
    sf_engine_options options = options_of_table();
    uint64_t state = test_seed();
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), LENGTH, NULL), 0);
    width = (size_t)problem.n_scores;
    for (int i = 0; i < N * LENGTH; i++)
        elements[i] = i < LENGTH ? 0 : (uint8_t)(test_random(&state) & 1);
    known = calloc(N * width, sizeof *known);
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, N, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(sf_engine_histograms(engine, N, elements, known, NULL), 0);
    CU_ASSERT_FALSE(sf_engine_is_shard(engine));
    sf_engine_close(engine);
}

/* All ranks together, in batches of several sizes. */
static void check_batches(const sf_engine *engine)
{
    static const size_t sizes[] = {1, 2, 33, N};
    uint64_t *found = calloc(N * width, sizeof *found);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(found, 0xff, N * width * sizeof *found);
        CU_ASSERT_EQUAL(sf_share_histograms(&comm, engine, (int)width, sizes[i], elements, 2, found, NULL, NULL, NULL), 0);
        CU_ASSERT_EQUAL(memcmp(found, known, sizes[i] * width * sizeof *found), 0);
    }
    free(found);
}

/* As a search asks: each rank wants other genomes. */
static void check_puzzle(const sf_engine_options *options, bool partial)
{
    sf_puzzle puzzle;
    sf_shared_evaluation *shared;
    uint64_t *found = calloc(N * width, sizeof *found);
    CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_chain(&puzzle, &problem, options, N, NULL), 0);
    CU_ASSERT_EQUAL(puzzle.partial, partial);
    CU_ASSERT_EQUAL_FATAL(sf_shared_evaluation_open(&shared, &comm, &puzzle, 2, NULL, NULL, NULL), 0);
    sf_shared_evaluation_expect(shared, 3);
    for (int call = 0; call < 3; call++) {
        size_t first = ((size_t)comm.rank * 31 + (size_t)call * 17) % (N - 50), n = 20 + 10 * (size_t)call;
        CU_ASSERT_EQUAL(sf_shared_evaluation_run(shared, n, elements + first * LENGTH, found, NULL), 0);
        CU_ASSERT_EQUAL(memcmp(found, known + first * width, n * width * sizeof *found), 0);
    }
    sf_shared_evaluation_close(shared);
    sf_puzzle_close(&puzzle);
    free(found);
}

static void check_node(void)
{
    sf_node *node;
    sf_table *table = NULL;
    sf_engine *engine;
    sf_maps maps;
    sf_engine_options options = options_of_table();
    const sf_map_options build = {.n_threads = 1};
    CU_ASSERT_EQUAL_FATAL(sf_node_open(&node, &comm, NULL), 0);
    const sf_node_facts facts = sf_node_get_facts(node);
    CU_ASSERT(facts.least_ranks >= 1 && facts.most_ranks >= facts.least_ranks && facts.most_ranks <= comm.size);
    CU_ASSERT(facts.memory > 0);
    CU_ASSERT_EQUAL_FATAL(sf_maps_build_together(&comm, &maps, problem.lattice, LENGTH, &build, NULL), 0);
    if (sf_node_leads(node))
        CU_ASSERT_EQUAL_FATAL(sf_table_open_maps(&table, &maps.table, SF_TABLE_HISTOGRAMS, NULL), 0);
    sf_maps_free(&maps);
    CU_ASSERT_EQUAL_FATAL(sf_node_share_table(node, table, &options.table, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, N, NULL), 0);
    CU_ASSERT(sf_engine_memory(engine) >= sf_table_memory(options.table));
    check_batches(engine);
    sf_engine_close(engine);
    check_puzzle(&options, false);
    sf_node_close(node);
}

static void test_node(void)
{
    check_node();
}

static void test_copies(void)
{
    setenv("OMPI_MCA_osc_sm_backing_directory", "/there is no such folder", 1); /* so that there seems to be no room */
    check_node();
    unsetenv("OMPI_MCA_osc_sm_backing_directory");
}

static void test_shards(void)
{
    sf_engine *engine;
    sf_engine_options options = options_of_table();
    options.shard = comm.rank;
    options.n_shards = comm.size;
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, N, NULL), 0);
    CU_ASSERT_EQUAL(sf_engine_is_shard(engine), comm.size > 1);
    check_batches(engine);
    sf_engine_close(engine);
    check_puzzle(&options, comm.size > 1);
    options.shard = comm.size + 1;
    options.n_shards = 2;
    CU_ASSERT_EQUAL(sf_engine_open(&engine, &problem, &options, N, NULL), SF_EINPUT);
}

/* More shards than the maps have groups: some hold nothing. All of them added here, by one process. */
static void test_many_shards(void)
{
    enum { SHARDS = 150 };
    uint64_t *sum = calloc(N * width, sizeof *sum), *part = calloc(N * width, sizeof *part);
    sf_engine_options options = options_of_table();
    options.n_shards = comm.mpi ? 1 : SHARDS; /* once is enough */
    options.n_threads = 1;
    for (options.shard = 0; options.shard < options.n_shards; options.shard++) {
        sf_engine *engine;
        CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, N, NULL), 0);
        CU_ASSERT_EQUAL(sf_engine_histograms(engine, N, elements, part, NULL), 0);
        for (size_t i = 0; i < N * width; i++)
            sum[i] += part[i];
        sf_engine_close(engine);
    }
    CU_ASSERT_EQUAL(memcmp(sum, known, N * width * sizeof *sum), 0);
    free(sum);
    free(part);
}

static void close_comm(void)
{
    free(known);
    sf_comm_close(&comm);
}

const test_case test_cases[] = {
    {"ranks", open_comm},
    {"alone", count_alone},
    {"one copy a node", test_node},
    {"a copy a rank where memory cannot be shared", test_copies},
    {"shards", test_shards},
    {"more shards than groups of maps", test_many_shards},
    {"the end", close_comm},
    {NULL, NULL},
};

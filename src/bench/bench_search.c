/* The whole search: the paper's experiment, and ranks against one rank.
 *
 *   starfold-bench --only paper
 *   mpirun -np 2 starfold-bench --only ranks */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "core/engines/census/census.h"
#include "core/puzzle/puzzle.h"
#include "core/walk/walk.h"
#include "dist/maps_mpi.h"
#include "dist/search_mpi.h"
#include "dist/share_mpi.h"

typedef struct search_case {
    sf_problem problem;
    sf_search_config config;
    sf_puzzle puzzle;
    int table_length;
    sf_census_plan *census;
    sf_engine *engine; /* a table, for a batch of sequences */
    size_t n_sequences;
    uint8_t *elements;
    uint64_t *histograms;
    int failed; /* code of the first failure */
} search_case;

static int case_init(search_case *c, int length)
{
    *c = (search_case){0};
    sf_search_config_init(&c->config);
    c->failed = sf_problem_init(&c->problem, sf_lattice_find("square"), sf_score_model_find("hp"), length, NULL);
    return c->failed;
}

/* Individuals that are not elites; each is evaluated by a program that remembers nothing. */
static double n_evaluations(const sf_search_config *config)
{
    double born = (double)(config->population - config->elites) * (double)config->generations;
    return (double)config->trials * config->islands * (config->population + born);
}

static int open_puzzle(search_case *c)
{
    sf_engine_options options;
    sf_engine_options_init(&options);
    options.engine = "table";
    return sf_puzzle_open_chain(&c->puzzle, &c->problem, &options, (size_t)n_evaluations(&c->config), NULL);
}

static void search(search_case *c, const sf_comm *comm)
{
    const sf_search_options options = {.n_threads = 1};
    const sf_search_hooks hooks = {0};
    sf_record record = {0};
    bool keeps = comm->rank == 0;
    int code = keeps ? sf_record_init(&record, &c->config, c->problem.length, c->problem.n_scores, NULL) : 0;
    if (!code)
        code = sf_search_run(comm, &c->puzzle, &c->config, &options, keeps ? &record : NULL, &hooks, NULL);
    if (keeps)
        sf_record_free(&record);
    if (code && !c->failed)
        c->failed = code;
}

/* ---- the paper's experiment ---- */

static void paper(void *context)
{
    search_case *c = context;
    const sf_comm alone = {.rank = 0, .size = 1};
    int code = open_puzzle(c);
    if (!code)
        search(c, &alone);
    else
        c->failed = code;
    sf_puzzle_close(&c->puzzle);
}

static void walk_one(void *context)
{
    search_case *c = context;
    uint8_t elements[SF_LENGTH_MAX];
    uint64_t histogram[SF_SCORES_MAX];
    for (int i = 0; i < c->problem.length; i++)
        elements[i] = (uint8_t)(i % 3 == 1);
    if (sf_walk_histogram(&c->problem, elements, NULL, histogram, NULL) != 0)
        c->failed = SF_ECHECK;
}

static int run_paper(const sf_bench_options *options)
{
    (void)options;
    search_case c;
    if (case_init(&c, 16) != 0)
        return c.failed;
    c.config.trials = 25;
    sf_bench_title("the paper's experiment, one core", "a walk over all conformations for each individual (one timed)");
    double plain = sf_bench_time(walk_one, &c, 0.5) * n_evaluations(&c.config);
    sf_bench_figure("25 trials, N=16, table and all", sf_bench_time(paper, &c, 2), plain, 1);
    return c.failed;
}

const sf_bench sf_bench_paper = {"paper", "the paper's 25 trials, table build and all", run_paper, false};

/* ---- ranks ---- */

static void busy(void)
{
    volatile uint64_t kept;
    uint64_t x = 1;
    for (int i = 0; i < 300000000; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
    kept = x;
    (void)kept;
}

/* Seconds from one meeting of the ranks to the next, with work on the first `n_working`. */
typedef void (*rank_work)(search_case *c, const sf_comm *comm);
static double between_meetings(const sf_comm *world, int n_working, rank_work work, search_case *c)
{
    const sf_comm alone = {.rank = 0, .size = 1};
    sf_comm_barrier(world);
    double start = sf_bench_now();
    if (n_working == 1 && world->rank == 0)
        work(c, &alone);
    else if (n_working > 1)
        work(c, world);
    double own = sf_bench_now() - start;
    sf_comm_barrier(world);
    return n_working == 1 ? own : sf_bench_now() - start;
}

static void busy_work(search_case *c, const sf_comm *comm)
{
    (void)c;
    (void)comm;
    busy();
}

/* The whole table for every rank, each having built a share. */
static void build_maps(search_case *c, const sf_comm *comm)
{
    const sf_map_options options = {.n_threads = 1};
    sf_maps maps;
    int code = sf_maps_build_together(comm, &maps, sf_lattice_find("square"), c->table_length, &options, NULL);
    c->failed = code ? code : c->failed;
    sf_maps_free(&maps);
}

/* Each rank counts its part of all sequences. */
static void census_work(search_case *c, const sf_comm *comm)
{
    sf_census part = {0};
    int code = sf_census_count(c->census, (size_t)comm->rank, (size_t)comm->size, 1, NULL, NULL, &part, NULL);
    uint64_t sequences = part.sequences;
    if (!code)
        code = sf_comm_sum(comm, 1, &sequences, NULL);
    if (!code && sequences != UINT64_C(1) << c->table_length)
        code = SF_ECHECK;
    c->failed = code ? code : c->failed;
}

static int open_census(search_case *c)
{
    sf_map_table maps = sf_bench_maps("square", c->table_length, 1);
    int code = sf_census_open(&c->census, &maps, SF_CENSUS_SETS, 1, NULL, NULL);
    sf_map_table_free(&maps);
    return code;
}

static void batch_work(search_case *c, const sf_comm *comm)
{
    int code = sf_share_histograms(comm, c->engine, c->problem.n_scores, c->n_sequences, c->elements, 1, c->histograms, NULL,
                                   NULL, NULL);
    if (code && !c->failed)
        c->failed = code;
}

/* `elements` is the batch's from here on. */
static int open_batch(search_case *c, const char *engine, size_t n, uint8_t *elements)
{
    sf_engine_options options;
    sf_engine_options_init(&options);
    options.engine = engine;
    options.top_counts = 0;
    c->n_sequences = n;
    c->elements = elements;
    c->histograms = calloc(n * (size_t)c->problem.n_scores, sizeof *c->histograms);
    if (!c->elements || !c->histograms)
        return SF_ENOMEM;
    return sf_engine_open(&c->engine, &c->problem, &options, n, NULL);
}

static int open_table_batch(search_case *c, size_t n)
{
    return open_batch(c, "table", n, sf_bench_elements(c->problem.length, n));
}

static void close_batch(search_case *c)
{
    sf_engine_close(c->engine);
    free(c->elements);
    free(c->histograms);
    c->engine = NULL;
    c->elements = NULL;
    c->histograms = NULL;
}

static void compare(const char *what, const sf_comm *world, rank_work work, search_case *c, bool shares)
{
    enum { ROUNDS = 5 };
    double one = 0, all = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double s = between_meetings(world, 1, work, c);
        one = round == 0 || s < one ? s : one;
        s = between_meetings(world, world->size, work, c);
        all = round == 0 || s < all ? s : all;
    }
    if (world->rank == 0)
        printf("  %-42s %11.3gs %11.3gs %10.2f\n", what, one, all, one / all * (shares ? 1 : world->size));
}

/* Engine bound: chains that take times a thousandfold apart, and one that all ranks share. */
static int compare_bound(const sf_comm *world)
{
    enum { CHAINS = 64 };
    search_case c;
    if (case_init(&c, 36) != 0)
        return c.failed;
    int code = open_batch(&c, "bound", CHAINS, sf_bench_random_elements(c.problem.length, CHAINS));
    code = sf_comm_agree(world, code, NULL);
    if (!code)
        compare("64 chains, square 36, engine bound", world, batch_work, &c, true);
    close_batch(&c);
    if (code || c.failed)
        return code ? code : c.failed;

    const int length = (int)strlen(sf_bench_hard_chain);
    uint8_t *elements = malloc((size_t)length);
    for (int i = 0; elements && i < length; i++)
        elements[i] = sf_bench_hard_chain[i] != 'H';
    code = case_init(&c, length);
    if (!code)
        code = open_batch(&c, "bound", 1, elements);
    else
        free(elements);
    code = sf_comm_agree(world, code, NULL);
    if (!code)
        compare("one hard 42-mer, engine bound", world, batch_work, &c, true);
    close_batch(&c);
    return code ? code : c.failed;
}

static int run_ranks(const sf_bench_options *options)
{
    const sf_comm *world = options->comm;
    search_case c;
    if (world->rank == 0)
        printf("\n%-44s %12s %7d ranks %10s\n", "ranks", "1 rank", world->size, "speed-up");
    if (world->size == 1) {
        printf("  needs several ranks: mpirun -np 2 starfold-bench --only ranks\n");
        return 0;
    }
    if (case_init(&c, 20) != 0)
        return c.failed;
    c.config.islands = 8;
    c.table_length = options->full ? 22 : 20;
    int code = sf_comm_agree(world, open_puzzle(&c), NULL);
    if (!code) {
        compare("busy loops side by side", world, busy_work, &c, false);
        compare(options->full ? "table, square N=22" : "table, square N=20", world, build_maps, &c, true);
        compare("8 islands, N=20, 50 generations, no table", world, search, &c, true);
    }
    sf_puzzle_close(&c.puzzle);
    if (!code)
        code = sf_comm_agree(world, open_census(&c), NULL);
    if (!code)
        compare(options->full ? "census, square N=22, no table" : "census, square N=20, no table", world, census_work, &c,
                true);
    sf_census_close(c.census);
    if (!code)
        code = sf_comm_agree(world, open_table_batch(&c, options->full ? 100000 : 5000), NULL);
    if (!code) {
        char what[64];
        snprintf(what, sizeof what, "%zu histograms, square 20, no table", c.n_sequences);
        compare(what, world, batch_work, &c, true);
    }
    close_batch(&c);
    code = code ? code : c.failed;
    return code ? code : compare_bound(world);
}

const sf_bench sf_bench_ranks = {"ranks", "several ranks against one, beside busy loops (under mpirun)", run_ranks,
                                 true};

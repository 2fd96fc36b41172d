/* Several threads against one, beside busy loops: what the machine itself can give in the same minute. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "core/engines/census/census.h"
#include "starfold/engine.h"

typedef struct threads_case {
    int length;
    int n_threads;
    sf_map_table maps;
    sf_census_plan *census;
    sf_problem problem;
    sf_engine *one, *many; /* the table engine, opened for one thread and for several */
    size_t n_sequences;
    uint8_t *elements;
    uint64_t *histograms;
} threads_case;

/* The same work for every thread, nothing but arithmetic. */
static void busy(void *context)
{
    const threads_case *c = context;
#pragma omp parallel num_threads(c->n_threads)
    {
        uint64_t x = (uint64_t)omp_get_thread_num() + 1;
        for (int i = 0; i < 200000000; i++)
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
        if (x == 0)
            puts("");
    }
}

static void build(void *context)
{
    const threads_case *c = context;
    sf_map_table maps = sf_bench_maps("square", c->length, c->n_threads);
    sf_map_table_free(&maps);
}

static void count(void *context)
{
    const threads_case *c = context;
    sf_census census = {0};
    (void)!sf_census_count(c->census, 0, 1, c->n_threads, NULL, NULL, &census, NULL);
}

static void ask(void *context)
{
    const threads_case *c = context;
    sf_engine *engine = c->n_threads == 1 ? c->one : c->many;
    (void)!sf_engine_histograms(engine, c->n_sequences, c->elements, c->histograms, NULL);
}

static int open_engine(const threads_case *c, const char *name, int n_threads, sf_engine **engine)
{
    sf_engine_options options;
    sf_engine_options_init(&options);
    options.engine = name;
    options.n_threads = n_threads;
    options.top_counts = 0;
    return sf_engine_open(engine, &c->problem, &options, c->n_sequences, NULL);
}

/* Times the work with one thread and with n, one after the other, and both again; the least of each. `shares`: the work is
 * divided; else every thread does all of it. */
static void compare(const char *what, sf_bench_action action, threads_case *c, int n_threads, bool shares)
{
    enum { ROUNDS = 3 };
    double one = 0, many = 0;
    for (int round = 0; round < ROUNDS; round++) {
        c->n_threads = 1;
        double s = sf_bench_time(action, c, 0);
        one = round == 0 || s < one ? s : one;
        c->n_threads = n_threads;
        s = sf_bench_time(action, c, 0);
        many = round == 0 || s < many ? s : many;
    }
    printf("  %-42s %11.3gs %11.3gs %10.2f\n", what, one, many, one / many * (shares ? 1 : n_threads));
    fflush(stdout);
}

/* A batch by the named engine; elements as in threads_case, freed. */
static int compare_batch(const char *what, threads_case *c, const char *engine, int n_threads)
{
    int code = sf_problem_init(&c->problem, sf_lattice_find("square"), sf_score_model_find("hp"), c->length, NULL);
    if (code == 0)
        c->histograms = calloc(c->n_sequences * (size_t)c->problem.n_scores, sizeof *c->histograms);
    if (!c->elements || !c->histograms)
        code = SF_ENOMEM;
    if (code == 0)
        code = open_engine(c, engine, 1, &c->one);
    if (code == 0)
        code = open_engine(c, engine, n_threads, &c->many);
    if (code == 0)
        compare(what, ask, c, n_threads, true);
    sf_engine_close(c->one);
    sf_engine_close(c->many);
    c->one = c->many = NULL;
    free(c->elements);
    free(c->histograms);
    c->elements = NULL;
    c->histograms = NULL;
    return code;
}

/* Engine bound, whose sequences take times that differ a thousandfold, and whose long ones are shared. */
static int compare_bound(threads_case *c, int n_threads)
{
    c->length = 36;
    c->n_sequences = 64;
    c->elements = sf_bench_random_elements(c->length, c->n_sequences);
    int code = compare_batch("64 chains, square 36, engine bound", c, "bound", n_threads);
    if (code != 0)
        return code;
    c->length = (int)strlen(sf_bench_hard_chain);
    c->n_sequences = 1;
    c->elements = malloc((size_t)c->length);
    for (int i = 0; c->elements && i < c->length; i++)
        c->elements[i] = sf_bench_hard_chain[i] != 'H';
    return compare_batch("one hard 42-mer, engine bound", c, "bound", n_threads);
}

static int run(const sf_bench_options *options)
{
    threads_case c = {.length = options->full ? 22 : 20};
    char what[64];
    printf("\n%-44s %12s %8d thr. %10s\n", "threads", "1 thread", options->n_threads, "speed-up");
    compare("busy loops side by side", busy, &c, options->n_threads, false);
    snprintf(what, sizeof what, "build square %d", c.length);
    compare(what, build, &c, options->n_threads, true);
    c.maps = sf_bench_maps("square", c.length, options->n_threads);
    if (sf_census_open(&c.census, &c.maps, SF_CENSUS_SETS, 1, NULL, NULL) != 0)
        return SF_ENOMEM;
    sf_map_table_free(&c.maps);
    snprintf(what, sizeof what, "census square %d, table excluded", c.length);
    compare(what, count, &c, options->n_threads, true);
    sf_census_close(c.census);

    c.length = 20;
    c.n_sequences = options->full ? 100000 : 5000;
    c.elements = sf_bench_elements(c.length, c.n_sequences);
    snprintf(what, sizeof what, "%zu histograms, square 20, table excluded", c.n_sequences);
    int code = compare_batch(what, &c, "table", options->n_threads);
    return code != 0 ? code : compare_bound(&c, options->n_threads);
}

const sf_bench sf_bench_threads = {"threads", "several threads against one, beside busy loops", run, false};

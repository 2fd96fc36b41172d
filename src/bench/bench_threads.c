/* Several threads against one, beside busy loops: what the machine itself can give in the same minute. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "core/engines/census.h"
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

static int open_engine(const threads_case *c, int n_threads, sf_engine **engine)
{
    sf_engine_options options;
    sf_engine_options_init(&options);
    options.engine = "table";
    options.n_threads = n_threads;
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

static int run(const sf_bench_options *options)
{
    threads_case c = {.length = options->full ? 22 : 20, .n_sequences = options->full ? 100000 : 5000};
    char what[64];
    printf("\n%-44s %12s %8d thr. %10s\n", "threads", "1 thread", options->n_threads, "speed-up");
    compare("busy loops side by side", busy, &c, options->n_threads, false);
    snprintf(what, sizeof what, "build square %d", c.length);
    compare(what, build, &c, options->n_threads, true);
    c.maps = sf_bench_maps("square", c.length, options->n_threads);
    if (sf_census_open(&c.census, &c.maps, SF_CENSUS_SETS, NULL) != 0)
        return SF_ENOMEM;
    sf_map_table_free(&c.maps);
    snprintf(what, sizeof what, "census square %d, table excluded", c.length);
    compare(what, count, &c, options->n_threads, true);
    sf_census_close(c.census);

    c.length = 20;
    c.elements = sf_bench_elements(c.length, c.n_sequences);
    if (sf_problem_init(&c.problem, sf_lattice_find("square"), sf_score_model_find("hp"), c.length, NULL) == 0)
        c.histograms = calloc(c.n_sequences * (size_t)c.problem.n_scores, sizeof *c.histograms);
    if (!c.elements || !c.histograms)
        return SF_ENOMEM;
    if (open_engine(&c, 1, &c.one) != 0 || open_engine(&c, options->n_threads, &c.many) != 0)
        return SF_ENOMEM;
    snprintf(what, sizeof what, "%zu histograms, square 20, table excluded", c.n_sequences);
    compare(what, ask, &c, options->n_threads, true);
    sf_engine_close(c.one);
    sf_engine_close(c.many);
    free(c.elements);
    free(c.histograms);
    return 0;
}

const sf_bench sf_bench_threads = {"threads", "several threads against one, beside busy loops", run, false};

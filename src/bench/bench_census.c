/* The census of all sequences, table included. */
#include <stdio.h>

#include "bench/bench.h"
#include "core/engines/census/census.h"

typedef struct census_case {
    const char *lattice;
    int length;
    double target_s;
    bool plain, plain_if_full, only_if_full;
    bool histograms;
    double build_s, open_s, count_s; /* of the last run */
} census_case;

static void count(void *context)
{
    census_case *c = context;
    sf_census_plan *plan;
    sf_census census = {0};
    sf_shapes shapes = {.n_scores = SF_TABLE_SCORES};
    double start = sf_bench_now();
    sf_map_table maps = sf_bench_maps(c->lattice, c->length, 1);
    c->build_s = sf_bench_now() - start;
    if (sf_census_open(&plan, &maps, c->histograms ? SF_CENSUS_HISTOGRAMS : SF_CENSUS_SETS, 1, NULL, NULL) != 0)
        return;
    sf_map_table_free(&maps);
    c->open_s = sf_bench_now() - start - c->build_s;
    (void)!sf_census_count_shapes(plan, 0, 1, 1, NULL, NULL, &census, c->histograms ? &shapes : NULL, NULL);
    sf_shapes_settle(&shapes);
    c->count_s = sf_bench_now() - start - c->build_s - c->open_s;
    sf_shapes_free(&shapes);
    sf_census_close(plan);
}

static void count_plainly(void *context)
{
    const census_case *c = context;
    sf_census census;
    sf_map_table maps = sf_bench_maps(c->lattice, c->length, 1);
    sf_census_plain(&maps, NULL, &census, NULL);
    sf_map_table_free(&maps);
}

static int run(const sf_bench_options *options)
{
    census_case cases[] = {
        {.lattice = "square", .length = 14, .plain = true},
        {.lattice = "square", .length = 16, .target_s = 20e-3, .plain = true},
        {.lattice = "square", .length = 18, .target_s = 90e-3, .plain_if_full = true},
        {.lattice = "square", .length = 20, .target_s = 650e-3},
        {.lattice = "square", .length = 22, .target_s = 5},
        {.lattice = "square", .length = 24, .only_if_full = true},
        {.lattice = "cubic", .length = 14},
        {.lattice = "cubic", .length = 17, .only_if_full = true},
        {.lattice = "square", .length = 14, .histograms = true, .plain = true},
        {.lattice = "square", .length = 18, .histograms = true},
    };
    sf_bench_title("census of all sequences, table included", "a scan of all maps for every sequence");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        census_case *c = &cases[i];
        char what[64];
        if (c->only_if_full && !options->full)
            continue;
        double s = sf_bench_time(count, c, c->length > 20 ? 0 : 1.5);
        double plain = c->plain || (c->plain_if_full && options->full) ? sf_bench_time(count_plainly, c, 0) : 0;
        snprintf(what, sizeof what, "%s %d%s", c->lattice, c->length, c->histograms ? ", every histogram" : "");
        sf_bench_figure(what, s, plain, c->target_s);
        printf("    of the last run: build %.3g s, lay out %.3g s, count %.3g s\n", c->build_s, c->open_s, c->count_s);
    }
    return 0;
}

const sf_bench sf_bench_census = {"census", "the census of all sequences of a length", run, false};

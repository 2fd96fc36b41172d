/* Tables of contact maps: building them, sets of scores, histograms, bytes a map. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "core/engines/table/table.h"
#include "core/engines/table/table_set.h"
#include "core/engines/table/table_sliced.h"
#include "core/walk/walk.h"

typedef struct length_case {
    const char *lattice;
    int length;
    double target_s;
    bool plain_is_long;
} length_case;

/* ---- building ---- */

static void build_grouped(void *context)
{
    const length_case *c = context;
    sf_map_table maps = sf_bench_maps(c->lattice, c->length, 1);
    sf_map_table_free(&maps);
}

static void build_plain(void *context)
{
    const length_case *c = context;
    sf_map_table maps;
    sf_map_options options = {.n_threads = 1};
    if (sf_map_table_build_plain(&maps, sf_lattice_find(c->lattice), c->length, &options, NULL) == 0)
        sf_map_table_free(&maps);
}

static int run_build(const sf_bench_options *options)
{
    length_case cases[] = {{"square", 16, 8e-3, false}, {"square", 18, 40e-3, false}, {"square", 20, 250e-3, false},
                           {"square", 22, 2.6, true},   {"cubic", 14, 0.15, false},   {"cubic", 16, 3.5, true}};
    sf_bench_title("build the table of contact maps", "depth-first walk and one hash table");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char what[64];
        snprintf(what, sizeof what, "%s %d", cases[i].lattice, cases[i].length);
        double s = sf_bench_time(build_grouped, &cases[i], cases[i].plain_is_long ? 6 : 1);
        double plain = cases[i].plain_is_long && !options->full ? 0 : sf_bench_time(build_plain, &cases[i], 0.5);
        sf_bench_figure(what, s, plain, cases[i].target_s);
    }
    return 0;
}

const sf_bench sf_bench_build = {"build", "building tables, by groups and plainly", run_build, false};

/* ---- questions ---- */

enum { BATCH = 2000 };

typedef struct questions {
    sf_map_table maps;
    sf_set_table set;
    sf_set_work work;
    sf_sliced_table sliced;
    uint32_t sequence[BATCH];
    size_t n;       /* asked of the layouts */
    size_t n_plain; /* asked of the plain scan */
    size_t width;
    uint64_t *histogram;
    uint64_t sum; /* of the answers, so that none is left out */
} questions;

static void ask_sets(void *context)
{
    questions *q = context;
    for (size_t i = 0; i < q->n; i++)
        q->sum += sf_set_scores(&q->set, q->sequence[i], &q->work);
}

static void ask_sets_plainly(void *context)
{
    questions *q = context;
    for (size_t i = 0; i < q->n_plain; i++)
        q->sum += sf_table_plain_scores(&q->maps, q->sequence[i]);
}

static void ask_histograms(void *context)
{
    questions *q = context;
    for (size_t i = 0; i < q->n; i++)
        sf_sliced_histograms(&q->sliced, 0, 1, 1, &q->sequence[i], q->width, q->histogram + i * q->width);
}

static void ask_batch(void *context)
{
    questions *q = context;
    sf_sliced_histograms(&q->sliced, 0, 1, q->n, q->sequence, q->width, q->histogram);
}

static void ask_histograms_plainly(void *context)
{
    questions *q = context;
    for (size_t i = 0; i < q->n_plain; i++)
        sf_table_plain_histogram(&q->maps, q->sequence[i], q->histogram + i * q->width);
}

/* NULL when memory is out. */
static questions *open_questions(const length_case *c, bool sets)
{
    questions *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->maps = sf_bench_maps(c->lattice, c->length, 1);
    q->width = (size_t)q->maps.max_contacts + 1;
    q->histogram = calloc(BATCH * q->width, sizeof *q->histogram);
    q->n = sets ? BATCH : q->maps.n_maps > 2000000 ? 32 : q->maps.n_maps > 500000 ? 256 : BATCH;
    q->n_plain = 1 + 300000 / q->maps.n_maps;
    sf_bench_sequences(c->length, BATCH, q->sequence);
    int status = q->histogram ? 0 : SF_ENOMEM;
    if (status == 0)
        status = sets ? sf_set_table_init(&q->set, &q->maps, 0, NULL) : sf_sliced_table_init(&q->sliced, &q->maps, NULL);
    if (status == 0 && sets)
        status = sf_set_work_init(&q->work, &q->set, NULL);
    if (status == 0)
        return q;
    fprintf(stderr, "starfold-bench: out of memory\n");
    exit(1);
}

static void close_questions(questions *q)
{
    sf_set_work_free(&q->work);
    sf_set_table_free(&q->set);
    sf_sliced_table_free(&q->sliced);
    sf_map_table_free(&q->maps);
    free(q->histogram);
    free(q);
}

/* One plain pass over all conformations, for one sequence. */
static double time_plain_pass(const length_case *c, uint32_t sequence)
{
    sf_problem problem;
    uint8_t elements[SF_LENGTH_MAX];
    uint64_t histogram[SF_SCORES_MAX];
    double least = 0;
    if (sf_problem_init(&problem, sf_lattice_find(c->lattice), sf_score_model_find("hp"), c->length, NULL) != 0)
        return 0;
    for (int k = 0; k < c->length; k++)
        elements[k] = !(sequence >> k & 1);
    for (int run = 0; run < 5; run++) {
        double start = sf_bench_now();
        if (sf_walk_histogram(&problem, elements, NULL, histogram, NULL) != 0)
            return 0;
        double s = sf_bench_now() - start;
        least = run == 0 || s < least ? s : least;
    }
    return least;
}

static int run_sets(const sf_bench_options *options)
{
    static const length_case cases[] = {
        {"square", 16, 0.5e-6, false}, {"square", 18, 1.2e-6, false}, {"square", 20, 4e-6, false},
        {"square", 22, 35e-6, true},   {"cubic", 14, 0, false}};
    (void)options;
    sf_bench_title("set of scores of a sequence", "AND and a count of bits for every map");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char what[64];
        questions *q = open_questions(&cases[i], true);
        double s = sf_bench_time(ask_sets, q, 1) / (double)q->n;
        double plain = sf_bench_time(ask_sets_plainly, q, 0.3) / (double)q->n_plain;
        snprintf(what, sizeof what, "%s %d", cases[i].lattice, cases[i].length);
        sf_bench_figure(what, s, plain, cases[i].target_s);
        if (i == 0)
            sf_bench_figure("square 16, plain: a walk of all conformations", s, time_plain_pass(&cases[i], q->sequence[0]),
                            cases[i].target_s);
        close_questions(q);
    }
    return 0;
}

const sf_bench sf_bench_sets = {"sets", "sets of scores from a table", run_sets, false};

static int run_histograms(const sf_bench_options *options)
{
    static const length_case cases[] = {
        {"square", 16, 2e-6, false},   {"square", 18, 10e-6, false}, {"square", 20, 60e-6, false},
        {"square", 22, 1300e-6, true}, {"cubic", 14, 0, false}};
    (void)options;
    sf_bench_title("histogram of a sequence", "AND, a count of bits and an addition for every map");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char what[64];
        questions *q = open_questions(&cases[i], false);
        double s = sf_bench_time(ask_histograms, q, 1) / (double)q->n;
        double batch = sf_bench_time(ask_batch, q, 1) / (double)q->n;
        double plain = sf_bench_time(ask_histograms_plainly, q, 0.3) / (double)q->n_plain;
        snprintf(what, sizeof what, "%s %d, one by one", cases[i].lattice, cases[i].length);
        sf_bench_figure(what, s, plain, cases[i].target_s);
        snprintf(what, sizeof what, "%s %d, in batches", cases[i].lattice, cases[i].length);
        sf_bench_figure(what, batch, plain, cases[i].target_s);
        close_questions(q);
    }
    return 0;
}

const sf_bench sf_bench_histograms = {"histograms", "histograms from a table", run_histograms, false};

/* ---- score models other than plain HP ---- */

typedef struct model_questions {
    sf_map_table maps;
    sf_table *table;
    sf_problem problem;
    uint8_t *elements;
    uint64_t *histograms;
    size_t n;
} model_questions;

static void ask_models(void *context)
{
    model_questions *q = context;
    sf_table_model_histograms(q->table, &q->problem, 0, 1, q->n, q->elements, q->histograms);
}

static void ask_models_plainly(void *context)
{
    model_questions *q = context;
    sf_table_plain_model_histogram(&q->maps, &q->problem, q->elements, q->histograms);
}

static int ask_about(model_questions *q, const char *line)
{
    sf_score_model model;
    char what[64];
    int code = sf_score_model_from_line(&model, line, NULL);
    if (code == 0)
        code = sf_problem_init(&q->problem, q->maps.lattice, &model, q->maps.layout.length, NULL);
    if (code != 0)
        return code;
    size_t n_elements = q->n * (size_t)q->problem.length;
    q->elements = sf_bench_elements(q->problem.length, q->n);
    q->histograms = calloc(q->n * (size_t)q->problem.n_scores, sizeof *q->histograms);
    if (!q->elements || !q->histograms)
        return SF_ENOMEM;
    for (size_t i = 0; model.n_letters > 2 && i < n_elements; i++) /* all letters */
        q->elements[i] = (uint8_t)(q->elements[i] + 2 * (i / 3 % (size_t)(model.n_letters / 2)));
    double s = sf_bench_time(ask_models, q, 0.5) / (double)q->n;
    snprintf(what, sizeof what, "square %d, %s", q->problem.length, line);
    sf_bench_figure(what, s, sf_bench_time(ask_models_plainly, q, 0.3), 0);
    free(q->elements);
    free(q->histograms);
    return 0;
}

static int run_models(const sf_bench_options *options)
{
    static const char *const models[] = {"HP:0,0;3", "HP:2,-1;1", "HP:12,-8;20", "hpnx"};
    int code = 0;
    (void)options;
    sf_bench_title("histogram of a sequence, other score models", "the weight of every contact of every map");
    for (int length = 16; length <= 20; length += 2) {
        model_questions q = {.maps = sf_bench_maps("square", length, 1), .n = 64};
        code = code ? code : sf_table_open_maps(&q.table, &q.maps, SF_TABLE_HISTOGRAMS, NULL);
        for (size_t i = 0; code == 0 && i < sizeof models / sizeof *models; i++)
            code = ask_about(&q, models[i]);
        sf_table_close(q.table);
        sf_map_table_free(&q.maps);
    }
    return code;
}

const sf_bench sf_bench_models = {"models", "histograms for other score models", run_models, false};

/* ---- memory ---- */

static int run_memory(const sf_bench_options *options)
{
    static const length_case cases[] = {{"square", 14, 0, false}, {"square", 16, 0, false}, {"square", 18, 0, false},
                                        {"square", 20, 0, false}, {"square", 22, 0, true},  {"cubic", 14, 0, false}};
    (void)options;
    printf("\n%-44s %12s %12s %12s %12s\n", "bytes a map, to 20 residues at most", "maps", "map table", "for sets: 6",
           "histogr.: 11");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sf_map_table maps = sf_bench_maps(cases[i].lattice, cases[i].length, 1);
        sf_set_table set;
        sf_sliced_table sliced;
        if (sf_set_table_init(&set, &maps, 0, NULL) != 0 || sf_sliced_table_init(&sliced, &maps, NULL) != 0)
            return SF_ENOMEM;
        double n = (double)maps.n_maps, sets = (double)set.bytes / n, sliced_bytes = (double)sf_sliced_table_bytes(&sliced) / n;
        bool over = cases[i].length <= 20 && (sets > 6 || sliced_bytes > 11);
        printf("  %-6s %-35d %12zu %12d %12.2f %12.2f%s\n", cases[i].lattice, cases[i].length, maps.n_maps,
               8 * maps.layout.n_words + 4, sets, sliced_bytes, over ? "  over" : "");
        sf_set_table_free(&set);
        sf_sliced_table_free(&sliced);
        sf_map_table_free(&maps);
    }
    return 0;
}

const sf_bench sf_bench_memory = {"memory", "bytes a contact map", run_memory, false};

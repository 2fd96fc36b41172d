/* Exact histograms of single long sequences by engine walk, beside depth-first enumeration with its last two steps
 * unrolled: the best one does without merging. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "core/engines/merge/merge_plan.h"
#include "starfold/engine.h"

/* The 20-residue benchmark sequence of the field, and more of its kind. */
static const char letters[] = "HPHPPHHPHPPHPHHPPHPHHPPHPPHHPHPPHPHH";

/* ---- the plain version ---- */

enum { SIDE = 80, MARGIN_SITES = SIDE * SIDE * SIDE, CONTACTS = 128 };

typedef struct plain_walk {
    const char *lattice;
    int length, dimension, n_steps;
    int move[6];
    uint8_t h[SF_LENGTH_MAX];
    uint8_t *occupied, *beside; /* by site: occupied; H beside it */
    uint64_t histogram[CONTACTS];
    sf_engine *engine;
    double s;
} plain_walk;

static int gain(const plain_walk *w, int k, int site)
{
    return w->h[k] ? w->beside[site] - w->h[k - 1] : 0;
}

/* The last two residues on every way from a site: the last but one is not placed, only looked around. */
static void last_two(plain_walk *w, int from, int n_open, int contacts)
{
    const int k = w->length - 2, choices = n_open < w->dimension ? 2 * n_open + 1 : w->n_steps;
    for (int i = 0; i < choices; i++) {
        const int site = from + w->move[i], with = contacts + gain(w, k, site);
        const int open = n_open + (i >= 2 * n_open);
        if (w->occupied[site])
            continue;
        const int next_choices = open < w->dimension ? 2 * open + 1 : w->n_steps;
        for (int j = 0; j < next_choices; j++) {
            const int last = site + w->move[j];
            if (!w->occupied[last]) /* beside[] lacks residue k, which is bonded and would be taken off again */
                w->histogram[with + (w->h[k + 1] ? w->beside[last] : 0)]++;
        }
    }
}

static void walk_from(plain_walk *w, int k, int from, int n_open, int contacts)
{
    if (k == w->length - 2) {
        last_two(w, from, n_open, contacts);
        return;
    }
    const int choices = n_open < w->dimension ? 2 * n_open + 1 : w->n_steps;
    for (int i = 0; i < choices; i++) {
        const int site = from + w->move[i];
        if (w->occupied[site])
            continue;
        const int with = contacts + gain(w, k, site);
        w->occupied[site] = 1;
        for (int j = 0; w->h[k] && j < w->n_steps; j++)
            w->beside[site + w->move[j]]++;
        walk_from(w, k + 1, site, n_open + (i >= 2 * n_open), with);
        for (int j = 0; w->h[k] && j < w->n_steps; j++)
            w->beside[site + w->move[j]]--;
        w->occupied[site] = 0;
    }
}

static void count_plainly(void *context)
{
    plain_walk *w = context;
    const int middle = SIDE / 2, origin = (w->dimension == 3 ? middle * SIDE * SIDE : 0) + middle * SIDE + middle;
    w->occupied = calloc(MARGIN_SITES, 1);
    w->beside = calloc(MARGIN_SITES, 1);
    memset(w->histogram, 0, sizeof w->histogram);
    if (w->occupied && w->beside) {
        w->occupied[origin] = 1;
        for (int j = 0; w->h[0] && j < w->n_steps; j++)
            w->beside[origin + w->move[j]]++;
        /* the first step of all is fixed */
        const int site = origin + w->move[0];
        w->occupied[site] = 1;
        for (int j = 0; w->h[1] && j < w->n_steps; j++)
            w->beside[site + w->move[j]]++;
        walk_from(w, 2, site, 1, 0);
    }
    free(w->occupied);
    free(w->beside);
}

/* ---- the engine ---- */

typedef struct walk_case {
    const char *lattice;
    int length;
    double target_s, target_ratio;
    int plain; /* 0: never, 1: if full, 2: always */
    bool only_if_full;
} walk_case;

static void count_merged(void *context)
{
    plain_walk *w = context;
    uint64_t histogram[SF_SCORES_MAX] = {0};
    uint8_t elements[SF_LENGTH_MAX];
    sf_error err;
    for (int k = 0; k < w->length; k++)
        elements[k] = !w->h[k];
    if (sf_engine_histograms(w->engine, 1, elements, histogram, &err) != SF_OK) { /* checks the sum */
        fprintf(stderr, "starfold-bench: %s\n", err.text);
        exit(sf_error_status(err.code));
    }
    memcpy(w->histogram, histogram, sizeof w->histogram);
}

static int open_walk(plain_walk *w, const walk_case *c, int n_threads)
{
    sf_problem problem;
    sf_engine_options options;
    sf_error err;
    const sf_lattice *lattice = sf_lattice_find(c->lattice);
    memset(w, 0, sizeof *w);
    w->length = c->length;
    w->dimension = lattice->dimension;
    w->n_steps = lattice->n_steps;
    for (int i = 0; i < lattice->n_steps; i++)
        w->move[i] = lattice->step[i][0] + SIDE * lattice->step[i][1] + SIDE * SIDE * lattice->step[i][2];
    for (int k = 0; k < c->length; k++)
        w->h[k] = letters[k] == 'H';
    sf_engine_options_init(&options);
    options.engine = "walk";
    options.n_threads = n_threads;
    int status = sf_problem_init(&problem, lattice, sf_score_model_find("hp"), c->length, &err);
    if (status == SF_OK)
        status = sf_engine_open(&w->engine, &problem, &options, 1, &err);
    if (status != SF_OK)
        fprintf(stderr, "starfold-bench: %s\n", err.text);
    return status;
}

/* One length; *s is how long it took. */
static int run_case(const walk_case *c, const sf_bench_options *options, double *s)
{
    static plain_walk merged, plain;
    char what[64];
    int status = open_walk(&merged, c, 1);
    if (status != SF_OK)
        return status;
    *s = sf_bench_time(count_merged, &merged, 1);
    plain = merged;
    double plain_s = c->plain == 2 || (c->plain == 1 && options->full) ? sf_bench_time(count_plainly, &plain, 0) : 0;
    sf_engine_close(merged.engine);
    if (plain_s > 0 && memcmp(plain.histogram, merged.histogram, 32 * sizeof *plain.histogram) != 0) {
        fprintf(stderr, "starfold-bench: the plain enumeration counts differently\n");
        return SF_ECHECK;
    }
    snprintf(what, sizeof what, "%s %d", c->lattice, c->length);
    sf_bench_figure(what, *s, plain_s, c->target_s > 0 ? c->target_s : plain_s / c->target_ratio);
    return SF_OK;
}

static int run_lengths(const walk_case *cases, size_t n, const sf_bench_options *options)
{
    double before_s = 0, s = 0;
    for (size_t i = 0; i < n; i++) {
        if (cases[i].only_if_full && !options->full)
            continue;
        int status = run_case(&cases[i], options, &s);
        if (status != SF_OK)
            return status;
        if (before_s > 0)
            printf("    %.2f times a residue\n", pow(s / before_s, 1.0 / (cases[i].length - cases[i - 1].length)));
        before_s = s;
    }
    return SF_OK;
}

/* The same work by several threads, beside one. */
static int run_threads(const sf_bench_options *options)
{
    static plain_walk one, many;
    const walk_case c = {.lattice = "square", .length = options->full ? 28 : 26};
    char what[64];
    int status = open_walk(&one, &c, 1);
    if (status == SF_OK)
        status = open_walk(&many, &c, options->n_threads);
    if (status != SF_OK)
        return status;
    const double one_s = sf_bench_time(count_merged, &one, 1), many_s = sf_bench_time(count_merged, &many, 1);
    sf_engine_close(one.engine);
    sf_engine_close(many.engine);
    snprintf(what, sizeof what, "square %d, %d threads beside one", c.length, options->n_threads);
    sf_bench_figure(what, many_s, one_s, 0);
    return SF_OK;
}

static int run(const sf_bench_options *options)
{
    static const walk_case square[] = {
        {.lattice = "square", .length = 22, .target_ratio = 30, .plain = 2},
        {.lattice = "square", .length = 24, .target_ratio = 30, .plain = 2},
        {.lattice = "square", .length = 25, .target_ratio = 30, .plain = 2},
        {.lattice = "square", .length = 28, .target_s = 6},
        {.lattice = "square", .length = 30, .target_s = 40},
        {.lattice = "square", .length = 32, .only_if_full = true},
    };
    static const walk_case cubic[] = {
        {.lattice = "cubic", .length = 15, .target_ratio = 20, .plain = 2},
        {.lattice = "cubic", .length = 16, .target_ratio = 20, .plain = 2},
        {.lattice = "cubic", .length = 18, .target_s = 1.2, .plain = 1},
        {.lattice = "cubic", .length = 20, .target_s = 8},
        {.lattice = "cubic", .length = 22, .only_if_full = true},
    };
    sf_bench_title("exact histogram of one sequence, one core", "depth first, the last two steps unrolled");
    int status = run_lengths(square, sizeof square / sizeof *square, options);
    if (status == SF_OK)
        status = run_lengths(cubic, sizeof cubic / sizeof *cubic, options);
    return status == SF_OK ? run_threads(options) : status;
}

const sf_bench sf_bench_walk = {
    .name = "walk",
    .about = "exact histograms of long sequences by merging tails",
    .run = run,
};

/* starfold census: every sequence of a length at once: how many have each fitness, each best score, a unique best
 * conformation. A chain and its reverse fold alike, so one of each pair is counted, for both. */
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/explain.h"
#include "app/json.h"
#include "app/progress.h"
#include "dist/share_mpi.h"

enum { CENSUS_LENGTH_MAX = 24, BATCH = 1 << 16 };

typedef struct census {
    sf_problem problem;
    uint64_t n_sequences, n_unique, n_gaps;
    uint64_t fitness[SF_SCORES_MAX + 1]; /* index: distinct scores */
    uint64_t max_score[SF_SCORES_MAX];   /* index: best score - min_score */
} census;

/* ---- counting ---- */

/* Sequence number x, residue 0 in the highest bit, so that numbers are in the order of the letters. */
static void sequence_of(int length, uint64_t x, uint8_t *elements)
{
    for (int i = 0; i < length; i++)
        elements[i] = (x >> (length - 1 - i)) & 1;
}

static uint64_t reversed(int length, uint64_t x)
{
    uint64_t y = 0;
    for (int i = 0; i < length; i++)
        y |= ((x >> i) & 1) << (length - 1 - i);
    return y;
}

/* Fills numbers and sequences with those, from *next on, that are not above their reverse; returns how many. */
static size_t fill_batch(int length, uint64_t *next, uint64_t *number, uint8_t *elements)
{
    size_t n = 0;
    for (; n < BATCH && *next < UINT64_C(1) << length; (*next)++) {
        if (*next > reversed(length, *next))
            continue;
        number[n] = *next;
        sequence_of(length, *next, elements + n++ * (size_t)length);
    }
    return n;
}

static int add_sequence(census *c, uint64_t number, const uint64_t *histogram, sf_error *err)
{
    sf_summary summary;
    uint64_t weight = number == reversed(c->problem.length, number) ? 1 : 2;
    int code = sf_histogram_summary(&c->problem, histogram, &summary);
    if (code)
        return sf_fail(err, code, "the conformations of %d residues do not fit 64 bits", c->problem.length);
    int top = summary.best_score - c->problem.min_score;
    c->n_sequences += weight;
    c->fitness[summary.distinct_scores] += weight;
    c->max_score[top] += weight;
    c->n_unique += histogram[top] == 1 ? weight : 0;
    c->n_gaps += summary.distinct_scores < top + 1 ? weight : 0;
    return 0;
}

static void show(sf_progress *progress, uint64_t next, uint64_t total)
{
    char left[32];
    double elapsed = sf_progress_elapsed(progress);
    if (next < total && sf_progress_due(progress))
        sf_progress_show(progress, "%.1f percent, %s left", 100.0 * (double)next / (double)total,
                         sf_seconds_text(elapsed * (double)(total - next) / (double)next, left));
}

/* Counts with an opened engine. Collective. */
static int count_all(const sf_app *app, census *c, const sf_engine *engine, sf_error *err)
{
    size_t n_scores = (size_t)c->problem.n_scores;
    uint64_t next = 0, total = UINT64_C(1) << c->problem.length;
    uint64_t *number = malloc(BATCH * sizeof *number), *histograms = malloc(BATCH * n_scores * sizeof *histograms);
    uint8_t *elements = malloc((size_t)BATCH * (size_t)c->problem.length);
    sf_progress progress;
    int code = number && histograms && elements ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for the census");
    code = sf_comm_agree(&app->comm, code, err);
    sf_progress_start(&progress, app);
    while (!code && next < total) {
        size_t n = fill_batch(c->problem.length, &next, number, elements);
        if (n > 0)
            code = sf_share_histograms(&app->comm, engine, c->problem.n_scores, n, elements, sf_app_threads(app),
                                       histograms, NULL, NULL, err);
        for (size_t i = 0; !code && i < n; i++)
            code = add_sequence(c, number[i], histograms + i * n_scores, err);
        show(&progress, next, total);
    }
    sf_progress_end(&progress);
    free(number);
    free(histograms);
    free(elements);
    return code;
}

/* ---- the answer ---- */

/* Entries up to the last that is not zero, at least one. */
static size_t used(const uint64_t *counts, size_t n)
{
    while (n > 1 && counts[n - 1] == 0)
        n--;
    return n;
}

static void print_column(const char *title, const uint64_t *counts, size_t n, int first)
{
    char text[32];
    printf("\n  %-12s        sequences\n", title);
    for (size_t i = 0; i < n; i++) {
        if (counts[i])
            printf("  %12d  %15s\n", first + (int)i, sf_count_text(counts[i], text));
    }
}

static void print_text(const census *c)
{
    char text[32];
    printf("all sequences of %d residues on the %s lattice\n", c->problem.length, c->problem.lattice->name);
    printf("  sequences                    %s\n", sf_count_text(c->n_sequences, text));
    printf("  with a unique best           %s\n", sf_count_text(c->n_unique, text));
    printf("  with gaps between scores     %s\n", sf_count_text(c->n_gaps, text));
    print_column("fitness", c->fitness, used(c->fitness, SF_SCORES_MAX + 1), 0);
    print_column("best score", c->max_score, used(c->max_score, SF_SCORES_MAX), c->problem.min_score);
}

static int print_json(const census *c, sf_error *err)
{
    cJSON *document = cJSON_CreateObject();
    sf_json_add_integer(document, "length", c->problem.length);
    cJSON_AddStringToObject(document, "lattice", c->problem.lattice->name);
    sf_json_add_count(document, "sequences", c->n_sequences);
    sf_json_add_count(document, "unique_best", c->n_unique);
    sf_json_add_counts(document, "fitness_histogram", used(c->fitness, SF_SCORES_MAX + 1), c->fitness);
    sf_json_add_counts(document, "max_score_histogram", used(c->max_score, SF_SCORES_MAX), c->max_score);
    sf_json_add_count(document, "sequences_with_gaps", c->n_gaps);
    return sf_json_print(document, err);
}

/* ---- the command ---- */

static int prepare(const sf_app *app, census *c, sf_error *err)
{
    int length = (int)app->options.settings.length;
    if (!length)
        return sf_fail(err, SF_EINPUT, "--length is needed: the residues of a sequence, 3 to %d", CENSUS_LENGTH_MAX);
    if (length > CENSUS_LENGTH_MAX)
        return sf_fail(err, SF_EINPUT, "--length is %d; a census has 2^length sequences, allowed is %d to %d", length,
                       SF_LENGTH_MIN, CENSUS_LENGTH_MAX);
    int code = sf_app_problem(app, length, &c->problem, err);
    if (!code && c->problem.model->n_letters != 2)
        code = sf_fail(err, SF_EINPUT, "a census takes score models of two letters; %s has %d", c->problem.model->name,
                       c->problem.model->n_letters);
    return code;
}

static int run_census(sf_app *app, sf_error *err)
{
    static census c;
    sf_engine_options options;
    sf_engine *engine = NULL;
    int code = sf_comm_agree(&app->comm, prepare(app, &c, err), err);
    if (code)
        return code;
    size_t n = (size_t)1 << (c.problem.length - 1);
    if (app->options.settings.explain)
        return sf_app_speaks(app) ? sf_explain(app, &c.problem, n, err) : 0;
    sf_app_engine_options(app, &options);
    code = sf_refuse_over(app, &c.problem, n, err);
    if (!code)
        code = sf_engine_open(&engine, &c.problem, &options, n, err);
    code = sf_comm_agree(&app->comm, code, err);
    if (!code)
        code = count_all(app, &c, engine, err);
    sf_engine_close(engine);
    if (!code && sf_app_speaks(app) && app->options.settings.format)
        code = print_json(&c, err);
    else if (!code && sf_app_speaks(app))
        print_text(&c);
    return code;
}

static const sf_option_group *const groups[] = {&sf_group_length, &sf_group_problem, &sf_group_engine, &sf_group_common,
                                                NULL};

const sf_command sf_command_census = {
    .name = "census",
    .words = "",
    .summary = "all sequences of a length: how many have each fitness",
    .text =
        "Evaluates all 2^N sequences of N residues: how many have each number of distinct scores, each best score, a "
        "unique best conformation, and gaps between their scores.",
    .groups = groups,
    .run = run_census,
};

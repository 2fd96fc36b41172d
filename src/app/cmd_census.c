/* starfold census: every sequence of a length at once: how many have each fitness, each best score, a unique best
 * conformation.
 *
 * Where the table of contact maps can be had, all sequences are answered together from it (core/engines/census.h).
 * Else, and with --engine, each sequence is counted by an engine; a chain and its reverse fold alike, so one of each
 * pair is counted, for both. */
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/explain.h"
#include "app/json.h"
#include "app/phases.h"
#include "app/progress.h"
#include "app/table_source.h"
#include "core/base/memory.h"
#include "core/contacts/map_table.h"
#include "core/engines/census.h"
#include "dist/share_mpi.h"

/* Sequences that are counted, and as many of them at a time as have room. */
enum { CENSUS_SEQUENCES_MAX = 1 << 24, BATCH = 1 << 16, BATCH_COUNTS = 1 << 22 };

typedef struct census {
    sf_problem problem;
    uint64_t n_sequences, n_unique, n_gaps;
    uint64_t fitness[SF_SCORES_MAX + 1]; /* index: distinct scores */
    uint64_t max_score[SF_SCORES_MAX];   /* index: best score - min_score */
} census;

/* ---- all together, from the table ---- */

/* Bytes that take at once the maps being built, and later the maps with the census. */
static uint64_t together_bytes(const sf_app *app, const sf_problem *problem)
{
    uint64_t building = sf_map_table_build_bytes(problem->lattice, problem->length);
    uint64_t counting = sf_map_table_bytes(problem->lattice, problem->length) +
                        sf_census_bytes(problem->lattice, problem->length, SF_CENSUS_SETS, sf_app_threads(app));
    return building > counting ? building : counting;
}

/* Seconds, from what was measured: 7 ns a conformation to build, then 2.6 times more for each residue. */
static double together_seconds(const sf_app *app, const sf_problem *problem)
{
    double threads = sf_app_threads(app) * app->comm.size, scale = problem->lattice->dimension == 2 ? 22 : 16, count = 2.5;
    for (int n = problem->length; n < scale; n++)
        count /= 2.6;
    for (int n = problem->length; n > scale; n--)
        count *= 2.6;
    return 7e-9 * (double)sf_lattice_conformations(problem->lattice, problem->length) / threads +
           count / threads;
}

/* True when the table answers: it can hold such chains and was not forbidden. */
static bool can_together(const sf_app *app, const sf_problem *problem)
{
    return app->options.settings.engine == 0 && sf_score_model_is_hp(problem->model) &&
           sf_map_table_length_check(problem->lattice, problem->length, NULL) == 0;
}

static int check_memory(const sf_app *app, const sf_problem *problem, sf_error *err)
{
    char needed[32], allowed[32];
    uint64_t limit = app->options.settings.memory_limit ? app->options.settings.memory_limit : sf_memory_available();
    uint64_t bytes = together_bytes(app, problem);
    if (bytes <= limit)
        return 0;
    return sf_fail(err, SF_ELIMIT,
                   "a census of %d residues on the %s lattice needs %s of memory, %s are allowed; take "
                   "--engine walk, which needs little and takes long",
                   problem->length, problem->lattice->name, sf_bytes_text(bytes, needed),
                   sf_bytes_text(limit, allowed));
}

/* Sums the ranks' parts. Collective. */
static int sum_parts(const sf_app *app, census *c, const sf_census *part, sf_error *err)
{
    uint64_t all[3 + 2 * SF_TABLE_SCORES + 1] = {part->sequences, part->unique_best, part->sequences_with_gaps};
    uint64_t *fitness = all + 3, *best = fitness + SF_TABLE_SCORES + 1;
    memcpy(fitness, part->fitness, sizeof part->fitness);
    memcpy(best, part->best, sizeof part->best);
    int code = sf_comm_sum(&app->comm, sizeof all / sizeof all[0], all, err);
    c->n_sequences = all[0];
    c->n_unique = all[1];
    c->n_gaps = all[2];
    memcpy(c->fitness, fitness, sizeof part->fitness);
    memcpy(c->max_score, best, sizeof part->best);
    return code;
}

/* Every rank has the table and takes one part of the census. Collective. */
static int count_together(const sf_app *app, census *c, sf_error *err)
{
    sf_app_maps maps = {0};
    sf_census_plan *plan = NULL;
    sf_census part = {0};
    sf_engine_options options;
    sf_app_engine_options(app, &options);
    int code = sf_comm_agree(&app->comm, check_memory(app, &c->problem, err), err);
    sf_phase_begin(SF_PHASE_OPEN);
    if (!code)
        code = sf_app_maps_get(app, &c->problem, &options, &maps, err);
    if (!code)
        code = sf_census_open(&plan, &maps.table, SF_CENSUS_SETS, err);
    sf_app_maps_free(&maps);
    sf_phase_begin(SF_PHASE_COUNT);
    if (!code)
        code = sf_census_count(plan, (size_t)app->comm.rank, (size_t)app->comm.size, options.n_threads, NULL, NULL,
                               &part, err);
    sf_census_close(plan);
    code = sf_comm_agree(&app->comm, code, err);
    return code ? code : sum_parts(app, c, &part, err);
}

/* ---- one by one, with an engine ---- */

/* letters^length, or 0 when that is above CENSUS_SEQUENCES_MAX. */
static uint64_t power(int letters, int length)
{
    uint64_t n = 1;
    for (int i = 0; i < length && n != 0; i++)
        n = n * (uint64_t)letters <= CENSUS_SEQUENCES_MAX ? n * (uint64_t)letters : 0;
    return n;
}

/* Sequences that are counted one by one: of each chain and its reverse one. */
static size_t n_counted(const sf_problem *problem)
{
    int letters = problem->model->n_letters;
    return (size_t)(power(letters, problem->length) + power(letters, (problem->length + 1) / 2)) / 2;
}

/* Sequence number x, residue 0 the highest digit, so that numbers are in the order of the letters. */
static void sequence_of(const sf_problem *problem, uint64_t x, uint8_t *elements)
{
    uint64_t letters = (uint64_t)problem->model->n_letters;
    for (int i = problem->length - 1; i >= 0; i--, x /= letters)
        elements[i] = (uint8_t)(x % letters);
}

/* Below, at or above 0: a chain comes before its reverse, is its reverse, or comes after it. */
static int compare_reverse(int length, const uint8_t *elements)
{
    int i = 0;
    while (i < length / 2 && elements[i] == elements[length - 1 - i])
        i++;
    return (int)elements[i] - (int)elements[length - 1 - i];
}

/* Fills sequences, from *next on, that do not come after their reverse; returns how many, at most `room`. */
static size_t fill_batch(const sf_problem *problem, uint64_t total, size_t room, uint64_t *next, uint8_t *elements)
{
    size_t n = 0;
    for (; n < room && *next < total; (*next)++) {
        uint8_t *here = elements + n * (size_t)problem->length;
        sequence_of(problem, *next, here);
        n += compare_reverse(problem->length, here) <= 0;
    }
    return n;
}

static int add_sequence(census *c, const uint8_t *elements, const uint64_t *histogram, sf_error *err)
{
    sf_summary summary;
    uint64_t weight = compare_reverse(c->problem.length, elements) == 0 ? 1 : 2;
    int code = sf_histogram_summary(&c->problem, histogram, &summary);
    if (code)
        return sf_fail(err, code, "the conformations of %d residues do not fit 64 bits", c->problem.length);
    int top = summary.best_score - c->problem.min_score, bottom = 0;
    while (histogram[bottom] == 0)
        bottom++;
    c->n_sequences += weight;
    c->fitness[summary.distinct_scores] += weight;
    c->max_score[top] += weight;
    c->n_unique += histogram[top] == 1 ? weight : 0;
    c->n_gaps += summary.distinct_scores < top - bottom + 1 ? weight : 0;
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
    size_t length = (size_t)c->problem.length, room = BATCH_COUNTS / n_scores < BATCH ? BATCH_COUNTS / n_scores : BATCH;
    uint64_t next = 0, total = power(c->problem.model->n_letters, c->problem.length);
    uint64_t *histograms = malloc(room * n_scores * sizeof *histograms);
    uint8_t *elements = malloc(room * length);
    sf_progress progress;
    int code = histograms && elements ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for the census");
    code = sf_comm_agree(&app->comm, code, err);
    sf_progress_start(&progress, app);
    while (!code && next < total) {
        size_t n = fill_batch(&c->problem, total, room, &next, elements);
        if (n > 0)
            code = sf_share_histograms(&app->comm, engine, c->problem.n_scores, n, elements, sf_app_threads(app),
                                       histograms, NULL, NULL, err);
        for (size_t i = 0; !code && i < n; i++)
            code = add_sequence(c, elements + i * length, histograms + i * n_scores, err);
        show(&progress, next, total);
    }
    sf_progress_end(&progress);
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
    sf_json_add_integer(document, "min_score", c->problem.min_score);
    sf_json_add_count(document, "unique_best", c->n_unique);
    sf_json_add_counts(document, "fitness_histogram", used(c->fitness, SF_SCORES_MAX + 1), c->fitness);
    sf_json_add_counts(document, "max_score_histogram", used(c->max_score, SF_SCORES_MAX), c->max_score);
    sf_json_add_count(document, "sequences_with_gaps", c->n_gaps);
    return sf_json_print(document, err);
}

/* ---- the command ---- */

static int prepare(const sf_app *app, census *c, sf_error *err)
{
    int length = (int)app->options.settings.length, most = SF_LENGTH_MIN;
    if (!length)
        return sf_fail(err, SF_EINPUT, "--length is needed: the residues of a sequence");
    int code = sf_app_problem(app, length, &c->problem, err);
    if (code)
        return code;
    const sf_lattice *lattice = c->problem.lattice;
    int letters = c->problem.model->n_letters, table_most = sf_map_table_length_max(lattice);
    while (power(letters, most + 1) != 0)
        most++;
    if (power(letters, length) == 0)
        return sf_fail(err, SF_EINPUT,
                       "--length is %d; of %d letters there are %d^%d sequences, and a census counts at most %d: %d to %d "
                       "residues",
                       length, letters, letters, length, CENSUS_SEQUENCES_MAX, SF_LENGTH_MIN, most);
    if (app->options.settings.engine == 0 && length > table_most)
        return sf_fail(err, SF_ELIMIT,
                       "--length is %d; a census on the %s lattice goes as far as its tables, %d to %d residues ('--engine "
                       "walk' counts sequence by sequence)",
                       length, lattice->name, SF_LENGTH_MIN, table_most);
    return 0;
}

/* The engine that rank 0 would take, on every rank: their memory may differ. Collective. */
static int choose_engine(const sf_app *app, const census *c, size_t n, sf_engine_options *options, char name[16],
                         sf_error *err)
{
    const char *chosen = "";
    sf_app_table_prefer(app, &c->problem, options);
    int code = sf_comm_agree(&app->comm, sf_engine_choose(&c->problem, options, n, &chosen, err), err);
    snprintf(name, 16, "%s", chosen);
    options->engine = name;
    return code ? code : sf_comm_broadcast(&app->comm, 16, name, err);
}

static int count_with_engine(const sf_app *app, census *c, sf_error *err)
{
    sf_engine_options options;
    sf_engine *engine = NULL;
    sf_app_maps maps = {0};
    size_t n = n_counted(&c->problem);
    char name[16];
    sf_app_engine_options(app, &options);
    int code = sf_comm_agree(&app->comm, sf_refuse_over(app, &c->problem, n, err), err);
    sf_phase_begin(SF_PHASE_OPEN);
    if (!code)
        code = choose_engine(app, c, n, &options, name, err);
    if (!code)
        code = sf_app_maps_for_engine(app, &c->problem, &options, &maps, err);
    if (!code)
        code = sf_engine_open(&engine, &c->problem, &options, n, err);
    code = sf_comm_agree(&app->comm, code, err);
    sf_app_maps_free(&maps);
    sf_phase_begin(SF_PHASE_COUNT);
    if (!code)
        code = count_all(app, c, engine, err);
    sf_engine_close(engine);
    return code;
}

static int explain(const sf_app *app, const census *c, bool together, sf_error *err)
{
    char time[32], memory[32];
    double seconds = together_seconds(app, &c->problem);
    uint64_t bytes = together_bytes(app, &c->problem);
    if (!together)
        return sf_explain(app, &c->problem, n_counted(&c->problem), err);
    if (!app->options.settings.format) {
        printf("all %d-residue sequences on the %s lattice, together from the table of contact maps\n"
               "  about %s, %s a rank  <- would be taken\n",
               c->problem.length, c->problem.lattice->name, sf_seconds_text(seconds, time),
               sf_bytes_text(bytes, memory));
        return 0;
    }
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "lattice", c->problem.lattice->name);
    sf_json_add_integer(document, "length", c->problem.length);
    cJSON_AddStringToObject(document, "engine", "table");
    cJSON_AddNumberToObject(document, "seconds", seconds);
    sf_json_add_count(document, "memory_bytes", bytes);
    return sf_json_print(document, err);
}

static int refuse_over(const sf_app *app, const census *c, sf_error *err)
{
    char time[32], most[32];
    double limit = (double)app->options.settings.refuse_over_ms / 1e3, seconds = together_seconds(app, &c->problem);
    if (limit <= 0 || seconds <= limit)
        return 0;
    return sf_fail(err, SF_ELIMIT, "the census would take about %s, above the %s of --refuse-over",
                   sf_seconds_text(seconds, time), sf_seconds_text(limit, most));
}

static int run_census(sf_app *app, sf_error *err)
{
    static census c;
    int code = sf_comm_agree(&app->comm, prepare(app, &c, err), err);
    if (code)
        return code;
    bool together = can_together(app, &c.problem);
    if (app->options.settings.explain)
        return sf_app_speaks(app) ? explain(app, &c, together, err) : 0;
    if (together)
        code = sf_comm_agree(&app->comm, refuse_over(app, &c, err), err);
    if (!code)
        code = together ? count_together(app, &c, err) : count_with_engine(app, &c, err);
    sf_phase_begin(SF_PHASE_WRITE);
    if (!code && sf_app_speaks(app) && app->options.settings.format)
        code = print_json(&c, err);
    else if (!code && sf_app_speaks(app))
        print_text(&c);
    return code;
}

static const sf_option_group *const groups[] = {&sf_group_length, &sf_group_problem, &sf_group_engine,
                                                &sf_group_table, &sf_group_common, NULL};

const sf_command sf_command_census = {
    .name = "census",
    .words = "",
    .summary = "all sequences of a length: how many have each fitness",
    .text =
        "Evaluates all sequences of N residues: how many have each number of distinct scores, each best score, a unique "
        "best conformation, and gaps between their scores. With hp, up to 24 residues (square) or 17 (cubic); with "
        "another score model of k letters, each sequence by itself, as long as k^N is at most 2^24.",
    .groups = groups,
    .run = run_census,
};

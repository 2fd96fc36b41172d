/* starfold census: every sequence of a length at once: how many have each fitness, each best score, a unique best
 * conformation; with --histograms which histograms there are; with --output all of it in a file.
 *
 * Where the table of contact maps can be had, all sequences are answered together from it (census_together.c); else, and
 * with --engine, each by itself (census_each.c). */
#include <stdlib.h>

#include "app/census.h"
#include "app/explain.h"
#include "app/file_lock.h"
#include "app/json.h"
#include "app/phases.h"
#include "app/run_paths.h"
#include "core/base/array.h"
#include "io/census_file.h"

static int prepare(const sf_app *app, sf_app_census *c, sf_error *err)
{
    int length = (int)app->options.settings.length, most = SF_LENGTH_MIN;
    if (!length)
        return sf_fail(err, SF_EINPUT, "--length is needed: the residues of a sequence");
    int code = sf_app_problem(app, length, &c->problem, err);
    if (code)
        return code;
    const sf_lattice *lattice = c->problem.lattice;
    int letters = c->problem.model->n_letters, table_most = sf_map_table_length_max(lattice);
    while (sf_census_sequences(letters, most + 1) != 0)
        most++;
    if (sf_census_sequences(letters, length) == 0)
        return sf_fail(err, SF_EINPUT,
                       "--length is %d; of %d letters there are %d^%d sequences, and a census counts at most %d: %d to %d "
                       "residues",
                       length, letters, letters, length, SF_CENSUS_SEQUENCES_MAX, SF_LENGTH_MIN, most);
    if (app->options.settings.engine == 0 && length > table_most)
        return sf_fail(err, SF_ELIMIT,
                       "--length is %d; a census on the %s lattice goes as far as its tables, %d to %d residues ('--engine "
                       "walk' counts sequence by sequence)",
                       length, lattice->name, SF_LENGTH_MIN, table_most);
    if (app->options.settings.output[0] && c->problem.n_scores > SF_CENSUS_SCORES_MAX)
        return sf_fail(err, SF_EINPUT,
                       "a census file holds scores of one byte, and these chains may have %d scores; leave --output, or "
                       "take smaller weights",
                       c->problem.n_scores);
    c->total = sf_census_sequences(letters, length);
    c->together = sf_census_can_together(app, &c->problem);
    return 0;
}

uint64_t sf_census_result_bytes(const sf_app *app, uint64_t total, uint64_t shapes_bytes)
{
    /* of several ranks the first has its own rows twice for a moment; sorting takes some 16 bytes a row */
    uint64_t shapes = shapes_bytes + shapes_bytes / 8 + (app->comm.size > 1 ? shapes_bytes / (uint64_t)app->comm.size : 0);
    return shapes + (app->options.settings.output[0] ? 2 * total : 0);
}

uint64_t sf_census_sequences(int letters, int length)
{
    uint64_t n = 1;
    for (int i = 0; i < length && n != 0; i++)
        n = n * (uint64_t)letters <= SF_CENSUS_SEQUENCES_MAX ? n * (uint64_t)letters : 0;
    return n;
}

void sf_app_census_free(sf_app_census *c)
{
    sf_shapes_free(&c->shapes);
    sf_shapes_summary_free(&c->summary);
    free(c->each_fitness);
    free(c->each_best);
    c->each_fitness = c->each_best = NULL;
}

static int explain(const sf_app *app, const sf_app_census *c, sf_error *err)
{
    char time[32], memory[32];
    sf_error why = {0, ""};
    uint64_t beside;
    if (!c->together) {
        double before_s = 0;
        (void)sf_census_each_bytes(app, c, &beside, &why);
        return sf_explain_beside(app, &c->problem, sf_census_n_counted(&c->problem), &before_s, beside, &why, err);
    }
    double seconds = sf_census_together_seconds(app, c);
    const bool refused =
        sf_census_together_check(app, c, &why) != 0 || sf_refuse_seconds(app, "the census", seconds, &why) != 0;
    uint64_t bytes = sf_census_together_bytes(app, &c->problem, c->n_shards);
    char place[32] = "a copy a rank";
    if (c->n_shards > 1)
        snprintf(place, sizeof place, "in %d shards", c->n_shards);
    if (!sf_app_speaks(app))
        return 0;
    if (!app->options.settings.format) {
        printf("all %d-residue sequences on the %s lattice, together from the table of contact maps\n"
               "  about %s, %s a rank (%s)%s\n",
               c->problem.length, c->problem.lattice->name, sf_seconds_text(seconds, time),
               sf_bytes_text(bytes, memory), place, refused ? "" : "  <- would be taken");
        return refused ? sf_fail(err, why.code, "%s", why.text) : 0;
    }
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "lattice", c->problem.lattice->name);
    sf_json_add_integer(document, "length", c->problem.length);
    if (refused) {
        cJSON_AddNullToObject(document, "engine");
        cJSON_AddStringToObject(document, "refused", why.text);
    } else {
        cJSON_AddStringToObject(document, "engine", "table");
    }
    cJSON_AddNumberToObject(document, "seconds", seconds);
    sf_json_add_count(document, "memory_bytes", bytes);
    cJSON_AddStringToObject(document, "place", place);
    sf_json_add_integer(document, "shards", c->n_shards);
    int code = sf_json_print(document, err);
    return code || !refused ? code : sf_fail(err, why.code, "%s", why.text);
}

/* Room for what --output wants of every sequence. */
static int open_each(sf_app_census *c, sf_error *err)
{
    c->each_fitness = sf_array_zeroed((size_t)c->total, sizeof *c->each_fitness);
    c->each_best = sf_array_zeroed((size_t)c->total, sizeof *c->each_best);
    return c->each_fitness && c->each_best ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for the entries of all sequences");
}

static int count(const sf_app *app, sf_app_census *c, sf_error *err)
{
    bool output = app->options.settings.output[0];
    int code = c->together ? sf_refuse_seconds(app, "the census", sf_census_together_seconds(app, c), err) : 0;
    if (!code && output)
        code = open_each(c, err);
    code = sf_comm_agree(&app->comm, code, err);
    if (!code)
        code = c->together ? sf_census_count_together(app, c, err) : sf_census_count_each(app, c, err);
    return code;
}

static int answer(const sf_app *app, const sf_app_census *c, sf_error *err)
{
    int code = app->options.settings.output[0] ? sf_census_write(app, c, err) : 0;
    if (!code && app->options.settings.format)
        code = sf_census_print_json(c, err);
    else if (!code)
        sf_census_print_text(c);
    return code;
}

static int run_census(sf_app *app, sf_error *err)
{
    static sf_app_census c;
    sf_file_lock lock = {.fd = -1};
    int code = sf_comm_agree(&app->comm, prepare(app, &c, err), err);
    if (!code && c.together)
        code = sf_census_together_place(app, &c, err);
    if (code)
        return code;
    if (app->options.settings.explain)
        return sf_comm_agree(&app->comm, explain(app, &c, err), err);
    if (app->options.settings.output[0])
        code = sf_comm_agree(
            &app->comm, sf_app_speaks(app) ? sf_path_claim(&app->options.settings, &lock, err) : 0, err);
    if (!code)
        code = count(app, &c, err);
    sf_phase_begin(SF_PHASE_WRITE);
    if (!code && sf_app_speaks(app))
        code = answer(app, &c, err);
    sf_app_census_free(&c);
    sf_file_lock_drop(&lock);
    return code;
}

static const sf_option_group *const groups[] = {&sf_group_length, &sf_group_census, &sf_group_problem, &sf_group_engine,
                                                &sf_group_table, &sf_group_common, NULL};

const sf_command sf_command_census = {
    .name = "census",
    .words = "",
    .summary = "all sequences of a length: how many have each fitness",
    .text =
        "Evaluates all sequences of N residues: how many have each number of distinct scores, each best score, a unique "
        "best conformation, and gaps between their scores. With two letters, up to 24 residues (square) or 17 (cubic); "
        "with more letters, k of them, each sequence by itself, as long as k^N is at most 2^24. With --histograms also: "
        "which histograms there are and how many sequences have each, as goals for a search. All sequences of a length "
        "share their conformations, so equal histograms are equal distributions over the scores.",
    .groups = groups,
    .run = run_census,
};

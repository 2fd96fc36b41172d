/* starfold enumerate: the exact histogram of each sequence. */
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/count.h"
#include "app/explain.h"
#include "app/json.h"
#include "app/phases.h"
#include "app/sequences.h"
#include "app/stop.h"

/* ---- an answer, as text and as JSON ---- */

typedef struct answer {
    const char *text;
    const sf_sequence_group *group;
    const sf_problem *problem;
    const uint64_t *histogram;
    sf_summary summary;
    uint64_t conformations; /* 0: not known */
    int n_entries;          /* of the histogram, without the zeros at its end */
    int best_upper;
    bool best_known, has_stars;
    bool settled; /* all that was asked is known: the scores, and the counts at the top */
    int stars[3];
} answer;

static bool is_reachable(uint64_t count)
{
    return count != 0 && count != SF_COUNT_UNKNOWN;
}

static int fill_answer(const sf_app *app, const sf_sequence_list *list, size_t i, answer *a, sf_error *err)
{
    sf_engine_options options;
    sf_app_engine_options(app, &options);
    a->text = list->asked[i].text;
    a->group = &list->group[list->asked[i].group];
    a->problem = &a->group->problem;
    a->histogram = a->group->histogram + list->asked[i].row * (size_t)a->problem->n_scores;
    int code = sf_histogram_summary(a->problem, a->histogram, &a->summary);
    if (code)
        return sf_fail(err, code, "sequence %s: its conformations do not fit 64 bits", a->text);
    a->conformations = a->summary.counted ? a->summary.conformations
                                          : sf_lattice_conformations(a->problem->lattice, a->problem->length);
    a->settled = sf_histogram_settled(a->problem->n_scores, a->histogram, options.top_counts);
    a->n_entries = a->problem->n_scores;
    while (a->n_entries > 1 && a->histogram[a->n_entries - 1] == 0)
        a->n_entries--;
    a->best_upper = a->problem->min_score + a->n_entries - 1;
    a->best_known = a->summary.exact || a->summary.best_score == a->best_upper;
    a->has_stars = a->best_known && sf_stars(a->summary.best_score, a->stars); /* a bound on the best earns no star */
    return 0;
}

/* An example for each score, "" where none was found within --max-seconds. */
static int find_examples(const answer *a, char (*walk)[SF_LENGTH_MAX], sf_error *err)
{
    uint8_t elements[SF_LENGTH_MAX];
    int code = sf_sequence_parse(a->problem, a->text, elements, err);
    return code ? code : sf_witnesses_find(a->problem, elements, a->histogram, &sf_stop_flag, walk, err);
}

static const char *entry_text(uint64_t count, char *text)
{
    if (count == SF_COUNT_SOME)
        return "not counted";
    return count == SF_COUNT_UNKNOWN ? "unknown" : sf_count_text(count, text);
}

static void print_head(const answer *a)
{
    char text[32];
    bool is_kept = strcmp(a->group->engine, "file") == 0;
    printf("%s\n  %d residues, %s lattice, %s%s, %s\n", a->text, a->problem->length, a->problem->lattice->name,
           is_kept ? "read from the file" : "engine ", is_kept ? "" : a->group->engine,
           a->settled         ? "exact"
           : a->summary.exact ? "scores exact, counts not finished"
                              : "not proven to the end");
    printf("  conformations    %s\n", a->conformations ? sf_count_text(a->conformations, text) : "not counted");
    printf("  distinct scores  %s%d:", a->summary.exact ? "" : "at least ", a->summary.distinct_scores);
    for (int s = 0; s < a->n_entries; s++) {
        if (is_reachable(a->histogram[s]))
            printf(" %d", a->problem->min_score + s);
    }
    if (a->best_known)
        printf("\n  best score       %d\n", a->summary.best_score);
    else
        printf("\n  best score       %d to %d\n", a->summary.best_score, a->best_upper);
    if (a->has_stars)
        printf("  stars            * from %d, ** from %d, *** at %d\n", a->stars[0], a->stars[1], a->stars[2]);
    else if (a->best_known)
        printf("  stars            none (the best score is below 3)\n");
    else
        printf("  stars            not known before the best score is\n");
}

static int print_text(const sf_app *app, const sf_sequence_list *list, sf_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        answer a;
        int code = fill_answer(app, list, i, &a, err);
        if (code)
            return code;
        if (i > 0)
            putchar('\n');
        char walk[SF_SCORES_MAX][SF_LENGTH_MAX];
        const bool solutions = app->options.settings.solutions;
        code = solutions ? find_examples(&a, walk, err) : 0;
        if (code)
            return code;
        print_head(&a);
        printf("\n  score           conformations%s\n", solutions ? "  example" : "");
        for (int s = 0; s < a.n_entries; s++) {
            char text[32];
            const char *example = !solutions || !is_reachable(a.histogram[s]) ? ""
                                  : walk[s][0]                               ? walk[s]
                                                                             : "none found in time";
            printf("  %5d  %22s%s%s\n", a.problem->min_score + s, entry_text(a.histogram[s], text), example[0] ? "  " : "",
                   example);
        }
    }
    return 0;
}

static void add_stars(cJSON *object, bool has_stars, const int stars[3])
{
    cJSON *list = cJSON_AddArrayToObject(object, "stars");
    for (int i = 0; i < 3; i++)
        cJSON_AddItemToArray(list, has_stars ? sf_json_integer(stars[i]) : cJSON_CreateNull());
}

static int add_solutions(cJSON *object, const answer *a, sf_error *err)
{
    char walk[SF_SCORES_MAX][SF_LENGTH_MAX];
    cJSON *solutions = cJSON_AddArrayToObject(object, "solutions");
    int code = find_examples(a, walk, err);
    for (int s = 0; !code && s < a->n_entries; s++) {
        if (!is_reachable(a->histogram[s]))
            continue;
        cJSON *solution = cJSON_CreateObject();
        sf_json_add_integer(solution, "score", a->problem->min_score + s);
        cJSON_AddItemToObject(solution, "walk", walk[s][0] ? cJSON_CreateString(walk[s]) : cJSON_CreateNull());
        cJSON_AddItemToArray(solutions, solution);
    }
    return code;
}

static int add_result(cJSON *results, const sf_app *app, const sf_sequence_list *list, size_t i, sf_error *err)
{
    answer a;
    int code = fill_answer(app, list, i, &a, err);
    if (code)
        return code;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "sequence", a.text);
    cJSON_AddStringToObject(object, "lattice", a.problem->lattice->name);
    sf_json_add_integer(object, "length", a.problem->length);
    cJSON_AddStringToObject(object, "engine", a.group->engine);
    cJSON_AddBoolToObject(object, "exact", a.settled);
    cJSON_AddBoolToObject(object, "scores_exact", a.summary.exact);
    if (a.conformations)
        sf_json_add_count(object, "conformations", a.conformations);
    else
        cJSON_AddNullToObject(object, "conformations");
    sf_json_add_integer(object, "min_score", a.problem->min_score);
    sf_json_add_counts(object, "histogram", (size_t)a.n_entries, a.histogram);
    sf_json_add_integer(object, "distinct_scores", a.summary.distinct_scores);
    sf_json_add_integer(object, "max_score", a.summary.best_score);
    cJSON *reachable = cJSON_AddArrayToObject(object, "scores_reachable");
    for (int s = 0; s < a.n_entries; s++) {
        if (is_reachable(a.histogram[s]))
            cJSON_AddItemToArray(reachable, sf_json_integer(a.problem->min_score + s));
    }
    add_stars(object, a.has_stars, a.stars);
    if (!a.summary.exact) {
        sf_json_add_integer(object, "best_lower", a.summary.best_score);
        sf_json_add_integer(object, "best_upper", a.best_upper);
    }
    if (app->options.settings.solutions)
        code = add_solutions(object, &a, err);
    cJSON_AddItemToArray(results, object);
    return code;
}

static int print_json(const sf_app *app, const sf_sequence_list *list, sf_error *err)
{
    cJSON *document = cJSON_CreateObject();
    cJSON *results = cJSON_AddArrayToObject(document, "results");
    for (size_t i = 0; i < list->n; i++) {
        int code = add_result(results, app, list, i, err);
        if (code) {
            cJSON_Delete(document);
            return code;
        }
    }
    return sf_json_print(document, err);
}

static int explain(const sf_app *app, const sf_sequence_list *list, sf_error *err)
{
    const sf_error none = {0, ""};
    double before_s = 0;
    int code = 0;
    for (size_t g = 0; g < list->n_groups; g++) { /* all are told of; the first that would be refused ends it */
        sf_error why = {0, ""};
        int refused = sf_explain_beside(app, &list->group[g].problem, list->group[g].n, &before_s, 0, &none, &why);
        if (refused && !code)
            code = sf_fail(err, refused, "%s", why.text);
    }
    return code;
}

/* Options that say something of a file, where there is none. */
static int check_kept(const sf_app *app, sf_error *err)
{
    static const char *const needing[] = {"force", "checkpoint-seconds", "time-limit"};
    for (size_t i = 0; !app->options.settings.output[0] && i < sizeof needing / sizeof needing[0]; i++) {
        if (sf_options_given(&app->options, needing[i]))
            return sf_fail(err, SF_EINPUT, "--%s needs --output F.h5", needing[i]);
    }
    return 0;
}

/* Options of engine bound beside another one. What auto takes may count more than was asked. */
static int check_proof(const sf_app *app, sf_error *err)
{
    sf_engine_options options;
    sf_app_engine_options(app, &options);
    if (!options.top_counts || !sf_options_given(&app->options, "top-counts") || strcmp(options.engine, "auto") == 0 ||
        strcmp(options.engine, "bound") == 0)
        return 0;
    return sf_fail(err, SF_EINPUT,
                   "--top-counts says how many scores engine bound counts, engine %s counts all; leave it out, or take "
                   "engine bound",
                   options.engine);
}

static int enumerate(sf_app *app, sf_error *err)
{
    sf_sequence_list list = {0};
    int code = check_kept(app, err);
    if (!code)
        code = check_proof(app, err);
    if (!code)
        code = sf_sequence_list_read(&list, app, err);
    if (app->options.settings.explain) {
        code = sf_comm_agree(&app->comm, code, err);
        code = code ? code : explain(app, &list, err);
        goto out;
    }
    code = sf_comm_agree(&app->comm, code, err);
    if (!code)
        code = sf_count_sequences(app, &list, err);
    sf_phase_begin(SF_PHASE_WRITE);
    if (!code && sf_app_speaks(app))
        code = app->options.settings.format ? print_json(app, &list, err) : print_text(app, &list, err);
    sf_stop_end();
out:
    sf_sequence_list_free(&list);
    return code;
}

static const sf_option_group *const groups[] = {
    &sf_group_enumerate, &sf_group_kept,  &sf_group_problem, &sf_group_engine,
    &sf_group_table,     &sf_group_proof, &sf_group_common,  NULL};

const sf_command sf_command_enumerate = {
    .name = "enumerate",
    .words = "SEQUENCE...",
    .summary = "count every conformation of a sequence by its score",
    .text =
        "Counts the conformations of each sequence by score, up to rotation and reflection: its exact histogram, its "
        "distinct scores, its best score and its stars. Sequences may differ in length. With --output, SIGUSR1, "
        "SIGTERM, "
        "a file F.h5.stop or the time limit end it early with status 75, and a kill loses only what was counted since "
        "the last record: the same command goes on, on any number of ranks and threads, to the same file.",
    .min_words = 0,
    .max_words = 1 << 20,
    .groups = groups,
    .run = enumerate,
};

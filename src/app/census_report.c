/* What a census says: as text, as JSON, as a file, and what `info` says of such a file. */
#include <stdio.h>

#include "app/census.h"
#include "app/info.h"
#include "app/json.h"
#include "io/census_file.h"

size_t sf_census_used(const uint64_t *counts, size_t n)
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

/* The two columns of a census with histograms, and how many distinct ones each fitness has. */
static void print_shapes(const sf_app_census *c)
{
    char sequences[32], shapes[32];
    printf("\n  fitness             sequences       histograms\n");
    for (int f = 0; f <= c->summary.n_scores; f++) {
        if (c->summary.sequences[f])
            printf("  %12d  %15s  %15s\n", f, sf_count_text(c->summary.sequences[f], sequences),
                   sf_count_text(c->summary.shapes[f], shapes));
    }
    print_column("best score", c->max_score, sf_census_used(c->max_score, SF_SCORES_MAX), c->problem.min_score);
}

void sf_census_print_text(const sf_app_census *c)
{
    char text[32];
    printf("all sequences of %d residues on the %s lattice\n", c->problem.length, c->problem.lattice->name);
    printf("  sequences                    %s\n", sf_count_text(c->n_sequences, text));
    printf("  with a unique best           %s\n", sf_count_text(c->n_unique, text));
    printf("  with gaps between scores     %s\n", sf_count_text(c->n_gaps, text));
    if (c->shapes.n_scores > 0) {
        printf("  distinct histograms          %s\n", sf_count_text(c->shapes.n, text));
        printf("  the commonest of them has    %s sequences\n", sf_count_text(c->summary.most_shared, text));
        print_shapes(c);
        return;
    }
    print_column("fitness", c->fitness, sf_census_used(c->fitness, SF_SCORES_MAX + 1), 0);
    print_column("best score", c->max_score, sf_census_used(c->max_score, SF_SCORES_MAX), c->problem.min_score);
}

static void add_range(cJSON *object, const char *name, const sf_app_census *c, int fitness, int which)
{
    uint64_t counts[SF_SCORES_MAX];
    size_t n = sf_census_used(c->max_score, SF_SCORES_MAX);
    for (size_t s = 0; s < n; s++)
        counts[s] = sf_shapes_range(&c->summary, fitness, (int)s)[which];
    sf_json_add_counts(object, name, n, counts);
}

static void add_shapes(cJSON *document, const sf_app_census *c)
{
    cJSON *object = cJSON_AddObjectToObject(document, "histograms");
    sf_json_add_count(object, "distinct", c->shapes.n);
    sf_json_add_count(object, "most_shared", c->summary.most_shared);
    cJSON *list = cJSON_AddArrayToObject(object, "by_fitness");
    for (int f = 0; f <= c->summary.n_scores; f++) {
        if (!c->summary.sequences[f])
            continue;
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddItemToArray(list, entry);
        sf_json_add_integer(entry, "fitness", f);
        sf_json_add_count(entry, "sequences", c->summary.sequences[f]);
        sf_json_add_count(entry, "distinct", c->summary.shapes[f]);
        add_range(entry, "least", c, f, 0);
        add_range(entry, "median", c, f, 1);
        add_range(entry, "greatest", c, f, 2);
    }
}

int sf_census_print_json(const sf_app_census *c, sf_error *err)
{
    cJSON *document = cJSON_CreateObject();
    sf_json_add_integer(document, "length", c->problem.length);
    cJSON_AddStringToObject(document, "lattice", c->problem.lattice->name);
    sf_json_add_count(document, "sequences", c->n_sequences);
    sf_json_add_integer(document, "min_score", c->problem.min_score);
    sf_json_add_count(document, "unique_best", c->n_unique);
    sf_json_add_counts(document, "fitness_histogram", sf_census_used(c->fitness, SF_SCORES_MAX + 1), c->fitness);
    sf_json_add_counts(document, "max_score_histogram", sf_census_used(c->max_score, SF_SCORES_MAX), c->max_score);
    sf_json_add_count(document, "sequences_with_gaps", c->n_gaps);
    if (c->shapes.n_scores > 0)
        add_shapes(document, c);
    return sf_json_print(document, err);
}

int sf_census_write(const sf_app *app, const sf_app_census *c, sf_error *err)
{
    sf_census_data data = {.fitness = c->fitness,
                           .best_score = c->max_score,
                           .each_fitness = c->each_fitness,
                           .each_best = c->each_best,
                           .shapes = c->shapes.n_scores > 0 ? &c->shapes : NULL,
                           .summary = &c->summary};
    sf_census_about *about = &data.about;
    snprintf(about->lattice, sizeof about->lattice, "%s", c->problem.lattice->name);
    snprintf(about->letters, sizeof about->letters, "%s", c->problem.model->letter);
    sf_score_model_write(c->problem.model, about->model);
    about->length = c->problem.length;
    about->min_score = c->problem.min_score;
    about->n_scores = (int32_t)sf_census_used(c->max_score, SF_SCORES_MAX);
    about->n_sequences = c->n_sequences;
    about->unique_best = c->n_unique;
    about->sequences_with_gaps = c->n_gaps;
    about->n_shapes = c->shapes.n;
    about->most_shared = c->summary.most_shared;
    return sf_census_file_write(app->options.settings.output, &data, err);
}

/* ---- info ---- */

static int info_json(const char *path, const sf_census_about *about, const uint64_t *fitness, const uint64_t *best_score,
                     sf_error *err)
{
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "file", path);
    cJSON_AddStringToObject(document, "kind", "census");
    sf_json_add_integer(document, "length", about->length);
    cJSON_AddStringToObject(document, "lattice", about->lattice);
    cJSON_AddStringToObject(document, "score_model", about->model);
    sf_json_add_count(document, "sequences", about->n_sequences);
    sf_json_add_integer(document, "min_score", about->min_score);
    sf_json_add_count(document, "unique_best", about->unique_best);
    sf_json_add_counts(document, "fitness_histogram", (size_t)about->n_scores + 1, fitness);
    sf_json_add_counts(document, "max_score_histogram", (size_t)about->n_scores, best_score);
    sf_json_add_count(document, "sequences_with_gaps", about->sequences_with_gaps);
    sf_json_add_count(document, "distinct_histograms", about->n_shapes);
    cJSON_AddStringToObject(document, "program", about->program);
    cJSON_AddStringToObject(document, "version", about->version);
    cJSON_AddStringToObject(document, "revision", about->revision);
    sf_json_add_integer(document, "schema", about->schema);
    return sf_json_print(document, err);
}

int sf_census_info(const char *path, bool json, sf_error *err)
{
    sf_census_about about;
    uint64_t fitness[SF_CENSUS_SCORES_MAX + 1], best_score[SF_CENSUS_SCORES_MAX];
    char text[32];
    int code = sf_census_file_read(&about, fitness, best_score, path, err);
    if (code)
        return code;
    if (json)
        return info_json(path, &about, fitness, best_score, err);
    printf("%s\n", path);
    printf("  census         all sequences of %d residues, %s lattice, score model %s\n", about.length, about.lattice,
           about.model);
    printf("  sequences      %s\n", sf_count_text(about.n_sequences, text));
    printf("  unique best    %s\n", sf_count_text(about.unique_best, text));
    printf("  with gaps      %s\n", sf_count_text(about.sequences_with_gaps, text));
    if (about.n_shapes)
        printf("  histograms     %s distinct\n", sf_count_text(about.n_shapes, text));
    printf("  best fitness   %d distinct scores, %s sequences\n", (int)sf_census_used(fitness, SF_CENSUS_SCORES_MAX + 1) - 1,
           sf_count_text(fitness[sf_census_used(fitness, SF_CENSUS_SCORES_MAX + 1) - 1], text));
    printf("  written by     %s %s (%s), schema %d\n", about.program, about.version, about.revision, about.schema);
    return 0;
}

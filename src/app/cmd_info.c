/* starfold info: what a run was, where it stands, what it found. */
#include <inttypes.h>
#include <string.h>

#include "app/info.h"
#include "app/json.h"
#include "app/run_view.h"
#include "io/file_kind.h"

/* Sequences that have the best fitness. */
static size_t count_best(const sf_known *known, int32_t best)
{
    size_t n = 0;
    for (size_t i = 0; i < known->n; i++)
        n += known->fitness[i] == best;
    return n;
}

/* Sequences whose proof a limit has ended: their fitness is a lower value. */
static size_t count_open(const sf_known *known)
{
    size_t n = 0;
    for (size_t i = 0; i < known->n; i++)
        n += known->exact[i] == 0;
    return n;
}

/* What `--known auto` has come to, seen by what is there. */
static bool stores_scores(const sf_known *known)
{
    for (size_t k = 0; k < known->n * (size_t)known->n_scores; k++) {
        if (known->histogram[k] == SF_COUNT_SOME || known->histogram[k] == SF_COUNT_UNKNOWN)
            return true;
    }
    return false;
}

/* Mean fitness over all islands in hundredths: of a generation, rounded down. */
static int64_t mean_hundredths(const sf_record *record, int64_t generation)
{
    const sf_search_config *config = &record->config;
    int64_t sum = 0, n = (int64_t)config->trials * config->islands * config->population;
    for (int32_t t = 0; t < config->trials; t++) {
        const sf_generation_stats *row =
            &record->stats[((int64_t)t * (config->generations + 1) + generation) * config->islands];
        for (int32_t i = 0; i < config->islands; i++)
            sum += row[i].sum;
    }
    return sum * 100 / n;
}

static void print_config(const sf_run_view *view)
{
    printf("\n  options\n");
    for (size_t i = 0; i < view->data.meta.n_config; i++) {
        const sf_config_entry *entry = &view->data.config[i];
        bool is_default = strcmp(entry->origin, "default") == 0;
        if (is_default)
            printf("    %-20s %s\n", entry->name, entry->value);
        else
            printf("    %-20s %-15s (%s)\n", entry->name, entry->value, entry->origin);
    }
}

static void print_text(const sf_run_view *view)
{
    const sf_record *record = &view->data.record;
    int32_t best = sf_record_best_fitness(record);
    char count[32];
    printf("%s\n", view->paths.output);
    if (view->holder[0])
        printf("  state          running, written by %s\n", view->holder);
    else if (strcmp(view->state, "finished") == 0)
        printf("  state          finished\n");
    else
        printf("  state          stopped or killed%s%s\n",
               view->checkpoint ? "; go on with: starfold resume " : ", without a checkpoint",
               view->checkpoint ? view->paths.output : "");
    if (view->from_checkpoint)
        printf("  note           the file was left amid a write; this is its checkpoint\n");
    if (record->generation >= 0)
        printf("  generation     %" PRId64 " of %" PRId64 "\n", record->generation, record->config.generations);
    else
        printf("  generation     none yet of %" PRId64 "\n", record->config.generations);
    printf("  puzzle         %d residues, %s lattice, score model %s\n", record->length, view->data.meta.lattice,
           sf_run_view_option(view, "score-model"));
    printf("  search         %d trial%s x %d island%s x %d individuals, seed %" PRIu64 "\n", record->config.trials,
           record->config.trials == 1 ? "" : "s", record->config.islands, record->config.islands == 1 ? "" : "s",
           record->config.population, record->config.seed);
    printf("  sequences      %s\n", sf_count_text(record->known.n, count));
    if (record->known.n > 0)
        printf("  known of each  %s\n", stores_scores(&record->known)
                                            ? "the set of scores, with counts of the highest alone"
                                            : "the whole histogram");
    if (count_open(&record->known) > 0)
        printf("  not proven     %s sequences: a limit ended their proof, and their fitness is a lower value\n",
               sf_count_text(count_open(&record->known), count));
    printf("  best fitness   %d distinct scores, %s sequences\n", best,
           sf_count_text(count_best(&record->known, best), count));
    if (record->generation >= 0) {
        int64_t first = mean_hundredths(record, 0), last = mean_hundredths(record, record->generation);
        printf("  mean fitness   %" PRId64 ".%02" PRId64 " at first, %" PRId64 ".%02" PRId64 " now\n", first / 100,
               first % 100, last / 100, last % 100);
    }
    printf("  migrants       %s\n", sf_count_text(record->n_migrants, count));
    printf("  written by     %s %s (%s), schema %d\n", view->data.program, view->data.version, view->data.revision,
           view->data.schema);
    print_config(view);
}

static int print_json(const sf_run_view *view, sf_error *err)
{
    const sf_record *record = &view->data.record;
    int32_t best = sf_record_best_fitness(record);
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "file", view->paths.output);
    cJSON_AddStringToObject(document, "kind", "run");
    cJSON_AddStringToObject(document, "state", view->state);
    cJSON_AddBoolToObject(document, "checkpoint", view->checkpoint);
    cJSON_AddBoolToObject(document, "from_checkpoint", view->from_checkpoint);
    sf_json_add_integer(document, "generation", record->generation);
    sf_json_add_integer(document, "generations", record->config.generations);
    cJSON_AddStringToObject(document, "lattice", view->data.meta.lattice);
    sf_json_add_integer(document, "length", record->length);
    sf_json_add_integer(document, "trials", record->config.trials);
    sf_json_add_integer(document, "islands", record->config.islands);
    sf_json_add_integer(document, "population", record->config.population);
    sf_json_add_count(document, "seed", record->config.seed);
    sf_json_add_count(document, "sequences", record->known.n);
    cJSON_AddStringToObject(document, "known", stores_scores(&record->known) ? "scores" : "histograms");
    sf_json_add_count(document, "sequences_not_proven", count_open(&record->known));
    sf_json_add_integer(document, "best_fitness", best);
    sf_json_add_count(document, "sequences_at_best", count_best(&record->known, best));
    sf_json_add_count(document, "migrants", record->n_migrants);
    cJSON_AddStringToObject(document, "program", view->data.program);
    cJSON_AddStringToObject(document, "version", view->data.version);
    cJSON_AddStringToObject(document, "revision", view->data.revision);
    sf_json_add_integer(document, "schema", view->data.schema);
    cJSON *config = cJSON_AddObjectToObject(document, "config");
    for (size_t i = 0; i < view->data.meta.n_config; i++) {
        cJSON *entry = cJSON_AddObjectToObject(config, view->data.config[i].name);
        cJSON_AddStringToObject(entry, "value", view->data.config[i].value);
        cJSON_AddStringToObject(entry, "origin", view->data.config[i].origin);
    }
    return sf_json_print(document, err);
}

static int info(sf_app *app, sf_error *err)
{
    sf_run_view view;
    const char *path = app->options.words[0];
    const bool json = app->options.settings.format != 0;
    if (!sf_app_speaks(app))
        return 0;
    const sf_file_kind kind = sf_file_kind_of(path);
    if (kind == SF_FILE_CENSUS)
        return sf_census_info(path, json, err);
    if (kind == SF_FILE_TABLE)
        return sf_table_info(path, json, err);
    if (kind == SF_FILE_ENUMERATION)
        return sf_enumeration_info(path, json, err);
    int code = sf_run_view_open(&view, path, err);
    if (!code && json)
        code = print_json(&view, err);
    else if (!code)
        print_text(&view);
    sf_run_view_close(&view);
    return code;
}

static const sf_option_group *const groups[] = {&sf_group_common, NULL};

const sf_command sf_command_info = {
    .name = "info",
    .words = "RUN.h5",
    .summary = "what a run was, where it stands, what it found",
    .text = "Tells what a run file holds, also while the run goes on or after it was killed; or what the file of a "
            "census, of a table or of an enumeration holds.",
    .min_words = 1,
    .max_words = 1,
    .groups = groups,
    .run = info,
};

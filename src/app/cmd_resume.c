/* starfold resume: goes on from the last good checkpoint, on any layout. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/explain.h"
#include "app/session.h"
#include "app/stop.h"

/* What was found to go on from. */
typedef struct source {
    sf_run_data data;
    const char *path;
    bool finished; /* nothing is left to do */
} source;

/* ---- the stored configuration against the command line ---- */

/* Options that may differ between the parts of a run. */
static bool may_change(const char *name)
{
    return strcmp(name, "generations") == 0;
}

/* Takes the stored options over into the settings; what the command line gives must be the same. */
static int take_configuration(sf_options *options, const source *from, sf_error *err)
{
    for (size_t i = 0; i < from->data.meta.n_config; i++) {
        const sf_config_entry *stored = &from->data.config[i];
        char given[sizeof stored->value], now[sizeof stored->value];
        int idx = sf_options_find(options, stored->name);
        if (idx < 0 || !options->option[idx]->result)
            return sf_fail(err, SF_EFORMAT, "%.200s was written with option '%.40s', which this program does not have",
                           from->path, stored->name);
        bool asked = options->origin[idx] == SF_ORIGIN_COMMAND_LINE;
        sf_option_text(options, idx, sizeof given, given);
        if (asked && may_change(stored->name))
            continue;
        int code = sf_option_set(options, idx, stored->value, sf_origin_parse(stored->origin), "stored option ", err);
        if (code) {
            err->code = SF_EFORMAT;
            return SF_EFORMAT;
        }
        sf_option_text(options, idx, sizeof now, now);
        if (asked && strcmp(given, now) != 0)
            return sf_fail(err, SF_EMISMATCH,
                           "--%s is %.60s but the run was begun with %.60s; resume cannot change it (leave it out)",
                           stored->name, given, now);
    }
    return 0;
}

/* ---- reading ---- */

static int read_one(source *from, const char *path, sf_error *err)
{
    from->path = path;
    int code = sf_run_file_read(&from->data, path, err);
    if (code)
        return code;
    if (from->data.record.generation >= 0 && !from->data.record.population)
        return sf_fail(err, SF_EFORMAT, "%.300s holds no populations to go on from", path);
    return 0;
}

/* A finished file that is to get more generations stays what it is until the first block of them; a kill before that
 * leaves the checkpoint that was to replace it. True, and *from is that checkpoint, when there is one. */
static bool goes_further(const sf_run_paths *paths, source *from)
{
    source further = {.path = ""};
    if (!sf_path_exists(paths->checkpoint) || read_one(&further, paths->checkpoint, NULL) != 0 ||
        further.data.record.config.generations <= from->data.record.config.generations ||
        further.data.record.generation < from->data.record.generation) {
        sf_run_data_free(&further.data);
        return false;
    }
    sf_run_data_free(&from->data);
    *from = further;
    return true;
}

/* The finished file, or the newest checkpoint that reads well. */
static int read_source(const sf_app *app, const sf_run_paths *paths, source *from, sf_error *err)
{
    sf_error first = {0, ""};
    int code = sf_path_exists(paths->output) ? read_one(from, paths->output, &first) : SF_EINPUT;
    if (!code && strcmp(from->data.meta.state, "finished") == 0) {
        from->finished = !goes_further(paths, from);
        return 0;
    }
    sf_run_data_free(&from->data);
    if (!sf_path_exists(paths->checkpoint) && !sf_path_exists(paths->previous)) {
        if (!sf_path_exists(paths->output))
            return sf_fail(err, SF_EINPUT, "there is no run %.200s and no checkpoint of one; 'starfold run' begins one",
                           paths->output);
        if (first.code)
            return sf_fail(err, first.code, "%s", first.text);
        return sf_fail(err, SF_EINPUT, "%.200s has no checkpoint beside it to go on from", paths->output);
    }
    code = sf_path_exists(paths->checkpoint) ? read_one(from, paths->checkpoint, &first)
                                             : sf_fail(&first, SF_EINPUT, "%.200s is missing", paths->checkpoint);
    if (!code)
        return 0;
    sf_run_data_free(&from->data);
    if (!sf_path_exists(paths->previous))
        return sf_fail(err, first.code, "%s", first.text);
    code = read_one(from, paths->previous, err);
    if (!code && !app->options.settings.quiet)
        fprintf(stderr, "going on from the checkpoint before the last: %s\n", first.text);
    return code;
}

/* ---- a longer run, or a shorter one ---- */

/* Copies rows[trials][from + 1][row_bytes] into room for [trials][to + 1][row_bytes]. */
static void *resize_rows(const void *rows, int32_t trials, int64_t from, int64_t to, size_t row_bytes)
{
    size_t before = (size_t)(from + 1) * row_bytes, after = (size_t)(to + 1) * row_bytes;
    char *room = calloc((size_t)trials, after);
    for (int32_t t = 0; room && t < trials; t++)
        memcpy(room + (size_t)t * after, (const char *)rows + (size_t)t * before, before < after ? before : after);
    return room;
}

static int resize_record(sf_record *record, int64_t generations, sf_error *err)
{
    const sf_search_config *config = &record->config;
    int64_t before = config->generations;
    size_t islands = (size_t)config->islands, cells;
    size_t individual = (size_t)config->population * (size_t)record->length;
    bool huge = __builtin_mul_overflow((size_t)config->trials * islands, (size_t)generations + 1, &cells) ||
                __builtin_mul_overflow(cells, record->populations ? individual : sizeof *record->stats, &cells);
    if (huge || cells > PTRDIFF_MAX)
        return sf_fail(err, SF_ELIMIT, "--generations %" PRId64 " is too many for this run", generations);
    void *stats = resize_rows(record->stats, config->trials, before, generations, islands * sizeof *record->stats);
    void *kept = NULL;
    if (record->populations)
        kept = resize_rows(record->populations, config->trials, before, generations, islands * individual);
    if (!stats || (record->populations && !kept)) {
        free(stats);
        free(kept);
        return sf_fail(err, SF_ENOMEM, "out of memory for %" PRId64 " generations", generations);
    }
    free(record->stats);
    record->stats = stats;
    if (kept) {
        free(record->populations);
        record->populations = kept;
    }
    record->config.generations = generations;
    return 0;
}

/* ---- the command ---- */

/* The next checkpoint keeps the one before: what cannot be read must not take the place of the good one. */
static void set_aside(const sf_run_paths *paths)
{
    char damaged[sizeof paths->checkpoint + 16];
    snprintf(damaged, sizeof damaged, "%s.damaged", paths->checkpoint);
    if (rename(paths->checkpoint, damaged) != 0)
        unlink(paths->checkpoint);
}

/* Rank 0: the source, its configuration in the options, the record in the session. *again: there is work to do. With
 * --explain nothing is touched, and another job may be at the run. */
static int prepare(sf_session *session, sf_app *app, source *from, bool *again, sf_error *err)
{
    double start = sf_now();
    const bool only_look = app->options.settings.explain;
    int code = sf_path_check_output(session->paths.output, err);
    if (!code && !only_look)
        code = sf_run_paths_lock(&session->paths, err);
    if (!code)
        code = read_source(app, &session->paths, from, err);
    sf_stop_note_save(sf_now() - start); /* the first guess */
    if (!code)
        code = take_configuration(&app->options, from, err);
    if (code)
        return code;
    int64_t wanted = app->options.settings.generations;
    if (wanted < from->data.record.generation)
        return sf_fail(err, SF_EINPUT,
                       "--generations is %" PRId64 " but %" PRId64 " are done; allowed are that many or more", wanted,
                       from->data.record.generation);
    if (from->path == session->paths.previous && !only_look)
        set_aside(&session->paths);
    session->has_checkpoint = !from->finished;
    *again = !from->finished || wanted > from->data.record.generation;
    if (*again && wanted != from->data.record.config.generations)
        code = resize_record(&from->data.record, wanted, err);
    session->record = from->data.record;
    memset(&from->data.record, 0, sizeof from->data.record);
    if (!code && !*again && !only_look)
        sf_run_paths_drop_checkpoints(&session->paths); /* left when the last process died after its work was done */
    return code;
}

static int resume(sf_app *app, sf_error *err)
{
    static sf_session session;
    source from = {.path = ""};
    bool again = false;
    sf_run_paths_init(&session.paths, app->options.words[0]);
    int code =
        strlen(app->options.words[0]) >= SF_TEXT_SIZE ? sf_fail(err, SF_EINPUT, "the name of the run is too long") : 0;
    if (!code && sf_app_speaks(app))
        code = prepare(&session, app, &from, &again, err);
    code = sf_comm_agree(&app->comm, code, err);
    if (!code)
        code = sf_comm_broadcast(&app->comm, sizeof again, &again, err);
    if (!code && !again) {
        if (sf_app_speaks(app) && !app->options.settings.quiet)
            fprintf(stderr, "%s is finished; add --generations MORE to breed on\n", session.paths.output);
        goto out;
    }
    /* plain data without pointers: the other ranks read no file */
    if (!code)
        code = sf_comm_broadcast(&app->comm, sizeof app->options.settings, &app->options.settings, err);
    if (!code)
        code = sf_comm_broadcast(&app->comm, sizeof app->options.origin, app->options.origin, err);
    if (!code)
        code = sf_comm_agree(&app->comm, sf_session_configure(&session, app, err), err);
    session.resumed = true;
    const int64_t done = session.record.generation; /* rank 0 */
    if (!code && app->options.settings.explain)
        code = sf_session_explain(&session, done, err);
    else if (!code)
        code = sf_comm_agree(
            &app->comm,
            sf_app_speaks(app) ? sf_refuse_over(app, &session.problem, sf_session_genomes(&session, done), err) : 0, err);
    if (!code && !app->options.settings.explain)
        code = sf_session_search(&session, err);
out:
    sf_run_data_free(&from.data);
    sf_session_free(&session);
    return code;
}

static const sf_option_group *const groups[] = {&sf_group_output, &sf_group_engine, &sf_group_table,  &sf_group_common,
                                                &sf_group_search, &sf_group_problem, NULL};

const sf_command sf_command_resume = {
    .name = "resume",
    .words = "RUN.h5",
    .summary = "go on with a run from its last checkpoint",
    .text =
        "Goes on from the last good checkpoint of RUN.h5 on any number of ranks and threads; the finished file is the "
        "one an undisturbed run writes. A finished run is left alone unless more --generations are asked for. These "
        "may differ from the run so far: --generations (more), checkpoints and limits, engine and tables, and the common "
        "options. The other search and puzzle options may be given, but only as they were. --explain and --refuse-over speak "
        "of what is left.",
    .min_words = 1,
    .max_words = 1,
    .groups = groups,
    .run = resume,
};

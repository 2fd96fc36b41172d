/* Rank 0 alone reads and writes. Checkpoints come and go as those of a search do (run_paths.h). */
#include "app/enumeration.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/peers.h"
#include "app/progress.h"
#include "app/stop.h"

static const double SAVE_SHARE = 0.05; /* of the time may go into checkpoints */

/* ---- the question ---- */

static int fill_question(sf_enumeration_run *run, const sf_sequence_list *list, sf_error *err)
{
    const sf_problem *problem = &run->group->problem;
    const size_t length = (size_t)problem->length;
    sf_enumeration *file = &run->file;
    char text[SF_LENGTH_MAX + 1];
    snprintf(file->lattice, sizeof file->lattice, "%s", problem->lattice->name);
    sf_score_model_write(problem->model, file->score_model);
    file->length = problem->length;
    file->min_score = problem->min_score;
    file->n_scores = problem->n_scores;
    file->n_asked = list->n;
    file->n = run->group->n;
    file->asked = malloc(list->n * length);
    file->row = malloc(list->n * sizeof *file->row);
    file->letters = malloc(file->n * length);
    if (!file->asked || !file->row || !file->letters)
        return sf_fail(err, SF_ENOMEM, "out of memory for %zu sequences", list->n);
    for (size_t i = 0; i < list->n; i++) {
        memcpy(file->asked + i * length, list->asked[i].text, length);
        file->row[i] = (int64_t)list->asked[i].row;
    }
    for (size_t i = 0; i < file->n; i++) {
        sf_sequence_write(problem, run->group->elements + i * length, text);
        memcpy(file->letters + i * length, text, length);
    }
    file->histogram = run->group->histogram;
    return 0;
}

static sf_engine_options options_asked(const sf_enumeration_run *run)
{
    sf_engine_options options;
    sf_app_engine_options(run->app, &options);
    return options;
}

/* What kind of answer is asked for, or the engine gives. */
static void set_kind(sf_enumeration_run *run, bool proven)
{
    const sf_settings *settings = &run->app->options.settings;
    proven = proven || options_asked(run).sets;
    run->file.proven = proven;
    run->file.top_counts = proven ? (int)settings->top_counts : 0;
    run->file.node_limit = proven ? settings->node_limit : 0;
}

static const char *engine_asked(const sf_enumeration_run *run)
{
    return options_asked(run).engine;
}

/* Compares with what a file answers; with engine auto its kind of answer is taken. */
static const char *difference(sf_enumeration_run *run, const sf_enumeration *there)
{
    const char *engine = engine_asked(run);
    if (options_asked(run).sets && !there->proven)
        return "top-counts";
    if (run->app->options.settings.node_limit && !there->proven)
        return "node-limit";
    set_kind(run, strcmp(engine, "auto") == 0 ? there->proven : strcmp(engine, "bound") == 0);
    return sf_enumeration_difference(&run->file, there);
}

/* ---- what is there ---- */

static int take_finished(sf_enumeration_run *run, sf_error *err)
{
    const char *path = run->paths.output;
    sf_enumeration there;
    sf_error why = {0, ""};
    int code = sf_enumeration_read(path, &there, &why);
    if (code || there.unfinished) {
        sf_enumeration_free(&there);
        return sf_fail(err, SF_EEXIST,
                       "%.200s exists and is no finished enumeration; choose another output, or replace "
                       "it with --force (%.150s)",
                       path, code ? why.text : "it is a checkpoint");
    }
    const char *other = difference(run, &there);
    if (other)
        code = sf_fail(err, SF_EMISMATCH,
                       "%.200s answers another question (%s); choose another output, or replace it with --force", path,
                       other);
    else
        memcpy(run->group->histogram, there.histogram, there.n * (size_t)there.n_scores * sizeof *there.histogram);
    sf_enumeration_free(&there);
    run->finished = !code;
    if (!code)
        sf_run_paths_drop_checkpoints(&run->paths); /* left when the last process died after its work was done */
    return code;
}

/* Reads the checkpoint, or, when that is damaged, the one before. */
static int read_checkpoint(sf_enumeration_run *run, sf_error *err)
{
    sf_error first = {0, ""};
    int code = SF_EINPUT;
    if (sf_path_exists(run->paths.checkpoint))
        code = sf_enumeration_read(run->paths.checkpoint, &run->from, &first);
    if (code && sf_path_exists(run->paths.previous)) {
        code = sf_enumeration_read(run->paths.previous, &run->from, err);
        if (!code && first.text[0] && !run->app->options.settings.quiet)
            fprintf(stderr, "going on from the checkpoint before the last: %s\n", first.text);
        if (code)
            first = *err;
    }
    return code ? sf_fail(err, code, "%.300s; begin anew with --force", first.text) : 0;
}

static int take_checkpoint(sf_enumeration_run *run, sf_error *err)
{
    int code = read_checkpoint(run, err);
    if (code)
        return code;
    const char *other = run->from.unfinished ? difference(run, &run->from) : "it is finished";
    const char *engine = engine_asked(run);
    if (other)
        return sf_fail(err, SF_EMISMATCH,
                       "the checkpoint beside %.200s is of another question (%s); choose another output, or begin anew "
                       "with --force",
                       run->paths.output, other);
    if (strcmp(engine, "auto") != 0 && strcmp(engine, run->from.engine) != 0)
        return sf_fail(err, SF_EMISMATCH,
                       "the checkpoint beside %.200s was counted by engine %s, not %s; leave --engine away, or begin "
                       "anew with --force",
                       run->paths.output, run->from.engine, engine);
    snprintf(run->engine, sizeof run->engine, "%s", run->from.engine);
    run->resumed = true;
    return 0;
}

/* Rank 0. */
static int claim(sf_enumeration_run *run, const sf_sequence_list *list, sf_error *err)
{
    const sf_run_paths *paths = &run->paths;
    int code = sf_path_check_output(paths->output, err);
    if (!code)
        code = sf_run_paths_lock(&run->paths, err);
    if (!code)
        code = fill_question(run, list, err);
    if (!code && !run->app->options.settings.force) {
        if (sf_path_exists(paths->output))
            code = take_finished(run, err);
        else if (sf_path_exists(paths->checkpoint) || sf_path_exists(paths->previous))
            code = take_checkpoint(run, err);
    }
    if (!code)
        sf_run_paths_sweep(paths);
    return code;
}

int sf_enumeration_open(sf_enumeration_run *run, const sf_app *app, sf_sequence_list *list, sf_error *err)
{
    const sf_settings *settings = &app->options.settings;
    memset(run, 0, sizeof *run);
    run->app = app;
    run->group = list->group;
    sf_run_paths_init(&run->paths, settings->output);
    if (list->n_groups != 1)
        return sf_fail(err, SF_EINPUT, "sequences of %zu lengths are given; a file of --output holds one length",
                       list->n_groups);
    if (settings->max_ms)
        return sf_fail(err, SF_EINPUT,
                       "--max-seconds leaves things open, a file of --output does not; give --time-limit to stop early "
                       "and go on later");
    sf_stop_catch_signals();
    int code = sf_comm_agree(&app->comm, sf_app_speaks(app) ? claim(run, list, err) : 0, err);
    if (!code)
        code = sf_comm_broadcast(&app->comm, sizeof run->finished, &run->finished, err);
    if (!code)
        code = sf_comm_broadcast(&app->comm, sizeof run->engine, run->engine, err);
    if (code || run->finished)
        return code;
    sf_peers_advise("go on with the same command");
    if (sf_app_speaks(app))
        sf_stop_say_at_once(run->resumed ? "the same command" : NULL);
    run->save_due_s = sf_now() + (double)settings->checkpoint_ms / 1e3;
    return sf_comm_agree(&app->comm, sf_stop_watch(run->paths.stop, settings->time_limit_ms, sf_app_speaks(app), err),
                         err);
}

void sf_enumeration_close(sf_enumeration_run *run)
{
    run->file.histogram = NULL; /* the group's */
    sf_enumeration_free(&run->file);
    sf_enumeration_free(&run->from);
    if (run->app)
        sf_run_paths_unlock(&run->paths);
}

/* ---- while it goes on ---- */

double sf_enumeration_left(const sf_enumeration_run *run)
{
    size_t n_done = 0;
    if (run->finished)
        return 0;
    for (size_t part = 0; run->resumed && part < run->from.n_parts; part++)
        n_done += run->from.done[part / 8] >> part % 8 & 1;
    return run->resumed ? 1 - (double)n_done / (double)run->from.n_parts : 1;
}

int sf_enumeration_restore(sf_enumeration_run *run, const char *engine, sf_tally *tally, sf_error *err)
{
    const sf_enumeration *from = &run->from;
    const sf_plan *plan = &tally->plan;
    snprintf(run->file.engine, sizeof run->file.engine, "%s", engine);
    set_kind(run, strcmp(engine, "bound") == 0);
    run->file.block = plan->block;
    run->file.parts_per_block = plan->parts_per_block;
    run->file.n_parts = plan->n_parts;
    run->ready = !run->resumed;
    run->n_before = 0;
    if (run->ready)
        return 0;
    if (from->block != plan->block || from->parts_per_block != plan->parts_per_block || from->n_parts != plan->n_parts)
        return sf_fail(err, SF_EMISMATCH,
                       "the checkpoint beside %.200s is cut into other parts: it is of another version of starfold; go "
                       "on with that, or begin anew with --force",
                       run->paths.output);
    memcpy(tally->done, from->done, sf_tally_done_bytes(tally));
    memcpy(tally->histograms, from->histogram, from->n * (size_t)from->n_scores * sizeof *from->histogram);
    int code = sf_tally_recount(tally, err);
    run->ready = !code;
    run->n_before = tally->n_done;
    if (!code && !run->app->options.settings.quiet)
        fprintf(stderr, "going on with %zu of %zu parts counted\n", tally->n_done, plan->n_parts);
    return code;
}

static int save(sf_enumeration_run *run, const sf_tally *tally, sf_error *err)
{
    const sf_run_paths *paths = &run->paths;
    const double start = sf_now();
    run->file.unfinished = true;
    run->file.done = tally->done;
    int code = sf_enumeration_write(paths->next, &run->file, err);
    run->file.done = NULL;
    if (code) {
        sf_run_paths_sweep(paths);
        return code;
    }
    if (run->n_saves++ == 0 && !run->resumed) { /* what is replaced goes only now */
        unlink(paths->previous);
        unlink(paths->checkpoint);
        unlink(paths->output);
    }
    code = sf_run_paths_install_checkpoint(paths, err);
    const double took = sf_now() - start, pause = (double)run->app->options.settings.checkpoint_ms / 1e3;
    run->save_due_s = sf_now() + (pause > took / SAVE_SHARE ? pause : took / SAVE_SHARE);
    sf_stop_note_save(took);
    if (!code)
        sf_stop_say_at_once("the same command");
    return code;
}

int sf_enumeration_look(sf_enumeration_run *run, const sf_tally *tally, sf_error *err)
{
    return sf_now() < run->save_due_s || tally->n_done == tally->plan.n_parts ? 0 : save(run, tally, err);
}

static int finish(sf_enumeration_run *run, sf_error *err)
{
    run->file.unfinished = false;
    int code = sf_enumeration_write(run->paths.output, &run->file, err);
    if (!code)
        sf_run_paths_drop_checkpoints(&run->paths);
    return code;
}

/* Why the time given was not enough for a single part. */
static const char *part_text(const sf_enumeration_run *run, char text[96])
{
    sf_engine_options options;
    sf_engine_cost cost;
    char seconds[32];
    sf_app_engine_options(run->app, &options);
    (void)sf_engine_calibrate();
    text[0] = '\0';
    if (sf_engine_estimate(run->file.engine, &run->group->problem, &options, &cost, NULL) || cost.parts == 0)
        return text;
    if (cost.guess)
        snprintf(text, 96, " (none now: a part is the whole proof of a sequence)");
    else
        snprintf(text, 96, " (none now: a part takes about %s)",
                 sf_seconds_text(cost.sequence_s / (double)cost.parts, seconds));
    return text;
}

int sf_enumeration_end(sf_enumeration_run *run, const sf_tally *tally, int code, sf_error *err)
{
    sf_error failed = {0, ""};
    if (!code)
        return finish(run, err);
    const int status = run->ready ? save(run, tally, &failed) : 0;
    if (code != SF_ESTOPPED)
        return code; /* what is saved is saved */
    unlink(run->paths.stop);
    if (status)
        return sf_fail(err, status, "%s", failed.text);
    if (!run->ready)
        return sf_fail(err, SF_ESTOPPED, "stopped by %s before a part was counted; go on with the same command",
                       sf_stop_text(sf_stop_flag));
    char none[96] = "";
    return sf_fail(err, SF_ESTOPPED, "stopped by %s with %zu of %zu parts counted%s; go on with the same command",
                   sf_stop_text(sf_stop_flag), tally->n_done, tally->plan.n_parts,
                   tally->n_done == run->n_before ? part_text(run, none) : none);
}

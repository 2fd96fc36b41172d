/* The search is the business of `dist`; here is what surrounds it: the file of a run that goes on, checkpoints, the
 * finished file with its levels, and what is said to the user. Rank 0 does all of that. */
#include "app/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/best_levels.h"
#include "app/explain.h"
#include "app/peers.h"
#include "app/phases.h"
#include "app/stop.h"
#include "app/table_source.h"
#include "core/base/isa.h"
#include "dist/search_mpi.h"

enum { STORED_LEVELS = 10, SAVES_APART = 100 };
static const double MEETING_S = 5e-4, MESSAGES_S = 5e-3, STEP_S = 5e-2;

/* ---- configuration ---- */

/* Every option that can change results, in the order of the tables. */
static void fill_entries(sf_session *session)
{
    const sf_options *options = &session->app->options;
    session->n_entries = 0;
    for (int i = 0; i < options->n; i++) {
        if (!options->option[i]->result)
            continue;
        sf_config_entry *entry = &session->entry[session->n_entries++];
        snprintf(entry->name, sizeof entry->name, "%s", options->option[i]->name);
        sf_option_text(options, i, sizeof entry->value, entry->value);
        snprintf(entry->origin, sizeof entry->origin, "%s", sf_origin_name(options->origin[i]));
    }
}

/* What is stored of a sequence, its whole histogram or its set of scores with the counts at the top, decides what the
 * file holds; so it is an option, and by default a rule of lattice, length and score model: histograms as far as tables
 * of contact maps go, beyond that what engine bound proves, for the model it is strong at. */
static bool stores_scores(const sf_session *session)
{
    const sf_problem *problem = &session->problem;
    const int64_t known = session->app->options.settings.known;
    sf_engine_options options;
    sf_engine_cost cost;
    if (known != SF_KNOWN_AUTO)
        return known == SF_KNOWN_SCORES;
    sf_app_engine_options(session->app, &options);
    options.node_limit = 0; /* does not say what is stored, and tables know none */
    return sf_engine_estimate("table", problem, &options, &cost, NULL) != 0 && sf_score_model_is_hp(problem->model) &&
           sf_engine_estimate("bound", problem, &options, &cost, NULL) == 0;
}

/* Settles --engine: one that answers the other way is not for this search, or two files of one configuration would
 * differ; and `auto` is left to choose only among those that answer this way. */
static int settle_engine(sf_session *session, sf_error *err)
{
    sf_options *all = &session->app->options;
    sf_engine_options options;
    const char *chosen = "";
    all->settings.stores_scores = stores_scores(session);
    const bool scores = all->settings.stores_scores;
    sf_app_engine_options(session->app, &options);
    if (strcmp(options.engine, scores ? "walk" : "bound") == 0)
        return sf_fail(err, SF_EINPUT,
                       "--engine is '%s', but this search of %d residues on the %s lattice stores %s (--known); allowed: %s",
                       options.engine, session->problem.length, session->problem.lattice->name,
                       scores ? "sets of scores" : "whole histograms", scores ? "auto table bound" : "auto table walk");
    if ((options.node_limit || all->settings.top_counts) && !scores)
        return sf_fail(err, SF_EINPUT,
                       "--%s, but this search of %d residues on the %s lattice stores whole histograms (--known); leave it "
                       "out, or give --known scores",
                       options.node_limit ? "node-limit counts nodes of engine bound"
                                          : "top-counts says how many scores are counted beside a set of scores",
                       session->problem.length, session->problem.lattice->name);
    if (strcmp(options.engine, "auto") != 0 || scores)
        return 0;
    sf_app_table_prefer(session->app, &session->problem, &options);
    int idx = sf_options_find(all, "engine");
    if (sf_engine_choose(&session->problem, &options, 1, &chosen, NULL) == 0 && strcmp(chosen, "bound") != 0)
        return 0;
    return sf_option_set(all, idx, "walk", all->origin[idx], "--", err);
}

int sf_session_configure(sf_session *session, sf_app *app, sf_error *err)
{
    session->app = app;
    sf_settings_search(&app->options.settings, &session->config);
    int code = sf_app_problem(app, (int)app->options.settings.length, &session->problem, err);
    if (!code)
        code = sf_search_config_check(&session->config, err);
    if (!code)
        code = settle_engine(session, err);
    if (code)
        return code;
    fill_entries(session);
    session->meta = (sf_run_meta){.n_config = session->n_entries,
                                  .config = session->entry,
                                  .state = "running",
                                  .lattice = session->problem.lattice->name,
                                  .letters = session->problem.model->letter,
                                  .min_score = session->problem.min_score,
                                  .witness_size = session->problem.length};
    return 0;
}

size_t sf_session_genomes(const sf_session *session, int64_t done)
{
    const sf_search_config *config = &session->config;
    int64_t ahead = config->generations - (done > 0 ? done : 0);
    double born = (double)(config->population - config->elites) * (double)ahead;
    double n = (double)config->trials * config->islands * ((done < 0 ? config->population : 0) + born);
    return n < 1e15 ? (size_t)n : (size_t)1e15;
}

int sf_session_explain(const sf_session *session, int64_t done, sf_error *err)
{
    const sf_search_config *config = &session->config;
    if (!session->app->options.settings.format && sf_app_speaks(session->app))
        printf("%d trial%s of %d island%s of %d individuals, %" PRId64 " generations%s, which ask for at most\n",
               config->trials, config->trials == 1 ? "" : "s", config->islands, config->islands == 1 ? "" : "s",
               config->population, config->generations - (done > 0 ? done : 0), done < 0 ? "" : " more");
    return sf_explain(session->app, &session->problem, sf_session_genomes(session, done), err);
}

/* ---- while the search goes on (rank 0) ---- */

static void show_progress(sf_session *session, const sf_record *record)
{
    char left[32], known[32];
    double elapsed = sf_now() - session->progress.start_s;
    int64_t done = record->generation - session->first_generation;
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    double ahead = done > 0 ? elapsed / (double)done * (double)(session->config.generations - record->generation) : 0;
    sf_progress_show(&session->progress,
                     "generation %" PRId64 " of %" PRId64 ", best %d, %s sequences, %.3g generations/s, %s left",
                     record->generation, session->config.generations, sf_record_best_fitness(record),
                     sf_count_text(record->known.n, known), rate, done > 0 ? sf_seconds_text(ahead, left) : "?");
}

static int on_block(void *context, const sf_record *record, uint64_t evaluated, sf_search_wish *wish, sf_error *err)
{
    sf_session *session = context;
    uint64_t interval_ms = session->app->options.settings.checkpoint_ms;
    session->evaluated = evaluated;
    int code = sf_live_file_append(session->live, record, err);
    if (code)
        return code;
    if (record->generation < session->config.generations && sf_progress_due(&session->progress))
        show_progress(session, record);
    if (sf_stop_flag && record->generation < session->config.generations)
        *wish = SF_SEARCH_STOP;
    else if (interval_ms && sf_now() >= session->save_due_s)
        *wish = SF_SEARCH_CHECKPOINT;
    return 0;
}

/* When the next checkpoint is due by time. One that takes long, with millions of sequences, comes less often, so that all
 * together cost a hundredth of the run at most; unless the user said how often. */
static double next_save_s(const sf_session *session, double took_s)
{
    const sf_options *options = &session->app->options;
    double interval_s = (double)options->settings.checkpoint_ms / 1e3;
    if (options->origin[sf_options_find(options, "checkpoint-seconds")] == SF_ORIGIN_DEFAULT &&
        interval_s < SAVES_APART * took_s)
        interval_s = SAVES_APART * took_s;
    return sf_now() + interval_s;
}

static int on_save(void *context, const sf_record *record, sf_error *err)
{
    sf_session *session = context;
    double start = sf_now();
    sf_phase before = sf_phase_begin(SF_PHASE_WRITE);
    int code = sf_run_file_write(session->paths.next, record, &session->meta, err);
    if (!code)
        code = sf_run_paths_install_checkpoint(&session->paths, err);
    else
        sf_run_paths_sweep(&session->paths); /* it may have its name and yet not be safe */
    double took = sf_now() - start;
    session->save_due_s = next_save_s(session, took);
    session->save_s += took;
    session->n_saves++;
    sf_stop_note_save(took);
    sf_phase_begin(before);
    return code;
}

/* Any rank: it failed while the others are too busy to hear of it. */
static void on_fatal(void *context, const sf_error *err)
{
    const sf_session *session = context;
    sf_peers_hush();
    fprintf(stderr, "starfold: rank %d: %s\n", session->app->comm.rank, err->text);
    fflush(stderr);
    sf_comm_abort(&session->app->comm, sf_error_status(err->code));
}

/* ---- the end (rank 0) ---- */

/* What depends on time, host and layout, and the options that change no result. */
static int write_perf(const sf_session *session, sf_error *err)
{
    const sf_options *options = &session->app->options;
    const sf_engine *engine = sf_puzzle_engine(&session->puzzle);
    struct rusage usage;
    static char text[SF_OPTIONS_MAX][SF_TEXT_SIZE];
    char host[256] = "", name[SF_OPTIONS_MAX][64];
    getrusage(RUSAGE_SELF, &usage);
    gethostname(host, sizeof host - 1);
    sf_perf_entry entries[SF_OPTIONS_MAX + 16] = {
        {"host", "", "name of the host of rank 0", 0, host},
        {"engine", "", "engine that counted the conformations", 0, engine ? sf_engine_name(engine) : "none"},
        {"instruction_set", "", "instruction set that was used", 0, sf_isa_name(sf_isa_get())},
        {"ranks", "1", "MPI ranks", session->app->comm.size, NULL},
        {"threads", "1", "threads of each rank", sf_app_threads(session->app), NULL},
        {"engine_memory", "bytes", "held by the engine of rank 0", engine ? (double)sf_engine_memory(engine) : 0, NULL},
        {"resident_memory_max", "bytes", "most memory of rank 0", (double)usage.ru_maxrss * 1024, NULL},
        {"evaluations", "1", "sequences evaluated, on all ranks together", (double)session->evaluated, NULL},
        {"first_generation", "1", "generation this launch began after; -1: at the beginning",
         (double)session->first_generation, NULL},
        {"checkpoints", "1", "checkpoints written", session->n_saves, NULL},
        {"time_open", "s", "wall time to open the engine", session->open_s, NULL},
        {"time_search", "s", "wall time of the search", session->search_s, NULL},
        {"time_checkpoints", "s", "wall time to write checkpoints", session->save_s, NULL},
        {"time_write", "s", "wall time to write the finished file", session->write_s, NULL},
        {"time_total", "s", "wall time of the launch so far", sf_now() - session->start_s, NULL},
    };
    size_t n = 15;
    for (int i = 0; i < options->n; i++) {
        if (options->option[i]->result)
            continue;
        snprintf(name[i], sizeof name[i], "options/%s", options->option[i]->name);
        sf_option_text(options, i, sizeof text[i], text[i]);
        entries[n++] = (sf_perf_entry){name[i], "", options->option[i]->help, 0, text[i]};
    }
    return sf_perf_file_write(session->paths.perf, n, entries, err);
}

/* The run file anew, in canonical form, with its best levels; then the checkpoints are not needed any more. */
static int finish(sf_session *session, sf_error *err)
{
    double start = sf_now();
    sf_phase_begin(SF_PHASE_WRITE);
    sf_level *levels = NULL;
    size_t n = 0;
    int code = sf_best_levels(&session->problem, &session->record.known, STORED_LEVELS, &levels, &n, err);
    if (!code) {
        session->meta.state = "finished";
        session->meta.n_levels = n;
        session->meta.levels = levels;
        code = sf_run_file_write(session->paths.output, &session->record, &session->meta, err);
        session->meta.n_levels = 0;
        session->meta.levels = NULL;
        session->write_s = sf_now() - start;
    }
    sf_best_levels_free(levels, n);
    if (!code)
        code = write_perf(session, err);
    if (!code)
        sf_run_paths_drop_checkpoints(&session->paths);
    return code;
}

static void say_done(const sf_session *session)
{
    char time[32], known[32];
    if (session->app->options.settings.quiet)
        return;
    fprintf(stderr, "%s: %" PRId64 " generations, %s sequences, best fitness %d, %s\n", session->paths.output,
            session->config.generations, sf_count_text(session->record.known.n, known),
            sf_record_best_fitness(&session->record), sf_seconds_text(sf_now() - session->start_s, time));
}

/* Replaces what the search said by one line on how to go on. */
static int say_stopped(const sf_session *session, sf_error *err)
{
    if (session->record.generation < 0)
        return sf_fail(err, SF_ESTOPPED, "stopped by %s before the first generation; go on with: starfold resume %s",
                       sf_stop_text(sf_stop_flag), session->paths.output);
    return sf_fail(
        err, SF_ESTOPPED, "stopped by %s after generation %" PRId64 " of %" PRId64 "; go on with: starfold resume %s",
        sf_stop_text(sf_stop_flag), session->record.generation, session->config.generations, session->paths.output);
}

/* ---- the whole ---- */

/* Ranks share work by numbers that the engine gives it, so all have the same one, within the memory that each can have.
 * What each would choose by itself depends on how much that is, and ranks of one node would all count on the same. */
static int agree_engine(const sf_session *session, sf_engine_options *options, size_t size, char *name, sf_error *err)
{
    const sf_app *app = session->app;
    const char *chosen = "";
    int code = sf_engine_choose(&session->problem, options, sf_session_genomes(session, -1), &chosen, err);
    code = sf_comm_agree(&app->comm, code, err);
    snprintf(name, size, "%s", chosen);
    if (!code)
        code = sf_comm_broadcast(&app->comm, size, name, err);
    options->engine = name;
    return code;
}

static int open_puzzle(sf_session *session, sf_error *err)
{
    sf_engine_options options;
    double start = sf_now();
    char name[SF_TEXT_SIZE] = "";
    sf_phase_begin(SF_PHASE_OPEN);
    sf_app_engine_options(session->app, &options);
    sf_app_table_prefer(session->app, &session->problem, &options);
    options.stop = &sf_stop_flag;
    int code = sf_table_place_choose(&session->place, session->app, &session->problem, &options, err);
    if (!code)
        code = agree_engine(session, &options, sizeof name, name, err);
    if (!code)
        code = sf_table_place_fill(&session->place, session->app, &session->problem, &options, err);
    if (!code)
        code = sf_puzzle_open_chain(&session->puzzle, &session->problem, &options, sf_session_genomes(session, -1), err);
    code = sf_comm_agree(&session->app->comm, code, err);
    sf_table_place_opened(&session->place, &options);
    session->open_s = sf_now() - start;
    return code;
}

static void say_how_to_resume(const char *output)
{
    char command[SF_TEXT_SIZE + 32];
    snprintf(command, sizeof command, "starfold resume %s", output);
    sf_stop_say_at_once(command);
}

/* Any rank. */
static void advise_to_resume(const sf_session *session)
{
    char advice[SF_TEXT_SIZE + 64];
    snprintf(advice, sizeof advice, "go on with: starfold resume %s", session->paths.output);
    sf_peers_advise(advice);
}

/* Rank 0: the first checkpoint in the place of what a run that is replaced left. Nothing of that goes before the new
 * checkpoint is written; nothing of it may outlive this, or `resume` would take the one run for the other. */
static int save_first(sf_session *session, sf_error *err)
{
    const sf_run_paths *paths = &session->paths;
    int code = sf_run_file_write(paths->next, &session->record, &session->meta, err);
    if (code) {
        sf_run_paths_sweep(paths);
        return code;
    }
    unlink(paths->previous);
    unlink(paths->checkpoint);
    if (!session->resumed)
        unlink(paths->output);
    session->n_saves++;
    code = sf_run_paths_install_checkpoint(paths, err);
    if (!code)
        say_how_to_resume(paths->output);
    return code;
}

/* Where a run that was stopped goes on. */
static void say_where(const sf_session *session)
{
    if (session->record.generation < 0)
        fprintf(stderr, "%s goes on before the first of %" PRId64 " generations\n", session->paths.output,
                session->config.generations);
    else
        fprintf(stderr, "%s goes on at generation %" PRId64 " of %" PRId64 "\n", session->paths.output,
                session->record.generation, session->config.generations);
}

/* Rank 0: a checkpoint and then the live file, as far as the record goes, so that a run can go on from the moment its
 * file is there: the first generation of long chains may take hours. */
static int begin(sf_session *session, sf_error *err)
{
    session->first_generation = session->record.generation;
    session->save_due_s = next_save_s(session, 0);
    sf_run_paths_sweep(&session->paths);
    int code = session->has_checkpoint ? 0 : save_first(session, err);
    if (!code)
        code = sf_live_file_create(&session->live, session->paths.output, &session->record, &session->meta, err);
    if (!code && session->resumed && !session->app->options.settings.quiet)
        say_where(session);
    return code;
}

/* Rank 0: asked to stop while the engine was made. What there is to go on from is an empty record. */
static int save_empty(sf_session *session, sf_error *err)
{
    sf_error failed = {0, ""};
    int code = begin(session, &failed);
    return code ? sf_fail(err, code, "%s", failed.text) : SF_ESTOPPED;
}

/* How the ranks work together, which no result depends on. A generation of short chains is evaluated in less time than
 * threads take to meet; then one thread is faster, above all where others use the cores too. Ranks share the genomes of
 * all islands where it pays: with ranks that have no island as soon as a generation takes longer than a round of
 * messages, else where it makes up for going in step (8 islands of 20 residues on 2 ranks: 0.69 s shared, 0.56 s
 * apart). Rank 0 decides: the ranks' estimates may differ. */
typedef struct layout {
    int n_threads;
    bool share;
} layout;

static int choose_layout(const sf_session *session, layout *l, sf_error *err)
{
    const sf_search_config *config = &session->config;
    const sf_engine *engine = sf_puzzle_engine(&session->puzzle);
    double ranks = session->app->comm.size, islands = (double)config->trials * config->islands;
    sf_engine_options options;
    sf_engine_cost cost;
    *l = (layout){.n_threads = sf_app_threads(session->app)};
    sf_app_engine_options(session->app, &options);
    if (engine && sf_engine_estimate(sf_engine_name(engine), &session->problem, &options, &cost, NULL) == 0) {
        double generation_s = cost.sequence_s * config->trials * config->islands * config->population / ranks;
        l->share = ranks > 1 && generation_s > (ranks > islands ? MESSAGES_S : STEP_S);
        if (generation_s < MEETING_S)
            l->n_threads = 1;
    }
    return sf_comm_broadcast(&session->app->comm, sizeof *l, l, err);
}

static int search(sf_session *session, sf_error *err)
{
    sf_app *app = session->app;
    bool speaks = sf_app_speaks(app);
    const sf_search_hooks hooks = {session, on_block, on_save, &sf_stop_flag, on_fatal};
    layout l;
    int code = choose_layout(session, &l, err);
    if (!code)
        code = sf_comm_agree(&app->comm, speaks ? begin(session, err) : 0, err);
    if (code)
        return code;
    advise_to_resume(session);
    const sf_search_options options = {.n_threads = l.n_threads,
                                       .share_evaluation = l.share,
                                       .save_first = !session->resumed,
                                       .checkpoint_interval = app->options.settings.checkpoint_interval};
    double start = sf_now();
    sf_progress_start(&session->progress, app);
    sf_phase_begin(SF_PHASE_COUNT);
    code = sf_search_run(&app->comm, &session->puzzle, &session->config, &options, speaks ? &session->record : NULL,
                         &hooks, err);
    sf_progress_end(&session->progress);
    session->search_s = sf_now() - start - session->save_s;
    sf_live_file_close(session->live);
    session->live = NULL;
    if (!code && speaks)
        code = finish(session, err);
    return sf_comm_agree(&app->comm, code, err);
}

int sf_session_search(sf_session *session, sf_error *err)
{
    sf_app *app = session->app;
    const sf_settings *settings = &app->options.settings;
    bool speaks = sf_app_speaks(app);
    session->start_s = sf_now();
    if (speaks && session->has_checkpoint)
        say_how_to_resume(session->paths.output);
    else if (speaks)
        sf_stop_say_at_once(NULL);
    int code = sf_stop_watch(session->paths.stop, settings->time_limit_ms, speaks, err);
    code = sf_comm_agree(&app->comm, code, err);
    if (session->resumed)
        advise_to_resume(session);
    if (!code)
        code = open_puzzle(session, err);
    if (!speaks)
        sf_stop_end(); /* every rank opens a puzzle by itself; later rank 0 tells the others */
    if (!code)
        code = search(session, err);
    else if (code == SF_ESTOPPED && !session->resumed)
        code = sf_comm_agree(&app->comm, speaks ? save_empty(session, err) : code, err);
    sf_live_file_close(session->live);
    session->live = NULL;
    sf_stop_end();
    sf_peers_forget();
    if (speaks && (!code || code == SF_ESTOPPED))
        unlink(session->paths.stop); /* obeyed, or too late */
    if (!code && speaks)
        say_done(session);
    return code == SF_ESTOPPED && speaks ? say_stopped(session, err) : code;
}

void sf_session_free(sf_session *session)
{
    sf_puzzle_close(&session->puzzle);
    sf_table_place_close(&session->place);
    sf_record_free(&session->record);
    sf_run_paths_unlock(&session->paths);
}

/* starfold run: the island search. */
#include "app/explain.h"
#include "app/session.h"

/* Rank 0, before any work: may the output be written, and is nobody else at it? */
static int claim_output(sf_session *session, sf_error *err)
{
    const sf_settings *settings = &session->app->options.settings;
    const sf_run_paths *paths = &session->paths;
    const char *found = sf_path_exists(paths->output)       ? paths->output
                        : sf_path_exists(paths->checkpoint) ? paths->checkpoint
                        : sf_path_exists(paths->previous)   ? paths->previous
                                                            : NULL;
    int code = sf_path_check_output(paths->output, err);
    if (code)
        return code;
    if (found && !settings->force)
        return sf_fail(err, SF_EEXIST,
                       "%.200s exists; choose another output, replace it with --force, or go on with: "
                       "starfold resume %.150s",
                       found, paths->output);
    code = sf_run_paths_lock(&session->paths, err);
    if (!code)
        code =
            sf_record_init(&session->record, &session->config, session->problem.length, session->problem.n_scores, err);
    return code;
}

static int run(sf_app *app, sf_error *err)
{
    static sf_session session;
    int code = sf_session_configure(&session, app, err);
    if (!code && !app->options.settings.output[0] && !app->options.settings.explain)
        code = sf_fail(err, SF_EINPUT, "--output is needed: the run file to write, as --output RUN.h5");
    code = sf_comm_agree(&app->comm, code, err);
    if (code)
        return code;
    if (app->options.settings.explain)
        return sf_session_explain(&session, -1, err);
    sf_run_paths_init(&session.paths, app->options.settings.output);
    code = sf_refuse_over(app, &session.problem, sf_session_genomes(&session, -1), err);
    code = sf_comm_agree(&app->comm, !code && sf_app_speaks(app) ? claim_output(&session, err) : code, err);
    if (!code)
        code = sf_session_search(&session, err);
    sf_session_free(&session);
    return code;
}

static const sf_option_group *const groups[] = {
    &sf_group_run, &sf_group_search, &sf_group_problem, &sf_group_output, &sf_group_engine,
    &sf_group_table, &sf_group_common, NULL};

const sf_command sf_command_run = {
    .name = "run",
    .words = "",
    .summary = "search for good puzzles with islands of a genetic algorithm",
    .text =
        "Breeds sequences for many distinct scores on islands spread over ranks, and writes all it learns to one HDF5 "
        "file. The file is the same byte for byte on any number of ranks and threads. SIGUSR1, SIGTERM, a file "
        "RUN.h5.stop or the time limit end it early with a checkpoint and status 75; 'starfold resume' goes on.",
    .groups = groups,
    .run = run,
};

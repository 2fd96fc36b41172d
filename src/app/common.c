/* What several commands share: threads, the problem, numbers for people. */
#include "app/app.h"

#include <errno.h>
#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

bool sf_app_speaks(const sf_app *app)
{
    return app->comm.rank == 0;
}

/* A positive number in the environment, or 0. */
static int environment_number(const char *name)
{
    const char *text = getenv(name);
    long value = text ? strtol(text, NULL, 10) : 0;
    return value >= 1 && value <= 4096 ? (int)value : 0;
}

/* Several ranks usually share the cores of a node, so they take more than one thread only when told to. */
int sf_app_threads(const sf_app *app)
{
    if (app->options.settings.threads)
        return (int)app->options.settings.threads;
    int n = environment_number("OMP_NUM_THREADS");
    if (!n)
        n = environment_number("SLURM_CPUS_PER_TASK");
    if (!n)
        n = app->comm.size > 1 ? 1 : omp_get_max_threads();
    return n;
}

int sf_app_problem(const sf_app *app, int length, sf_problem *problem, sf_error *err)
{
    const sf_lattice *lattice = sf_lattice_find(sf_lattice_names()[app->options.settings.lattice]);
    return sf_problem_init(problem, lattice, &app->options.settings.score_model, length, err);
}

void sf_app_engine_options(const sf_app *app, sf_engine_options *options)
{
    const sf_settings *settings = &app->options.settings;
    int idx = sf_options_find(&app->options, "engine");
    sf_engine_options_init(options);
    if (idx >= 0)
        options->engine = app->options.option[idx]->choices()[settings->engine];
    options->n_threads = sf_app_threads(app);
    options->memory_limit = settings->memory_limit;
    options->node_limit = settings->node_limit;
    options->within_s = (double)settings->max_ms / 1e3 * options->n_threads * app->comm.size;
    if (sf_options_find(&app->options, "top-counts") >= 0)
        options->top_counts = (int)settings->top_counts;
    if (sf_options_find(&app->options, "known") >= 0)
        options->sets = settings->stores_scores;
    else
        options->sets = options->top_counts == 0;
}

/* What this rank's options say otherwise than rank 0's. */
static int compare_options(const sf_options *options, const sf_options *first, sf_error *err)
{
    static char mine[SF_TEXT_SIZE], theirs[SF_TEXT_SIZE];
    for (int i = 0; i < options->n; i++) {
        sf_option_text(options, i, sizeof mine, mine);
        sf_option_text(first, i, sizeof theirs, theirs);
        if (strcmp(mine, theirs) != 0)
            return sf_fail(err, SF_EMISMATCH,
                           "--%s is '%.60s' here but '%.60s' on rank 0; give all ranks the same options and files",
                           options->option[i]->name, mine, theirs);
    }
    return 0;
}

int sf_app_agree_options(const sf_app *app, sf_error *err)
{
    if (app->comm.size == 1)
        return 0;
    sf_options *first = malloc(sizeof *first);
    int code = first ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for comparing options");
    code = sf_comm_agree(&app->comm, code, err);
    if (!code) {
        *first = app->options;
        code = sf_comm_broadcast(&app->comm, sizeof first->settings, &first->settings, err);
    }
    if (!code)
        code = sf_comm_agree(&app->comm, compare_options(&app->options, first, err), err);
    free(first);
    return code;
}

int sf_app_flush(sf_error *err)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout))
        return sf_fail(err, SF_EIO, "cannot write standard output: %s", strerror(errno ? errno : EIO));
    return 0;
}

const char *sf_count_text(uint64_t count, char *text)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, count), at = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

const char *sf_bytes_text(uint64_t bytes, char *text)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    double value = (double)bytes;
    for (; value >= 1024 && unit < 6; unit++)
        value /= 1024;
    snprintf(text, 32, value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

const char *sf_seconds_text(double seconds, char *text)
{
    if (seconds < 1e-3)
        snprintf(text, 32, "%.3g us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, 32, "%.3g ms", seconds * 1e3);
    else if (seconds < 99.5)
        snprintf(text, 32, "%.3g s", seconds);
    else if (seconds < 5970)
        snprintf(text, 32, "%.0f min", seconds / 60);
    else if (seconds < 48 * 3600)
        snprintf(text, 32, "%.1f h", seconds / 3600);
    else if (seconds < 1000 * 86400.0)
        snprintf(text, 32, "%.1f days", seconds / 86400);
    else
        snprintf(text, 32, seconds < 3e13 ? "%.0f years" : "%.1e years", seconds / (365.25 * 86400));
    return text;
}

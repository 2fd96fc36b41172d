/* With a time limit the obvious way, to end the engine in the middle, leaves nothing proven. So long work is cut into
 * steps that end by themselves: sequence by sequence, and for the engine that proves bounds a growing budget of nodes.
 * The last finished step counts. */
#include "app/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/phases.h"
#include "app/progress.h"
#include "app/stop.h"
#include "app/table_source.h"
#include "dist/share_mpi.h"

enum { STEP_SEQUENCES = 16, BUDGET_GROWTH = 4 };
static const uint64_t FIRST_BUDGET = 100000; /* nodes */

typedef struct counting {
    const sf_app *app;
    sf_sequence_group *group;
    sf_engine_options options;
    sf_progress progress;
} counting;

static void show(void *context, size_t n_done, size_t n_parts)
{
    counting *c = context;
    char left[32];
    double elapsed = sf_progress_elapsed(&c->progress);
    if (n_done < n_parts && sf_progress_due(&c->progress))
        sf_progress_show(&c->progress, "%d residues: %zu of %zu parts, %s left", c->group->problem.length, n_done,
                         n_parts, sf_seconds_text(elapsed / (double)n_done * (double)(n_parts - n_done), left));
}

static uint64_t *row_of(const sf_sequence_group *group, size_t row)
{
    return group->histogram + row * (size_t)group->problem.n_scores;
}

/* Nothing is known of these sequences but that the straight walk has no contact. */
static void mark_unknown(sf_sequence_group *group, size_t first, size_t last)
{
    for (size_t row = first; row < last; row++) {
        for (int s = 0; s < group->problem.n_scores; s++)
            row_of(group, row)[s] = SF_COUNT_UNKNOWN;
        row_of(group, row)[-group->problem.min_score] = SF_COUNT_SOME;
    }
}

/* Counts rows first..last-1 with an engine opened with c->options. */
static int count_rows(counting *c, const sf_engine *engine, size_t first, size_t last, uint64_t *histograms,
                      sf_error *err)
{
    return sf_share_histograms(&c->app->comm, engine, c->group->problem.n_scores, last - first,
                               c->group->elements + first * (size_t)c->group->problem.length, c->options.n_threads,
                               histograms, show, c, err);
}

static int open_engine(counting *c, sf_engine **engine, sf_error *err)
{
    sf_app_maps maps;
    sf_phase_begin(SF_PHASE_OPEN);
    int code = sf_app_maps_for_engine(c->app, &c->group->problem, &c->options, &maps, err);
    if (!code)
        code = sf_engine_open(engine, &c->group->problem, &c->options, c->group->n, err);
    code = sf_comm_agree(&c->app->comm, code, err);
    sf_app_maps_free(&maps);
    c->options.maps = NULL;
    sf_phase_begin(SF_PHASE_COUNT);
    if (!code)
        snprintf(c->group->engine, sizeof c->group->engine, "%s", sf_engine_name(*engine));
    return code;
}

/* The engine that counts: a step is some sequences. */
static int count_in_steps(counting *c, bool limited, sf_error *err)
{
    sf_engine *engine = NULL;
    size_t step = limited ? STEP_SEQUENCES : c->group->n, done = 0;
    int code = open_engine(c, &engine, err);
    while (!code && done < c->group->n) {
        size_t last = c->group->n - done < step ? c->group->n : done + step;
        code = count_rows(c, engine, done, last, row_of(c->group, done), err);
        done = code ? done : last;
    }
    sf_engine_close(engine);
    if (limited && code == SF_ESTOPPED) {
        mark_unknown(c->group, done, c->group->n);
        code = 0;
    }
    return code;
}

static bool all_known(const sf_sequence_group *group, const uint64_t *histograms)
{
    for (size_t i = 0; i < group->n * (size_t)group->problem.n_scores; i++) {
        if (histograms[i] == SF_COUNT_UNKNOWN)
            return false;
    }
    return true;
}

/* The engine that proves: a step is all sequences with a budget of nodes. */
static int count_in_budgets(counting *c, sf_error *err)
{
    size_t bytes = c->group->n * (size_t)c->group->problem.n_scores * sizeof(uint64_t);
    uint64_t *trial = malloc(bytes);
    int code = trial ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %zu histograms", c->group->n);
    code = sf_comm_agree(&c->app->comm, code, err);
    mark_unknown(c->group, 0, c->group->n);
    for (c->options.node_limit = FIRST_BUDGET; !code; c->options.node_limit *= BUDGET_GROWTH) {
        sf_engine *engine = NULL;
        code = open_engine(c, &engine, err);
        if (!code)
            code = count_rows(c, engine, 0, c->group->n, trial, err);
        sf_engine_close(engine);
        if (!code)
            memcpy(c->group->histogram, trial, bytes);
        if (!code && (all_known(c->group, trial) || c->options.node_limit > UINT64_MAX / BUDGET_GROWTH))
            break;
    }
    free(trial);
    return code == SF_ESTOPPED ? 0 : code;
}

static int count_group(counting *c, sf_error *err)
{
    const sf_settings *settings = &c->app->options.settings;
    bool limited = settings->max_ms > 0;
    const char *name = "";
    sf_app_engine_options(c->app, &c->options);
    sf_app_table_prefer(c->app, &c->group->problem, &c->options);
    if (limited)
        c->options.stop = &sf_stop_flag;
    int code = sf_engine_choose(&c->group->problem, &c->options, c->group->n, &name, err);
    code = sf_comm_agree(&c->app->comm, code, err);
    if (code)
        return code;
    snprintf(c->group->engine, sizeof c->group->engine, "%s", name);
    /* the ranks' memory may differ: rank 0 chooses */
    code = sf_comm_broadcast(&c->app->comm, sizeof c->group->engine, c->group->engine, err);
    c->options.engine = c->group->engine;
    if (code)
        return code;
    if (limited && !settings->node_limit && strcmp(c->group->engine, "bound") == 0)
        return count_in_budgets(c, err);
    return count_in_steps(c, limited, err);
}

int sf_count_sequences(const sf_app *app, sf_sequence_list *list, sf_error *err)
{
    counting c = {.app = app};
    uint64_t max_ms = app->options.settings.max_ms;
    int code = max_ms ? sf_comm_agree(&app->comm, sf_stop_watch("", max_ms, true, err), err) : 0;
    sf_progress_start(&c.progress, app);
    for (int length = SF_LENGTH_MIN; length <= SF_LENGTH_MAX; length++) { /* short ones first: a limit hits the long */
        for (size_t g = 0; !code && g < list->n_groups; g++) {
            c.group = &list->group[g];
            if (c.group->problem.length == length)
                code = count_group(&c, err);
        }
    }
    sf_progress_end(&c.progress);
    sf_stop_end();
    return code;
}

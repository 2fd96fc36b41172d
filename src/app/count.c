/* With a time limit, engines that count leave the sequences whose parts are all counted by then. The engine that proves
 * may be at one of many sequences for days, so its work is cut into steps of a growing budget of nodes for each that is
 * not done; what is proven of any in any step, also of those at work when the time is over, is kept. */
#include "app/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/enumeration.h"
#include "app/explain.h"
#include "app/phases.h"
#include "app/progress.h"
#include "app/stop.h"
#include "app/table_place.h"
#include "dist/share_mpi.h"

enum { BUDGET_GROWTH = 4 };
static const uint64_t FIRST_BUDGET = 100000, FIRST_OF_MANY = 20000; /* nodes */

typedef struct counting {
    const sf_app *app;
    sf_sequence_group *group;
    sf_deal *deal;
    sf_engine_options options;
    sf_table_place place;
    sf_progress progress;
    double start_s;           /* of this group */
    size_t n_before;          /* parts counted before */
    double share_before;      /* of the work, likewise */
    size_t n_workers;         /* threads of all ranks */
    uint64_t conformations;   /* of a sequence, where the work goes with them; 0: with the parts */
    bool guess;               /* parts differ widely */
    sf_enumeration_run *kept; /* NULL without --output */
} counting;

static void show(counting *c, const sf_tally *tally)
{
    char left[64] = "", text[32];
    if (tally->n_done == c->n_before || tally->n_done == tally->plan.n_parts || !sf_progress_due(&c->progress))
        return;
    const double left_s = sf_share_left_s(c->share_before, sf_tally_share(tally, c->conformations, c->n_workers),
                                          sf_now() - c->start_s);
    if (left_s >= 0)
        snprintf(left, sizeof left, ", %s%s left", c->guess ? "perhaps " : "about ", sf_seconds_text(left_s, text));
    sf_progress_show(&c->progress, "%d residues: %zu of %zu parts%s", c->group->problem.length, tally->n_done,
                     tally->plan.n_parts, left);
}

/* From now on the time left is reckoned. */
static void start_clock(counting *c, const sf_engine *engine, const sf_tally *tally)
{
    const sf_problem *problem = &c->group->problem;
    c->start_s = sf_now();
    c->n_before = tally->n_done;
    c->n_workers = (size_t)c->app->comm.size * (size_t)c->options.n_threads;
    c->guess = strcmp(sf_engine_name(engine), "bound") == 0; /* one proof may take as long as all others */
    c->conformations =
        sf_engine_by_conformations(engine) ? sf_lattice_conformations(problem->lattice, problem->length) : 0;
    c->share_before = sf_tally_share(tally, c->conformations, 0);
}

static int look(void *context, const sf_tally *tally, sf_error *err)
{
    counting *c = context;
    show(c, tally);
    return c->kept ? sf_enumeration_look(c->kept, tally, err) : 0;
}

static uint64_t *row_of(const sf_sequence_group *group, size_t row)
{
    return group->histogram + row * (size_t)group->problem.n_scores;
}

/* Nothing is known of this sequence but that the straight walk has no contact. */
static void mark_unknown(sf_sequence_group *group, size_t row)
{
    for (int s = 0; s < group->problem.n_scores; s++)
        row_of(group, row)[s] = SF_COUNT_UNKNOWN;
    row_of(group, row)[-group->problem.min_score] = SF_COUNT_SOME;
}

/* Those of which a part is missing. */
static void mark_unfinished(sf_sequence_group *group, const sf_tally *tally)
{
    for (size_t part = 0; part < tally->plan.n_parts; part++) {
        size_t first, count;
        sf_plan_part(&tally->plan, part, &first, &count);
        for (size_t i = 0; i < count && !sf_tally_has(tally, part); i++)
            mark_unknown(group, first + i);
    }
}

static int open_engine(counting *c, sf_engine **engine, sf_error *err)
{
    sf_phase_begin(SF_PHASE_OPEN);
    int code = sf_table_place_fill(&c->place, c->app, &c->group->problem, &c->options, err);
    if (!code)
        code = sf_engine_open(engine, &c->group->problem, &c->options, c->group->n, err);
    code = sf_comm_agree(&c->app->comm, code, err);
    sf_table_place_opened(&c->place, &c->options);
    sf_phase_begin(SF_PHASE_COUNT);
    if (!code)
        snprintf(c->group->engine, sizeof c->group->engine, "%s", sf_engine_name(*engine));
    return code;
}

/* One run of the engine over the group. `limited`: that the time is over is no failure, but *stopped. */
static int count_all(counting *c, bool limited, bool *stopped, sf_error *err)
{
    const sf_comm *comm = &c->app->comm;
    sf_share_work work = {.sequences = c->group->elements,
                          .n_threads = c->options.n_threads,
                          .stop = c->options.stop,
                          .look = look,
                          .context = c};
    sf_engine *engine = NULL;
    sf_tally tally = {0};
    int code = open_engine(c, &engine, err);
    work.engine = engine;
    if (!code) {
        code = sf_tally_init(&tally, engine, c->group->problem.n_scores, c->group->n, c->group->elements,
                             c->group->histogram, err);
        if (!code && c->kept && comm->rank == 0)
            code = sf_enumeration_restore(c->kept, c->group->engine, &tally, err);
        if (!code)
            start_clock(c, engine, &tally);
        code = sf_share_run(c->deal, comm, &tally, &work, code, err);
    }
    *stopped = limited && code == SF_ESTOPPED;
    if (*stopped) {
        for (size_t row = 0; row < c->group->n && !tally.done; row++) /* stopped while the engine was made */
            mark_unknown(c->group, row);
        if (tally.done)
            mark_unfinished(c->group, &tally);
        code = 0;
    }
    if (c->kept)
        code = sf_comm_agree(comm, comm->rank == 0 ? sf_enumeration_end(c->kept, &tally, code, err) : code, err);
    sf_tally_free(&tally);
    sf_engine_close(engine);
    return code;
}

/* What either step has proven. */
static void merge_step(uint64_t *histogram, const uint64_t *step, int n_scores)
{
    for (int s = 0; s < n_scores; s++) {
        if (histogram[s] == SF_COUNT_UNKNOWN || (histogram[s] == SF_COUNT_SOME && step[s] != SF_COUNT_UNKNOWN))
            histogram[s] = step[s];
    }
}

/* The sequences of the group that are not settled, into `rest`; `row` says which they are. */
static void take_unsettled(const counting *c, const sf_sequence_group *group, sf_sequence_group *rest, size_t *row)
{
    const size_t length = (size_t)group->problem.length;
    rest->n = 0;
    for (size_t i = 0; i < group->n; i++) {
        if (sf_histogram_settled(group->problem.n_scores, row_of(group, i), c->options.top_counts))
            continue;
        memcpy(rest->elements + rest->n * length, group->elements + i * length, length);
        row[rest->n++] = i;
    }
}

/* The engine that proves: a step is all sequences that are not settled, with a budget of nodes each. */
static int count_in_budgets(counting *c, sf_error *err)
{
    sf_sequence_group *group = c->group, rest = *group;
    const int n_scores = group->problem.n_scores;
    bool stopped = false;
    rest.elements = malloc(group->n * (size_t)group->problem.length);
    rest.histogram = malloc(group->n * (size_t)n_scores * sizeof *rest.histogram);
    size_t *row = malloc(group->n * sizeof *row);
    int code = rest.elements && rest.histogram && row
                   ? 0
                   : sf_fail(err, SF_ENOMEM, "out of memory for %zu histograms", group->n);
    code = sf_comm_agree(&c->app->comm, code, err);
    for (size_t i = 0; i < group->n; i++)
        mark_unknown(group, i);
    c->group = &rest;
    c->options.node_limit = group->n > 1 ? FIRST_OF_MANY : FIRST_BUDGET;
    for (bool last = false; !code && !stopped && !last; c->options.node_limit *= BUDGET_GROWTH) {
        last = c->options.node_limit > UINT64_MAX / BUDGET_GROWTH;
        take_unsettled(c, group, &rest, row);
        if (rest.n == 0)
            break;
        code = count_all(c, true, &stopped, err);
        for (size_t i = 0; !code && i < rest.n; i++)
            merge_step(row_of(group, row[i]), row_of(&rest, i), n_scores);
    }
    memcpy(group->engine, rest.engine, sizeof group->engine);
    c->group = group;
    free(row);
    free(rest.histogram);
    free(rest.elements);
    return code;
}

static int choose_and_count(counting *c, sf_error *err)
{
    const sf_settings *settings = &c->app->options.settings;
    bool limited = settings->max_ms > 0;
    bool stopped;
    const char *name = "";
    sf_app_engine_options(c->app, &c->options);
    sf_app_table_prefer(c->app, &c->group->problem, &c->options);
    if (limited || c->kept)
        c->options.stop = &sf_stop_flag;
    c->options.keep_stopped = limited && !c->kept; /* a file keeps only what is finished */
    if (c->kept && c->kept->engine[0])
        c->options.engine = c->kept->engine;
    int code = sf_table_place_choose(&c->place, c->app, &c->group->problem, &c->options, err);
    if (code)
        return code;
    code = sf_engine_choose(&c->group->problem, &c->options, c->group->n, &name, err);
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
    return count_all(c, limited, &stopped, err);
}

static int count_group(counting *c, sf_error *err)
{
    int code = choose_and_count(c, err);
    sf_table_place_close(&c->place);
    return code;
}

static int count_groups(counting *c, sf_sequence_list *list, sf_error *err)
{
    int code = sf_deal_open(&c->deal, &c->app->comm, err);
    for (int length = SF_LENGTH_MIN; length <= SF_LENGTH_MAX; length++) { /* short ones first: a limit hits the long */
        for (size_t g = 0; !code && g < list->n_groups; g++) {
            c->group = &list->group[g];
            if (c->group->problem.length == length)
                code = count_group(c, err);
        }
    }
    sf_deal_close(c->deal);
    return code;
}

/* Does what is left take longer than --refuse-over allows? Rank 0 knows what is left. */
static int refuse(const counting *c, const sf_sequence_list *list, sf_error *err)
{
    int code = 0;
    const double left = c->kept ? sf_enumeration_left(c->kept) : 1;
    double seconds = 0;
    for (size_t g = 0; sf_app_speaks(c->app) && !code && g < list->n_groups; g++)
        code = sf_refuse_rest_over(c->app, &list->group[g].problem, list->group[g].n, c->kept ? c->kept->engine : "",
                                   left, &seconds, err);
    return sf_comm_agree(&c->app->comm, code, err);
}

int sf_count_sequences(const sf_app *app, sf_sequence_list *list, sf_error *err)
{
    static sf_enumeration_run kept;
    counting c = {.app = app, .kept = app->options.settings.output[0] ? &kept : NULL};
    uint64_t max_ms = app->options.settings.max_ms;
    int code = 0;
    if (c.kept)
        code = sf_comm_agree(&app->comm, sf_enumeration_open(c.kept, app, list, err), err);
    if (!code)
        code = refuse(&c, list, err);
    if (!code && !c.kept && max_ms)
        code = sf_comm_agree(&app->comm, sf_stop_watch("", max_ms, true, err), err);
    sf_progress_start(&c.progress, app);
    if (!code && c.kept && c.kept->finished)
        snprintf(list->group->engine, sizeof list->group->engine, "file");
    else if (!code)
        code = count_groups(&c, list, err);
    sf_progress_end(&c.progress);
    if (c.kept || code)
        sf_stop_end(); /* else --max-seconds goes on for the examples; the caller ends it */
    if (c.kept)
        sf_enumeration_close(c.kept);
    return code;
}

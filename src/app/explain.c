/* Every engine is asked what the work would cost. The same estimates choose in `auto`; here they are shown and compared
 * with --refuse-over. */
#include "app/explain.h"

#include <stdio.h>
#include <string.h>

#include "app/json.h"
#include "app/table_place.h"

enum { ENGINES_MAX = 16 };

typedef struct estimate {
    const char *name;
    int code; /* not 0: the engine cannot do it, `why` tells */
    sf_engine_cost cost;
    double seconds; /* wall clock over the threads and ranks at hand */
    char why[SF_ERROR_TEXT_SIZE];
} estimate;

/* Opening is done by every rank for itself; the sequences are shared. */
static double wall_seconds(const sf_app *app, const sf_engine_cost *cost, size_t n)
{
    double threads = sf_app_threads(app);
    return cost->open_s / threads + cost->sequence_s * (double)n / (threads * app->comm.size);
}

static void take_options(const sf_app *app, const sf_problem *problem, sf_engine_options *options)
{
    sf_app_engine_options(app, options);
    sf_app_table_prefer(app, problem, options);
}

/* Estimates of all engines; returns the index of the one that would be taken, or -1, then `err` says why. */
static int estimate_all(const sf_app *app, const sf_problem *problem, size_t n, const sf_engine_options *options,
                        estimate *all, int *n_engines, sf_error *err)
{
    const char *const *names = sf_engine_names(), *chosen = NULL;
    int best = -1;
    (void)sf_engine_calibrate();
    if (sf_engine_choose(problem, options, n, &chosen, err) != 0)
        chosen = NULL;
    for (*n_engines = 0; names[*n_engines] && *n_engines < ENGINES_MAX; (*n_engines)++) {
        estimate *e = &all[*n_engines];
        sf_error why = {0, ""};
        e->name = names[*n_engines];
        e->code = sf_engine_estimate(e->name, problem, options, &e->cost, &why);
        snprintf(e->why, sizeof e->why, "%s", why.text);
        e->seconds = e->code ? 0 : wall_seconds(app, &e->cost, n);
        if (chosen && strcmp(chosen, e->name) == 0)
            best = *n_engines;
    }
    return best;
}

/* Most bytes that a rank takes, and all ranks of a node together. */
static uint64_t rank_bytes(const estimate *e, const sf_table_place *place)
{
    return strcmp(e->name, "table") == 0 ? place->rank_bytes : e->cost.memory_bytes;
}

static uint64_t node_bytes(const estimate *e, const sf_table_place *place)
{
    return strcmp(e->name, "table") == 0 ? place->node_bytes : e->cost.memory_bytes * (uint64_t)place->n_ranks;
}

static int explain_json(const sf_problem *problem, size_t n, const estimate *all, int n_engines, int best,
                        const sf_table_place *place, const char *why, sf_error *err)
{
    char text[32];
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "lattice", problem->lattice->name);
    sf_json_add_integer(document, "length", problem->length);
    sf_json_add_count(document, "sequences", n);
    if (best >= 0)
        cJSON_AddStringToObject(document, "engine", all[best].name);
    else
        cJSON_AddNullToObject(document, "engine");
    if (best < 0)
        cJSON_AddStringToObject(document, "refused", why);
    cJSON *list = cJSON_AddArrayToObject(document, "engines");
    for (int i = 0; i < n_engines; i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "engine", all[i].name);
        cJSON_AddBoolToObject(object, "possible", !all[i].code);
        if (all[i].code) {
            cJSON_AddStringToObject(object, "reason", all[i].why);
        } else {
            cJSON_AddNumberToObject(object, "seconds", all[i].seconds);
            sf_json_add_count(object, "memory_bytes", rank_bytes(&all[i], place));
            sf_json_add_count(object, "node_memory_bytes", node_bytes(&all[i], place));
            sf_json_add_count(object, "parts", all[i].cost.parts);
            cJSON_AddBoolToObject(object, "guess", all[i].cost.guess);
            if (strcmp(all[i].name, "table") == 0) {
                cJSON_AddStringToObject(object, "place", sf_table_place_text(place, text));
                sf_json_add_integer(object, "shards", place->n_shards);
            }
        }
        cJSON_AddItemToArray(list, object);
    }
    return sf_json_print(document, err);
}

/* How long a part takes is told, as a time limit must leave room for some. */
static const char *parts_text(const sf_engine_cost *cost, char text[96])
{
    char each[64] = "", time[32];
    if (cost->parts > 1 && !cost->guess)
        snprintf(each, sizeof each, " of %s", sf_seconds_text(cost->sequence_s / (double)cost->parts, time));
    snprintf(text, 96, ", %zu part%s%s a sequence", cost->parts, cost->parts == 1 ? "" : "s", each);
    return cost->parts ? text : "";
}

static void print_engine(const estimate *e, bool chosen, const sf_app *app, const sf_table_place *place)
{
    char time[32], memory[32], node[32], where[32], parts[96];
    if (e->code) {
        printf("  %-8s cannot: %s\n", e->name, e->why);
        return;
    }
    printf("  %-8s about %s%s, %s a rank", e->name, sf_seconds_text(e->seconds, time),
           e->cost.guess ? " (a guess: a chain may take a hundredth or a hundred times that)" : "",
           sf_bytes_text(rank_bytes(e, place), memory));
    if (app->comm.size > 1)
        printf(", %s a node", sf_bytes_text(node_bytes(e, place), node));
    if (app->comm.size > 1 && strcmp(e->name, "table") == 0)
        printf(" (%s)", sf_table_place_text(place, where));
    printf("%s%s\n", parts_text(&e->cost, parts), chosen ? "  <- would be taken" : "");
}

/* Whether it is the time there is that makes auto prove. */
static bool proves_for_time(const sf_problem *problem, size_t n, const sf_engine_options *options)
{
    const char *chosen = "", *without = "";
    sf_engine_options timeless = *options;
    timeless.within_s = 0;
    return options->within_s > 0 && sf_engine_choose(problem, options, n, &chosen, NULL) == 0 &&
           (sf_engine_choose(problem, &timeless, n, &without, NULL) != 0 || strcmp(chosen, without) != 0);
}

/* What the work itself would be refused with, beside what the engine says; SF_OK and nothing in `why` else. */
static int find_refusal(const sf_app *app, const estimate *best, double *before_s, const sf_error *refused, sf_error *why)
{
    char what[64];
    if (refused->code || best)
        *why = *refused; /* an engine that was looked at in vain may have left its reason */
    if (!best || why->code)
        return why->code;
    *before_s += best->seconds;
    snprintf(what, sizeof what, "engine %s", best->name);
    return sf_refuse_seconds(app, what, *before_s, why);
}

static int explain(const sf_app *app, const sf_problem *problem, size_t n, const sf_engine_options *options,
                   const sf_table_place *place, double *before_s, uint64_t beside, const sf_error *refused, sf_error *err)
{
    estimate all[ENGINES_MAX];
    sf_error why = {0, ""};
    int n_engines, best = estimate_all(app, problem, n, options, all, &n_engines, &why);
    for (int i = 0; i < n_engines; i++)
        all[i].cost.memory_bytes += beside;
    if (find_refusal(app, best < 0 ? NULL : &all[best], before_s, refused, &why))
        best = -1;
    char count[32];
    if (app->options.settings.format) {
        int code = explain_json(problem, n, all, n_engines, best, place, why.text, err);
        return code || best >= 0 ? code : sf_fail(err, why.code, "%s", why.text);
    }
    printf("%s sequence%s of %d residues on the %s lattice, %d rank%s of %d thread%s\n", sf_count_text(n, count),
           n == 1 ? "" : "s", problem->length, problem->lattice->name, app->comm.size, app->comm.size == 1 ? "" : "s",
           sf_app_threads(app), sf_app_threads(app) == 1 ? "" : "s");
    for (int i = 0; i < n_engines; i++)
        print_engine(&all[i], i == best, app, place);
    const sf_engine_speed speed = sf_engine_calibrate();
    printf("  %s, beside the machine the estimates are from: tables built in %.2f of the time, scanned in %.2f, walks in "
           "%.2f\n",
           app->options.settings.machine[0] ? app->options.settings.machine : "measured here", speed.build, speed.scan,
           speed.walk);
    if (best >= 0 && proves_for_time(problem, n, options))
        printf("  engine %s as --max-seconds is less than counting takes\n", all[best].name);
    return best < 0 ? sf_fail(err, why.code, "%s", why.text) : 0;
}

int sf_explain_beside(const sf_app *app, const sf_problem *problem, size_t n, double *before_s, uint64_t beside,
                      const sf_error *refused, sf_error *err)
{
    sf_engine_options options;
    sf_table_place place;
    take_options(app, problem, &options);
    if (options.memory_limit > beside)
        options.memory_limit -= beside;
    int code = sf_table_place_choose(&place, app, problem, &options, err);
    place.rank_bytes += beside;
    place.node_bytes += beside;
    if (!code && sf_app_speaks(app))
        code = explain(app, problem, n, &options, &place, before_s, beside, refused, err);
    sf_table_place_close(&place);
    return sf_comm_agree(&app->comm, code, err);
}

int sf_explain(const sf_app *app, const sf_problem *problem, size_t n, sf_error *err)
{
    const sf_error none = {0, ""};
    double before_s = 0;
    return sf_explain_beside(app, problem, n, &before_s, 0, &none, err);
}

int sf_refuse_seconds(const sf_app *app, const char *what, double seconds, sf_error *err)
{
    const uint64_t limit = app->options.settings.refuse_over_ms;
    char time[32], most[32];
    if (limit == 0 || seconds * 1e3 <= (double)limit)
        return 0;
    return sf_fail(err, SF_ELIMIT, "%s would take about %s, above the %s of --refuse-over", what,
                   sf_seconds_text(seconds, time), sf_seconds_text((double)limit / 1e3, most));
}

int sf_refuse_rest_over(const sf_app *app, const sf_problem *problem, size_t n, const char *engine, double left,
                        double *before_s, sf_error *err)
{
    estimate all[ENGINES_MAX];
    sf_engine_options options;
    char what[64];
    take_options(app, problem, &options);
    if (engine[0])
        options.engine = engine;
    const bool limited = app->options.settings.refuse_over_ms > 0;
    int n_engines, best = limited ? estimate_all(app, problem, n, &options, all, &n_engines, NULL) : -1;
    if (best < 0)
        return 0;
    *before_s += all[best].seconds * left;
    snprintf(what, sizeof what, "%sengine %s", left < 1 ? "what is left for " : "", all[best].name);
    return sf_refuse_seconds(app, what, *before_s, err);
}

int sf_refuse_over(const sf_app *app, const sf_problem *problem, size_t n, sf_error *err)
{
    double before_s = 0;
    return sf_refuse_rest_over(app, problem, n, "", 1, &before_s, err);
}

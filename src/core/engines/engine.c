/* The engines behind one door: the list of them, the choice, and the memory they may take. */
#include "starfold/engine.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/engines/engine_ops.h"
#include "core/engines/machine_speed.h"
#include "core/engines/parts_omp.h"

/* In the order of sf_engine_names; of two that cost the same, `auto` takes the first. */
static const sf_engine_ops *const engines[] = {
    &sf_engine_table,
    &sf_engine_walk,
    &sf_engine_bound,
};

static const double WORTH_MEASURING_S = 0.2;

enum { N_ENGINES = sizeof engines / sizeof engines[0], NAMES_SIZE = 128 };

struct sf_engine {
    const sf_engine_ops *ops;
    sf_problem problem;
    sf_engine_options options; /* memory_limit is a number of bytes; maps is not kept */
    void *state;
};

void sf_engine_options_init(sf_engine_options *options)
{
    *options = (sf_engine_options){.engine = "auto", .n_threads = 1, .top_counts = 1};
}

const char *const *sf_engine_names(void)
{
    static const char *names[N_ENGINES + 1];
    /* Threads that meet here write the same pointers. */
    for (int i = 0; i < N_ENGINES; i++)
        __atomic_store_n(&names[i], engines[i]->name, __ATOMIC_RELAXED);
    return names;
}

static int find(const char *name, const sf_engine_ops **ops, sf_error *err)
{
    char names[NAMES_SIZE] = "auto";
    for (int i = 0; i < N_ENGINES; i++) {
        if (strcmp(engines[i]->name, name) == 0) {
            *ops = engines[i];
            return SF_OK;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", engines[i]->name);
    }
    return sf_fail(err, SF_EINPUT, "there is no engine '%s'; engines are %s", name, names);
}

/* A number of bytes as people read it. */
static const char *bytes_text(uint64_t bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        value /= 1024;
    snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

static int check_options(const sf_engine_options *options, sf_error *err)
{
    if (options->n_threads < 1)
        return sf_fail(err, SF_EINPUT, "%d threads are asked for; at least 1 is needed", options->n_threads);
    if (options->top_counts < 0)
        return sf_fail(err, SF_EINPUT, "%d top counts are asked for; at least 0 are allowed", options->top_counts);
    if (options->n_shards > 1 && (options->shard < 0 || options->shard >= options->n_shards))
        return sf_fail(err, SF_EINPUT, "shard %d is asked for; shards of %d are numbered from 0", options->shard,
                       options->n_shards);
    return SF_OK;
}

static sf_engine_options with_memory(const sf_engine_options *options)
{
    sf_engine_options resolved = *options;
    if (resolved.memory_limit == 0)
        resolved.memory_limit = sf_memory_available();
    return resolved;
}

sf_engine_speed sf_engine_calibrate(void)
{
    return sf_machine_speed_measure();
}

void sf_engine_set_speed(sf_engine_speed speed)
{
    sf_machine_speed_set(speed);
}

/* Estimate on this machine, as far as it was measured. */
static int estimate_here(const sf_engine_ops *ops, const sf_problem *problem, const sf_engine_options *options,
                         sf_engine_cost *cost, sf_error *err)
{
    bool measured;
    const sf_engine_speed here = sf_machine_speed_known(&measured);
    *cost = (sf_engine_cost){0};
    if (options->sets && !ops->answers_sets)
        return sf_fail(err, SF_ELIMIT, "engine %s counts whole histograms, not sets of scores; take table or bound", ops->name);
    if (options->node_limit && ops->counts_everything)
        return sf_fail(err, SF_ELIMIT,
                       "node-limit counts nodes of engine bound alone, engine %s has none; leave the limit out, or take "
                       "engine bound",
                       ops->name);
    const int status = ops->estimate(problem, options, cost, err);
    cost->open_s *= ops == &sf_engine_table ? here.build : here.walk;
    cost->sequence_s *= ops == &sf_engine_table ? here.scan : here.walk;
    return status;
}

/* Estimate of an engine that also has to fit memory. */
static int fitting_estimate(const sf_engine_ops *ops, const sf_problem *problem, const sf_engine_options *options,
                            sf_engine_cost *cost, sf_error *err)
{
    char needed[32], allowed[32];
    int status = estimate_here(ops, problem, options, cost, err);
    if (status == SF_OK && cost->memory_bytes > options->memory_limit)
        return sf_fail(
            err, SF_ELIMIT,
            "engine %s needs %s of memory at length %d on the %s lattice, %s are allowed; raise the limit or "
            "take another engine",
            ops->name, bytes_text(cost->memory_bytes, needed), problem->length, problem->lattice->name,
            bytes_text(options->memory_limit, allowed));
    return status;
}

/* Whether `auto` counts every score of such chains or proves which scores there are. A rule of lattice, length and
 * model, not of cost: the two answers differ. At these lengths the fastest count takes about two minutes a sequence.
 * Proofs are strong for hp only; other models are counted at any length. */
static bool auto_counts(const sf_problem *problem)
{
    return !sf_score_model_is_hp(problem->model) || problem->length <= (problem->lattice->dimension == 2 ? 32 : 22);
}

static int choose_once(const sf_problem *problem, const sf_engine_options *options, size_t n_expected,
                       const sf_engine_ops **ops, double *best, sf_error *err)
{
    int status = SF_ELIMIT;
    *ops = NULL;
    *best = 0;
    for (int i = 0; i < N_ENGINES; i++) {
        sf_engine_cost cost;
        sf_error reason = {0};
        if (!options->sets && !engines[i]->counts_everything)
            continue;
        status = fitting_estimate(engines[i], problem, options, &cost, &reason);
        if (status != SF_OK) {
            if (err && !*ops)
                *err = reason; /* the last one's reason stands when none can */
            continue;
        }
        double total_s = cost.open_s + (double)n_expected * cost.sequence_s;
        if (!*ops || total_s < *best) {
            *ops = engines[i];
            *best = total_s;
        }
    }
    return *ops ? SF_OK : status;
}

/* The cheapest engine for n_expected sequences among those that count everything, or, with options->sets, among those
 * that answer sets, and its seconds. Where it takes long enough, the machine is measured first. */
static int choose(const sf_problem *problem, const sf_engine_options *options, size_t n_expected,
                  const sf_engine_ops **ops, double *best_s, sf_error *err)
{
    bool measured;
    int status = choose_once(problem, options, n_expected, ops, best_s, err);
    (void)sf_machine_speed_known(&measured);
    if (status != SF_OK || measured || *best_s < WORTH_MEASURING_S)
        return status;
    (void)sf_machine_speed_measure();
    return choose_once(problem, options, n_expected, ops, best_s, err);
}

/* An engine that proves, one that does not count everything, as far as it can do the problem. */
static int choose_proving(const sf_problem *problem, const sf_engine_options *options, const sf_engine_ops **ops,
                          sf_error *err)
{
    int status = SF_ELIMIT;
    for (int i = 0; status != SF_OK && i < N_ENGINES; i++) {
        sf_engine_cost cost;
        if (engines[i]->counts_everything)
            continue;
        status = fitting_estimate(engines[i], problem, options, &cost, err);
        if (status == SF_OK)
            *ops = engines[i];
    }
    return status;
}

/* What `auto` stands for. What cannot be proven, for want of memory, is counted; but a limit of nodes is one of proofs, and
 * what cannot be counted in the time there is, is proven as far as that goes. */
static int choose_auto(const sf_problem *problem, const sf_engine_options *options, size_t n_expected,
                       const sf_engine_ops **ops, sf_error *err)
{
    const sf_engine_ops *proving = NULL;
    double counting_s = 0;
    sf_error not_proven = {0};
    if (options->node_limit)
        return choose_proving(problem, options, ops, err);
    if (!options->sets && !auto_counts(problem) && choose_proving(problem, options, ops, &not_proven) == SF_OK)
        return SF_OK;
    int status = choose(problem, options, n_expected, ops, &counting_s, err);
    if (status != SF_OK && not_proven.code) /* what takes least is what to tell */
        status = sf_fail(err, not_proven.code, "%s", not_proven.text);
    if (options->within_s > 0 && (status != SF_OK || counting_s > options->within_s) &&
        choose_proving(problem, options, &proving, NULL) == SF_OK) {
        *ops = proving;
        return SF_OK;
    }
    return status;
}

int sf_engine_estimate(const char *name, const sf_problem *problem, const sf_engine_options *options,
                       sf_engine_cost *cost, sf_error *err)
{
    const sf_engine_ops *ops = NULL;
    int status = find(name, &ops, err);
    if (status != SF_OK || (status = check_options(options, err)) != SF_OK)
        return status;
    sf_engine_options resolved = with_memory(options);
    return estimate_here(ops, problem, &resolved, cost, err);
}

/* The engine that options ask for, when it can do the problem within the memory that `resolved` allows. */
static int choose_asked(const sf_problem *problem, const sf_engine_options *resolved, size_t n_expected,
                        const sf_engine_ops **ops, sf_error *err)
{
    sf_engine_cost cost;
    if (strcmp(resolved->engine, "auto") == 0)
        return choose_auto(problem, resolved, n_expected, ops, err);
    int status = find(resolved->engine, ops, err);
    return status != SF_OK ? status : fitting_estimate(*ops, problem, resolved, &cost, err);
}

int sf_engine_choose(const sf_problem *problem, const sf_engine_options *options, size_t n_expected, const char **name,
                     sf_error *err)
{
    const sf_engine_ops *ops = NULL;
    int status = check_options(options, err);
    if (status != SF_OK)
        return status;
    sf_engine_options resolved = with_memory(options);
    status = choose_asked(problem, &resolved, n_expected, &ops, err);
    if (status == SF_OK)
        *name = ops->name;
    return status;
}

int sf_engine_open(sf_engine **engine, const sf_problem *problem, const sf_engine_options *options, size_t n_expected,
                   sf_error *err)
{
    const sf_engine_ops *ops = NULL;
    *engine = NULL;
    int status = check_options(options, err);
    if (status != SF_OK)
        return status;
    sf_engine_options resolved = with_memory(options);
    status = choose_asked(problem, &resolved, n_expected, &ops, err);
    if (status != SF_OK)
        return status;

    sf_engine *e = malloc(sizeof *e);
    if (!e)
        return sf_fail(err, SF_ENOMEM, "no memory to open engine %s", ops->name);
    *e = (sf_engine){.ops = ops, .problem = *problem, .options = resolved};
    e->options.engine = ops->name;
    status = ops->open(&e->state, &e->problem, &e->options, err);
    e->options.maps = NULL;
    if (status != SF_OK) {
        free(e);
        return status;
    }
    *engine = e;
    return SF_OK;
}

void sf_engine_close(sf_engine *engine)
{
    if (!engine)
        return;
    engine->ops->close(engine->state);
    free(engine);
}

const char *sf_engine_name(const sf_engine *engine)
{
    return engine->ops->name;
}

int sf_engine_is_shard(const sf_engine *engine)
{
    return engine->ops == &sf_engine_table && engine->options.n_shards > 1;
}

bool sf_engine_by_conformations(const sf_engine *engine)
{
    return engine->ops->by_conformations && engine->ops->by_conformations(engine->state);
}

uint64_t sf_engine_memory(const sf_engine *engine)
{
    return sizeof *engine + engine->ops->memory(engine->state);
}

/* Elements index the weights of a model: none may be out of range. */
static int check_sequences(const sf_problem *problem, size_t n_sequences, const uint8_t *sequences, sf_error *err)
{
    const size_t length = (size_t)problem->length;
    for (size_t i = 0; i < n_sequences * length; i++) {
        if (sequences[i] >= problem->model->n_letters)
            return sf_fail(err, SF_EINPUT, "element %zu of sequence %zu is %d; score model %s has elements 0 to %d",
                           i % length + 1, i / length + 1, sequences[i], problem->model->name,
                           problem->model->n_letters - 1);
    }
    return SF_OK;
}

int sf_engine_plan(const sf_engine *engine, size_t n_sequences, const uint8_t *sequences, sf_plan *plan, sf_error *err)
{
    *plan = (sf_plan){.block = 1, .parts_per_block = 1};
    int status = check_sequences(&engine->problem, n_sequences, sequences, err);
    if (status == SF_OK && engine->ops->plan && n_sequences > 0)
        status = engine->ops->plan(engine->state, n_sequences, sequences, plan, err);
    return status == SF_OK ? sf_plan_complete(plan, n_sequences, err) : status;
}

typedef struct ranked_part {
    size_t part;
    uint64_t hardness;
} ranked_part;

static int compare_ranked(const void *a, const void *b)
{
    const ranked_part *x = a, *y = b;
    if (x->hardness != y->hardness)
        return x->hardness > y->hardness ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

int sf_engine_order(const sf_engine *engine, const sf_plan *plan, const uint8_t *sequences, size_t **order,
                    sf_error *err)
{
    const size_t n = plan->n_parts, length = (size_t)engine->problem.length;
    *order = NULL;
    if (!engine->ops->hardness || n < 2 || n != plan->n_sequences)
        return SF_OK;
    ranked_part *ranked = calloc(n, sizeof *ranked); /* calloc checks the product */
    size_t *found = calloc(n, sizeof *found);
    if (!ranked || !found) {
        free(ranked);
        free(found);
        return sf_fail(err, SF_ENOMEM, "out of memory for the order of %zu parts", n);
    }
    for (size_t i = 0; i < n; i++)
        ranked[i] = (ranked_part){i, engine->ops->hardness(&engine->problem, sequences + i * length)};
    qsort(ranked, n, sizeof *ranked, compare_ranked);
    for (size_t i = 0; i < n; i++)
        found[i] = ranked[i].part;
    free(ranked);
    *order = found;
    return SF_OK;
}

int sf_engine_evaluate(const sf_engine *engine, const sf_plan *plan, const uint8_t *sequences, size_t part,
                       uint64_t *partial, sf_error *err)
{
    return engine->ops->evaluate(engine->state, plan, sequences, part, partial, err);
}

int sf_engine_check(const sf_engine *engine, const uint64_t *histogram, sf_error *err)
{
    sf_summary summary;
    uint64_t known = sf_lattice_conformations(engine->problem.lattice, engine->problem.length);
    if (sf_histogram_summary(&engine->problem, histogram, &summary) != SF_OK)
        return sf_fail(err, SF_EOVERFLOW, "the counts of a histogram sum to more than 64 bits hold");
    if (summary.counted && known > 0 && summary.conformations != known)
        return sf_fail(
            err, SF_ECHECK,
            "engine %s counted %llu conformations of %d residues on the %s lattice, %llu are known; this is an "
            "error of the program or of the machine",
            engine->ops->name, (unsigned long long)summary.conformations, engine->problem.length,
            engine->problem.lattice->name, (unsigned long long)known);
    return SF_OK;
}

typedef struct batch {
    const sf_engine *engine;
    const uint8_t *sequences;
} batch;

static int evaluate_part(const void *context, const sf_plan *plan, size_t part, uint64_t *partial, sf_error *err)
{
    const batch *b = context;
    return sf_engine_evaluate(b->engine, plan, b->sequences, part, partial, err);
}

int sf_engine_histograms(const sf_engine *engine, size_t n_sequences, const uint8_t *sequences, uint64_t *histograms,
                         sf_error *err)
{
    const batch b = {.engine = engine, .sequences = sequences};
    const size_t n_scores = (size_t)engine->problem.n_scores;
    sf_plan plan;
    size_t *order = NULL;
    int status = sf_engine_plan(engine, n_sequences, sequences, &plan, err);
    if (status == SF_OK)
        status = sf_engine_order(engine, &plan, sequences, &order, err);
    if (status == SF_OK)
        status = sf_parts_run(&plan, order, engine->problem.n_scores, engine->options.n_threads, engine->options.stop,
                              evaluate_part, &b, histograms, err);
    free(order);
    for (size_t i = 0; status == SF_OK && !sf_engine_is_shard(engine) && i < n_sequences; i++)
        status = sf_engine_check(engine, histograms + i * n_scores, err);
    return status;
}

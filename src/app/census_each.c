/* The census sequence by sequence, with an engine: for other score models, and with --engine. A chain and its reverse fold
 * alike, so one of each pair is counted, for both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/census.h"
#include "app/explain.h"
#include "app/phases.h"
#include "app/progress.h"
#include "app/table_place.h"
#include "app/table_source.h"
#include "core/base/memory.h"
#include "dist/share_mpi.h"

/* As many sequences at a time as have room. */
enum { BATCH = 1 << 16, BATCH_COUNTS = 1 << 22, BATCH_LEAST = 64 };

size_t sf_census_n_counted(const sf_problem *problem)
{
    int letters = problem->model->n_letters;
    uint64_t all = sf_census_sequences(letters, problem->length);
    return (size_t)(all + sf_census_sequences(letters, (problem->length + 1) / 2)) / 2; /* palindromes have no other */
}

/* Sequence number x, residue 0 the highest digit, so that numbers are in the order of the letters. */
static void sequence_of(const sf_problem *problem, uint64_t x, uint8_t *elements)
{
    uint64_t letters = (uint64_t)problem->model->n_letters;
    for (int i = problem->length - 1; i >= 0; i--, x /= letters)
        elements[i] = (uint8_t)(x % letters);
}

/* Below, at or above 0: a chain comes before its reverse, is its reverse, or comes after it. */
static int compare_reverse(int length, const uint8_t *elements)
{
    int i = 0;
    while (i < length / 2 && elements[i] == elements[length - 1 - i])
        i++;
    return (int)elements[i] - (int)elements[length - 1 - i];
}

/* Fills sequences, from *next on, that do not come after their reverse; returns how many, at most `room`. */
static size_t fill_batch(const sf_problem *problem, uint64_t total, size_t room, uint64_t *next, uint8_t *elements)
{
    size_t n = 0;
    for (; n < room && *next < total; (*next)++) {
        uint8_t *here = elements + n * (size_t)problem->length;
        sequence_of(problem, *next, here);
        n += compare_reverse(problem->length, here) <= 0;
    }
    return n;
}

/* Number of a sequence, read forwards or backwards. */
static uint64_t number_of(const sf_problem *problem, const uint8_t *elements, bool forwards)
{
    uint64_t x = 0;
    for (int i = 0; i < problem->length; i++)
        x = x * (uint64_t)problem->model->n_letters + elements[forwards ? i : problem->length - 1 - i];
    return x;
}

/* What is kept of a sequence, and of its reverse, where it was asked for. There is room. */
static void keep_sequence(sf_app_census *c, const uint8_t *elements, const uint64_t *histogram, const sf_summary *summary,
                          uint64_t weight)
{
    uint64_t number = number_of(&c->problem, elements, true), reverse = number_of(&c->problem, elements, false);
    if (c->each_fitness) {
        c->each_fitness[number] = c->each_fitness[reverse] = (uint8_t)summary->distinct_scores;
        c->each_best[number] = c->each_best[reverse] = (uint8_t)(summary->best_score - c->problem.min_score);
    }
    if (c->shapes.n_scores > 0) {
        uint64_t *row = sf_shapes_row(&c->shapes, c->shapes.n++);
        memcpy(row, histogram, (size_t)c->shapes.n_scores * sizeof *row);
        row[c->shapes.n_scores] = weight;
        row[c->shapes.n_scores + 1] = number;
    }
}

static int add_sequence(const sf_app *app, sf_app_census *c, const uint8_t *elements, const uint64_t *histogram, sf_error *err)
{
    sf_summary summary;
    uint64_t weight = compare_reverse(c->problem.length, elements) == 0 ? 1 : 2;
    int code = sf_histogram_summary(&c->problem, histogram, &summary);
    if (code)
        return sf_fail(err, code, "the conformations of %d residues do not fit 64 bits", c->problem.length);
    int top = summary.best_score - c->problem.min_score, bottom = 0;
    while (histogram[bottom] == 0)
        bottom++;
    c->n_sequences += weight;
    c->fitness[summary.distinct_scores] += weight;
    c->max_score[top] += weight;
    c->n_unique += histogram[top] == 1 ? weight : 0;
    c->n_gaps += summary.distinct_scores < top - bottom + 1 ? weight : 0;
    if (app->comm.rank == 0)
        keep_sequence(c, elements, histogram, &summary, weight);
    return 0;
}

static void show(sf_progress *progress, uint64_t next, uint64_t total)
{
    char left[32];
    double elapsed = sf_progress_elapsed(progress);
    if (next < total && sf_progress_due(progress))
        sf_progress_show(progress, "%.1f percent, %s left", 100.0 * (double)next / (double)total,
                         sf_seconds_text(elapsed * (double)(total - next) / (double)next, left));
}

static size_t batch_bytes(const sf_problem *problem)
{
    return (size_t)problem->n_scores * sizeof(uint64_t) + (size_t)problem->length;
}

/* Sequences a batch; under a limit it takes a quarter of that at most. The same on every rank. */
static size_t batch_room(const sf_app *app, const sf_problem *problem)
{
    const size_t n = sf_census_n_counted(problem), limit = (size_t)app->options.settings.memory_limit;
    size_t room = BATCH_COUNTS / (size_t)problem->n_scores;
    room = room < BATCH ? room : BATCH;
    if (limit && room * batch_bytes(problem) > limit / 4)
        room = limit / 4 / batch_bytes(problem);
    room = room < BATCH_LEAST ? BATCH_LEAST : room;
    return room < n ? room : n;
}

/* Counts with an opened engine. Collective. */
static int count_all(const sf_app *app, sf_app_census *c, const sf_engine *engine, sf_error *err)
{
    size_t n_scores = (size_t)c->problem.n_scores;
    size_t length = (size_t)c->problem.length, room = batch_room(app, &c->problem);
    uint64_t next = 0, total = c->total;
    uint64_t *histograms = malloc(room * n_scores * sizeof *histograms);
    uint8_t *elements = malloc(room * length);
    sf_progress progress;
    int code = histograms && elements ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for the census");
    code = sf_comm_agree(&app->comm, code, err);
    sf_progress_start(&progress, app);
    while (!code && next < total) {
        size_t n = fill_batch(&c->problem, total, room, &next, elements);
        if (n > 0)
            code = sf_share_histograms(&app->comm, engine, c->problem.n_scores, n, elements, sf_app_threads(app),
                                       histograms, NULL, NULL, err);
        for (size_t i = 0; !code && i < n; i++)
            code = add_sequence(app, c, elements + i * length, histograms + i * n_scores, err);
        show(&progress, next, total);
    }
    sf_progress_end(&progress);
    free(histograms);
    free(elements);
    return code;
}

/* Rank 0 has the rows of all sequences: every rank is told all histograms. */
int sf_census_each_bytes(const sf_app *app, const sf_app_census *c, uint64_t *bytes, sf_error *err)
{
    char needed[32], allowed[32];
    const uint64_t n = sf_census_n_counted(&c->problem), limit = app->options.settings.memory_limit;
    const uint64_t most = limit ? limit : sf_memory_available();
    const sf_shapes rows = {.n_scores = c->problem.n_scores};
    const uint64_t shapes = app->options.settings.histograms ? n * sf_shapes_width(&rows) * sizeof(uint64_t) : 0;
    *bytes = sf_census_result_bytes(app, c->total, shapes) + batch_room(app, &c->problem) * batch_bytes(&c->problem);
    if (*bytes <= most)
        return 0;
    return sf_fail(err, SF_ELIMIT,
                   "the %s of all sequences of %d residues need %s of memory, %s are allowed; take a shorter --length%s",
                   shapes ? "histograms" : "entries", c->problem.length, sf_bytes_text(*bytes, needed),
                   sf_bytes_text(most, allowed), shapes ? ", or leave --histograms" : "");
}

/* The engine that rank 0 would take, on every rank: their memory may differ. Collective. */
static int choose_engine(const sf_app *app, const sf_app_census *c, size_t n, sf_table_place *place,
                         sf_engine_options *options, char name[16], sf_error *err)
{
    const char *chosen = "";
    sf_app_table_prefer(app, &c->problem, options);
    int code = sf_table_place_choose(place, app, &c->problem, options, err);
    if (code)
        return code;
    code = sf_comm_agree(&app->comm, sf_engine_choose(&c->problem, options, n, &chosen, err), err);
    snprintf(name, 16, "%s", chosen);
    options->engine = name;
    return code ? code : sf_comm_broadcast(&app->comm, 16, name, err);
}

int sf_census_count_each(const sf_app *app, sf_app_census *c, sf_error *err)
{
    sf_engine_options options;
    sf_engine *engine = NULL;
    sf_table_place place = {0};
    size_t n = sf_census_n_counted(&c->problem);
    char name[16];
    sf_app_engine_options(app, &options);
    uint64_t beside = 0;
    int code = sf_refuse_over(app, &c->problem, n, err);
    if (!code)
        code = sf_census_each_bytes(app, c, &beside, err);
    if (app->options.settings.memory_limit > beside)
        options.memory_limit = app->options.settings.memory_limit - beside;
    if (!code && app->options.settings.histograms) {
        c->shapes.n_scores = c->problem.n_scores;
        code = app->comm.rank == 0 ? sf_shapes_reserve(&c->shapes, n, err) : 0;
    }
    code = sf_comm_agree(&app->comm, code, err);
    sf_phase_begin(SF_PHASE_OPEN);
    if (!code)
        code = choose_engine(app, c, n, &place, &options, name, err);
    if (!code)
        code = sf_table_place_fill(&place, app, &c->problem, &options, err);
    if (!code)
        code = sf_engine_open(&engine, &c->problem, &options, n, err);
    code = sf_comm_agree(&app->comm, code, err);
    sf_table_place_opened(&place, &options);
    sf_phase_begin(SF_PHASE_COUNT);
    if (!code)
        code = count_all(app, c, engine, err);
    sf_engine_close(engine);
    sf_table_place_close(&place);
    if (!code && c->shapes.n_scores > 0)
        code = sf_census_gather_shapes(app, c, err);
    return code;
}

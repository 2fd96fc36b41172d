/* The census from the table of contact maps: all sequences together (core/engines/census/census.h). The ranks of a node lay
 * out all maps together, and each takes one part of the sequences; or, where that does not fit, one shard of the maps and
 * all sequences. */
#include <stdlib.h>
#include <string.h>

#include "app/census.h"
#include "app/phases.h"
#include "app/table_source.h"
#include "core/base/array.h"
#include "core/base/memory.h"
#include "core/engines/census/census_model.h"
#include "dist/census_mpi.h"

/* What takes most: building the maps, laying them out, or counting and what it gives. */
uint64_t sf_census_together_bytes(const sf_app *app, const sf_problem *problem, int n_shards)
{
    const sf_settings *settings = &app->options.settings;
    sf_census_kind kind = settings->histograms ? SF_CENSUS_HISTOGRAMS : SF_CENSUS_SETS;
    const bool hp = sf_score_model_is_hp(problem->model);
    uint64_t shapes =
        settings->histograms ? sf_census_shapes_bytes(problem->length, hp ? SF_TABLE_SCORES : problem->n_scores) : 0;
    uint64_t building = sf_map_table_build_bytes(problem->lattice, problem->length, sf_app_threads(app), app->comm.size);
    uint64_t opening = sf_map_table_bytes(problem->lattice, problem->length) +
                       (hp ? sf_census_open_bytes(problem->lattice, problem->length, kind)
                           : sf_census_model_open_bytes(problem, kind));
    uint64_t counting = (hp ? sf_census_count_bytes(problem->lattice, problem->length, kind, sf_app_threads(app))
                            : sf_census_model_count_bytes(problem, kind, sf_app_threads(app))) +
                        sf_census_result_bytes(app, UINT64_C(1) << problem->length, shapes);
    if (n_shards > 1) {
        const double part = (double)sf_map_table_part_expected(problem->lattice, problem->length, n_shards) /
                            (double)sf_map_table_expected(problem->lattice, problem->length);
        opening = (uint64_t)((double)opening * part);
        counting = (uint64_t)((double)counting * part) + (sizeof(uint32_t) << problem->length) + sf_census_slabs_bytes(app);
    }
    uint64_t most = building > opening ? building : opening;
    return counting > most ? counting : most;
}

/* Seconds, from what was measured on one core of 2.8 GHz: 3 ns a conformation and 0.1 us a map to build; to count, 3.4 s
 * for 22 residues on the square lattice and 0.5 s for 16 on the cubic one, and by each residue 2.9 or 4.2 times more. */
double sf_census_together_seconds(const sf_app *app, const sf_app_census *c)
{
    const sf_problem *problem = &c->problem;
    bool square = problem->lattice->dimension == 2;
    double workers = (double)sf_app_threads(app) * app->comm.size, count = square ? 3.4 : 0.5, growth = square ? 2.9 : 4.2;
    for (int n = problem->length; n < (square ? 22 : 16); n++)
        count /= growth;
    for (int n = problem->length; n > (square ? 22 : 16); n--)
        count *= growth;
    if (app->options.settings.histograms)
        count *= 7;
    if (!sf_score_model_is_hp(problem->model))
        count = sf_census_model_seconds(problem, app->options.settings.histograms ? SF_CENSUS_HISTOGRAMS : SF_CENSUS_SETS);
    if (c->n_shards > 1) /* shards are of unlike size, and each asks for all sequences: as measured with two and three */
        count *= 1.9;
    return (3e-9 * (double)sf_lattice_conformations(problem->lattice, problem->length) +
            1e-7 * (double)sf_map_table_expected(problem->lattice, problem->length) + count) /
           workers;
}

bool sf_census_can_together(const sf_app *app, const sf_problem *problem)
{
    return app->options.settings.engine == 0 && sf_census_model_can(problem) &&
           sf_map_table_length_check(problem->lattice, problem->length, NULL) == 0;
}

/* Other models: where there is no room for all sequences together, each by itself takes less. */
static void settle_model(const sf_app *app, sf_app_census *c)
{
    if (!sf_score_model_is_hp(c->problem.model) && sf_census_together_bytes(app, &c->problem, 1) > c->limit)
        c->together = false;
}

int sf_census_together_place(const sf_app *app, sf_app_census *c, sf_error *err)
{
    c->n_shards = 1;
    c->limit = app->options.settings.memory_limit;
    if (app->comm.size == 1) {
        c->limit = c->limit ? c->limit : sf_memory_available();
        settle_model(app, c);
        return 0;
    }
    sf_node *node;
    int code = sf_node_open(&node, &app->comm, err);
    if (code)
        return code;
    const sf_node_facts facts = sf_node_get_facts(node);
    sf_node_close(node);
    c->limit = c->limit ? c->limit : facts.memory / (uint64_t)facts.most_ranks;
    settle_model(app, c);
    if (sf_score_model_is_hp(c->problem.model) && !app->options.settings.histograms &&
        sf_census_together_bytes(app, &c->problem, 1) > c->limit &&
        sf_census_together_bytes(app, &c->problem, app->comm.size) <= c->limit)
        c->n_shards = app->comm.size;
    return 0;
}

int sf_census_together_check(const sf_app *app, const sf_app_census *c, sf_error *err)
{
    char needed[32], allowed[32];
    const sf_problem *problem = &c->problem;
    uint64_t limit = c->limit, bytes = sf_census_together_bytes(app, problem, c->n_shards);
    if (bytes <= limit)
        return 0;
    return sf_fail(err, SF_ELIMIT,
                   "a census of %d residues on the %s lattice%s needs %s of memory, %s are allowed; take %s",
                   problem->length, problem->lattice->name,
                   app->options.settings.histograms ? " with --histograms" : "", sf_bytes_text(bytes, needed),
                   sf_bytes_text(limit, allowed),
                   app->options.settings.histograms ? "a shorter --length, or leave --histograms"
                                                    : "--engine table, a sequence at a time from one table a node or "
                                                      "shards of it, or more ranks and --threads");
}

/* Sums the ranks' parts. Collective. */
static int sum_parts(const sf_app *app, sf_app_census *c, const sf_census *part, sf_error *err)
{
    uint64_t all[3 + 2 * SF_SCORES_MAX + 1] = {part->sequences, part->unique_best, part->sequences_with_gaps};
    uint64_t *fitness = all + 3, *best = fitness + SF_SCORES_MAX + 1;
    memcpy(fitness, part->fitness, sizeof part->fitness);
    memcpy(best, part->best, sizeof part->best);
    int code = sf_comm_sum(&app->comm, sizeof all / sizeof all[0], all, err);
    c->n_sequences = all[0];
    c->n_unique = all[1];
    c->n_gaps = all[2];
    memcpy(c->fitness, fitness, sizeof part->fitness);
    memcpy(c->max_score, best, sizeof part->best);
    return code;
}

/* Numbers in the order of the letters have H as 0 and the first residue highest; the core's have H as 1 and the last
 * residue highest. A chain and its reverse have the same entries, so it is enough to turn the array round. */
static void turn_round(uint8_t *entry, uint64_t n)
{
    for (uint64_t i = 0, k = n - 1; i < k; i++, k--) {
        uint8_t swap = entry[i];
        entry[i] = entry[k];
        entry[k] = swap;
    }
}

static int take_results(const sf_app *app, sf_app_census *c, sf_error *err)
{
    int code = 0;
    if (c->each_fitness)
        code = sf_census_gather_each(app, c, err);
    if (!code && c->each_fitness && app->comm.rank == 0) {
        turn_round(c->each_fitness, c->total);
        turn_round(c->each_best, c->total);
    }
    if (!code && app->options.settings.histograms)
        code = sf_census_gather_shapes(app, c, err);
    return code;
}

/* One rank's masks of all sequences, from its shard. */
static int count_shard(const sf_app *app, const sf_app_census *c, const sf_engine_options *options, uint32_t *masks,
                       sf_error *err)
{
    const sf_map_options build = {options->n_threads, c->limit, options->stop};
    const sf_census_each each = {.masks = masks};
    sf_map_table shard;
    sf_census_plan *plan = NULL;
    sf_census ignored = {0};
    sf_phase_begin(SF_PHASE_OPEN);
    int code = sf_map_table_build_part(&shard, c->problem.lattice, c->problem.length, (size_t)app->comm.rank,
                                       (size_t)app->comm.size, &build, err);
    const bool any = !code && shard.n_maps > 0; /* short chains have fewer maps than there may be ranks */
    if (any)
        code = sf_census_open(&plan, &shard, SF_CENSUS_SETS, options->n_threads, NULL, err);
    sf_map_table_free(&shard);
    sf_phase_begin(SF_PHASE_COUNT);
    if (any && !code)
        code = sf_census_count(plan, 0, 1, options->n_threads, NULL, &each, &ignored, err);
    sf_census_close(plan);
    return code;
}

static int count_shards(const sf_app *app, sf_app_census *c, sf_error *err)
{
    sf_engine_options options;
    sf_census whole = {0};
    uint32_t *masks = sf_array_zeroed((size_t)c->total, sizeof *masks);
    int code = masks ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for the scores of all sequences");
    sf_app_engine_options(app, &options);
    if (!code)
        code = count_shard(app, c, &options, masks, err);
    code = sf_comm_agree(&app->comm, code, err);
    if (!code)
        code = sf_census_gather_masks(app, c->total, masks, err);
    if (!code && app->comm.rank == 0) {
        const sf_census_each each = {.fitness = c->each_fitness, .best = c->each_best};
        sf_census_of_masks((size_t)c->total, masks, &each, &whole);
    }
    free(masks);
    if (!code)
        code = sum_parts(app, c, &whole, err);
    return code ? code : take_results(app, c, err);
}

static int count_parts(const sf_app *app, sf_app_census *c, sf_error *err)
{
    sf_maps maps = {0};
    sf_node_census census = {0};
    sf_census_model *model = NULL; /* in the place of the plan, where the score model is not hp */
    sf_census part = {0};
    sf_engine_options options;
    bool hp = sf_score_model_is_hp(c->problem.model), histograms = app->options.settings.histograms;
    sf_app_engine_options(app, &options);
    sf_phase_begin(SF_PHASE_OPEN);
    int code = sf_app_maps_get(app, &c->problem, &options, &maps, err);
    if (!code) {
        const sf_census_kind kind = histograms ? SF_CENSUS_HISTOGRAMS : SF_CENSUS_SETS;
        c->shapes.n_scores = !histograms ? 0 : hp ? maps.table.max_contacts + 1 : c->problem.n_scores;
        code = hp ? sf_node_census_open(&app->comm, &census, &maps, kind, options.n_threads, err)
                  : sf_census_model_open(&model, &maps.table, &c->problem, kind, err);
    }
    sf_maps_free(&maps);
    sf_phase_begin(SF_PHASE_COUNT);
    if (!code) {
        const sf_census_each entries = {.fitness = c->each_fitness, .best = c->each_best};
        const sf_census_each *each = c->each_fitness ? &entries : NULL;
        const size_t rank = (size_t)app->comm.rank, n_ranks = (size_t)app->comm.size;
        sf_shapes *shapes = histograms ? &c->shapes : NULL;
        code = hp ? sf_census_count_shapes(census.plan, rank, n_ranks, options.n_threads, NULL, each, &part, shapes, err)
                  : sf_census_model_count(model, rank, n_ranks, options.n_threads, NULL, each, &part, shapes, err);
    }
    code = sf_comm_agree(&app->comm, code, err);
    sf_node_census_close(&census);
    sf_census_model_close(model);
    if (!code)
        code = sum_parts(app, c, &part, err);
    return code ? code : take_results(app, c, err);
}

int sf_census_count_together(const sf_app *app, sf_app_census *c, sf_error *err)
{
    int code = sf_comm_agree(&app->comm, sf_census_together_check(app, c, err), err);
    if (code)
        return code;
    return c->n_shards > 1 ? count_shards(app, c, err) : count_parts(app, c, err);
}

/* The table engine: opening, and the one struct through which engine.c sees it. */
#include "core/engines/table/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/engines/engine_ops.h"
#include "core/engines/table/table_layouts.h"
#include "core/engines/table/table_weighted.h"

struct sf_table_work {
    sf_set_work set;
};

enum {
    BLOCK = SF_SLICED_BATCH, /* sequences a block: they share the table's way through the cache */
    SETS_BLOCK = 8,          /* likewise where sets are asked for; few, as threads share the sequences of a generation */
    PIECE_MAPS = 1 << 20,    /* few sequences of a long chain are shared in pieces of the table of this many maps */
    IDLE_WORKS = 64          /* room for questions that is kept */
};

/* Whether the answers are sets of scores without any count, for which there is a layout of its own. */
static bool sets_alone(const sf_problem *problem, const sf_engine_options *options)
{
    return options->sets && options->top_counts == 0 && sf_score_model_is_hp(problem->model);
}

int sf_table_open_maps(sf_table **table, const sf_map_table *maps, unsigned kinds, sf_error *err)
{
    *table = NULL;
    if (maps->max_contacts > SF_TABLE_SCORE_MAX)
        return sf_fail(err, SF_ELIMIT, "a table counts scores up to %d, and chains of %d residues reach %d",
                       SF_TABLE_SCORE_MAX, maps->layout.length, maps->max_contacts);
    sf_table *t = calloc(1, sizeof *t);
    if (!t)
        return sf_fail(err, SF_ENOMEM, "out of memory for a table");
    int status = 0;
    t->kinds = kinds;
    t->n_maps = maps->n_maps;
    t->max_contacts = maps->max_contacts;
    if (kinds & SF_TABLE_SETS)
        status = sf_set_table_init(&t->set, maps, 0, err);
    if (status == 0 && (kinds & SF_TABLE_HISTOGRAMS))
        status = sf_sliced_table_init(&t->sliced, maps, err);
    if (status == 0)
        *table = t;
    else
        sf_table_close(t);
    return status;
}

int sf_table_open(sf_table **table, const sf_lattice *lattice, int length, unsigned kinds,
                  const sf_map_options *options, sf_error *err)
{
    *table = NULL;
    sf_map_table maps;
    int status = sf_map_table_build(&maps, lattice, length, options, err);
    if (status == 0)
        status = sf_table_open_maps(table, &maps, kinds, err);
    sf_map_table_free(&maps);
    return status;
}

int sf_table_open_for(sf_table **table, const sf_problem *problem, const sf_engine_options *options, sf_error *err)
{
    const sf_lattice *lattice = problem->lattice;
    const sf_map_options build = {options->n_threads, options->memory_limit, options->stop};
    const unsigned kinds = sets_alone(problem, options) ? SF_TABLE_SETS : SF_TABLE_HISTOGRAMS;
    sf_map_table shard;
    *table = NULL;
    if (options->maps && (options->maps->lattice != lattice || options->maps->layout.length != problem->length))
        return sf_fail(err, SF_EINPUT, "the contact maps are of %d residues on the %s lattice, not of %d on the %s lattice",
                       options->maps->layout.length, options->maps->lattice->name, problem->length, lattice->name);
    if (options->maps)
        return sf_table_open_maps(table, options->maps, kinds, err);
    if (options->n_shards <= 1)
        return sf_table_open(table, lattice, problem->length, kinds, &build, err);
    int status = sf_map_table_build_part(&shard, lattice, problem->length, (size_t)options->shard,
                                         (size_t)options->n_shards, &build, err);
    if (status == 0)
        status = sf_table_open_maps(table, &shard, kinds, err);
    sf_map_table_free(&shard);
    return status;
}

/* Bytes a thousand maps take, as measured: planes grow with the pairs of residues. */
static uint64_t bytes_of_thousand(const sf_lattice *lattice, int length)
{
    int bytes = lattice->dimension == 2 ? 490 * length - 1010 : 360 * length - 90;
    return bytes > 1000 ? (uint64_t)bytes : 1000;
}

static uint64_t shard_maps(const sf_lattice *lattice, int length, int n_shards)
{
    return sf_map_table_part_expected(lattice, length, n_shards) + 1;
}

uint64_t sf_table_bytes(const sf_lattice *lattice, int length, int n_shards)
{
    return sizeof(sf_table) + shard_maps(lattice, length, n_shards) * bytes_of_thousand(lattice, length) / 1000;
}

uint64_t sf_table_making_bytes(const sf_lattice *lattice, int length, int n_threads, int n_parts, int n_shards)
{
    uint64_t maps = shard_maps(lattice, length, n_shards), layout = sf_table_bytes(lattice, length, n_shards);
    uint64_t sorting = maps * 2 * sizeof(uint32_t), placing = maps * sizeof(uint32_t) + layout;
    uint64_t all = sf_map_table_expected(lattice, length), map_bytes = all ? sf_map_table_bytes(lattice, length) / all : 0;
    uint64_t slicing = maps * map_bytes + sf_map_table_slack_bytes(maps, 1) +
                       (sorting > placing ? sorting : placing);
    uint64_t building = n_parts ? sf_map_table_build_bytes(lattice, length, n_threads, n_parts) : 0;
    return building > slicing ? building : slicing;
}

void sf_table_close(sf_table *table)
{
    if (!table)
        return;
    if (!table->borrowed) {
        sf_set_table_free(&table->set);
        sf_sliced_table_free(&table->sliced);
    }
    free(table);
}

size_t sf_table_maps(const sf_table *table)
{
    return table->n_maps;
}

uint64_t sf_table_memory(const sf_table *table)
{
    return sizeof *table + table->set.bytes + sf_sliced_table_bytes(&table->sliced);
}

void sf_table_histograms(const sf_table *table, size_t piece, size_t n_pieces, size_t n, const uint32_t *sequences,
                         size_t width, uint64_t *histograms)
{
    sf_sliced_histograms(&table->sliced, piece, n_pieces, n, sequences, width, histograms);
}

void sf_table_model_histograms(const sf_table *table, const sf_problem *problem, size_t piece, size_t n_pieces, size_t n,
                               const uint8_t *elements, uint64_t *histograms)
{
    sf_weighted_histograms(&table->sliced, problem, piece, n_pieces, n, elements, histograms);
}

int sf_table_work_open(sf_table_work **work, const sf_table *table, sf_error *err)
{
    *work = NULL;
    sf_table_work *w = calloc(1, sizeof *w);
    if (!w)
        return sf_fail(err, SF_ENOMEM, "out of memory for queries");
    int status = sf_set_work_init(&w->set, &table->set, err);
    if (status == 0)
        *work = w;
    else
        free(w);
    return status;
}

void sf_table_work_close(sf_table_work *work)
{
    if (work)
        sf_set_work_free(&work->set);
    free(work);
}

uint32_t sf_table_scores(const sf_table *table, sf_table_work *work, uint32_t sequence)
{
    return sf_set_scores(&table->set, sequence, &work->set);
}

/* The engine. */

typedef struct state {
    const sf_table *table;
    sf_table *own; /* NULL when the table is the caller's */
    const sf_problem *problem;
    const sf_engine_options *options;
    sf_table_work **idle; /* idle[IDLE_WORKS]: room for questions that no thread uses now, or NULL; for sets alone */
} state;

static int engine_estimate(const sf_problem *problem, const sf_engine_options *options, sf_engine_cost *cost,
                           sf_error *err)
{
    int status = sf_map_table_length_check(problem->lattice, problem->length, err);
    if (status != 0)
        return status;
    if (options->sets && options->n_shards > 1)
        return sf_fail(err, SF_ELIMIT, "shards of a table give whole histograms, not sets of scores; take engine bound, or ask "
                       "for histograms");
    int n_shards = options->n_shards > 1 ? options->n_shards : 1, n_sharers = options->n_sharers > 1 ? options->n_sharers : 1;
    const bool there = options->maps || options->maps_at_hand;
    double maps = (double)sf_map_table_expected(problem->lattice, problem->length);
    double conformations = (double)sf_lattice_conformations(problem->lattice, problem->length);
    cost->memory_bytes = sf_table_making_bytes(problem->lattice, problem->length, options->n_threads,
                                               there ? 0 : n_shards, n_shards) /
                         (uint64_t)n_sharers;
    if (options->table)
        cost->memory_bytes = sf_table_memory(options->table) / (uint64_t)n_sharers;
    const double build_s = problem->lattice->dimension == 2 ? 7e-9 : 4e-9; /* a conformation; in space more share a map */
    cost->open_s = (1e-4 + (there ? 0 : build_s * conformations) + 1.5e-7 * maps) / n_shards;
    cost->sequence_s = sf_score_model_is_hp(problem->model) ? 5e-8 + 1e-10 * maps : 5e-7 + 5e-10 * maps;
    if (sets_alone(problem, options))
        cost->sequence_s = 3e-7 + 8e-12 * maps;
    return 0;
}

static void engine_close(void *s)
{
    state *e = s;
    for (int i = 0; e->idle && i < IDLE_WORKS; i++)
        sf_table_work_close(e->idle[i]);
    free(e->idle);
    sf_table_close(e->own);
    free(e);
}

static int engine_open(void **s, const sf_problem *problem, const sf_engine_options *options, sf_error *err)
{
    *s = NULL;
    state *e = calloc(1, sizeof *e);
    if (!e)
        return sf_fail(err, SF_ENOMEM, "out of memory for engine table");
    e->problem = problem;
    e->options = options;
    e->table = options->table;
    int status = options->table ? 0 : sf_table_open_for(&e->own, problem, options, err);
    if (e->own)
        e->table = e->own;
    if (status == 0 && sets_alone(problem, options)) {
        e->idle = calloc(IDLE_WORKS, sizeof *e->idle);
        status = e->idle ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for engine table");
    }
    if (status == 0)
        *s = e;
    else
        engine_close(e);
    return status;
}

static int engine_plan(const void *s, size_t n_sequences, const uint8_t *sequences, sf_plan *plan, sf_error *err)
{
    (void)sequences;
    (void)err;
    const state *e = s;
    if (e->options->sets) { /* what is counted of a set is known when its whole histogram is: no pieces */
        plan->block = n_sequences < SETS_BLOCK ? n_sequences : SETS_BLOCK;
        return 0;
    }
    size_t pieces = (size_t)sf_map_table_expected(e->problem->lattice, e->problem->length) / PIECE_MAPS + 1;
    plan->block = n_sequences < BLOCK ? n_sequences : BLOCK;
    plan->parts_per_block = n_sequences > 4 * BLOCK ? 1 : pieces; /* many sequences are parts enough */
    return 0;
}

/* ---- sets of scores ---- */

/* Room for a thread's questions: what another left, or new. */
static int take_work(const state *e, sf_table_work **work, sf_error *err)
{
    for (int i = 0; i < IDLE_WORKS; i++) {
        *work = __atomic_exchange_n(&e->idle[i], NULL, __ATOMIC_ACQ_REL);
        if (*work)
            return 0;
    }
    return sf_table_work_open(work, e->table, err);
}

static void leave_work(const state *e, sf_table_work *work)
{
    for (int i = 0; i < IDLE_WORKS; i++) {
        sf_table_work *none = NULL;
        if (__atomic_compare_exchange_n(&e->idle[i], &none, work, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return;
    }
    sf_table_work_close(work);
}

static int add_sets(const state *e, size_t n, const uint32_t *residues, uint64_t *partial, sf_error *err)
{
    sf_table_work *work;
    int status = take_work(e, &work, err);
    if (status != 0)
        return status;
    for (size_t i = 0; i < n; i++, partial += e->problem->n_scores) {
        for (uint32_t scores = sf_table_scores(e->table, work, residues[i]); scores && status == 0; scores &= scores - 1)
            status = sf_count_add(&partial[__builtin_ctz(scores)], SF_COUNT_SOME);
    }
    leave_work(e, work);
    return status;
}

/* Leaves the numbers of the top_counts highest scores; of the others that they are reached. */
static void keep_top(size_t n_scores, uint64_t *histogram, int top_counts)
{
    for (size_t s = n_scores; s-- > 0;) {
        if (histogram[s] && top_counts-- <= 0)
            histogram[s] = SF_COUNT_SOME;
    }
}

/* ---- evaluation ---- */

static void add_histograms(const state *e, size_t piece, size_t n_pieces, size_t n, const uint8_t *sequences,
                           const uint32_t *residues, uint64_t *histograms)
{
    if (sf_score_model_is_hp(e->problem->model))
        sf_table_histograms(e->table, piece, n_pieces, n, residues, (size_t)e->problem->n_scores, histograms);
    else
        sf_table_model_histograms(e->table, e->problem, piece, n_pieces, n, sequences, histograms);
}

static int add_tops(const state *e, size_t n, const uint8_t *sequences, const uint32_t *residues, uint64_t *partial,
                    sf_error *err)
{
    const size_t n_scores = (size_t)e->problem->n_scores;
    uint64_t *histograms = calloc(n, n_scores * sizeof *histograms);
    if (!histograms)
        return sf_fail(err, SF_ENOMEM, "out of memory for the histograms of %zu sequences", n);
    add_histograms(e, 0, 1, n, sequences, residues, histograms);
    for (size_t i = 0; i < n; i++)
        keep_top(n_scores, histograms + i * n_scores, e->options->top_counts);
    int status = sf_counts_add(n * n_scores, partial, histograms);
    free(histograms);
    return status;
}

static int engine_evaluate(const void *s, const sf_plan *plan, const uint8_t *sequences, size_t part, uint64_t *partial,
                           sf_error *err)
{
    const state *e = s;
    size_t first, n, length = (size_t)e->problem->length;
    uint32_t residues[BLOCK] = {0}; /* of model hp */
    sf_plan_part(plan, part, &first, &n);
    sequences += first * length;
    if (e->options->stop && *e->options->stop)
        return sf_fail(err, SF_ESTOPPED, "stopped while sequences were evaluated");
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < length; k++)
            residues[i] |= (uint32_t)(sequences[i * length + k] == 0) << k;
    }
    if (sets_alone(e->problem, e->options))
        return add_sets(e, n, residues, partial, err);
    if (e->options->sets)
        return add_tops(e, n, sequences, residues, partial, err);
    add_histograms(e, part % plan->parts_per_block, plan->parts_per_block, n, sequences, residues, partial);
    return 0;
}

static uint64_t engine_memory(const void *s)
{
    return sf_table_memory(((const state *)s)->table);
}

const sf_engine_ops sf_engine_table = {
    .name = "table",
    .counts_everything = true,
    .answers_sets = true,
    .estimate = engine_estimate,
    .open = engine_open,
    .plan = engine_plan,
    .evaluate = engine_evaluate,
    .memory = engine_memory,
    .close = engine_close,
};

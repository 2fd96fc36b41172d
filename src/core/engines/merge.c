/* Engine "walk": exact histograms by merging equal tails (merge_square_kernel.h tells how); what it cannot merge goes
 * to the plain enumeration of walk_plain.c.
 *
 * A part is a contiguous run of *pieces*, the backward prefixes of a fixed number of steps; there are many more parts
 * than workers, so that nobody waits. Where the chain is split, which end is the tail, and so what a part holds,
 * follows from the sequence alone. Each thread brings its own tables, which live on from part to part: a part's counts
 * do not depend on what they hold. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/isa.h"
#include "core/engines/engine_ops.h"
#include "core/engines/merge_plan.h"
#include "core/engines/merge_square.h"

/* What a thread works with between two parts. */
typedef struct merge_worker {
    struct merge_worker *next; /* idle workers */
    struct merge_worker *all;  /* every worker made */
    bool prepared;
    uint8_t elements[SF_LENGTH_MAX]; /* the sequence that `square_job` is made of */
    square_job square_job;
    square_workspace workspace;
} merge_worker;

typedef struct merge_state {
    const sf_problem *problem;
    const sf_engine_options *options;
    void *plain;                  /* state of the plain engine when that does the work, or NULL */
    bool class_h[SF_LETTERS_MAX]; /* letters that make contacts that count */
    int weight;                   /* of such a contact */
    size_t n_parts;
    square_count *count;
    int lock; /* guards the two lists */
    merge_worker *idle, *all;
} merge_state;

/* ---- what can be merged ---- */

/* Models in which one class of letters has contacts among itself, all of one weight, and no others count. */
static bool one_class(const sf_score_model *model, bool *class_h, int *weight)
{
    *weight = 0;
    for (int a = 0; a < model->n_letters; a++) {
        class_h[a] = model->weight[a][a] != 0;
        if (class_h[a] && *weight == 0)
            *weight = model->weight[a][a];
    }
    for (int a = 0; a < model->n_letters; a++) {
        for (int b = 0; b < model->n_letters; b++) {
            if (model->weight[a][b] != (class_h[a] && class_h[b] ? *weight : 0))
                return false;
        }
    }
    return true;
}

static bool can_merge(const sf_problem *problem)
{
    bool class_h[SF_LETTERS_MAX];
    int weight;
    return problem->lattice->dimension == 2 && problem->length >= SQUARE_LENGTH_MIN &&
           problem->length <= SQUARE_LENGTH_MAX && one_class(problem->model, class_h, &weight);
}

static square_count *square_count_for(sf_isa isa)
{
#if defined __x86_64__
    if (isa == SF_ISA_AVX512)
        return sf_square_count_avx512;
    if (isa == SF_ISA_AVX2)
        return sf_square_count_avx2;
#endif
    (void)isa;
    return sf_square_count_portable;
}

/* ---- workers ---- */

static void lock(merge_state *state)
{
    while (__atomic_exchange_n(&state->lock, 1, __ATOMIC_ACQUIRE)) {
    }
}

static void unlock(merge_state *state)
{
    __atomic_store_n(&state->lock, 0, __ATOMIC_RELEASE);
}

/* An idle worker, if possible one that knows the sequence, or a new one. */
static int worker_take(merge_state *state, const uint8_t *elements, merge_worker **worker, sf_error *err)
{
    const size_t length = (size_t)state->problem->length;
    lock(state);
    merge_worker **link = &state->idle;
    for (merge_worker **w = &state->idle; *w; w = &(*w)->next) {
        if ((*w)->prepared && memcmp((*w)->elements, elements, length) == 0) {
            link = w;
            break;
        }
    }
    *worker = *link;
    if (*link)
        *link = (*link)->next;
    unlock(state);
    if (*worker)
        return SF_OK;

    merge_worker *made = aligned_alloc(64, (sizeof *made + 63) / 64 * 64);
    if (!made)
        return sf_fail(err, SF_ENOMEM, "no memory for a worker of engine walk");
    memset(made, 0, sizeof *made);
    int log2_entries[SQUARE_TAIL_MAX + 1];
    sf_merge_square_tables(state->problem->length, log2_entries);
    int status = sf_square_workspace_init(&made->workspace, log2_entries, err);
    if (status != SF_OK) {
        free(made);
        return status;
    }
    lock(state);
    made->all = state->all;
    state->all = made;
    unlock(state);
    *worker = made;
    return SF_OK;
}

static void worker_give_back(merge_state *state, merge_worker *worker)
{
    lock(state);
    worker->next = state->idle;
    state->idle = worker;
    unlock(state);
}

/* Makes the sequence ready, unless it is already. */
static void worker_prepare(const merge_state *state, merge_worker *worker, const uint8_t *elements)
{
    const int length = state->problem->length;
    uint8_t h[SF_LENGTH_MAX];
    if (worker->prepared && memcmp(worker->elements, elements, (size_t)length) == 0)
        return;
    for (int k = 0; k < length; k++)
        h[k] = state->class_h[elements[k]];
    sf_merge_square_plan(length, h, &worker->square_job);
    sf_square_workspace_renew(&worker->workspace);
    memcpy(worker->elements, elements, (size_t)length);
    worker->prepared = true;
}

/* ---- the engine ---- */

static int estimate(const sf_problem *problem, const sf_engine_options *options, sf_engine_cost *cost, sf_error *err)
{
    if (!can_merge(problem))
        return sf_engine_walk_plain.estimate(problem, options, cost, err);
    int log2_entries[SQUARE_TAIL_MAX + 1];
    *cost = (sf_engine_cost){
        .memory_bytes = (uint64_t)options->n_threads *
                        (sizeof(merge_worker) + sf_merge_square_tables(problem->length, log2_entries)),
        .open_s = 1e-5,
        .sequence_s = sf_merge_square_seconds(problem->length, sf_isa_get()),
    };
    return SF_OK;
}

static int open_merge(void **state, const sf_problem *problem, const sf_engine_options *options, sf_error *err)
{
    int status = sf_isa_check(err);
    *state = NULL;
    if (status != SF_OK)
        return status;
    merge_state *m = calloc(1, sizeof *m);
    if (!m)
        return sf_fail(err, SF_ENOMEM, "no memory to open engine walk");
    m->problem = problem;
    m->options = options;
    if (!can_merge(problem))
        status = sf_engine_walk_plain.open(&m->plain, problem, options, err);
    else {
        one_class(problem->model, m->class_h, &m->weight);
        m->n_parts = sf_merge_square_parts(problem->length);
        m->count = square_count_for(sf_isa_get());
    }
    if (status != SF_OK)
        free(m);
    else
        *state = m;
    return status;
}

static int plan_merge(const void *state, size_t n_sequences, const uint8_t *sequences, sf_plan *plan, sf_error *err)
{
    const merge_state *m = state;
    if (m->plain)
        return sf_engine_walk_plain.plan(m->plain, n_sequences, sequences, plan, err);
    plan->block = 1;
    plan->parts_per_block = m->n_parts;
    return SF_OK;
}

/* Adds counts by contacts to counts by score. */
static int add_scores(const merge_state *state, const uint64_t *contacts, uint64_t *partial, sf_error *err)
{
    for (int c = 0; c < SQUARE_CONTACTS; c++) {
        const int score = c * state->weight - state->problem->min_score;
        if (contacts[c] == 0)
            continue;
        if (score < 0 || score >= state->problem->n_scores)
            return sf_fail(err, SF_ECHECK, "engine walk found %d contacts, more than %d residues can have", c,
                           state->problem->length);
        if (__builtin_add_overflow(partial[score], contacts[c], &partial[score]))
            return sf_fail(err, SF_EOVERFLOW, "more conformations than 64 bits can count");
    }
    return SF_OK;
}

static int evaluate(const void *state, const sf_plan *plan, const uint8_t *sequences, size_t part, uint64_t *partial,
                    sf_error *err)
{
    merge_state *m = (merge_state *)(uintptr_t)state; /* only the lists of workers change, under their lock */
    if (m->plain)
        return sf_engine_walk_plain.evaluate(m->plain, plan, sequences, part, partial, err);
    size_t first, count;
    uint64_t contacts[SQUARE_CONTACTS] = {0};
    merge_worker *worker;
    sf_plan_part(plan, part, &first, &count);
    const uint8_t *elements = sequences + first * (size_t)m->problem->length;
    int status = worker_take(m, elements, &worker, err);
    if (status != SF_OK)
        return status;
    worker_prepare(m, worker, elements);
    const size_t n_pieces = worker->square_job.n_pieces, piece = part % plan->parts_per_block;
    status = m->count(&worker->square_job, &worker->workspace, n_pieces * piece / m->n_parts,
                      n_pieces * (piece + 1) / m->n_parts, m->options->stop, contacts);
    worker_give_back(m, worker);
    if (status != SF_OK)
        return sf_fail(err, status, "stopped while counting walks");
    return add_scores(m, contacts, partial, err);
}

static uint64_t memory(const void *state)
{
    merge_state *m = (merge_state *)(uintptr_t)state;
    uint64_t bytes = sizeof *m;
    if (m->plain)
        return bytes + sf_engine_walk_plain.memory(m->plain);
    lock(m);
    for (const merge_worker *w = m->all; w; w = w->all)
        bytes += sizeof *w + w->workspace.memory_bytes;
    unlock(m);
    return bytes;
}

static void close_merge(void *state)
{
    merge_state *m = state;
    if (m->plain)
        sf_engine_walk_plain.close(m->plain);
    for (merge_worker *w = m->all; w;) {
        merge_worker *next = w->all;
        sf_square_workspace_free(&w->workspace);
        free(w);
        w = next;
    }
    free(m);
}

const sf_engine_ops sf_engine_walk = {
    .name = "walk",
    .counts_everything = true,
    .estimate = estimate,
    .open = open_merge,
    .plan = plan_merge,
    .evaluate = evaluate,
    .memory = memory,
    .close = close_merge,
};

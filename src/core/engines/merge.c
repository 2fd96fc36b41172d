/* Engine "walk": exact histograms by merging equal tails (merge_square_kernel.h tells how, merge_cubic_kernel.h what
 * differs in space); what it cannot merge goes to the plain enumeration of walk_plain.c.
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

enum { SCRATCH_BYTES = 1 << 20 }; /* more than any kernel's */

/* What a thread works with between two parts. */
typedef struct merge_worker {
    struct merge_worker *next; /* idle workers */
    struct merge_worker *all;  /* every worker made */
    bool prepared;
    uint8_t elements[SF_LENGTH_MAX]; /* the sequence that `job` is made of */
    union {
        square_job square;
        cubic_job cubic;
    } job;
    merge_workspace workspace;
} merge_worker;

typedef struct merge_state {
    const sf_problem *problem;
    const sf_engine_options *options;
    void *plain;                  /* state of the plain engine when that does the work, or NULL */
    bool class_h[SF_LETTERS_MAX]; /* letters that make contacts that count */
    int weight;                   /* of such a contact */
    size_t n_parts;
    square_count *square_count;
    cubic_count *cubic_count;
    cubic_geometry *geometry; /* NULL on the square lattice */
    int lock; /* guards what follows */
    merge_worker *idle, *all;
    bool decided; /* `split` is that of `decided_elements` */
    uint8_t decided_elements[SF_LENGTH_MAX];
    merge_split split;
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
    return sf_merge_can(problem->lattice->dimension, problem->length) && one_class(problem->model, class_h, &weight);
}

static void choose_kernels(merge_state *state, sf_isa isa)
{
    state->square_count = sf_square_count_portable;
    state->cubic_count = sf_cubic_count_portable;
#if defined __x86_64__
    if (isa == SF_ISA_AVX512) {
        state->square_count = sf_square_count_avx512;
        state->cubic_count = sf_cubic_count_avx512;
    } else if (isa == SF_ISA_AVX2) {
        state->square_count = sf_square_count_avx2;
        state->cubic_count = sf_cubic_count_avx2;
    }
#endif
    (void)isa;
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
    merge_sizes sizes;
    sf_merge_sizes(state->problem->lattice->dimension, state->problem->length, &sizes);
    int status = sf_merge_workspace_init(&made->workspace, &sizes, err);
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

/* The split of a sequence: the last one decided if it is the same, so that few threads take the sample. */
static int split_get(merge_state *state, merge_worker *worker, const uint8_t *elements, const uint8_t *h,
                     merge_split *split, sf_error *err)
{
    const int length = state->problem->length;
    lock(state);
    const bool known = state->decided && memcmp(state->decided_elements, elements, (size_t)length) == 0;
    *split = state->split;
    unlock(state);
    if (known)
        return SF_OK;
    const int status = state->geometry ? sf_merge_cubic_split(state->geometry, length, h, state->cubic_count,
                                                              &worker->workspace, state->options->stop, split, err)
                                       : sf_merge_square_split(length, h, state->square_count, &worker->workspace,
                                                               state->options->stop, split, err);
    if (status != SF_OK)
        return status;
    lock(state);
    state->decided = true;
    memcpy(state->decided_elements, elements, (size_t)length);
    state->split = *split;
    unlock(state);
    return SF_OK;
}

/* Makes the sequence ready, unless it is already. */
static int worker_prepare(merge_state *state, merge_worker *worker, const uint8_t *elements, sf_error *err)
{
    const int length = state->problem->length;
    uint8_t h[SF_LENGTH_MAX];
    merge_split split;
    if (worker->prepared && memcmp(worker->elements, elements, (size_t)length) == 0)
        return SF_OK;
    worker->prepared = false;
    for (int k = 0; k < length; k++)
        h[k] = state->class_h[elements[k]];
    const int status = split_get(state, worker, elements, h, &split, err);
    if (status != SF_OK)
        return status;
    if (state->geometry)
        sf_merge_cubic_prepare(state->geometry, length, h, split, &worker->job.cubic);
    else
        sf_merge_square_prepare(length, h, split, &worker->job.square);
    sf_merge_workspace_renew(&worker->workspace);
    memcpy(worker->elements, elements, (size_t)length);
    worker->prepared = true;
    return SF_OK;
}

/* ---- the engine ---- */

static int estimate(const sf_problem *problem, const sf_engine_options *options, sf_engine_cost *cost, sf_error *err)
{
    if (!can_merge(problem))
        return sf_engine_walk_plain.estimate(problem, options, cost, err);
    const int dimension = problem->lattice->dimension;
    merge_sizes sizes;
    sf_merge_sizes(dimension, problem->length, &sizes);
    *cost = (sf_engine_cost){
        .memory_bytes =
            (uint64_t)options->n_threads * (sizeof(merge_worker) + SCRATCH_BYTES + sf_merge_workspace_bytes(&sizes)) +
            sizeof(cubic_geometry),
        .open_s = 1e-4,
        .sequence_s = sf_merge_seconds(dimension, problem->length, sf_isa_get()),
    };
    return SF_OK;
}

static int make_geometry(merge_state *state, sf_error *err)
{
    state->geometry = aligned_alloc(64, (sizeof *state->geometry + 63) / 64 * 64);
    if (!state->geometry)
        return sf_fail(err, SF_ENOMEM, "no memory to open engine walk");
    sf_cubic_geometry_init(state->geometry);
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
        m->n_parts = sf_merge_parts(problem->lattice->dimension, problem->length);
        choose_kernels(m, sf_isa_get());
        if (problem->lattice->dimension == 3)
            status = make_geometry(m, err);
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
    for (int c = 0; c < CUBIC_CONTACTS; c++) {
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

static int count_part(const merge_state *state, merge_worker *worker, size_t piece, uint64_t *contacts, sf_error *err)
{
    const square_job *square = &worker->job.square;
    const cubic_job *cubic = &worker->job.cubic;
    const size_t n_pieces = state->geometry ? cubic->n_pieces : square->n_pieces;
    const size_t first = n_pieces * piece / state->n_parts, last = n_pieces * (piece + 1) / state->n_parts;
    if (first == last)
        return SF_OK;
    if (state->geometry)
        return state->cubic_count(cubic, &worker->workspace, first, last, state->options->stop, contacts, err);
    return state->square_count(square, &worker->workspace, first, last, state->options->stop, contacts, err);
}

static int evaluate(const void *state, const sf_plan *plan, const uint8_t *sequences, size_t part, uint64_t *partial,
                    sf_error *err)
{
    merge_state *m = (merge_state *)(uintptr_t)state; /* what changes has its lock */
    if (m->plain)
        return sf_engine_walk_plain.evaluate(m->plain, plan, sequences, part, partial, err);
    size_t first, count;
    uint64_t contacts[CUBIC_CONTACTS] = {0};
    merge_worker *worker;
    sf_plan_part(plan, part, &first, &count);
    const uint8_t *elements = sequences + first * (size_t)m->problem->length;
    int status = worker_take(m, elements, &worker, err);
    if (status != SF_OK)
        return status;
    status = worker_prepare(m, worker, elements, err);
    if (status == SF_OK)
        status = count_part(m, worker, part % plan->parts_per_block, contacts, err);
    worker_give_back(m, worker);
    return status == SF_OK ? add_scores(m, contacts, partial, err) : status;
}

static uint64_t memory(const void *state)
{
    merge_state *m = (merge_state *)(uintptr_t)state;
    uint64_t bytes = sizeof *m;
    if (m->plain)
        return bytes + sf_engine_walk_plain.memory(m->plain);
    lock(m);
    for (const merge_worker *w = m->all; w; w = w->all)
        bytes += sizeof *w + w->workspace.memory_bytes + w->workspace.scratch_bytes;
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
        sf_merge_workspace_free(&w->workspace);
        free(w);
        w = next;
    }
    free(m->geometry);
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

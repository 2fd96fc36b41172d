/* Workers: each has tables of its own, which live on from part to part while the sequence stays. They are kept in a
 * list while idle; whoever evaluates a part takes one. */
#include <stdlib.h>
#include <string.h>

#include "core/engines/merge/merge_worker.h"

struct merge_worker {
    struct merge_worker *next; /* idle workers */
    struct merge_worker *all;  /* every worker made */
    bool prepared;
    uint8_t elements[SF_LENGTH_MAX]; /* the sequence that `job` is made of */
    union {
        square_job square;
        cubic_job cubic;
        any_job any;
    } job;
    merge_workspace workspace;
};

/* ---- the list ---- */

static void lock(merge_crew *crew)
{
    while (__atomic_exchange_n(&crew->lock, 1, __ATOMIC_ACQUIRE)) {
    }
}

static void unlock(merge_crew *crew)
{
    __atomic_store_n(&crew->lock, 0, __ATOMIC_RELEASE);
}

static int worker_new(const merge_setup *setup, merge_crew *crew, merge_worker **worker, sf_error *err)
{
    merge_worker *made = aligned_alloc(64, (sizeof *made + 63) / 64 * 64);
    if (!made)
        return sf_fail(err, SF_ENOMEM, "no memory for a worker of engine walk");
    memset(made, 0, sizeof *made);
    const int status = sf_merge_workspace_init(&made->workspace, &setup->sizes, err);
    if (status != SF_OK) {
        free(made);
        return status;
    }
    lock(crew);
    made->all = crew->all;
    crew->all = made;
    unlock(crew);
    *worker = made;
    return SF_OK;
}

/* An idle worker, if possible one that knows the sequence, or a new one. */
static int worker_take(const merge_setup *setup, merge_crew *crew, const uint8_t *elements, merge_worker **worker,
                       sf_error *err)
{
    const size_t length = (size_t)setup->problem->length;
    lock(crew);
    merge_worker **link = &crew->idle;
    for (merge_worker **w = &crew->idle; *w; w = &(*w)->next) {
        if ((*w)->prepared && memcmp((*w)->elements, elements, length) == 0) {
            link = w;
            break;
        }
    }
    *worker = *link;
    if (*link)
        *link = (*link)->next;
    unlock(crew);
    return *worker ? SF_OK : worker_new(setup, crew, worker, err);
}

static void worker_give_back(merge_crew *crew, merge_worker *worker)
{
    lock(crew);
    worker->next = crew->idle;
    crew->idle = worker;
    unlock(crew);
}

uint64_t sf_merge_crew_bytes(merge_crew *crew)
{
    uint64_t bytes = 0;
    lock(crew);
    for (const merge_worker *w = crew->all; w; w = w->all)
        bytes += sizeof *w + w->workspace.memory_bytes + w->workspace.scratch_bytes;
    unlock(crew);
    return bytes;
}

void sf_merge_crew_free(merge_crew *crew)
{
    for (merge_worker *w = crew->all; w;) {
        merge_worker *next = w->all;
        sf_merge_workspace_free(&w->workspace);
        free(w);
        w = next;
    }
    *crew = (merge_crew){0};
}

/* ---- the sequence ---- */

/* The split of a sequence: the last one decided if it is the same, so that few threads take the sample. */
static int split_get(const merge_setup *setup, merge_crew *crew, merge_workspace *workspace, const uint8_t *elements,
                     const uint8_t *h, merge_split *split, sf_error *err)
{
    const int length = setup->problem->length;
    int status;
    lock(crew);
    const bool known = crew->decided && memcmp(crew->elements, elements, (size_t)length) == 0;
    *split = crew->split;
    unlock(crew);
    if (known)
        return SF_OK;
    if (setup->kind == MERGE_CUBIC)
        status =
            sf_merge_cubic_split(setup->geometry, length, h, setup->cubic_count, workspace, setup->stop, split, err);
    else
        status = sf_merge_square_split(length, h, setup->square_count, workspace, setup->stop, split, err);
    if (status != SF_OK)
        return status;
    lock(crew);
    crew->decided = true;
    memcpy(crew->elements, elements, (size_t)length);
    crew->split = *split;
    unlock(crew);
    return SF_OK;
}

static int prepare_job(const merge_setup *setup, merge_crew *crew, merge_worker *worker, const uint8_t *elements,
                       sf_error *err)
{
    const int length = setup->problem->length;
    uint8_t h[SF_LENGTH_MAX];
    merge_split split;
    if (setup->kind == MERGE_ANY) {
        sf_any_job_init(&worker->job.any, setup->problem, elements, false);
        return SF_OK;
    }
    for (int k = 0; k < length; k++)
        h[k] = setup->class_h[elements[k]];
    const int status = split_get(setup, crew, &worker->workspace, elements, h, &split, err);
    if (status != SF_OK)
        return status;
    if (setup->kind == MERGE_CUBIC)
        sf_merge_cubic_prepare(setup->geometry, length, h, split, &worker->job.cubic);
    else
        sf_merge_square_prepare(length, h, split, &worker->job.square);
    return SF_OK;
}

/* Makes the sequence ready, unless it is already. */
static int worker_prepare(const merge_setup *setup, merge_crew *crew, merge_worker *worker, const uint8_t *elements,
                          sf_error *err)
{
    const size_t length = (size_t)setup->problem->length;
    if (worker->prepared && memcmp(worker->elements, elements, length) == 0)
        return SF_OK;
    worker->prepared = false;
    const int status = prepare_job(setup, crew, worker, elements, err);
    if (status != SF_OK)
        return status;
    sf_merge_workspace_renew(&worker->workspace);
    memcpy(worker->elements, elements, length);
    worker->prepared = true;
    return SF_OK;
}

/* ---- counting ---- */

/* Adds counts by contacts to counts by score. */
static int add_scores(const merge_setup *setup, const uint64_t *contacts, uint64_t *partial, sf_error *err)
{
    for (int c = 0; c < CUBIC_CONTACTS; c++) {
        const int score = c * setup->weight - setup->problem->min_score;
        if (contacts[c] == 0)
            continue;
        if (score < 0 || score >= setup->problem->n_scores)
            return sf_fail(err, SF_ECHECK, "engine walk found %d contacts, more than %d residues can have", c,
                           setup->problem->length);
        if (__builtin_add_overflow(partial[score], contacts[c], &partial[score]))
            return sf_fail(err, SF_EOVERFLOW, "more conformations than 64 bits can count");
    }
    return SF_OK;
}

static int count_part(const merge_setup *setup, merge_worker *worker, size_t part, uint64_t *partial, sf_error *err)
{
    uint64_t contacts[CUBIC_CONTACTS] = {0};
    merge_workspace *workspace = &worker->workspace;
    const size_t n_pieces = setup->kind == MERGE_SQUARE  ? worker->job.square.n_pieces
                            : setup->kind == MERGE_CUBIC ? worker->job.cubic.n_pieces
                                                         : worker->job.any.n_pieces;
    const size_t first = n_pieces * part / setup->n_parts, last = n_pieces * (part + 1) / setup->n_parts;
    int status;
    if (first == last)
        return SF_OK;
    if (setup->kind == MERGE_ANY)
        return sf_any_count(&worker->job.any, workspace, first, last, setup->stop, partial, err);
    if (setup->kind == MERGE_CUBIC)
        status = setup->cubic_count(&worker->job.cubic, workspace, first, last, setup->stop, contacts, err);
    else
        status = setup->square_count(&worker->job.square, workspace, first, last, setup->stop, contacts, err);
    return status == SF_OK ? add_scores(setup, contacts, partial, err) : status;
}

int sf_merge_crew_count(const merge_setup *setup, merge_crew *crew, const uint8_t *elements, size_t part,
                        uint64_t *partial, sf_error *err)
{
    merge_worker *worker;
    int status = worker_take(setup, crew, elements, &worker, err);
    if (status != SF_OK)
        return status;
    status = worker_prepare(setup, crew, worker, elements, err);
    if (status == SF_OK)
        status = count_part(setup, worker, part, partial, err);
    worker_give_back(crew, worker);
    return status;
}

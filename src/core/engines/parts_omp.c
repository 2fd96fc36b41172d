/* Threads over parts. A part whose block has no other writes straight to its rows; pieces of one block are counted
 * apart and added under a lock, which is rare and short beside counting. */
#include "core/engines/parts_omp.h"

#include <stdlib.h>
#include <string.h>

#include "core/engines/aside.h"

void sf_plan_part(const sf_plan *plan, size_t part, size_t *first, size_t *count)
{
    *first = part / plan->parts_per_block * plan->block;
    *count = plan->n_sequences - *first < plan->block ? plan->n_sequences - *first : plan->block;
}

int sf_plan_complete(sf_plan *plan, size_t n_sequences, sf_error *err)
{
    size_t n_blocks = n_sequences / plan->block + (n_sequences % plan->block != 0);
    plan->n_sequences = n_sequences;
    if (__builtin_mul_overflow(n_blocks, plan->parts_per_block, &plan->n_parts))
        return sf_fail(err, SF_ELIMIT,
                       "%zu sequences in blocks of %zu, each in %zu parts, are too many parts; evaluate "
                       "fewer sequences at once",
                       n_sequences, plan->block, plan->parts_per_block);
    return SF_OK;
}

/* ---- the pool ---- */

int sf_part_pool_init(sf_part_pool *pool, int n_threads, sf_error *err)
{
    /* a run that each thread is at, and those that were added */
    *pool = (sf_part_pool){.run = calloc(2 * (size_t)n_threads + 1, sizeof *pool->run)};
    return pool->run ? SF_OK : sf_fail(err, SF_ENOMEM, "out of memory for the parts of %d threads", n_threads);
}

void sf_part_pool_free(sf_part_pool *pool)
{
    free(pool->run);
    *pool = (sf_part_pool){.run = NULL};
}

void sf_part_pool_add(sf_part_pool *pool, size_t next, size_t end)
{
    pool->run[pool->n++] = (sf_part_run){.next = next, .end = end};
}

size_t sf_part_pool_left(const sf_part_pool *pool)
{
    size_t left = 0;
    for (size_t i = 0; i < pool->n; i++)
        left += pool->run[i].end - pool->run[i].next;
    return left;
}

/* The run to go on with; its owner's, or a new one's, or the longest. */
static size_t choose_run(const sf_part_pool *pool, bool in_order, size_t last)
{
    size_t best = 0;
    for (size_t i = 0; i < pool->n && !in_order; i++) {
        const sf_part_run *r = &pool->run[i], *b = &pool->run[best];
        if (last != SIZE_MAX && r->owned && r->next == last + 1)
            return i;
        if (r->owned != b->owned ? !r->owned : r->end - r->next > b->end - b->next)
            best = i;
    }
    return best;
}

bool sf_part_pool_take(sf_part_pool *pool, bool in_order, size_t last, size_t *place)
{
    if (pool->n == 0)
        return false;
    const size_t chosen = choose_run(pool, in_order, last);
    sf_part_run *r = &pool->run[chosen];
    const size_t left = r->end - r->next;
    if (!in_order && r->owned && left > 1 && (last == SIZE_MAX || r->next != last + 1)) {
        const sf_part_run half = {.next = r->next + left / 2, .end = r->end, .owned = true};
        r->end = half.next;
        r = &pool->run[pool->n++];
        *r = half;
    }
    r->owned = true;
    *place = r->next++;
    if (r->next == r->end) {
        const size_t i = (size_t)(r - pool->run);
        memmove(r, r + 1, (--pool->n - i) * sizeof *r);
    }
    return true;
}

/* ---- the work ---- */

typedef struct run {
    const sf_plan *plan;
    size_t n_scores;
    const volatile int *stop;
    sf_part_evaluate evaluate;
    const void *context;
    uint64_t *histograms;
    sf_aside aside;
    bool idle; /* a thread has found no part left */
    /* the lowest part that failed, and how; guarded by the critical section, `failed` also read without */
    bool failed;
    size_t failed_part;
    sf_error failure;
} run;

static void note_failure(run *r, size_t part, const sf_error *failure)
{
#pragma omp critical(sf_parts_failure)
    {
        if (!r->failed || part < r->failed_part) {
            r->failed_part = part;
            r->failure = *failure;
        }
#pragma omp atomic write
        r->failed = true;
    }
}

static bool somebody_idle(void *context)
{
    const run *r = context;
    bool idle;
#pragma omp atomic read
    idle = r->idle;
    return idle;
}

static void run_part(run *r, const sf_plan *plan, size_t part, uint64_t *scratch)
{
    size_t first, count;
    sf_error err = {0};
    int status;
    sf_plan_part(r->plan, part, &first, &count);
    uint64_t *rows = r->histograms + first * r->n_scores;
    uint64_t *partial = r->plan->parts_per_block == 1 ? rows : scratch;
    memset(partial, 0, count * r->n_scores * sizeof *partial);
    if (r->stop && *r->stop)
        status = sf_fail(&err, SF_ESTOPPED, "stopped while histograms were counted");
    else
        status = r->evaluate(r->context, plan, part, partial, &err);
    if (status == SF_OK && partial != rows) {
#pragma omp critical(sf_parts_sum)
        status = sf_counts_add(count * r->n_scores, rows, partial);
        if (status != SF_OK)
            sf_fail(&err, status, "a histogram needs counts beyond 64 bits");
    }
    if (status != SF_OK) {
        err.code = status;
        note_failure(r, part, &err);
    }
}

/* The next place for a thread that was at *place; false when all are taken, or one has failed. */
static bool take_place(run *r, sf_part_pool *pool, bool in_order, size_t *place)
{
    bool failed, taken = false;
#pragma omp atomic read
    failed = r->failed;
    if (!failed) {
#pragma omp critical(sf_parts_pool)
        taken = sf_part_pool_take(pool, in_order, *place, place);
    }
    return taken;
}

/* What was given back, one part after the other, each with all threads. */
static void run_aside(run *r)
{
    sf_plan plan = *r->plan;
    for (size_t i = 0; i < r->aside.n && !r->failed; i++) {
        plan.begun = &r->aside.parts[i];
        run_part(r, &plan, plan.begun->part, NULL);
    }
}

int sf_parts_run(const sf_plan *plan, const size_t *order, int n_scores, int n_threads, const volatile int *stop,
                 sf_part_evaluate evaluate, const void *context, uint64_t *histograms, sf_error *err)
{
    run r = {.plan = plan,
             .n_scores = (size_t)n_scores,
             .stop = stop,
             .evaluate = evaluate,
             .context = context,
             .histograms = histograms};
    const bool pieces = plan->parts_per_block > 1;
    const size_t n_parts = plan->n_parts;
    /* No more threads than parts: a part alone may have threads of its own, and inside a team it would not get them. */
    const int team = n_parts < (size_t)n_threads ? (int)n_parts + (n_parts == 0) : n_threads;
    size_t scratch_bytes;
    sf_plan alone = *plan; /* one thread a part */
    r.aside = (sf_aside){.wanted = somebody_idle, .context = &r};
    r.idle = team < n_threads;
    if (n_threads > 1 && n_parts > 1 && !pieces)
        alone.aside = &r.aside;
    memset(histograms, 0, plan->n_sequences * (size_t)n_scores * sizeof *histograms);
    if (pieces) {
        size_t rows = plan->block < plan->n_sequences ? plan->block : plan->n_sequences;
        if (__builtin_mul_overflow(rows, (size_t)n_scores * sizeof(uint64_t), &scratch_bytes))
            return sf_fail(err, SF_ENOMEM, "no memory for the histograms of %zu sequences", rows);
    } else {
        scratch_bytes = 0;
    }
    sf_part_pool pool;
    const int status = sf_part_pool_init(&pool, team, err);
    if (status != SF_OK)
        return status;
    if (n_parts > 0)
        sf_part_pool_add(&pool, 0, n_parts);
#pragma omp parallel num_threads(team)
    {
        uint64_t *scratch = pieces ? malloc(scratch_bytes) : NULL;
        if (pieces && !scratch) {
            sf_error no_memory;
            sf_fail(&no_memory, SF_ENOMEM, "no memory for the histograms of a thread (%zu bytes)", scratch_bytes);
            note_failure(&r, 0, &no_memory);
        }
        size_t place = SIZE_MAX;
        while (take_place(&r, &pool, order != NULL, &place))
            run_part(&r, &alone, order ? order[place] : place, scratch);
#pragma omp atomic write
        r.idle = true;
        free(scratch);
    }
    sf_part_pool_free(&pool);
    run_aside(&r);
    sf_aside_free(&r.aside);
    if (r.failed) {
        if (err)
            *err = r.failure;
        return r.failure.code;
    }
    return SF_OK;
}

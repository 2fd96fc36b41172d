/* Threads over parts. A part whose block has no other writes straight to its rows; pieces of one block are counted
 * apart and added under a lock, which is rare and short beside counting. */
#include "core/engines/parts_omp.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

typedef struct run {
    const sf_plan *plan;
    size_t n_scores;
    const volatile int *stop;
    sf_part_evaluate evaluate;
    const void *context;
    uint64_t *histograms;
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

static void run_part(run *r, size_t part, uint64_t *scratch)
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
        status = r->evaluate(r->context, r->plan, part, partial, &err);
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
    memset(histograms, 0, plan->n_sequences * (size_t)n_scores * sizeof *histograms);
    if (pieces) {
        size_t rows = plan->block < plan->n_sequences ? plan->block : plan->n_sequences;
        if (__builtin_mul_overflow(rows, (size_t)n_scores * sizeof(uint64_t), &scratch_bytes))
            return sf_fail(err, SF_ENOMEM, "no memory for the histograms of %zu sequences", rows);
    } else {
        scratch_bytes = 0;
    }
#pragma omp parallel num_threads(team)
    {
        uint64_t *scratch = pieces ? malloc(scratch_bytes) : NULL;
        if (pieces && !scratch) {
            sf_error no_memory;
            sf_fail(&no_memory, SF_ENOMEM, "no memory for the histograms of a thread (%zu bytes)", scratch_bytes);
            note_failure(&r, 0, &no_memory);
        }
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < n_parts; i++) {
            bool failed;
#pragma omp atomic read
            failed = r.failed;
            if (!failed)
                run_part(&r, order ? order[i] : i, scratch);
        }
        free(scratch);
    }
    if (r.failed) {
        if (err)
            *err = r.failure;
        return r.failure.code;
    }
    return SF_OK;
}

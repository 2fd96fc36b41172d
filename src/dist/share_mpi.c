/* Parts are dealt in turn (rank r takes r, r + size, ...): neighbouring parts cost about the same, so the ranks end
 * together without a master. Which rank did what does not matter, because partials are integers that add. */
#include "dist/share_mpi.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct share {
    const sf_engine *engine;
    const sf_plan *plan;
    const uint8_t *sequences;
    uint64_t *histograms;
    size_t n_scores;
} share;

/* A block in one part belongs to one thread: it counts in place. Pieces of a block share rows: each counts aside. */
static int evaluate_part(const share *work, size_t part, uint64_t *aside, sf_error *err)
{
    size_t first, count;
    sf_plan_part(work->plan, part, &first, &count);
    uint64_t *rows = work->histograms + first * work->n_scores;
    if (work->plan->parts_per_block == 1)
        return sf_engine_evaluate(work->engine, work->plan, work->sequences, part, rows, err);
    memset(aside, 0, count * work->n_scores * sizeof *aside);
    int code = sf_engine_evaluate(work->engine, work->plan, work->sequences, part, aside, err);
    if (!code) {
#pragma omp critical(sf_share_add)
        code = sf_counts_add(count * work->n_scores, rows, aside);
        if (code)
            sf_fail(err, code, "a count of conformations does not fit 64 bits");
    }
    return code;
}

static int evaluate_own(const share *work, const sf_comm *comm, int n_threads, sf_share_progress progress,
                        void *context, sf_error *err)
{
    size_t n_parts = work->plan->n_parts, rank = (size_t)comm->rank, size = (size_t)comm->size;
    size_t n_own = n_parts > rank ? (n_parts - rank - 1) / size + 1 : 0, n_done = 0;
    size_t aside_size = work->plan->block * work->n_scores;
    /* no more threads than parts: a part alone may have threads of its own, and inside a team it would not get them */
    const int team = n_own < (size_t)n_threads ? (int)n_own + (n_own == 0) : n_threads;
    int result = 0;
#pragma omp parallel num_threads(team)
    {
        uint64_t *aside = malloc((aside_size ? aside_size : 1) * sizeof *aside);
        sf_error own = {0, ""};
        int code = aside ? 0 : sf_fail(&own, SF_ENOMEM, "out of memory for partial histograms");
#pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < n_own; i++) {
            int failed;
#pragma omp atomic read
            failed = result;
            if (!code && !failed)
                code = evaluate_part(work, rank + i * size, aside, &own);
            size_t done;
#pragma omp atomic capture
            done = ++n_done;
            if (progress && omp_get_thread_num() == 0)
                progress(context, done, n_own);
            if (code) {
#pragma omp atomic write
                result = code;
            }
        }
        if (code) {
#pragma omp critical(sf_share_error)
            {
                result = code;
                if (err)
                    *err = own;
            }
        }
        free(aside);
    }
    return result;
}

int sf_share_histograms(const sf_comm *comm, const sf_engine *engine, int n_scores, size_t n, const uint8_t *sequences,
                        int n_threads, uint64_t *histograms, sf_share_progress progress, void *context, sf_error *err)
{
    sf_plan plan;
    size_t n_counts = 0;
    share work = {engine, &plan, sequences, histograms, (size_t)n_scores};
    int code = sf_engine_plan(engine, n, sequences, &plan, err);
    if (!code && __builtin_mul_overflow(n, (size_t)n_scores, &n_counts))
        code = sf_fail(err, SF_ELIMIT, "%zu sequences are too many for one batch", n);
    if (!code) {
        memset(histograms, 0, n_counts * sizeof *histograms);
        code = evaluate_own(&work, comm, n_threads, progress, context, err);
    }
    code = sf_comm_agree(comm, code, err);
    if (!code)
        code = sf_comm_sum(comm, n_counts, histograms, err);
    for (size_t i = 0; !code && i < n; i++)
        code = sf_engine_check(engine, histograms + i * (size_t)n_scores, err);
    return code; /* the same counts everywhere, so the same answer of the check */
}

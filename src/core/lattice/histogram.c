/* Histograms: sums that cannot overflow unseen, and what follows from one. */
#include <string.h>

#include "starfold/problem.h"

int sf_count_add(uint64_t *into, uint64_t count)
{
    if (*into < SF_COUNT_UNKNOWN && count < SF_COUNT_UNKNOWN) {
        if (count >= SF_COUNT_UNKNOWN - *into)
            return SF_EOVERFLOW;
        *into += count;
    } else if (*into != count && count != 0) {
        /* One is a mark and they differ: only UNKNOWN and nothing would stay unknown. */
        *into = *into == 0 ? count : SF_COUNT_SOME;
    }
    return SF_OK;
}

int sf_counts_add(size_t n, uint64_t *into, const uint64_t *counts)
{
    for (size_t i = 0; i < n; i++) {
        int status = sf_count_add(&into[i], counts[i]);
        if (status != SF_OK)
            return status;
    }
    return SF_OK;
}

int sf_histogram_summary(const sf_problem *problem, const uint64_t *histogram, sf_summary *summary)
{
    *summary = (sf_summary){.best_score = problem->min_score, .exact = true, .counted = true};
    for (int i = 0; i < problem->n_scores; i++) {
        uint64_t count = histogram[i];
        if (count == 0)
            continue;
        if (count == SF_COUNT_UNKNOWN) {
            summary->exact = false;
            summary->counted = false;
            continue;
        }
        summary->distinct_scores++;
        summary->best_score = problem->min_score + i;
        if (count == SF_COUNT_SOME)
            summary->counted = false;
        else if (__builtin_add_overflow(summary->conformations, count, &summary->conformations))
            return SF_EOVERFLOW;
    }
    return SF_OK;
}

bool sf_stars(int best_score, int stars[3])
{
    if (best_score < 3)
        return false;
    stars[0] = best_score / 2;
    stars[1] = best_score - 1;
    stars[2] = best_score;
    return true;
}

bool sf_histogram_settled(int n_scores, const uint64_t *histogram, int top_counts)
{
    for (int s = n_scores - 1; s >= 0; s--) {
        if (histogram[s] == SF_COUNT_UNKNOWN || (top_counts > 0 && histogram[s] == SF_COUNT_SOME))
            return false;
        top_counts -= histogram[s] != 0;
    }
    return true;
}

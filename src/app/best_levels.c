/* The best levels. The store of known sequences is in no useful order, so rows are sorted; the order is total, so the
 * same sequences give the same list. */
#include "app/best_levels.h"

#include <stdlib.h>
#include <string.h>

static int compare_rows(const void *a, const void *b, void *context)
{
    const sf_known *known = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b, length = (size_t)known->length;
    if (known->fitness[x] != known->fitness[y])
        return known->fitness[x] > known->fitness[y] ? -1 : 1;
    if (known->best_score[x] != known->best_score[y])
        return known->best_score[x] > known->best_score[y] ? -1 : 1;
    return memcmp(known->genome + x * length, known->genome + y * length, length);
}

/* The least score that a star's threshold asks for and the sequence can reach; the best score at the latest. */
static int star_score(const sf_problem *problem, const uint64_t *histogram, int threshold, int best)
{
    for (int score = threshold; score < best; score++) {
        uint64_t count = histogram[score - problem->min_score];
        if (count != 0 && count != SF_COUNT_UNKNOWN)
            return score;
    }
    return best;
}

static int fill_level(const sf_problem *problem, const sf_known *known, sf_level *level, sf_error *err)
{
    const uint8_t *genome = known->genome + level->row * (size_t)known->length;
    const uint64_t *histogram = known->histogram + level->row * (size_t)known->n_scores;
    int best = known->best_score[level->row];
    level->has_stars = sf_stars(best, level->stars);
    for (int i = 0; level->has_stars && i < 3; i++) {
        level->solution[i] = malloc((size_t)known->length);
        if (!level->solution[i])
            return sf_fail(err, SF_ENOMEM, "out of memory for the best levels");
        int score = star_score(problem, histogram, level->stars[i], best);
        int code = sf_witness_find(problem, genome, score, level->solution[i], err);
        if (code)
            return code;
    }
    return 0;
}

int sf_best_levels(const sf_problem *problem, const sf_known *known, size_t count, sf_level **levels, size_t *n,
                   sf_error *err)
{
    size_t *order = malloc((known->n + 1) * sizeof *order);
    *n = count < known->n ? count : known->n;
    *levels = calloc(*n + 1, sizeof **levels);
    int code = order && *levels ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for the best levels");
    if (!code) {
        for (size_t i = 0; i < known->n; i++)
            order[i] = i;
        qsort_r(order, known->n, sizeof *order, compare_rows, (void *)known);
    }
    for (size_t i = 0; !code && i < *n; i++) {
        (*levels)[i].row = order[i];
        code = fill_level(problem, known, &(*levels)[i], err);
    }
    free(order);
    if (code) {
        sf_best_levels_free(*levels, *n);
        *levels = NULL;
        *n = 0;
    }
    return code;
}

void sf_best_levels_free(sf_level *levels, size_t n)
{
    for (size_t i = 0; levels && i < n; i++) {
        for (int star = 0; star < 3; star++)
            free(levels[i].solution[star]);
    }
    free(levels);
}

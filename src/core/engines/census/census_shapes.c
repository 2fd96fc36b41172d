/* Shapes: rows of counts, sorted and made distinct. */
#include "core/engines/census/census_shapes.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

int sf_shapes_reserve(sf_shapes *shapes, size_t n, sf_error *err)
{
    size_t width = sf_shapes_width(shapes);
    if (n <= shapes->room - shapes->n)
        return 0;
    uint64_t *row = NULL;
    if (n <= SIZE_MAX / width / sizeof *row - shapes->n)
        row = sf_array_grow(shapes->row, shapes->n * width, (shapes->n + n) * width, sizeof *row);
    if (!row)
        return sf_fail(err, SF_ENOMEM, "out of memory for the histograms of %zu sequences", n);
    shapes->row = row;
    shapes->room = shapes->n + n;
    return 0;
}

void sf_shapes_free(sf_shapes *shapes)
{
    free(shapes->row);
    *shapes = (sf_shapes){0};
}

static int compare_counts(const void *a, const void *b, void *n_scores)
{
    const uint64_t *x = a, *y = b;
    for (int s = 0; s < *(const int *)n_scores; s++) {
        if (x[s] != y[s])
            return x[s] < y[s] ? -1 : 1;
    }
    return 0;
}

void sf_shapes_settle(sf_shapes *shapes)
{
    size_t width = sf_shapes_width(shapes), n = 0, n_scores = (size_t)shapes->n_scores;
    if (shapes->n == 0)
        return;
    qsort_r(shapes->row, shapes->n, width * sizeof *shapes->row, compare_counts, &shapes->n_scores);
    for (size_t i = 0; i < shapes->n; i++) {
        uint64_t *here = sf_shapes_row(shapes, i), *last = n > 0 ? sf_shapes_row(shapes, n - 1) : NULL;
        if (last && compare_counts(here, last, &shapes->n_scores) == 0) {
            last[n_scores] += here[n_scores];
            last[n_scores + 1] = here[n_scores + 1] < last[n_scores + 1] ? here[n_scores + 1] : last[n_scores + 1];
        } else {
            memmove(sf_shapes_row(shapes, n++), here, width * sizeof *here);
        }
    }
    shapes->n = n;
}

int sf_shapes_fitness(const sf_shapes *shapes, size_t i)
{
    const uint64_t *row = sf_shapes_row(shapes, i);
    int fitness = 0;
    for (int s = 0; s < shapes->n_scores; s++)
        fitness += row[s] > 0;
    return fitness;
}

int sf_shapes_best(const sf_shapes *shapes, size_t i)
{
    const uint64_t *row = sf_shapes_row(shapes, i);
    int best = shapes->n_scores - 1;
    while (best > 0 && row[best] == 0)
        best--;
    return best;
}

/* ---- in short ---- */

typedef struct weighed {
    uint64_t count, sequences;
} weighed;

static int compare_weighed(const void *a, const void *b)
{
    const weighed *x = a, *y = b;
    return x->count < y->count ? -1 : x->count > y->count;
}

/* Least, middle and greatest of n > 0 counts of `sequences` sequences in all; sorts them. */
static void find_range(weighed *list, size_t n, uint64_t sequences, uint64_t range[3])
{
    uint64_t passed = 0;
    size_t i = 0;
    qsort(list, n, sizeof *list, compare_weighed);
    while (passed + list[i].sequences <= (sequences - 1) / 2)
        passed += list[i++].sequences;
    range[0] = list[0].count;
    range[1] = list[i].count;
    range[2] = list[n - 1].count;
}

static void find_ranges(const sf_shapes *shapes, sf_shapes_summary *summary, const uint16_t *fitness, weighed *list)
{
    size_t n_scores = (size_t)shapes->n_scores;
    for (size_t f = 0; f <= n_scores; f++) {
        for (size_t s = 0; s < n_scores && summary->shapes[f] > 0; s++) {
            size_t n = 0;
            for (size_t i = 0; i < shapes->n; i++) {
                const uint64_t *row = sf_shapes_row(shapes, i);
                if (fitness[i] == f)
                    list[n++] = (weighed){row[s], row[n_scores]};
            }
            find_range(list, n, summary->sequences[f], summary->range + (f * n_scores + s) * 3);
        }
    }
}

int sf_shapes_summarise(const sf_shapes *shapes, sf_shapes_summary *summary, sf_error *err)
{
    size_t n_scores = (size_t)shapes->n_scores;
    weighed *list = sf_array_alloc(shapes->n, sizeof *list);
    uint16_t *fitness = sf_array_alloc(shapes->n, sizeof *fitness);
    *summary = (sf_shapes_summary){.n_scores = shapes->n_scores};
    summary->sequences = calloc(n_scores + 1, sizeof *summary->sequences);
    summary->shapes = calloc(n_scores + 1, sizeof *summary->shapes);
    summary->range = calloc((n_scores + 1) * n_scores * 3, sizeof *summary->range);
    int code = list && fitness && summary->sequences && summary->shapes && summary->range ? 0 : SF_ENOMEM;
    if (code)
        sf_fail(err, code, "out of memory for a summary of %zu histograms", shapes->n);
    for (size_t i = 0; !code && i < shapes->n; i++) {
        uint64_t sequences = sf_shapes_row(shapes, i)[n_scores];
        fitness[i] = (uint16_t)sf_shapes_fitness(shapes, i);
        summary->sequences[fitness[i]] += sequences;
        summary->shapes[fitness[i]]++;
        summary->most_shared = sequences > summary->most_shared ? sequences : summary->most_shared;
    }
    if (!code)
        find_ranges(shapes, summary, fitness, list);
    free(list);
    free(fitness);
    if (code)
        sf_shapes_summary_free(summary);
    return code;
}

void sf_shapes_summary_free(sf_shapes_summary *summary)
{
    free(summary->sequences);
    free(summary->shapes);
    free(summary->range);
    *summary = (sf_shapes_summary){0};
}

/* Sequences of any score model as sets of pairs, and the scores of their values. */
#include "core/engines/table/table_weighted.h"

#include <stdlib.h>
#include <string.h>

static int greatest_divisor(int a, int b)
{
    while (b) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The greatest common divisor of the weights: scores are multiples of it. */
static int unit_of(const sf_score_model *model)
{
    int unit = 0;
    for (int a = 0; a < model->n_letters; a++) {
        for (int b = 0; b <= a; b++)
            unit = greatest_divisor(unit, abs(model->weight[a][b]));
    }
    return unit ? unit : 1;
}

static void add_term(sf_weighted_query *query, sf_contact_map pairs, int digit)
{
    if (pairs)
        query->term[query->n_terms++] = (sf_weighted_term){pairs, digit};
}

void sf_weighted_query_init(sf_weighted_query *query, const sf_problem *problem, const sf_contact_layout *layout,
                            const uint8_t *elements)
{
    sf_contact_map pairs[2][SF_WEIGHT_DIGITS] = {{0}}; /* [takes off] */
    int unit = unit_of(problem->model);
    for (int late = 3; late < problem->length; late++) {
        const int *weights = problem->model->weight[elements[late]];
        for (int early = late - 3; early >= 0; early -= 2) {
            int weight = weights[elements[early]] / unit;
            sf_contact_map bit = (sf_contact_map)1 << (layout->first[late] + early / 2);
            for (unsigned size = (unsigned)abs(weight); size; size &= size - 1)
                pairs[weight < 0][__builtin_ctz(size)] |= bit;
        }
    }
    *query = (sf_weighted_query){.unit = unit, .zero = -problem->min_score / unit};
    query->n_values = (problem->n_scores - 1) / unit + 1;
    for (int digit = 0; digit < SF_WEIGHT_DIGITS; digit++)
        add_term(query, pairs[0][digit], digit);
    query->n_plus = query->n_terms;
    for (int digit = 0; digit < SF_WEIGHT_DIGITS; digit++)
        add_term(query, pairs[1][digit], digit);
}

/* Contacts of one sequence count 2^digit units or nothing, all with one sign: a question of plain HP. */
static bool is_plain(const sf_weighted_query *query)
{
    return query->n_terms <= 1;
}

static void add_plain(const sf_sliced_table *t, size_t first, size_t last, const sf_weighted_query *query,
                      const sf_problem *problem, uint64_t *histogram)
{
    uint64_t counts[SF_SLICED_SCORES] = {0};
    sf_contact_map pairs = query->n_terms ? query->term[0].pairs : 0;
    int step = query->n_terms ? query->unit << query->term[0].digit : 0;
    t->kernel->histograms(t, first, last, 1, &pairs, SF_SLICED_SCORES, counts);
    for (int i = 0; i <= t->max_contacts; i++) {
        if (counts[i])
            histogram[(query->n_plus ? i : -i) * step - problem->min_score] += counts[i];
    }
}

static void add_weighted(const sf_sliced_table *t, size_t first, size_t last, const sf_weighted_query *query,
                         uint64_t *histogram)
{
    uint64_t counts[SF_SCORES_MAX] = {0};
    t->kernel->weighted(t, first, last, query, counts);
    for (int value = 0; value < query->n_values; value++)
        histogram[value * query->unit] += counts[value];
}

void sf_weighted_histograms(const sf_sliced_table *t, const sf_problem *problem, size_t piece, size_t n_pieces, size_t n,
                            const uint8_t *elements, uint64_t *histograms)
{
    enum { CHUNK_WORDS = 1 << 15 }; /* several sequences take each stretch of the table in turn, while it is in the cache */
    size_t first = t->n_blocks * piece / n_pieces, last = t->n_blocks * (piece + 1) / n_pieces;
    sf_weighted_query query[SF_SLICED_BATCH];
    for (size_t i = 0; i < n; i += SF_SLICED_BATCH) {
        size_t here = n - i < SF_SLICED_BATCH ? n - i : SF_SLICED_BATCH;
        for (size_t j = 0; j < here; j++)
            sf_weighted_query_init(&query[j], problem, &t->layout, elements + (i + j) * (size_t)problem->length);
        for (size_t from = first; from < last;) {
            size_t to = here > 1 ? from + 1 : last;
            while (to < last && t->block[to].plane - t->block[from].plane < CHUNK_WORDS)
                to++;
            for (size_t j = 0; j < here; j++) {
                uint64_t *histogram = histograms + (i + j) * (size_t)problem->n_scores;
                if (is_plain(&query[j]))
                    add_plain(t, from, to, &query[j], problem, histogram);
                else
                    add_weighted(t, from, to, &query[j], histogram);
            }
            from = to;
        }
    }
}

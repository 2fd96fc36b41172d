/* The plain scans: one AND and one count of bits for every map of the table, or a weight for every contact of every map.
 * Kept as the oracles of the layered tables, and as what benchmarks compare with. */
#include "core/engines/table/table.h"

static inline int score_of(const sf_map_table *maps, size_t i, uint64_t low, uint64_t high)
{
    int score = __builtin_popcountll(maps->low[i] & low);
    return maps->high ? score + __builtin_popcountll(maps->high[i] & high) : score;
}

uint32_t sf_table_plain_scores(const sf_map_table *maps, uint32_t sequence)
{
    sf_contact_map mask = sf_contact_mask(&maps->layout, sequence);
    uint64_t low = (uint64_t)mask, high = (uint64_t)(mask >> 64);
    uint32_t scores = 0;
    for (size_t i = 0; i < maps->n_maps; i++)
        scores |= UINT32_C(1) << score_of(maps, i, low, high);
    return scores;
}

void sf_table_plain_histogram(const sf_map_table *maps, uint32_t sequence, uint64_t *histogram)
{
    sf_contact_map mask = sf_contact_mask(&maps->layout, sequence);
    uint64_t low = (uint64_t)mask, high = (uint64_t)(mask >> 64);
    for (size_t i = 0; i < maps->n_maps; i++)
        histogram[score_of(maps, i, low, high)] += maps->count[i];
}

void sf_table_plain_model_histogram(const sf_map_table *maps, const sf_problem *problem, const uint8_t *elements,
                                    uint64_t *histogram)
{
    int weight[128] = {0};
    for (int late = 3; late < problem->length; late++) {
        for (int early = late - 3; early >= 0; early -= 2)
            weight[sf_contact_bit(&maps->layout, early, late)] = problem->model->weight[elements[late]][elements[early]];
    }
    for (size_t i = 0; i < maps->n_maps; i++) {
        int score = 0;
        for (uint64_t bits = maps->low[i]; bits; bits &= bits - 1)
            score += weight[__builtin_ctzll(bits)];
        for (uint64_t bits = maps->high ? maps->high[i] : 0; bits; bits &= bits - 1)
            score += weight[64 + __builtin_ctzll(bits)];
        histogram[score - problem->min_score] += maps->count[i];
    }
}

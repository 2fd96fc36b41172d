/* The plain scan: one AND and one count of bits for every map of the table. Kept as the oracle of the layered tables, and
 * as what benchmarks compare with. */
#include "core/engines/table.h"

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

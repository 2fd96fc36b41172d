/* The plain census: every sequence asks every map. Kept as the oracle of the collapsing census and as what benchmarks
 * compare with. */
#include <string.h>

#include "core/engines/census/census.h"

void sf_census_add(sf_census *sum, const sf_census *other)
{
    sum->sequences += other->sequences;
    sum->unique_best += other->unique_best;
    sum->sequences_with_gaps += other->sequences_with_gaps;
    for (int i = 0; i <= SF_SCORES_MAX; i++)
        sum->fitness[i] += other->fitness[i];
    for (int i = 0; i < SF_SCORES_MAX; i++)
        sum->best[i] += other->best[i];
}

void sf_census_plain(const sf_map_table *maps, const sf_census_each *each, sf_census *census, sf_shapes *shapes)
{
    memset(census, 0, sizeof *census);
    for (uint32_t s = 0; s < UINT32_C(1) << maps->layout.length; s++) {
        uint64_t histogram[SF_TABLE_SCORES] = {0};
        uint32_t scores = 0, twice = 0;
        sf_table_plain_histogram(maps, s, histogram);
        for (int i = 0; i < SF_TABLE_SCORES; i++) {
            scores |= (uint32_t)(histogram[i] > 0) << i;
            twice |= (uint32_t)(histogram[i] > 1) << i;
        }
        sf_census_tally(census, scores, twice, 1);
        sf_census_tell(each, s, s, scores, twice);
        if (shapes) {
            uint64_t *row = sf_shapes_row(shapes, shapes->n++);
            memcpy(row, histogram, (size_t)shapes->n_scores * sizeof *row);
            row[shapes->n_scores] = 1;
            row[shapes->n_scores + 1] = 0;
            for (int k = 0; k < maps->layout.length; k++) /* residue 0 highest, 0 for H */
                row[shapes->n_scores + 1] = row[shapes->n_scores + 1] << 1 | !(s >> k & 1);
        }
    }
}

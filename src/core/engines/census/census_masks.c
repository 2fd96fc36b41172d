/* A census from what shards of the maps say of every sequence. Histograms could be added likewise, but take some fifteen
 * times the memory for all sequences, more than the table that is split. */
#include "core/engines/census/census.h"

void sf_census_masks_add(size_t n, uint32_t *masks, const uint32_t *other)
{
    for (size_t i = 0; i < n; i++) /* a score that both have once is there twice */
        masks[i] |= other[i] | (masks[i] & other[i]) << 16;
}

void sf_census_of_masks(size_t n, const uint32_t *masks, const sf_census_each *each, sf_census *census)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t scores = masks[i] & UINT16_MAX, twice = masks[i] >> 16;
        sf_census_tally(census, scores, twice, 1);
        sf_census_tell(each, (uint32_t)i, (uint32_t)i, scores, twice);
    }
}

/* Laying out the maps of a census: the arrays of the trie, made by parts side by side. */
#ifndef SF_CORE_CENSUS_LAYOUT_H
#define SF_CORE_CENSUS_LAYOUT_H

#include "core/engines/census/census_trie.h"

/* Fills the nodes of *trie, whose classes are there, and row_code. SF_ENOMEM, or SF_ELIMIT where a team has no memory in
 * common: in all of a team the same, and what is there of *trie is to be freed. */
int sf_census_layout_make(sf_census_trie *trie, const sf_map_table *maps, sf_census_kind kind, int n_threads,
                          const sf_census_team *team, sf_error *err);

#endif

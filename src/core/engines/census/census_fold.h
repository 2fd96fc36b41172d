/* One decision of the census: entries of a level become those of the next, codes that meet become one. In two kinds: for
 * sets of scores an entry tells whether several conformations have its code, for histograms how many do. */
#ifndef SF_CORE_CENSUS_FOLD_H
#define SF_CORE_CENSUS_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engines/census/census_trie.h"

/* What the nodes of a level carry: the entries of node i are entry[start[i]] .. entry[start[i + 1] - 1]. */
typedef struct sf_census_entries {
    uint32_t *entry;
    uint32_t *start;
    uint32_t *count; /* conformations of each entry, for histograms; else NULL */
    size_t n;
    size_t room;
} sf_census_entries;

/* Entries of level l + 1 from those of level l (of the maps, when l is 0), once the residue of level l is P (h false) or H.
 * Not for the last level. met[codes] is zero before and after. SF_ENOMEM. */
int sf_census_fold(const sf_census_trie *t, int l, bool h, const sf_census_entries *from, sf_census_entries *to, uint8_t *met);

/* Both at once, for levels above 0: two chains of look-ups that do not wait for each other. SF_ENOMEM. */
int sf_census_fold_both(const sf_census_trie *t, int l, const sf_census_entries *from, sf_census_entries to[2],
                        uint8_t *const met[2]);

/* sf_census_fold with counts; sum[codes] is zero before and after. The trie was made with counts. */
int sf_census_fold_counts(const sf_census_trie *t, int l, bool h, const sf_census_entries *from, sf_census_entries *to,
                          uint32_t *sum);

/* The maps as entries, for chains so short that nothing is folded before the tail. SF_ENOMEM. */
int sf_census_entries_of_maps(const sf_census_trie *t, sf_census_entries *to);

void sf_census_entries_free(sf_census_entries *e);

/* All decisions of the tail at once, the last one both ways (choices is even: P, choices + 1: H): the entries of level
 * tail_level, with what their node's undecided rows add, are counted in mark_p[codes] and mark_h[codes], as in mark[] of
 * sf_census_dense. Folding would save a part of them and cost more than that. */
void sf_census_mark(const sf_census_trie *t, const sf_census_entries *from, uint32_t choices, uint8_t *mark_p,
                    uint8_t *mark_h);

/* The conformations of each code are added to sum[codes], for one way to decide the tail. */
void sf_census_sum(const sf_census_trie *t, const sf_census_entries *from, uint32_t choices, uint32_t *sum);

#endif

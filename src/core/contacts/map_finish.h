/* Finishes prefixes: all ways to place the last residues behind them, counted by what those residues touch (the tail's part
 * of the contact map, at most 64 bits). One finisher a thread. */
#ifndef SF_CORE_MAP_FINISH_H
#define SF_CORE_MAP_FINISH_H

#include <stdbool.h>

#include "core/contacts/map_build.h"

typedef struct sf_tail {
    uint64_t map;   /* low bits of the contact map */
    uint32_t count; /* conformations */
    uint32_t epoch; /* within the hash: the group this entry belongs to; elsewhere unused */
} sf_tail;

typedef struct sf_map_finisher {
    sf_map_board board;
    sf_contact_layout layout;
    int prefix_length;
    sf_tail *table;      /* hash table; an entry counts only when its epoch is the present one */
    uint32_t *used;      /* slots taken, in the order they were */
    size_t room;         /* entries allocated */
    size_t capacity;     /* entries in use for this group, a power of two, <= room */
    size_t n_used;
    int shift;           /* 64 - log2(capacity) */
    uint32_t epoch;
    bool failed;         /* memory ran out: the present group is void */
} sf_map_finisher;

/* SF_ENOMEM. Freed with sf_map_finisher_free; a zeroed finisher is allowed there. */
int sf_map_finisher_init(sf_map_finisher *finisher, const sf_lattice *lattice, int length, sf_error *err);
void sf_map_finisher_free(sf_map_finisher *finisher);

/* Begins a new set of tails. */
void sf_map_finisher_begin(sf_map_finisher *finisher);

/* Adds all completions of a prefix. */
void sf_map_finisher_add(sf_map_finisher *finisher, const sf_map_prefix *prefix);

/* Copies the tails counted since begin to tails[n_used], ascending; scratch[n_used] is overwritten. SF_ENOMEM when the
 * set had to be given up. */
int sf_map_finisher_tails(const sf_map_finisher *finisher, sf_tail *tails, sf_tail *scratch);

/* Enumerates all prefixes (their known number) in depth-first order into prefixes[]; returns how many were found; more than
 * `room` are counted but not stored. Uses the finisher's board. */
size_t sf_map_finisher_prefixes(sf_map_finisher *finisher, sf_map_prefix *prefixes, size_t room);

#endif

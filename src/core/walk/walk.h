/* All reduced conformations of a chain, plainly: the oracle everything faster is compared with.
 *
 * Conformations that differ by a symmetry of the lattice (a signed permutation of the axes) are counted once. The one
 * that stands for them steps first in the first direction and opens each further axis in its positive direction, the
 * axes in order. Every orbit holds exactly one such walk: going along any walk, its first step onto a new axis fixes
 * where that axis and its sign must be taken by the symmetry, and axes it never opens change nothing.
 *
 * The walks are cut by their first steps into *prefixes*, in lexicographic order of the steps. Each prefix is a part of
 * its own; how many there are depends on lattice and length only. */
#ifndef SF_CORE_WALK_H
#define SF_CORE_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"
#include "starfold/lattice.h"
#include "starfold/problem.h"

typedef struct sf_walk_prefixes {
    const sf_lattice *lattice;
    int length;     /* residues of the whole chain, 2..SF_LENGTH_MAX */
    int n_steps;    /* steps of a prefix, 1..length-1 */
    size_t n;       /* prefixes, >= 1 */
    uint8_t *steps; /* steps[n][n_steps], indices into lattice->step; owned */
} sf_walk_prefixes;

/* All self-avoiding reduced prefixes for chains of `length` residues; some hundreds for long chains. On failure
 * (SF_EINPUT, SF_ENOMEM) the struct is empty and may be freed. */
int sf_walk_prefixes_init(sf_walk_prefixes *prefixes, const sf_lattice *lattice, int length, sf_error *err);

/* Frees and clears; an empty struct is allowed. */
void sf_walk_prefixes_free(sf_walk_prefixes *prefixes);

/* Steps a walk may take that has been on the first n_open axes only: 0..choices-1. */
int sf_walk_choices(const sf_lattice *lattice, int n_open);

/* Number of axes that the steps of a reduced walk open. */
int sf_walk_open_axes(const uint8_t *steps, int n_steps);

/* Called with each conformation: steps[length - 1], valid during the call. Not zero: stop, and hand this value on. */
typedef int (*sf_walk_visitor)(void *context, const uint8_t *steps);

/* Visits the conformations of a prefix in lexicographic order of their steps. Returns 0, or what the visitor returned,
 * or SF_ENOMEM (then err is filled). Thread-safe as far as the visitor is. */
int sf_walk_visit(const sf_walk_prefixes *prefixes, size_t prefix, sf_walk_visitor visitor, void *context,
                  sf_error *err);

/* Adds the conformations of a prefix, by score of the sequence, to histogram[n_scores]. SF_ESTOPPED when *stop is seen
 * not zero (stop may be NULL). Thread-safe. Square N = 20 takes about half a second for all prefixes. */
int sf_walk_count(const sf_problem *problem, const sf_walk_prefixes *prefixes, size_t prefix, const uint8_t *elements,
                  const volatile int *stop, uint64_t *histogram, sf_error *err);

/* The whole histogram of a sequence, on one thread: histogram[n_scores] is overwritten. The oracle. */
int sf_walk_histogram(const sf_problem *problem, const uint8_t *elements, const volatile int *stop, uint64_t *histogram,
                      sf_error *err);

/* The lexicographically first reduced conformation of the sequence with exactly this score, as length - 1 letters and
 * '\0' in walk[length]; checked with sf_walk_score. SF_EINPUT when there is none. Milliseconds up to 20 residues square
 * and 14 cubic; where the score is rare it grows about threefold every two residues. */
int sf_walk_witness(const sf_problem *problem, const uint8_t *elements, int score, char *walk, sf_error *err);

/* Contacts of a walk: pairs[i] = {a, b}, a < b, ordered by b, then by a; returns how many, at most
 * sf_lattice_max_contacts. pairs has room for that many. The walk must not meet itself. */
int sf_walk_contacts(const sf_lattice *lattice, int length, const uint8_t *steps, uint8_t (*pairs)[2]);

#endif

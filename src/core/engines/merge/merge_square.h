/* Tail merging on the square lattice: what the parts of the engine share.
 *
 * A chain of N residues is split into a prefix of K = N - tail residues and its tail. The *head* is residue K - 1, the
 * last of the prefix. Where the head sits at the origin, site (x, y) has u = x + y and v = x - y: even sites u = 2a,
 * v = 2b and odd sites u = 2a + 1, v = 2b + 1 are two boards of their own, and a step leads from one to the other. */
#ifndef SF_CORE_MERGE_SQUARE_H
#define SF_CORE_MERGE_SQUARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engines/merge/merge_workspace.h"

enum {
    SQUARE_DIRECT = 5,    /* tails of so many steps are counted, not looked up */
    SQUARE_NARROW = 7,    /* up to here a sublattice fits 8 x 8 sites, so 64 bits */
    SQUARE_MEDIUM = 10,   /* up to here the counts of a tail fit 16 bits (44,100 walks of 10 steps) */
    SQUARE_TAIL_MIN = 8,  /* residues of a tail */
    SQUARE_TAIL_MAX = 14, /* a sublattice fits 16 x 16 sites */
    SQUARE_LENGTH_MIN = SQUARE_TAIL_MIN + 2,
    SQUARE_LENGTH_MAX = 40, /* all counts fit 64 bits: fewer than 2^60 conformations */
    SQUARE_CONTACTS = 64,   /* entries of a histogram of contacts; 40 residues have at most 28 */
    DIRECT_STEMS = 36,      /* walks of 3 steps */
    DIRECT_FANS = 8,        /* walks of 5 steps kept together that begin with the same stem */
    DIRECT_REST_MAX = 32    /* ... and those that found no room there */
};

/* What of the sequence matters to a tail of r residues, the next of which is residue k = length - r. */
typedef struct square_level {
    bool head_h;     /* residue k - 1 is H */
    bool next_h;     /* residue k is H */
    uint8_t last[2]; /* the last step of that parity, 1..r, that places an H; 0 if none does */
} square_level;

/* All walks of 5 steps, as sets of the 61 sites within 5 steps: bit 5 (a + 2) + b + 2 of an even site, bit
 * 25 + 6 (a + 3) + b + 3 of an odd one. Bit 63 is never free: it fills up what is left over. */
typedef struct square_direct {
    uint64_t stem[(DIRECT_STEMS + 7) / 8 * 8]; /* sites of the first three steps */
    uint64_t site[DIRECT_STEMS][DIRECT_FANS];  /* all five sites */
    uint64_t h[DIRECT_STEMS][DIRECT_FANS];     /* those that take an H */
    uint64_t own[DIRECT_STEMS][DIRECT_FANS];   /* contacts within the walk and with its head */
    uint64_t rest_site[DIRECT_REST_MAX];
    uint64_t rest_h[DIRECT_REST_MAX];
    uint64_t rest_own[DIRECT_REST_MAX];
    int n_rest; /* a multiple of 8 */
} square_direct;

/* A sequence made ready: constant, shared by threads. */
typedef struct square_job {
    _Alignas(64) square_direct direct;
    int length;
    int tail;        /* SQUARE_TAIL_MIN..SQUARE_TAIL_MAX, at most length - 2 */
    int piece_steps; /* steps of the prefix, from the head backwards, that tell pieces apart */
    size_t n_pieces;
    uint8_t h[64];                           /* 1 where residue k is H */
    square_level level[SQUARE_TAIL_MAX + 1]; /* [r] */
} square_job;

/* Bytes of a table's entry for tails of r residues. */
static inline size_t square_entry_bytes(int r)
{
    return r <= SQUARE_NARROW ? 64 : r <= SQUARE_MEDIUM ? 192 : 256;
}

/* Prepares the chain: h[length] (1 = H), tail as above; a piece is a walk of 1..piece_steps steps or of the whole
 * prefix. */
void sf_square_job_init(square_job *job, int length, const uint8_t *h, int tail, int piece_steps);

/* The same for any r: 0 where there is no table. */
size_t sf_square_entry_bytes(int r);

/* Adds the conformations that begin with the pieces first..last-1 to contacts[SQUARE_CONTACTS], by number of contacts
 * between H. Returns SF_OK, or SF_ESTOPPED when *stop was seen not zero. The same numbers by all of them. */
typedef int square_count(const square_job *job, merge_workspace *workspace, size_t first, size_t last,
                         const volatile int *stop, uint64_t *contacts, sf_error *err);
square_count sf_square_count_portable;
square_count sf_square_count_avx2;
square_count sf_square_count_avx512;

#endif

/* Tail merging on the cubic lattice: what the parts of the engine share.
 *
 * As on the square lattice (merge_square.h), a chain is split into a prefix and its tail, and the last residue of the
 * prefix is the head. Sites are numbered on a torus of 512: site (x, y, z) from the head is x + 13 y + 72 z modulo 512,
 * which is one-to-one on all 377 sites within 6 steps. So a board is one vector of 512 bits, and a step turns it. */
#ifndef SF_CORE_MERGE_CUBIC_H
#define SF_CORE_MERGE_CUBIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engines/merge/merge_workspace.h"

enum {
    CUBIC_TORUS = 512,
    CUBIC_TAIL_MIN = 5, /* shorter tails are counted, not looked up */
    CUBIC_TAIL_MAX = 6,
    CUBIC_LENGTH_MIN = CUBIC_TAIL_MIN + 3,
    CUBIC_LENGTH_MAX = 26, /* all counts fit 64 bits: fewer than 2^52 conformations */
    CUBIC_CONTACTS = 128,  /* entries of a histogram of contacts, with room for a tail's */
    CUBIC_WORDS = 6,   /* the 376 sites within 6 steps but for the head, packed by distance: 6 beside the head in the */
                       /* order of the steps, 18 and 38; from 64 on 66, from 136 on 102, and 146 */
    CUBIC_BALL = 240,  /* packed sites within 5 steps, in whole bytes */
    CUBIC_LOCAL_X = 7, /* steps that are one-to-one within 5 of the head in few numbers; the z step is CUBIC_LOCAL */
    CUBIC_LOCAL_Y = 31,
    CUBIC_LOCAL = 32,
    CUBIC_LOCAL_NONE = 12, /* no site within 5 has that number */
    CUBIC_GRID = 2 * CUBIC_LENGTH_MAX + 2,
    CUBIC_GRID_SITES = CUBIC_GRID * CUBIC_GRID * CUBIC_GRID,
    CUBIC_MASKS = 576 /* sites within 7 steps, and 0 for all others */
};

/* Steps 0..5 are +x, +y, +z, -x, -y, -z. */
extern const int sf_cubic_step[6][3];
extern const int sf_cubic_turn[6]; /* what a step adds to a site's number on the torus */

/* What is the same for all sequences. */
typedef struct cubic_geometry {
    _Alignas(64) uint64_t cell[CUBIC_MASKS][8]; /* [mask id] the site, if within 6 steps, as a set on the torus */
    uint64_t beside[CUBIC_MASKS][8];            /* its neighbours within 6 steps, the head aside */
    uint64_t head_beside[8], even[8];           /* sites beside the head; at even distance within 6 steps */
    uint8_t pack_byte[CUBIC_WORDS][64];         /* of the torus, where each packed site lies */
    uint8_t pack_bit[CUBIC_WORDS][64];          /* 8 (i mod 8) + the bit in that byte */
    int16_t local[CUBIC_BALL];                  /* local number of a packed site within 5 steps */
    int8_t first_step[24][6];        /* of packed sites at distance 2: step to the site beside it in each direction */
    uint8_t packed[CUBIC_TORUS];     /* packed number of a site within 5 steps */
    uint16_t mask[CUBIC_GRID_SITES]; /* mask id of a grid site, the head in the middle */
} cubic_geometry;

/* What of the sequence matters to a tail of r residues, the next of which is residue k = length - r. */
typedef struct cubic_level {
    bool head_h;     /* residue k - 1 is H */
    bool next_h;     /* residue k is H */
    uint8_t last[2]; /* the last step of that parity, 1..r, that places an H; 0 if none does */
} cubic_level;

/* A sequence made ready: constant, shared by threads. */
typedef struct cubic_job {
    const cubic_geometry *geometry;
    int length;
    int tail;        /* CUBIC_TAIL_MIN..CUBIC_TAIL_MAX, at most length - 3 */
    int piece_steps; /* steps of the prefix, from the head backwards, that tell pieces apart */
    size_t n_pieces;
    uint8_t h[64];                         /* 1 where residue k is H */
    cubic_level level[CUBIC_TAIL_MAX + 1]; /* [r] */
} cubic_job;

/* Fills the geometry. */
void sf_cubic_geometry_init(cubic_geometry *geometry);

/* Prepares the chain: h[length] (1 = H), tail as above; a piece is a walk of 1..piece_steps steps or of the whole
 * prefix. The geometry must outlive the job. */
void sf_cubic_job_init(cubic_job *job, const cubic_geometry *geometry, int length, const uint8_t *h, int tail,
                       int piece_steps);

/* Bytes that an entry for tails of r residues may take; 0 where there is no table. */
size_t sf_cubic_entry_bytes(int r);

/* Adds the conformations that begin with the pieces first..last-1 to contacts[CUBIC_CONTACTS], by number of contacts
 * between H. Returns SF_OK, or SF_ESTOPPED when *stop was seen not zero. The same numbers by all of them. */
typedef int cubic_count(const cubic_job *job, merge_workspace *workspace, size_t first, size_t last,
                        const volatile int *stop, uint64_t *contacts, sf_error *err);
cubic_count sf_cubic_count_portable;
cubic_count sf_cubic_count_avx2;
cubic_count sf_cubic_count_avx512;

#endif

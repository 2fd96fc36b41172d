/* Lattices as data: the neighbour steps, their letters and the symmetry group's size. Nothing else in the program knows
 * what a "square" or a "cubic" lattice is by name. */
#ifndef STARFOLD_LATTICE_H
#define STARFOLD_LATTICE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SF_STEPS_MAX = 6 };

typedef struct sf_lattice {
    const char *name;             /* "square", "cubic" */
    int dimension;                /* 2 or 3 */
    int n_steps;                  /* coordination number, 2 * dimension */
    int n_symmetries;             /* rotations and reflections: 8, 48 */
    int8_t step[SF_STEPS_MAX][3]; /* neighbour steps; step i ^ 1 is the opposite of step i */
    char letter[SF_STEPS_MAX];    /* R=+x L=-x U=+y D=-y F=+z B=-z */
} sf_lattice;

/* The lattice of that name, or NULL. Static storage, constant. */
const sf_lattice *sf_lattice_find(const char *name);

/* Names of all lattices, ended by NULL. */
const char *const *sf_lattice_names(void);

/* Known number of reduced conformations of n_residues residues (up to all symmetries, head and tail told apart), or 0
 * where none is known or it does not fit 64 bits. Square: (c + 4) / 8 with c from OEIS A001411; cubic:
 * (c3 + 3 c2 + 30) / 48 with c3 from A001412; both for n_residues >= 3 (1 for 1 and 2). */
uint64_t sf_lattice_conformations(const sf_lattice *lattice, int n_residues);

/* Largest number of contacts a conformation of n_residues can have (square: exact, N + 1 - ceil(2 sqrt N)), or an upper
 * bound on it (cubic: from the most bonds of N cubes, OEIS A007818, less the chain's own). n_residues in 1..SF_LENGTH_MAX. */
int sf_lattice_max_contacts(const sf_lattice *lattice, int n_residues);

#ifdef __cplusplus
}
#endif
#endif

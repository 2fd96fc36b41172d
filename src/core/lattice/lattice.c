/* The lattices, as data, and what is known of chains on them.
 *
 * The largest number of contacts is the most bonds N sites can have, less the N - 1 of the chain. Most bonds are a
 * matter of packing: on the square lattice 2 N - ceil(2 sqrt N) (Harary and Harborth 1976; OEIS A123663), on the cubic
 * one what the greedy packing gives, the largest box whose sides differ by one at most, with the rest packed flat on a
 * face (Alonso and Cerf 1996; OEIS A007818). On the cubic lattice no chain need run through the best packing, so that
 * is a bound. */
#include "starfold/lattice.h"

#include <assert.h>
#include <string.h>

/* Steps 2 a and 2 a + 1 go along axis a, up and down: the walks rely on it. */
static const sf_lattice lattices[] = {
    {
        .name = "square",
        .dimension = 2,
        .n_steps = 4,
        .n_symmetries = 8,
        .step = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}},
        .letter = {'R', 'L', 'U', 'D'},
    },
    {
        .name = "cubic",
        .dimension = 3,
        .n_steps = 6,
        .n_symmetries = 48,
        .step = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}},
        .letter = {'R', 'L', 'U', 'D', 'F', 'B'},
    },
};

enum { N_LATTICES = sizeof lattices / sizeof lattices[0] };

/* Reduced conformations by residues, from index 1, as far as 64 bits hold: from OEIS A001411 (Jensen 2013) and A001412
 * (Schram, Barkema, Bisseling 2011) by the formulas of lattice.h. Symmetry is why they hold: a walk that spans the
 * dimensions has as many images as there are symmetries; flat and straight walks have fewer. */
static const uint64_t square_conformations[] = {
    0,
    1,
    1,
    2,
    5,
    13,
    36,
    98,
    272,
    740,
    2034,
    5513,
    15037,
    40617,
    110188,
    296806,
    802075,
    2155667,
    5808335,
    15582342,
    41889578,
    112212146,
    301100754,
    805570061,
    UINT64_C(2158326727),
    UINT64_C(5768299665),
    UINT64_C(15435169364),
    UINT64_C(41214098278),
    UINT64_C(110164686454),
    UINT64_C(293922322781),
    UINT64_C(784924528667),
    UINT64_C(2092744741919),
    UINT64_C(5584227078870),
    UINT64_C(14879374739128),
    UINT64_C(39675824783385),
    UINT64_C(105659884331089),
    UINT64_C(281566759719981),
    UINT64_C(749467562390552),
    UINT64_C(1996106535213591),
    UINT64_C(5310843844776256),
    UINT64_C(14137709573481742),
    UINT64_C(37599781156059284),
    UINT64_C(100047629074894793),
    UINT64_C(265983779859033979),
    UINT64_C(707458382145651202),
    UINT64_C(1880203954752019486),
    UINT64_C(4999088123327614393),
    UINT64_C(13281970274227065417),
};
static const uint64_t cubic_conformations[] = {
    0,
    1,
    1,
    2,
    6,
    22,
    92,
    402,
    1832,
    8453,
    39640,
    186296,
    881147,
    4162866,
    19721230,
    93250730,
    441549914,
    2086950250,
    UINT64_C(9872284420),
    UINT64_C(46627034590),
    UINT64_C(220354970198),
    UINT64_C(1040000436047),
    UINT64_C(4910777435839),
    UINT64_C(23162527440081),
    UINT64_C(109292500313185),
    UINT64_C(515214985932766),
    UINT64_C(2429566919677044),
    UINT64_C(11447808041780409),
    UINT64_C(53955781433659906),
    UINT64_C(254128996714908618),
    UINT64_C(1197227748607094272),
    UINT64_C(5636874078152676681),
};

const sf_lattice *sf_lattice_find(const char *name)
{
    for (int i = 0; name && i < N_LATTICES; i++) {
        if (strcmp(name, lattices[i].name) == 0)
            return &lattices[i];
    }
    return NULL;
}

const char *const *sf_lattice_names(void)
{
    static const char *const names[] = {"square", "cubic", NULL};
    static_assert(sizeof names / sizeof names[0] == N_LATTICES + 1, "every lattice has its name in the list");
    return names;
}

uint64_t sf_lattice_conformations(const sf_lattice *lattice, int n_residues)
{
    const uint64_t *known = lattice->dimension == 2 ? square_conformations : cubic_conformations;
    size_t n_known = lattice->dimension == 2 ? sizeof square_conformations / sizeof square_conformations[0]
                                             : sizeof cubic_conformations / sizeof cubic_conformations[0];
    return n_residues > 0 && (size_t)n_residues < n_known ? known[n_residues] : 0;
}

/* Most bonds among n sites of the square lattice. */
static int square_bonds(int n)
{
    int half_perimeter = 0; /* ceil(2 sqrt n) */
    while (half_perimeter * half_perimeter < 4 * n)
        half_perimeter++;
    return 2 * n - half_perimeter;
}

/* Most bonds among n >= 1 sites of the cubic lattice. */
static int cubic_bonds(int n)
{
    int a = 1, b = 1, c = 1; /* a <= b <= c <= a + 1: the largest such box that n sites fill */
    for (;;) {
        int *side = a < b ? &a : b < c ? &b : &c;
        int face = a * b * c / *side;
        if (a * b * c + face > n)
            break;
        ++*side;
    }
    int rest = n - a * b * c; /* fits the largest face */
    return 3 * a * b * c - (a * b + b * c + a * c) + rest + square_bonds(rest);
}

int sf_lattice_max_contacts(const sf_lattice *lattice, int n_residues)
{
    int bonds = lattice->dimension == 2 ? square_bonds(n_residues) : cubic_bonds(n_residues);
    return bonds - (n_residues - 1);
}

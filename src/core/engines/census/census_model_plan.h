/* What the files of the census with other models share. */
#ifndef SF_CORE_CENSUS_MODEL_PLAN_H
#define SF_CORE_CENSUS_MODEL_PLAN_H

#include "core/engines/census/census_model.h"
#include "core/engines/census/census_trie.h"

enum {
    SF_MODEL_LANES = 32,    /* choices of the first digits that are answered at once */
    SF_MODEL_RADIX_MAX = 31, /* five contacts, each with H or P: h + 6 p */
    SF_MODEL_MASK_BITS = 64,
    SF_MODEL_PART_MAPS = 4096, /* an outer part of more maps is cut into several */
    SF_MODEL_ROW_UNIT = 16, /* rows of counts are as many scores, or a multiple */
};

#define SF_MODEL_TWICE UINT32_C(0x80000000) /* in sf_census_model.inner */

/* A dense residue: a contact of it with H adds step[1] to its digit, one with P step[0]. gain[x][digit]: what its contacts
 * add to the score once it is P (0) or H (1), in units. */
typedef struct sf_model_digit {
    uint32_t radix;
    uint32_t step[2];
    int16_t gain[2][SF_MODEL_RADIX_MAX];
} sf_model_digit;

typedef struct sf_census_model_kernel sf_census_model_kernel;

/* A code has three fields: the digits of the first dense residues in two fields (the second with `common` above them), and
 * all other digits, the one decided next lowest, in the third: the *rest*. */
struct sf_census_model {
    sf_census_trie classes; /* classes and choices only */
    const sf_census_model_kernel *kernel;
    bool counts;   /* histograms are counted; else masks of scores */
    int unit;      /* greatest common divisor of the weights: scores are multiples of it */
    int zero;      /* value of score 0; a score is unit * (value - zero) */
    int n_values;
    int n_scores;  /* of the problem */
    int n_head, n_first; /* digits of the first two fields together, and of the first */
    int common_gain;     /* where contacts with P count as those of two P: each contact adds this, whoever is H */
    uint32_t common_radix;
    uint32_t size[3];    /* of the fields */
    int shift[3];
    sf_model_digit digit[SF_CENSUS_LEVELS];
    uint64_t weight[2][128]; /* of each contact, when its decided residue is P or H, in a code */
    uint8_t decision[128];   /* of each contact: the bit of its decided residue in the decisions */
    /* With masks: gain[field][value][lane], modulo 256, the first with `zero`. With counts: gain_of[field][choice][value]. */
    uint8_t *gain[2];
    int16_t *gain_of[2];
    size_t n_maps, n_outer, n_inner;
    sf_contact_map *outer_key, *inner_key; /* [n_outer], [n_inner]: the contacts they have */
    uint32_t *start; /* start[n_outer + 1]: maps of each outer part, at most SF_MODEL_PART_MAPS; */
    uint32_t *inner; /* inner[n_maps]: their inner parts, with SF_MODEL_TWICE */
    uint32_t *count; /* count[n_maps], where histograms are counted */
};

/* Cells of one level, those that agree on the digits still open. masks: [n][2][SF_MODEL_LANES], scores some and at least two
 * conformations have; counts: [n][width]. */
typedef struct sf_model_level {
    size_t n, room;
    uint64_t *mask;
    uint32_t *count;
    uint8_t *digit;  /* digit[n]: value of the digit decided next */
    uint32_t *first; /* first[n of the next level + 1]: its cells */
} sf_model_level;

/* One thread's room. */
typedef struct sf_model_worker {
    uint64_t *outer_code, *inner_code; /* codes of the parts, for these decisions: */
    uint64_t outer_decided, inner_decided;
    uint32_t *cell_of; /* cell_of[size[2]]: 1 + the cell of a rest; 0: it has none yet */
    uint32_t *rest, *order; /* [room of the first level]: its cells by ascending rest */
    size_t order_room;
    uint64_t *packed;  /* with counts: packed[n_maps], the cell of a map and the first fields of its code */
    sf_model_level level[SF_CENSUS_LEVELS + 1]; /* level[n_head].. */
    size_t width;
    sf_census census;
    int status;
} sf_model_worker;

struct sf_census_model_kernel {
    /* The scores of the maps of an outer part are marked, in lanes from 8 * first_vector on; cells that are new get their
     * numbers, and are zeroed: there is room. */
    void (*mark)(const sf_census_model *m, sf_model_worker *w, size_t outer, int first_vector);
    /* With counts: the same, but fills w->packed; cells get numbers alone. */
    void (*pack)(const sf_census_model *m, sf_model_worker *w, size_t outer);
    /* All maps are counted, for one choice of the first digits; the cells are zeroed before. */
    void (*count)(const sf_census_model *m, sf_model_worker *w, uint32_t choice);
    /* A level folded to the next, once its residue is P or H; order (or NULL): where the cells are. */
    void (*fold_masks)(const sf_model_level *from, const uint32_t *order, const int16_t *gain, int first_vector,
                       sf_model_level *to);
    void (*fold_counts)(const sf_model_level *from, const uint32_t *order, const int16_t *gain, size_t width,
                        sf_model_level *to);
};

extern const sf_census_model_kernel sf_census_model_kernel_portable;
extern const sf_census_model_kernel sf_census_model_kernel_avx2;   /* census_avx2.c, x86-64 only */
extern const sf_census_model_kernel sf_census_model_kernel_avx512; /* census_avx512.c, x86-64 only */

#endif

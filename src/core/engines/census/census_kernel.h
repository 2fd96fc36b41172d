/* The dense half of the census, in the instruction set of the file that includes this.
 *
 * The obvious way asks, for each of the 2^n_dense ways the dense residues can be H or P, every code for its score. Here the
 * digits are decided one after the other: each decision folds the codes that differ in that digit alone into one set of
 * scores, shifted by the digit when the residue is H. A set is 16 bits; a second one holds the scores that at least two
 * conformations have. First the codes are the lanes of a vector; when too few are left, the choices made so far are. */
#ifndef SF_CORE_CENSUS_KERNEL_H
#define SF_CORE_CENSUS_KERNEL_H

#include <string.h>

#include "core/engines/census/census_trie.h"

typedef uint16_t census_vec __attribute__((vector_size(2 * SF_CENSUS_LANES)));
typedef uint16_t census_loose __attribute__((vector_size(2 * SF_CENSUS_LANES), aligned(2), may_alias));

typedef struct census_job {
    const sf_census_trie *t;
    sf_census_dense *d;
    const sf_census_each *each;
    sf_census *census;
    uint32_t decisions;
    uint32_t least; /* dense choices (first digit highest) below this are answered by the reversed chain */
    int lane_digits;
} census_job;

/* Folds `radix` digits for n codes: from[digit * stride + i] to to[i], in vectors; shifted where the residue is H. */
static inline __attribute__((always_inline)) void census_fold(int radix, bool h, size_t n, size_t stride,
                                                              const uint16_t *scores, const uint16_t *twice,
                                                              uint16_t *to_scores, uint16_t *to_twice)
{
    for (size_t i = 0; i < n; i += SF_CENSUS_LANES) {
        census_vec any = *(const census_loose *)(scores + i), two = *(const census_loose *)(twice + i);
        for (int digit = 1; digit < radix; digit++) {
            census_vec more = *(const census_loose *)(scores + (size_t)digit * stride + i);
            census_vec more_two = *(const census_loose *)(twice + (size_t)digit * stride + i);
            if (h) {
                more <<= (uint16_t)digit;
                more_two <<= (uint16_t)digit;
            }
            two |= more_two | (any & more);
            any |= more;
        }
        *(census_loose *)(to_scores + i) = any;
        *(census_loose *)(to_twice + i) = two;
    }
}

static void census_fold_any(int radix, bool h, size_t n, size_t stride, const uint16_t *scores, const uint16_t *twice,
                            uint16_t *to_scores, uint16_t *to_twice)
{
    if (radix == 3 && h)
        census_fold(3, true, n, stride, scores, twice, to_scores, to_twice);
    else if (radix == 3)
        census_fold(3, false, n, stride, scores, twice, to_scores, to_twice);
    else if (radix == 5 && h)
        census_fold(5, true, n, stride, scores, twice, to_scores, to_twice);
    else if (radix == 5)
        census_fold(5, false, n, stride, scores, twice, to_scores, to_twice);
    else if (h)
        census_fold(radix, true, n, stride, scores, twice, to_scores, to_twice);
    else
        census_fold(radix, false, n, stride, scores, twice, to_scores, to_twice);
}

/* All digits decided: one set of scores in each lane; `low` are the choices of the digits after the lanes'. */
static void census_answers(const census_job *j, uint32_t low)
{
    const sf_census_trie *t = j->t;
    const uint16_t *scores = j->d->lane_scores[t->n_dense], *twice = j->d->lane_twice[t->n_dense];
    uint32_t decided = t->spread_decided[j->decisions];
    bool mirrored = sf_contact_residues_reverse(t->length, decided) == decided;
    int rest = t->n_dense - j->lane_digits;
    for (uint32_t lane = j->least >> rest; lane < UINT32_C(1) << j->lane_digits; lane++) {
        uint32_t choices = lane << rest | low;
        if (choices < j->least)
            continue;
        bool alone = t->mirror ? choices == j->decisions : mirrored; /* the reverse is counted by itself, or is the same */
        sf_census_tally(j->census, scores[lane], twice[lane], alone ? 1 : 2);
        if (j->each) {
            uint32_t sequence = decided | t->spread_dense[choices];
            sf_census_tell(j->each, sequence, sf_contact_residues_reverse(t->length, sequence), scores[lane], twice[lane]);
        }
    }
}

static void census_lanes(const census_job *j, int l, uint32_t low)
{
    const sf_census_trie *t = j->t;
    sf_census_dense *d = j->d;
    if (l == t->n_dense) {
        census_answers(j, low);
        return;
    }
    size_t n = (size_t)t->size[l + 1] * SF_CENSUS_LANES;
    for (uint32_t h = 0; h < 2; h++) {
        census_fold_any(t->radix[l], h, n, n, d->lane_scores[l], d->lane_twice[l], d->lane_scores[l + 1], d->lane_twice[l + 1]);
        census_lanes(j, l + 1, low << 1 | h);
    }
}

static void census_codes(const census_job *j, int l, uint32_t choices)
{
    const sf_census_trie *t = j->t;
    sf_census_dense *d = j->d;
    size_t n = t->size[l];
    if (l == j->lane_digits) {
        for (size_t i = 0; i < n; i++) {
            d->lane_scores[l][i * SF_CENSUS_LANES + choices] = d->scores[l][i];
            d->lane_twice[l][i * SF_CENSUS_LANES + choices] = d->twice[l][i];
        }
        return;
    }
    n = t->size[l + 1];
    for (uint32_t h = 0; h < 2; h++) {
        uint32_t longer = choices << 1 | h;
        if (longer < j->least >> (t->n_dense - l - 1))
            continue;
        census_fold_any(t->radix[l], h, n, n, d->scores[l], d->twice[l], d->scores[l + 1], d->twice[l + 1]);
        census_codes(j, l + 1, longer);
    }
}

static void census_answer(const sf_census_trie *t, sf_census_dense *d, uint32_t decisions, const sf_census_each *each,
                          sf_census *census)
{
    census_job j = {.t = t, .d = d, .each = each, .census = census, .decisions = decisions};
    j.least = t->mirror ? decisions : 0;
    j.lane_digits = t->n_dense < SF_CENSUS_LANE_DIGITS ? t->n_dense : SF_CENSUS_LANE_DIGITS;
    const uint8_t *mark = d->mark[decisions & 1];
    uint16_t *restrict scores = d->scores[0], *restrict twice = d->twice[0];
    for (size_t i = 0; i < t->size[0]; i++) {
        scores[i] = mark[i] > 0;
        twice[i] = mark[i] > 1;
    }
    census_codes(&j, 0, 0);
    census_lanes(&j, j.lane_digits, 0);
}

#endif

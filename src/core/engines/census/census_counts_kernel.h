/* The dense half of the census for whole histograms, in the instruction set of the file that includes this: as in
 * census_kernel.h the digits are decided one after the other, but what the codes hold is a histogram of 16 counts, a
 * vector. A residue that is H shifts the histograms of its digit up by the digit. No sum is above the number of
 * conformations, which fits 32 bits wherever there is a table, and no score above SF_TABLE_SCORE_MAX. */
#ifndef SF_CORE_CENSUS_COUNTS_KERNEL_H
#define SF_CORE_CENSUS_COUNTS_KERNEL_H

#include "core/engines/census/census_trie.h"

typedef uint32_t census_counts __attribute__((vector_size(4 * SF_TABLE_SCORES)));
typedef uint32_t census_counts_loose __attribute__((vector_size(4 * SF_TABLE_SCORES), aligned(4), may_alias));

typedef struct counts_job {
    const sf_census_trie *t;
    sf_census_sums *d;
    const sf_census_each *each;
    sf_census *census;
    uint64_t *row; /* where the next sequence's row goes */
    int n_scores;  /* of a row */
    uint32_t decisions;
    uint32_t least; /* dense choices (first digit highest) below this are answered by the reversed chain */
} counts_job;

/* Adds the histogram at `from`, shifted up by `digit`: what comes from the one before it in memory is masked out. */
static inline void counts_add(census_counts *sum, const uint32_t *from, int digit)
{
    static const uint32_t mask[2 * SF_TABLE_SCORES] = {[SF_TABLE_SCORES] = ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
                                                       ~0u,                     ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
    *sum += *(const census_counts_loose *)(from - digit) & *(const census_counts_loose *)(mask + SF_TABLE_SCORES - digit);
}

static inline __attribute__((always_inline)) void counts_fold(int radix, bool h, size_t n, const uint32_t *from, uint32_t *to)
{
    for (size_t i = 0; i < n; i++) {
        census_counts sum = *(const census_counts *)(from + i * SF_TABLE_SCORES);
        for (int digit = 1; digit < radix; digit++)
            counts_add(&sum, from + ((size_t)digit * n + i) * SF_TABLE_SCORES, h ? digit : 0);
        *(census_counts *)(to + i * SF_TABLE_SCORES) = sum;
    }
}

static void counts_fold_any(int radix, bool h, size_t n, const uint32_t *from, uint32_t *to)
{
    if (radix == 3 && h)
        counts_fold(3, true, n, from, to);
    else if (radix == 3)
        counts_fold(3, false, n, from, to);
    else if (radix == 5 && h)
        counts_fold(5, true, n, from, to);
    else if (radix == 5)
        counts_fold(5, false, n, from, to);
    else if (h)
        counts_fold(radix, true, n, from, to);
    else
        counts_fold(radix, false, n, from, to);
}

/* The first digit, from plain sums to histograms. */
static void counts_begin(const sf_census_trie *t, bool h, const uint32_t *sum, uint32_t *to)
{
    size_t n = t->size[1];
    for (size_t i = 0; i < n; i++) {
        census_counts lane = {0};
        for (int digit = 0; digit < t->radix[0]; digit++)
            lane[h ? digit : 0] += sum[(size_t)digit * n + i];
        *(census_counts *)(to + i * SF_TABLE_SCORES) = lane;
    }
}

static void counts_answer_one(counts_job *j, uint32_t choices)
{
    const sf_census_trie *t = j->t;
    const uint32_t *histogram = j->d->lane[t->n_dense];
    uint32_t decided = t->spread_decided[j->decisions], sequence = decided | t->spread_dense[choices], scores = 0, twice = 0;
    uint32_t reverse = sf_contact_residues_reverse(t->length, sequence), all = (UINT32_C(1) << t->length) - 1;
    /* the reverse is counted by itself, or is the same */
    bool alone = t->mirror ? choices == j->decisions : sf_contact_residues_reverse(t->length, decided) == decided;
    for (int s = 0; s < SF_TABLE_SCORES; s++) {
        scores |= (uint32_t)(histogram[s] > 0) << s;
        twice |= (uint32_t)(histogram[s] > 1) << s;
    }
    sf_census_tally(j->census, scores, twice, alone ? 1 : 2);
    sf_census_tell(j->each, sequence, reverse, scores, twice);
    for (int s = 0; s < j->n_scores; s++)
        *j->row++ = histogram[s];
    *j->row++ = alone ? 1 : 2;
    *j->row++ = (sequence > reverse ? sequence : reverse) ^ all;
}

static void counts_digits(counts_job *j, int l, uint32_t choices)
{
    const sf_census_trie *t = j->t;
    if (l == t->n_dense) {
        counts_answer_one(j, choices);
        return;
    }
    for (uint32_t h = 0; h < 2; h++) {
        uint32_t longer = choices << 1 | h;
        if (longer < j->least >> (t->n_dense - l - 1))
            continue;
        if (l == 0)
            counts_begin(t, h, j->d->sum, j->d->lane[1]);
        else
            counts_fold_any(t->radix[l], h, t->size[l + 1], j->d->lane[l], j->d->lane[l + 1]);
        counts_digits(j, l + 1, longer);
    }
}

static void counts_answer(const sf_census_trie *t, sf_census_sums *d, uint32_t decisions, const sf_census_each *each,
                          sf_census *census, int n_scores, uint64_t *row)
{
    counts_job j = {.t = t, .d = d, .each = each, .census = census, .row = row, .n_scores = n_scores, .decisions = decisions};
    j.least = t->mirror ? decisions : 0;
    counts_digits(&j, 0, 0);
}

#endif

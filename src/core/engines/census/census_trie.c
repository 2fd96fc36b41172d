/* The trie of the census beside its nodes (census_layout.c): classes, what the tail adds, and a thread's room. */
#include "core/engines/census/census_trie.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/engines/census/census_layout.h"

void sf_census_trie_classes(sf_census_trie *t, const sf_lattice *lattice, int length)
{
    const int n = length, first = n % 2; /* odd length: the odd residues are fewer, so they are decided */
    memset(t, 0, sizeof *t);
    t->length = length;
    t->mirror = n % 2 == 0;
    for (int k = first; k < n; k += 2)
        t->decided[t->n_decided++] = k;
    for (int k = n - 1; k >= 0; k -= 2)
        t->dense[t->n_dense++] = k;
    t->size[t->n_dense] = 1;
    for (int l = t->n_dense - 1; l >= 0; l--) {
        int k = t->dense[l], partners = 0;
        for (int i = 0; i < t->n_decided; i++)
            partners += abs(t->decided[i] - k) >= 3;
        int most = lattice->n_steps - 2 + (k == 0 || k == n - 1);
        t->radix[l] = (partners < most ? partners : most) + 1;
        t->size[l] = t->size[l + 1] * (uint32_t)t->radix[l];
    }
    for (uint32_t bits = 0; bits < UINT32_C(1) << t->n_decided; bits++) {
        for (int l = 0; l < t->n_decided; l++)
            t->spread_decided[bits] |= (bits >> (t->n_decided - 1 - l) & 1) << t->decided[l];
    }
    for (uint32_t bits = 0; bits < UINT32_C(1) << t->n_dense; bits++) {
        for (int l = 0; l < t->n_dense; l++)
            t->spread_dense[bits] |= (bits >> (t->n_dense - 1 - l) & 1) << t->dense[l];
    }
}

/* tail_code[choices]: from the root down, every node has what the one above it has and what its own row adds. */
static uint32_t *make_tail_code(const sf_census_trie *t, uint32_t choices)
{
    uint32_t *above = sf_array_zeroed(t->n_nodes[t->n_decided], sizeof *above);
    for (int l = t->n_decided - 1; above && l >= t->tail_level; l--) {
        bool h = choices >> (t->n_decided - 1 - l) & 1;
        uint32_t *code = sf_array_alloc(t->n_nodes[l], sizeof *code);
        for (size_t node = 0; code && node < t->n_nodes[l + 1]; node++) {
            for (uint32_t i = t->child[l][node]; i < t->child[l][node + 1]; i++)
                code[i] = above[node] + (h ? t->row_code[l][t->row[l][i] & ~SF_CENSUS_MAP_TWICE] : 0);
        }
        free(above);
        above = code;
    }
    return above;
}

static int make_tail(sf_census_trie *t)
{
    t->tail_level = t->n_decided > SF_CENSUS_TAIL ? t->n_decided - SF_CENSUS_TAIL : 0;
    for (uint32_t choices = 0; choices < UINT32_C(1) << (t->n_decided - t->tail_level); choices++) {
        t->tail_code[choices] = make_tail_code(t, choices);
        if (!t->tail_code[choices])
            return SF_ENOMEM;
    }
    return 0;
}

int sf_census_trie_init(sf_census_trie *t, const sf_map_table *maps, sf_census_kind kind, int n_threads,
                        const sf_census_team *team, sf_error *err)
{
    sf_census_trie_classes(t, maps->lattice, maps->layout.length);
    int status = sf_census_layout_make(t, maps, kind, n_threads, team, err);
    if (status == SF_ELIMIT) { /* no memory in common: each for itself */
        sf_census_trie_free(t);
        status = sf_census_layout_make(t, maps, kind, n_threads, NULL, err);
    }
    if (status == 0 && make_tail(t) != 0)
        status = sf_fail(err, SF_ENOMEM, "out of memory for the census of %d residues", maps->layout.length);
    if (status != 0)
        sf_census_trie_free(t);
    return status;
}

void sf_census_trie_free(sf_census_trie *t)
{
    for (int l = 0; l < SF_CENSUS_LEVELS; l++) {
        free(t->row_code[l]);
        t->child[l] = NULL;
        t->row[l] = NULL;
        t->row_code[l] = NULL;
    }
    free(t->memory);
    t->memory = NULL;
    t->map_count = NULL;
    for (int i = 0; i < 1 << SF_CENSUS_TAIL; i++) {
        free(t->tail_code[i]);
        t->tail_code[i] = NULL;
    }
}

/* Digits that are decided before lanes take over. */
static int lane_digits(const sf_census_trie *t)
{
    return t->n_dense < SF_CENSUS_LANE_DIGITS ? t->n_dense : SF_CENSUS_LANE_DIGITS;
}

int sf_census_dense_init(sf_census_dense *d, const sf_census_trie *t, sf_error *err)
{
    memset(d, 0, sizeof *d);
    bool ok = true;
    for (int h = 0; h < 2; h++) {
        d->mark[h] = sf_array_zeroed(t->size[0] + SF_CENSUS_LANES, sizeof *d->mark[h]);
        ok = ok && d->mark[h];
    }
    for (int l = 0; l <= t->n_dense; l++) {
        size_t n = t->size[l];
        if (l < lane_digits(t) || l == lane_digits(t)) {
            d->scores[l] = sf_array_zeroed(n + 2 * SF_CENSUS_LANES, sizeof *d->scores[l]);
            d->twice[l] = sf_array_zeroed(n + 2 * SF_CENSUS_LANES, sizeof *d->twice[l]);
            ok = ok && d->scores[l] && d->twice[l];
        }
        if (l >= lane_digits(t)) {
            d->lane_scores[l] = sf_array_zeroed(n * SF_CENSUS_LANES, sizeof *d->lane_scores[l]);
            d->lane_twice[l] = sf_array_zeroed(n * SF_CENSUS_LANES, sizeof *d->lane_twice[l]);
            ok = ok && d->lane_scores[l] && d->lane_twice[l];
        }
    }
    if (ok)
        return 0;
    sf_census_dense_free(d);
    return sf_fail(err, SF_ENOMEM, "out of memory for the census: %u codes", t->size[0]);
}

void sf_census_dense_free(sf_census_dense *d)
{
    free(d->mark[0]);
    free(d->mark[1]);
    for (int l = 0; l <= SF_CENSUS_LEVELS; l++) {
        free(d->scores[l]);
        free(d->twice[l]);
        free(d->lane_scores[l]);
        free(d->lane_twice[l]);
    }
    memset(d, 0, sizeof *d);
}

int sf_census_sums_init(sf_census_sums *d, const sf_census_trie *t, sf_error *err)
{
    memset(d, 0, sizeof *d);
    d->sum = sf_array_zeroed(t->size[0], sizeof *d->sum);
    bool ok = d->sum;
    for (int l = 1; l <= t->n_dense; l++) {
        uint32_t *room = sf_array_zeroed(((size_t)t->size[l] + 1) * SF_TABLE_SCORES, sizeof *room);
        d->room[l] = room;
        d->lane[l] = room ? room + SF_TABLE_SCORES : NULL;
        ok = ok && room;
    }
    if (ok)
        return 0;
    sf_census_sums_free(d);
    return sf_fail(err, SF_ENOMEM, "out of memory for the census: histograms of %u codes", t->size[0]);
}

void sf_census_sums_free(sf_census_sums *d)
{
    free(d->sum);
    for (int l = 0; l <= SF_CENSUS_LEVELS; l++)
        free(d->room[l]);
    memset(d, 0, sizeof *d);
}

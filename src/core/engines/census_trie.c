/* Builds the trie of the census: contact maps become rows, sorted by radix, level by level turned into nodes. */
#include "core/engines/census_trie.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

/* A map as a sortable key: the rows, that of the residue decided last highest, and lowest of all the bit "several
 * conformations". */
typedef struct rows {
    int shift[SF_CENSUS_LEVELS]; /* row l is bits shift[l] .. shift[l] + width[l] - 1 of a key */
    int width[SF_CENSUS_LEVELS];
    int n_bits;
    uint8_t place[128]; /* bit of a contact map to bit of a key */
} rows;

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

/* Numbers the bits of a key; a row holds the dense residues its own can touch. Makes the tables from row to code. */
static int number_rows(sf_census_trie *t, const sf_contact_layout *layout, rows *r)
{
    while (t->size[0] > UINT32_C(1) << t->code_bits)
        t->code_bits++;
    r->n_bits = 1;
    for (int l = 0; l < t->n_decided; l++) {
        uint32_t weight[SF_CENSUS_LEVELS] = {0};
        r->shift[l] = r->n_bits;
        for (int d = 0; d < t->n_dense; d++) {
            int bit = sf_contact_bit(layout, t->decided[l], t->dense[d]);
            if (bit < 0)
                continue;
            weight[r->width[l]++] = t->size[d + 1];
            r->place[bit] = (uint8_t)r->n_bits++;
        }
        uint32_t *code = sf_array_zeroed((size_t)1 << r->width[l], sizeof *code);
        t->row_code[l] = code;
        if (!code || t->code_bits + r->width[l] > 31)
            return SF_ENOMEM; /* the second cannot be: 24 residues need 20 + 11 bits */
        for (uint32_t row = 1; row < UINT32_C(1) << r->width[l]; row++)
            code[row] = (code[row & (row - 1)] + weight[__builtin_ctz(row)]) & ((UINT32_C(1) << t->code_bits) - 1);
    }
    return 0;
}

static void make_keys(const sf_map_table *maps, const rows *r, sf_contact_map *key)
{
    for (size_t i = 0; i < maps->n_maps; i++) {
        sf_contact_map k = maps->count[i] > 1;
        for (uint64_t bits = maps->low[i]; bits; bits &= bits - 1)
            k |= (sf_contact_map)1 << r->place[__builtin_ctzll(bits)];
        for (uint64_t bits = maps->high ? maps->high[i] : 0; bits; bits &= bits - 1)
            k |= (sf_contact_map)1 << r->place[64 + __builtin_ctzll(bits)];
        key[i] = k;
    }
}

enum { DIGIT = 11, N_DIGITS = 1 << DIGIT, N_PASSES = 128 / DIGIT + 1 };

static inline uint32_t digit_of(sf_contact_map key, int pass)
{
    return (uint32_t)(key >> (1 + pass * DIGIT)) & (N_DIGITS - 1);
}

typedef struct keys {
    sf_contact_map *key, *other;  /* the sorted ones end up in key */
    uint32_t *count, *other_count; /* go along; or NULL */
    uint32_t (*start)[N_DIGITS];   /* [N_PASSES], for counting */
    size_t n;
} keys;

static int keys_init(keys *k, const sf_map_table *maps, bool counts)
{
    *k = (keys){.n = maps->n_maps};
    k->key = sf_array_alloc(k->n, sizeof *k->key);
    k->other = sf_array_alloc(k->n, sizeof *k->other);
    k->start = malloc(N_PASSES * sizeof *k->start);
    if (!counts)
        return k->key && k->other && k->start ? 0 : SF_ENOMEM;
    k->count = sf_array_alloc(k->n, sizeof *k->count);
    k->other_count = sf_array_alloc(k->n, sizeof *k->other_count);
    if (!k->key || !k->other || !k->start || !k->count || !k->other_count)
        return SF_ENOMEM;
    memcpy(k->count, maps->count, k->n * sizeof *k->count);
    return 0;
}

static void keys_free_other(keys *k)
{
    free(k->other);
    free(k->other_count);
    free(k->start);
    k->other = NULL;
    k->other_count = NULL;
    k->start = NULL;
}

static void sort_pass(keys *k, int pass)
{
    uint32_t *start = k->start[pass], sum = 0;
    for (int d = 0; d < N_DIGITS; d++) {
        uint32_t here = start[d];
        start[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < k->n; i++) {
        uint32_t to = start[digit_of(k->key[i], pass)]++;
        k->other[to] = k->key[i];
        if (k->count)
            k->other_count[to] = k->count[i];
    }
    sf_contact_map *key = k->key;
    uint32_t *count = k->count;
    k->key = k->other;
    k->other = key;
    k->count = k->other_count;
    k->other_count = count;
}

/* Sorts by bits 1.. (bit 0 is no part of the rows), least digit first. */
static void sort_keys(keys *k, int n_bits)
{
    int n_passes = (n_bits - 1 + DIGIT - 1) / DIGIT;
    memset(k->start, 0, (size_t)n_passes * sizeof *k->start);
    for (size_t i = 0; i < k->n; i++) {
        for (int pass = 0; pass < n_passes; pass++)
            k->start[pass][digit_of(k->key[i], pass)]++;
    }
    for (int pass = 0; pass < n_passes; pass++)
        sort_pass(k, pass);
}

/* Level l from the keys of its nodes: their rows, and the nodes above. The key of a node above replaces those of its
 * children. Returns how many there are above, or 0 when memory is out. */
static size_t make_level(sf_census_trie *t, const rows *r, int l, sf_contact_map *key, size_t n)
{
    int above = r->shift[l] + r->width[l];
    uint32_t row_bits = (UINT32_C(1) << r->width[l]) - 1;
    size_t n_above = 0;
    for (size_t i = 0; i < n; i++)
        n_above += i == 0 || key[i] >> above != key[i - 1] >> above;
    t->row[l] = sf_array_alloc(n, sizeof *t->row[l]);
    t->child[l] = sf_array_alloc(n_above + 1, sizeof *t->child[l]);
    t->bytes += (uint64_t)n * sizeof *t->row[l] + (uint64_t)(n_above + 1) * sizeof *t->child[l];
    if (!t->row[l] || !t->child[l])
        return 0;
    size_t node = 0;
    sf_contact_map last = 0;
    for (size_t i = 0; i < n; i++) {
        sf_contact_map here = key[i];
        uint32_t row = (uint32_t)(here >> r->shift[l]) & row_bits;
        t->row[l][i] = (uint16_t)(l == 0 && (here & 1) ? row | SF_CENSUS_MAP_TWICE : row);
        if (i == 0 || here >> above != last >> above) {
            t->child[l][node] = (uint32_t)i;
            key[node++] = here;
        }
        last = here;
    }
    t->child[l][node] = (uint32_t)n;
    return n_above;
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
        t->bytes += (uint64_t)t->n_nodes[t->tail_level] * sizeof *t->tail_code[choices];
    }
    return 0;
}

int sf_census_trie_init(sf_census_trie *t, const sf_map_table *maps, sf_census_kind kind, sf_error *err)
{
    rows r = {.n_bits = 0};
    keys k;
    sf_census_trie_classes(t, maps->lattice, maps->layout.length);
    int status = keys_init(&k, maps, kind == SF_CENSUS_HISTOGRAMS);
    if (status == 0)
        status = number_rows(t, &maps->layout, &r);
    if (status == 0) {
        make_keys(maps, &r, k.key);
        sort_keys(&k, r.n_bits);
    }
    keys_free_other(&k);
    t->n_nodes[0] = k.n;
    for (int l = 0; status == 0 && l < t->n_decided; l++) {
        t->n_nodes[l + 1] = make_level(t, &r, l, k.key, t->n_nodes[l]);
        status = t->n_nodes[l + 1] ? 0 : SF_ENOMEM;
    }
    t->map_count = k.count;
    t->bytes += t->map_count ? (uint64_t)k.n * sizeof *t->map_count : 0;
    free(k.key);
    if (status == 0)
        status = make_tail(t);
    if (status != 0) {
        sf_census_trie_free(t);
        return sf_fail(err, status, "out of memory for the census of %d residues: %zu contact maps", maps->layout.length, k.n);
    }
    return 0;
}

void sf_census_trie_free(sf_census_trie *t)
{
    for (int l = 0; l < SF_CENSUS_LEVELS; l++) {
        free(t->child[l]);
        free(t->row[l]);
        free(t->row_code[l]);
        t->child[l] = NULL;
        t->row[l] = NULL;
        t->row_code[l] = NULL;
    }
    free(t->map_count);
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

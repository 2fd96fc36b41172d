/* Folding, the part of the census that takes most of its time. */
#include "core/engines/census/census_fold.h"

#include <stdlib.h>

#include "core/base/array.h"

/* `times` is 1 for a code of one conformation, 3 for one of several. */
static inline uint8_t once_more(uint8_t seen, uint32_t times)
{
    return (uint8_t)((uint32_t)seen << 1 | times);
}

static inline uint32_t times_of(uint32_t entry)
{
    return entry >> 31 << 1 | 1;
}

/* Counts a code once more; a code that is new goes to the end of out[]. Both are bytes of a few bits: 1 once, more twice. */
static inline size_t meet(uint8_t *restrict met, uint32_t *restrict out, size_t n, uint32_t code, uint32_t times)
{
    uint8_t seen = met[code];
    out[n] = code;
    met[code] = once_more(seen, times);
    return n + (seen == 0);
}

/* Turns the n codes of out[] into entries of a node whose row, in its place, is `row`; met[] is as before. */
static inline void settle(uint8_t *restrict met, uint32_t *restrict out, size_t n, uint32_t row)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t code = out[i], seen = met[code];
        met[code] = 0;
        out[i] = code | row | (uint32_t)(seen > 1) << 31;
    }
}

/* Folds n entries, those of one node's children, once the residue of the children's level is P (row_code NULL) or H, to
 * out[]; codes that meet become one. `row` is the node's own row, in its place. Returns how many there are. (restrict
 * matters: bytes may alias everything.) */
static inline __attribute__((always_inline)) size_t fold_node(const uint32_t *restrict entry, size_t n,
                                                              const uint32_t *restrict row_code, int code_bits, uint32_t row,
                                                              uint8_t *restrict met, uint32_t *restrict out)
{
    const uint32_t mask = (UINT32_C(1) << code_bits) - 1;
    size_t n_out = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t e = entry[i], code = e & mask;
        if (row_code)
            code += row_code[(e & ~SF_CENSUS_TWICE) >> code_bits];
        n_out = meet(met, out, n_out, code, times_of(e));
    }
    settle(met, out, n_out, row);
    return n_out;
}

/* The same on level 0, where every node is one map. The rows of one residue differ, and so do their codes: when it is H
 * nothing meets, when it is P everything does. */
static inline size_t fold_maps(const uint16_t *map_row, size_t n, const uint32_t *row_code, uint32_t row, uint32_t *out)
{
    if (!row_code) {
        out[0] = row | (n > 1 || (map_row[0] & SF_CENSUS_MAP_TWICE) ? SF_CENSUS_TWICE : 0);
        return 1;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = row_code[map_row[i] & ~SF_CENSUS_MAP_TWICE] | row | (uint32_t)(map_row[i] >> 15) << 31;
    return n;
}

static int make_room(sf_census_entries *e, size_t n, size_t n_nodes, bool counts)
{
    if (n > e->room) {
        free(e->entry);
        free(e->count);
        e->room = n + n / 4;
        e->entry = sf_array_alloc(e->room, sizeof *e->entry);
        e->count = counts ? sf_array_alloc(e->room, sizeof *e->count) : NULL;
    }
    if (!e->start)
        e->start = sf_array_alloc(n_nodes + 1, sizeof *e->start);
    if (e->entry && e->start && (e->count || !counts))
        return 0;
    e->room = 0;
    return SF_ENOMEM;
}

void sf_census_entries_free(sf_census_entries *e)
{
    free(e->entry);
    free(e->start);
    free(e->count);
    *e = (sf_census_entries){0};
}

static size_t fold_level(const sf_census_trie *t, int l, const uint32_t *row_code, const sf_census_entries *from,
                         sf_census_entries *to, uint8_t *met)
{
    const uint32_t *child = t->child[l];
    size_t n = 0;
    for (size_t i = 0; i < t->n_nodes[l + 1]; i++) {
        uint32_t row = (uint32_t)t->row[l + 1][i] << t->code_bits, first = child[i], last = child[i + 1];
        to->start[i] = (uint32_t)n;
        if (l == 0) {
            n += fold_maps(t->row[0] + first, last - first, row_code, row, to->entry + n);
            continue;
        }
        const uint32_t *entry = from->entry + from->start[first];
        size_t n_from = from->start[last] - from->start[first];
        if (row_code)
            n += fold_node(entry, n_from, row_code, t->code_bits, row, met, to->entry + n);
        else
            n += fold_node(entry, n_from, NULL, t->code_bits, row, met, to->entry + n);
    }
    return n;
}

int sf_census_fold(const sf_census_trie *t, int l, bool h, const sf_census_entries *from, sf_census_entries *to,
                   uint8_t *met)
{
    if (make_room(to, l == 0 ? t->n_nodes[0] : from->n, t->n_nodes[l + 1], false) != 0)
        return SF_ENOMEM;
    to->n = fold_level(t, l, h ? t->row_code[l] : NULL, from, to, met);
    to->start[t->n_nodes[l + 1]] = (uint32_t)to->n;
    return 0;
}

int sf_census_fold_both(const sf_census_trie *t, int l, const sf_census_entries *from, sf_census_entries to[2],
                        uint8_t *const met[2])
{
    size_t n_nodes = t->n_nodes[l + 1], n_p = 0, n_h = 0;
    if (make_room(&to[0], from->n, n_nodes, false) != 0 || make_room(&to[1], from->n, n_nodes, false) != 0)
        return SF_ENOMEM;
    const uint32_t mask = (UINT32_C(1) << t->code_bits) - 1, *restrict child = t->child[l];
    const uint32_t *restrict row_code = t->row_code[l], *restrict entry = from->entry, *restrict start = from->start;
    uint8_t *restrict met_p = met[0], *restrict met_h = met[1];
    const int code_bits = t->code_bits;
    for (size_t node = 0; node < n_nodes; node++) {
        uint32_t row = (uint32_t)t->row[l + 1][node] << code_bits;
        uint32_t *restrict out_p = to[0].entry + n_p, *restrict out_h = to[1].entry + n_h;
        size_t here_p = 0, here_h = 0;
        for (size_t i = start[child[node]], end = start[child[node + 1]]; i < end; i++) {
            uint32_t e = entry[i], code = e & mask, times = times_of(e);
            here_p = meet(met_p, out_p, here_p, code, times);
            here_h = meet(met_h, out_h, here_h, code + row_code[(e & ~SF_CENSUS_TWICE) >> code_bits], times);
        }
        settle(met_p, out_p, here_p, row);
        settle(met_h, out_h, here_h, row);
        to[0].start[node] = (uint32_t)n_p;
        to[1].start[node] = (uint32_t)n_h;
        n_p += here_p;
        n_h += here_h;
    }
    to[0].start[n_nodes] = (uint32_t)n_p;
    to[1].start[n_nodes] = (uint32_t)n_h;
    to[0].n = n_p;
    to[1].n = n_h;
    return 0;
}

int sf_census_entries_of_maps(const sf_census_trie *t, sf_census_entries *to)
{
    size_t n = t->n_nodes[0];
    if (make_room(to, n, n, t->map_count != NULL) != 0)
        return SF_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        to->entry[i] = t->row[0][i] & SF_CENSUS_MAP_TWICE ? SF_CENSUS_TWICE : 0;
        to->start[i] = (uint32_t)i;
        if (t->map_count)
            to->count[i] = t->map_count[i];
    }
    to->start[n] = (uint32_t)(to->n = n);
    return 0;
}

void sf_census_mark(const sf_census_trie *t, const sf_census_entries *from, uint32_t choices, uint8_t *restrict mark_p,
                    uint8_t *restrict mark_h)
{
    const uint32_t mask = (UINT32_C(1) << t->code_bits) - 1, *restrict entry = from->entry;
    const uint32_t *restrict add_p = t->tail_code[choices], *restrict add_h = t->tail_code[choices | 1];
    for (size_t node = 0; node < t->n_nodes[t->tail_level]; node++) {
        uint8_t *restrict to_p = mark_p + add_p[node], *restrict to_h = mark_h + add_h[node];
        for (size_t i = from->start[node], end = from->start[node + 1]; i < end; i++) {
            uint32_t code = entry[i] & mask, times = times_of(entry[i]);
            to_p[code] = once_more(to_p[code], times);
            to_h[code] = once_more(to_h[code], times);
        }
    }
}

/* ---- with counts ---- */

/* Folds the entries of one node's children, as fold_node. All sums are below the number of conformations, 32 bits. */
static size_t fold_node_counts(const sf_census_trie *t, const uint32_t *restrict row_code, const sf_census_entries *from,
                               size_t first, size_t last, uint32_t row, uint32_t *restrict sum, uint32_t *restrict out,
                               uint32_t *restrict out_count)
{
    const uint32_t mask = (UINT32_C(1) << t->code_bits) - 1;
    size_t n = 0;
    for (size_t i = first; i < last; i++) {
        uint32_t e = from->entry[i], code = e & mask;
        if (row_code)
            code += row_code[e >> t->code_bits];
        uint32_t seen = sum[code];
        out[n] = code;
        sum[code] = seen + from->count[i];
        n += seen == 0;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t code = out[i];
        out[i] = code | row;
        out_count[i] = sum[code];
        sum[code] = 0;
    }
    return n;
}

static size_t fold_maps_counts(const sf_census_trie *t, const uint32_t *row_code, size_t first, size_t last, uint32_t row,
                               uint32_t *out, uint32_t *out_count)
{
    if (!row_code) {
        out[0] = row;
        out_count[0] = 0;
        for (size_t i = first; i < last; i++)
            out_count[0] += t->map_count[i];
        return 1;
    }
    for (size_t i = first; i < last; i++) {
        out[i - first] = row_code[t->row[0][i] & ~SF_CENSUS_MAP_TWICE] | row;
        out_count[i - first] = t->map_count[i];
    }
    return last - first;
}

int sf_census_fold_counts(const sf_census_trie *t, int l, bool h, const sf_census_entries *from, sf_census_entries *to,
                          uint32_t *sum)
{
    const uint32_t *row_code = h ? t->row_code[l] : NULL, *child = t->child[l];
    size_t n = 0, n_nodes = t->n_nodes[l + 1];
    if (make_room(to, l == 0 ? t->n_nodes[0] : from->n, n_nodes, true) != 0)
        return SF_ENOMEM;
    for (size_t i = 0; i < n_nodes; i++) {
        uint32_t row = (uint32_t)t->row[l + 1][i] << t->code_bits;
        to->start[i] = (uint32_t)n;
        if (l == 0)
            n += fold_maps_counts(t, row_code, child[i], child[i + 1], row, to->entry + n, to->count + n);
        else
            n += fold_node_counts(t, row_code, from, from->start[child[i]], from->start[child[i + 1]], row, sum,
                                  to->entry + n, to->count + n);
    }
    to->start[n_nodes] = (uint32_t)n;
    to->n = n;
    return 0;
}

void sf_census_sum(const sf_census_trie *t, const sf_census_entries *from, uint32_t choices, uint32_t *restrict sum)
{
    const uint32_t mask = (UINT32_C(1) << t->code_bits) - 1, *restrict entry = from->entry, *restrict count = from->count;
    for (size_t node = 0; node < t->n_nodes[t->tail_level]; node++) {
        uint32_t *restrict to = sum + t->tail_code[choices][node];
        for (size_t i = from->start[node], end = from->start[node + 1]; i < end; i++)
            to[entry[i] & mask] += count[i];
    }
}

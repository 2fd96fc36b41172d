/* Lays out the maps of a census: each becomes a key, the rows in the order of the trie, and sorted keys become nodes.
 *
 * The obvious way, one radix sort of all keys, passes ten times over more memory than caches hold, and on one thread. Here
 * the maps are first dealt to *pieces*, ranges of keys told by their first rows alone, some tens of thousands of maps each. A
 * piece is sorted in the cache, by whichever thread or rank has it, and where its nodes go follows from how many new nodes
 * each level has in the pieces before: so all write to their own places of the same arrays, which are the same for any
 * number of threads and ranks. */
#include "core/engines/census/census_layout.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

enum {
    TOP_ROWS = 3,         /* rows that tell the piece; fewer where there would be too many */
    TOPS_MAX = 1 << 18,
    ROW_BITS_MAX = 11,
    PIECE_MAPS = 1 << 14, /* at least, but the last; more where one top has more */
    DIGIT = 11,
    N_DIGITS = 1 << DIGIT,
    N_PASSES = 128 / DIGIT + 1,
    TOP_RUNS = TOP_ROWS * ROW_BITS_MAX,
};

/* A map as a sortable key: the rows, that of the residue decided last highest, and lowest of all the bit "several
 * conformations". */
typedef struct rows {
    int shift[SF_CENSUS_LEVELS]; /* row l is bits shift[l] .. shift[l] + width[l] - 1 of a key */
    int width[SF_CENSUS_LEVELS];
    int n_bits;
    uint8_t place[128]; /* bit of a contact map to bit of a key */
    uint8_t level[128]; /* bit of a key to its row */
} rows;

/* What is known of a piece to all: its first and last keys, and on each level how many nodes begin after its first key.
 * Words, so that the parts' can be added. */
typedef struct head {
    uint64_t first[2], last[2];
    uint64_t n_new[SF_CENSUS_LEVELS];
} head;

enum { HEAD_WORDS = sizeof(head) / sizeof(uint64_t) };

/* One thread's pieces, first_piece .. end_piece - 1. */
typedef struct worker {
    size_t first_piece, end_piece;
    sf_contact_map *key, *other;   /* sorted by pieces; room for one piece */
    uint32_t *count, *other_count; /* go along; or NULL */
    uint32_t (*start)[N_DIGITS];   /* [N_PASSES], for sorting */
    uint64_t *n_of_top;            /* of this thread's share of the maps */
} worker;

/* Bits of a map's word that go together: (word[high] & mask) >> down << up. */
typedef struct run {
    uint64_t mask;
    int high, down, up;
} run;

typedef struct layout {
    const sf_map_table *maps;
    sf_census_trie *trie;
    bool counts;
    rows r;
    size_t part, n_parts, n_threads;
    /* The *top* of a map, its first rows: number[i][row] counts the rows up to this one that a residue can have. */
    int n_top_rows, top_shift;
    run top_run[TOP_RUNS]; /* where they are in a map */
    int n_top_runs;
    uint16_t number[TOP_ROWS][1 << ROW_BITS_MAX];
    uint32_t n_numbers[TOP_ROWS];
    size_t n_tops;
    uint64_t *n_of_top; /* [n_tops]: maps */
    uint32_t *piece_of; /* [n_tops] */
    size_t n_pieces;
    uint64_t *begin;    /* begin[n_pieces + 1]: the first map of each piece, in the order of the keys */
    head *heads;        /* [n_pieces] */
    uint64_t (*node)[SF_CENSUS_LEVELS + 1]; /* node[n_pieces + 1]: the nodes before a piece, on each level */
    worker *workers;    /* [n_threads] */
} layout;

/* Every thread's share of a step. (One thread does without OpenMP, which ends the program where it has no memory.) */
static int each_worker(layout *y, int step(const layout *y, worker *w, size_t share))
{
    int code = 0;
    if (y->n_threads == 1)
        return step(y, &y->workers[0], y->part);
#pragma omp parallel for num_threads((int)y->n_threads) schedule(static, 1) reduction(min : code)
    for (size_t i = 0; i < y->n_threads; i++) {
        const int here = step(y, &y->workers[i], y->part * y->n_threads + i);
        code = here < code ? here : code;
    }
    return code;
}

/* ---- keys ---- */

/* Numbers the bits of a key; a row holds the dense residues its own can touch. Makes the tables from row to code. */
static int number_rows(sf_census_trie *t, const sf_contact_layout *contacts, rows *r)
{
    while (t->size[0] > UINT32_C(1) << t->code_bits)
        t->code_bits++;
    r->n_bits = 1;
    for (int l = 0; l < t->n_decided; l++) {
        uint32_t weight[SF_CENSUS_LEVELS] = {0};
        r->shift[l] = r->n_bits;
        for (int d = t->n_dense - 1; d >= 0; d--) { /* as the bits of maps go, so that they move in runs */
            int bit = sf_contact_bit(contacts, t->decided[l], t->dense[d]);
            if (bit < 0)
                continue;
            weight[r->width[l]++] = t->size[d + 1];
            r->level[r->n_bits] = (uint8_t)l;
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

/* The bits of one word of a map, in their places. */
static inline sf_contact_map place_bits(uint64_t bits, const uint8_t *place)
{
    sf_contact_map key = 0;
    for (; bits; bits &= bits - 1)
        key |= (sf_contact_map)1 << place[__builtin_ctzll(bits)];
    return key;
}

static inline uint32_t row_of(const rows *r, sf_contact_map key, int l)
{
    return (uint32_t)(key >> r->shift[l]) & ((UINT32_C(1) << r->width[l]) - 1);
}

/* The highest level whose rows differ. */
static inline int level_between(const rows *r, sf_contact_map a, sf_contact_map b)
{
    const uint64_t high = (uint64_t)((a ^ b) >> 64), low = (uint64_t)(a ^ b) | 1;
    return r->level[high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low)];
}

/* ---- tops and pieces ---- */

/* Rows of more contacts than a residue can have do not occur; their numbers are in range all the same. */
static void number_tops(layout *y)
{
    const sf_census_trie *t = y->trie;
    y->n_tops = 1;
    y->top_shift = y->r.n_bits;
    for (int i = 0; i < TOP_ROWS && i < t->n_decided; i++) {
        const int l = t->n_decided - 1 - i, k = t->decided[l];
        const int most = y->maps->lattice->n_steps - 2 + (k == 0 || k == t->length - 1);
        uint32_t n = 0;
        for (uint32_t row = 0; row < UINT32_C(1) << y->r.width[l]; row++) {
            n += __builtin_popcount(row) <= most;
            y->number[i][row] = (uint16_t)(n - 1);
        }
        if (y->n_tops * n > TOPS_MAX)
            break;
        y->n_numbers[i] = n;
        y->n_tops *= n;
        y->n_top_rows++;
        y->top_shift = y->r.shift[l];
    }
    for (int bit = 0; bit < y->maps->layout.n_bits; bit++) {
        const bool goes_on = bit % 64 != 0 && y->r.place[bit] == y->r.place[bit - 1] + 1;
        if (y->r.place[bit] < y->top_shift)
            continue;
        if (!goes_on || y->r.place[bit - 1] < y->top_shift)
            y->top_run[y->n_top_runs++] = (run){0, bit / 64, bit % 64, y->r.place[bit] - y->top_shift};
        y->top_run[y->n_top_runs - 1].mask |= UINT64_C(1) << bit % 64;
    }
}

static inline uint32_t top_of(const layout *y, size_t i)
{
    const int shift = y->top_shift;
    const uint64_t word[2] = {y->maps->low[i], y->maps->high ? y->maps->high[i] : 0};
    uint64_t top_rows = 0;
    for (int n = 0; n < y->n_top_runs; n++)
        top_rows |= (word[y->top_run[n].high] & y->top_run[n].mask) >> y->top_run[n].down << y->top_run[n].up;
    uint32_t top = 0;
    for (int n = 0; n < y->n_top_rows; n++) {
        const int l = y->trie->n_decided - 1 - n;
        const uint64_t row = top_rows >> (y->r.shift[l] - shift) & ((UINT64_C(1) << y->r.width[l]) - 1);
        top = top * y->n_numbers[n] + y->number[n][row];
    }
    return top;
}

static int count_share(const layout *y, worker *w, size_t share)
{
    const size_t n_shares = y->n_parts * y->n_threads, n = y->maps->n_maps;
    const size_t end = (size_t)((sf_contact_map)n * (share + 1) / n_shares);
    w->n_of_top = sf_array_zeroed(y->n_tops, sizeof *w->n_of_top);
    if (!w->n_of_top)
        return SF_ENOMEM;
    for (size_t map = (size_t)((sf_contact_map)n * share / n_shares); map < end; map++)
        w->n_of_top[top_of(y, map)]++;
    return 0;
}

/* This part's maps by their tops: the shares of its threads, added. */
static int count_tops(layout *y)
{
    const int code = each_worker(y, count_share);
    for (size_t i = 0; i < y->n_threads; i++) {
        for (size_t top = 0; !code && top < y->n_tops; top++)
            y->n_of_top[top] += y->workers[i].n_of_top[top];
        free(y->workers[i].n_of_top);
    }
    return code;
}

/* The same pieces in every part; each thread of each part gets some in turn, of about as many maps. */
static int cut_pieces(layout *y)
{
    const size_t most = y->maps->n_maps / PIECE_MAPS + 1, n_shares = y->n_parts * y->n_threads;
    y->begin = calloc(most + 1, sizeof *y->begin);
    y->piece_of = calloc(y->n_tops, sizeof *y->piece_of);
    y->heads = calloc(most, sizeof *y->heads);
    y->node = calloc(most + 1, sizeof *y->node);
    if (!y->begin || !y->piece_of || !y->heads || !y->node)
        return SF_ENOMEM;
    uint64_t n = 0;
    for (size_t top = 0; top < y->n_tops; top++) {
        y->piece_of[top] = (uint32_t)y->n_pieces;
        n += y->n_of_top[top];
        if (n - y->begin[y->n_pieces] >= PIECE_MAPS && n < y->maps->n_maps)
            y->begin[++y->n_pieces] = n;
    }
    y->begin[++y->n_pieces] = n;
    size_t piece = 0;
    for (size_t share = 0; share < n_shares; share++) {
        const size_t first = piece;
        while (piece < y->n_pieces && (sf_contact_map)y->begin[piece] * n_shares < (sf_contact_map)n * (share + 1))
            piece++;
        if (share / y->n_threads == y->part) {
            y->workers[share % y->n_threads].first_piece = first;
            y->workers[share % y->n_threads].end_piece = piece;
        }
    }
    return 0;
}

/* ---- sorting ---- */

static int open_worker(const layout *y, worker *w)
{
    const size_t n = (size_t)(y->begin[w->end_piece] - y->begin[w->first_piece]);
    size_t most = 0;
    for (size_t piece = w->first_piece; piece < w->end_piece; piece++) {
        const size_t here = (size_t)(y->begin[piece + 1] - y->begin[piece]);
        most = here > most ? here : most;
    }
    w->key = sf_array_alloc(n, sizeof *w->key);
    w->other = sf_array_alloc(most, sizeof *w->other);
    w->start = malloc(N_PASSES * sizeof *w->start);
    if (!y->counts)
        return w->key && w->other && w->start ? 0 : SF_ENOMEM;
    w->count = sf_array_alloc(n, sizeof *w->count);
    w->other_count = sf_array_alloc(most, sizeof *w->other_count);
    return w->key && w->other && w->start && w->count && w->other_count ? 0 : SF_ENOMEM;
}

/* The keys of this thread's pieces, piece by piece. */
static int collect(const layout *y, worker *w)
{
    const size_t first = w->first_piece, n_pieces = w->end_piece - first;
    uint64_t *at = malloc((n_pieces + 1) * sizeof *at);
    if (!at)
        return SF_ENOMEM;
    for (size_t piece = 0; piece < n_pieces; piece++)
        at[piece] = y->begin[first + piece] - y->begin[first];
    const sf_map_table *maps = y->maps;
    uint64_t high = 0;
    sf_contact_map high_key = 0; /* of the high words, which many maps in turn have in common */
    for (size_t i = 0; i < maps->n_maps && n_pieces > 0; i++) {
        const size_t piece = y->n_pieces == 1 ? 0 : y->piece_of[top_of(y, i)] - first;
        if (piece >= n_pieces)
            continue;
        if (maps->high && maps->high[i] != high) {
            high = maps->high[i];
            high_key = place_bits(high, y->r.place + 64);
        }
        const uint64_t to = at[piece]++;
        w->key[to] = high_key | place_bits(maps->low[i], y->r.place) | (maps->count[i] > 1);
        if (y->counts)
            w->count[to] = maps->count[i];
    }
    free(at);
    return 0;
}

static inline uint32_t digit_of(sf_contact_map key, int pass)
{
    return (uint32_t)(key >> (1 + pass * DIGIT)) & (N_DIGITS - 1);
}

static void sort_pass(uint32_t *restrict start, int pass, size_t n, const sf_contact_map *restrict key,
                      sf_contact_map *restrict to_key, const uint32_t *restrict count, uint32_t *restrict to_count)
{
    uint32_t sum = 0;
    for (int d = 0; d < N_DIGITS; d++) {
        uint32_t here = start[d];
        start[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t to = start[digit_of(key[i], pass)]++;
        to_key[to] = key[i];
        if (count)
            to_count[to] = count[i];
    }
}

/* Sorts n keys by bits 1.. (bit 0 is no part of the rows), least digit first; digits that are all the same are passed over. */
static void sort_keys(worker *w, int n_bits, size_t n, sf_contact_map *key, uint32_t *count)
{
    const int n_passes = (n_bits - 1 + DIGIT - 1) / DIGIT;
    sf_contact_map *from = key, *to = w->other;
    uint32_t *from_count = count, *to_count = w->other_count;
    memset(w->start, 0, (size_t)n_passes * sizeof *w->start);
    for (size_t i = 0; i < n; i++) {
        for (int pass = 0; pass < n_passes; pass++)
            w->start[pass][digit_of(key[i], pass)]++;
    }
    for (int pass = 0; pass < n_passes; pass++) {
        if (w->start[pass][digit_of(from[0], pass)] == n)
            continue;
        sort_pass(w->start[pass], pass, n, from, to, from_count, to_count);
        sf_contact_map *swap = from;
        uint32_t *swap_count = from_count;
        from = to;
        to = swap;
        from_count = to_count;
        to_count = swap_count;
    }
    if (from != key)
        memcpy(key, from, n * sizeof *key);
    if (count && from_count != count)
        memcpy(count, from_count, n * sizeof *count);
}

static void make_head(const layout *y, const sf_contact_map *key, size_t n, head *h)
{
    for (size_t i = 1; i < n; i++)
        h->n_new[level_between(&y->r, key[i - 1], key[i])]++;
    for (int l = y->trie->n_decided - 1; l > 0; l--) /* a node that begins has one that begins below it */
        h->n_new[l - 1] += h->n_new[l];
    h->first[0] = (uint64_t)key[0];
    h->first[1] = (uint64_t)(key[0] >> 64);
    h->last[0] = (uint64_t)key[n - 1];
    h->last[1] = (uint64_t)(key[n - 1] >> 64);
}

static int sort_pieces(const layout *y, worker *w, size_t share)
{
    (void)share;
    int code = open_worker(y, w);
    if (!code)
        code = collect(y, w);
    for (size_t piece = w->first_piece; !code && piece < w->end_piece; piece++) {
        const uint64_t at = y->begin[piece] - y->begin[w->first_piece];
        const size_t n = (size_t)(y->begin[piece + 1] - y->begin[piece]);
        sort_keys(w, y->r.n_bits, n, w->key + at, w->count ? w->count + at : NULL);
        make_head(y, w->key + at, n, &y->heads[piece]);
    }
    return code;
}

/* ---- writing ---- */

static sf_contact_map key_from(const uint64_t words[2])
{
    return (sf_contact_map)words[1] << 64 | words[0];
}

/* Levels from this down begin a node with the first key of a piece. */
static int level_before(const layout *y, size_t piece)
{
    if (piece == 0)
        return y->trie->n_decided;
    return level_between(&y->r, key_from(y->heads[piece - 1].last), key_from(y->heads[piece].first));
}

static void place_nodes(layout *y)
{
    sf_census_trie *t = y->trie;
    for (size_t piece = 0; piece < y->n_pieces; piece++) {
        const int first = level_before(y, piece);
        for (int l = 0; l <= t->n_decided; l++)
            y->node[piece + 1][l] = y->node[piece][l] + (l < t->n_decided ? y->heads[piece].n_new[l] : 0) + (l <= first);
    }
    for (int l = 0; l <= t->n_decided; l++)
        t->n_nodes[l] = (size_t)y->node[y->n_pieces][l];
}

static uint64_t aligned(uint64_t bytes)
{
    const uint64_t unit = SF_ARRAY_ALIGNMENT;
    return (bytes + unit - 1) / unit * unit;
}

/* Lets the arrays lie in memory, which may be NULL: the bytes they take. */
static uint64_t place_arrays(const layout *y, uint8_t *memory)
{
    sf_census_trie *t = y->trie;
    uint64_t at = 0;
    for (int l = 0; l < t->n_decided; l++) {
        t->child[l] = memory ? (void *)(memory + at) : NULL;
        at += aligned((t->n_nodes[l + 1] + 1) * sizeof *t->child[l]);
        t->row[l] = memory ? (void *)(memory + at) : NULL;
        at += aligned(t->n_nodes[l] * sizeof *t->row[l]);
    }
    t->map_count = memory && y->counts ? (void *)(memory + at) : NULL;
    return at + (y->counts ? aligned(t->n_nodes[0] * sizeof *t->map_count) : 0);
}

static void write_piece(const layout *y, const worker *w, size_t piece)
{
    const sf_census_trie *t = y->trie;
    const uint64_t at = y->begin[piece] - y->begin[w->first_piece];
    const sf_contact_map *key = w->key + at;
    const size_t n = (size_t)(y->begin[piece + 1] - y->begin[piece]);
    uint64_t node[SF_CENSUS_LEVELS + 1];
    memcpy(node, y->node[piece], sizeof node);
    for (size_t i = 0; i < n; i++) {
        const sf_contact_map here = key[i];
        for (int l = i == 0 ? level_before(y, piece) : level_between(&y->r, key[i - 1], here); l > 0; l--) {
            const uint64_t to = node[l]++;
            t->child[l - 1][to] = (uint32_t)node[l - 1];
            if (l < t->n_decided)
                t->row[l][to] = (uint16_t)row_of(&y->r, here, l);
        }
        const uint64_t to = node[0]++;
        t->row[0][to] = (uint16_t)(row_of(&y->r, here, 0) | (here & 1 ? SF_CENSUS_MAP_TWICE : 0));
        if (y->counts)
            t->map_count[to] = w->count[at + i];
    }
}

static int write_pieces(const layout *y, worker *w, size_t share)
{
    const sf_census_trie *t = y->trie;
    for (size_t piece = w->first_piece; piece < w->end_piece; piece++)
        write_piece(y, w, piece);
    for (int l = 0; l < t->n_decided && share == 0; l++)
        t->child[l][t->n_nodes[l + 1]] = (uint32_t)t->n_nodes[l];
    return 0;
}

/* ---- the whole ---- */

static void close_layout(layout *y)
{
    for (size_t i = 0; y->workers && i < y->n_threads; i++) {
        free(y->workers[i].key);
        free(y->workers[i].other);
        free(y->workers[i].count);
        free(y->workers[i].other_count);
        free(y->workers[i].start);
    }
    free(y->workers);
    free(y->n_of_top);
    free(y->piece_of);
    free(y->begin);
    free(y->heads);
    free(y->node);
    free(y);
}

static int agree(const sf_census_team *team, int code)
{
    return !team || team->agree(team->context, code == 0) ? code : SF_ENOMEM;
}

static void sum(const sf_census_team *team, size_t n, uint64_t *counts)
{
    if (team)
        team->sum(team->context, n, counts);
}

static int make(layout *y, const sf_census_team *team)
{
    sf_census_trie *t = y->trie;
    int code = number_rows(t, &y->maps->layout, &y->r);
    number_tops(y);
    y->workers = calloc(y->n_threads, sizeof *y->workers);
    y->n_of_top = sf_array_zeroed(y->n_tops, sizeof *y->n_of_top);
    if (!code)
        code = y->workers && y->n_of_top ? count_tops(y) : SF_ENOMEM;
    code = agree(team, code);
    if (!code) {
        sum(team, y->n_tops, y->n_of_top);
        code = cut_pieces(y);
    }
    if (!code)
        code = each_worker(y, sort_pieces);
    code = agree(team, code);
    if (code)
        return code;
    sum(team, y->n_pieces * HEAD_WORDS, (uint64_t *)y->heads);
    place_nodes(y);
    t->bytes = place_arrays(y, NULL);
    uint8_t *memory = team ? team->room(team->context, t->bytes) : NULL;
    if (!memory && team)
        return SF_ELIMIT;
    if (!memory)
        memory = t->memory = sf_array_alloc((size_t)t->bytes, 1);
    if (!memory)
        return SF_ENOMEM;
    place_arrays(y, memory);
    (void)each_worker(y, write_pieces);
    if (team)
        team->settle(team->context);
    return 0;
}

int sf_census_layout_make(sf_census_trie *trie, const sf_map_table *maps, sf_census_kind kind, int n_threads,
                          const sf_census_team *team, sf_error *err)
{
    layout *y = calloc(1, sizeof *y);
    int code = agree(team, y ? 0 : SF_ENOMEM);
    if (!code) {
        y->maps = maps;
        y->trie = trie;
        y->counts = kind == SF_CENSUS_HISTOGRAMS;
        y->part = team ? team->part : 0;
        y->n_parts = team ? team->n_parts : 1;
        y->n_threads = (size_t)n_threads;
        code = make(y, team);
    }
    if (y)
        close_layout(y);
    return code ? sf_fail(err, code, "out of memory for the census of %d residues: %zu contact maps", maps->layout.length,
                          maps->n_maps)
                : 0;
}

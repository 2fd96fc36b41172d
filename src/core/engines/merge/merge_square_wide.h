/* Tails of 8 residues and more: a sublattice is one vector of 16 rows. */
#ifndef SF_CORE_MERGE_SQUARE_WIDE_H
#define SF_CORE_MERGE_SQUARE_WIDE_H

#include "core/engines/merge/merge_square_narrow.h"

typedef struct wide_board {
    rows occupied[2], ones[2], twos[2];
} wide_board;

typedef struct wide_key {
    rows word[4]; /* blocked | ones and blocked | twos, both for even and odd sites */
    uint64_t hash;
    uint32_t code;
} wide_key;

typedef struct medium_entry {
    uint32_t code;
    uint16_t epoch, unused;
    uint16_t count[28];
    rows key[4];
} medium_entry;

typedef struct large_entry {
    uint32_t code, epoch;
    uint32_t count[30];
    rows key[4];
} large_entry;

static const rows wide_head = {0, 0, 0, 0, 0, 0, 0, 0, 0x100};
static const rows wide_beside = {0, 0, 0, 0, 0, 0, 0, 0x180, 0x180};

SQUARE_INLINE unsigned wide_beside_head(rows odd)
{
    unsigned above = odd[8], below = odd[7];
    return (above >> 8 & 1) | (above >> 7 & 1) << 1 | (below >> 7 & 1) << 2 | (below >> 8 & 1) << 3;
}

SQUARE_INLINE rows beside_even(rows even)
{
    rows y = even | even >> 1;
    return y | lower(y);
}

SQUARE_INLINE rows beside_odd(rows odd)
{
    rows y = odd | odd << 1;
    return y | raise(y);
}

SQUARE_INLINE rows two_of(rows a, rows b, rows c, rows d)
{
    return (a & b) | (c & d) | ((a | b) & (c | d));
}

/* The key of tails of r residues, r > SQUARE_NARROW. As narrow_keys_make, on one wide board. */
SQUARE_INLINE void wide_key_make(const int r, const square_level *level, const wide_board *board, wide_key *key)
{
    const rows free_even = ~board->occupied[EVEN], free_odd = ~board->occupied[ODD], none = {0};
    rows even = wide_head, odd = none, even_before = wide_head, odd_before = none, even_h = none, odd_h = none;
#pragma GCC unroll 14
    for (int step = 1; step <= r; step++) {
        if (step & 1) {
            odd_before = odd;
            odd |= beside_even(even) & free_odd;
            if (step == level->last[ODD])
                odd_h = odd;
        } else {
            even_before = even;
            even |= beside_odd(odd) & free_even;
            if (step == level->last[EVEN])
                even_h = even;
        }
    }
    rows blocked_even, blocked_odd;
    if (r & 1) {
        rows x = odd << 1;
        rows dead = even & ~(two_of(odd, x, raise(odd), raise(x)) | wide_head);
        even_h &= ~dead;
        blocked_odd = beside_even(even & ~dead) & board->occupied[ODD];
        blocked_even = beside_odd(odd_before) & (board->occupied[EVEN] | dead);
    } else {
        rows x = even >> 1;
        rows dead = odd & ~two_of(even, x, lower(even), lower(x));
        odd_h &= ~dead;
        blocked_even = beside_odd(odd & ~dead) & board->occupied[EVEN];
        blocked_odd = beside_even(even_before) & (board->occupied[ODD] | dead);
    }
    even_h &= ~wide_head;
    rows ones_even = board->ones[EVEN] & even_h, ones_odd = board->ones[ODD] & odd_h;
    rows twos_even = board->twos[EVEN] & even_h, twos_odd = board->twos[ODD] & odd_h;
    key->word[0] = blocked_even | ones_even;
    key->word[1] = blocked_odd | ones_odd;
    key->word[2] = blocked_even | twos_even;
    key->word[3] = blocked_odd | twos_odd;
    rows mix = key->word[0] ^ key->word[1] * 0x9e35 ^ key->word[2] * 0x79b9 ^ key->word[3] * 0x7f4b;
    lanes mixed = (lanes)mix;
    key->hash = hash_words((const uint64_t[4]){mixed[0], mixed[1], mixed[2], mixed[3]});
    rows three[2] = {ones_even & twos_even, ones_odd & twos_odd};
    key->code = 0;
    if (__builtin_expect(any((lanes)(three[0] | three[1])), 0)) {
        uint64_t word[8];
        memcpy(word, three, sizeof word);
        key->code = sites_code(word, 8);
    }
}

SQUARE_INLINE rows wide_move(rows x, int a, int b)
{ /* site (i, j) gets site (i + a, j + b) */
    x = b > 0 ? x >> 1 : b < 0 ? x << 1 : x;
    return a > 0 ? lower(x) : a < 0 ? raise(x) : x;
}

SQUARE_INLINE void wide_child(const wide_board *board, const int d, wide_board *child)
{
    child->occupied[EVEN] = wide_move(board->occupied[ODD], to_even_a[d], to_even_b[d]);
    child->occupied[ODD] = wide_move(board->occupied[EVEN], to_odd_a[d], to_odd_b[d]);
    child->ones[EVEN] = wide_move(board->ones[ODD], to_even_a[d], to_even_b[d]);
    child->ones[ODD] = wide_move(board->ones[EVEN], to_odd_a[d], to_odd_b[d]);
    child->twos[EVEN] = wide_move(board->twos[ODD], to_even_a[d], to_even_b[d]);
    child->twos[ODD] = wide_move(board->twos[EVEN], to_odd_a[d], to_odd_b[d]);
}

/* The board with its head placed. */
SQUARE_INLINE void wide_place_head(const wide_board *board, bool head_h, wide_board *placed)
{
    *placed = *board;
    placed->occupied[EVEN] |= wide_head;
    if (head_h) {
        placed->twos[ODD] ^= placed->ones[ODD] & wide_beside;
        placed->ones[ODD] ^= wide_beside;
    }
}

/* One sublattice of the four children, cut out of the parent's other one around the head. */
SQUARE_INLINE lanes narrow_cut(rows parent, const int a[4], const int b[4], const int b_min)
{
    typedef uint8_t bytes __attribute__((vector_size(16)));
    uint8_t row[2][16];
    bytes low = __builtin_convertvector(parent >> (4 + b_min), bytes);
    bytes high = __builtin_convertvector(parent >> (5 + b_min), bytes);
    memcpy(row[0], &low, 16);
    memcpy(row[1], &high, 16);
    uint64_t word[4];
    for (int d = 0; d < 4; d++)
        memcpy(&word[d], row[b[d] - b_min] + 4 + a[d], 8);
    return (lanes){word[0], word[1], word[2], word[3]};
}

/* Counts of the tails of 8 residues: their children are narrow. */
static void wide_count_8(const kernel *k, const wide_board *board, uint32_t *out)
{
    const square_level *level = &k->job->level[8];
    const unsigned open = ~wide_beside_head(board->occupied[ODD]) & 15;
    const unsigned ones = level->next_h ? wide_beside_head(board->ones[ODD]) : 0;
    const unsigned twos = level->next_h ? wide_beside_head(board->twos[ODD]) : 0;
    wide_board placed;
    wide_place_head(board, level->head_h, &placed);
    narrow_boards child;
    child.occupied[EVEN] = narrow_cut(placed.occupied[ODD], to_even_a, to_even_b, -1);
    child.occupied[ODD] = narrow_cut(placed.occupied[EVEN], to_odd_a, to_odd_b, 0);
    child.ones[EVEN] = narrow_cut(placed.ones[ODD], to_even_a, to_even_b, -1);
    child.ones[ODD] = narrow_cut(placed.ones[EVEN], to_odd_a, to_odd_b, 0);
    child.twos[EVEN] = narrow_cut(placed.twos[ODD], to_even_a, to_even_b, -1);
    child.twos[ODD] = narrow_cut(placed.twos[EVEN], to_odd_a, to_odd_b, 0);
    uint16_t more[LONG] = {0};
    counts sum = narrow_add_all(k, 7, &child, open, ones, twos, more);
    for (int i = 0; i < 16; i++)
        more[i] = (uint16_t)(more[i] + sum[i]);
    for (int i = 0; i < LONG; i++)
        out[i] = more[i];
}

typedef void wide_count(const kernel *k, const wide_board *board, uint32_t *out);
static wide_count *const wide_count_at[SQUARE_TAIL_MAX + 1];

SQUARE_INLINE uint8_t *wide_slot(const kernel *k, const int r, const wide_key *key)
{
    const merge_table *table = &k->workspace->table[r];
    return table->entries + (key->hash & table->mask) * square_entry_bytes(r);
}

SQUARE_INLINE bool key_equal(const rows *a, const rows *b)
{
    rows differ = (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]);
    return !any((lanes)differ);
}

/* Adds to sum[LONG] the tails of r residues of a board, moved up by gain. */
SQUARE_INLINE void wide_add(const kernel *k, const int r, const wide_board *board, const wide_key *key, uint8_t *slot,
                            int gain, uint32_t *sum)
{
    merge_workspace *ws = k->workspace;
    ws->stats.look_ups[r]++;
    medium_entry *medium = (medium_entry *)(void *)slot;
    large_entry *large = (large_entry *)(void *)slot;
    if (r <= SQUARE_MEDIUM) {
        if (medium->code == key->code && medium->epoch == ws->epoch && key_equal(medium->key, key->word)) {
            for (int i = 0; i < 28; i++)
                sum[i + gain] += medium->count[i];
            return;
        }
    } else if (large->code == key->code && large->epoch == ws->epoch && key_equal(large->key, key->word)) {
        for (int i = 0; i < 30; i++)
            sum[i + gain] += large->count[i];
        return;
    }
    ws->stats.misses[r]++;
    uint32_t value[LONG];
    wide_count_at[r](k, board, value);
    if (key->code != CODE_NONE && r <= SQUARE_MEDIUM) {
        for (int i = 0; i < 28; i++)
            medium->count[i] = (uint16_t)value[i]; /* at most 2 x 10 + 1 contacts */
        medium->code = key->code;
        medium->epoch = ws->epoch;
        memcpy(medium->key, key->word, sizeof medium->key);
    } else if (key->code != CODE_NONE) {
        memcpy(large->count, value, sizeof large->count); /* at most 2 x 14 + 1 */
        large->code = key->code;
        large->epoch = ws->epoch;
        memcpy(large->key, key->word, sizeof large->key);
    }
    for (int i = 0; i < 30; i++)
        sum[i + gain] += value[i];
}

/* Counts of the tails of r residues, r > 8. */
SQUARE_INLINE void wide_count_any(const int r, const kernel *k, const wide_board *board, uint32_t *out)
{
    const square_level *level = &k->job->level[r];
    const unsigned open = ~wide_beside_head(board->occupied[ODD]) & 15;
    const unsigned ones = level->next_h ? wide_beside_head(board->ones[ODD]) : 0;
    const unsigned twos = level->next_h ? wide_beside_head(board->twos[ODD]) : 0;
    wide_board placed, child[4];
    wide_key key[4];
    uint8_t *slot[4] = {NULL};
    wide_place_head(board, level->head_h, &placed);
#pragma GCC unroll 4
    for (int d = 0; d < 4; d++) {
        if (!(open >> d & 1))
            continue;
        wide_child(&placed, d, &child[d]);
        wide_key_make(r - 1, &k->job->level[r - 1], &child[d], &key[d]);
        slot[d] = wide_slot(k, r - 1, &key[d]);
        for (size_t line = 0; line < square_entry_bytes(r - 1); line += 64)
            __builtin_prefetch(slot[d] + line);
    }
    uint32_t sum[LONG + 2] = {0};
    for (int d = 0; d < 4; d++) {
        int gain = (int)((ones >> d & 1) + 2 * (twos >> d & 1));
        if ((open >> d & 1) && gain < 3)
            wide_add(k, r - 1, &child[d], &key[d], slot[d], gain, sum);
    }
    memcpy(out, sum, LONG * sizeof *sum);
}

static void wide_count_9(const kernel *k, const wide_board *board, uint32_t *out)
{
    wide_count_any(9, k, board, out);
}
static void wide_count_10(const kernel *k, const wide_board *board, uint32_t *out)
{
    wide_count_any(10, k, board, out);
}
static void wide_count_11(const kernel *k, const wide_board *board, uint32_t *out)
{
    wide_count_any(11, k, board, out);
}
static void wide_count_12(const kernel *k, const wide_board *board, uint32_t *out)
{
    wide_count_any(12, k, board, out);
}
static void wide_count_13(const kernel *k, const wide_board *board, uint32_t *out)
{
    wide_count_any(13, k, board, out);
}
static void wide_count_14(const kernel *k, const wide_board *board, uint32_t *out)
{
    wide_count_any(14, k, board, out);
}
static wide_count *const wide_count_at[SQUARE_TAIL_MAX + 1] = {
    [8] = wide_count_8,   [9] = wide_count_9,   [10] = wide_count_10, [11] = wide_count_11,
    [12] = wide_count_12, [13] = wide_count_13, [14] = wide_count_14,
};

#endif

/* Tails of 6 and 7 residues, two thirds of all look-ups: a sublattice is 64 bits, so the four children of a board are
 * made, and their keys grown, side by side in one vector. */
#ifndef SF_CORE_MERGE_SQUARE_NARROW_H
#define SF_CORE_MERGE_SQUARE_NARROW_H

#include "core/engines/merge/merge_square_direct.h"

typedef struct narrow_boards { /* of the four children of a board */
    lanes occupied[2], ones[2], twos[2];
} narrow_boards;

typedef struct narrow_keys {
    lanes word[4];
    uint32_t code[4];
} narrow_keys;

typedef struct narrow_entry {
    uint16_t code, epoch;
    uint16_t count[14];
    uint64_t key[4];
} narrow_entry;

#define NARROW_HEAD ((uint64_t)1 << 36)
static const uint64_t narrow_valid_even = 0xfefefefefefefe00u; /* a, b = -3..3: shifts cannot wrap into these */
static const uint64_t narrow_beside = (uint64_t)1 << 36 | (uint64_t)1 << 35 | (uint64_t)1 << 27 | (uint64_t)1 << 28;

/* Bit d is the odd site beside the head in direction d. */
SQUARE_INLINE unsigned narrow_beside_head(uint64_t odd)
{
    return (unsigned)(odd >> 36 & 1) | (unsigned)(odd >> 35 & 1) << 1 | (unsigned)(odd >> 27 & 1) << 2 |
           (unsigned)(odd >> 28 & 1) << 3;
}

SQUARE_INLINE lanes beside_even_narrow(lanes even)
{ /* odd sites next to even ones */
    lanes y = even | even >> 1;
    return y | y >> 8;
}

SQUARE_INLINE lanes beside_odd_narrow(lanes odd)
{
    lanes y = odd | odd << 1;
    return y | y << 8;
}

SQUARE_INLINE lanes two_of_narrow(lanes a, lanes b, lanes c, lanes d)
{
    return (a & b) | (c & d) | ((a | b) & (c | d));
}

/* The keys of tails of r residues, r = 6 or 7, for four boards. */
SQUARE_INLINE void narrow_keys_make(const int r, const square_level *level, const narrow_boards *board,
                                    narrow_keys *keys)
{
    const lanes head = {NARROW_HEAD, NARROW_HEAD, NARROW_HEAD, NARROW_HEAD};
    const lanes free_even = ~board->occupied[EVEN] & narrow_valid_even, free_odd = ~board->occupied[ODD];
    lanes even = head, odd = {0}, even_before = head, odd_before = {0}, even_h = {0}, odd_h = {0};
#pragma GCC unroll 7
    for (int step = 1; step <= r; step++) {
        if (step & 1) {
            odd_before = odd;
            odd |= beside_even_narrow(even) & free_odd;
            if (step == level->last[ODD])
                odd_h = odd;
        } else {
            even_before = even;
            even |= beside_odd_narrow(odd) & free_even;
            if (step == level->last[EVEN])
                even_h = even;
        }
    }
    lanes blocked_even, blocked_odd;
    if (r & 1) { /* even sites need two neighbours, the head aside */
        lanes x = odd << 1;
        lanes dead = even & ~(two_of_narrow(odd, x, odd << 8, x << 8) | head);
        even_h &= ~dead;
        blocked_odd = beside_even_narrow(even & ~dead) & board->occupied[ODD];
        blocked_even = beside_odd_narrow(odd_before) & (board->occupied[EVEN] | dead) & narrow_valid_even;
    } else {
        lanes x = even >> 1;
        lanes dead = odd & ~two_of_narrow(even, x, even >> 8, x >> 8);
        odd_h &= ~dead;
        blocked_even = beside_odd_narrow(odd & ~dead) & board->occupied[EVEN] & narrow_valid_even;
        blocked_odd = beside_even_narrow(even_before) & (board->occupied[ODD] | dead);
    }
    even_h &= ~head;
    lanes ones_even = board->ones[EVEN] & even_h, ones_odd = board->ones[ODD] & odd_h;
    lanes twos_even = board->twos[EVEN] & even_h, twos_odd = board->twos[ODD] & odd_h;
    keys->word[0] = blocked_even | ones_even;
    keys->word[1] = blocked_odd | ones_odd;
    keys->word[2] = blocked_even | twos_even;
    keys->word[3] = blocked_odd | twos_odd;
    memset(keys->code, 0, sizeof keys->code);
    lanes three_even = ones_even & twos_even, three_odd = ones_odd & twos_odd;
    if (__builtin_expect(any(three_even | three_odd), 0)) {
        for (int d = 0; d < 4; d++)
            keys->code[d] = sites_code((const uint64_t[2]){three_even[d], three_odd[d]}, 2);
    }
}

/* The children of the narrow board in lane `lane`, its head being H if head_h. */
SQUARE_INLINE void narrow_children(const narrow_boards *board, int lane, bool head_h, narrow_boards *child)
{
    const lanes up = {0, 1, 9, 8}, down = {9, 8, 0, 1};
    const uint64_t beside = head_h ? narrow_beside : 0;
    uint64_t occupied_even = (board->occupied[EVEN][lane] | NARROW_HEAD) & narrow_valid_even;
    uint64_t ones_odd = board->ones[ODD][lane], twos_odd = board->twos[ODD][lane];
    twos_odd ^= ones_odd & beside;
    ones_odd ^= beside;
    const lanes zero = {0};
    child->occupied[EVEN] = (zero + board->occupied[ODD][lane]) << up;
    child->occupied[ODD] = (zero + occupied_even) >> down;
    child->ones[EVEN] = (zero + ones_odd) << up;
    child->ones[ODD] = (zero + (board->ones[EVEN][lane] & narrow_valid_even)) >> down;
    child->twos[EVEN] = (zero + twos_odd) << up;
    child->twos[ODD] = (zero + (board->twos[EVEN][lane] & narrow_valid_even)) >> down;
}

/* The 61 sites within 5 steps, packed as square_direct has them. */
SQUARE_INLINE lanes pack_sites(lanes even, lanes odd)
{
    lanes e = (even >> 18) & 0x1f1f1f1f1fu;
    e = (e & 0x001f001f001fu) | (e & 0x1f001f00u) >> 3;
    e = (e & 0x03ff000003ffu) | (e & 0x03ff0000u) >> 6;
    e = (e & 0x000fffffu) | (e & 0x1f00000000u) >> 12;
    lanes o = (odd >> 9) & 0x3f3f3f3f3f3fu;
    o = (o & 0x003f003f003fu) | (o & 0x3f003f003f00u) >> 2;
    o = (o & 0x0fff00000fffu) | (o & 0x0fff0000u) >> 4;
    o = (o & 0x00ffffffu) | (o & 0x0fff00000000u) >> 8;
    return e | o << 25;
}

/* Counts of the tails of 6 residues of the board in a lane. */
static counts narrow_count_6(const kernel *k, const narrow_boards *board, int lane)
{
    const square_level *level = &k->job->level[6];
    const unsigned open = ~narrow_beside_head(board->occupied[ODD][lane]) & 15;
    const unsigned ones = level->next_h ? narrow_beside_head(board->ones[ODD][lane]) : 0;
    const unsigned twos = level->next_h ? narrow_beside_head(board->twos[ODD][lane]) : 0;
    narrow_boards child;
    narrow_children(board, lane, level->head_h, &child);
    lanes occupied = pack_sites(child.occupied[EVEN], child.occupied[ODD]) | (uint64_t)1 << 63;
    lanes c1 = pack_sites(child.ones[EVEN], child.ones[ODD]), c2 = pack_sites(child.twos[EVEN], child.twos[ODD]);
    counts sum = {0};
    for (unsigned left = open; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        int gain = (int)((ones >> d & 1) + 2 * (twos >> d & 1));
        if (gain < 3) /* a site with three H beside it leads nowhere */
            sum += direct_counts(&k->job->direct, occupied[d], c1[d], c2[d], gain);
    }
    return sum;
}

static counts narrow_count_7(const kernel *k, const narrow_boards *board, int lane);

static const uint16_t narrow_kept[3][16] __attribute__((aligned(32))) = {
#define K 0xffff
    {K, K, K, K, K, K, K, K, K, K, K, K, K, K, 0, 0},
    {0, K, K, K, K, K, K, K, K, K, K, K, K, K, K, 0},
    {0, 0, K, K, K, K, K, K, K, K, K, K, K, K, K, K},
#undef K
};

SQUARE_INLINE narrow_entry *narrow_slot(const kernel *k, const int r, const narrow_keys *keys, int d)
{
    const merge_table *table = &k->workspace->table[r];
    uint64_t hash =
        hash_words((const uint64_t[4]){keys->word[0][d], keys->word[1][d], keys->word[2][d], keys->word[3][d]});
    return (narrow_entry *)table->entries + (hash & table->mask);
}

/* Adds to sum the tails of r residues of child d, moved up by gain; what may not fit there goes to more[]. */
SQUARE_INLINE counts narrow_add(const kernel *k, const int r, const narrow_boards *child, const narrow_keys *keys,
                                narrow_entry *entry, int d, int gain, counts sum, uint16_t *more)
{
    merge_workspace *ws = k->workspace;
    ws->stats.look_ups[r]++;
    uint64_t differ = (entry->key[0] ^ keys->word[0][d]) | (entry->key[1] ^ keys->word[1][d]) |
                      (entry->key[2] ^ keys->word[2][d]) | (entry->key[3] ^ keys->word[3][d]) |
                      (uint64_t)(entry->code ^ keys->code[d]) | (uint64_t)(entry->epoch ^ ws->epoch);
    if (differ == 0) { /* begins in code and epoch when moved; the mask takes those away */
        const char *moved = (const char *)entry + offsetof(narrow_entry, count) - (int)sizeof entry->count[0] * gain;
        return sum + (*(const counts_unaligned *)moved & *(const counts *)narrow_kept[gain]);
    }
    ws->stats.misses[r]++;
    counts value = r == 6 ? narrow_count_6(k, child, d) : narrow_count_7(k, child, d);
    if (keys->code[d] != CODE_NONE && value[14] == 0 && value[15] == 0) {
        memcpy(entry->count, &value, sizeof entry->count);
        entry->code = (uint16_t)keys->code[d];
        entry->epoch = ws->epoch;
        for (int i = 0; i < 4; i++)
            entry->key[i] = keys->word[i][d];
    }
    if (r < SQUARE_NARROW) /* at most 13 + 2 contacts */
        return sum + counts_shift(value, gain);
    for (int i = 0; i < 16; i++)
        more[i + gain] = (uint16_t)(more[i + gain] + value[i]);
    return sum;
}

/* The tails of r residues of all open children; what may not fit the sum goes to more[]. */
SQUARE_INLINE counts narrow_add_all(const kernel *k, const int r, const narrow_boards *child, unsigned open,
                                    unsigned ones, unsigned twos, uint16_t *more)
{
    narrow_keys keys;
    narrow_entry *entry[4];
    narrow_keys_make(r, &k->job->level[r], child, &keys);
    for (unsigned left = open; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        entry[d] = narrow_slot(k, r, &keys, d);
        __builtin_prefetch(entry[d]);
    }
    counts sum = {0};
    for (unsigned left = open; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        int gain = (int)((ones >> d & 1) + 2 * (twos >> d & 1));
        if (gain < 3)
            sum = narrow_add(k, r, child, &keys, entry[d], d, gain, sum, more);
    }
    return sum;
}

static counts narrow_count_7(const kernel *k, const narrow_boards *board, int lane)
{
    const square_level *level = &k->job->level[7];
    const unsigned open = ~narrow_beside_head(board->occupied[ODD][lane]) & 15;
    const unsigned ones = level->next_h ? narrow_beside_head(board->ones[ODD][lane]) : 0;
    const unsigned twos = level->next_h ? narrow_beside_head(board->twos[ODD][lane]) : 0;
    narrow_boards child;
    narrow_children(board, lane, level->head_h, &child);
    return narrow_add_all(k, 6, &child, open, ones, twos, NULL);
}

#endif

/* Tails of 4, 5 and 6 residues: keys and look-ups. What a tail of r residues sees is told in merge_square_kernel.h;
 * here no site is taken for dead (that did not pay), and three planes count the H beside a site. A key is two of them,
 * packed, with the blocked sites in both; sites with 3 or more H are rare and written down apart. */
#ifndef SF_CORE_MERGE_CUBIC_TAIL_H
#define SF_CORE_MERGE_CUBIC_TAIL_H

#include "core/engines/merge_cubic_direct.h"

#define CODE_NONE (~(uint64_t)0 >> 16) /* too many sites to write down: not kept */

#if CUBIC_AVX512
enum { KEY_WORDS = 2 * CUBIC_WORDS, KEY_WORDS_4 = 4 };
#else
enum { KEY_WORDS = 16, KEY_WORDS_4 = 16 }; /* whole planes: packing bit by bit takes longer */
#endif

typedef struct tail_key {
    uint64_t word[KEY_WORDS]; /* blocked | ones, then blocked | twos */
    uint64_t hash;
    uint64_t header; /* epoch, and above it the code of the rare sites */
} tail_key;

typedef struct entry_4 {
    uint64_t header;
    uint16_t count[12];
    uint64_t key[KEY_WORDS_4];
} entry_4;

typedef struct entry_long {
    uint64_t header;
    uint16_t count[28]; /* at most 4 x 6 + 1 contacts */
    uint64_t key[KEY_WORDS];
} entry_long;

/* Words of a key. */
CUBIC_INLINE int key_words(const int r)
{
    return CUBIC_AVX512 ? (r == 4 ? 4 : r == 5 ? 8 : 12) : KEY_WORDS;
}

/* Bytes from entry to entry, whole cache lines. */
CUBIC_INLINE size_t entry_bytes(const int r)
{
    return CUBIC_AVX512 ? (r == 4 ? 64 : r == 5 ? 128 : 192) : 192;
}

/* The two planes of a key, and a hash that is the same on every machine. */
CUBIC_INLINE void key_fill(const cubic_geometry *geometry, const int r, plane first, plane second, tail_key *key)
{
    const plane mix = first ^ (second << 29 | second >> 35);
#if CUBIC_AVX512
    const int n = key_words(r) / 2;
    for (int i = 0; i < n; i++) {
        key->word[i] = pick(first, geometry->pack_byte[i], geometry->pack_bit[i]);
        key->word[n + i] = pick(second, geometry->pack_byte[i], geometry->pack_bit[i]);
    }
#else
    (void)geometry, (void)r;
    memcpy(key->word, &first, sizeof first);
    memcpy(key->word + 8, &second, sizeof second);
#endif
    key->hash = fold_product(mix[0] ^ 0x9e3779b97f4a7c15u, mix[1] ^ 0xbf58476d1ce4e5b9u) ^
                fold_product(mix[2] ^ 0x94d049bb133111ebu, mix[3] ^ 0xd6e8feb86659fd93u) ^
                fold_product(mix[4] ^ 0xa0761d6478bd642fu, mix[5] ^ 0xe7037ed1a0b428dbu) ^
                fold_product(mix[6] ^ 0x8ebc6af09c88c6e3u, mix[7] ^ 0x589965cc75374cc3u);
}

/* Up to four sites with 3, 4 or 5 H beside them, 12 bits each. */
static uint64_t rare_code(const plane *three, const plane *ones, const plane *fours)
{
    uint64_t code = 0;
    int n = 0;
    for (int i = 0; i < 8; i++) {
        for (uint64_t left = (*three)[i] | (*fours)[i]; left; left &= left - 1) {
            const uint64_t site = (uint64_t)__builtin_ctzll(left);
            const uint64_t kind = !((*fours)[i] >> site & 1) ? 1 : (*ones)[i] >> site & 1 ? 3 : 2;
            if (n++ == 4)
                return CODE_NONE;
            code = code << 12 | (kind << 9) | (uint64_t)(64 * i) | site;
        }
    }
    return code;
}

/* The key of tails of r residues; *reached and *relevant are the sites whose occupation and whose numbers matter. */
CUBIC_INLINE void tail_key_make(const kernel *k, const int r, const board *b, tail_key *key, plane *reached,
                                plane *relevant)
{
    const cubic_geometry *geometry = k->job->geometry;
    const cubic_level *level = &k->job->level[r];
    const plane head = {1}, even = load_plane(geometry->even), free_sites = ~b->occupied;
    plane seen = (load_plane(geometry->head_beside) & free_sites) | head, even_h = {0}, odd_h = {0};
    plane blocked = {0};
    if (level->last[ODD] == 1)
        odd_h = seen;
#pragma GCC unroll 6
    for (int step = 2; step <= r; step++) {
        plane next = beside(seen);
        if (step == r)
            blocked = next & b->occupied;
        seen |= next & free_sites;
        if (step == level->last[step & 1]) {
            if (step & 1)
                odd_h = seen;
            else
                even_h = seen;
        }
    }
    plane h = (even & even_h) | (odd_h & ~even & ~head);
    plane ones = b->ones & h, twos = b->twos & h, fours = b->fours & h, three = ones & twos;
    key_fill(geometry, r, blocked | ones, blocked | twos, key);
    key->header = k->workspace->epoch;
    if (__builtin_expect(any(three | fours), 0))
        key->header |= rare_code(&three, &ones, &fours) << 16;
    *reached = seen;
    *relevant = h;
}

CUBIC_INLINE uint8_t *tail_slot(const kernel *k, const int r, const tail_key *key)
{
    const merge_table *table = &k->workspace->table[r];
    return table->entries + (key->hash & table->mask) * entry_bytes(r);
}

CUBIC_INLINE void tail_prefetch(const int r, const uint8_t *slot)
{
    for (size_t line = 0; line < entry_bytes(r); line += 64)
        __builtin_prefetch(slot + line);
}

CUBIC_INLINE bool words_equal(const uint64_t *a, const uint64_t *b, const int n)
{
    uint64_t differ = 0;
    for (int i = 0; i < n; i++)
        differ |= a[i] ^ b[i];
    return differ == 0;
}

/* Masks that let through the counts of an entry read `gain` places early. */
CUBIC_INLINE counts16 kept_16(counts16 c, int gain)
{
    static const uint16_t pass[5 + 16 + 5] = {0,      0,      0,      0,      0xffff, 0xffff, 0xffff,
                                              0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                                              0xffff, 0xffff, 0,      0,      0,      0};
    return c & *(const counts16_unaligned *)(pass + 4 - gain);
}

CUBIC_INLINE counts kept_32(counts c, int gain)
{
    static const uint16_t pass[4 + 32 + 4] = {0,      0,      0,      0,      0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                                              0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                                              0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                                              0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0,      0,      0,      0};
    return c & *(const counts_unaligned *)(pass + 4 - gain);
}

static counts count_5(const kernel *k, const board *b);
static counts count_6(const kernel *k, const board *b);

/* The tails of r residues, moved up by gain <= 4. */
CUBIC_INLINE counts tail_counts(const kernel *k, const int r, const board *b, const tail_key *key, uint8_t *slot,
                                int gain)
{
    merge_stats *stats = &k->workspace->stats;
    entry_4 *four = (entry_4 *)(void *)slot;
    entry_long *longer = (entry_long *)(void *)slot;
    stats->look_ups[r]++;
    if (r == 4) {
        if (four->header == key->header && words_equal(four->key, key->word, KEY_WORDS_4))
            return counts_widen(kept_16(*(const counts16_unaligned *)(four->count - gain), gain));
    } else if (longer->header == key->header && words_equal(longer->key, key->word, key_words(r)))
        return kept_32(*(const counts_unaligned *)(longer->count - gain), gain);
    stats->misses[r]++;
    counts value = r == 4 ? count_4(k, b) : r == 5 ? count_5(k, b) : count_6(k, b);
    if (key->header >> 16 == CODE_NONE)
        return counts_shift(value, gain);
    uint16_t count[N_COUNTS];
    memcpy(count, &value, sizeof count);
    if (r == 4) {
        uint64_t above[5];
        memcpy(above, count + 12, sizeof above); /* at most 17 contacts */
        if ((above[0] | above[1] | above[2] | above[3] | above[4]) == 0) {
            four->header = key->header;
            memcpy(four->count, count, sizeof four->count);
            memcpy(four->key, key->word, sizeof four->key);
        }
    } else {
        longer->header = key->header;
        memcpy(longer->count, count, sizeof longer->count);
        memcpy(longer->key, key->word, (size_t)key_words(r) * sizeof *longer->key);
    }
    return counts_shift(value, gain);
}

/* Counts of the tails of r residues, r = 5 or 6. */
CUBIC_INLINE counts count_any(const kernel *k, const int r, const board *b)
{
    const cubic_geometry *geometry = k->job->geometry;
    const cubic_level *level = &k->job->level[r];
    const unsigned open = ~beside_head(geometry, b->occupied) & 63;
    const unsigned ones = level->next_h ? beside_head(geometry, b->ones) : 0,
                   twos = level->next_h ? beside_head(geometry, b->twos) : 0,
                   fours = level->next_h ? beside_head(geometry, b->fours) : 0;
    const plane head = {1};
    board placed = *b, child[6];
    tail_key key[6];
    uint8_t *slot[6] = {NULL};
    plane reached, relevant;
    placed.occupied |= head;
    if (level->head_h)
        board_count_h(&placed, load_plane(geometry->head_beside));
#pragma GCC unroll 6
    for (int d = 0; d < 6; d++) {
        if (!(open >> d & 1))
            continue;
        board_turn(&placed, d, &child[d]);
        tail_key_make(k, r - 1, &child[d], &key[d], &reached, &relevant);
        slot[d] = tail_slot(k, r - 1, &key[d]);
        tail_prefetch(r - 1, slot[d]);
    }
    counts sum = {0};
    for (unsigned left = open; left; left &= left - 1) {
        const int d = __builtin_ctz(left);
        const int gain = (int)((ones >> d & 1) + 2 * (twos >> d & 1) + 4 * (fours >> d & 1));
        if (gain <= 4) /* a site with five H beside it leads nowhere */
            sum += tail_counts(k, r - 1, &child[d], &key[d], slot[d], gain);
    }
    return sum;
}

static counts count_5(const kernel *k, const board *b)
{
    return count_any(k, 5, b);
}

static counts count_6(const kernel *k, const board *b)
{
    return count_any(k, 6, b);
}

#endif

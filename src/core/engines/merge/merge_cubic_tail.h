/* Tails of 5 and 6 residues: keys and tables. What a tail of r residues sees is told in merge_square_kernel.h; here no
 * site is taken for dead (that did not pay), and three planes count the H beside a site. A key is two of them, packed,
 * with the blocked sites in both; sites with 3 or more H are rare and written down apart. It says all that a tail
 * needs to be counted. */
#ifndef SF_CORE_MERGE_CUBIC_TAIL_H
#define SF_CORE_MERGE_CUBIC_TAIL_H

#include "core/engines/merge/merge_cubic_five.h"

#define CODE_NONE (~(uint64_t)0 >> 16) /* too many sites to write down: not kept */

#if CUBIC_AVX512
enum { KEY_WORDS = 2 * CUBIC_WORDS };
#else
enum { KEY_WORDS = 16 }; /* whole planes: packing bit by bit takes longer */
#endif

typedef struct tail_key {
    uint64_t word[KEY_WORDS]; /* blocked | ones, then blocked | twos */
    uint64_t hash;
    uint64_t header; /* epoch, and above it the code of the rare sites */
} tail_key;

enum { ENTRY_COUNTS = 28, PENDING = 0xffff };

typedef struct tail_entry {
    uint64_t header;
    uint16_t count[ENTRY_COUNTS]; /* at most 4 x 6 + 1 contacts; [0] a number in the batch while the last is PENDING */
    uint64_t key[KEY_WORDS];
} tail_entry;

/* What a head sees: sites that are in reach, those whose number of H matters, and the rare ones among these. */
typedef struct sight {
    plane reached, relevant, three, fours;
} sight;

/* Words of a key. */
CUBIC_INLINE int key_words(const int r)
{
    return CUBIC_AVX512 ? (r == 5 ? 8 : 12) : KEY_WORDS;
}

/* Bytes from entry to entry, whole cache lines. */
CUBIC_INLINE size_t entry_bytes(const int r)
{
    return CUBIC_AVX512 && r == 5 ? 128 : 192;
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

/* The key of tails of r residues, and what the head sees. */
CUBIC_INLINE void tail_key_make(const kernel *k, const int r, const board *b, tail_key *key, sight *sees)
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
    *sees = (sight){.reached = seen, .relevant = h, .three = three, .fours = fours};
}

CUBIC_INLINE tail_entry *tail_slot(const kernel *k, const int r, const tail_key *key)
{
    const merge_table *table = &k->workspace->table[r];
    return (tail_entry *)(void *)(table->entries + (key->hash & table->mask) * entry_bytes(r));
}

CUBIC_INLINE void tail_prefetch(const int r, const tail_entry *entry)
{
    for (size_t line = 0; line < entry_bytes(r); line += 64)
        __builtin_prefetch((const uint8_t *)entry + line);
}

CUBIC_INLINE bool words_equal(const uint64_t *a, const uint64_t *b, const int n)
{
    uint64_t differ = 0;
    for (int i = 0; i < n; i++)
        differ |= a[i] ^ b[i];
    return differ == 0;
}

CUBIC_INLINE bool entry_is(const tail_entry *entry, uint64_t header, const uint64_t *word, const int r)
{
    return entry->header == header && words_equal(entry->key, word, key_words(r));
}

/* Number in the batch of the tail that an entry waits for, or -1. */
CUBIC_INLINE int entry_pending(const tail_entry *entry)
{
    return entry->count[ENTRY_COUNTS - 1] == PENDING ? entry->count[0] : -1;
}

CUBIC_INLINE counts entry_counts(const tail_entry *entry)
{
    counts c = {0};
    memcpy(&c, entry->count, sizeof entry->count);
    return c;
}

/* The entry becomes that of a key, its counts those of tail `number` of the batch, which come later. */
CUBIC_INLINE void entry_begin(tail_entry *entry, uint64_t header, const uint64_t *word, const int r, int number)
{
    entry->header = header;
    memcpy(entry->key, word, (size_t)key_words(r) * sizeof *entry->key);
    entry->count[0] = (uint16_t)number;
    entry->count[ENTRY_COUNTS - 1] = PENDING;
}

/* The counts are there, unless another tail took the entry. */
CUBIC_INLINE void entry_end(tail_entry *entry, int number, const counts *value)
{
    if (entry_pending(entry) == number)
        memcpy(entry->count, value, sizeof entry->count);
}

#endif

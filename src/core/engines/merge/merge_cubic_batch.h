/* The tails of many prefixes at a time. The obvious way, one after the other and each with its table entry awaited,
 * leaves too little to do side by side: so the prefixes of a batch are looked up together, then all tails of five
 * residues that they lead to, and what is in no table is counted eight at a time. An entry is taken at once by the
 * first tail that misses it, so that others of the batch that are the same wait for it. */
#ifndef SF_CORE_MERGE_CUBIC_BATCH_H
#define SF_CORE_MERGE_CUBIC_BATCH_H

#include "core/engines/merge/merge_cubic_tail.h"

enum { QUEUE = 32, COLLECTED = 16 };

/* Prefixes that see the same. */
typedef struct queued {
    board board;
    tail_key key;
    tail_entry *entry;
    counts value;       /* of the tails, once counted */
    int same;           /* the first of the batch that sees the same */
    bool known;         /* the value was in the table */
    uint64_t *contacts; /* where the tails without own contacts go */
    int n;
    uint32_t times[COLLECTED]; /* prefixes by contacts above that */
} queued;

/* Tails of five residues. */
typedef struct five_tail {
    uint64_t word[KEY_WORDS == 16 ? 16 : 8], header;
    tail_entry *entry;
    counts value;
    int parent, gain; /* in the queue */
    int same;
    bool known;
} five_tail;

typedef struct tail_batch {
    queued queue[QUEUE];
    five_tail five[QUEUE * 6];
    int n_queued, n_five;
    five_batch lanes[WORDS]; /* tails with less than 8 contacts, 16 and 24 */
    five_work work;
} tail_batch;

/* Most H beside a site of each distance. */
typedef struct five_tops {
    int at[6];
} five_tops;

/* Shifts of a tail's sites by its key, and the most H beside one, the rare sites aside. */
CUBIC_INLINE void shifts_fill(const cubic_geometry *geometry, const uint64_t *word, uint8_t *shift, five_tops *tops)
{
    uint64_t ones[4] = {0}, twos[4] = {0};
#if CUBIC_AVX512
    (void)geometry;
    for (int i = 0; i < 4; i++) {
        ones[i] = word[i] & ~word[4 + i];
        twos[i] = word[4 + i] & ~word[i];
        __m512i bytes = _mm512_maskz_mov_epi8(ones[i], _mm512_set1_epi8(8));
        bytes = _mm512_mask_mov_epi8(bytes, twos[i], _mm512_set1_epi8(16));
        bytes = _mm512_mask_mov_epi8(bytes, word[i] & word[4 + i], _mm512_set1_epi8((char)BLOCKED));
        _mm512_store_si512(shift + 64 * i, bytes);
    }
#else
    static const uint8_t shift_of[4] = {0, 8, 16, BLOCKED};
    uint8_t first[64], second[64];
    memcpy(first, word, sizeof first);
    memcpy(second, word + 8, sizeof second);
    for (int i = 0; i < CUBIC_BALL; i++) {
        const int byte = geometry->pack_byte[i / 64][i % 64], bit = geometry->pack_bit[i / 64][i % 64] & 7;
        const unsigned one = first[byte] >> bit & 1u, two = second[byte] >> bit & 1u;
        shift[i] = shift_of[one | two << 1];
        ones[i / 64] |= (uint64_t)(one & ~two) << i % 64;
        twos[i / 64] |= (uint64_t)(two & ~one) << i % 64;
    }
#endif
    const uint64_t upto_1 = ((uint64_t)1 << END_1) - 1, upto_2 = ((uint64_t)1 << END_2) - 1,
                   upto_134 = ((uint64_t)1 << (FROM_5 - 128)) - 1;
    const uint64_t of_1[5] = {ones[0] & upto_1, ones[0] & upto_2 & ~upto_1, ones[0] & ~upto_2,
                              ones[1] | (ones[2] & upto_134), (ones[2] & ~upto_134) | ones[3]};
    const uint64_t of_2[5] = {twos[0] & upto_1, twos[0] & upto_2 & ~upto_1, twos[0] & ~upto_2,
                              twos[1] | (twos[2] & upto_134), (twos[2] & ~upto_134) | twos[3]};
    for (int i = 0; i < 5; i++)
        tops->at[i + 1] = of_2[i] ? 2 : of_1[i] ? 1 : 0;
}

static void shift_rare(const cubic_geometry *geometry, int torus_site, int n_h, uint8_t *shift, five_tops *tops)
{
    const int site = geometry->packed[torus_site];
    const int distance = site < END_1 ? 1 : site < END_2 ? 2 : site < FROM_4 ? 3 : site < FROM_5 ? 4 : 5;
    shift[site] = (uint8_t)(8 * n_h);
    tops->at[distance] = tops->at[distance] < n_h ? n_h : tops->at[distance];
}

/* Rare sites by the key's code. */
static void shifts_rare_code(const cubic_geometry *geometry, uint64_t code, uint8_t *shift, five_tops *tops)
{
    for (; code; code >>= 12)
        shift_rare(geometry, code & 511, 2 + (int)(code >> 9 & 3), shift, tops);
}

/* ... and where they are too many for it. */
static void shifts_rare_sites(const cubic_geometry *geometry, const board *b, const sight *sees, uint8_t *shift,
                              five_tops *tops)
{
    for (int i = 0; i < 8; i++) {
        for (uint64_t left = sees->three[i] | sees->fours[i]; left; left &= left - 1) {
            const int bit = __builtin_ctzll(left);
            const int n_h = !(sees->fours[i] >> bit & 1) ? 3 : 4 + (int)(b->ones[i] >> bit & 1);
            shift_rare(geometry, 64 * i + bit, n_h, shift, tops);
        }
    }
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

/* A site that is passed has at most four H beside it but for the bonded ones. */
static int upto_4(int n)
{
    return n < 4 ? n : 4;
}

/* At least the most contacts of a tail. */
CUBIC_INLINE int five_most(const uint8_t *h, const five_tops *tops)
{
    const int *at = tops->at;
    const int third = max_int(at[1] + h[0], at[3]);
    return (h[1] ? upto_4(at[1]) : 0) + (h[2] ? upto_4(at[2]) : 0) + (h[3] ? upto_4(third) : 0) +
           (h[4] ? upto_4(max_int(at[2], at[4])) : 0) + (h[5] ? max_int(upto_4(third), at[5]) : 0) + (h[1] && h[4]) +
           (h[2] && h[5]);
}

typedef void five_counter(const cubic_job *job, five_batch *batch, five_work *work);
static five_counter *const five_count_of[WORDS] = {five_count_1, five_count_2, five_count_3};

/* Puts a tail among those to be counted. */
static void five_add(const cubic_job *job, tail_batch *batch, const uint8_t *shift, const five_tops *tops,
                     counts *value)
{
    const uint8_t *h = job->h + job->length - 6;
    const int most = five_most(h, tops);
    const int words = most / 8;
    five_batch *to = &batch->lanes[words];
    for (int i = 0; i < CUBIC_BALL / 8; i++)
        memcpy(to->shift[i][to->n], shift + 8 * i, 8);
    to->value[to->n++] = value;
    if (to->n == LANES)
        five_count_of[words](job, to, &batch->work);
}

/* A tail of five residues below queued[parent]. */
static five_tail *five_new(tail_batch *batch, const tail_key *key, tail_entry *entry, int parent, int gain)
{
    five_tail *t = &batch->five[batch->n_five];
    memcpy(t->word, key->word, sizeof t->word);
    t->header = key->header;
    t->entry = entry;
    t->parent = parent;
    t->gain = gain;
    t->same = batch->n_five++;
    t->known = false;
    return t;
}

/* One that no key can tell is counted from the board. */
static void five_keyless(const cubic_job *job, tail_batch *batch, five_tail *t, const board *b, const sight *sees)
{
    _Alignas(64) uint8_t shift[256];
    five_tops tops;
    t->entry = NULL;
    shifts_fill(job->geometry, t->word, shift, &tops);
    shifts_rare_sites(job->geometry, b, sees, shift, &tops);
    five_add(job, batch, shift, &tops, &t->value);
}

/* Tails of five for all steps from a queued board of six. */
static void six_expand(const kernel *k, tail_batch *batch, int parent)
{
    const cubic_geometry *geometry = k->job->geometry;
    const cubic_level *level = &k->job->level[6];
    const board *b = &batch->queue[parent].board;
    const unsigned open = ~beside_head(geometry, b->occupied) & 63;
    const unsigned ones = level->next_h ? beside_head(geometry, b->ones) : 0,
                   twos = level->next_h ? beside_head(geometry, b->twos) : 0,
                   fours = level->next_h ? beside_head(geometry, b->fours) : 0;
    const plane head = {1};
    board placed = *b;
    placed.occupied |= head;
    if (level->head_h)
        board_count_h(&placed, load_plane(geometry->head_beside));
#pragma GCC unroll 6
    for (int d = 0; d < 6; d++) {
        const int gain = (int)((ones >> d & 1) + 2 * (twos >> d & 1) + 4 * (fours >> d & 1));
        board child;
        tail_key key;
        sight sees;
        if (!(open >> d & 1) || gain > 4) /* a site with five H beside it leads nowhere */
            continue;
        board_turn(&placed, d, &child);
        tail_key_make(k, 5, &child, &key, &sees);
        tail_entry *entry = tail_slot(k, 5, &key);
        tail_prefetch(5, entry);
        five_tail *t = five_new(batch, &key, entry, parent, gain);
        if (__builtin_expect(key.header >> 16 == CODE_NONE, 0))
            five_keyless(k->job, batch, t, &child, &sees);
    }
}

/* Looks up the prefixes of a tail of six. */
static void queue_look_up(const kernel *k, tail_batch *batch)
{
    merge_stats *stats = &k->workspace->stats;
    for (int i = 0; i < batch->n_queued; i++) {
        queued *q = &batch->queue[i];
        stats->look_ups[6]++;
        if (entry_is(q->entry, q->key.header, q->key.word, 6)) {
            const int pending = entry_pending(q->entry);
            q->known = pending < 0;
            if (q->known)
                q->value = entry_counts(q->entry);
            else
                q->same = pending;
            continue;
        }
        stats->misses[6]++;
        if (q->key.header >> 16 != CODE_NONE)
            entry_begin(q->entry, q->key.header, q->key.word, 6, i);
        six_expand(k, batch, i);
    }
}

/* Looks up the tails of five, and counts those that are new. */
static void five_look_up(const kernel *k, tail_batch *batch)
{
    merge_stats *stats = &k->workspace->stats;
    for (int i = 0; i < batch->n_five; i++) {
        five_tail *t = &batch->five[i];
        tail_entry *entry = t->entry;
        stats->look_ups[5]++;
        if (!entry) {
            stats->misses[5]++;
            continue;
        }
        if (entry_is(entry, t->header, t->word, 5)) {
            const int pending = entry_pending(entry);
            t->known = pending < 0;
            if (t->known)
                batch->queue[t->parent].value += counts_shift(entry_counts(entry), t->gain);
            else
                t->same = pending;
            continue;
        }
        stats->misses[5]++;
        _Alignas(64) uint8_t shift[256];
        five_tops tops;
        entry_begin(entry, t->header, t->word, 5, i);
        shifts_fill(k->job->geometry, t->word, shift, &tops);
        if (__builtin_expect(t->header >> 16 != 0, 0))
            shifts_rare_code(k->job->geometry, t->header >> 16, shift, &tops);
        five_add(k->job, batch, shift, &tops, &t->value);
    }
    for (int i = 0; i < WORDS; i++) {
        if (batch->lanes[i].n > 0)
            five_count_of[i](k->job, &batch->lanes[i], &batch->work);
    }
}

/* Adds a queued prefix' tails to the counts of contacts. */
static void queued_add(const queued *q, const counts *value)
{
    uint16_t count[N_COUNTS];
    memcpy(count, value, sizeof count);
    for (int m = 0; m < q->n; m++) {
        if (q->times[m] == 0)
            continue;
        uint64_t *contacts = q->contacts + m;
        for (int i = 0; i < N_COUNTS; i++)
            contacts[i] += q->times[m] * count[i]; /* below 2^32: a hundred times some 17,000 */
    }
}

/* Counts the tails of all queued prefixes, and empties the queue. */
static void tail_batch_count(const kernel *k, tail_batch *batch)
{
    const int tail = k->job->tail;
    batch->n_five = 0;
    for (int i = 0; i < batch->n_queued; i++) {
        batch->queue[i].value = (counts){0};
        batch->queue[i].same = i;
        batch->queue[i].known = false;
    }
    if (tail == 6)
        queue_look_up(k, batch);
    for (int i = 0; i < batch->n_queued && tail == 5; i++) {
        queued *q = &batch->queue[i];
        five_tail *t = five_new(batch, &q->key, q->entry, i, 0);
        if (__builtin_expect(q->key.header >> 16 == CODE_NONE, 0)) {
            sight sees;
            tail_key_make(k, 5, &q->board, &q->key, &sees);
            five_keyless(k->job, batch, t, &q->board, &sees);
        }
    }
    five_look_up(k, batch);
    for (int i = 0; i < batch->n_five; i++) {
        const five_tail *t = &batch->five[i];
        if (t->known)
            continue;
        const counts *value = &batch->five[t->same].value;
        if (t->same == i && t->entry)
            entry_end(t->entry, i, value);
        batch->queue[t->parent].value += counts_shift(*value, t->gain);
    }
    for (int i = 0; i < batch->n_queued; i++) {
        const queued *q = &batch->queue[i];
        if (tail == 6 && !q->known && q->same == i)
            entry_end(q->entry, i, &q->value);
        queued_add(q, &batch->queue[q->same].value);
    }
    batch->n_queued = 0;
}

#endif

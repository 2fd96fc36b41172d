/* The last four steps, counted without a table. The first of them is tried in turn; the second and third are the 30
 * walks of two steps, as sets of the 62 sites within three steps of the first; and for the last it is enough to count
 * free sites by the number of H beside them, all walks at once. */
#ifndef SF_CORE_MERGE_CUBIC_DIRECT_H
#define SF_CORE_MERGE_CUBIC_DIRECT_H

#include "core/engines/merge_cubic_vec.h"

enum { NEAR_FIRST = 0x3f, NEAR_SECOND = 0xffffc0 }; /* near sites at distance 1 and 2 */

/* What the last three steps see from the first: near sites that are occupied, how many H are beside each, the gain so
 * far and which of the last three residues are H. */
typedef struct three_steps {
    uint64_t occupied, ones, twos, fours;
    int gain;
    bool h[3];
    bool beside_first; /* the last residue and that of the first step are both H: one more where they touch */
} three_steps;

CUBIC_INLINE int near_count(const three_steps *t, uint64_t site)
{
    return (int)(t->ones >> site & 1) + 2 * (int)(t->twos >> site & 1) + 4 * (int)(t->fours >> site & 1);
}

/* Adds the tails one by one. */
static void three_steps_plain(const cubic_geometry *geometry, const three_steps *t, uint16_t *sum)
{
    for (int i = 0; i < CUBIC_PAIRS; i++) {
        if (geometry->pair[i] & t->occupied)
            continue;
        int gain = t->gain;
        if (t->h[0])
            gain += near_count(t, geometry->pair_first[i] & 63);
        if (t->h[1])
            gain += near_count(t, geometry->pair_second[i] & 63);
        for (uint64_t next = geometry->pair_next[i] & ~t->occupied; next; next &= next - 1) {
            const uint64_t site = (uint64_t)__builtin_ctzll(next);
            sum[gain + (t->h[2] ? near_count(t, site) + (t->beside_first && site < 6) : 0)]++;
        }
    }
}

#if CUBIC_AVX512

/* Counts of the tails, a byte for each number of contacts, eight walks side by side: 0..7 in low, 8..15 in high. */
typedef struct byte_sums {
    __m512i low, high;
} byte_sums;

/* Free sites by the number of H the last residue would touch there. */
CUBIC_INLINE int near_levels(const three_steps *t, uint64_t level[6])
{
    const uint64_t free_sites = ~t->occupied;
    uint64_t ones = t->ones, twos = t->twos, fours = t->fours;
    level[0] = free_sites;
    if (!t->h[2])
        return 1;
    if (t->beside_first) {
        const uint64_t carry = ones & NEAR_FIRST, carry2 = twos & carry;
        ones ^= NEAR_FIRST;
        twos ^= carry;
        fours |= carry2;
    }
    level[0] = free_sites & ~ones & ~twos & ~fours;
    level[1] = free_sites & ones & ~twos & ~fours;
    level[2] = free_sites & twos & ~ones;
    level[3] = free_sites & twos & ones;
    level[4] = free_sites & fours & ~ones;
    level[5] = free_sites & fours & ones;
    return (level[4] | level[5]) ? 6 : level[3] ? 4 : level[2] ? 3 : 2;
}

/* 8 times the H beside each near site that the second and third residue would gain, and the gain so far. */
CUBIC_INLINE __m512i near_gains(const three_steps *t)
{
    const uint64_t where = (t->h[0] ? NEAR_FIRST : 0) | (t->h[1] ? NEAR_SECOND : 0);
    __m512i gains = _mm512_maskz_mov_epi8(t->ones & where, _mm512_set1_epi8(8));
    gains = _mm512_mask_add_epi8(gains, t->twos & where, gains, _mm512_set1_epi8(16));
    gains = _mm512_mask_add_epi8(gains, t->fours & where, gains, _mm512_set1_epi8(32));
    return _mm512_mask_add_epi8(gains, NEAR_FIRST, gains, _mm512_set1_epi8((char)(8 * t->gain)));
}

CUBIC_INLINE void three_steps_add(const cubic_geometry *geometry, const three_steps *t, const uint64_t level[6],
                                  const int n_levels, const bool high, byte_sums *sums)
{
    const __m512i occupied = _mm512_set1_epi64((long long)t->occupied), gains = near_gains(t);
    __m512i of_level[6];
    for (int j = 0; j < n_levels; j++)
        of_level[j] = _mm512_set1_epi64((long long)level[j]);
#pragma GCC unroll 4
    for (int i = 0; i < CUBIC_PAIRS; i += 8) {
        const __mmask8 fits = _mm512_testn_epi64_mask(occupied, _mm512_loadu_si512(geometry->pair + i));
        const __m512i next = _mm512_loadu_si512(geometry->pair_next + i);
        __m512i n = _mm512_popcnt_epi64(_mm512_and_si512(next, of_level[0]));
        for (int j = 1; j < n_levels; j++)
            n = _mm512_add_epi64(
                n, _mm512_slli_epi64(_mm512_popcnt_epi64(_mm512_and_si512(next, of_level[j])), (unsigned)(8 * j)));
        const __m512i gain =
            _mm512_add_epi64(_mm512_permutexvar_epi8(_mm512_loadu_si512(geometry->pair_first + i), gains),
                             _mm512_permutexvar_epi8(_mm512_loadu_si512(geometry->pair_second + i), gains));
        sums->low = _mm512_mask_add_epi64(sums->low, fits, sums->low, _mm512_sllv_epi64(n, gain));
        if (high) {
            const __m512i over =
                _mm512_srlv_epi64(_mm512_srli_epi64(n, 1), _mm512_sub_epi64(_mm512_set1_epi64(63), gain));
            const __m512i above = _mm512_sllv_epi64(n, _mm512_sub_epi64(gain, _mm512_set1_epi64(64)));
            sums->high = _mm512_mask_add_epi64(sums->high, fits, sums->high, _mm512_or_si512(over, above));
        }
    }
}

CUBIC_INLINE __m128i bytes_fold(__m512i sums)
{
    const __m512i half = _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_castsi512_si256(sums)),
                                          _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(sums, 1)));
    const __m256i quarter = _mm256_add_epi16(_mm512_castsi512_si256(half), _mm512_extracti64x4_epi64(half, 1));
    return _mm_add_epi16(_mm256_castsi256_si128(quarter), _mm256_extracti128_si256(quarter, 1));
}

/* Highest number of contacts a tail could gain. */
CUBIC_INLINE int three_steps_most(const three_steps *t)
{
    const int most = t->fours ? 5 : t->ones & t->twos ? 3 : t->twos ? 2 : t->ones ? 1 : 0;
    const int passing = most < 4 ? most : 4;
    return t->gain + (t->h[0] ? passing : 0) + (t->h[1] ? passing : 0) +
           (t->h[2] ? most + (t->beside_first && most < 5) : 0);
}

/* Adds the tails of one first step: to sums, or what is too much for bytes to sum[]. */
CUBIC_INLINE void three_steps_count(const cubic_geometry *geometry, const three_steps *t, byte_sums *sums,
                                    uint16_t *sum)
{
    uint64_t level[6];
    const int n_levels = near_levels(t, level), most = three_steps_most(t);
    if (__builtin_expect(most > 15, 0)) {
        three_steps_plain(geometry, t, sum);
        return;
    }
    if (most <= 7) {
        if (n_levels == 1)
            three_steps_add(geometry, t, level, 1, false, sums);
        else if (n_levels == 2)
            three_steps_add(geometry, t, level, 2, false, sums);
        else if (n_levels == 3)
            three_steps_add(geometry, t, level, 3, false, sums);
        else
            three_steps_add(geometry, t, level, 6, false, sums);
    } else if (n_levels <= 3) {
        if (n_levels == 3)
            three_steps_add(geometry, t, level, 3, true, sums);
        else if (n_levels == 2)
            three_steps_add(geometry, t, level, 2, true, sums);
        else
            three_steps_add(geometry, t, level, 1, true, sums);
    } else if (n_levels == 4)
        three_steps_add(geometry, t, level, 4, true, sums);
    else
        three_steps_add(geometry, t, level, 6, true, sums);
}

#endif

/* Counts of the tails of four residues. */
static counts count_4(const kernel *k, const board *b)
{
    const cubic_geometry *geometry = k->job->geometry;
    const cubic_level *level = &k->job->level[4];
    const uint8_t *h = k->job->h + k->job->length - 4;
    const unsigned open = ~beside_head(b->occupied) & 63;
    const unsigned ones = h[0] ? beside_head(b->ones) : 0, twos = h[0] ? beside_head(b->twos) : 0,
                   fours = h[0] ? beside_head(b->fours) : 0;
    const plane head = {1};
    board placed = *b;
    placed.occupied |= head;
    if (level->head_h)
        board_count_h(&placed, load_plane(geometry->head_beside));
    three_steps t = {.h = {h[1], h[2], h[3]}, .beside_first = h[0] && h[3]};
    const bool any_h = h[1] || h[2] || h[3];
    uint16_t more[N_COUNTS] = {0};
#if CUBIC_AVX512
    byte_sums sums = {.low = _mm512_setzero_si512(), .high = _mm512_setzero_si512()};
#endif
    for (unsigned left = open; left; left &= left - 1) {
        const int d = __builtin_ctz(left);
        const uint8_t *byte = geometry->near_byte[d], *bit = geometry->near_bit[d];
        t.gain = (int)((ones >> d & 1) + 2 * (twos >> d & 1) + 4 * (fours >> d & 1));
        if (t.gain > 4) /* a dead end */
            continue;
        t.occupied = pick(placed.occupied, byte, bit) | (uint64_t)3 << 62;
        if (any_h) {
            t.ones = pick(placed.ones, byte, bit) & ~t.occupied;
            t.twos = pick(placed.twos, byte, bit) & ~t.occupied;
            t.fours = pick(placed.fours, byte, bit) & ~t.occupied;
        }
#if CUBIC_AVX512
        three_steps_count(geometry, &t, &sums, more);
#else
        three_steps_plain(geometry, &t, more);
#endif
    }
    counts sum;
    memcpy(&sum, more, sizeof sum);
#if CUBIC_AVX512
    const __m256i bytes = _mm256_set_m128i(bytes_fold(sums.high), bytes_fold(sums.low));
    sum += (counts)_mm512_zextsi256_si512(bytes);
#endif
    return sum;
}

#endif

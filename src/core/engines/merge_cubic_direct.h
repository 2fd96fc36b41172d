/* The last four steps, counted without a table. The first of them is tried in turn; the second and third are the 30
 * walks of two steps, as sets of the 63 sites within three steps of the first; and for the last it is enough to count
 * free sites by the number of H beside them, all walks at once. */
#ifndef SF_CORE_MERGE_CUBIC_DIRECT_H
#define SF_CORE_MERGE_CUBIC_DIRECT_H

#include "core/engines/merge_cubic_vec.h"

/* What the last three steps see from each first step: near sites that are occupied, how many H are beside each of the
 * others, the gain so far; and which of the last four residues are H. Nothing fits where the first step was not free.
 */
typedef struct three_steps {
    _Alignas(64) uint64_t occupied[8], ones[8], twos[8], fours[8]; /* by direction of the first step */
    uint8_t gain[8];
    const uint8_t *h;
    bool beside_first; /* the last residue and that of the first step are both H: one more where they touch */
} three_steps;

CUBIC_INLINE int near_count(const three_steps *t, int d, uint64_t site)
{
    return (int)(t->ones[d] >> site & 1) + 2 * (int)(t->twos[d] >> site & 1) + 4 * (int)(t->fours[d] >> site & 1);
}

/* Adds the tails of a first step one by one. */
static void three_steps_plain(const cubic_geometry *geometry, const three_steps *t, int d, uint16_t *sum)
{
    for (int i = 0; i < CUBIC_PAIRS; i++) {
        if (geometry->pair[i] & t->occupied[d])
            continue;
        int gain = t->gain[d];
        if (t->h[1])
            gain += near_count(t, d, geometry->pair_first[i] & 63);
        if (t->h[2])
            gain += near_count(t, d, geometry->pair_second[i] & 63);
        for (uint64_t next = geometry->pair_next[i] & ~t->occupied[d]; next; next &= next - 1) {
            const uint64_t site = (uint64_t)__builtin_ctzll(next);
            const bool bonus = t->beside_first && (geometry->near_first >> site & 1);
            sum[gain + (t->h[3] ? near_count(t, d, site) + bonus : 0)]++;
        }
    }
}

/* What each child in an open direction has around it. */
CUBIC_INLINE void three_steps_look(const cubic_geometry *geometry, const board *placed, unsigned open, three_steps *t)
{
    const bool any_twos = any(placed->twos), any_fours = any(placed->fours), any_h = t->h[1] || t->h[2] || t->h[3];
    const near_source occupied = near_source_make(placed->occupied), ones = near_source_make(placed->ones),
                      twos = near_source_make(placed->twos), fours = near_source_make(placed->fours);
    memset(t->occupied, 0xff, sizeof t->occupied);
    memset(t->ones, 0, sizeof t->ones);
    memset(t->twos, 0, sizeof t->twos);
    memset(t->fours, 0, sizeof t->fours);
#pragma GCC unroll 6
    for (int d = 0; d < 6; d++) {
        if (!(open >> d & 1))
            continue;
        const uint64_t blocked = near_sites(geometry, &occupied, d) | (uint64_t)1 << 63;
        t->occupied[d] = blocked;
        if (!any_h)
            continue;
        t->ones[d] = near_sites(geometry, &ones, d) & ~blocked;
        if (any_twos)
            t->twos[d] = near_sites(geometry, &twos, d) & ~blocked;
        if (any_fours)
            t->fours[d] = near_sites(geometry, &fours, d) & ~blocked;
    }
}

#if CUBIC_AVX512

/* Counts of the tails, a byte for each number of contacts, eight walks side by side: 0..7 in low, 8..15 in high. A byte
 * holds at most 5 first steps x 4 x 5 last ones. */
typedef struct byte_sums {
    __m512i low, high;
} byte_sums;

/* The highest number of H beside any site, or a little more. */
CUBIC_INLINE int top_count(__m512i ones, __m512i twos, __m512i fours)
{
    if (_mm512_test_epi64_mask(_mm512_or_si512(twos, fours), _mm512_or_si512(twos, fours)) == 0)
        return 1;
    if (_mm512_test_epi64_mask(fours, fours) != 0)
        return 5;
    return _mm512_test_epi64_mask(ones, twos) != 0 ? 3 : 2;
}

/* Free sites by the number of H the last residue would touch there, for all first steps; returns the highest number. */
CUBIC_INLINE int near_levels(const cubic_geometry *geometry, const three_steps *t, uint64_t level[6][8])
{
    const __m512i occupied = _mm512_load_si512(t->occupied), first = _mm512_set1_epi64((long long)geometry->near_first);
    __m512i ones = _mm512_load_si512(t->ones), twos = _mm512_load_si512(t->twos), fours = _mm512_load_si512(t->fours);
    if (!t->h[3]) {
        _mm512_store_si512(level[0], _mm512_ternarylogic_epi64(occupied, occupied, occupied, 0x55));
        return 0;
    }
    if (t->beside_first) {
        const __m512i carry = _mm512_and_si512(ones, first), carry2 = _mm512_and_si512(twos, carry);
        ones = _mm512_xor_si512(ones, first);
        twos = _mm512_xor_si512(twos, carry);
        fours = _mm512_or_si512(fours, carry2);
    }
    const __m512i some = _mm512_ternarylogic_epi64(twos, fours, occupied, 0xfe);
    _mm512_store_si512(level[0], _mm512_ternarylogic_epi64(some, ones, ones, 0x03));
    _mm512_store_si512(level[1], _mm512_andnot_si512(some, ones));
    const int top = top_count(ones, twos, fours);
    if (top > 1) {
        _mm512_store_si512(level[2], _mm512_ternarylogic_epi64(occupied, ones, twos, 0x02));
        _mm512_store_si512(level[3], _mm512_ternarylogic_epi64(occupied, ones, twos, 0x08));
        _mm512_store_si512(level[4], _mm512_ternarylogic_epi64(occupied, ones, fours, 0x02));
        _mm512_store_si512(level[5], _mm512_ternarylogic_epi64(occupied, ones, fours, 0x08));
    }
    return top;
}

/* 8 times the H beside each near site that the second and third residue would gain, and the gain so far. */
CUBIC_INLINE __m512i near_gains(const cubic_geometry *geometry, const three_steps *t, int d)
{
    const uint64_t where = (t->h[1] ? geometry->near_first : 0) | (t->h[2] ? geometry->near_second : 0);
    __m512i gains = _mm512_maskz_mov_epi8(t->ones[d] & where, _mm512_set1_epi8(8));
    gains = _mm512_mask_add_epi8(gains, t->twos[d] & where, gains, _mm512_set1_epi8(16));
    gains = _mm512_mask_add_epi8(gains, t->fours[d] & where, gains, _mm512_set1_epi8(32));
    return _mm512_mask_add_epi8(gains, geometry->near_first, gains, _mm512_set1_epi8((char)(8 * t->gain[d])));
}

CUBIC_INLINE void three_steps_add(const cubic_geometry *geometry, const three_steps *t, unsigned open,
                                  uint64_t (*level)[8], const int n_levels, const bool high, byte_sums *sums)
{
    for (; open; open &= open - 1) {
        const int d = __builtin_ctz(open);
        const __m512i occupied = _mm512_set1_epi64((long long)t->occupied[d]), gains = near_gains(geometry, t, d);
        __m512i of_level[6];
        for (int j = 0; j < n_levels; j++)
            of_level[j] = _mm512_set1_epi64((long long)level[j][d]);
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
}

CUBIC_INLINE __m128i bytes_fold(__m512i sums)
{
    const __m512i half = _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_castsi512_si256(sums)),
                                          _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(sums, 1)));
    const __m256i quarter = _mm256_add_epi16(_mm512_castsi512_si256(half), _mm512_extracti64x4_epi64(half, 1));
    return _mm_add_epi16(_mm256_castsi256_si128(quarter), _mm256_extracti128_si256(quarter, 1));
}

/* At least the highest number of contacts a tail gains, the last residue `last`. */
CUBIC_INLINE int three_steps_most(const three_steps *t, int most_gain, int last)
{
    int passing = top_count(_mm512_load_si512(t->ones), _mm512_load_si512(t->twos), _mm512_load_si512(t->fours));
    passing = passing < 4 ? passing : 4;
    return most_gain + (t->h[1] ? passing : 0) + (t->h[2] ? passing : 0) + last;
}

CUBIC_INLINE counts three_steps_count(const cubic_geometry *geometry, const three_steps *t, unsigned open,
                                      int most_gain)
{
    _Alignas(64) uint64_t level[6][8];
    byte_sums sums = {.low = _mm512_setzero_si512(), .high = _mm512_setzero_si512()};
    uint16_t more[N_COUNTS];
    const int top = near_levels(geometry, t, level), most = three_steps_most(t, most_gain, top);
    if (__builtin_expect(most > 15, 0)) {
        memset(more, 0, sizeof more);
        for (; open; open &= open - 1)
            three_steps_plain(geometry, t, __builtin_ctz(open), more);
        counts sum;
        memcpy(&sum, more, sizeof sum);
        return sum;
    }
    if (most <= 7) {
        if (top == 0)
            three_steps_add(geometry, t, open, level, 1, false, &sums);
        else if (top == 1)
            three_steps_add(geometry, t, open, level, 2, false, &sums);
        else if (top <= 3)
            three_steps_add(geometry, t, open, level, 4, false, &sums);
        else
            three_steps_add(geometry, t, open, level, 6, false, &sums);
        return (counts)_mm512_zextsi128_si512(bytes_fold(sums.low));
    }
    if (top == 0)
        three_steps_add(geometry, t, open, level, 1, true, &sums);
    else if (top <= 2)
        three_steps_add(geometry, t, open, level, 3, true, &sums);
    else if (top == 3)
        three_steps_add(geometry, t, open, level, 4, true, &sums);
    else
        three_steps_add(geometry, t, open, level, 6, true, &sums);
    return (counts)_mm512_zextsi256_si512(_mm256_set_m128i(bytes_fold(sums.high), bytes_fold(sums.low)));
}

#else

CUBIC_INLINE counts three_steps_count(const cubic_geometry *geometry, const three_steps *t, unsigned open,
                                      int most_gain)
{
    uint16_t more[N_COUNTS] = {0};
    counts sum;
    (void)most_gain;
    for (; open; open &= open - 1)
        three_steps_plain(geometry, t, __builtin_ctz(open), more);
    memcpy(&sum, more, sizeof sum);
    return sum;
}

#endif

/* Counts of the tails of four residues. */
static counts count_4(const kernel *k, const board *b)
{
    const cubic_geometry *geometry = k->job->geometry;
    const uint8_t *h = k->job->h + k->job->length - 4;
    const unsigned ones = h[0] ? beside_head(geometry, b->ones) : 0, twos = h[0] ? beside_head(geometry, b->twos) : 0,
                   fours = h[0] ? beside_head(geometry, b->fours) : 0;
    unsigned open = ~beside_head(geometry, b->occupied) & 63;
    open &= ~(ones & fours); /* five H beside a site: a dead end */
    three_steps t = {.h = h, .beside_first = h[0] && h[3]};
    const plane head = {1};
    board placed = *b;
    int most_gain = 0;
    placed.occupied |= head;
    if (k->job->level[4].head_h)
        board_count_h(&placed, load_plane(geometry->head_beside));
    for (unsigned left = open; left; left &= left - 1) {
        const int d = __builtin_ctz(left);
        t.gain[d] = (uint8_t)((ones >> d & 1) + 2 * (twos >> d & 1) + 4 * (fours >> d & 1));
        most_gain = t.gain[d] > most_gain ? t.gain[d] : most_gain;
    }
    three_steps_look(geometry, &placed, open, &t);
    return three_steps_count(geometry, &t, open, most_gain);
}

#endif

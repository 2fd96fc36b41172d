/* The last five steps, counted without a table: which of the 284 walks of five steps fit, and their contacts. The walks
 * are sets of sites, kept by their first three steps: most stems are blocked, and with them all that grows from them.
 */
#ifndef SF_CORE_MERGE_SQUARE_DIRECT_H
#define SF_CORE_MERGE_SQUARE_DIRECT_H

#include "core/engines/merge/merge_square_vec.h"

#if SQUARE_AVX512

/* Fields of 5 bits, one a number of contacts, in 8 lanes: a lane gets at most 4 stems x 9 / 8 x ... < 32 of each. */
SQUARE_INLINE __m512i direct_add(__m512i sum, __m512i site, __m512i h, __m512i own, __m512i occupied, __m512i ones,
                                 __m512i twos, bool with_twos)
{
    __mmask8 free_mask = _mm512_testn_epi64_mask(site, occupied);
    __m512i n = _mm512_popcnt_epi64(_mm512_and_si512(h, ones));
    if (with_twos) {
        __m512i n2 = _mm512_popcnt_epi64(_mm512_and_si512(h, twos));
        n = _mm512_add_epi64(n, _mm512_add_epi64(n2, n2));
    }
    n = _mm512_add_epi64(n, own);
    n = _mm512_add_epi64(n, _mm512_slli_epi64(n, 2));
    return _mm512_mask_add_epi64(sum, free_mask, sum, _mm512_sllv_epi64(_mm512_set1_epi64(1), n));
}

SQUARE_INLINE __m512i direct_fans(const square_direct *direct, uint64_t occupied, uint64_t ones, uint64_t twos,
                                  bool with_twos)
{
    const __m512i o = _mm512_set1_epi64((long long)occupied), c1 = _mm512_set1_epi64((long long)ones),
                  c2 = _mm512_set1_epi64((long long)twos);
    uint64_t open = 0;
    for (int i = 0; i < DIRECT_STEMS; i += 8)
        open |= (uint64_t)_mm512_testn_epi64_mask(_mm512_load_si512(direct->stem + i), o) << i;
    __m512i sum = _mm512_setzero_si512();
    for (int i = 0; i < direct->n_rest; i += 8)
        sum = direct_add(sum, _mm512_load_si512(direct->rest_site + i), _mm512_load_si512(direct->rest_h + i),
                         _mm512_load_si512(direct->rest_own + i), o, c1, c2, with_twos);
    for (; open; open &= open - 1) {
        int i = __builtin_ctzll(open);
        sum = direct_add(sum, _mm512_load_si512(direct->site[i]), _mm512_load_si512(direct->h[i]),
                         _mm512_load_si512(direct->own[i]), o, c1, c2, with_twos);
    }
    return sum;
}

/* Counts of the tails of 5 steps, moved up by `gain`. */
SQUARE_INLINE counts direct_counts(const square_direct *direct, uint64_t occupied, uint64_t ones, uint64_t twos,
                                   int gain)
{
    __m512i sum =
        twos ? direct_fans(direct, occupied, ones, twos, true) : direct_fans(direct, occupied, ones, 0, false);
    /* even and odd fields apart, 10 bits each, so that eight lanes add without carry */
    const __m512i field =
        _mm512_set1_epi64(0x1f | 0x1fLL << 10 | 0x1fLL << 20 | 0x1fLL << 30 | 0x1fLL << 40 | 0x1fLL << 50);
    __m512i even = _mm512_and_si512(sum, field), odd = _mm512_and_si512(_mm512_srli_epi64(sum, 5), field);
    __m256i e = _mm256_add_epi64(_mm512_castsi512_si256(even), _mm512_extracti64x4_epi64(even, 1));
    __m256i d = _mm256_add_epi64(_mm512_castsi512_si256(odd), _mm512_extracti64x4_epi64(odd, 1));
    __m256i both = _mm256_add_epi64(_mm256_unpacklo_epi64(e, d), _mm256_unpackhi_epi64(e, d));
    __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    __m256i all_even = _mm256_broadcastq_epi64(pair);
    __m256i all_odd = _mm256_broadcastq_epi64(_mm_unpackhi_epi64(pair, pair));
    /* field k of the even ones is the number 2 k: a byte from bit 10 k, for every second 16-bit count */
    const __m256i from = _mm256_set_epi16(0, 0, 0, 0, 50, 50, 40, 40, 30, 30, 20, 20, 10, 10, 0, 0);
    __m256i value = _mm256_or_si256(_mm256_maskz_multishift_epi64_epi8(0x00111111u, from, all_even),
                                    _mm256_maskz_multishift_epi64_epi8(0x00444444u, from, all_odd));
    return counts_shift((counts)value, gain);
}

#else

SQUARE_INLINE void direct_one(uint16_t *count, uint64_t site, uint64_t h, uint64_t own, uint64_t occupied,
                              uint64_t ones, uint64_t twos)
{
    if (site & occupied)
        return;
    count[own + (uint64_t)__builtin_popcountll(h & ones) + 2 * (uint64_t)__builtin_popcountll(h & twos)]++;
}

SQUARE_INLINE counts direct_counts(const square_direct *direct, uint64_t occupied, uint64_t ones, uint64_t twos,
                                   int gain)
{
    uint16_t count[18] = {0};
    for (int i = 0; i < DIRECT_STEMS; i++) {
        if (direct->stem[i] & occupied)
            continue;
        for (int j = 0; j < DIRECT_FANS; j++)
            direct_one(count + gain, direct->site[i][j], direct->h[i][j], direct->own[i][j], occupied, ones, twos);
    }
    for (int i = 0; i < direct->n_rest; i++)
        direct_one(count + gain, direct->rest_site[i], direct->rest_h[i], direct->rest_own[i], occupied, ones, twos);
    return *(const counts_unaligned *)count;
}

#endif

#endif

/* Vectors and small words of the cubic kernel. The vectors are those of the compiler; where an instruction set has a
 * better word for something, it stands here. For files that are compiled once for each instruction set: all is static.
 */
#ifndef SF_CORE_MERGE_CUBIC_VEC_H
#define SF_CORE_MERGE_CUBIC_VEC_H

#include <string.h>

#include "core/engines/merge/merge_cubic.h"

#if defined __AVX512VBMI2__ && defined __AVX512BITALG__ && defined __AVX512VPOPCNTDQ__
#define CUBIC_AVX512 1
#else
#define CUBIC_AVX512 0
#endif
#if defined __AVX2__
#include <immintrin.h>
#endif

#pragma GCC diagnostic ignored "-Wpsabi" /* every function here is static or takes no vectors */

#define CUBIC_INLINE static inline __attribute__((always_inline))

typedef uint64_t plane __attribute__((vector_size(64)));  /* a set of sites of the torus */
typedef uint16_t counts __attribute__((vector_size(64))); /* counts by number of contacts, 0..31 */
typedef uint64_t lanes __attribute__((vector_size(64)));  /* eight words side by side */
typedef counts counts_unaligned __attribute__((aligned(2), may_alias));

enum { EVEN, ODD, N_COUNTS = 32 };

/* What the head sees: occupied sites, and for every site how many placed H (the head aside) it touches, in binary. */
typedef struct board {
    plane occupied, ones, twos, fours;
} board;

typedef struct kernel {
    const cubic_job *job;
    merge_workspace *workspace;
} kernel;

CUBIC_INLINE plane load_plane(const uint64_t words[8])
{
    plane p;
    memcpy(&p, words, sizeof p);
    return p;
}

#if CUBIC_AVX512

/* Site i gets what site i + sf_cubic_turn[d] had. */
CUBIC_INLINE plane turn(plane p, const int d)
{
    const __m512i ramp =
        _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40,
                        39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                        15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i v = (__m512i)p, up = _mm512_alignr_epi64(v, v, 1), down = _mm512_alignr_epi64(v, v, 7);
    switch (d) {
    case 0:
        return (plane)_mm512_shrdi_epi64(v, up, 1);
    case 1:
        return (plane)_mm512_shrdi_epi64(v, up, 13);
    case 2: /* 72 bits are 9 bytes */
        return (plane)_mm512_permutexvar_epi8(_mm512_add_epi8(ramp, _mm512_set1_epi8(9)), v);
    case 3:
        return (plane)_mm512_shldi_epi64(v, down, 1);
    case 4:
        return (plane)_mm512_shldi_epi64(v, down, 13);
    default:
        return (plane)_mm512_permutexvar_epi8(_mm512_add_epi8(ramp, _mm512_set1_epi8(-9)), v);
    }
}

CUBIC_INLINE bool any(plane p)
{
    return _mm512_test_epi64_mask((__m512i)p, (__m512i)p) != 0;
}

/* Bit i is the site whose place is byte[i], bit[i]. */
CUBIC_INLINE uint64_t pick(plane p, const uint8_t *byte, const uint8_t *bit)
{
    return _mm512_bitshuffle_epi64_mask(_mm512_permutexvar_epi8(_mm512_loadu_si512(byte), (__m512i)p),
                                        _mm512_loadu_si512(bit));
}

/* Each lane moved up or down by what `by` says, 64 or more: nothing is left. */
CUBIC_INLINE lanes lanes_up(lanes v, lanes by)
{
    return (lanes)_mm512_sllv_epi64((__m512i)v, (__m512i)by);
}

CUBIC_INLINE lanes lanes_down(lanes v, lanes by)
{
    return (lanes)_mm512_srlv_epi64((__m512i)v, (__m512i)by);
}

/* c[i] moves to c[i + by]. */
CUBIC_INLINE counts counts_shift(counts c, int by)
{
    const __m512i ramp = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                                          12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return (counts)_mm512_maskz_permutexvar_epi16((__mmask32)(0xffffffffu << by),
                                                  _mm512_sub_epi16(ramp, _mm512_set1_epi16((short)by)), (__m512i)c);
}

#else

CUBIC_INLINE plane turn(plane p, const int d)
{
    const plane up = __builtin_shufflevector(p, p, 1, 2, 3, 4, 5, 6, 7, 0);
    const plane down = __builtin_shufflevector(p, p, 7, 0, 1, 2, 3, 4, 5, 6);
    switch (d) {
    case 0:
        return p >> 1 | up << 63;
    case 1:
        return p >> 13 | up << 51;
    case 2:
        return up >> 8 | __builtin_shufflevector(p, p, 2, 3, 4, 5, 6, 7, 0, 1) << 56;
    case 3:
        return p << 1 | down >> 63;
    case 4:
        return p << 13 | down >> 51;
    default:
        return down << 8 | __builtin_shufflevector(p, p, 6, 7, 0, 1, 2, 3, 4, 5) >> 56;
    }
}

CUBIC_INLINE bool any(plane p)
{
    return (p[0] | p[1] | p[2] | p[3] | p[4] | p[5] | p[6] | p[7]) != 0;
}

#if defined __AVX2__
CUBIC_INLINE lanes lanes_up(lanes v, lanes by)
{
    __m256i half[2], count[2];
    memcpy(half, &v, sizeof v);
    memcpy(count, &by, sizeof by);
    half[0] = _mm256_sllv_epi64(half[0], count[0]);
    half[1] = _mm256_sllv_epi64(half[1], count[1]);
    memcpy(&v, half, sizeof v);
    return v;
}

CUBIC_INLINE lanes lanes_down(lanes v, lanes by)
{
    __m256i half[2], count[2];
    memcpy(half, &v, sizeof v);
    memcpy(count, &by, sizeof by);
    half[0] = _mm256_srlv_epi64(half[0], count[0]);
    half[1] = _mm256_srlv_epi64(half[1], count[1]);
    memcpy(&v, half, sizeof v);
    return v;
}
#else
CUBIC_INLINE lanes lanes_up(lanes v, lanes by)
{
    for (int i = 0; i < 8; i++)
        v[i] = by[i] < 64 ? v[i] << by[i] : 0;
    return v;
}

CUBIC_INLINE lanes lanes_down(lanes v, lanes by)
{
    for (int i = 0; i < 8; i++)
        v[i] = by[i] < 64 ? v[i] >> by[i] : 0;
    return v;
}
#endif

CUBIC_INLINE counts counts_shift(counts c, int by)
{
    uint16_t buffer[N_COUNTS + 8] = {0};
    *(counts_unaligned *)(buffer + 8) = c;
    return *(const counts_unaligned *)(buffer + 8 - by);
}

#endif

/* All sites beside those of p. */
CUBIC_INLINE plane beside(plane p)
{
    return turn(p, 0) | turn(p, 1) | turn(p, 2) | turn(p, 3) | turn(p, 4) | turn(p, 5);
}

/* Turns to the child in direction d; the switch lets each direction have its own instructions. */
CUBIC_INLINE void board_turn(const board *from, const int d, board *to)
{
    to->occupied = turn(from->occupied, d);
    to->ones = turn(from->ones, d);
    to->twos = turn(from->twos, d);
    to->fours = turn(from->fours, d);
}

/* One more H beside the sites of `where`. */
CUBIC_INLINE void board_count_h(board *b, plane where)
{
    plane carry = b->ones & where;
    b->ones ^= where;
    plane carry2 = b->twos & carry;
    b->twos ^= carry;
    b->fours ^= carry2;
}

/* Bit d is the site beside the head in direction d. */
CUBIC_INLINE unsigned beside_head(const cubic_geometry *geometry, plane p)
{
#if CUBIC_AVX512
    return (unsigned)pick(p, geometry->pack_byte[0], geometry->pack_bit[0]) & 63;
#else
    const uint64_t a = p[0], b = p[1], c = p[6], d = p[7];
    (void)geometry;
    return (unsigned)(a >> 1 & 1) | (unsigned)(a >> 13 & 1) << 1 | (unsigned)(b >> 8 & 1) << 2 |
           (unsigned)(d >> 63 & 1) << 3 | (unsigned)(d >> 51 & 1) << 4 | (unsigned)(c >> 56 & 1) << 5;
#endif
}

CUBIC_INLINE uint64_t fold_product(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 double_word;
    double_word product = (double_word)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif

/* Two boards of the square lattice in a register of 512 bits, side by side (AVX-512). A `word` is 64 bits, four a
 * board. */
#ifndef SF_CORE_BOUND_BOARD_PAIR_H
#define SF_CORE_BOUND_BOARD_PAIR_H

#include "core/engines/bound/bound_board_square.h"

#ifdef BOARD_PAIRS
static inline __m512i pair_of(board left, board right)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512((__m256i)left), (__m256i)right, 1);
}

static inline __m512i pair_twice(board b)
{
    return _mm512_broadcast_i64x4((__m256i)b);
}

static inline board pair_left(__m512i p)
{
    return (board)_mm512_castsi512_si256(p);
}

static inline board pair_right(__m512i p)
{
    return (board)_mm512_extracti64x4_epi64(p, 1);
}

enum { OR_OF_THREE = 0xfe };

static inline __m512i pair_neighbours(__m512i p)
{
    const __m512i up = _mm512_set_epi16(30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 31, 14, 13, 12, 11,
                                        10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15);
    const __m512i down = _mm512_set_epi16(16, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 0, 15, 14, 13,
                                          12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
    const __m512i rows = _mm512_or_si512(_mm512_shldi_epi16(p, p, 1), _mm512_shldi_epi16(p, p, 15));
    return _mm512_ternarylogic_epi64(rows, _mm512_permutexvar_epi16(up, p), _mm512_permutexvar_epi16(down, p),
                                     OR_OF_THREE);
}

/* Sums over the four words of either half, in each of its words. */
static inline __m512i pair_sum(__m512i words)
{
    words = _mm512_add_epi64(words, _mm512_shuffle_i64x2(words, words, _MM_SHUFFLE(2, 3, 0, 1)));
    return _mm512_add_epi64(words, _mm512_shuffle_epi32(words, _MM_PERM_BADC));
}

/* Four numbers in 16 bits each of every word. */
enum { FIELD_BITS = 16 };

static inline __m512i pair_fields(__m512i n0, __m512i n1, __m512i n2, __m512i n3)
{
    return _mm512_add_epi64(_mm512_add_epi64(n0, _mm512_slli_epi64(n1, FIELD_BITS)),
                            _mm512_slli_epi64(_mm512_add_epi64(n2, _mm512_slli_epi64(n3, FIELD_BITS)), 2 * FIELD_BITS));
}

static inline int pair_field(uint64_t word, int i)
{
    return (int)(word >> i * FIELD_BITS & 0xffff);
}

static inline uint64_t pair_word(__m512i p, int half)
{
    const __m256i words = half ? _mm512_extracti64x4_epi64(p, 1) : _mm512_castsi512_si256(p);
    return (uint64_t)_mm256_extract_epi64(words, 0);
}

#endif
#endif

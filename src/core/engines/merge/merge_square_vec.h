/* Vectors and small words of the square kernel. The vectors are those of the compiler; where an instruction set has a
 * better word for something, it stands here. For files that are compiled once for each instruction set: all is static.
 */
#ifndef SF_CORE_MERGE_SQUARE_VEC_H
#define SF_CORE_MERGE_SQUARE_VEC_H

#include <string.h>

#include "core/engines/merge/merge_square.h"

#if defined __AVX512VBMI__ && defined __AVX512VPOPCNTDQ__
#include <immintrin.h>
#define SQUARE_AVX512 1
#else
#define SQUARE_AVX512 0
#endif

#pragma GCC diagnostic ignored "-Wpsabi" /* every function here is static or takes no vectors */

#define SQUARE_INLINE static inline __attribute__((always_inline))

typedef uint16_t rows __attribute__((vector_size(32))); /* a sublattice of 16 x 16: row a + 8, bit b + 8 */
/* 4 sublattices of 8 x 8, one a direction: bit 8 (a + 4) + b + 4 */
typedef uint64_t lanes __attribute__((vector_size(32)));
typedef uint16_t counts __attribute__((vector_size(32))); /* counts by number of contacts */
typedef counts counts_unaligned __attribute__((aligned(2), may_alias));
enum { EVEN, ODD };
enum { CODE_NONE = 0xffff, LONG = 32 };

typedef struct kernel {
    const square_job *job;
    merge_workspace *workspace;
} kernel;

/* Steps 0..3 are +x, +y, -x, -y. A step makes the odd board the even one of the child, and the other way round; it
 * moves by (a, b): */
static const int to_even_a[4] = {0, 0, -1, -1}, to_even_b[4] = {0, -1, -1, 0};
static const int to_odd_a[4] = {1, 1, 0, 0}, to_odd_b[4] = {1, 0, 0, 1};

#if SQUARE_AVX512

/* Row a gets row a - 1. */
SQUARE_INLINE rows raise(rows x)
{
    const __m256i from = _mm256_set_epi8(29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10,
                                         9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0);
    return (rows)_mm256_maskz_permutexvar_epi8(0xfffffffcu, from, (__m256i)x);
}

/* Row a gets row a + 1. */
SQUARE_INLINE rows lower(rows x)
{
    const __m256i from = _mm256_set_epi8(0, 0, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14,
                                         13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2);
    return (rows)_mm256_maskz_permutexvar_epi8(0x3fffffffu, from, (__m256i)x);
}

/* c[i] moves to c[i + by]. */
SQUARE_INLINE counts counts_shift(counts c, int by)
{
    const __m256i ramp = _mm256_set_epi16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return (counts)_mm256_maskz_permutexvar_epi16((__mmask16)(0xffffu << by),
                                                  _mm256_sub_epi16(ramp, _mm256_set1_epi16((short)by)), (__m256i)c);
}

#else

SQUARE_INLINE rows raise(rows x)
{
    const rows zero = {0};
    return __builtin_shufflevector(x, zero, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
}

SQUARE_INLINE rows lower(rows x)
{
    const rows zero = {0};
    return __builtin_shufflevector(x, zero, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
}

SQUARE_INLINE counts counts_shift(counts c, int by)
{
    uint16_t buffer[20] = {0};
    *(counts_unaligned *)(buffer + 2) = c;
    return *(const counts_unaligned *)(buffer + 2 - by);
}

#endif

SQUARE_INLINE bool any(lanes x)
{
#if defined(__AVX__)
    return !__builtin_ia32_ptestz256((__attribute__((vector_size(32))) long long)x,
                                     (__attribute__((vector_size(32))) long long)x);
#else
    return (x[0] | x[1] | x[2] | x[3]) != 0;
#endif
}

SQUARE_INLINE uint64_t fold_product(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 double_word;
    double_word product = (double_word)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

SQUARE_INLINE uint64_t hash_words(const uint64_t w[4])
{
    return fold_product(w[0] ^ 0x9e3779b97f4a7c15u, w[1] ^ 0xbf58476d1ce4e5b9u) ^
           fold_product(w[2] ^ 0x94d049bb133111ebu, w[3] ^ 0xd6e8feb86659fd93u);
}

/* Up to two sites as one number; CODE_NONE for more. */
static uint32_t sites_code(const uint64_t *words, int n_words)
{
    uint32_t code = 0;
    int n = 0;
    for (int i = 0; i < n_words; i++) {
        for (uint64_t left = words[i]; left; left &= left - 1) {
            if (n == 2)
                return CODE_NONE;
            uint32_t site = (uint32_t)(64 * i + __builtin_ctzll(left) + 1);
            code = n == 0 ? site : code + (uint32_t)(64 * n_words + 1) * site;
            n++;
        }
    }
    return code;
}

#endif

/* Vectors of bits with AVX-512 and VPOPCNTDQ; the functions of vec_portable.h. Only for files compiled with that instruction
 * set. The immediates of vpternlogq are the truth tables of the three-input functions. */
#ifndef SF_CORE_BASE_VEC_H
#define SF_CORE_BASE_VEC_H
#ifdef __AVX512VPOPCNTDQ__

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef __m512i vec;
typedef __m512i vec_count;
typedef __m512i vec_marks;

enum { VEC_WORDS = 8 };

static inline vec vec_zero(void)
{
    return _mm512_setzero_si512();
}

static inline vec vec_fill(bool bit)
{
    return _mm512_set1_epi64(bit ? -1 : 0);
}

static inline vec vec_load(const uint64_t *p)
{
    return _mm512_load_si512(p);
}

static inline void vec_store(uint64_t *p, vec a)
{
    _mm512_store_si512(p, a);
}

static inline vec vec_and(vec a, vec b)
{
    return _mm512_and_si512(a, b);
}

static inline vec vec_or(vec a, vec b)
{
    return _mm512_or_si512(a, b);
}

static inline vec vec_xor(vec a, vec b)
{
    return _mm512_xor_si512(a, b);
}

static inline vec vec_xor3(vec a, vec b, vec c)
{
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

static inline vec vec_majority(vec a, vec b, vec c)
{
    return _mm512_ternarylogic_epi64(a, b, c, 0xe8);
}

static inline vec vec_xor_and(vec a, vec b, vec c)
{
    return _mm512_ternarylogic_epi64(a, b, c, 0x78);
}

static inline vec vec_pick(vec a, vec b, bool b_set, vec c, bool c_set)
{
    if (b_set)
        return c_set ? _mm512_ternarylogic_epi64(a, b, c, 0x80) : _mm512_ternarylogic_epi64(a, b, c, 0x40);
    return c_set ? _mm512_ternarylogic_epi64(a, b, c, 0x20) : _mm512_ternarylogic_epi64(a, b, c, 0x10);
}

static inline vec vec_first(int64_t n)
{
    __m512i here = _mm512_sub_epi64(_mm512_set1_epi64(n), _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448));
    here = _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_max_epi64(here, _mm512_setzero_si512()));
    return _mm512_sub_epi64(here, _mm512_set1_epi64(1));
}

static inline uint64_t vec_pack(uint64_t a, uint64_t places)
{
    return _pext_u64(a, places);
}

static inline bool vec_any(vec a)
{
    return _mm512_test_epi64_mask(a, a) != 0;
}

static inline uint32_t vec_words(vec a)
{
    return _mm512_test_epi64_mask(a, a);
}

static inline vec_count vec_count_zero(void)
{
    return _mm512_setzero_si512();
}

static inline vec_count vec_count_unseen_zero(void)
{
    vec_count zero = _mm512_setzero_si512();
    __asm__("" : "+v"(zero));
    return zero;
}

static inline vec_count vec_count_sum(vec_count a, vec_count b)
{
    return _mm512_add_epi64(a, b);
}

static inline vec_count vec_count_add(vec_count sum, vec bits)
{
    return _mm512_add_epi64(sum, _mm512_popcnt_epi64(bits));
}

static inline vec_count vec_count_scaled(vec_count sum, vec_count counts, uint32_t factor)
{
    return _mm512_add_epi64(sum, _mm512_mul_epu32(counts, _mm512_set1_epi64(factor)));
}

static inline vec_count vec_count_shifted(vec_count sum, vec_count counts, int shift)
{
    return _mm512_add_epi64(sum, _mm512_sll_epi64(counts, _mm_cvtsi32_si128(shift)));
}

static inline uint64_t vec_count_total(vec_count counts)
{
    return (uint64_t)_mm512_reduce_add_epi64(counts);
}

static inline vec_marks vec_marks_zero(void)
{
    return _mm512_setzero_si512();
}

static inline vec_marks vec_marks_scan(vec_marks marks, const uint32_t *keys, size_t n, uint32_t mask, int base)
{
    const __m512i masks = _mm512_set1_epi32((int)mask), first = _mm512_set1_epi32(1 << base);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512i key = _mm512_and_si512(_mm512_loadu_si512(keys + i), masks);
        marks = _mm512_or_si512(marks, _mm512_sllv_epi32(first, _mm512_popcnt_epi32(key)));
    }
    __mmask16 valid = (__mmask16)((1u << (n - i)) - 1);
    __m512i key = _mm512_maskz_and_epi32(valid, _mm512_maskz_loadu_epi32(valid, keys + i), masks);
    return _mm512_mask_or_epi32(marks, valid, marks, _mm512_sllv_epi32(first, _mm512_popcnt_epi32(key)));
}

static inline uint32_t vec_marks_set(vec_marks marks)
{
    return (uint32_t)_mm512_reduce_or_epi32(marks);
}

static inline void vec_ceilings(uint8_t *from, uint8_t *to, const uint32_t *keys, const uint32_t *more, size_t n,
                                uint32_t mask, int shift, int base)
{
    const __m512i masks = _mm512_set1_epi32((int)mask), start = _mm512_set1_epi32(base), low = _mm512_set1_epi32(15);
    const __m128i by = _mm_cvtsi32_si128(shift);
    for (size_t i = 0; i < n; i += 16) {
        __m512i count = _mm512_popcnt_epi32(_mm512_and_si512(_mm512_loadu_si512(keys + i), masks));
        __m512i extra = _mm512_and_si512(_mm512_srl_epi32(_mm512_loadu_si512(more + i), by), low);
        count = _mm512_add_epi32(count, start);
        _mm_storeu_si128((__m128i *)(from + i), _mm512_cvtepi32_epi8(count));
        _mm_storeu_si128((__m128i *)(to + i), _mm512_cvtepi32_epi8(_mm512_add_epi32(count, extra)));
    }
}

static inline size_t vec_bytes_find(const uint8_t *bytes, size_t n, uint8_t value, uint32_t *found)
{
    const __m512i wanted = _mm512_set1_epi8((char)value);
    size_t n_found = 0;
    for (size_t i = 0; i < n; i += 64) {
        uint64_t valid = n - i < 64 ? (UINT64_C(1) << (n - i)) - 1 : ~UINT64_C(0);
        uint64_t bits = _mm512_mask_cmpeq_epi8_mask(valid, _mm512_loadu_si512(bytes + i), wanted);
        for (; bits; bits &= bits - 1)
            found[n_found++] = (uint32_t)i + (uint32_t)__builtin_ctzll(bits);
    }
    return n_found;
}

#endif
#endif

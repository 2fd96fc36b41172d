/* Vectors of bits with AVX2; the functions of vec_portable.h. Only for files compiled with that instruction set. */
#ifndef SF_CORE_BASE_VEC_H
#define SF_CORE_BASE_VEC_H
#ifdef __AVX2__

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef __m256i vec;
typedef __m256i vec_count;
typedef __m256i vec_marks;

enum { VEC_WORDS = 4 };

static inline vec vec_zero(void)
{
    return _mm256_setzero_si256();
}

static inline vec vec_fill(bool bit)
{
    return _mm256_set1_epi64x(bit ? -1 : 0);
}

static inline vec vec_load(const uint64_t *p)
{
    return _mm256_load_si256((const __m256i *)p);
}

static inline void vec_store(uint64_t *p, vec a)
{
    _mm256_store_si256((__m256i *)p, a);
}

static inline vec vec_and(vec a, vec b)
{
    return _mm256_and_si256(a, b);
}

static inline vec vec_or(vec a, vec b)
{
    return _mm256_or_si256(a, b);
}

static inline vec vec_xor(vec a, vec b)
{
    return _mm256_xor_si256(a, b);
}

static inline vec vec_xor3(vec a, vec b, vec c)
{
    return _mm256_xor_si256(a, _mm256_xor_si256(b, c));
}

static inline vec vec_majority(vec a, vec b, vec c)
{
    return _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(_mm256_xor_si256(a, b), c));
}

static inline vec vec_xor_and(vec a, vec b, vec c)
{
    return _mm256_xor_si256(a, _mm256_and_si256(b, c));
}

static inline vec vec_pick(vec a, vec b, bool b_set, vec c, bool c_set)
{
    a = b_set ? _mm256_and_si256(b, a) : _mm256_andnot_si256(b, a);
    return c_set ? _mm256_and_si256(c, a) : _mm256_andnot_si256(c, a);
}

static inline vec vec_first(int64_t n)
{
    __m256i here = _mm256_sub_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 64, 128, 192));
    here = _mm256_and_si256(here, _mm256_cmpgt_epi64(here, _mm256_setzero_si256()));
    return _mm256_sub_epi64(_mm256_sllv_epi64(_mm256_set1_epi64x(1), here), _mm256_set1_epi64x(1));
}

/* Without pext, which takes hundreds of cycles on some processors of this set. */
static inline uint64_t vec_pack(uint64_t a, uint64_t places)
{
    uint64_t packed = 0;
    for (uint64_t bits = a & places; bits; bits &= bits - 1)
        packed |= UINT64_C(1) << __builtin_popcountll(places & ((bits & -bits) - 1));
    return packed;
}

static inline bool vec_any(vec a)
{
    return !_mm256_testz_si256(a, a);
}

static inline uint32_t vec_words(vec a)
{
    __m256i zero = _mm256_cmpeq_epi64(a, _mm256_setzero_si256());
    return ~(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(zero)) & 15;
}

static inline vec_count vec_count_zero(void)
{
    return _mm256_setzero_si256();
}

static inline vec_count vec_count_unseen_zero(void)
{
    vec_count zero = _mm256_setzero_si256();
    __asm__("" : "+x"(zero));
    return zero;
}

static inline vec_count vec_count_sum(vec_count a, vec_count b)
{
    return _mm256_add_epi64(a, b);
}

/* Bits set in each byte, by looking both halves of it up. */
static inline __m256i vec_byte_counts(vec a)
{
    const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2,
                                          3, 2, 3, 3, 4);
    const __m256i half = _mm256_set1_epi8(15);
    __m256i low = _mm256_shuffle_epi8(bits, _mm256_and_si256(a, half));
    __m256i high = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16(a, 4), half));
    return _mm256_add_epi8(low, high);
}

static inline vec_count vec_count_add(vec_count sum, vec bits)
{
    return _mm256_add_epi64(sum, _mm256_sad_epu8(vec_byte_counts(bits), _mm256_setzero_si256()));
}

static inline vec_count vec_count_scaled(vec_count sum, vec_count counts, uint32_t factor)
{
    return _mm256_add_epi64(sum, _mm256_mul_epu32(counts, _mm256_set1_epi64x(factor)));
}

static inline vec_count vec_count_shifted(vec_count sum, vec_count counts, int shift)
{
    return _mm256_add_epi64(sum, _mm256_slli_epi64(counts, shift));
}

static inline uint64_t vec_count_total(vec_count counts)
{
    uint64_t lane[4];
    _mm256_storeu_si256((__m256i *)lane, counts);
    return lane[0] + lane[1] + lane[2] + lane[3];
}

static inline vec_marks vec_marks_zero(void)
{
    return _mm256_setzero_si256();
}

static inline vec_marks vec_marks_scan(vec_marks marks, const uint32_t *keys, size_t n, uint32_t mask, int base)
{
    const __m256i masks = _mm256_set1_epi32((int)mask), first = _mm256_set1_epi32(1 << base);
    const __m256i ones = _mm256_set1_epi8(1), pairs = _mm256_set1_epi16(1);
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        __m256i valid = _mm256_cmpgt_epi32(_mm256_set1_epi32(left < 8 ? (int)left : 8), lanes);
        __m256i key = _mm256_maskload_epi32((const int *)(keys + i), valid);
        __m256i bytes = vec_byte_counts(_mm256_and_si256(key, masks));
        __m256i count = _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, ones), pairs);
        __m256i mark = _mm256_sllv_epi32(first, count);
        marks = _mm256_or_si256(marks, _mm256_and_si256(mark, valid));
    }
    return marks;
}

static inline uint32_t vec_marks_set(vec_marks marks)
{
    uint32_t lane[8];
    _mm256_storeu_si256((__m256i *)lane, marks);
    return lane[0] | lane[1] | lane[2] | lane[3] | lane[4] | lane[5] | lane[6] | lane[7];
}

static inline void vec_ceilings(uint8_t *from, uint8_t *to, const uint32_t *keys, const uint32_t *more, size_t n,
                                uint32_t mask, int shift, int base)
{
    for (size_t i = 0; i < n; i++) {
        from[i] = (uint8_t)(base + __builtin_popcount(keys[i] & mask));
        to[i] = (uint8_t)(from[i] + (more[i] >> shift & 15));
    }
}

static inline size_t vec_bytes_find(const uint8_t *bytes, size_t n, uint8_t value, uint32_t *found)
{
    const __m256i wanted = _mm256_set1_epi8((char)value);
    size_t n_found = 0;
    for (size_t i = 0; i < n; i += 32) {
        __m256i equal = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(bytes + i)), wanted);
        uint32_t bits = (uint32_t)_mm256_movemask_epi8(equal);
        if (n - i < 32)
            bits &= (UINT32_C(1) << (n - i)) - 1;
        for (; bits; bits &= bits - 1)
            found[n_found++] = (uint32_t)i + (uint32_t)__builtin_ctz(bits);
    }
    return n_found;
}

#endif
#endif

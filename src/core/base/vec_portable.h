/* Vectors of bits for the sliced kernels, plain words: the same functions as vec_avx2.h and vec_avx512.h, so that one
 * kernel text serves all. A kernel is compiled in a file of its own for each, with that file's instruction set. */
#ifndef SF_CORE_BASE_VEC_H
#define SF_CORE_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t vec;
typedef uint64_t vec_count; /* lanes of 64-bit counts */
typedef uint32_t vec_marks; /* a set of small numbers, one bit each */

enum { VEC_WORDS = 1 };

static inline vec vec_zero(void)
{
    return 0;
}

static inline vec vec_fill(bool bit)
{
    return bit ? ~UINT64_C(0) : 0;
}

static inline vec vec_load(const uint64_t *p)
{
    return *p;
}

static inline void vec_store(uint64_t *p, vec a)
{
    *p = a;
}

static inline vec vec_and(vec a, vec b)
{
    return a & b;
}

static inline vec vec_or(vec a, vec b)
{
    return a | b;
}

static inline vec vec_xor(vec a, vec b)
{
    return a ^ b;
}

static inline vec vec_xor3(vec a, vec b, vec c)
{
    return a ^ b ^ c;
}

static inline vec vec_majority(vec a, vec b, vec c)
{
    return (a & b) | ((a ^ b) & c);
}

/* a ^ (b & c) */
static inline vec vec_xor_and(vec a, vec b, vec c)
{
    return a ^ (b & c);
}

/* a & (b or its complement) & (c or its complement): where b is b_set and c is c_set */
static inline vec vec_pick(vec a, vec b, bool b_set, vec c, bool c_set)
{
    return a & (b_set ? b : ~b) & (c_set ? c : ~c);
}

/* The first n lanes; none when n is below 0. */
static inline vec vec_first(int64_t n)
{
    return n >= 64 ? ~UINT64_C(0) : n <= 0 ? 0 : (UINT64_C(1) << n) - 1;
}

/* The bits of a at the places that `places` has set, side by side from bit 0 on. */
static inline uint64_t vec_pack(uint64_t a, uint64_t places)
{
    uint64_t packed = 0;
    for (uint64_t bits = a & places; bits; bits &= bits - 1)
        packed |= UINT64_C(1) << __builtin_popcountll(places & ((bits & -bits) - 1));
    return packed;
}

static inline bool vec_any(vec a)
{
    return a != 0;
}

/* Which words are not zero. */
static inline uint32_t vec_words(vec a)
{
    return a != 0;
}

static inline vec_count vec_count_zero(void)
{
    return 0;
}

/* Zero, but the compiler does not know: an array of counts that begins so stays in registers, not cleared in memory. */
static inline vec_count vec_count_unseen_zero(void)
{
    vec_count zero = 0;
    __asm__("" : "+r"(zero));
    return zero;
}

static inline vec_count vec_count_sum(vec_count a, vec_count b)
{
    return a + b;
}

static inline vec_count vec_count_add(vec_count sum, vec bits)
{
    return sum + (uint64_t)__builtin_popcountll(bits);
}

/* sum + counts * factor; counts below 2^32 in every lane */
static inline vec_count vec_count_scaled(vec_count sum, vec_count counts, uint32_t factor)
{
    return sum + counts * factor;
}

/* sum + counts * 2^shift */
static inline vec_count vec_count_shifted(vec_count sum, vec_count counts, int shift)
{
    return sum + (counts << shift);
}

static inline uint64_t vec_count_total(vec_count counts)
{
    return counts;
}

static inline vec_marks vec_marks_zero(void)
{
    return 0;
}

/* Marks base + popcount(key & mask) for n keys; at most 31. Reads no more than the n keys. */
static inline vec_marks vec_marks_scan(vec_marks marks, const uint32_t *keys, size_t n, uint32_t mask, int base)
{
    uint32_t found = 0;
    for (size_t i = 0; i < n; i++)
        found |= UINT32_C(1) << __builtin_popcount(keys[i] & mask);
    return marks | found << base;
}

static inline uint32_t vec_marks_set(vec_marks marks)
{
    return marks;
}

/* For n keys: from[i] = base + popcount(keys[i] & mask) and to[i] = from[i] + (bits shift..shift+3 of more[i]). Other sets
 * may read up to 15 words and write up to 15 bytes beyond. */
static inline void vec_ceilings(uint8_t *from, uint8_t *to, const uint32_t *keys, const uint32_t *more, size_t n,
                                uint32_t mask, int shift, int base)
{
    for (size_t i = 0; i < n; i++) {
        from[i] = (uint8_t)(base + __builtin_popcount(keys[i] & mask));
        to[i] = (uint8_t)(from[i] + (more[i] >> shift & 15));
    }
}

/* Writes the i in 0..n-1 with bytes[i] == value to found[], ascending; returns how many. Other sets may read up to 63 bytes
 * beyond. */
static inline size_t vec_bytes_find(const uint8_t *bytes, size_t n, uint8_t value, uint32_t *found)
{
    size_t n_found = 0;
    for (size_t i = 0; i < n; i++) {
        found[n_found] = (uint32_t)i;
        n_found += bytes[i] == value;
    }
    return n_found;
}

#endif

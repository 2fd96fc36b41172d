/* A bit board for the square lattice: 16 x 16 sites on a torus, one register of 256 bits.
 *
 * The board shows what was placed as long as that is narrower than the board: then the ring of sites around it is free,
 * and a walk that leaves the ring and comes back can be replaced by one of the same length along it. So what the torus
 * wraps around adds ways and takes none: every bound from above stays one. At a width of 15 opposite sides of the ring
 * are the same sites of the board. Each real site has at most one placed neighbour, so one with two stands for two with
 * one: sums of contacts stay right, but numbers of sites are then too small to cut by. */
#ifndef SF_CORE_BOUND_BOARD_SQUARE_H
#define SF_CORE_BOUND_BOARD_SQUARE_H

#pragma GCC diagnostic ignored "-Wpsabi" /* boards never cross a file */

#include <stdbool.h>
#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif
#if defined(__AVX512VBMI2__) && defined(__AVX512VPOPCNTDQ__)
#define BOARD_PAIRS /* two boards fit a register: bound_board_pair.h */
#endif

#include "core/engines/bound/bound_kernel.h"

enum { AXES = 2, STEPS = 4, INNER = 2, BOARD_SPAN = 16 };

typedef uint16_t board __attribute__((vector_size(32))); /* row y, bit x */
typedef uint64_t board_words __attribute__((vector_size(32)));

static const bound_place board_step[STEPS] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};

/* Sites whose residues are even when the seed is: x + y even. */
static const board board_even = {0x5555, 0xaaaa, 0x5555, 0xaaaa, 0x5555, 0xaaaa, 0x5555, 0xaaaa,
                                 0x5555, 0xaaaa, 0x5555, 0xaaaa, 0x5555, 0xaaaa, 0x5555, 0xaaaa};

static inline board board_none(void)
{
    return (board){0};
}

static inline board board_site(bound_place p)
{
    const board rows = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint16_t row = p.y & 15, bit = (uint16_t)(1u << (p.x & 15));
    return (board)(rows == (board_none() + row)) & (board_none() + bit);
}

static inline bool board_has(const board *b, bound_place p)
{
    return ((*b)[p.y & 15] >> (p.x & 15)) & 1;
}

static inline bool board_any(board b)
{
#ifdef __AVX2__
    return !_mm256_testz_si256((__m256i)b, (__m256i)b);
#else
    const board_words w = (board_words)b;
    return (w[0] | w[1] | w[2] | w[3]) != 0;
#endif
}

static inline bool board_meet(board a, board b)
{
#ifdef __AVX2__
    return !_mm256_testz_si256((__m256i)a, (__m256i)b);
#else
    return board_any(a & b);
#endif
}

static inline int board_count(board b)
{
#ifdef __AVX512VPOPCNTDQ__
    const __m256i c = _mm256_popcnt_epi64((__m256i)b);
    const __m128i s = _mm_add_epi64(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1));
    return (int)(_mm_cvtsi128_si64(s) + _mm_extract_epi64(s, 1));
#else
    const board_words w = (board_words)b;
    return __builtin_popcountll(w[0]) + __builtin_popcountll(w[1]) + __builtin_popcountll(w[2]) +
           __builtin_popcountll(w[3]);
#endif
}

/* The sum of their counts. */
static inline int board_count_two(board a, board b)
{
#ifdef __AVX512VPOPCNTDQ__
    const __m256i c = _mm256_add_epi64(_mm256_popcnt_epi64((__m256i)a), _mm256_popcnt_epi64((__m256i)b));
    const __m128i s = _mm_add_epi64(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1));
    return (int)(_mm_cvtsi128_si64(s) + _mm_extract_epi64(s, 1));
#else
    return board_count(a) + board_count(b);
#endif
}

/* Turns each row by k, a constant. */
static inline board board_turn_rows(board b, int k)
{
#ifdef __AVX512VBMI2__
    const __m256i rows = (__m256i)b;
    switch (k) {
    case 1:
        return (board)_mm256_shldi_epi16(rows, rows, 1);
    case 2:
        return (board)_mm256_shldi_epi16(rows, rows, 2);
    case 4:
        return (board)_mm256_shldi_epi16(rows, rows, 4);
    case 8:
        return (board)_mm256_shldi_epi16(rows, rows, 8);
    case 12:
        return (board)_mm256_shldi_epi16(rows, rows, 12);
    case 14:
        return (board)_mm256_shldi_epi16(rows, rows, 14);
    case 15:
        return (board)_mm256_shldi_epi16(rows, rows, 15);
    default:
        break;
    }
#endif
    return (board)((b << k) | (b >> (16 - k)));
}

/* Moves all sites k steps along an axis: forwards (k > 0) or backwards. k is a constant. */
static inline board board_forward(board b, int axis, int k)
{
    if (axis == 0)
        return board_turn_rows(b, k);
    switch (k) {
    case 1:
        return __builtin_shufflevector(b, b, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
    case 2:
        return __builtin_shufflevector(b, b, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
    case 4:
        return __builtin_shufflevector(b, b, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    case 8:
        return __builtin_shufflevector(b, b, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    case 12:
        return __builtin_shufflevector(b, b, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3);
    case 14:
        return __builtin_shufflevector(b, b, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1);
    default:
        return __builtin_shufflevector(b, b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0);
    }
}

static inline board board_backward(board b, int axis, int k)
{
    return board_forward(b, axis, 16 - k);
}

static inline board board_neighbours(board b)
{
    return board_forward(b, 0, 1) | board_backward(b, 0, 1) | board_forward(b, 1, 1) | board_backward(b, 1, 1);
}

/* layer[k] = sites with at least k neighbours in b, k in 1..STEPS. */
static inline void board_layers(board b, board layer[STEPS + 1])
{
    const board w = board_forward(b, 0, 1), x = board_backward(b, 0, 1);
    const board y = board_forward(b, 1, 1), z = board_backward(b, 1, 1);
    const board one_wx = w | x, two_wx = w & x, one_yz = y | z, two_yz = y & z;
    layer[1] = one_wx | one_yz;
    layer[2] = two_wx | two_yz | (one_wx & one_yz);
    layer[3] = (two_wx & one_yz) | (two_yz & one_wx);
    layer[4] = two_wx & two_yz;
}

/* All sites that have at least 2 neighbours in b. */
static inline board board_two_neighbours(board b)
{
    const board w = board_forward(b, 0, 1), x = board_backward(b, 0, 1);
    const board y = board_forward(b, 1, 1), z = board_backward(b, 1, 1);
    return (w & x) | (y & z) | ((w | x) & (y | z));
}

/* All sites of the lines along an axis that hold a site of b. */
static inline board board_lines(board b, int axis)
{
    if (axis == 0)
        return (board)(b != board_none());
    b |= board_forward(b, 1, 8);
    b |= board_forward(b, 1, 4);
    b |= board_forward(b, 1, 2);
    return b | board_forward(b, 1, 1);
}

/* How many lines along an axis hold a site of b. */
static inline int board_count_lines(board b, int axis)
{
    if (axis == 0) {
#ifdef __AVX512BW__
        return __builtin_popcount(_mm256_test_epi16_mask((__m256i)b, (__m256i)b));
#else
        const board row = board_lines(b, 0) & (board_none() + 1);
        return board_count(row);
#endif
    }
    const board_words w = (board_words)b;
    uint64_t columns = w[0] | w[1] | w[2] | w[3];
    columns |= columns >> 32;
    columns |= columns >> 16;
    return __builtin_popcountll(columns & 0xffff);
}

/* Runs of `live` in all rows, cut at column `cut` where no site is live, that hold a site of b, a part of `live`: added
 * to the run it carries out of it, once. */
static inline int board_row_groups(board b, board live, int cut)
{
    const int up = (15 - cut) & 15, down = (16 - up) & 15; /* turns the cut to the highest bit */
    const board runs = (live << up) | (live >> down), marked = (b << up) | (b >> down);
    return board_count((runs + marked) & ~runs);
}

/* The plane of sites across an axis at that coordinate. */
static inline board board_plane(int axis, int coordinate)
{
    const board rows = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    if (axis == 0)
        return board_none() + (uint16_t)(1u << (coordinate & 15));
    return (board)(rows == (board_none() + (uint16_t)(coordinate & 15)));
}

#endif

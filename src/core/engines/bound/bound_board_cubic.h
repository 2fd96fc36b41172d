/* A bit board for the cubic lattice: 8 x 8 x 8 sites on a torus, one register of 512 bits; the same functions as
 * bound_board_square.h, which says why a torus is right as long as what was placed is narrower. */
#ifndef SF_CORE_BOUND_BOARD_CUBIC_H
#define SF_CORE_BOUND_BOARD_CUBIC_H

#pragma GCC diagnostic ignored "-Wpsabi" /* boards never cross a file */

#include <stdbool.h>
#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "core/engines/bound/bound_kernel.h"

enum { AXES = 3, STEPS = 6, INNER = 4, BOARD_SPAN = 8 };

typedef uint64_t board __attribute__((vector_size(64))); /* word z, byte y, bit x */

static const bound_place board_step[STEPS] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};

#define EVEN_PLANE UINT64_C(0xaa55aa55aa55aa55)
static const board board_even = {EVEN_PLANE, ~EVEN_PLANE, EVEN_PLANE, ~EVEN_PLANE,
                                 EVEN_PLANE, ~EVEN_PLANE, EVEN_PLANE, ~EVEN_PLANE};
#undef EVEN_PLANE

static inline board board_none(void)
{
    return (board){0};
}

static inline uint64_t plane_bit(bound_place p)
{
    return UINT64_C(1) << ((p.x & 7) | (p.y & 7) << 3);
}

static inline board board_site(bound_place p)
{
    const board planes = {0, 1, 2, 3, 4, 5, 6, 7};
    return (board)(planes == (board_none() + (uint64_t)(p.z & 7))) & (board_none() + plane_bit(p));
}

static inline bool board_has(const board *b, bound_place p)
{
    return ((*b)[p.z & 7] & plane_bit(p)) != 0;
}

static inline bool board_any(board b)
{
#ifdef __AVX512F__
    return _mm512_test_epi64_mask((__m512i)b, (__m512i)b) != 0;
#else
    return (b[0] | b[1] | b[2] | b[3] | b[4] | b[5] | b[6] | b[7]) != 0;
#endif
}

static inline bool board_meet(board a, board b)
{
#ifdef __AVX512F__
    return _mm512_test_epi64_mask((__m512i)a, (__m512i)b) != 0;
#else
    return board_any(a & b);
#endif
}

static inline int board_count(board b)
{
#ifdef __AVX512VPOPCNTDQ__
    return (int)_mm512_reduce_add_epi64(_mm512_popcnt_epi64((__m512i)b));
#else
    int n = 0;
    for (int z = 0; z < 8; z++)
        n += __builtin_popcountll(b[z]);
    return n;
#endif
}

/* The sum of their counts. */
static inline int board_count_two(board a, board b)
{
#ifdef __AVX512VPOPCNTDQ__
    return (int)_mm512_reduce_add_epi64(
        _mm512_add_epi64(_mm512_popcnt_epi64((__m512i)a), _mm512_popcnt_epi64((__m512i)b)));
#else
    return board_count(a) + board_count(b);
#endif
}

/* Sites with x below k, k in 1..7, and the others. */
static inline uint64_t low_x(int k)
{
    return UINT64_C(0x0101010101010101) * ((1u << k) - 1);
}

/* Moves all sites k steps forwards along an axis, k in 1..7. k is a constant. */
static inline board board_forward(board b, int axis, int k)
{
    if (axis == 0)
        return ((b << k) & ~low_x(k)) | ((b >> (8 - k)) & low_x(k));
    if (axis == 1)
        return (b << (8 * k)) | (b >> (64 - 8 * k));
    switch (k) {
    case 1:
        return __builtin_shufflevector(b, b, 7, 0, 1, 2, 3, 4, 5, 6);
    case 2:
        return __builtin_shufflevector(b, b, 6, 7, 0, 1, 2, 3, 4, 5);
    case 4:
        return __builtin_shufflevector(b, b, 4, 5, 6, 7, 0, 1, 2, 3);
    case 6:
        return __builtin_shufflevector(b, b, 2, 3, 4, 5, 6, 7, 0, 1);
    default:
        return __builtin_shufflevector(b, b, 1, 2, 3, 4, 5, 6, 7, 0);
    }
}

static inline board board_backward(board b, int axis, int k)
{
    return board_forward(b, axis, 8 - k);
}

static inline board board_neighbours(board b)
{
    return board_forward(b, 0, 1) | board_backward(b, 0, 1) | board_forward(b, 1, 1) | board_backward(b, 1, 1) |
           board_forward(b, 2, 1) | board_backward(b, 2, 1);
}

/* layer[k] = sites with at least k neighbours in b, k in 1..STEPS: two full adders, then their sum. */
static inline void board_layers(board b, board layer[STEPS + 1])
{
    const board u = board_forward(b, 0, 1), v = board_backward(b, 0, 1), w = board_forward(b, 1, 1);
    const board x = board_backward(b, 1, 1), y = board_forward(b, 2, 1), z = board_backward(b, 2, 1);
    const board sum_uvw = u ^ v ^ w, carry_uvw = (u & v) | (w & (u ^ v));
    const board sum_xyz = x ^ y ^ z, carry_xyz = (x & y) | (z & (x ^ y));
    const board ones = sum_uvw ^ sum_xyz, carry = sum_uvw & sum_xyz;
    const board twos = carry_uvw ^ carry_xyz ^ carry,
                fours = (carry_uvw & carry_xyz) | (carry & (carry_uvw ^ carry_xyz));
    layer[1] = ones | twos | fours;
    layer[2] = twos | fours;
    layer[3] = (twos & ones) | fours;
    layer[4] = fours;
    layer[5] = fours & (ones | twos);
    layer[6] = fours & twos;
}

static inline board board_two_neighbours(board b)
{
    const board u = board_forward(b, 0, 1), v = board_backward(b, 0, 1), w = board_forward(b, 1, 1);
    const board x = board_backward(b, 1, 1), y = board_forward(b, 2, 1), z = board_backward(b, 2, 1);
    return (u & v) | (w & (u | v)) | (x & y) | (z & (x | y)) | ((u | v | w) & (x | y | z));
}

/* All sites of the lines along an axis that hold a site of b. */
static inline board board_lines(board b, int axis)
{
    b |= board_forward(b, axis, 4);
    b |= board_forward(b, axis, 2);
    return b | board_forward(b, axis, 1);
}

static inline board board_plane(int axis, int coordinate)
{
    const int k = coordinate & 7;
    if (axis == 0)
        return board_none() + (UINT64_C(0x0101010101010101) << k);
    if (axis == 1)
        return board_none() + (UINT64_C(0xff) << (8 * k));
    const board planes = {0, 1, 2, 3, 4, 5, 6, 7};
    return (board)(planes == (board_none() + (uint64_t)k));
}

/* How many lines along an axis hold a site of b. */
static inline int board_count_lines(board b, int axis)
{
    return board_count(board_lines(b, axis) & board_plane(axis, 0));
}

#endif

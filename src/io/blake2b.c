/* BLAKE2b after RFC 7693, section 3, in plain C: no shortcuts but a block kept back, since the last is special. */
#include "io/blake2b.h"

#include <string.h>

static const uint64_t start_value[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b),
    UINT64_C(0xa54ff53a5f1d36f1), UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

/* The order of message words in each round (RFC 7693, 2.7); rounds 10 and 11 repeat 0 and 1. */
static const uint8_t sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static uint64_t rotate(uint64_t x, int n)
{
    return (x >> n) | (x << (64 - n));
}

static uint64_t load(const uint8_t *bytes)
{
    uint64_t x = 0;
    for (int k = 7; k >= 0; k--)
        x = (x << 8) | bytes[k];
    return x;
}

static void mix(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x, uint64_t y)
{
    *a += *b + x;
    *d = rotate(*d ^ *a, 32);
    *c += *d;
    *b = rotate(*b ^ *c, 24);
    *a += *b + y;
    *d = rotate(*d ^ *a, 16);
    *c += *d;
    *b = rotate(*b ^ *c, 63);
}

static void compress(sf_blake2b *state, int last)
{
    uint64_t v[16], m[16];
    for (int k = 0; k < 16; k++)
        m[k] = load(state->block + 8 * k);
    memcpy(v, state->h, sizeof state->h);
    memcpy(v + 8, start_value, sizeof start_value);
    v[12] ^= state->n_bytes;
    if (last)
        v[14] = ~v[14];
    for (int round = 0; round < 12; round++) {
        const uint8_t *s = sigma[round % 10];
        mix(&v[0], &v[4], &v[8], &v[12], m[s[0]], m[s[1]]);
        mix(&v[1], &v[5], &v[9], &v[13], m[s[2]], m[s[3]]);
        mix(&v[2], &v[6], &v[10], &v[14], m[s[4]], m[s[5]]);
        mix(&v[3], &v[7], &v[11], &v[15], m[s[6]], m[s[7]]);
        mix(&v[0], &v[5], &v[10], &v[15], m[s[8]], m[s[9]]);
        mix(&v[1], &v[6], &v[11], &v[12], m[s[10]], m[s[11]]);
        mix(&v[2], &v[7], &v[8], &v[13], m[s[12]], m[s[13]]);
        mix(&v[3], &v[4], &v[9], &v[14], m[s[14]], m[s[15]]);
    }
    for (int k = 0; k < 8; k++)
        state->h[k] ^= v[k] ^ v[k + 8];
}

void sf_blake2b_init(sf_blake2b *state, size_t size)
{
    memset(state, 0, sizeof *state);
    state->size = size;
    memcpy(state->h, start_value, sizeof state->h);
    state->h[0] ^= UINT64_C(0x01010000) ^ size;
}

void sf_blake2b_add(sf_blake2b *state, const void *bytes_, size_t n)
{
    const uint8_t *bytes = bytes_;
    while (n > 0) {
        if (state->n_block == sizeof state->block) { /* a full block is kept until more follows: the last is special */
            state->n_bytes += sizeof state->block;
            compress(state, 0);
            state->n_block = 0;
        }
        size_t room = sizeof state->block - state->n_block, take = n < room ? n : room;
        memcpy(state->block + state->n_block, bytes, take);
        state->n_block += take;
        bytes += take;
        n -= take;
    }
}

void sf_blake2b_end(sf_blake2b *state, uint8_t *hash)
{
    state->n_bytes += state->n_block;
    memset(state->block + state->n_block, 0, sizeof state->block - state->n_block);
    compress(state, 1);
    for (size_t k = 0; k < state->size; k++)
        hash[k] = (uint8_t)(state->h[k / 8] >> (8 * (k % 8)));
}

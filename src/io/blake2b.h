/* BLAKE2b (RFC 7693), unkeyed: a well-known hash that is fast in plain C. For seals and for `starfold digest`. */
#ifndef SF_IO_BLAKE2B_H
#define SF_IO_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

typedef struct sf_blake2b {
    uint64_t h[8];
    uint64_t n_bytes; /* taken in; fewer than 2^64 */
    uint8_t block[128];
    size_t n_block, size;
} sf_blake2b;

/* size: bytes of the hash, 1..64. */
void sf_blake2b_init(sf_blake2b *state, size_t size);
void sf_blake2b_add(sf_blake2b *state, const void *bytes, size_t n);
/* hash[size] */
void sf_blake2b_end(sf_blake2b *state, uint8_t *hash);

#endif

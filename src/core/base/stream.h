/* Random numbers as a pure function of where they are used: Random123's Threefry-4x64 (20 rounds; Salmon et al., SC11),
 * key = (seed, trial, island, purpose), counter = (generation, individual, block, 0). No state is shared, so the numbers
 * do not depend on layout or timing. */
#ifndef SF_CORE_BASE_STREAM_H
#define SF_CORE_BASE_STREAM_H

#include <stdint.h>

/* What a stream is for; the compiler numbers them. New purposes go to the end: the numbers are part of every result. */
typedef enum sf_purpose {
    SF_PURPOSE_INITIAL,
    SF_PURPOSE_PARENT,
    SF_PURPOSE_CROSSOVER,
    SF_PURPOSE_MUTATION,
    SF_PURPOSE_PROBE,
    SF_PURPOSE_COUNT
} sf_purpose;

typedef struct sf_stream {
    uint64_t key[4];
    uint64_t counter[4];
    uint64_t block[4]; /* numbers of the present counter */
    int used;          /* how many of them were taken, 4 = none left */
} sf_stream;

void sf_stream_init(sf_stream *stream, uint64_t seed, uint64_t trial, uint64_t island, uint64_t generation,
                    uint64_t individual, sf_purpose purpose);

/* The next 64 random bits. */
uint64_t sf_stream_next(sf_stream *stream);

/* Uniform in 0..n-1, n >= 1, by the high half of a 64 x 64 bit product (bias below n / 2^64). One number is used. */
uint64_t sf_stream_below(sf_stream *stream, uint64_t n);

#endif

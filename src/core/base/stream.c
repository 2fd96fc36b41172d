/* Counter-based random numbers. A generator with a state (one per rank, or per island) would be simpler, but its
 * numbers would depend on how many were drawn before, and so on layout and on where a run was resumed. Here the place
 * of use is the key: Threefry-4x64 with 20 rounds, from Random123 (Salmon, Moraes, Dror, Shaw, SC11). */
#include "core/base/stream.h"

#include <Random123/threefry.h>

void sf_stream_init(sf_stream *stream, uint64_t seed, uint64_t trial, uint64_t island, uint64_t generation,
                    uint64_t individual, sf_purpose purpose)
{
    *stream = (sf_stream){
        .key = {seed, trial, island, (uint64_t)purpose}, .counter = {generation, individual, 0, 0}, .used = 4};
}

static void next_block(sf_stream *stream)
{
    threefry4x64_ctr_t counter;
    threefry4x64_key_t key;
    for (int i = 0; i < 4; i++) {
        counter.v[i] = stream->counter[i];
        key.v[i] = stream->key[i];
    }
    threefry4x64_ctr_t block = threefry4x64(counter, key);
    for (int i = 0; i < 4; i++)
        stream->block[i] = block.v[i];
    stream->counter[2]++;
    stream->used = 0;
}

uint64_t sf_stream_next(sf_stream *stream)
{
    if (stream->used == 4)
        next_block(stream);
    return stream->block[stream->used++];
}

uint64_t sf_stream_below(sf_stream *stream, uint64_t n)
{
    __extension__ typedef unsigned __int128 uint128;
    return (uint64_t)(((uint128)sf_stream_next(stream) * n) >> 64);
}

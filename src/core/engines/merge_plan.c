/* The split of a chain for tail merging. Parts must be the same for every layout and machine, so nothing here looks at
 * a clock or at the processor. */
#include "core/engines/merge_plan.h"

enum { SQUARE_PIECE_STEPS = 10, CUBIC_PIECE_STEPS = 7 }; /* 5,513 and 1,832 pieces */

bool sf_merge_can(int dimension, int length)
{
    if (dimension == 2)
        return length >= SQUARE_LENGTH_MIN && length <= SQUARE_LENGTH_MAX;
    return dimension == 3 && length >= CUBIC_LENGTH_MIN && length <= CUBIC_LENGTH_MAX;
}

size_t sf_merge_parts(int dimension, int length)
{
    const int like_square = dimension == 2 ? length : length + (length + 1) / 2; /* as many seconds */
    return like_square < 20 ? 4 : like_square < 24 ? 16 : like_square < 26 ? 64 : like_square < 30 ? 256 : 1024;
}

void sf_merge_sizes(int dimension, int length, merge_sizes *sizes)
{
    *sizes = (merge_sizes){0};
    for (int r = 0; r <= MERGE_TAIL_MAX; r++) {
        if (dimension == 2) {
            sizes->entry_bytes[r] = sf_square_entry_bytes(r);
            sizes->log2_entries[r] = (r <= SQUARE_NARROW ? 15 : r <= SQUARE_MEDIUM ? 14 : 13) - (length < 22 ? 3 : 0);
        } else {
            sizes->entry_bytes[r] = sf_cubic_entry_bytes(r);
            sizes->log2_entries[r] = (r == 4 ? 13 : 12) - (length < 14 ? 2 : 0);
        }
    }
}

/* Copies the chain so that the end with fewer H within a tail's length becomes the tail. */
static void orient(int length, const uint8_t *h, int tail, uint8_t *chain)
{
    int front = 0, back = 0;
    for (int k = 0; k < tail; k++) {
        front += h[k];
        back += h[length - 1 - k];
    }
    for (int k = 0; k < length; k++)
        chain[k] = front < back ? h[length - 1 - k] : h[k];
}

void sf_merge_square_plan(int length, const uint8_t *h, square_job *job)
{
    uint8_t chain[SQUARE_LENGTH_MAX];
    int tail = (length * 37 + 50) / 100;
    tail = tail > SQUARE_TAIL_MAX ? SQUARE_TAIL_MAX : tail < SQUARE_TAIL_MIN ? SQUARE_TAIL_MIN : tail;
    orient(length, h, tail, chain);
    sf_square_job_init(job, length, chain, tail, SQUARE_PIECE_STEPS);
}

void sf_merge_cubic_plan(const cubic_geometry *geometry, int length, const uint8_t *h, cubic_job *job)
{
    uint8_t chain[CUBIC_LENGTH_MAX];
    const int tail = length < 12 ? 4 : length < 19 ? 5 : 6;
    const int collected = length - tail - 4; /* steps but for those whose prefixes are collected */
    orient(length, h, tail, chain);
    sf_cubic_job_init(job, geometry, length, chain, tail,
                      collected > CUBIC_PIECE_STEPS ? CUBIC_PIECE_STEPS
                      : collected < 1               ? 1
                                                    : collected);
}

double sf_merge_seconds(int dimension, int length, sf_isa isa)
{
    const double growth = dimension == 2 ? 2.35 : 4.2;
    const double slower = isa == SF_ISA_AVX512 ? 1 : dimension == 2 ? (isa == SF_ISA_AVX2 ? 2.2 : 5) : 10;
    const int measured = dimension == 2 ? 28 : 18;
    double seconds = (dimension == 2 ? 4.5 : 0.6) * slower;
    for (int n = measured; n < length; n++)
        seconds *= growth;
    for (int n = measured; n > length; n--)
        seconds /= growth;
    return seconds + 1e-4;
}

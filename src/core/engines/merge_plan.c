/* The split of a chain for tail merging. Parts must be the same for every layout and machine, so nothing here looks at
 * a clock or at the processor. */
#include "core/engines/merge_plan.h"

enum { PIECE_STEPS = 10 }; /* 5,513 pieces */

size_t sf_merge_square_parts(int length)
{
    return length < 20 ? 4 : length < 24 ? 16 : length < 26 ? 64 : length < 30 ? 256 : 1024;
}

size_t sf_merge_square_tables(int length, int log2_entries[SQUARE_TAIL_MAX + 1])
{
    size_t bytes = 0;
    for (int r = 0; r <= SQUARE_TAIL_MAX; r++) {
        log2_entries[r] = r <= SQUARE_NARROW ? 15 : r <= SQUARE_MEDIUM ? 14 : 13;
        if (length < 22)
            log2_entries[r] -= 3;
        if (r > SQUARE_DIRECT)
            bytes += square_entry_bytes(r) << log2_entries[r];
    }
    return bytes + ((size_t)1 << 22); /* rounded to huge pages */
}

void sf_merge_square_plan(int length, const uint8_t *h, square_job *job)
{
    uint8_t chain[SQUARE_LENGTH_MAX];
    int tail = (length * 37 + 50) / 100;
    tail = tail > SQUARE_TAIL_MAX ? SQUARE_TAIL_MAX : tail < SQUARE_TAIL_MIN ? SQUARE_TAIL_MIN : tail;
    int front = 0, back = 0; /* H within a tail's length of each end */
    for (int k = 0; k < tail; k++) {
        front += h[k];
        back += h[length - 1 - k];
    }
    for (int k = 0; k < length; k++)
        chain[k] = front < back ? h[length - 1 - k] : h[k];
    sf_square_job_init(job, length, chain, tail, PIECE_STEPS);
}

double sf_merge_square_seconds(int length, sf_isa isa)
{
    const double slower = isa == SF_ISA_AVX512 ? 1 : isa == SF_ISA_AVX2 ? 2.2 : 5;
    double seconds = 4.5 * slower; /* of 28 residues */
    for (int n = 28; n < length; n++)
        seconds *= 2.35;
    for (int n = 28; n > length; n--)
        seconds /= 2.35;
    return seconds + 1e-4;
}

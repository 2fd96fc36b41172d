/* The split of a chain for tail merging. Parts must be the same for every layout and machine, so nothing here looks at
 * a clock or at the processor. */
#include "core/engines/merge/merge_plan.h"

enum {
    SQUARE_PIECE_STEPS = 10, /* 5,513 pieces; of chains from SQUARE_FINE on two more, 40,617 */
    CUBIC_PIECE_STEPS = 7,   /* 1,832; from CUBIC_FINE on one more, 8,453 */
    SQUARE_FINE = 37,
    CUBIC_FINE = 24,
    SAMPLES = 3,         /* pieces that a split is tried on */
    SQUARE_SAMPLED = 23, /* shorter chains are done before a sample would tell anything */
    CUBIC_SAMPLED = 16
};

bool sf_merge_can(int dimension, int length)
{
    if (dimension == 2)
        return length >= SQUARE_LENGTH_MIN && length <= SQUARE_LENGTH_MAX;
    return dimension == 3 && length >= CUBIC_LENGTH_MIN && length <= CUBIC_LENGTH_MAX;
}

size_t sf_merge_parts(int dimension, int length)
{
    const int like_square = dimension == 2 ? length : length + (length + 1) / 2; /* as many seconds */
    return like_square < 20   ? 4
           : like_square < 24 ? 16
           : like_square < 26 ? 64
           : like_square < 32 ? 256
           : like_square < 34 ? 512
           : like_square < 37 ? 1024
           : like_square < 39 ? 4096
                              : 8192;
}

void sf_merge_sizes(int dimension, int length, merge_sizes *sizes)
{
    *sizes = (merge_sizes){0};
    for (int r = 0; r <= MERGE_TAIL_MAX; r++) {
        if (dimension == 2) {
            sizes->entry_bytes[r] = sf_square_entry_bytes(r);
            sizes->log2_entries[r] = (r <= SQUARE_NARROW   ? 15
                                      : r <= SQUARE_MEDIUM ? 14
                                                           : 13) +
                                     (length < 22    ? -3
                                      : length >= 28 ? 1
                                                     : 0);
        } else {
            sizes->entry_bytes[r] = sf_cubic_entry_bytes(r);
            sizes->log2_entries[r] = 12 - (length < 14 ? 2 : 0);
        }
    }
}

/* ---- one split ---- */

static void orient(int length, const uint8_t *h, bool reversed, uint8_t *chain)
{
    for (int k = 0; k < length; k++)
        chain[k] = reversed ? h[length - 1 - k] : h[k];
}

void sf_merge_square_prepare(int length, const uint8_t *h, merge_split split, square_job *job)
{
    uint8_t chain[SQUARE_LENGTH_MAX];
    orient(length, h, split.reversed, chain);
    const int steps = SQUARE_PIECE_STEPS + (length >= SQUARE_FINE ? 2 : 0);
    sf_square_job_init(job, length, chain, split.tail, steps);
}

void sf_merge_cubic_prepare(const cubic_geometry *geometry, int length, const uint8_t *h, merge_split split,
                            cubic_job *job)
{
    uint8_t chain[CUBIC_LENGTH_MAX];
    int steps = length - split.tail - 4; /* but for those whose prefixes are collected */
    const int most = CUBIC_PIECE_STEPS + (length >= CUBIC_FINE);
    steps = steps > most ? most : steps < 1 ? 1 : steps;
    orient(length, h, split.reversed, chain);
    sf_cubic_job_init(job, geometry, length, chain, split.tail, steps);
}

/* ---- the choice ---- */

/* About how many nanoseconds each takes: a prefix, a look-up of r residues, and a miss of the shortest tails, which are
 * then counted. Other misses are paid for by the look-ups they lead to. */
typedef struct merge_weights {
    uint64_t leaf, look_up[MERGE_TAIL_MAX + 1], shortest_miss;
    int shortest;
} merge_weights;

static const merge_weights square_weights = {
    .leaf = 80,
    .look_up = {[6] = 41, [7] = 64, [8] = 66, [9] = 75, [10] = 75, [11] = 80, [12] = 80, [13] = 80, [14] = 80},
    .shortest_miss = 126,
    .shortest = SQUARE_DIRECT + 1,
};

static const merge_weights cubic_weights = {
    .leaf = 85,
    .look_up = {[5] = 45, [6] = 55},
    .shortest_miss = 72,
    .shortest = CUBIC_TAIL_MIN,
};

static uint64_t cost(const merge_stats *stats, const merge_weights *weights)
{
    uint64_t sum = stats->leaves * weights->leaf + stats->misses[weights->shortest] * weights->shortest_miss;
    for (int r = weights->shortest; r <= MERGE_TAIL_MAX; r++)
        sum += stats->look_ups[r] * weights->look_up[r];
    return sum;
}

/* Tails to try: the usual one for the length, and its neighbours. */
typedef struct tail_range {
    int first, last;
} tail_range;

static tail_range square_tails(int length)
{
    const int usual = (length * 36 + 50) / 100;
    tail_range range = {.first = usual - 1, .last = usual + 1};
    range.first = range.first < SQUARE_TAIL_MIN ? SQUARE_TAIL_MIN : range.first;
    range.last = range.last > SQUARE_TAIL_MAX ? SQUARE_TAIL_MAX : range.last;
    range.last = range.last < range.first ? range.first : range.last;
    return range;
}

static tail_range cubic_tails(int length)
{
    return (tail_range){.first = 5, .last = length < 17 ? 5 : 6};
}

/* Both ends, all tails of a range; *n is how many. */
static void candidates(tail_range range, merge_split split[2 * MERGE_TAIL_MAX], int *n)
{
    *n = 0;
    for (int tail = range.first; tail <= range.last; tail++) {
        split[(*n)++] = (merge_split){.reversed = false, .tail = tail};
        split[(*n)++] = (merge_split){.reversed = true, .tail = tail};
    }
}

/* Without a sample: the end with fewer H is the tail. */
static merge_split plain_split(int length, const uint8_t *h, tail_range range)
{
    const int tail = (range.first + range.last) / 2;
    int front = 0, back = 0;
    for (int k = 0; k < tail; k++) {
        front += h[k];
        back += h[length - 1 - k];
    }
    return (merge_split){.reversed = front < back, .tail = tail};
}

static void take_if_cheaper(merge_workspace *workspace, const merge_weights *weights, merge_split candidate,
                            uint64_t *least, merge_split *split)
{
    const uint64_t candidate_cost = cost(&workspace->stats, weights);
    if (candidate_cost >= *least)
        return;
    *least = candidate_cost;
    *split = candidate;
}

int sf_merge_square_split(int length, const uint8_t *h, square_count *count, merge_workspace *workspace,
                          const volatile int *stop, merge_split *split, sf_error *err)
{
    merge_split candidate[2 * MERGE_TAIL_MAX];
    uint64_t least = UINT64_MAX;
    int n, status = SF_OK;
    candidates(square_tails(length), candidate, &n);
    *split = plain_split(length, h, square_tails(length));
    for (int i = 0; i < n && length >= SQUARE_SAMPLED && status == SF_OK; i++) {
        square_job job;
        uint64_t contacts[CUBIC_CONTACTS] = {0};
        sf_merge_square_prepare(length, h, candidate[i], &job);
        sf_merge_workspace_renew(workspace);
        workspace->stats = (merge_stats){0};
        for (size_t s = 0; s < SAMPLES && status == SF_OK; s++) {
            const size_t piece = job.n_pieces * (2 * s + 1) / (2 * SAMPLES);
            status = count(&job, workspace, piece, piece + 1, stop, contacts, err);
        }
        take_if_cheaper(workspace, &square_weights, candidate[i], &least, split);
    }
    return status;
}

int sf_merge_cubic_split(const cubic_geometry *geometry, int length, const uint8_t *h, cubic_count *count,
                         merge_workspace *workspace, const volatile int *stop, merge_split *split, sf_error *err)
{
    merge_split candidate[2 * MERGE_TAIL_MAX];
    uint64_t least = UINT64_MAX;
    int n, status = SF_OK;
    candidates(cubic_tails(length), candidate, &n);
    *split = plain_split(length, h, cubic_tails(length));
    for (int i = 0; i < n && length >= CUBIC_SAMPLED && status == SF_OK; i++) {
        cubic_job job;
        uint64_t contacts[CUBIC_CONTACTS] = {0};
        sf_merge_cubic_prepare(geometry, length, h, candidate[i], &job);
        sf_merge_workspace_renew(workspace);
        workspace->stats = (merge_stats){0};
        for (size_t s = 0; s < SAMPLES && status == SF_OK; s++) {
            const size_t piece = job.n_pieces * (2 * s + 1) / (2 * SAMPLES);
            status = count(&job, workspace, piece, piece + 1, stop, contacts, err);
        }
        take_if_cheaper(workspace, &cubic_weights, candidate[i], &least, split);
    }
    return status;
}

/* ---- the price ---- */

/* Seconds that grow by a factor a residue from a measured length. */
static double grown(double seconds, double growth, int measured, int length)
{
    for (int n = measured; n < length; n++)
        seconds *= growth;
    for (int n = measured; n > length; n--)
        seconds /= growth;
    return seconds + 1e-4;
}

double sf_merge_seconds(int dimension, int length, sf_isa isa)
{
    if (dimension == 2)
        return isa == SF_ISA_PORTABLE ? grown(22, 2.2, 28, length)
                                      : grown(isa == SF_ISA_AVX512 ? 4.5 : 10, 2.3, 28, length);
    return grown(isa == SF_ISA_AVX512 ? 0.46 : isa == SF_ISA_AVX2 ? 2.4 : 4.7, 4.2, 18, length);
}

double sf_merge_any_seconds(int dimension, int length)
{
    return dimension == 2 ? grown(2, 2.4, 24, length) : grown(0.8, 4.4, 16, length);
}

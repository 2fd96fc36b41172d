/* The stream against Random123's published known answers for threefry4x64, 20 rounds (file kat_vectors), and its use.
 */
#include "core/base/stream.h"

#include <math.h>
#include <string.h>

#include "test_main.h"

static void test_known_answers(void)
{
    static const struct {
        uint64_t counter[4], key[4], answer[4];
    } known[] = {
        {{0}, {0}, {0x09218ebde6c85537, 0x55941f5266d86105, 0x4bd25e16282434dc, 0xee29ec846bd2e40b}},
        {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
         {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
         {0x29c24097942bba1b, 0x0371bbfb0f6f4e11, 0x3c231ffa33f83a1c, 0xcd29113fde32d168}},
        {{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
         {0x452821e638d01377, 0xbe5466cf34e90c6c, 0xbe5466cf34e90c6c, 0xc0ac29b7c97c50dd},
         {0xa7e8fde591651bd9, 0xbaafd0c30138319b, 0x84a5c1a729e685b9, 0x901d406ccebc1ba4}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sf_stream stream = {.used = 4};
        memcpy(stream.counter, known[i].counter, sizeof stream.counter);
        memcpy(stream.key, known[i].key, sizeof stream.key);
        for (int j = 0; j < 4; j++)
            CU_ASSERT_EQUAL(sf_stream_next(&stream), known[i].answer[j]);
    }
}

/* Every part of the key, and each number of the stream, gives other bits; the same key gives the same ones. */
static void test_every_part_counts(void)
{
    static const uint64_t keys[][6] = {{0, 0, 0, 0, 0, SF_PURPOSE_INITIAL},
                                       {1, 0, 0, 0, 0, 0},
                                       {0, 1, 0, 0, 0, 0},
                                       {0, 0, 1, 0, 0, 0},
                                       {0, 0, 0, 1, 0, 0},
                                       {0, 0, 0, 0, 1, 0},
                                       {0, 0, 0, 0, 0, SF_PURPOSE_MUTATION}};
    enum { N_KEYS = sizeof keys / sizeof keys[0], N = 20 };
    uint64_t numbers[N_KEYS * N];
    for (size_t k = 0; k < N_KEYS; k++) {
        for (int repeat = 0; repeat < 2; repeat++) {
            sf_stream stream;
            sf_stream_init(&stream, keys[k][0], keys[k][1], keys[k][2], keys[k][3], keys[k][4], (sf_purpose)keys[k][5]);
            for (size_t i = 0; i < N; i++) {
                uint64_t number = sf_stream_next(&stream);
                if (repeat)
                    CU_ASSERT_EQUAL(number, numbers[k * N + i]);
                numbers[k * N + i] = number;
            }
        }
    }
    for (size_t i = 0; i < N_KEYS * N; i++) {
        for (size_t j = 0; j < i; j++)
            CU_ASSERT_NOT_EQUAL(numbers[i], numbers[j]);
    }
}

/* Uniform below n: each value within five standard deviations, none beyond. */
static void test_below(void)
{
    static const uint64_t bounds[] = {1, 2, 3, 7, 15};
    enum { DRAWS = 100000 };
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        const uint64_t n = bounds[b];
        uint64_t count[16] = {0};
        sf_stream stream;
        sf_stream_init(&stream, test_seed(), 0, 0, 0, b, SF_PURPOSE_PARENT);
        for (int i = 0; i < DRAWS; i++) {
            uint64_t x = sf_stream_below(&stream, n);
            CU_ASSERT_FATAL(x < n);
            count[x]++;
        }
        const double p = 1.0 / (double)n, sigma = sqrt(DRAWS * p * (1 - p));
        for (uint64_t x = 0; x < n; x++)
            CU_ASSERT(fabs((double)count[x] - DRAWS * p) <= 5 * sigma);
    }
}

const test_case test_cases[] = {{"published known answers", test_known_answers},
                                {"every part of the key counts", test_every_part_counts},
                                {"uniform below n", test_below},
                                {NULL, NULL}};

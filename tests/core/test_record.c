/* The record: damaged packets are refused and change nothing, packets that contradict or skip are refused, the log
 * keeps one entry a migrant and sorts. (What it holds after good packets is tested with the archipelago.) */
#include "core/search/record.h"

#include "core/search/archipelago.h"
#include "core/search/packet.h"
#include <stdlib.h>
#include <string.h>

#include "test_main.h"

enum { LENGTH = 8 };

static sf_search_config small_config(void)
{
    sf_search_config c;
    sf_search_config_init(&c);
    c.population = 4;
    c.generations = 6;
    c.islands = 3;
    c.migration_interval = 2;
    c.keep_populations = 1;
    return c;
}

/* A packet of islands [first, last) over generations 0 .. n - 1. */
static uint8_t *make_packet(const sf_search_config *config, int64_t first, int64_t last, int n, size_t *n_bytes)
{
    sf_puzzle puzzle;
    sf_archipelago *a;
    sf_error err;
    uint8_t *packet;
    const sf_archipelago_options options = {.first_island = first, .last_island = last, .n_threads = 1};
    CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_onemax(&puzzle, LENGTH, &err), SF_OK);
    CU_ASSERT_EQUAL_FATAL(sf_archipelago_open(&a, &puzzle, config, &options, NULL, &err), SF_OK);
    for (int g = 0; g < n; g++) {
        CU_ASSERT_EQUAL_FATAL(sf_archipelago_step(a, &err), SF_OK);
        CU_ASSERT_EQUAL_FATAL(sf_archipelago_immigrate(a, &err), SF_OK);
    }
    CU_ASSERT_EQUAL_FATAL(sf_archipelago_pack(a, true, n_bytes, &packet, &err), SF_OK);
    sf_archipelago_close(a);
    sf_puzzle_close(&puzzle);
    return packet;
}

static void test_ranges(void)
{
    const sf_search_config config = small_config();
    sf_record record;
    sf_error err;
    size_t n_bytes[2];
    uint8_t *packet[2] = {make_packet(&config, 0, 2, 3, &n_bytes[0]), make_packet(&config, 2, 3, 3, &n_bytes[1])};
    CU_ASSERT_EQUAL_FATAL(sf_record_init(&record, &config, LENGTH, LENGTH + 1, &err), SF_OK);
    CU_ASSERT_EQUAL(record.generation, -1);
    CU_ASSERT_EQUAL(sf_record_take(&record, n_bytes[1], packet[1], &err), SF_OK);
    CU_ASSERT_EQUAL(record.generation, -1); /* two islands are missing */
    CU_ASSERT_EQUAL(sf_record_take(&record, n_bytes[0], packet[0], &err), SF_OK);
    CU_ASSERT_EQUAL(record.generation, 2);
    CU_ASSERT_EQUAL(record.n_migrants, 3);
    CU_ASSERT(sf_record_best_fitness(&record) > 1);

    /* generations 4.. without 3 */
    sf_packet_header header;
    memcpy(&header, packet[1], sizeof header);
    header.first_generation += 4;
    header.last_generation += 4;
    memcpy(packet[1], &header, sizeof header);
    CU_ASSERT_EQUAL(sf_record_take(&record, n_bytes[1], packet[1], &err), SF_EFORMAT);
    sf_record_free(&record);
    free(packet[0]);
    free(packet[1]);
}

/* Every prefix, and every header field set to something else, is refused; nothing changes; sanitizers watch. */
static void test_damaged(void)
{
    const sf_search_config config = small_config();
    sf_record record;
    sf_error err;
    size_t n_bytes;
    uint8_t *packet = make_packet(&config, 0, 3, 3, &n_bytes);
    CU_ASSERT_EQUAL_FATAL(sf_record_init(&record, &config, LENGTH, LENGTH + 1, &err), SF_OK);
    for (size_t n = 0; n < n_bytes; n++) {
        uint8_t *cut = malloc(n + 1);
        memcpy(cut, packet, n);
        CU_ASSERT_EQUAL(sf_record_take(&record, n, cut, &err), SF_EFORMAT);
        free(cut);
    }
    uint8_t *longer = calloc(1, n_bytes + 1);
    memcpy(longer, packet, n_bytes);
    CU_ASSERT_EQUAL(sf_record_take(&record, n_bytes + 1, longer, &err), SF_EFORMAT);
    free(longer);
    static const int64_t bad[] = {-1, INT64_MIN, INT64_MAX, 7, 1000, INT64_C(1) << 40, INT64_C(1) << 62};
    for (size_t field = 0; field < sizeof(sf_packet_header) / sizeof(int64_t); field++) {
        for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++) {
            uint8_t *changed = malloc(n_bytes);
            memcpy(changed, packet, n_bytes);
            memcpy(changed + field * sizeof(int64_t), &bad[b], sizeof(int64_t));
            CU_ASSERT_EQUAL(sf_record_take(&record, n_bytes, changed, &err), SF_EFORMAT);
            free(changed);
        }
    }
    CU_ASSERT(record.generation == -1 && record.known.n == 0 && record.n_migrants == 0);
    CU_ASSERT_EQUAL(sf_record_take(&record, n_bytes, packet, &err), SF_OK);
    CU_ASSERT_EQUAL(record.generation, 2);

    /* flipped bytes behind the header: refused or taken, never a crash */
    uint64_t state = test_seed();
    for (int i = 0; i < 2000; i++) {
        uint8_t *changed = malloc(n_bytes);
        memcpy(changed, packet, n_bytes);
        size_t body = n_bytes - sizeof(sf_packet_header);
        changed[sizeof(sf_packet_header) + test_random(&state) % body] ^= (uint8_t)(1 + test_random(&state) % 255);
        (void)!sf_record_take(&record, n_bytes, changed, &err);
        free(changed);
    }
    free(packet);
    sf_record_free(&record);
}

static void test_contradiction(void)
{
    sf_search_config config = small_config();
    config.keep_populations = 0;
    sf_record record;
    sf_error err;
    size_t n_bytes;
    uint8_t *packet = make_packet(&config, 0, 3, 1, &n_bytes);
    sf_packet_header header;
    sf_packet_layout layout;
    memcpy(&header, packet, sizeof header);
    CU_ASSERT_EQUAL_FATAL(sf_packet_layout_of(&header, &layout), SF_OK);
    CU_ASSERT_EQUAL_FATAL(sf_record_init(&record, &config, LENGTH, LENGTH + 1, &err), SF_OK);
    CU_ASSERT_EQUAL(sf_record_take(&record, n_bytes, packet, &err), SF_OK);
    packet[layout.known + LENGTH]++; /* a count of the first known genome */
    CU_ASSERT_EQUAL(sf_record_take(&record, n_bytes, packet, &err), SF_ECHECK);
    free(packet);
    sf_record_free(&record);
}

static void test_log(void)
{
    sf_search_config config = small_config();
    config.trials = 3;
    config.migrants = 3;
    sf_record record;
    sf_error err;
    CU_ASSERT_EQUAL_FATAL(sf_record_init(&record, &config, LENGTH, LENGTH + 1, &err), SF_OK);
    enum { N = 3 * 3 * 3 * 3 };
    uint64_t state = test_seed();
    for (int round = 0; round < 5 * N; round++) {
        const int key = round < N ? (round * 31 + 7) % N : (int)(test_random(&state) % N);
        const sf_migrant m = {.trial = key / 27,
                              .sent = 2 + 2 * (key / 9 % 3),
                              .taken = 4 + 2 * (key / 9 % 3),
                              .from = key / 3 % 3,
                              .to = (key / 3 + 1) % 3,
                              .index = key % 3,
                              .fate = round < N ? SF_MIGRANT_IN_FLIGHT : 1 + key % 2};
        uint8_t genome[LENGTH] = {(uint8_t)key};
        CU_ASSERT_EQUAL(sf_record_log_migrant(&record, &m, genome), SF_OK);
        if (round % 50 == 0)
            sf_record_sort(&record);
    }
    sf_record_sort(&record);
    CU_ASSERT_EQUAL_FATAL(record.n_migrants, N);
    for (int key = 0; key < N; key++) {
        const sf_migrant *m = &record.migrant[key];
        CU_ASSERT_EQUAL(record.migrant_genome[key * LENGTH], key);
        CU_ASSERT(m->trial == key / 27 && m->sent == 2 + 2 * (key / 9 % 3) && m->from == key / 3 % 3 &&
                  m->index == key % 3);
        CU_ASSERT(m->fate == SF_MIGRANT_IN_FLIGHT || m->fate == 1 + key % 2);
    }
    sf_record_free(&record);
}

static void test_too_large(void)
{
    sf_search_config config = small_config();
    config.population = 1000000;
    config.generations = 1000000000;
    config.trials = config.islands = 30000;
    sf_record record;
    sf_error err;
    CU_ASSERT_EQUAL(sf_record_init(&record, &config, LENGTH, LENGTH + 1, &err), SF_ENOMEM);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "--generations"));
    sf_record_free(&record);
}

const test_case test_cases[] = {{"packets of ranges of islands", test_ranges},  {"damaged packets", test_damaged},
                                {"contradicting packets", test_contradiction},  {"the migration log", test_log},
                                {"a record that does not fit", test_too_large}, {NULL, NULL}};

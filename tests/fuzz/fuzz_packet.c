/* Packets. The input is edits to good packets of a small search (offset, bytes), or, after 0xff, a packet as it is. A packet
 * that is refused changes nothing; a record that took what came can be packed, taken by another, and gone on from or
 * refused. */
#include <stdlib.h>
#include <string.h>

#include "core/search/archipelago.h"
#include "core/search/packet.h"
#include "fuzz.h"

enum { LENGTH = 6, N_PACKETS = 4, ISLANDS = 2, WHOLE = 0xff };

static sf_search_config config;
static sf_puzzle puzzle;
static uint8_t *good[N_PACKETS];
static size_t n_good[N_PACKETS];

/* Packets 0 and 1: each island's generations 0..2; 2 and 3: what both did in 3..4, without and with populations. */
static void make_packets(void)
{
    sf_error err = {0};
    sf_search_config_init(&config);
    config.population = 3;
    config.generations = 6;
    config.islands = ISLANDS;
    config.migration_interval = 2;
    config.keep_populations = 0;
    FUZZ_REQUIRE(sf_puzzle_open_onemax(&puzzle, LENGTH, &err) == 0);
    for (int k = 0; k < N_PACKETS; k++) {
        const bool later = k >= ISLANDS;
        const sf_archipelago_options options = {
            .first_island = later ? 0 : k, .last_island = later ? ISLANDS : k + 1, .n_threads = 1};
        sf_archipelago *a;
        FUZZ_REQUIRE(sf_archipelago_open(&a, &puzzle, &config, &options, NULL, &err) == 0);
        for (int g = 0; g < 3; g++) {
            int64_t to, from, sent;
            size_t n;
            const uint8_t *message;
            FUZZ_REQUIRE(sf_archipelago_step(a, &err) == 0);
            for (int64_t i = options.first_island; later && i < options.last_island; i++) {
                if (sf_archipelago_emigrants(a, i, &to, &n, &message))
                    FUZZ_REQUIRE(sf_archipelago_deliver(a, to, g, n, message, &err) == 0);
            }
            if (sf_archipelago_expects(a, 0, &from, &sent))
                break; /* the neighbour is not here */
            FUZZ_REQUIRE(sf_archipelago_immigrate(a, &err) == 0);
        }
        FUZZ_REQUIRE(sf_archipelago_pack(a, k != 2, &n_good[k], &good[k], &err) == 0);
        sf_archipelago_close(a);
    }
}

static void check_record(const sf_record *record)
{
    sf_record again;
    sf_archipelago *a = NULL;
    sf_error err = {0};
    size_t n;
    uint8_t *packet;
    if (record->generation < 0)
        return;
    FUZZ_REQUIRE(sf_record_pack(record, &n, &packet, &err) == 0);
    FUZZ_REQUIRE(sf_record_init(&again, &config, record->length, record->n_scores, &err) == 0);
    again.generation = record->generation - 1;
    FUZZ_REQUIRE(sf_record_take(&again, n, packet, &err) == 0);
    FUZZ_REQUIRE(again.generation == record->generation && again.known.n == record->known.n);
    const sf_archipelago_options options = {.first_island = 0, .last_island = ISLANDS, .n_threads = 1};
    int code = sf_archipelago_open(&a, &puzzle, &config, &options, &again, &err);
    fuzz_check_error(code, &err);
    if (code == 0 && record->generation < config.generations) {
        code = sf_archipelago_step(a, &err);
        fuzz_check_error(code, &err);
    }
    sf_archipelago_close(a);
    sf_record_free(&again);
    free(packet);
}

static void take(sf_record *record, size_t n, const uint8_t *packet)
{
    const int64_t generation = record->generation;
    const size_t n_known = record->known.n, n_migrants = record->n_migrants;
    sf_error err = {0};
    int code = sf_record_take(record, n, packet, &err);
    fuzz_check_error(code, &err);
    if (code)
        FUZZ_REQUIRE(record->generation == generation && record->known.n == n_known &&
                     record->n_migrants == n_migrants);
    FUZZ_REQUIRE(record->generation <= config.generations);
}

/* Edits: which packet, how many, then for each an offset, a length and the bytes; a packet may be cut short. */
static void take_edited(sf_record *record, fuzz_source *source)
{
    const unsigned k = fuzz_byte(source) % N_PACKETS;
    uint8_t *packet = malloc(n_good[k]);
    size_t n = n_good[k];
    FUZZ_REQUIRE(packet != NULL);
    memcpy(packet, good[k], n);
    for (unsigned edits = fuzz_byte(source) % 8; edits > 0; edits--) {
        size_t at = (size_t)fuzz_number(source, 2) % n;
        for (unsigned n_bytes = fuzz_byte(source) % 9; n_bytes > 0 && at < n; n_bytes--)
            packet[at++] = fuzz_byte(source);
    }
    unsigned cut = fuzz_byte(source);
    take(record, cut < n ? n - cut : n, packet);
    free(packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sf_record record;
    sf_error err = {0};
    fuzz_source source = {bytes, n};
    if (!good[0])
        make_packets();
    FUZZ_REQUIRE(sf_record_init(&record, &config, LENGTH, puzzle.n_scores, &err) == 0);
    if (n > 0 && bytes[0] == WHOLE)
        take(&record, n - 1, bytes + 1);
    else {
        for (int k = 0; k < 6 && source.n > 0; k++)
            take_edited(&record, &source);
    }
    sf_record_sort(&record);
    check_record(&record);
    sf_record_free(&record);
    return 0;
}

/* A small run file for the two targets of the reader; see fuzz_run.h. */
#include "fuzz_run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/search/archipelago.h"
#include "io/digest.h"

enum { LENGTH = 5, POPULATION = 4, ISLANDS = 2, GENERATIONS = 3, LEVELS = 2, SEAL_SIZE = 48 };

/* A finished search of two islands, with levels that fit its sequences. */
static void make_record(sf_record *record)
{
    sf_search_config config;
    sf_puzzle puzzle;
    sf_archipelago *a;
    sf_error err = {0};
    size_t n;
    uint8_t *packet;
    sf_search_config_init(&config);
    config.population = POPULATION;
    config.generations = GENERATIONS;
    config.islands = ISLANDS;
    config.migration_interval = 2;
    config.keep_populations = 1;
    FUZZ_REQUIRE(sf_puzzle_open_onemax(&puzzle, LENGTH, &err) == 0);
    const sf_archipelago_options options = {.last_island = ISLANDS, .n_threads = 1};
    FUZZ_REQUIRE(sf_archipelago_open(&a, &puzzle, &config, &options, NULL, &err) == 0);
    for (int64_t g = 0; g <= GENERATIONS; g++) {
        FUZZ_REQUIRE(sf_archipelago_step(a, &err) == 0);
        for (int64_t i = 0; i < ISLANDS; i++) {
            int64_t to;
            const uint8_t *message;
            if (sf_archipelago_emigrants(a, i, &to, &n, &message))
                FUZZ_REQUIRE(sf_archipelago_deliver(a, to, g, n, message, &err) == 0);
        }
        FUZZ_REQUIRE(sf_archipelago_immigrate(a, &err) == 0);
    }
    FUZZ_REQUIRE(sf_archipelago_pack(a, true, &n, &packet, &err) == 0);
    FUZZ_REQUIRE(sf_record_init(record, &config, LENGTH, puzzle.n_scores, &err) == 0);
    FUZZ_REQUIRE(sf_record_take(record, n, packet, &err) == 0);
    FUZZ_REQUIRE(record->generation == GENERATIONS);
    free(packet);
    sf_archipelago_close(a);
    sf_puzzle_close(&puzzle);
}

static void make_file(bool live, const char *path)
{
    static const sf_config_entry entries[] = {{"length", "5", "command line"}, {"seed", "1", "default"}};
    char solution[] = "RUL";
    const sf_level levels[LEVELS] = {
        {.row = 0, .has_stars = true, .stars = {1, 2, 3}, .solution = {solution, solution, solution}}, {.row = 1}};
    const sf_run_meta meta = {.n_config = 2,
                              .config = entries,
                              .state = live ? "running" : "finished",
                              .lattice = "square",
                              .letters = "01",
                              .witness_size = LENGTH,
                              .n_levels = LEVELS,
                              .levels = levels};
    sf_record record;
    sf_live_file *file;
    sf_error err = {0};
    make_record(&record);
    if (live) {
        sf_live_room = 1; /* the less there is, the faster */
        FUZZ_REQUIRE(sf_live_file_create(&file, path, &record, &meta, &err) == 0);
        sf_live_file_close(file);
    } else {
        FUZZ_REQUIRE(sf_run_file_write(path, &record, &meta, &err) == 0);
    }
    sf_record_free(&record);
}

const uint8_t *fuzz_run_bytes(bool live, size_t *n)
{
    static uint8_t *bytes[2];
    static size_t n_bytes[2];
    if (!bytes[live]) {
        const char *path = fuzz_path("good.h5");
        make_file(live, path);
        bytes[live] = fuzz_read(path, &n_bytes[live]);
        n_bytes[live] -= live ? 0 : SEAL_SIZE;
        unlink(path);
    }
    *n = n_bytes[live];
    return bytes[live];
}

static void check_text(const char *text)
{
    for (; *text; text++)
        FUZZ_REQUIRE((unsigned char)*text >= ' ' && *text != 0x7f);
}

/* What `info` shows must not be able to command a terminal. */
static void check_texts(const sf_run_data *data)
{
    for (size_t i = 0; i < data->meta.n_config; i++) {
        check_text(data->config[i].name);
        check_text(data->config[i].value);
        check_text(data->config[i].origin);
    }
    check_text(data->meta.lattice);
    check_text(data->meta.letters);
    check_text(data->program);
    check_text(data->version);
    check_text(data->revision);
}

void fuzz_read_run(const char *path, unsigned choice)
{
    char hex[SF_DIGEST_SIZE], again_hex[SF_DIGEST_SIZE];
    sf_run_data data, again;
    sf_error err = {0};
    /* A file of long ago: the reader waits for one that was written to just now to become whole. */
    FUZZ_REQUIRE(utimensat(AT_FDCWD, path, (const struct timespec[2]){{1, 0}, {1, 0}}, 0) == 0);
    int code = sf_run_file_read(&data, path, &err);
    fuzz_check_error(code, &err);
    if (choice & FUZZ_RUN_DIGEST)
        fuzz_check_error(sf_digest_file(path, hex, &err), &err);
    if (code)
        return;
    check_texts(&data);
    const char *copy = fuzz_path("copy.h5"), *second = fuzz_path("second.h5");
    if ((choice & FUZZ_RUN_REPAIR) && !data.live && sf_run_file_write(copy, &data.record, &data.meta, &err) == 0) {
        FUZZ_REQUIRE(sf_digest_file(copy, hex, &err) == 0);
        FUZZ_REQUIRE(sf_run_file_read(&again, copy, &err) == 0);
        FUZZ_REQUIRE(sf_run_file_write(second, &again.record, &again.meta, &err) == 0);
        FUZZ_REQUIRE(sf_digest_file(second, again_hex, &err) == 0);
        FUZZ_REQUIRE(strcmp(hex, again_hex) == 0);
        sf_run_data_free(&again);
    }
    sf_run_data_free(&data);
}

/* A made-up search for the tests of the run file: random genomes over HP whose histogram is that of k coins, k the
 * number of P (so every number that must fit another does), grown a generation at a time. */
#ifndef SF_TESTS_IO_SAMPLE_RUN_H
#define SF_TESTS_IO_SAMPLE_RUN_H

#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "core/search/record.h"
#include "io/run_file.h"
#include "test_main.h"

enum { SAMPLE_LENGTH = 10, SAMPLE_SCORES = SAMPLE_LENGTH + 1 };

static const sf_config_entry sample_config[] = {{"seed", "1", "default"},
                                                {"population", "6", "command line"},
                                                {"generations", "12", "file"},
                                                {"alpha", "", "preset"}};

/* CUnit's own assertions end a program that is no test. */
static inline void sample_require(bool good)
{
    if (!good) {
        fprintf(stderr, "the made-up search could not be made\n");
        abort();
    }
}

typedef struct sample_run {
    sf_record record;
    sf_run_meta meta;
    sf_level level[2];
    char solution[3][SAMPLE_LENGTH];
    uint64_t random;
} sample_run;

static inline size_t sample_add(sample_run *run, const uint8_t *genome, const sf_place *place)
{
    sf_known *known = &run->record.known;
    size_t row;
    bool is_new;
    sample_require(sf_known_add(known, genome, place, &row, &is_new) == 0);
    if (is_new) {
        int k = 0;
        for (int i = 0; i < SAMPLE_LENGTH; i++)
            k += genome[i];
        uint64_t binomial = 1;
        for (int s = 0; s <= k; s++) {
            known->histogram[row * SAMPLE_SCORES + (size_t)s] = binomial;
            binomial = binomial * (uint64_t)(k - s) / (uint64_t)(s + 1);
        }
        known->fitness[row] = k + 1;
        known->best_score[row] = k;
        known->exact[row] = 1;
    }
    return row;
}

static inline void sample_island(sample_run *run, int32_t trial, int32_t island, int64_t generation)
{
    sf_record *record = &run->record;
    const sf_search_config *c = &record->config;
    sf_generation_stats s = {.worst = INT32_MAX};
    size_t at = sf_record_stats_index(record, trial, generation, island);
    uint8_t *last = record->population +
                    ((size_t)trial * (size_t)c->islands + (size_t)island) * (size_t)c->population * SAMPLE_LENGTH;
    for (int32_t k = 0; k < c->population; k++) {
        uint8_t *genome = last + (size_t)k * SAMPLE_LENGTH;
        for (int i = 0; i < SAMPLE_LENGTH; i++)
            genome[i] = test_random(&run->random) & 1;
        sf_place place = {trial, generation, island, k};
        size_t row = sample_add(run, genome, &place); /* may move the arrays */
        int32_t fitness = record->known.fitness[row];
        s.n_at_best = fitness > s.best ? 1 : s.n_at_best + (fitness == s.best);
        s.best = fitness > s.best ? fitness : s.best;
        s.worst = fitness < s.worst ? fitness : s.worst;
        s.sum += fitness;
    }
    s.n_distinct = c->population;
    record->stats[at] = s;
    if (record->populations)
        memcpy(record->populations + at * (size_t)c->population * SAMPLE_LENGTH, last,
               (size_t)c->population * SAMPLE_LENGTH);
    if (c->migration_interval > 0 && generation % c->migration_interval == 0) {
        sf_migrant m = {trial, island, (island + 1) % c->islands, 0, generation, generation + c->migration_interval, 0};
        sample_require(sf_record_log_migrant(record, &m, last) == 0);
    }
}

/* Goes on by one generation; what was in flight to it is settled. */
static inline void sample_step(sample_run *run)
{
    sf_record *record = &run->record;
    int64_t generation = record->generation + 1;
    for (int32_t island = record->config.islands - 1; island >= 0; island--) { /* not in canonical order */
        for (int32_t trial = 0; trial < record->config.trials; trial++)
            sample_island(run, trial, island, generation);
    }
    for (size_t k = 0; k < record->n_migrants; k++) {
        if (record->migrant[k].taken == generation)
            record->migrant[k].fate = k % 3 ? SF_MIGRANT_TAKEN : SF_MIGRANT_REFUSED;
    }
    record->generation = generation;
}

static inline void sample_init(sample_run *run, int32_t trials, int32_t islands, int64_t generations, bool keep)
{
    memset(run, 0, sizeof *run);
    sf_search_config config;
    sf_search_config_init(&config);
    config.trials = trials;
    config.islands = islands;
    config.generations = generations;
    config.population = 6;
    config.migration_interval = 2;
    config.keep_populations = keep;
    sf_error err = {0};
    sample_require(sf_record_init(&run->record, &config, SAMPLE_LENGTH, SAMPLE_SCORES, &err) == 0);
    run->random = test_seed();
    run->meta = (sf_run_meta){.n_config = sizeof sample_config / sizeof sample_config[0],
                              .config = sample_config,
                              .state = "running",
                              .lattice = "square",
                              .letters = "HP",
                              .witness_size = SAMPLE_LENGTH};
}

/* Runs on to `generation`; two levels, one of them without stars. */
static inline void sample_run_to(sample_run *run, int64_t generation)
{
    while (run->record.generation < generation)
        sample_step(run);
    static const char *const walks[3] = {"RRRRRRRRR", "RURDRURDR", "RUL"};
    run->level[0] = (sf_level){.row = 3, .has_stars = true, .stars = {1, 2, 3}};
    run->level[1] = (sf_level){.row = 1};
    for (int s = 0; s < 3; s++) {
        strcpy(run->solution[s], walks[s]);
        run->level[0].solution[s] = run->solution[s];
    }
    run->meta.levels = run->level;
    run->meta.n_levels = 2;
}

static inline void sample_free(sample_run *run)
{
    sf_record_free(&run->record);
}

static inline int sample_remove(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static inline void sample_clean(void);

/* A folder of its own for the files of a test program, made once, removed at the end. */
static inline const char *sample_folder(void)
{
    static char folder[64];
    if (!folder[0]) {
        strcpy(folder, "/tmp/starfold-test-XXXXXX");
        sample_require(mkdtemp(folder) != NULL);
        atexit(sample_clean);
    }
    return folder;
}

static inline void sample_clean(void)
{
    nftw(sample_folder(), sample_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *sample_path(const char *name)
{
    static char path[8][256];
    static int turn;
    char *p = path[turn++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", sample_folder(), name);
    return p;
}

/* The bytes of a file (the caller frees them), or NULL. */
static inline uint8_t *sample_bytes(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    *n = 0;
    if (!file)
        return NULL;
    uint8_t *bytes = malloc(1 << 24);
    sample_require(bytes != NULL);
    *n = fread(bytes, 1, 1 << 24, file);
    fclose(file);
    return bytes;
}

static inline bool sample_same_bytes(const char *a, const char *b)
{
    size_t n, m;
    uint8_t *x = sample_bytes(a, &n), *y = sample_bytes(b, &m);
    bool same = x && y && n == m && n > 0 && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

#endif

/* Archipelagos against a plain search written a second time: any split of the islands over several archipelagos (as if
 * they were ranks), messages carried by hand in any order and as early or late as is allowed, packets taken in any
 * order, steps that fail on the way, and the whole thing taken down and resumed on another split. */
#include "core/search/archipelago.h"

#include "plain_search.h"

enum { RANKS_MAX = 6 };

typedef struct mail {
    int64_t destination, sent;
    size_t n_bytes;
    uint8_t *bytes;
} mail;

typedef struct world {
    const sf_puzzle *puzzle;
    const sf_search_config *config;
    uint64_t state; /* of the test's own random numbers */
    int n_ranks;
    int64_t first[RANKS_MAX + 1];
    sf_archipelago *rank[RANKS_MAX];
    bool bred[RANKS_MAX]; /* stepped, migrants not yet taken in */
    int64_t generation[RANKS_MAX];
    size_t n_mail;
    mail mail[4000];
    int failures; /* steps that failed on purpose */
} world;

/* Evaluates, but fails now and then. */
static int evaluate(void *context, size_t n, const uint8_t *genomes, uint64_t *histograms, sf_error *err)
{
    world *w = context;
    if (test_random(&w->state) % 5 == 0) {
        w->failures++;
        return sf_fail(err, SF_ESTOPPED, "on purpose");
    }
    return sf_puzzle_evaluate(w->puzzle, n, genomes, 1, histograms, err);
}

/* Opens the islands on a random number of ranks, each with a random range that may be empty. */
static void open_ranks(world *w, const sf_record *record)
{
    sf_error err;
    const int64_t islands = (int64_t)w->config->trials * w->config->islands;
    w->n_ranks = 1 + (int)(test_random(&w->state) % RANKS_MAX);
    w->first[0] = 0;
    for (int r = 1; r <= w->n_ranks; r++) {
        int64_t left = islands - w->first[r - 1];
        w->first[r] =
            r == w->n_ranks ? islands : w->first[r - 1] + (int64_t)(test_random(&w->state) % (uint64_t)(left + 1));
    }
    for (int r = 0; r < w->n_ranks; r++) {
        sf_archipelago_options options = {.first_island = w->first[r],
                                          .last_island = w->first[r + 1],
                                          .n_threads = 1,
                                          .evaluate = evaluate,
                                          .context = w};
        CU_ASSERT_EQUAL_FATAL(sf_archipelago_open(&w->rank[r], w->puzzle, w->config, &options, record, &err), SF_OK);
        w->generation[r] = sf_archipelago_generation(w->rank[r]);
        CU_ASSERT_EQUAL(w->generation[r], record ? record->generation : -1);
        w->bred[r] = false;
    }
}

static void close_ranks(world *w)
{
    for (int r = 0; r < w->n_ranks; r++)
        sf_archipelago_close(w->rank[r]);
    for (size_t i = 0; i < w->n_mail; i++)
        free(w->mail[i].bytes);
    w->n_mail = 0;
}

static int host_of(const world *w, int64_t island)
{
    for (int r = 0;; r++) {
        if (w->first[r] <= island && island < w->first[r + 1])
            return r;
    }
}

static void deliver(world *w, size_t i)
{
    sf_error err;
    mail m = w->mail[i];
    w->mail[i] = w->mail[--w->n_mail];
    CU_ASSERT_EQUAL(
        sf_archipelago_deliver(w->rank[host_of(w, m.destination)], m.destination, m.sent, m.n_bytes, m.bytes, &err),
        SF_OK);
    free(m.bytes);
}

static void breed(world *w, int r)
{
    sf_error err;
    int code = sf_archipelago_step(w->rank[r], &err);
    if (code) {
        CU_ASSERT_EQUAL(code, SF_ESTOPPED);
        return; /* tried again later */
    }
    w->bred[r] = true;
    for (int64_t island = w->first[r]; island < w->first[r + 1]; island++) {
        mail m = {.sent = w->generation[r] + 1};
        const uint8_t *bytes;
        if (!sf_archipelago_emigrants(w->rank[r], island, &m.destination, &m.n_bytes, &bytes))
            continue;
        CU_ASSERT_EQUAL(m.n_bytes, sf_archipelago_message_size(w->rank[r]));
        CU_ASSERT_FATAL(w->n_mail < sizeof w->mail / sizeof w->mail[0]);
        m.bytes = malloc(m.n_bytes);
        memcpy(m.bytes, bytes, m.n_bytes);
        w->mail[w->n_mail++] = m;
    }
}

/* Takes migrants in when all that are expected can be delivered. */
static void finish(world *w, int r)
{
    sf_error err;
    for (int64_t island = w->first[r]; island < w->first[r + 1]; island++) {
        int64_t source, sent;
        if (!sf_archipelago_expects(w->rank[r], island, &source, &sent))
            continue;
        size_t i = 0;
        while (i < w->n_mail && (w->mail[i].destination != island || w->mail[i].sent != sent))
            i++;
        if (i == w->n_mail) {
            CU_ASSERT_NOT_EQUAL(sf_archipelago_immigrate(w->rank[r], &err), SF_OK);
            return; /* not sent yet */
        }
        CU_ASSERT_EQUAL(sf_archipelago_source(w->config, island), source);
        deliver(w, i);
        CU_ASSERT_FALSE(sf_archipelago_expects(w->rank[r], island, &source, &sent));
    }
    CU_ASSERT_EQUAL_FATAL(sf_archipelago_immigrate(w->rank[r], &err), SF_OK);
    w->generation[r]++;
    w->bred[r] = false;
    CU_ASSERT_EQUAL(sf_archipelago_generation(w->rank[r]), w->generation[r]);
}

static void run_to(world *w, int64_t target)
{
    for (;;) {
        int behind[RANKS_MAX], n = 0;
        for (int r = 0; r < w->n_ranks; r++) {
            if (w->generation[r] < target)
                behind[n++] = r;
        }
        if (n == 0)
            return;
        int r = behind[test_random(&w->state) % (uint64_t)n];
        if (w->bred[r])
            finish(w, r);
        else
            breed(w, r);
        if (w->n_mail && test_random(&w->state) % 4 == 0)
            deliver(w, test_random(&w->state) % w->n_mail);
    }
}

/* All ranks pack; the record takes the packets in a random order, one of them twice. */
static void gather(world *w, sf_record *record, bool with_populations)
{
    uint8_t *packet[RANKS_MAX];
    size_t n_bytes[RANKS_MAX];
    sf_error err;
    for (int r = 0; r < w->n_ranks; r++)
        CU_ASSERT_EQUAL_FATAL(sf_archipelago_pack(w->rank[r], with_populations, &n_bytes[r], &packet[r], &err), SF_OK);
    for (int left = w->n_ranks; left > 0; left--) {
        size_t i = test_random(&w->state) % (uint64_t)left;
        CU_ASSERT_EQUAL_FATAL(sf_record_take(record, n_bytes[i], packet[i], &err), SF_OK);
        if (left == 1)
            CU_ASSERT_EQUAL(sf_record_take(record, n_bytes[i], packet[i], &err), SF_OK);
        free(packet[i]);
        packet[i] = packet[left - 1];
        n_bytes[i] = n_bytes[left - 1];
    }
}

/* A run in blocks of random length; some of them end in a resume from the record on another split. */
static void run(world *w, sf_record *record)
{
    sf_error err;
    CU_ASSERT_EQUAL_FATAL(sf_record_init(record, w->config, w->puzzle->length, w->puzzle->n_scores, &err), SF_OK);
    open_ranks(w, NULL);
    for (int64_t at = -1; at < w->config->generations;) {
        at += 1 + (int64_t)(test_random(&w->state) % (uint64_t)(w->config->generations - at));
        bool resume = test_random(&w->state) % 2;
        run_to(w, at);
        gather(w, record, resume || at == w->config->generations);
        CU_ASSERT_EQUAL(record->generation, at);
        if (resume) {
            close_ranks(w);
            if (test_random(&w->state) % 2)
                sf_record_sort(record);
            open_ranks(w, record);
        }
    }
    close_ranks(w);
}

static sf_search_config random_config(uint64_t *state)
{
    sf_search_config c;
    sf_search_config_init(&c);
    c.seed = test_random(state);
    c.population = 2 + (int32_t)(test_random(state) % 12);
    c.generations = (int64_t)(test_random(state) % 30);
    c.trials = 1 + (int32_t)(test_random(state) % 3);
    c.islands = 1 + (int32_t)(test_random(state) % 5);
    c.elites = (int32_t)(test_random(state) % (uint64_t)(c.population + 1));
    if (test_random(state) % 2)
        c.elites = 1;
    c.mutation_rate = test_random(state) % (SF_RATE_ONE / 4);
    c.migration_interval = (int64_t)(test_random(state) % 5);
    c.migration_delay = 1 + (int64_t)(test_random(state) % 3);
    c.migrants = (int32_t)(test_random(state) % (uint64_t)(c.population + 1));
    c.keep_populations = (int32_t)(test_random(state) % 2);
    return c;
}

static void test_against_plain(void)
{
    uint64_t state = test_seed();
    static world w;
    size_t migrants = 0, fates[3] = {0};
    int failures = 0;
    for (int round = 0; round < 300; round++) {
        sf_search_config config = random_config(&state);
        sf_puzzle puzzle;
        sf_error err;
        sf_record record;
        plain_search plain;
        CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_onemax(&puzzle, 2 + (int)(test_random(&state) % 10), &err), SF_OK);
        plain_search_run(&plain, &config, puzzle.length);
        w = (world){.puzzle = &puzzle, .config = &config, .state = test_random(&state)};
        run(&w, &record);
        plain_search_compare(&plain, &record);
        migrants += record.n_migrants;
        for (size_t i = 0; i < record.n_migrants; i++)
            fates[record.migrant[i].fate]++;
        failures += w.failures;
        sf_record_free(&record);
        plain_search_free(&plain);
        sf_puzzle_close(&puzzle);
    }
    printf(" [%zu migrants: %zu in flight, %zu taken, %zu refused; %d steps failed] ", migrants, fates[0], fates[1],
           fates[2], failures);
    CU_ASSERT(fates[0] > 100 && fates[1] > 100 && fates[2] > 100 && failures > 100);
}

/* A run that ends and is given more generations is the longer run. */
static void test_continued(void)
{
    uint64_t state = test_seed() + 1;
    static world w;
    for (int round = 0; round < 20; round++) {
        sf_search_config config = random_config(&state), shorter;
        sf_puzzle puzzle;
        sf_error err;
        sf_record record, longer;
        plain_search plain;
        uint8_t *packet;
        size_t n_bytes;
        config.generations += 2;
        config.keep_populations = 0;
        shorter = config;
        shorter.generations = (int64_t)(test_random(&state) % (uint64_t)config.generations);
        CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_onemax(&puzzle, 10, &err), SF_OK);
        w = (world){.puzzle = &puzzle, .config = &shorter, .state = test_random(&state)};
        run(&w, &record);

        CU_ASSERT_EQUAL_FATAL(sf_record_init(&longer, &config, puzzle.length, puzzle.n_scores, &err), SF_OK);
        for (int t = 0; t < config.trials; t++) {
            for (int64_t g = 0; g <= shorter.generations; g++)
                memcpy(&longer.stats[sf_record_stats_index(&longer, t, g, 0)],
                       &record.stats[sf_record_stats_index(&record, t, g, 0)],
                       (size_t)config.islands * sizeof *longer.stats);
        }
        for (size_t i = 0; i < record.n_migrants; i++)
            CU_ASSERT_EQUAL(
                sf_record_log_migrant(&longer, &record.migrant[i], record.migrant_genome + i * (size_t)puzzle.length),
                SF_OK);
        CU_ASSERT_EQUAL(sf_record_pack(&record, &n_bytes, &packet, &err), SF_OK);
        longer.generation = shorter.generations - 1;
        CU_ASSERT_EQUAL(sf_record_take(&longer, n_bytes, packet, &err), SF_OK);
        CU_ASSERT_EQUAL(longer.generation, shorter.generations);
        free(packet);

        w.config = &config;
        open_ranks(&w, &longer);
        run_to(&w, config.generations);
        gather(&w, &longer, true);
        close_ranks(&w);
        plain_search_run(&plain, &config, puzzle.length);
        plain_search_compare(&plain, &longer);
        plain_search_free(&plain);
        sf_record_free(&record);
        sf_record_free(&longer);
        sf_puzzle_close(&puzzle);
    }
}

static void test_refusals(void)
{
    sf_puzzle puzzle;
    sf_error err;
    sf_record record;
    sf_archipelago *a;
    sf_search_config config;
    static world w;
    sf_search_config_init(&config);
    config.islands = 3;
    config.generations = 12;
    CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_onemax(&puzzle, 8, &err), SF_OK);
    w = (world){.puzzle = &puzzle, .config = &config, .state = test_seed()};
    run(&w, &record);

    sf_archipelago_options options = {.first_island = 0, .last_island = 4, .n_threads = 1};
    CU_ASSERT_EQUAL(sf_archipelago_open(&a, &puzzle, &config, &options, NULL, &err), SF_EINPUT);
    options.last_island = 3;
    CU_ASSERT_EQUAL_FATAL(sf_archipelago_open(&a, &puzzle, &config, &options, &record, &err), SF_OK);
    uint8_t junk[8] = {0};
    CU_ASSERT_EQUAL(sf_archipelago_deliver(a, 0, 10, sizeof junk, junk, &err), SF_ECHECK);
    uint8_t *message = calloc(1, sf_archipelago_message_size(a));
    CU_ASSERT_EQUAL(sf_archipelago_deliver(a, 0, 10, sf_archipelago_message_size(a), message, &err), SF_ECHECK);
    free(message);
    CU_ASSERT_EQUAL(sf_archipelago_step(a, &err), SF_OK);
    CU_ASSERT_EQUAL(sf_archipelago_step(a, &err), SF_ECHECK); /* the last one is not complete */
    sf_archipelago_close(a);

    record.population[5] = 2; /* no letter */
    CU_ASSERT_EQUAL(sf_archipelago_open(&a, &puzzle, &config, &options, &record, &err), SF_EFORMAT);
    CU_ASSERT_PTR_NULL(a);
    record.population[5] = 0;
    record.migrant_genome[0] = 9;
    CU_ASSERT_EQUAL(sf_archipelago_open(&a, &puzzle, &config, &options, &record, &err), SF_EFORMAT);
    record.migrant_genome[0] = 1;
    record.n_migrants--;
    config.migrants = 2; /* more are missing */
    CU_ASSERT_EQUAL(sf_archipelago_open(&a, &puzzle, &config, &options, &record, &err), SF_EFORMAT);
    record.known.n = 0;
    memset(record.known.slot, 0, record.known.n_slots * sizeof *record.known.slot);
    CU_ASSERT_EQUAL(sf_archipelago_open(&a, &puzzle, &config, &options, &record, &err), SF_EFORMAT);
    sf_record_free(&record);
    sf_puzzle_close(&puzzle);
}

const test_case test_cases[] = {{"any split, order and resume equals the plain search", test_against_plain},
                                {"a run given more generations equals the longer run", test_continued},
                                {"what is refused", test_refusals},
                                {NULL, NULL}};

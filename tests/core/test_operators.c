/* The operators one by one: exact where they are exact, and within five standard deviations where they draw. */
#include "core/search/operators.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "test_main.h"

enum { DRAWS = 100000 };

static bool near(double count, double n, double p)
{
    return fabs(count - n * p) <= 5 * sqrt(n * p * (1 - p)) + 1e-9;
}

static sf_stream stream_of(uint64_t individual, sf_purpose purpose)
{
    sf_stream stream;
    sf_stream_init(&stream, test_seed(), 1, 2, 3, individual, purpose);
    return stream;
}

static void test_rank(void)
{
    static const int32_t fitness[] = {3, 5, 0, 5, 3, 0};
    static const int32_t expected[] = {1, 3, 0, 4, 2, 5};
    int32_t order[6];
    sf_rank(6, fitness, 6, order);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(order[i], expected[i]);
    CU_ASSERT_EQUAL(sf_rank_worst(6, fitness), 5);
    CU_ASSERT_EQUAL(sf_rank_worst(2, fitness), 0);

    uint64_t state = test_seed();
    int32_t random[200], ranks[200];
    for (int n = 1; n <= 200; n++) {
        for (int i = 0; i < n; i++)
            random[i] = (int32_t)(test_random(&state) % 7);
        sf_rank(n, random, 1, ranks);
        const int32_t first = ranks[0];
        sf_rank(n, random, n, ranks);
        CU_ASSERT_EQUAL(first, ranks[0]);
        for (int i = 1; i < n; i++) {
            int32_t a = ranks[i - 1], b = ranks[i];
            CU_ASSERT(random[a] > random[b] || (random[a] == random[b] && a < b));
        }
        CU_ASSERT_EQUAL(sf_rank_worst(n, random), ranks[n - 1]);
    }
}

static void test_selection(void)
{
    static const int32_t tables[][5] = {{1, 2, 3, 4, 0}, {0, 0, 7, 0, 0}, {0, 0, 0, 0, 0}, {0, 5, 0, 0, 5}};
    for (size_t t = 0; t < 4; t++) {
        uint64_t cumulative[5];
        double count[5] = {0}, sum = 0;
        sf_selection_weights(5, tables[t], cumulative);
        for (int i = 0; i < 5; i++)
            sum += tables[t][i];
        sf_stream stream = stream_of(t, SF_PURPOSE_PARENT);
        for (int i = 0; i < DRAWS; i++)
            count[sf_selection_draw(5, cumulative, &stream)]++;
        for (int i = 0; i < 5; i++) {
            double p = sum > 0 ? tables[t][i] / sum : 0.2;
            CU_ASSERT(near(count[i], DRAWS, p));
        }
    }
}

static void test_crossover(void)
{
    enum { N = 7 };
    uint8_t a[N], b[N], first[N], second[N];
    for (uint8_t i = 0; i < N; i++) {
        a[i] = i;
        b[i] = (uint8_t)(100 + i);
    }
    for (int cut = 1; cut < N; cut++) {
        sf_crossover_one_point(N, a, b, cut, first, second);
        for (int i = 0; i < N; i++) {
            CU_ASSERT_EQUAL(first[i], i < cut ? a[i] : b[i]);
            CU_ASSERT_EQUAL(second[i], i < cut ? b[i] : a[i]);
        }
        memset(first, 0, N);
        sf_crossover_one_point(N, a, b, cut, first, NULL);
        CU_ASSERT_EQUAL(first[cut], b[cut]);
    }
    double count[N + 1] = {0};
    sf_stream stream = stream_of(0, SF_PURPOSE_CROSSOVER);
    for (int i = 0; i < DRAWS; i++)
        count[sf_crossover_cut(N, &stream)]++;
    CU_ASSERT_EQUAL(count[0], 0);
    CU_ASSERT_EQUAL(count[N], 0);
    for (int cut = 1; cut < N; cut++)
        CU_ASSERT(near(count[cut], DRAWS, 1.0 / (N - 1)));
    CU_ASSERT_EQUAL(sf_crossover_cut(2, &stream), 1);
    CU_ASSERT_EQUAL(sf_crossover_cut(1, &stream), 1);
}

/* How often each letter follows from letter 1, and that positions are independent (pairs as often as the product). */
static void check_mutation(int n_letters, uint64_t rate)
{
    enum { N = 5, ROUNDS = DRAWS / N };
    double count[20] = {0}, pairs = 0;
    for (uint64_t r = 0; r < ROUNDS; r++) {
        uint8_t genome[N];
        memset(genome, 1, N);
        sf_stream stream = stream_of(r, SF_PURPOSE_MUTATION);
        sf_mutation_flip(N, n_letters, rate, &stream, genome);
        for (int i = 0; i < N; i++) {
            CU_ASSERT_FATAL(genome[i] < n_letters);
            count[genome[i]]++;
        }
        pairs += genome[0] != 1 && genome[1] != 1;
    }
    const double p = (double)rate / (double)SF_RATE_ONE;
    for (int l = 0; l < n_letters; l++)
        CU_ASSERT(near(count[l], (double)ROUNDS * N, l == 1 ? 1 - p : p / (n_letters - 1)));
    CU_ASSERT(near(pairs, ROUNDS, p * p));
}

static void test_mutation(void)
{
    check_mutation(2, SF_RATE_ONE / 10);
    check_mutation(2, 0);
    check_mutation(2, SF_RATE_ONE);
    check_mutation(4, SF_RATE_ONE / 2);
    check_mutation(20, SF_RATE_ONE / 4);
}

static void test_initial(void)
{
    enum { N = 16, GENOMES = 4000 };
    sf_search_config config;
    sf_search_config_init(&config);
    config.seed = test_seed();
    double count[N][3] = {{0}};
    for (int32_t i = 0; i < GENOMES; i++) {
        uint8_t genome[N];
        sf_initial_genome(&config, 0, 1, i, N, 3, genome);
        for (int j = 0; j < N; j++)
            count[j][genome[j]]++;
    }
    for (int j = 0; j < N; j++) {
        for (int l = 0; l < 3; l++)
            CU_ASSERT(near(count[j][l], GENOMES, 1.0 / 3));
    }
}

/* With mutation off, breeding shows its parts: elites in order at the front, pairs that are complementary children. */
static void test_breed(void)
{
    enum { N = 6, P = 8 };
    sf_search_config config;
    sf_search_config_init(&config);
    config.population = P;
    config.mutation_rate = 0;
    uint8_t genomes[P][N], next[P][N];
    int32_t fitness[P] = {1, 4, 2, 4, 0, 3, 1, 1}, order[P];
    uint64_t cumulative[P];
    for (uint8_t i = 0; i < P; i++)
        memset(genomes[i], i, N); /* an element says whose it was */
    for (config.elites = 0; config.elites <= P; config.elites++) {
        memset(next, 99, sizeof next);
        sf_breed(&config, 0, 0, 1, N, 20, genomes[0], fitness, next[0], cumulative, order);
        static const uint8_t best_first[P] = {1, 3, 5, 2, 0, 6, 7, 4};
        for (int32_t i = 0; i < config.elites; i++)
            CU_ASSERT(next[i][0] == best_first[i] && next[i][N - 1] == best_first[i]);
        for (int32_t i = config.elites; i < P; i += 2) {
            const uint8_t a = next[i][0], b = next[i][N - 1];
            CU_ASSERT(a < P && b < P && a != 4 && b != 4); /* fitness 0 is never a parent */
            int cut = 1;
            while (cut < N - 1 && next[i][cut] == a)
                cut++;
            for (int j = 0; j < N; j++) {
                CU_ASSERT_EQUAL(next[i][j], j < cut ? a : b);
                if (i + 1 < P)
                    CU_ASSERT_EQUAL(next[i + 1][j], a + b - next[i][j]);
            }
        }
    }
}

static void test_config(void)
{
    sf_search_config config;
    sf_error err;
    sf_search_config_init(&config);
    CU_ASSERT_EQUAL(sf_search_config_check(&config, &err), SF_OK);
#define BAD(member, bad_value, word)                                                                                   \
    do {                                                                                                               \
        sf_search_config_init(&config);                                                                                \
        config.member = bad_value;                                                                                     \
        CU_ASSERT_EQUAL(sf_search_config_check(&config, &err), SF_EINPUT);                                             \
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, word));                                                                \
    } while (0)
    BAD(population, 1, "--population 1: allowed is 2 to 1000000");
    BAD(generations, -1, "--generations");
    BAD(trials, 0, "--trials");
    BAD(islands, 0, "--islands");
    BAD(elites, 31, "--elites 31: allowed is 0 to 30");
    BAD(elites, -1, "--elites");
    BAD(mutation_rate, SF_RATE_ONE + 1, "--mutation-rate");
    BAD(migration_interval, -1, "--migration-interval");
    BAD(migration_delay, 0, "--migration-delay");
    BAD(migrants, 31, "--migrants");
    BAD(keep_populations, 2, "--keep-populations");
    BAD(topology, (sf_topology)1, "--topology");
#undef BAD
    sf_search_config_init(&config);
    config.trials = config.islands = 100000;
    CU_ASSERT_EQUAL(sf_search_config_check(&config, &err), SF_EINPUT);
}

const test_case test_cases[] = {{"rank and worst", test_rank},
                                {"selection is proportional", test_selection},
                                {"one-point crossover", test_crossover},
                                {"mutation", test_mutation},
                                {"initial genomes are uniform", test_initial},
                                {"breeding", test_breed},
                                {"ranges of the configuration", test_config},
                                {NULL, NULL}};

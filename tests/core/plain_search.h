/* A plain island search on the onemax puzzle (fitness = ones + 1, a genome and its reverse are one), written a second
 * time for the tests: no cache, no batches, no messages, every generation kept, loops instead of sorting. It shares
 * only the random streams with the product. And the comparison of a record with it. */
#ifndef SF_TEST_PLAIN_SEARCH_H
#define SF_TEST_PLAIN_SEARCH_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/stream.h"
#include "core/search/record.h"
#include "test_main.h"

typedef struct plain_search {
    sf_search_config config;
    int length;                 /* <= 16 */
    uint8_t *populations;       /* [trials][generations + 1][islands][population][length] */
    sf_generation_stats *stats; /* [trials][generations + 1][islands] */
    bool *asked;                /* [2^length], by plain_code of the canonical genome */
    sf_place *first;            /* [2^length] */
    size_t n_asked, n_migrants;
    sf_migrant *migrant; /* by (trial, sent, from, index) */
    uint8_t *migrant_genome;
} plain_search;

static size_t plain_code(const plain_search *p, const uint8_t *genome)
{
    size_t forward = 0, backward = 0;
    for (int i = 0; i < p->length; i++) {
        forward = 2 * forward + genome[i];
        backward = 2 * backward + genome[p->length - 1 - i];
    }
    return forward < backward ? forward : backward;
}

static int32_t plain_fitness(const plain_search *p, const uint8_t *genome)
{
    int32_t ones = 0;
    for (int i = 0; i < p->length; i++)
        ones += genome[i];
    return ones + 1;
}

static size_t plain_index(const plain_search *p, int trial, int64_t generation, int island)
{
    return ((size_t)trial * (size_t)(p->config.generations + 1) + (size_t)generation) * (size_t)p->config.islands +
           (size_t)island;
}

static uint8_t *plain_genome(const plain_search *p, int trial, int64_t generation, int island, int individual)
{
    return p->populations +
           (plain_index(p, trial, generation, island) * (size_t)p->config.population + (size_t)individual) *
               (size_t)p->length;
}

/* The individual that comes after `rank` others in the order fitness descending, index ascending. */
static int plain_ranked(const plain_search *p, int trial, int64_t generation, int island, int rank)
{
    for (int i = 0; i < p->config.population; i++) {
        int before = 0;
        int32_t fitness = plain_fitness(p, plain_genome(p, trial, generation, island, i));
        for (int j = 0; j < p->config.population; j++) {
            int32_t other = plain_fitness(p, plain_genome(p, trial, generation, island, j));
            before += other > fitness || (other == fitness && j < i);
        }
        if (before == rank)
            return i;
    }
    abort();
}

static int plain_parent(const plain_search *p, int trial, int64_t generation, int island, sf_stream *stream)
{
    uint64_t sum = 0;
    for (int i = 0; i < p->config.population; i++)
        sum += (uint64_t)plain_fitness(p, plain_genome(p, trial, generation, island, i));
    uint64_t draw = sf_stream_below(stream, sum);
    for (int i = 0;; i++) {
        uint64_t weight = (uint64_t)plain_fitness(p, plain_genome(p, trial, generation, island, i));
        if (draw < weight)
            return i;
        draw -= weight;
    }
}

static void plain_breed(plain_search *p, int trial, int64_t g, int island)
{
    const sf_search_config *c = &p->config;
    const uint64_t t = (uint64_t)trial, k = (uint64_t)island, n = (uint64_t)g;
    sf_stream stream;
    for (int i = 0; i < c->population; i++) {
        uint8_t *genome = plain_genome(p, trial, g, island, i);
        if (g == 0) {
            sf_stream_init(&stream, c->seed, t, k, n, (uint64_t)i, SF_PURPOSE_INITIAL);
            for (int j = 0; j < p->length; j++)
                genome[j] = (uint8_t)sf_stream_below(&stream, 2);
            continue;
        }
        if (i < c->elites) {
            memcpy(genome, plain_genome(p, trial, g - 1, island, plain_ranked(p, trial, g - 1, island, i)),
                   (size_t)p->length);
            continue;
        }
        const int pair = i - (i - c->elites) % 2;
        sf_stream_init(&stream, c->seed, t, k, n, (uint64_t)pair, SF_PURPOSE_PARENT);
        const uint8_t *a = plain_genome(p, trial, g - 1, island, plain_parent(p, trial, g - 1, island, &stream));
        const uint8_t *b = plain_genome(p, trial, g - 1, island, plain_parent(p, trial, g - 1, island, &stream));
        sf_stream_init(&stream, c->seed, t, k, n, (uint64_t)pair, SF_PURPOSE_CROSSOVER);
        const int cut = 1 + (int)sf_stream_below(&stream, (uint64_t)p->length - 1);
        sf_stream_init(&stream, c->seed, t, k, n, (uint64_t)i, SF_PURPOSE_MUTATION);
        for (int j = 0; j < p->length; j++) {
            genome[j] = (i == pair) == (j < cut) ? a[j] : b[j];
            if (sf_stream_below(&stream, SF_RATE_ONE) < c->mutation_rate)
                genome[j] ^= 1;
        }
    }
}

static void plain_ask(plain_search *p, int trial, int64_t g, int island)
{
    for (int i = 0; i < p->config.population; i++) {
        size_t code = plain_code(p, plain_genome(p, trial, g, island, i));
        sf_place place = {trial, g, island, i};
        if (!p->asked[code] || sf_place_less(&place, &p->first[code]))
            p->first[code] = place;
        p->n_asked += !p->asked[code];
        p->asked[code] = true;
    }
}

static void plain_send(plain_search *p, int trial, int64_t g)
{
    for (int island = 0; island < p->config.islands; island++) {
        for (int m = 0; m < p->config.migrants; m++) {
            size_t n = p->n_migrants++;
            p->migrant[n] = (sf_migrant){trial,
                                         island,
                                         (island + 1) % p->config.islands,
                                         m,
                                         g,
                                         g + p->config.migration_delay * p->config.migration_interval,
                                         SF_MIGRANT_IN_FLIGHT};
            memcpy(p->migrant_genome + n * (size_t)p->length,
                   plain_genome(p, trial, g, island, plain_ranked(p, trial, g, island, m)), (size_t)p->length);
        }
    }
}

static void plain_settle(plain_search *p, sf_migrant *m, const uint8_t *genome)
{
    const int last = plain_ranked(p, m->trial, m->taken, m->to, p->config.population - 1);
    uint8_t *worst = plain_genome(p, m->trial, m->taken, m->to, last);
    m->fate = plain_fitness(p, genome) < plain_fitness(p, worst) ? SF_MIGRANT_REFUSED : SF_MIGRANT_TAKEN;
    for (int i = 0; i < p->config.population; i++) {
        if (plain_code(p, plain_genome(p, m->trial, m->taken, m->to, i)) == plain_code(p, genome))
            m->fate = SF_MIGRANT_REFUSED;
    }
    if (m->fate == SF_MIGRANT_TAKEN)
        memcpy(worst, genome, (size_t)p->length);
}

static void plain_count(plain_search *p, int trial, int64_t g, int island)
{
    sf_generation_stats *s = &p->stats[plain_index(p, trial, g, island)];
    const uint8_t *genome = plain_genome(p, trial, g, island, 0);
    *s = (sf_generation_stats){.best = 0, .worst = INT32_MAX};
    for (int i = 0; i < p->config.population; i++) {
        int32_t fitness = plain_fitness(p, genome + i * p->length);
        bool seen = false;
        for (int j = 0; j < i; j++)
            seen = seen || plain_code(p, genome + i * p->length) == plain_code(p, genome + j * p->length);
        s->best = fitness > s->best ? fitness : s->best;
        s->worst = fitness < s->worst ? fitness : s->worst;
        s->sum += fitness;
        s->n_distinct += !seen;
    }
    for (int i = 0; i < p->config.population; i++)
        s->n_at_best += plain_fitness(p, genome + i * p->length) == s->best;
}

static void plain_search_run(plain_search *p, const sf_search_config *config, int length)
{
    *p = (plain_search){.config = *config, .length = length};
    const size_t all = (size_t)config->trials * (size_t)(config->generations + 1) * (size_t)config->islands;
    p->populations = calloc(all * (size_t)config->population, (size_t)length);
    p->stats = calloc(all, sizeof *p->stats);
    p->asked = calloc((size_t)1 << length, sizeof *p->asked);
    p->first = calloc((size_t)1 << length, sizeof *p->first);
    p->migrant = calloc(all * (size_t)config->migrants + 1, sizeof *p->migrant);
    p->migrant_genome = calloc(all * (size_t)config->migrants + 1, (size_t)length);
    const bool migrates = config->islands > 1 && config->migration_interval > 0 && config->migrants > 0;
    for (int t = 0; t < config->trials; t++) {
        for (int64_t g = 0; g <= config->generations; g++) {
            for (int k = 0; k < config->islands; k++) {
                plain_breed(p, t, g, k);
                plain_ask(p, t, g, k);
            }
            if (migrates && g > 0 && g % config->migration_interval == 0)
                plain_send(p, t, g);
            for (size_t m = 0; m < p->n_migrants; m++) {
                if (p->migrant[m].trial == t && p->migrant[m].taken == g)
                    plain_settle(p, &p->migrant[m], p->migrant_genome + m * (size_t)length);
            }
            for (int k = 0; k < config->islands; k++)
                plain_count(p, t, g, k);
        }
    }
}

static void plain_search_free(plain_search *p)
{
    free(p->populations);
    free(p->stats);
    free(p->asked);
    free(p->first);
    free(p->migrant);
    free(p->migrant_genome);
}

/* Asserts that the record says what the plain search says. The log is sorted first. */
static void plain_search_compare(const plain_search *p, sf_record *r)
{
    const sf_search_config *c = &p->config;
    const size_t width = (size_t)c->population * (size_t)p->length;
    CU_ASSERT_EQUAL_FATAL(r->generation, c->generations);
    CU_ASSERT_EQUAL(memcmp(r->stats, p->stats,
                           (size_t)c->trials * (size_t)(c->generations + 1) * (size_t)c->islands * sizeof *p->stats),
                    0);
    for (int t = 0; t < c->trials; t++)
        CU_ASSERT_EQUAL(memcmp(r->population + (size_t)t * (size_t)c->islands * width,
                               plain_genome(p, t, c->generations, 0, 0), (size_t)c->islands * width),
                        0);
    if (c->keep_populations)
        CU_ASSERT_EQUAL(memcmp(r->populations, p->populations,
                               (size_t)c->trials * (size_t)(c->generations + 1) * (size_t)c->islands * width),
                        0);

    CU_ASSERT_EQUAL(r->known.n, p->n_asked);
    for (size_t i = 0; i < r->known.n; i++) {
        const uint8_t *genome = r->known.genome + i * (size_t)p->length;
        const size_t code = plain_code(p, genome);
        CU_ASSERT(p->asked[code]);
        CU_ASSERT_FALSE(sf_place_less(&r->known.first[i], &p->first[code]));
        CU_ASSERT_FALSE(sf_place_less(&p->first[code], &r->known.first[i]));
        CU_ASSERT_EQUAL(r->known.fitness[i], plain_fitness(p, genome));
        CU_ASSERT_EQUAL(r->known.histogram[i * (size_t)r->n_scores], 1);
    }

    sf_record_sort(r);
    CU_ASSERT_EQUAL_FATAL(r->n_migrants, p->n_migrants);
    for (size_t i = 0; i < r->n_migrants; i++) {
        const sf_migrant *a = &r->migrant[i], *b = &p->migrant[i];
        CU_ASSERT(a->trial == b->trial && a->from == b->from && a->to == b->to && a->index == b->index);
        CU_ASSERT(a->sent == b->sent && a->taken == b->taken && a->fate == b->fate);
    }
    if (r->n_migrants)
        CU_ASSERT_EQUAL(memcmp(r->migrant_genome, p->migrant_genome, r->n_migrants * (size_t)p->length), 0);
}

#endif

/* Selection, crossover, mutation and elites of the paper's generational GA. Roulette-wheel selection is usually written
 * with a float in 0..1; here the wheel has integer fields and the draw is an integer, so no rounding decides a parent.
 * Names as in Goldberg, Genetic Algorithms in Search, Optimization and Machine Learning (1989). */
#include "core/search/operators.h"

#include <stdlib.h>
#include <string.h>

static int by_rank(const void *left, const void *right, void *context)
{
    const int32_t *fitness = context;
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    if (fitness[a] != fitness[b])
        return fitness[a] > fitness[b] ? -1 : 1;
    return (a > b) - (a < b);
}

/* The one elite or migrant of the usual case needs no sorting. */
static void rank_one(int32_t n, const int32_t *fitness, int32_t *order)
{
    order[0] = 0;
    for (int32_t i = 1; i < n; i++) {
        if (fitness[i] > fitness[order[0]])
            order[0] = i;
    }
}

void sf_rank(int32_t n, const int32_t *fitness, int32_t n_first, int32_t *order)
{
    if (n_first <= 1) {
        rank_one(n, fitness, order);
        return;
    }
    for (int32_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, (size_t)n, sizeof *order, by_rank, (void *)(uintptr_t)fitness);
}

int32_t sf_rank_worst(int32_t n, const int32_t *fitness)
{
    int32_t worst = 0;
    for (int32_t i = 1; i < n; i++) {
        if (fitness[i] <= fitness[worst])
            worst = i;
    }
    return worst;
}

void sf_selection_weights(int32_t n, const int32_t *fitness, uint64_t *cumulative)
{
    uint64_t sum = 0;
    for (int32_t i = 0; i < n; i++)
        cumulative[i] = sum += (uint64_t)fitness[i];
    if (sum > 0)
        return;
    for (int32_t i = 0; i < n; i++)
        cumulative[i] = (uint64_t)i + 1;
}

int32_t sf_selection_draw(int32_t n, const uint64_t *cumulative, sf_stream *stream)
{
    uint64_t draw = sf_stream_below(stream, cumulative[n - 1]);
    int32_t low = 0, high = n - 1; /* the first index whose cumulative weight is above the draw */
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (cumulative[middle] > draw)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int sf_crossover_cut(int length, sf_stream *stream)
{
    return length < 2 ? 1 : 1 + (int)sf_stream_below(stream, (uint64_t)length - 1);
}

void sf_crossover_one_point(int length, const uint8_t *a, const uint8_t *b, int cut, uint8_t *first, uint8_t *second)
{
    size_t head = (size_t)cut, tail = (size_t)(length - cut);
    memcpy(first, a, head);
    memcpy(first + head, b + head, tail);
    if (second) {
        memcpy(second, b, head);
        memcpy(second + head, a + head, tail);
    }
}

void sf_mutation_flip(int length, int n_letters, uint64_t rate, sf_stream *stream, uint8_t *genome)
{
    for (int i = 0; i < length; i++) {
        if (sf_stream_below(stream, SF_RATE_ONE) >= rate)
            continue;
        uint64_t step = n_letters > 2 ? 1 + sf_stream_below(stream, (uint64_t)n_letters - 1) : 1;
        genome[i] = (uint8_t)((genome[i] + step) % (uint64_t)n_letters);
    }
}

void sf_initial_genome(const sf_search_config *config, int32_t trial, int32_t island, int32_t individual, int length,
                       int n_letters, uint8_t *genome)
{
    sf_stream stream;
    sf_stream_init(&stream, config->seed, (uint64_t)trial, (uint64_t)island, 0, (uint64_t)individual,
                   SF_PURPOSE_INITIAL);
    for (int i = 0; i < length; i++)
        genome[i] = (uint8_t)sf_stream_below(&stream, (uint64_t)n_letters);
}

void sf_breed(const sf_search_config *config, int32_t trial, int32_t island, int64_t generation, int length,
              int n_letters, const uint8_t *genomes, const int32_t *fitness, uint8_t *next, uint64_t *cumulative,
              int32_t *order)
{
    const int32_t population = config->population;
    const size_t width = (size_t)length;
    const uint64_t where[4] = {config->seed, (uint64_t)trial, (uint64_t)island, (uint64_t)generation};
    sf_stream stream;

    sf_rank(population, fitness, config->elites, order);
    for (int32_t i = 0; i < config->elites; i++)
        memcpy(next + (size_t)i * width, genomes + (size_t)order[i] * width, width);

    sf_selection_weights(population, fitness, cumulative);
    for (int32_t child = config->elites; child < population; child += 2) {
        sf_stream_init(&stream, where[0], where[1], where[2], where[3], (uint64_t)child, SF_PURPOSE_PARENT);
        const uint8_t *a = genomes + (size_t)sf_selection_draw(population, cumulative, &stream) * width;
        const uint8_t *b = genomes + (size_t)sf_selection_draw(population, cumulative, &stream) * width;
        sf_stream_init(&stream, where[0], where[1], where[2], where[3], (uint64_t)child, SF_PURPOSE_CROSSOVER);
        uint8_t *first = next + (size_t)child * width;
        sf_crossover_one_point(length, a, b, sf_crossover_cut(length, &stream), first,
                               child + 1 < population ? first + width : NULL);
    }
    for (int32_t child = config->elites; child < population; child++) {
        sf_stream_init(&stream, where[0], where[1], where[2], where[3], (uint64_t)child, SF_PURPOSE_MUTATION);
        sf_mutation_flip(length, n_letters, config->mutation_rate, &stream, next + (size_t)child * width);
    }
}

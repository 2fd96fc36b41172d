/* Statistics are computed here a second time, from letters and stored histograms, apart from the search that wrote
 * them. */
#include "app/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/best_levels.h"

/* ---- fitness from the stored histogram, not from the stored fitness ---- */

static int32_t fitness_of(const sf_known *known, size_t row)
{
    const uint64_t *histogram = known->histogram + row * (size_t)known->n_scores;
    int32_t n = 0;
    for (int s = 0; s < known->n_scores; s++)
        n += histogram[s] != 0 && histogram[s] != SF_COUNT_UNKNOWN;
    return n;
}

static int check_stored_fitness(const sf_known *known, sf_error *err)
{
    for (size_t row = 0; row < known->n; row++) {
        if (fitness_of(known, row) != known->fitness[row])
            return sf_fail(err, SF_ECHECK, "/sequences/distinct_scores row %zu is %d, its histogram has %d", row,
                           known->fitness[row], fitness_of(known, row));
    }
    return 0;
}

/* ---- one population ---- */

static int compare_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* Statistics of population[n][length]; row[n] is scratch. False when an individual is not in /sequences. */
static bool stats_of(const sf_record *record, const uint8_t *population, size_t *row, sf_generation_stats *stats)
{
    size_t n = (size_t)record->config.population, length = (size_t)record->length;
    uint8_t canonical[SF_LENGTH_MAX];
    *stats = (sf_generation_stats){.best = INT32_MIN, .worst = INT32_MAX};
    for (size_t i = 0; i < n; i++) {
        sf_sequence_canonical(record->length, population + i * length, canonical);
        row[i] = sf_known_find(&record->known, canonical);
        if (row[i] == SIZE_MAX)
            return false;
        int32_t fitness = fitness_of(&record->known, row[i]);
        if (fitness > stats->best)
            stats->n_at_best = 0;
        stats->best = fitness > stats->best ? fitness : stats->best;
        stats->worst = fitness < stats->worst ? fitness : stats->worst;
        stats->n_at_best += fitness == stats->best;
        stats->sum += fitness;
    }
    qsort(row, n, sizeof *row, compare_size);
    for (size_t i = 0; i < n; i++)
        stats->n_distinct += i == 0 || row[i] != row[i - 1];
    return true;
}

static int check_population(const sf_record *record, int32_t trial, int64_t generation, int32_t island,
                            const uint8_t *population, size_t *row, sf_error *err)
{
    const sf_search_config *config = &record->config;
    const sf_generation_stats *stored =
        &record->stats[((int64_t)trial * (config->generations + 1) + generation) * config->islands + island];
    sf_generation_stats found;
    if (!stats_of(record, population, row, &found))
        return sf_fail(err, SF_ECHECK,
                       "/population of trial %d generation %" PRId64 " island %d has a sequence that "
                       "/sequences lacks",
                       trial, generation, island);
    const struct {
        const char *name;
        int64_t stored, found;
    } pair[] = {
        {"best", stored->best, found.best},
        {"worst", stored->worst, found.worst},
        {"sum", stored->sum, found.sum},
        {"n_at_best", stored->n_at_best, found.n_at_best},
        {"n_distinct", stored->n_distinct, found.n_distinct},
    };
    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++) {
        if (pair[i].stored != pair[i].found)
            return sf_fail(err, SF_ECHECK,
                           "/trajectory/%s of trial %d generation %" PRId64 " island %d is %" PRId64
                           ", the population has %" PRId64,
                           pair[i].name, trial, generation, island, pair[i].stored, pair[i].found);
    }
    return 0;
}

int sf_verify_populations(const sf_run_data *data, sf_verified *verified, sf_error *err)
{
    const sf_record *record = &data->record;
    const sf_search_config *config = &record->config;
    const uint8_t *last = data->live ? NULL : record->population, *all = record->populations;
    size_t bytes = (size_t)config->population * (size_t)record->length;
    int code = check_stored_fitness(&record->known, err);
    if (code || record->generation < 0 || (!last && !all) || record->length > SF_LENGTH_MAX)
        return code;
    size_t *row = malloc((size_t)config->population * sizeof *row);
    if (!row)
        return sf_fail(err, SF_ENOMEM, "out of memory for a population");
    for (int32_t t = 0; !code && t < config->trials; t++) {
        for (int64_t g = all ? 0 : record->generation; !code && g <= record->generation; g++) {
            for (int32_t i = 0; !code && i < config->islands; i++, verified->n_populations++) {
                size_t kept =
                    ((size_t)t * (size_t)(config->generations + 1) + (size_t)g) * (size_t)config->islands + (size_t)i;
                size_t present = (size_t)t * (size_t)config->islands + (size_t)i;
                const uint8_t *population = all ? all + kept * bytes : last + present * bytes;
                code = check_population(record, t, g, i, population, row, err);
                if (!code && all && last && g == record->generation &&
                    memcmp(population, last + present * bytes, bytes) != 0)
                    code = sf_fail(err, SF_ECHECK,
                                   "/population/last of trial %d island %d is not that of the last generation", t, i);
            }
        }
    }
    free(row);
    return code;
}

/* ---- levels ---- */

static int check_solution(const sf_problem *problem, const sf_record *record, size_t idx, const sf_level *level,
                          int star, sf_error *err)
{
    sf_error why = {0, ""};
    int score = 0;
    const uint8_t *genome = record->known.genome + level->row * (size_t)record->length;
    if (sf_walk_score(problem, genome, level->solution[star], &score, &why) != 0)
        return sf_fail(err, SF_ECHECK, "/levels/solutions row %zu, %d stars: %s", idx, star + 1, why.text);
    if (score < level->stars[star])
        return sf_fail(err, SF_ECHECK, "/levels/solutions row %zu, %d stars: its score is %d, the star asks for %d",
                       idx, star + 1, score, level->stars[star]);
    return 0;
}

static int check_level(const sf_problem *problem, const sf_record *record, size_t idx, const sf_level *stored,
                       const sf_level *found, sf_error *err)
{
    if (stored->row != found->row)
        return sf_fail(err, SF_ECHECK, "/levels/sequence row %zu is %zu, found again it is %zu", idx, stored->row,
                       found->row);
    if (stored->has_stars != found->has_stars || memcmp(stored->stars, found->stars, sizeof stored->stars) != 0)
        return sf_fail(err, SF_ECHECK, "/levels/stars row %zu are not those of its best score", idx);
    int code = 0;
    for (int star = 0; !code && stored->has_stars && star < 3; star++) {
        code = check_solution(problem, record, idx, stored, star, err);
        if (!code && strcmp(stored->solution[star], found->solution[star]) != 0)
            code = sf_fail(err, SF_ECHECK, "/levels/solutions row %zu, %d stars: %s, found again it is %s", idx,
                           star + 1, stored->solution[star], found->solution[star]);
    }
    return code;
}

int sf_verify_levels(const sf_problem *problem, const sf_run_data *data, sf_verified *verified, sf_error *err)
{
    size_t n = 0;
    sf_level *found = NULL;
    if (data->meta.n_levels == 0)
        return 0;
    int code = sf_best_levels(problem, &data->record.known, data->meta.n_levels, &found, &n, err);
    if (!code && n != data->meta.n_levels)
        code = sf_fail(err, SF_ECHECK, "/levels has %zu rows for %zu sequences", data->meta.n_levels, n);
    for (size_t i = 0; !code && i < n; i++, verified->n_levels++)
        code = check_level(problem, &data->record, i, &data->levels[i], &found[i], err);
    sf_best_levels_free(found, n);
    return code;
}

/* The configuration of a search: defaults (the paper's values) and ranges. The upper limits are there so that no
 * product of two fields overflows later; nobody should meet them. */
#include "core/search/config.h"

#include <inttypes.h>
#include <stddef.h>

enum { POPULATION_MAX = 1000000, TRIALS_MAX = 1000000, ISLANDS_MAX = 1000000 };
#define GENERATIONS_MAX INT64_C(1000000000)
#define ALL_ISLANDS_MAX INT64_C(1000000000)

void sf_search_config_init(sf_search_config *config)
{
    *config = (sf_search_config){
        .seed = 1,
        .population = 30,
        .generations = 50,
        .trials = 1,
        .islands = 1,
        .elites = 1,
        .mutation_rate = SF_RATE_ONE / 10,
        .migration_interval = 10,
        .migration_delay = 1,
        .migrants = 1,
        .selection = SF_SELECTION_PROPORTIONAL,
        .crossover = SF_CROSSOVER_ONE_POINT,
        .survival = SF_SURVIVAL_GENERATIONAL,
        .fitness = SF_FITNESS_DISTINCT_SCORES,
        .topology = SF_TOPOLOGY_RING,
    };
}

static int check_range(const char *name, int64_t value, int64_t low, int64_t high, sf_error *err)
{
    if (value >= low && value <= high)
        return SF_OK;
    return sf_fail(err, SF_EINPUT, "--%s %" PRId64 ": allowed is %" PRId64 " to %" PRId64, name, value, low, high);
}

static int check_choice(const char *name, int value, int n, sf_error *err)
{
    if (value >= 0 && value < n)
        return SF_OK;
    return sf_fail(err, SF_EINPUT, "--%s: choice %d does not exist, there are 0 to %d", name, value, n - 1);
}

int sf_search_config_check(const sf_search_config *config, sf_error *err)
{
    const struct {
        const char *name;
        int64_t value, low, high;
    } ranges[] = {
        {"population", config->population, 2, POPULATION_MAX},
        {"generations", config->generations, 0, GENERATIONS_MAX},
        {"trials", config->trials, 1, TRIALS_MAX},
        {"islands", config->islands, 1, ISLANDS_MAX},
        {"elites", config->elites, 0, config->population},
        {"migration-interval", config->migration_interval, 0, GENERATIONS_MAX},
        {"migration-delay", config->migration_delay, 1, GENERATIONS_MAX},
        {"migrants", config->migrants, 0, config->population},
        {"keep-populations", config->keep_populations, 0, 1},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        int code = check_range(ranges[i].name, ranges[i].value, ranges[i].low, ranges[i].high, err);
        if (code)
            return code;
    }
    if (config->mutation_rate > SF_RATE_ONE)
        return sf_fail(err, SF_EINPUT, "--mutation-rate is above 1: allowed is 0 to 1");
    if ((int64_t)config->trials * config->islands > ALL_ISLANDS_MAX)
        return sf_fail(err, SF_EINPUT,
                       "--trials %" PRId32 " times --islands %" PRId32 ": allowed is up to %" PRId64 " islands in all",
                       config->trials, config->islands, ALL_ISLANDS_MAX);
    const struct {
        const char *name;
        int value, n;
    } choices[] = {
        {"selection", (int)config->selection, 1}, {"crossover", (int)config->crossover, 1},
        {"survival", (int)config->survival, 1},   {"fitness", (int)config->fitness, 1},
        {"topology", (int)config->topology, 1},
    };
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        int code = check_choice(choices[i].name, choices[i].value, choices[i].n, err);
        if (code)
            return code;
    }
    return SF_OK;
}

/* What decides a search: every field here changes results and is stored in the run file. Layout, limits and verbosity
 * are not here. */
#ifndef SF_CORE_SEARCH_CONFIG_H
#define SF_CORE_SEARCH_CONFIG_H

#include <stdint.h>

#include "starfold/error.h"

/* Rates are parts per thousand million, so that no floating point decides anything. */
#define SF_RATE_ONE UINT64_C(1000000000)

typedef enum sf_selection { SF_SELECTION_PROPORTIONAL } sf_selection;
typedef enum sf_crossover { SF_CROSSOVER_ONE_POINT } sf_crossover;
typedef enum sf_survival { SF_SURVIVAL_GENERATIONAL } sf_survival; /* elites, then children replace all others */
typedef enum sf_fitness { SF_FITNESS_DISTINCT_SCORES } sf_fitness;
typedef enum sf_topology { SF_TOPOLOGY_RING } sf_topology;

typedef struct sf_search_config {
    uint64_t seed;
    int32_t population;         /* 2.. */
    int64_t generations;        /* 0..; generation 0 is the initial population */
    int32_t trials;             /* 1.. */
    int32_t islands;            /* a trial, 1.. */
    int32_t elites;             /* 0..population */
    uint64_t mutation_rate;     /* of SF_RATE_ONE, an element */
    int64_t migration_interval; /* generations; 0: no migration */
    int64_t migration_delay;    /* epochs between sending and taking in, 1.. */
    int32_t migrants;           /* a message, 0..population */
    sf_selection selection;
    sf_crossover crossover;
    sf_survival survival;
    sf_fitness fitness;
    sf_topology topology;
    int32_t keep_populations; /* 0: the last generation, 1: every one */
} sf_search_config;

/* The defaults: the paper's values (population 30, 50 generations, one elite, rate 0.1, 1 trial, 1 island, no migration
 * between one island; interval 10, delay 1, 1 migrant), seed 1. */
void sf_search_config_init(sf_search_config *config);

/* SF_EINPUT with the option's name and its range for the first field out of range. */
int sf_search_config_check(const sf_search_config *config, sf_error *err);

#endif

/* What the options set, as values. One struct for all commands: a command reads the fields of the option groups it
 * lists (option_table.c). */
#ifndef SF_APP_SETTINGS_H
#define SF_APP_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/search/config.h"
#include "starfold/score_model.h"

enum { SF_TEXT_SIZE = 4096 }; /* longest text value, with its '\0': a path */

/* What a search stores of a sequence; the values of --known. */
enum sf_known_kind { SF_KNOWN_AUTO, SF_KNOWN_HISTOGRAMS, SF_KNOWN_SCORES };

typedef struct sf_settings {
    /* every command */
    bool help, quiet;
    int64_t threads; /* 0: chosen by the program */
    int64_t format;  /* index into text, json */
    char perf[SF_TEXT_SIZE];
    /* the problem */
    int64_t lattice; /* index into sf_lattice_names() */
    sf_score_model score_model;
    int64_t length; /* 0: not given */
    /* engines and limits */
    int64_t engine; /* index into auto, table, walk, ... */
    uint64_t memory_limit, node_limit;
    int64_t top_counts;
    bool explain;
    uint64_t max_ms, refuse_over_ms; /* milliseconds; 0: no limit */
    char machine[SF_TEXT_SIZE];
    char table[SF_TEXT_SIZE], table_cache[SF_TEXT_SIZE];
    /* enumerate, levels */
    char file[SF_TEXT_SIZE];
    bool solutions;
    int64_t count;
    /* census */
    bool histograms;
    /* verify */
    int64_t recount; /* index into plain, table, walk, ... */
    int64_t sample;  /* 0: all */
    /* run and resume */
    char output[SF_TEXT_SIZE], config[SF_TEXT_SIZE], preset[SF_TEXT_SIZE];
    bool force, keep_populations;
    uint64_t seed, mutation_rate; /* the rate: of SF_RATE_ONE */
    int64_t population, generations, trials, islands, elites;
    int64_t selection, crossover, survival, fitness, topology; /* values of the enums of core/search/config.h */
    int64_t migration_interval, migration_delay, migrants;
    int64_t known; /* enum sf_known_kind */
    bool stores_scores; /* no option: what sf_session_configure made of `known` */
    int64_t checkpoint_interval;           /* generations */
    uint64_t checkpoint_ms, time_limit_ms; /* milliseconds */
} sf_settings;

/* The search configuration these settings describe; ranges hold already, sf_search_config_check looks at the rest. */
void sf_settings_search(const sf_settings *settings, sf_search_config *config);

#endif

/* A search from its opened puzzle to its finished file: what `run` and `resume` share. */
#ifndef SF_APP_SESSION_H
#define SF_APP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/app.h"
#include "app/progress.h"
#include "app/run_paths.h"
#include "app/table_place.h"
#include "core/puzzle/puzzle.h"
#include "core/search/record.h"
#include "io/run_file.h"

typedef struct sf_session {
    sf_app *app; /* its options hold the configuration of the run */
    sf_run_paths paths;
    sf_problem problem;
    sf_search_config config;
    sf_puzzle puzzle;
    sf_table_place place; /* of the table of the puzzle's engine */
    sf_record record; /* rank 0 */
    bool resumed;
    bool has_checkpoint; /* what it goes on from is in a checkpoint already */
    size_t n_entries;
    sf_config_entry entry[SF_OPTIONS_MAX];
    sf_run_meta meta;
    sf_live_file *live;
    sf_progress progress;
    double save_due_s; /* when the next checkpoint by time is due */
    int64_t first_generation;
    uint64_t evaluated;
    double start_s, open_s, search_s, save_s, write_s; /* timings */
    int n_saves;
} sf_session;

/* Checks the configuration and fills problem, config and the entries of /config. Every rank. */
int sf_session_configure(sf_session *session, sf_app *app, sf_error *err);

/* How many genomes the search may ask for at most, where so many generations are done; -1: nothing is. */
size_t sf_session_genomes(const sf_session *session, int64_t done);

/* --explain: what each engine would take for as many. `done` counts on rank 0. Collective. */
int sf_session_explain(const sf_session *session, int64_t done, sf_error *err);

/* Opens the puzzle and runs to the end or to a stop; the lock is held and, on rank 0, the record is initialised (or
 * read from a checkpoint). Leaves the finished file, or a checkpoint and SF_ESTOPPED. Collective. */
int sf_session_search(sf_session *session, sf_error *err);

void sf_session_free(sf_session *session);

#endif

/* The program: what a command is given, and the commands. Only this floor prints and exits. */
#ifndef SF_APP_APP_H
#define SF_APP_APP_H

#include <stdbool.h>

#include "app/options.h"
#include "dist/comm.h"
#include "starfold/engine.h"
#include "starfold/error.h"
#include "starfold/problem.h"

typedef struct sf_app {
    sf_comm comm;
    sf_options options;
} sf_app;

/* Every command is collective: all ranks run it with the same options. What it returns may differ between ranks; main
 * makes them agree and lets rank 0 print the line. A command agrees itself before anything else that is collective. */
extern const sf_command sf_command_run, sf_command_resume, sf_command_enumerate, sf_command_census, sf_command_levels,
    sf_command_info, sf_command_verify, sf_command_repair, sf_command_digest, sf_command_doctor, sf_command_table;

/* ---- shared by the commands (common.c) ---- */

/* True on the one rank that prints. */
bool sf_app_speaks(const sf_app *app);

/* Threads a rank works with. */
int sf_app_threads(const sf_app *app);

/* The problem of --lattice, --score-model and `length`; it points to the options' score model. */
int sf_app_problem(const sf_app *app, int length, sf_problem *problem, sf_error *err);

/* Engine options of the engine group. */
void sf_app_engine_options(const sf_app *app, sf_engine_options *options);

/* Fails on every rank, naming rank and option, when one has other options than rank 0: a configuration or a score model
 * is read by each, and nodes may have different files of one name. Collective. */
int sf_app_agree_options(const sf_app *app, sf_error *err);

/* Flushes standard output; SF_EIO when something could not be written. */
int sf_app_flush(sf_error *err);

/* "41889578" as "41,889,578"; text has room for 32. */
const char *sf_count_text(uint64_t count, char *text);

/* Bytes and seconds to be read by people: "12 MiB", "3 min 20 s"; text has room for 32. */
const char *sf_bytes_text(uint64_t bytes, char *text);
const char *sf_seconds_text(double seconds, char *text);

#endif

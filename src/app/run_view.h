/* A run file opened for reading by a command that prints: finished, live or killed. */
#ifndef SF_APP_RUN_VIEW_H
#define SF_APP_RUN_VIEW_H

#include "app/app.h"
#include "app/run_paths.h"
#include "io/run_file.h"

typedef struct sf_run_view {
    sf_run_paths paths;
    sf_run_data data;
    const char *state; /* "finished", "running", "stopped" (also: killed) */
    char holder[256];  /* who writes it, when running */
    bool checkpoint;   /* there is one to resume from */
    bool from_checkpoint; /* the file itself is damaged: `data` is of its checkpoint */
    sf_score_model model; /* of the run, once sf_run_view_problem was called */
} sf_run_view;

int sf_run_view_open(sf_run_view *view, const char *path, sf_error *err);
void sf_run_view_close(sf_run_view *view);

/* The stored value of an option, or "" when the file has none. */
const char *sf_run_view_option(const sf_run_view *view, const char *name);

/* The problem the run searched; it points into *view. SF_EFORMAT when this program does not know its lattice or score model. */
int sf_run_view_problem(sf_run_view *view, sf_problem *problem, sf_error *err);

#endif

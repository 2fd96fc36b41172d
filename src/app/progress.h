/* The progress line on standard error: rewritten in place on a terminal, one line every few seconds elsewhere; nothing
 * with --quiet, on other ranks, or for work that is done before the first is due. */
#ifndef SF_APP_PROGRESS_H
#define SF_APP_PROGRESS_H

#include <stdbool.h>

#include "app/app.h"

typedef struct sf_progress {
    bool on, terminal;
    int shown;      /* width of the line on the terminal */
    double start_s; /* monotonic */
    double due_s;
} sf_progress;

/* Monotonic seconds. */
double sf_now(void);

void sf_progress_start(sf_progress *progress, const sf_app *app);
double sf_progress_elapsed(const sf_progress *progress);

/* True when a line is due; then call sf_progress_show. */
bool sf_progress_due(const sf_progress *progress);
void sf_progress_show(sf_progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Wipes the line from a terminal. */
void sf_progress_end(sf_progress *progress);

#endif

/* One line that is due by the clock: code that works asks often, and nearly always is told no. */
#include "app/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* seconds: before the first line; between lines on a terminal; between lines in a log */
static const double FIRST_S = 2, TERMINAL_S = 0.2, LOG_S = 5;

double sf_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void sf_progress_start(sf_progress *progress, const sf_app *app)
{
    memset(progress, 0, sizeof *progress);
    progress->on = sf_app_speaks(app) && !app->options.settings.quiet;
    progress->terminal = isatty(STDERR_FILENO);
    progress->start_s = sf_now();
    progress->due_s = progress->start_s + FIRST_S;
}

double sf_progress_elapsed(const sf_progress *progress)
{
    return sf_now() - progress->start_s;
}

bool sf_progress_due(const sf_progress *progress)
{
    return progress->on && sf_now() >= progress->due_s;
}

void sf_progress_show(sf_progress *progress, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (progress->terminal)
        fprintf(stderr, "\r%-*s", progress->shown, line);
    else
        fprintf(stderr, "%s\n", line);
    fflush(stderr);
    progress->shown = n;
    progress->due_s = sf_now() + (progress->terminal ? TERMINAL_S : LOG_S);
}

void sf_progress_end(sf_progress *progress)
{
    if (progress->on && progress->terminal && progress->shown)
        fprintf(stderr, "\r%*s\r", progress->shown, "");
    progress->shown = 0;
}

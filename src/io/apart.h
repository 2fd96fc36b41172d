/* Reading of a file, tried first in a process of its own: HDF5 1.10 dies of some damaged files. That doubles the time to
 * read, which no command does more than once or twice. It is no sandbox: the process may do what ours may. */
#ifndef SF_IO_APART_H
#define SF_IO_APART_H

#include "starfold/error.h"

/* Forks, lets the child do work(context, err), and gives its code and line: SF_EFORMAT naming `path` when it died of
 * it, or took more processor time than the file's size explains. What else the child did is lost with it. Not for a
 * process with other threads at work. */
int sf_apart_try(const char *path, int (*work)(void *context, sf_error *err), void *context, sf_error *err);

/* The same, where the work is done for good there: it leaves what it found in memory that is shared. */
int sf_apart_do(const char *path, int (*work)(void *context, sf_error *err), void *context, sf_error *err);

#endif

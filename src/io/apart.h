/* Work on a file that nobody vouches for, done first in a process of its own: HDF5 1.10 dies of some damaged files. */
#ifndef SF_IO_APART_H
#define SF_IO_APART_H

#include "starfold/error.h"

/* Forks, lets the child do work(context, err), and gives its code and line: SF_EFORMAT naming `path` when it died of
 * it, or took more processor time than the file's size explains. What else the child did is lost with it. Not for a
 * process with other threads at work. */
int sf_apart_try(const char *path, int (*work)(void *context, sf_error *err), void *context, sf_error *err);

#endif

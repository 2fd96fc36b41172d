/* Wishes to stop early: signals (USR1, TERM, INT), a file RUN.h5.stop, a time limit. They set one flag, which the
 * search polls; the run ends with a checkpoint. A second signal leaves at once. */
#ifndef SF_APP_STOP_H
#define SF_APP_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "starfold/error.h"

/* The flag: 0, or why (enum sf_stop_reason). */
extern volatile int sf_stop_flag;

enum sf_stop_reason { SF_STOP_NONE, SF_STOP_SIGNAL, SF_STOP_FILE, SF_STOP_TIME };

const char *sf_stop_text(int reason);

/* Installs the signal handlers (every rank). */
void sf_stop_catch_signals(void);

/* The line this rank says when a second signal makes it leave at once: the command that goes on, or, with NULL, that
 * there is no checkpoint yet. Without this call it says nothing. */
void sf_stop_say_at_once(const char *command);

/* The command is over and its line, if any, comes now: a launcher that ends the ranks one by one gets no second one. */
void sf_stop_hush(void);

/* Starts to watch for the file `stop_path`, and for the time limit in milliseconds (0: none) counted from
 * sf_stop_catch_signals or, inside a SLURM job, its end if that comes first. A rank that does not speak looks less
 * often: many of them ask one file system. */
int sf_stop_watch(const char *stop_path, uint64_t time_limit_ms, bool speaks, sf_error *err);

/* Tells how long the last checkpoint took, so that the time limit leaves room for another. */
void sf_stop_note_save(double seconds);

/* Ends watching. */
void sf_stop_end(void);

#endif

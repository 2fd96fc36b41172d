/* Where the time of a command goes, on this rank: one phase at a time, from the program's start to its end. With
 * --perf FILE rank 0 writes its own at the end; scaling studies are made of such files. */
#ifndef SF_APP_PHASES_H
#define SF_APP_PHASES_H

#include "app/app.h"

typedef enum sf_phase {
    SF_PHASE_START, /* options, MPI; the phase a program begins in */
    SF_PHASE_OPEN,  /* tables built or read, engines opened */
    SF_PHASE_COUNT, /* conformations counted; of a search, all of it but the checkpoints */
    SF_PHASE_WRITE, /* checkpoints, files, what is printed */
    SF_PHASES
} sf_phase;

/* Ends the phase that was on and begins this one; returns the one that was on. Not for several threads. */
sf_phase sf_phase_begin(sf_phase phase);

/* Wall time spent in a phase so far, in seconds. */
double sf_phase_seconds(sf_phase phase);

/* Rank 0: writes --perf FILE; 0 without the option. */
int sf_phases_write(const sf_app *app, const char *command, sf_error *err);

#endif

/* An enumeration that is kept in a file: `enumerate --output F.h5`. Finished parts are recorded in checkpoints beside
 * it; the same command started again goes on from there, on any number of ranks and threads, and ends with the same
 * bytes. */
#ifndef SF_APP_ENUMERATION_H
#define SF_APP_ENUMERATION_H

#include <stdbool.h>

#include "app/app.h"
#include "app/run_paths.h"
#include "app/sequences.h"
#include "dist/share_mpi.h"
#include "io/enumeration_file.h"

typedef struct sf_enumeration_run {
    const sf_app *app;
    sf_sequence_group *group;
    sf_run_paths paths;
    bool finished;       /* the file was there already: nothing is left to count */
    bool resumed;        /* a checkpoint was there */
    bool ready;          /* rank 0: the tally holds what it had, and may take its place */
    char engine[16];     /* that has counted so far, when resumed */
    sf_enumeration file; /* rank 0: the question; arrays are owned but for the histograms */
    sf_enumeration from; /* rank 0, when resumed: the checkpoint */
    size_t n_before;     /* rank 0: parts that it had */
    double save_due_s;
    int n_saves;
} sf_enumeration_run;

/* Takes the lock, reads what is there and compares it with what is asked. When the file is finished, the histograms are
 * filled; otherwise watching for signals and the time limit begins. SF_EINPUT, SF_EEXIST or SF_EMISMATCH when the file
 * or the checkpoint is of another question; nothing is changed then. Collective, agreed. Close it in any case. */
int sf_enumeration_open(sf_enumeration_run *run, const sf_app *app, sf_sequence_list *list, sf_error *err);
void sf_enumeration_close(sf_enumeration_run *run);

/* Rank 0: the share of the parts that is still to be counted, 0 to 1. */
double sf_enumeration_left(const sf_enumeration_run *run);

/* Rank 0: puts what the checkpoint has into the tally, which is planned with the engine of that name. */
int sf_enumeration_restore(sf_enumeration_run *run, const char *engine, sf_tally *tally, sf_error *err);

/* Rank 0: writes a checkpoint when one is due. */
int sf_enumeration_look(sf_enumeration_run *run, const sf_tally *tally, sf_error *err);

/* Rank 0, after the work, which ended with `code`: writes the file, or a checkpoint. Returns the code, with its line.
 */
int sf_enumeration_end(sf_enumeration_run *run, const sf_tally *tally, int code, sf_error *err);

#endif

/* The files of one run: RUN.h5 and those beside it, and the lock that keeps two jobs from one output. */
#ifndef SF_APP_RUN_PATHS_H
#define SF_APP_RUN_PATHS_H

#include <stdbool.h>

#include "app/file_lock.h"
#include "app/settings.h"
#include "starfold/error.h"

typedef struct sf_run_paths {
    char output[SF_TEXT_SIZE];
    char checkpoint[SF_TEXT_SIZE + 32]; /* RUN.h5.checkpoint */
    char next[SF_TEXT_SIZE + 32];       /* RUN.h5.checkpoint.next: one that is being written */
    char previous[SF_TEXT_SIZE + 32];   /* RUN.h5.checkpoint.previous */
    char stop[SF_TEXT_SIZE + 32];       /* RUN.h5.stop: made by a user who wants the run to end politely */
    char perf[SF_TEXT_SIZE + 32];       /* RUN.perf.h5 */
    sf_file_lock lock;                  /* RUN.h5.lock */
} sf_run_paths;

void sf_run_paths_init(sf_run_paths *paths, const char *output);

bool sf_path_exists(const char *path);
bool sf_path_is_folder(const char *path);

/* Two names of one file, by a link or by "./" as well; empty names are of none. */
bool sf_path_is_same(const char *a, const char *b);

/* SF_EINPUT unless `path` names a file, or nothing yet, and leaves room for longer names beside it: a rename would put a file
 * in the place of a device or of a link, too. */
int sf_path_check_output(const char *path, sf_error *err);

/* For a file that is written at the end of the work: may --output be written, and is nobody else at it? Takes the
 * lock, and guards it (sf_file_lock_guard). */
int sf_path_claim(const sf_settings *settings, sf_file_lock *lock, sf_error *err);

/* Takes the lock, which also shows that the folder can be written. SF_EINPUT when it cannot, SF_EEXIST naming the
 * holder when another job has it. It is given back by sf_run_paths_unlock, or by the death of the process. */
int sf_run_paths_lock(sf_run_paths *paths, sf_error *err);
void sf_run_paths_unlock(sf_run_paths *paths);

/* True when a living process holds the lock; holder[256] names it. */
bool sf_run_paths_held(const sf_run_paths *paths, char *holder);

/* Puts the checkpoint that was written under `next` in its place; the one that was there becomes the previous one. At
 * every moment there is a good checkpoint under one of the names. */
int sf_run_paths_install_checkpoint(const sf_run_paths *paths, sf_error *err);

/* Removes what a killed or failed writer may have left half-written beside the output. The lock is held. */
void sf_run_paths_sweep(const sf_run_paths *paths);

/* Removes all checkpoints and what sf_run_paths_sweep does. */
void sf_run_paths_drop_checkpoints(const sf_run_paths *paths);

#endif

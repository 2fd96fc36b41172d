/* The lock that keeps two jobs from one output: OUTPUT.lock beside it. */
#ifndef SF_APP_FILE_LOCK_H
#define SF_APP_FILE_LOCK_H

#include <stdbool.h>

#include "app/settings.h"
#include "starfold/error.h"

enum { SF_HOLDER_SIZE = 256 };

typedef struct sf_file_lock {
    char path[SF_TEXT_SIZE + 32];
    int fd; /* -1: not held */
} sf_file_lock;

/* Takes the lock, which also shows that the folder can be written. SF_EINPUT when it cannot, SF_EEXIST naming the holder
 * when another process has it; then holder[SF_HOLDER_SIZE] (may be NULL) is its name. It is given back by
 * sf_file_lock_drop, or by the death of the process. */
int sf_file_lock_take(sf_file_lock *lock, const char *output, char *holder, sf_error *err);

/* From now until the lock is dropped, a signal that ends the process ends it with one line and status 1, and takes the lock's
 * file and OUTPUT.tmp with it. For what is written at the end only, and cannot be gone on with. One lock at a time; it stays
 * where it is. */
void sf_file_lock_guard(const sf_file_lock *lock, const char *output);

/* Gives it back; one that is not held is allowed. */
void sf_file_lock_drop(sf_file_lock *lock);

/* True when a living process holds the lock; holder[SF_HOLDER_SIZE] names it. */
bool sf_file_lock_held(const char *output, char *holder);

#endif

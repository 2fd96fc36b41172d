/* Files written aside: under another name in the same folder, synced, and only then renamed to their own, so that what
 * stands under a name is always whole. */
#ifndef SF_IO_ASIDE_H
#define SF_IO_ASIDE_H

#include "starfold/error.h"

/* *aside is PATH.tmp (the caller frees it); what an interrupted writer left there is removed. SF_EIO with the reason,
 * as when the folder is missing. */
int sf_aside_begin(const char *path, char **aside, sf_error *err);

/* Syncs the file, renames it to `path` and syncs the folder. */
int sf_aside_commit(const char *path, const char *aside, sf_error *err);

/* Removes what was written aside; NULL is allowed. */
void sf_aside_drop(const char *aside);

#endif

/* What kind of Starfold file a file is, by its title: for readers, which want one kind, and for commands that take several. */
#ifndef SF_IO_FILE_KIND_H
#define SF_IO_FILE_KIND_H

#include <stdbool.h>

#include "io/h5.h"

typedef enum sf_file_kind { SF_FILE_UNKNOWN, SF_FILE_RUN, SF_FILE_ENUMERATION, SF_FILE_TABLE, SF_FILE_CENSUS } sf_file_kind;

/* SF_FILE_UNKNOWN also for one that is damaged or cannot be read: the reader of what was expected says why. */
sf_file_kind sf_file_kind_of(const char *path);

/* Whether it is an HDF5 file of that title; false also for one that is damaged or cannot be read. */
bool sf_file_has_title(const char *path, const char *title);

/* The kind that has this title. */
sf_file_kind sf_file_kind_titled(const char *title);

/* Has the file the title of that kind? SF_EINPUT or, where such files have a checkpoint beside them, SF_EFORMAT. */
int sf_file_check_title(sf_h5 *h5, sf_file_kind kind);

/* SF_EFORMAT when the file has another version of its layout than this program reads. */
int sf_file_check_schema(sf_h5 *h5, int32_t schema, int32_t readable);

#endif

/* Single values of a file, as a list: one list serves the writer and the reader. */
#ifndef SF_IO_H5_SCALARS_H
#define SF_IO_H5_SCALARS_H

#include "io/h5.h"

typedef enum sf_h5_kind { SF_H5_TEXT, SF_H5_INT32, SF_H5_UINT64 } sf_h5_kind;

typedef struct sf_h5_scalar {
    const char *name, *units, *description;
    sf_h5_kind kind;
    size_t offset, size; /* of the value in the struct; a text is closed within its size */
} sf_h5_scalar;

/* offset and size of a member */
#define SF_H5_FIELD(type, member) offsetof(type, member), sizeof((type *)NULL)->member

/* The first values of a file of that struct: where it is from. */
#define SF_H5_PROVENANCE(type)                                                                                         \
    {"/provenance/program", "", "program that wrote the file", SF_H5_TEXT, SF_H5_FIELD(type, program)},                \
        {"/provenance/version", "", "version of the program", SF_H5_TEXT, SF_H5_FIELD(type, version)},                 \
        {"/provenance/revision", "", "revision of the program's source", SF_H5_TEXT, SF_H5_FIELD(type, revision)},     \
    {                                                                                                                  \
        "/provenance/schema", "1", "version of this layout", SF_H5_INT32, SF_H5_FIELD(type, schema)                    \
    }

/* The groups they lie in must exist. */
int sf_h5_scalars_write(sf_h5 *h5, size_t n, const sf_h5_scalar *scalars, const void *values);

/* Reads them, each within its type and size; what they say is not judged here. */
int sf_h5_scalars_read(sf_h5 *h5, size_t n, const sf_h5_scalar *scalars, void *values);

/* Closes a dataset (an invalid one is allowed) that was written: only that writes a small one's values. Returns `code`, or
 * what went wrong where it is 0. */
int sf_h5_close_written(sf_h5 *h5, const char *name, hid_t dataset, int code);

/* The attributes that every dataset has. */
int sf_h5_describe(sf_h5 *h5, hid_t dataset, const char *units, const char *description);

#endif

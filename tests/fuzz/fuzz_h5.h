/* Edits to a good HDF5 file that leave it good HDF5, for the targets of the readers. */
#ifndef SF_TESTS_FUZZ_H5_H
#define SF_TESTS_FUZZ_H5_H

#include <hdf5.h>

#include "fuzz.h"

/* Opens the file for edits; HDF5 is quiet from here on. */
hid_t fuzz_h5_open(const char *path);

/* Writes bytes somewhere into the values of a dataset. */
void fuzz_h5_set(hid_t file, const char *name, fuzz_source *source, unsigned n_bytes);

/* Puts another dataset in its place: other sizes, or another type. Chunked, so that vast sizes cost nothing. */
void fuzz_h5_replace(hid_t file, const char *name, fuzz_source *source, bool retype);

/* One of FUZZ_H5_EDITS edits to a dataset: its values, its shape, its type; gone, or a link to one of four targets. */
enum { FUZZ_H5_EDITS = 6 };
void fuzz_h5_edit(hid_t file, const char *name, const char *const targets[4], unsigned edit, fuzz_source *source);

/* Sets an attribute to a short text or to a number, as they come. */
void fuzz_h5_attribute(hid_t object, const char *name, fuzz_source *source);

#endif

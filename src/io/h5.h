/* HDF5 as the run file needs it: quiet, checked, repeatable byte for byte. Knows nothing of searches.
 *
 * Every function returns 0 or a code and fills the error of its `sf_h5` with one line: the file, the object, what went
 * wrong and HDF5's own cause. */
#ifndef SF_IO_H5_H
#define SF_IO_H5_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"

/* An open file and whom to tell. */
typedef struct sf_h5 {
    hid_t file;       /* H5I_INVALID_HID when closed */
    const char *path; /* as errors show it; the caller's */
    int code;         /* code of a failing HDF5 call: SF_EIO when writing, SF_EFORMAT when reading */
    sf_error *err;
} sf_h5;

/* Creates `path`, which must not exist, in the earliest format, without HDF5's lock. `shown` is for errors. */
int sf_h5_create(sf_h5 *h5, const char *path, const char *shown, sf_error *err);

/* The same without any file on disk: what is written is gone when it is closed. */
int sf_h5_create_in_memory(sf_h5 *h5, const char *shown, sf_error *err);

/* SF_EINPUT when there is no regular file that can be read, SF_EFORMAT when it does not begin as HDF5 does. */
int sf_h5_probe(const char *path, sf_error *err);

/* Probes and opens for reading, without HDF5's lock. */
int sf_h5_open(sf_h5 *h5, const char *path, sf_error *err);

/* Closes; what could not be written is an error. A closed file is allowed. */
int sf_h5_close(sf_h5 *h5);

/* Fills the error: "PATH: OBJECT: what (cause)"; object may be NULL. Returns the code of h5. */
int sf_h5_fail(sf_h5 *h5, const char *object, const char *what);

int sf_h5_flush(sf_h5 *h5);
int sf_h5_group_create(sf_h5 *h5, const char *name);

/* Attributes of `object` (name is for errors): a text as one variable-length UTF-8 string (what h5py calls str), an
 * integer as 32 bits. */
int sf_h5_attr_text(sf_h5 *h5, hid_t object, const char *name, const char *text);
int sf_h5_attr_int(sf_h5 *h5, hid_t object, const char *name, int32_t value);

/* Writes n values (0: a single one) of the types as an attribute; an invalid type is an error. */
int sf_h5_attr_write(sf_h5 *h5, hid_t object, const char *name, hid_t file_type, hid_t type, size_t n,
                     const void *values);

/* True when nothing in the text is a command to a terminal: no control characters. What a file says is shown to people. */
bool sf_h5_is_text(const char *text);

/* Reads them back, checked. A longer text than size - 1, or one that is none (sf_h5_is_text), is an error. */
int sf_h5_attr_read_text(sf_h5 *h5, hid_t object, const char *name, size_t size, char *text);
int sf_h5_attr_read_int(sf_h5 *h5, hid_t object, const char *name, int32_t *value);

/* A fixed-length ASCII type of n bytes, filled up with zeros; the caller closes it. */
hid_t sf_h5_text_type(size_t n);

typedef struct sf_h5_layout {
    int rank;
    hsize_t size[H5S_MAX_RANK];
    int growing;                 /* axis without a limit, or -1 */
    hsize_t chunk[H5S_MAX_RANK]; /* 0 in [0]: contiguous */
    bool packed;                 /* shuffled, gzipped, with check sums */
    const uint64_t *fill;        /* fill value of 64-bit counts, or NULL */
} sf_h5_layout;

/* Creates a dataset; *dataset is the caller's to close. */
int sf_h5_dataset_create(sf_h5 *h5, const char *name, hid_t type, const sf_h5_layout *layout, hid_t *dataset);

/* What the reader demands of a dataset before it takes memory. */
typedef struct sf_h5_demand {
    hid_t type;
    int rank;
    hsize_t size[H5S_MAX_RANK];
    int growing; /* along this axis the file may hold more; -1: every size must be just this */
} sf_h5_demand;

/* Opens a dataset by name through hard links only and checks type, rank and sizes; that it lies within this file and
 * not elsewhere; that no filters but ours are on it; and that the file holds enough bytes for the demanded size. */
int sf_h5_dataset_open(sf_h5 *h5, const char *name, const sf_h5_demand *demand, hid_t *dataset);

/* What is wrong with where the dataset's values lie, `bytes` of them being asked for; NULL when nothing is. */
const char *sf_h5_wrong_storage(const sf_h5 *h5, hid_t dataset, hsize_t bytes);

/* Opens a scalar fixed-length text of at most size - 1 bytes and reads it. */
int sf_h5_text_read(sf_h5 *h5, const char *name, size_t size, char *text);

/* Transfers one block; `values` is dense. */
int sf_h5_block_write(sf_h5 *h5, const char *name, hid_t dataset, hid_t type, int rank, const hsize_t *start,
                      const hsize_t *count, const void *values);
int sf_h5_block_read(sf_h5 *h5, const char *name, hid_t dataset, hid_t type, int rank, const hsize_t *start,
                     const hsize_t *count, void *values);

/* Dimension scales: names the axes of a dataset; points from its axes to scales, by path (NULL: an axis without one); makes
 * a dataset a scale, with the axes that use it. */
typedef struct sf_h5_user {
    const char *dataset; /* path */
    int axis;
} sf_h5_user;
int sf_h5_axes_name(sf_h5 *h5, hid_t dataset, int rank, const char *const *names);
int sf_h5_axes_attach(sf_h5 *h5, hid_t dataset, int rank, const char *const *scales);
int sf_h5_scale_make(sf_h5 *h5, hid_t dataset, const char *name, size_t n, const sf_h5_user *users);

/* True when every part of the path is a hard link. */
bool sf_h5_is_plain_path(const sf_h5 *h5, const char *name);

#endif

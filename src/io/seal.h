/* A seal at the end of a whole file: a hash of all bytes before it. HDF5 ignores what follows its own end, so h5ls and
 * h5py read a sealed file as any other; a program that edits the file through HDF5 drops the seal. With it, damage is
 * told before HDF5 (which does not survive all of it) sees the bytes. It is no signature. */
#ifndef SF_IO_SEAL_H
#define SF_IO_SEAL_H

#include <stdbool.h>

#include "starfold/error.h"

/* Appends the seal to a closed file. `shown` is for errors. */
int sf_seal_write(const char *path, const char *shown, sf_error *err);

/* SF_EFORMAT when the file has a seal that does not fit; *sealed tells whether it has one. */
int sf_seal_check(const char *path, bool *sealed, sf_error *err);

#endif

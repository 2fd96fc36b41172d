/* A hash of what an HDF5 file says, whatever way it says it: names, shapes, types, values and attributes count; chunks,
 * compression, byte order, fixed or variable length of texts and the order of writing do not. */
#ifndef SF_IO_DIGEST_H
#define SF_IO_DIGEST_H

#include "starfold/error.h"

enum { SF_DIGEST_SIZE = 65 }; /* 64 hexadecimal digits and '\0' */

/* Hashes the file (BLAKE2b, 256 bits) to hex. Of run files and tables, /provenance is left out, so that builds can be compared.
 * SF_EINPUT when there is no such file, SF_EFORMAT when it is damaged or holds what has no canonical form here
 * (compounds, references but those of dimension scales, data outside the file). Reads everything once. */
int sf_digest_file(const char *path, char hex[SF_DIGEST_SIZE], sf_error *err);

#endif

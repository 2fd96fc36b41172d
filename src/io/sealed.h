/* A whole file, written in one go: aside, sealed, synced, renamed, so that what stands under the name is never half a
 * file and tells when it was damaged. The other way round is tried.h. */
#ifndef SF_IO_SEALED_H
#define SF_IO_SEALED_H

#include "io/h5.h"

/* Fills the new file; returns 0 or a code. Must not close it. */
typedef int sf_sealed_fill(sf_h5 *h5, const void *context);

/* On failure nothing stays and what stood under the name is untouched; the error tells the first cause. */
int sf_sealed_write(const char *path, sf_sealed_fill *fill, const void *context, sf_error *err);

/* The same without the seal, for files that the program itself never reads. */
int sf_unsealed_write(const char *path, sf_sealed_fill *fill, const void *context, sf_error *err);

#endif

/* Reading of a file that anyone may have written: its seal checked, tried in a process of its own, and only then opened
 * here. All readers of HDF5 files go this way. */
#ifndef SF_IO_TRIED_H
#define SF_IO_TRIED_H

#include "io/h5.h"

/* Does read(h5, context) in a process of its own (io/apart.h: what it did there is lost with it), then, when that went
 * well, here, and gives its code. `read` calls HDF5 and checks what it calls it with; other checks cost less afterwards.
 * With `sealed_kind` ("a table of contact maps") a file without a seal is SF_EFORMAT; with NULL it is read, as a live one
 * has none. Codes besides: of sf_h5_probe, sf_seal_check, sf_apart_try, sf_h5_open. What a failed read left in `context`
 * is the caller's to free. */
int sf_tried_read(const char *path, const char *sealed_kind, int (*read)(sf_h5 *h5, void *context),
                  void *context, sf_error *err);

#endif

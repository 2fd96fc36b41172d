/* Obvious would be to open the file at once. The seal tells damage, but who makes a bad file can seal it; the trial keeps
 * what HDF5 dies of away from us. */
#include "io/tried.h"

#include "io/apart.h"
#include "io/seal.h"

typedef struct job {
    const char *path;
    int (*read)(sf_h5 *h5, void *context);
    void *context;
} job;

static int open_and_read(const job *j, sf_error *err)
{
    sf_h5 h5 = {.file = H5I_INVALID_HID};
    int code = sf_h5_open(&h5, j->path, err);
    if (!code)
        code = j->read(&h5, j->context);
    h5.err = NULL;
    sf_h5_close(&h5);
    return code;
}

static int try_it(void *context, sf_error *err)
{
    return open_and_read(context, err);
}

int sf_tried_read(const char *path, const char *sealed_kind, int (*read)(sf_h5 *h5, void *context),
                  void *context, sf_error *err)
{
    job j = {path, read, context};
    bool sealed = false;
    int code = sf_h5_probe(path, err);
    if (!code)
        code = sf_seal_check(path, &sealed, err);
    if (!code && !sealed && sealed_kind)
        code = sf_fail(err, SF_EFORMAT, "%s: has no seal at its end: it was cut, changed, or is not %s", path, sealed_kind);
    if (!code)
        code = sf_apart_try(path, try_it, &j, err);
    return code ? code : open_and_read(&j, err);
}

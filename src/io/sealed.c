/* Every writer of whole files takes this one way; what differs is what fills them, and whether a seal ends them. */
#include "io/sealed.h"

#include <stdbool.h>
#include <stdlib.h>

#include "io/aside.h"
#include "io/seal.h"

static int write_whole(const char *path, bool sealed, sf_sealed_fill *fill, const void *context, sf_error *err)
{
    sf_h5 h5 = {.file = H5I_INVALID_HID};
    char *aside = NULL;
    int code = sf_aside_begin(path, &aside, err);
    if (!code)
        code = sf_h5_create(&h5, aside, path, err);
    if (!code)
        code = fill(&h5, context);
    if (code)
        h5.err = NULL; /* the first cause stays */
    int closed = sf_h5_close(&h5);
    if (!code)
        code = closed;
    if (!code && sealed)
        code = sf_seal_write(aside, path, err);
    if (!code)
        code = sf_aside_commit(path, aside, err);
    if (code)
        sf_aside_drop(aside);
    free(aside);
    return code;
}

int sf_sealed_write(const char *path, sf_sealed_fill *fill, const void *context, sf_error *err)
{
    return write_whole(path, true, fill, context, err);
}

int sf_unsealed_write(const char *path, sf_sealed_fill *fill, const void *context, sf_error *err)
{
    return write_whole(path, false, fill, context, err);
}

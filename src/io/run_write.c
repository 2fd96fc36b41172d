/* A whole record as a run file: written aside in one go, so that what stands under the name is never half a file. */
#include <stdlib.h>

#include "io/aside.h"
#include "io/field_io.h"
#include "io/run_file.h"
#include "io/seal.h"
#include "io/view.h"

static int write_fields(sf_h5 *h5, sf_view *view)
{
    int code = 0;
    for (size_t n = 0; n < sf_n_fields && !code; n++) {
        const sf_field *field = &sf_fields[n];
        if (!sf_field_present(view, field))
            continue;
        hid_t dataset;
        code = sf_field_create(h5, view, field, &dataset);
        if (!code)
            code = sf_field_write(h5, view, field, dataset, -1, 0, 0);
        if (dataset >= 0 && H5Dclose(dataset) < 0 && !code)
            code = sf_h5_fail(h5, field->name, "cannot be written");
    }
    return code ? code : sf_fields_attach_scales(h5, view);
}

int sf_run_file_write(const char *path, const sf_record *record, const sf_run_meta *meta, sf_error *err)
{
    sf_view view;
    sf_h5 h5 = {.file = H5I_INVALID_HID};
    char *aside = NULL;
    int code = sf_view_init(&view, record, meta, false, err);
    if (code)
        return code;
    code = sf_aside_begin(path, &aside, err);
    if (!code)
        code = sf_h5_create(&h5, aside, path, err);
    if (!code)
        code = sf_run_begin(&h5, &view, meta);
    if (!code)
        code = write_fields(&h5, &view);
    if (code)
        h5.err = NULL; /* the first cause stays */
    int closed = sf_h5_close(&h5);
    if (!code)
        code = closed;
    if (!code)
        code = sf_seal_write(aside, path, err);
    if (!code)
        code = sf_aside_commit(path, aside, err);
    if (code)
        sf_aside_drop(aside);
    free(aside);
    sf_view_free(&view);
    return code;
}

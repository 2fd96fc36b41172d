/* A whole record as a run file. */
#include "io/field_io.h"
#include "io/run_file.h"
#include "io/sealed.h"
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

typedef struct whole_run {
    sf_view *view;
    const sf_run_meta *meta;
} whole_run;

static int write_whole(sf_h5 *h5, const void *context)
{
    const whole_run *run = context;
    int code = sf_run_begin(h5, run->view, run->meta);
    return code ? code : write_fields(h5, run->view);
}

int sf_run_file_write(const char *path, const sf_record *record, const sf_run_meta *meta, sf_error *err)
{
    sf_view view;
    int code = sf_view_init(&view, record, meta, false, err);
    if (code)
        return code;
    code = sf_sealed_write(path, write_whole, &(whole_run){&view, meta}, err);
    sf_view_free(&view);
    return code;
}

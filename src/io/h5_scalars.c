/* Scalars: a dataset each, written from a struct and read back into it. */
#include "io/h5_scalars.h"

#include <string.h>

int sf_h5_describe(sf_h5 *h5, hid_t dataset, const char *units, const char *description)
{
    int code = sf_h5_attr_text(h5, dataset, "units", units);
    return code ? code : sf_h5_attr_text(h5, dataset, "description", description);
}

int sf_h5_close_written(sf_h5 *h5, const char *name, hid_t dataset, int code)
{
    if (dataset >= 0 && H5Dclose(dataset) < 0 && !code)
        code = sf_h5_fail(h5, name, "cannot be written");
    return code;
}

static hid_t stored_type(const sf_h5_scalar *s, const char *text)
{
    size_t n = s->kind == SF_H5_TEXT ? strlen(text) : 0;
    return s->kind == SF_H5_TEXT ? sf_h5_text_type(n ? n : 1)
                                 : H5Tcopy(s->kind == SF_H5_INT32 ? H5T_STD_I32LE : H5T_STD_U64LE);
}

static hid_t native_type(const sf_h5_scalar *s)
{
    return s->kind == SF_H5_INT32 ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT64;
}

static int write_one(sf_h5 *h5, const sf_h5_scalar *s, const void *value)
{
    const sf_h5_layout layout = {.rank = 0, .growing = -1};
    hid_t type = stored_type(s, value), dataset = H5I_INVALID_HID;
    int code = type < 0 ? sf_h5_fail(h5, s->name, "the type cannot be made")
                        : sf_h5_dataset_create(h5, s->name, type, &layout, &dataset);
    if (!code)
        code = sf_h5_describe(h5, dataset, s->units, s->description);
    if (!code)
        code = sf_h5_block_write(h5, s->name, dataset, s->kind == SF_H5_TEXT ? type : native_type(s), 0, NULL, NULL, value);
    code = sf_h5_close_written(h5, s->name, dataset, code);
    if (type >= 0)
        H5Tclose(type);
    return code;
}

static int read_one(sf_h5 *h5, const sf_h5_scalar *s, void *value)
{
    if (s->kind == SF_H5_TEXT)
        return sf_h5_text_read(h5, s->name, s->size, value);
    const sf_h5_demand demand = {.type = s->kind == SF_H5_INT32 ? H5T_STD_I32LE : H5T_STD_U64LE, .growing = -1};
    hid_t dataset;
    int code = sf_h5_dataset_open(h5, s->name, &demand, &dataset);
    if (!code)
        code = sf_h5_block_read(h5, s->name, dataset, native_type(s), 0, NULL, NULL, value);
    if (dataset >= 0)
        H5Dclose(dataset);
    return code;
}

int sf_h5_scalars_write(sf_h5 *h5, size_t n, const sf_h5_scalar *scalars, const void *values)
{
    int code = 0;
    for (size_t k = 0; k < n && !code; k++)
        code = write_one(h5, &scalars[k], (const char *)values + scalars[k].offset);
    return code;
}

int sf_h5_scalars_read(sf_h5 *h5, size_t n, const sf_h5_scalar *scalars, void *values)
{
    int code = 0;
    for (size_t k = 0; k < n && !code; k++)
        code = read_one(h5, &scalars[k], (char *)values + scalars[k].offset);
    return code;
}

/* Dimension scales, after the "HDF5 Dimension Scale Specification": a scale is marked with CLASS and NAME, a dataset
 * names its axes in DIMENSION_LABELS and points to their scales in DIMENSION_LIST, a scale points back in
 * REFERENCE_LIST.
 *
 * HDF5's high-level library does this too, one axis at a time: it writes each list over for every pair, and (in 1.10.8)
 * frees what it never took when a call within fails. Here each attribute is written once. */
#include <stdlib.h>
#include <string.h>

#include "io/h5.h"

/* One entry of REFERENCE_LIST as it lies in memory and in the file. */
typedef struct back_reference {
    hobj_ref_t dataset;
    int32_t axis;
    int32_t zero;
} back_reference;

static int write_text(sf_h5 *h5, hid_t dataset, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1); /* closed by a zero: readers ask for this very type */
    if (type >= 0 && H5Tset_size(type, strlen(text) + 1) < 0) {
        H5Tclose(type);
        type = H5I_INVALID_HID;
    }
    int code = sf_h5_attr_write(h5, dataset, name, type, type, 0, text);
    if (type >= 0)
        H5Tclose(type);
    return code;
}

int sf_h5_axes_name(sf_h5 *h5, hid_t dataset, int rank, const char *const *names)
{
    hid_t type = sf_h5_text_type(H5T_VARIABLE);
    int code = sf_h5_attr_write(h5, dataset, "DIMENSION_LABELS", type, type, (size_t)rank, names);
    if (type >= 0)
        H5Tclose(type);
    return code;
}

int sf_h5_axes_attach(sf_h5 *h5, hid_t dataset, int rank, const char *const *scales)
{
    hobj_ref_t reference[H5S_MAX_RANK];
    hvl_t list[H5S_MAX_RANK];
    for (int k = 0; k < rank; k++) {
        list[k] = (hvl_t){0, NULL};
        if (!scales[k])
            continue;
        if (H5Rcreate(&reference[k], h5->file, scales[k], H5R_OBJECT, H5I_INVALID_HID) < 0)
            return sf_h5_fail(h5, scales[k], "cannot be pointed to");
        list[k] = (hvl_t){1, &reference[k]};
    }
    hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ);
    int code = sf_h5_attr_write(h5, dataset, "DIMENSION_LIST", type, type, (size_t)rank, list);
    if (type >= 0)
        H5Tclose(type);
    return code;
}

static hid_t back_reference_type(void)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(back_reference));
    if (type >= 0 && (H5Tinsert(type, "dataset", offsetof(back_reference, dataset), H5T_STD_REF_OBJ) < 0 ||
                      H5Tinsert(type, "dimension", offsetof(back_reference, axis), H5T_STD_I32LE) < 0)) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

int sf_h5_scale_make(sf_h5 *h5, hid_t dataset, const char *name, size_t n, const sf_h5_user *users)
{
    int code = write_text(h5, dataset, "CLASS", "DIMENSION_SCALE");
    if (!code)
        code = write_text(h5, dataset, "NAME", name);
    if (code || n == 0)
        return code;
    back_reference *list = calloc(n, sizeof *list);
    if (!list)
        return sf_fail(h5->err, SF_ENOMEM, "%s: out of memory", h5->path);
    for (size_t k = 0; k < n && !code; k++) {
        list[k].axis = users[k].axis;
        if (H5Rcreate(&list[k].dataset, h5->file, users[k].dataset, H5R_OBJECT, H5I_INVALID_HID) < 0)
            code = sf_h5_fail(h5, users[k].dataset, "cannot be pointed to");
    }
    hid_t type = code ? H5I_INVALID_HID : back_reference_type();
    if (!code)
        code = sf_h5_attr_write(h5, dataset, "REFERENCE_LIST", type, type, n, list);
    if (type >= 0)
        H5Tclose(type);
    free(list);
    return code;
}

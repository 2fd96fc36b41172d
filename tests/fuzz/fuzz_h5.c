/* Edits to HDF5 files, taken off an input; see fuzz_h5.h. */
#include "fuzz_h5.h"

#include "io/apart.h"

/* What HDF5 wrote does not kill HDF5; all of the reader is done in this process. */
int sf_apart_try(const char *path, int (*work)(void *context, sf_error *err), void *context, sf_error *err)
{
    (void)path;
    (void)work;
    (void)context;
    (void)err;
    return 0;
}

int sf_apart_do(const char *path, int (*work)(void *context, sf_error *err), void *context, sf_error *err)
{
    (void)path;
    return work(context, err);
}

enum { VALUES_BYTES_MAX = 1 << 16 };

hid_t fuzz_h5_open(const char *path)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, 0, 1);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
    H5Pclose(access);
    FUZZ_REQUIRE(file >= 0);
    return file;
}

void fuzz_h5_set(hid_t file, const char *name, fuzz_source *source, unsigned n_bytes)
{
    static uint8_t values[VALUES_BYTES_MAX];
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    hid_t type = dataset < 0 ? H5I_INVALID_HID : H5Dget_type(dataset);
    hid_t space = dataset < 0 ? H5I_INVALID_HID : H5Dget_space(dataset);
    size_t n = type < 0 || space < 0 ? 0 : (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type);
    size_t at = (size_t)fuzz_number(source, 2);
    if (n > 0 && n <= sizeof values && H5Tis_variable_str(type) == 0 &&
        H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) {
        for (unsigned k = 0; k < n_bytes; k++)
            values[(at + k) % n] = fuzz_byte(source);
        H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (dataset >= 0)
        H5Dclose(dataset);
}

static hid_t any_type(unsigned choice)
{
    const hid_t types[] = {H5T_STD_U8LE,  H5T_STD_I32LE,  H5T_STD_I64LE,  H5T_STD_U64LE, H5T_STD_I32BE,
                           H5T_STD_I64BE, H5T_IEEE_F64LE, H5T_IEEE_F32LE, H5T_C_S1};
    const size_t n = sizeof types / sizeof types[0];
    hid_t type = H5Tcopy(types[choice % n]);
    if (choice % n == n - 1)
        H5Tset_size(type, choice & 128 ? H5T_VARIABLE : 1 + choice / n);
    return type;
}

void fuzz_h5_replace(hid_t file, const char *name, fuzz_source *source, bool retype)
{
    hid_t old = H5Dopen2(file, name, H5P_DEFAULT);
    if (old < 0)
        return;
    hid_t type = retype ? any_type(fuzz_byte(source)) : H5Dget_type(old), space = H5Dget_space(old);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t size[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(space, size, NULL);
    if (!retype) {
        rank = fuzz_byte(source) % 6;
        for (int k = 0; k < rank; k++)
            size[k] = fuzz_number(source, 1 + fuzz_byte(source) % 5);
    }
    for (int k = 0; k < rank; k++)
        chunk[k] = 2;
    hid_t made = rank > 0 ? H5Screate_simple(rank, size, NULL) : H5Screate(H5S_SCALAR);
    if (rank > 0)
        H5Pset_chunk(creation, rank, chunk);
    H5Dclose(old);
    if (made >= 0 && H5Ldelete(file, name, H5P_DEFAULT) >= 0) {
        hid_t dataset = H5Dcreate2(file, name, type, made, H5P_DEFAULT, creation, H5P_DEFAULT);
        if (dataset >= 0)
            H5Dclose(dataset);
    }
    if (made >= 0)
        H5Sclose(made);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(creation);
}

void fuzz_h5_attribute(hid_t object, const char *name, fuzz_source *source)
{
    char text[64], *value = text;
    unsigned n = fuzz_byte(source), as = n / 64 % 4;
    for (unsigned k = 0; k < sizeof text; k++)
        text[k] = k < n % 64 ? (char)fuzz_byte(source) : '\0';
    hid_t type = as == 0 ? H5Tcopy(H5T_C_S1) : as == 1 ? any_type((uint8_t)text[0] & 127) : H5Tcopy(H5T_C_S1);
    if (as != 1)
        H5Tset_size(type, as == 0 ? sizeof text : H5T_VARIABLE);
    hid_t space = H5Screate(H5S_SCALAR);
    if (H5Aexists(object, name) > 0)
        H5Adelete(object, name);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        H5Awrite(attribute, type, as >= 2 ? (void *)&value : text);
        H5Aclose(attribute);
    }
    H5Sclose(space);
    H5Tclose(type);
}

void fuzz_h5_edit(hid_t file, const char *name, const char *const targets[4], unsigned edit, fuzz_source *source)
{
    enum { SET, SET_MORE, RESHAPE, RETYPE, REMOVE, LINK };
    if (edit == SET || edit == SET_MORE)
        fuzz_h5_set(file, name, source, edit == SET ? 1 : 8);
    else if (edit == RESHAPE || edit == RETYPE)
        fuzz_h5_replace(file, name, source, edit == RETYPE);
    else
        H5Ldelete(file, name, H5P_DEFAULT);
    if (edit != LINK)
        return;
    if (fuzz_byte(source) & 1)
        H5Lcreate_soft(targets[fuzz_byte(source) % 4], file, name, H5P_DEFAULT, H5P_DEFAULT);
    else
        H5Lcreate_hard(file, targets[fuzz_byte(source) % 4], file, name, H5P_DEFAULT, H5P_DEFAULT);
}

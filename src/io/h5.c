/* Files, attributes, blocks; and the one place where HDF5's own errors become a line of ours. */
#include "io/h5.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* HDF5 prints its error stack and registers an exit handler that tries again to write what a full disk refused, and
 * complains on standard error; we want neither. */
static void make_quiet(void)
{
    static bool done;
    if (!done)
        H5dont_atexit();
    done = true;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* The innermost reason. Where a call of the system failed, HDF5 hides its answer among names and numbers. */
static herr_t take_cause(unsigned n, const H5E_error2_t *entry, void *text)
{
    static const char mark[] = "error message = '";
    if (n > 0 || !entry->desc)
        return 0;
    const char *system = strstr(entry->desc, mark);
    if (system)
        snprintf(text, 200, "%.*s", (int)strcspn(system + strlen(mark), "'"), system + strlen(mark));
    else
        snprintf(text, 200, "%s", entry->desc);
    return 0;
}

int sf_h5_fail(sf_h5 *h5, const char *object, const char *what)
{
    char cause[200] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_cause, cause);
    H5Eclear2(H5E_DEFAULT);
    return sf_fail(h5->err, h5->code, "%s: %s%s%s%s%s%s", h5->path, object ? object : "", object ? ": " : "", what,
                   cause[0] ? " (" : "", cause, cause[0] ? ")" : "");
}

static hid_t access_list(void)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    if (list < 0)
        return list;
    if (H5Pset_libver_bounds(list, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) < 0 || H5Pset_file_locking(list, 0, 1) < 0 ||
        H5Pset_fclose_degree(list, H5F_CLOSE_STRONG) < 0) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

int sf_h5_create(sf_h5 *h5, const char *path, const char *shown, sf_error *err)
{
    *h5 = (sf_h5){H5I_INVALID_HID, shown, SF_EIO, err};
    make_quiet();
    hid_t access = access_list(), creation = H5Pcreate(H5P_FILE_CREATE);
    if (access >= 0 && creation >= 0 && H5Pset_obj_track_times(creation, false) >= 0)
        h5->file = H5Fcreate(path, H5F_ACC_EXCL, creation, access);
    int code = h5->file < 0 ? sf_h5_fail(h5, NULL, "cannot be created") : 0;
    if (access >= 0)
        H5Pclose(access);
    if (creation >= 0)
        H5Pclose(creation);
    return code;
}

int sf_h5_create_in_memory(sf_h5 *h5, const char *shown, sf_error *err)
{
    enum { STEP = 1 << 20 }; /* bytes it grows by */
    *h5 = (sf_h5){H5I_INVALID_HID, shown, SF_EIO, err};
    make_quiet();
    hid_t access = access_list();
    if (access >= 0 && H5Pset_fapl_core(access, STEP, false) >= 0)
        h5->file = H5Fcreate("/dev/null/in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access); /* a name that no file has */
    int code = h5->file < 0 ? sf_h5_fail(h5, NULL, "cannot be created") : 0;
    if (access >= 0)
        H5Pclose(access);
    return code;
}

int sf_h5_probe(const char *path, sf_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return sf_fail(err, SF_EINPUT, "%s: cannot be opened: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return sf_fail(err, SF_EINPUT, "%s: is not a regular file; give the path of an HDF5 file", path);
    FILE *probe = fopen(path, "rb");
    if (!probe)
        return sf_fail(err, SF_EINPUT, "%s: cannot be opened: %s", path, strerror(errno));
    char head[8] = "";
    size_t n = fread(head, 1, sizeof head, probe);
    fclose(probe);
    if (n < sizeof head || memcmp(head, "\x89HDF\r\n\x1a\n", sizeof head) != 0)
        return sf_fail(err, SF_EFORMAT, "%s: is not an HDF5 file%s", path, info.st_size == 0 ? " (it is empty)" : "");
    return 0;
}

int sf_h5_open(sf_h5 *h5, const char *path, sf_error *err)
{
    *h5 = (sf_h5){H5I_INVALID_HID, path, SF_EFORMAT, err};
    int code = sf_h5_probe(path, err);
    if (code)
        return code;
    make_quiet();
    hid_t access = access_list();
    if (access >= 0)
        h5->file = H5Fopen(path, H5F_ACC_RDONLY, access);
    code = h5->file < 0 ? sf_h5_fail(h5, NULL, "is damaged: HDF5 cannot open it") : 0;
    if (access >= 0)
        H5Pclose(access);
    return code;
}

int sf_h5_close(sf_h5 *h5)
{
    hid_t file = h5->file;
    h5->file = H5I_INVALID_HID;
    if (file >= 0 && H5Fclose(file) < 0)
        return sf_h5_fail(h5, NULL, "cannot be closed");
    return 0;
}

int sf_h5_flush(sf_h5 *h5)
{
    return H5Fflush(h5->file, H5F_SCOPE_GLOBAL) < 0 ? sf_h5_fail(h5, NULL, "cannot be written") : 0;
}

int sf_h5_group_create(sf_h5 *h5, const char *name)
{
    hid_t creation = H5Pcreate(H5P_GROUP_CREATE), group = H5I_INVALID_HID;
    if (creation >= 0 && H5Pset_obj_track_times(creation, false) >= 0)
        group = H5Gcreate2(h5->file, name, H5P_DEFAULT, creation, H5P_DEFAULT);
    int code = group < 0 ? sf_h5_fail(h5, name, "the group cannot be created") : 0;
    if (group >= 0)
        H5Gclose(group);
    if (creation >= 0)
        H5Pclose(creation);
    return code;
}

hid_t sf_h5_text_type(size_t n)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, n) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

int sf_h5_attr_write(sf_h5 *h5, hid_t object, const char *name, hid_t file_type, hid_t type, size_t n,
                     const void *values)
{
    hsize_t size = n;
    hid_t space = n ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR), attribute = H5I_INVALID_HID;
    if (space >= 0 && file_type >= 0)
        attribute = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t status = attribute < 0 ? -1 : H5Awrite(attribute, type, values);
    if (attribute >= 0 && H5Aclose(attribute) < 0)
        status = -1;
    int code = status < 0 ? sf_h5_fail(h5, name, "the attribute cannot be written") : 0;
    if (space >= 0)
        H5Sclose(space);
    return code;
}

int sf_h5_attr_text(sf_h5 *h5, hid_t object, const char *name, const char *text)
{
    hid_t type = sf_h5_text_type(H5T_VARIABLE);
    if (type >= 0)
        H5Tset_cset(type, H5T_CSET_UTF8);
    int code = sf_h5_attr_write(h5, object, name, type, type, 0, &text);
    if (type >= 0)
        H5Tclose(type);
    return code;
}

int sf_h5_attr_int(sf_h5 *h5, hid_t object, const char *name, int32_t value)
{
    return sf_h5_attr_write(h5, object, name, H5T_STD_I32LE, H5T_NATIVE_INT32, 0, &value);
}

/* Opens a scalar attribute, or fails. */
static hid_t attr_open(sf_h5 *h5, hid_t object, const char *name)
{
    if (H5Aexists(object, name) <= 0) {
        sf_h5_fail(h5, name, "the attribute is missing");
        return H5I_INVALID_HID;
    }
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
    bool scalar = space >= 0 && H5Sget_simple_extent_type(space) == H5S_SCALAR;
    if (space >= 0)
        H5Sclose(space);
    if (!scalar) {
        sf_h5_fail(h5, name, "the attribute is not a single value");
        if (attribute >= 0)
            H5Aclose(attribute);
        return H5I_INVALID_HID;
    }
    return attribute;
}

bool sf_h5_is_text(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    }
    return true;
}

int sf_h5_attr_read_text(sf_h5 *h5, hid_t object, const char *name, size_t size, char *text)
{
    hid_t attribute = attr_open(h5, object, name);
    if (attribute < 0)
        return h5->code;
    hid_t type = H5Aget_type(attribute);
    char *value = NULL;
    int code = 0;
    if (type < 0 || H5Tis_variable_str(type) <= 0)
        code = sf_h5_fail(h5, name, "the attribute is not a text of variable length");
    else if (H5Aread(attribute, type, &value) < 0)
        code = sf_h5_fail(h5, name, "the attribute cannot be read");
    else if (value && strlen(value) >= size)
        code = sf_h5_fail(h5, name, "the attribute is too long");
    else if (value && !sf_h5_is_text(value))
        code = sf_h5_fail(h5, name, "the attribute has characters that are not text");
    else
        snprintf(text, size, "%s", value ? value : "");
    if (value)
        H5free_memory(value);
    if (type >= 0)
        H5Tclose(type);
    H5Aclose(attribute);
    return code;
}

int sf_h5_attr_read_int(sf_h5 *h5, hid_t object, const char *name, int32_t *value)
{
    hid_t attribute = attr_open(h5, object, name);
    if (attribute < 0)
        return h5->code;
    hid_t type = H5Aget_type(attribute);
    int code = 0;
    if (type < 0 || H5Tequal(type, H5T_STD_I32LE) <= 0)
        code = sf_h5_fail(h5, name, "the attribute is not a 32-bit integer");
    else if (H5Aread(attribute, H5T_NATIVE_INT32, value) < 0)
        code = sf_h5_fail(h5, name, "the attribute cannot be read");
    if (type >= 0)
        H5Tclose(type);
    H5Aclose(attribute);
    return code;
}

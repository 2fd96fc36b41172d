/* Obvious would be a hash of the file's bytes, but another HDF5 or zlib writes the same content in other bytes. So the
 * objects are visited by name, and each is hashed as a run of tagged, length-prefixed items; numbers are little-endian.
 */
#include "io/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/blake2b.h"
#include "io/file_kind.h"
#include "io/tried.h"

enum { BLOCK_BYTES = 1 << 20, ATTRIBUTE_BYTES_MAX = 1 << 24, HASH_SIZE = 32 };

typedef struct digest {
    sf_h5 *h5;
    sf_blake2b hash;
    bool is_ours; /* a run, a table or a census: leave /provenance out */
    int code;    /* of the callbacks */
} digest;

static void add_number(digest *d, uint64_t value)
{
    uint8_t bytes[8];
    for (int k = 0; k < 8; k++)
        bytes[k] = (uint8_t)(value >> (8 * k));
    sf_blake2b_add(&d->hash, bytes, sizeof bytes);
}

static void add_bytes(digest *d, const void *bytes, size_t n)
{
    add_number(d, n);
    sf_blake2b_add(&d->hash, bytes, n);
}

static void add_text(digest *d, const char *text)
{
    add_bytes(d, text, strlen(text));
}

/* ---- types ---- */

/* How values are read and hashed: numbers as they are in `memory`, texts one by one. */
typedef struct canonical {
    hid_t memory; /* to be closed */
    size_t size;
    bool text, variable;
} canonical;

static hid_t number_type(hid_t type)
{
    static const struct {
        size_t size;
        hid_t *is_signed, *is_unsigned;
    } integers[] = {{1, &H5T_STD_I8LE_g, &H5T_STD_U8LE_g},
                    {2, &H5T_STD_I16LE_g, &H5T_STD_U16LE_g},
                    {4, &H5T_STD_I32LE_g, &H5T_STD_U32LE_g},
                    {8, &H5T_STD_I64LE_g, &H5T_STD_U64LE_g}};
    size_t size = H5Tget_size(type);
    if (H5Tget_class(type) == H5T_FLOAT)
        return size == 4 ? H5T_IEEE_F32LE : size == 8 ? H5T_IEEE_F64LE : H5I_INVALID_HID;
    for (size_t k = 0; k < sizeof integers / sizeof integers[0]; k++) {
        if (integers[k].size == size)
            return H5Tget_sign(type) == H5T_SGN_NONE ? *integers[k].is_unsigned : *integers[k].is_signed;
    }
    return H5I_INVALID_HID;
}

/* Hashes what the type is and says how to read it; false when there is no canonical form. */
static bool open_type(digest *d, hid_t type, canonical *form)
{
    H5T_class_t class = H5Tget_class(type);
    *form = (canonical){.memory = H5I_INVALID_HID, .size = H5Tget_size(type)};
    if (class == H5T_STRING) {
        form->text = true;
        form->variable = H5Tis_variable_str(type) > 0;
        form->memory = form->variable ? H5Tcopy(type) : sf_h5_text_type(form->size);
        if (!form->variable && form->memory >= 0)
            H5Tset_cset(form->memory, H5Tget_cset(type));
        add_text(d, "text");
    } else if (class == H5T_INTEGER || class == H5T_FLOAT) {
        hid_t memory = number_type(type);
        if (memory >= 0)
            form->memory = H5Tcopy(memory);
        add_text(d, class == H5T_FLOAT ? "float" : H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned" : "signed");
        add_number(d, form->size);
    }
    return form->memory >= 0;
}

static void add_values(digest *d, const canonical *form, size_t n, const uint8_t *values)
{
    if (!form->text) {
        sf_blake2b_add(&d->hash, values, n * form->size);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        const uint8_t *value = values + k * form->size;
        if (form->variable) {
            const char *text;
            memcpy(&text, value, sizeof text);
            add_text(d, text ? text : "");
        } else {
            add_bytes(d, value, strnlen((const char *)value, form->size));
        }
    }
}

/* ---- attributes ---- */

/* The scale of each axis, by name. */
static int add_scales(digest *d, hid_t attribute, hid_t type, hid_t space, size_t n)
{
    hvl_t *list = calloc(n ? n : 1, sizeof *list);
    if (!list)
        return sf_fail(d->h5->err, SF_ENOMEM, "%s: out of memory", d->h5->path);
    hid_t base = H5Tget_class(type) == H5T_VLEN ? H5Tget_super(type) : H5I_INVALID_HID;
    int code = 0;
    if (base < 0 || H5Tequal(base, H5T_STD_REF_OBJ) <= 0 || H5Aread(attribute, type, list) < 0)
        code = sf_h5_fail(d->h5, "DIMENSION_LIST", "cannot be read");
    for (size_t k = 0; k < n && !code; k++) {
        add_number(d, list[k].len);
        for (size_t m = 0; m < list[k].len && !code; m++) {
            char name[256];
            ssize_t length = H5Rget_name(d->h5->file, H5R_OBJECT, (hobj_ref_t *)list[k].p + m, name, sizeof name);
            if (length <= 0 || length >= (ssize_t)sizeof name)
                code = sf_h5_fail(d->h5, "DIMENSION_LIST", "names no dataset");
            else
                add_text(d, name);
        }
    }
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, list);
    if (base >= 0)
        H5Tclose(base);
    free(list);
    return code;
}

static int add_plain_attribute(digest *d, hid_t attribute, const char *name, hid_t type, hid_t space, size_t n)
{
    canonical form;
    if (!open_type(d, type, &form))
        return sf_h5_fail(d->h5, name, "the attribute has a type without canonical form");
    bool large = n > ATTRIBUTE_BYTES_MAX / form.size;
    uint8_t *values = large ? NULL : calloc(n ? n : 1, form.size);
    int code = 0;
    if (large)
        code = sf_h5_fail(d->h5, name, "the attribute is too large");
    else if (!values)
        code = sf_fail(d->h5->err, SF_ENOMEM, "%s: out of memory", d->h5->path);
    else if (H5Aread(attribute, form.memory, values) < 0)
        code = sf_h5_fail(d->h5, name, "the attribute cannot be read");
    else
        add_values(d, &form, n, values);
    if (!code && form.variable)
        H5Dvlen_reclaim(form.memory, space, H5P_DEFAULT, values);
    free(values);
    H5Tclose(form.memory);
    return code;
}

/* Rank, sizes; returns the number of values, or -1. */
static hssize_t add_space(digest *d, hid_t space)
{
    hsize_t size[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(space, size, NULL);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    if (rank < 0 || n < 0)
        return -1;
    add_number(d, (uint64_t)rank);
    for (int k = 0; k < rank; k++)
        add_number(d, size[k]);
    return n;
}

static herr_t add_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    (void)info;
    digest *d = context;
    if (strcmp(name, "REFERENCE_LIST") == 0) /* who uses a scale: follows from DIMENSION_LIST */
        return 0;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = attribute < 0 ? H5I_INVALID_HID : H5Aget_type(attribute);
    hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
    add_text(d, "attribute");
    add_text(d, name);
    hssize_t n = type < 0 || space < 0 ? -1 : add_space(d, space);
    if (n < 0 || n > ATTRIBUTE_BYTES_MAX)
        d->code = sf_h5_fail(d->h5, name, "the attribute cannot be read");
    else if (strcmp(name, "DIMENSION_LIST") == 0)
        d->code = add_scales(d, attribute, type, space, (size_t)n);
    else
        d->code = add_plain_attribute(d, attribute, name, type, space, (size_t)n);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return d->code ? -1 : 0;
}

/* ---- datasets ---- */

/* Reads and hashes n values of rank 1 or more in runs along the first axes that fit a buffer. */
static int add_blocks(digest *d, hid_t dataset, const char *name, hid_t space, const canonical *form)
{
    hsize_t size[H5S_MAX_RANK], start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(space, size, NULL);
    size_t room = BLOCK_BYTES / form->size ? BLOCK_BYTES / form->size : 1, n = 1;
    for (int k = rank - 1; k >= 0; k--) { /* only the leading axes are cut, so that the order is the file's */
        count[k] = n < room ? (size[k] < room / n ? size[k] : room / n) : 1;
        count[k] = k + 1 < rank && count[k + 1] < size[k + 1] ? 1 : count[k];
        n *= count[k];
    }
    uint8_t *values = malloc(n * form->size);
    int code = values ? 0 : sf_fail(d->h5->err, SF_ENOMEM, "%s: out of memory", d->h5->path);
    for (bool done = false; !done && !code;) {
        hsize_t clipped[H5S_MAX_RANK];
        n = 1;
        for (int k = 0; k < rank; k++) {
            clipped[k] = size[k] - start[k] < count[k] ? size[k] - start[k] : count[k];
            n *= clipped[k];
        }
        code = sf_h5_block_read(d->h5, name, dataset, form->memory, rank, start, clipped, values);
        if (!code)
            add_values(d, form, n, values);
        int k = rank - 1;
        for (; k >= 0 && (start[k] += count[k]) >= size[k]; k--)
            start[k] = 0;
        done = k < 0;
    }
    free(values);
    return code;
}

static int add_dataset(digest *d, hid_t dataset, const char *name)
{
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    canonical form = {.memory = H5I_INVALID_HID};
    hssize_t n = type < 0 || space < 0 ? -1 : add_space(d, space);
    hsize_t bytes;
    const char *wrong = NULL;
    if (n < 0)
        wrong = "cannot be described";
    else if (!open_type(d, type, &form) || form.variable)
        wrong = "has a type without canonical form";
    else if (__builtin_mul_overflow((hsize_t)n, form.size, &bytes))
        wrong = "is too large";
    else
        wrong = sf_h5_wrong_storage(d->h5, dataset, bytes);
    int code = wrong ? sf_h5_fail(d->h5, name, wrong) : 0;
    if (!code && n > 0)
        code = add_blocks(d, dataset, name, space, &form);
    if (form.memory >= 0)
        H5Tclose(form.memory);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return code;
}

/* ---- the file ---- */

static herr_t add_object(hid_t root, const char *name, const H5O_info_t *info, void *context)
{
    digest *d = context;
    if (d->is_ours && (strcmp(name, "provenance") == 0 || strncmp(name, "provenance/", 11) == 0))
        return 0;
    hid_t object = H5Oopen(root, name, H5P_DEFAULT);
    add_text(d, info->type == H5O_TYPE_DATASET ? "dataset" : info->type == H5O_TYPE_GROUP ? "group" : "type");
    add_text(d, name);
    hsize_t at = 0;
    if (object < 0)
        d->code = sf_h5_fail(d->h5, name, "cannot be opened");
    else if (info->type == H5O_TYPE_DATASET)
        d->code = add_dataset(d, object, name);
    if (!d->code && H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, add_attribute, d) < 0 && !d->code)
        d->code = sf_h5_fail(d->h5, name, "has attributes that cannot be read");
    if (object >= 0)
        H5Oclose(object);
    return d->code ? -1 : 0;
}

/* Objects are visited once and through hard links only, so links are hashed apart, as what they say. */
static herr_t add_link(hid_t root, const char *name, const H5L_info_t *info, void *context)
{
    digest *d = context;
    add_text(d, "link");
    add_text(d, name);
    add_number(d, (uint64_t)info->type);
    if (info->type == H5L_TYPE_HARD)
        return 0;
    uint8_t value[4096];
    size_t n = info->u.val_size;
    if (n > sizeof value || H5Lget_val(root, name, value, sizeof value, H5P_DEFAULT) < 0) {
        d->code = sf_h5_fail(d->h5, name, "is a link that cannot be read");
        return -1;
    }
    add_bytes(d, value, n);
    return 0;
}

/* Our kinds of files have titles of their own; other files may have any, or none. */
static int find_kind(digest *d)
{
    htri_t exists = H5Aexists(d->h5->file, "title");
    hid_t attribute = exists > 0 ? H5Aopen(d->h5->file, "title", H5P_DEFAULT) : H5I_INVALID_HID;
    hid_t type = attribute < 0 ? H5I_INVALID_HID : H5Aget_type(attribute);
    hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
    char *title = NULL;
    int code = 0;
    if (exists < 0 || (exists > 0 && (type < 0 || space < 0)))
        code = sf_h5_fail(d->h5, "title", "the attribute cannot be opened");
    else if (exists && H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_npoints(space) == 1) {
        if (H5Aread(attribute, type, &title) < 0)
            code = sf_h5_fail(d->h5, "title", "the attribute cannot be read");
        d->is_ours = title && sf_file_kind_titled(title) != SF_FILE_UNKNOWN;
        H5free_memory(title);
    }
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return code;
}

static int digest_open(digest *d, char *hex)
{
    d->code = find_kind(d);
    if (d->code)
        return d->code;
    sf_blake2b_init(&d->hash, HASH_SIZE);
    if (H5Lvisit(d->h5->file, H5_INDEX_NAME, H5_ITER_INC, add_link, d) < 0 && !d->code)
        d->code = sf_h5_fail(d->h5, NULL, "has links that cannot be read");
    if (!d->code && H5Ovisit2(d->h5->file, H5_INDEX_NAME, H5_ITER_INC, add_object, d, H5O_INFO_BASIC) < 0 && !d->code)
        d->code = sf_h5_fail(d->h5, NULL, "has objects that cannot be read");
    uint8_t hash[HASH_SIZE];
    sf_blake2b_end(&d->hash, hash);
    for (size_t k = 0; k < HASH_SIZE && !d->code; k++)
        snprintf(hex + 2 * k, 3, "%02x", hash[k]);
    return d->code;
}

static int digest_tried(sf_h5 *h5, void *hex)
{
    digest d = {.h5 = h5};
    return digest_open(&d, hex);
}

int sf_digest_file(const char *path, char hex[SF_DIGEST_SIZE], sf_error *err)
{
    hex[0] = '\0';
    return sf_tried_read(path, NULL, digest_tried, hex, err);
}

/* Datasets: made so that the same values give the same bytes, and opened as if an enemy had written them. */
#include "io/h5.h"

#include <stdio.h>
#include <string.h>

enum {
    GZIP_LEVEL = 1,
    PACKED_CHUNK_MAX = 64 << 20, /* bytes in memory, of a file we read; ours are far smaller */
    GZIP_RATIO_MAX = 1040,       /* deflate makes at most 1,032 bytes of one */
};

static int set_layout(hid_t creation, const sf_h5_layout *layout)
{
    if (H5Pset_obj_track_times(creation, false) < 0)
        return -1;
    if (layout->fill && H5Pset_fill_value(creation, H5T_NATIVE_UINT64, layout->fill) < 0)
        return -1;
    if (layout->rank == 0 || layout->chunk[0] == 0)
        return H5Pset_layout(creation, H5D_CONTIGUOUS);
    if (H5Pset_chunk(creation, layout->rank, layout->chunk) < 0)
        return -1;
    if (!layout->packed) /* a chunk is written in pieces as rows come; its rest stays a hole */
        return H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    if (H5Pset_shuffle(creation) < 0 || H5Pset_deflate(creation, GZIP_LEVEL) < 0 || H5Pset_fletcher32(creation) < 0)
        return -1;
    return 0;
}

static hid_t make_space(const sf_h5_layout *layout)
{
    if (layout->rank == 0)
        return H5Screate(H5S_SCALAR);
    hsize_t limit[H5S_MAX_RANK];
    for (int k = 0; k < layout->rank; k++)
        limit[k] = k == layout->growing ? H5S_UNLIMITED : layout->size[k];
    return H5Screate_simple(layout->rank, layout->size, limit);
}

int sf_h5_dataset_create(sf_h5 *h5, const char *name, hid_t type, const sf_h5_layout *layout, hid_t *dataset)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE), access = H5Pcreate(H5P_DATASET_ACCESS), space = make_space(layout);
    *dataset = H5I_INVALID_HID;
    /* Without a chunk cache, pieces of an unpacked chunk go to the file as they are and nothing else is rewritten. */
    if (creation >= 0 && access >= 0 && space >= 0 && set_layout(creation, layout) >= 0 &&
        (layout->packed || H5Pset_chunk_cache(access, 0, 0, 0.0) >= 0))
        *dataset = H5Dcreate2(h5->file, name, type, space, H5P_DEFAULT, creation, access);
    int code = *dataset < 0 ? sf_h5_fail(h5, name, "the dataset cannot be created") : 0;
    if (creation >= 0)
        H5Pclose(creation);
    if (access >= 0)
        H5Pclose(access);
    if (space >= 0)
        H5Sclose(space);
    return code;
}

bool sf_h5_is_plain_path(const sf_h5 *h5, const char *name)
{
    char part[256];
    size_t n = strlen(name);
    if (n >= sizeof part || name[0] != '/')
        return false;
    for (size_t k = 1; k <= n; k++) {
        if (name[k] != '/' && name[k] != '\0')
            continue;
        memcpy(part, name, k);
        part[k] = '\0';
        H5L_info_t link;
        if (H5Lexists(h5->file, part, H5P_DEFAULT) <= 0 || H5Lget_info(h5->file, part, &link, H5P_DEFAULT) < 0 ||
            link.type != H5L_TYPE_HARD)
            return false;
    }
    return true;
}

/* Opens a dataset through hard links only. */
static int open_plainly(sf_h5 *h5, const char *name, hid_t *dataset)
{
    H5O_info_t info;
    *dataset = H5I_INVALID_HID;
    if (!sf_h5_is_plain_path(h5, name))
        return sf_h5_fail(h5, name, "the dataset is missing, or is a link to elsewhere");
    if (H5Oget_info_by_name2(h5->file, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0 || info.type != H5O_TYPE_DATASET)
        return sf_h5_fail(h5, name, "is not a dataset");
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    if (access >= 0)
        *dataset = H5Dopen2(h5->file, name, access);
    int code = *dataset < 0 ? sf_h5_fail(h5, name, "the dataset cannot be opened") : 0;
    if (access >= 0)
        H5Pclose(access);
    return code;
}

/* *packed: whether deflate is among them. */
static const char *wrong_filters(hid_t creation, bool *packed)
{
    int n = H5Pget_nfilters(creation);
    if (n < 0 || n > 3)
        return "has filters that are not ours";
    unsigned seen = 0;
    for (int k = 0; k < n; k++) {
        unsigned flags, config, bit;
        size_t n_values = 0;
        switch (H5Pget_filter2(creation, (unsigned)k, &flags, &n_values, NULL, 0, NULL, &config)) {
        case H5Z_FILTER_SHUFFLE:
            bit = 1;
            break;
        case H5Z_FILTER_DEFLATE:
            bit = 2;
            break;
        case H5Z_FILTER_FLETCHER32:
            bit = 4;
            break;
        default:
            return "has filters that are not ours";
        }
        if (seen & bit)
            return "has a filter twice";
        seen |= bit;
    }
    *packed = seen & 2;
    return NULL;
}

static const char *wrong_layout(hid_t creation, size_t value_bytes, bool *packed)
{
    H5D_layout_t layout = H5Pget_layout(creation);
    *packed = false;
    if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) /* a virtual dataset */
        return "lies outside the file";
    if (layout == H5D_CHUNKED) {
        hsize_t chunk[H5S_MAX_RANK], n = value_bytes;
        int rank = H5Pget_chunk(creation, H5S_MAX_RANK, chunk);
        const char *wrong = rank <= 0 ? "has chunks without a size" : wrong_filters(creation, packed);
        bool filtered = H5Pget_nfilters(creation) > 0; /* else HDF5 reads large ones piece by piece */
        for (int k = 0; k < rank && !wrong; k++) {
            if (__builtin_mul_overflow(n, chunk[k], &n) || (filtered && n > PACKED_CHUNK_MAX))
                wrong = "has chunks that are too large";
        }
        return wrong;
    }
    return H5Pget_external_count(creation) != 0 ? "lies outside the file" : NULL;
}

const char *sf_h5_wrong_storage(const sf_h5 *h5, hid_t dataset, hsize_t bytes)
{
    hid_t creation = H5Dget_create_plist(dataset);
    hid_t type = H5Dget_type(dataset);
    bool described = creation >= 0 && type >= 0;
    bool packed = false;
    const char *wrong = described ? wrong_layout(creation, H5Tget_size(type), &packed) : "cannot be described";
    if (creation >= 0)
        H5Pclose(creation);
    if (type >= 0)
        H5Tclose(type);
    hsize_t file_size = 0, stored = wrong ? 0 : H5Dget_storage_size(dataset);
    if (!wrong && (H5Fget_filesize(h5->file, &file_size) < 0 || stored > file_size))
        wrong = "claims more bytes than the file has";
    if (!wrong && (bytes / (packed ? GZIP_RATIO_MAX : 1) > stored || (bytes > 0 && stored == 0)))
        wrong = "claims more values than its bytes can hold";
    return wrong;
}

static const char *wrong_space(hid_t space, const sf_h5_demand *demand, hsize_t *n_values)
{
    hsize_t size[H5S_MAX_RANK];
    *n_values = 1;
    if (demand->rank == 0)
        return H5Sget_simple_extent_type(space) == H5S_SCALAR ? NULL : "is not a single value";
    if (H5Sget_simple_extent_type(space) != H5S_SIMPLE || H5Sget_simple_extent_ndims(space) != demand->rank)
        return "has another rank than it should";
    if (H5Sget_simple_extent_dims(space, size, NULL) < 0)
        return "has no sizes";
    for (int k = 0; k < demand->rank; k++) {
        if (size[k] < demand->size[k] || (k != demand->growing && size[k] != demand->size[k]))
            return "has another size than the run";
        if (__builtin_mul_overflow(*n_values, demand->size[k], n_values))
            return "is too large";
    }
    return NULL;
}

int sf_h5_dataset_open(sf_h5 *h5, const char *name, const sf_h5_demand *demand, hid_t *dataset)
{
    int code = open_plainly(h5, name, dataset);
    if (code)
        return code;
    const char *wrong = NULL;
    hsize_t n_values = 0, bytes = 0;
    hid_t type = H5Dget_type(*dataset), space = H5Dget_space(*dataset);
    if (type < 0 || space < 0)
        wrong = "cannot be described";
    else if (H5Tequal(type, demand->type) <= 0)
        wrong = "has another type than it should";
    else
        wrong = wrong_space(space, demand, &n_values);
    if (!wrong && __builtin_mul_overflow(n_values, H5Tget_size(demand->type), &bytes))
        wrong = "is too large";
    if (!wrong)
        wrong = sf_h5_wrong_storage(h5, *dataset, bytes);
    if (wrong)
        code = sf_h5_fail(h5, name, wrong);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (code) {
        H5Dclose(*dataset);
        *dataset = H5I_INVALID_HID;
    }
    return code;
}

int sf_h5_text_read(sf_h5 *h5, const char *name, size_t size, char *text)
{
    hid_t dataset;
    int code = open_plainly(h5, name, &dataset);
    if (code)
        return code;
    hid_t type = H5Dget_type(dataset);
    size_t n = type < 0 ? 0 : H5Tget_size(type);
    H5Dclose(dataset);
    bool fixed = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    if (type >= 0)
        H5Tclose(type);
    if (!fixed || n == 0 || n >= size)
        return sf_h5_fail(h5, name, "is not a text of fixed length, or too long");
    sf_h5_demand demand = {.type = sf_h5_text_type(n), .growing = -1};
    if (demand.type < 0)
        return sf_h5_fail(h5, name, "cannot be described");
    memset(text, 0, size);
    hsize_t none = 0;
    code = sf_h5_dataset_open(h5, name, &demand, &dataset);
    if (!code)
        code = sf_h5_block_read(h5, name, dataset, demand.type, 0, &none, &none, text);
    for (size_t k = 0; k < n && !code; k++) {
        if ((unsigned char)text[k] >= 0x7f || (text[k] && text[k] < ' '))
            code = sf_h5_fail(h5, name, "has characters that are not text");
    }
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Tclose(demand.type);
    return code;
}

/* Selects the block in the dataset's space; *memory is a dense space of its size. */
static int select_block(hid_t dataset, int rank, const hsize_t *start, const hsize_t *count, hid_t *file, hid_t *memory)
{
    *file = H5Dget_space(dataset);
    *memory = rank ? H5Screate_simple(rank, count, NULL) : H5Screate(H5S_SCALAR);
    if (*file < 0 || *memory < 0)
        return -1;
    return rank ? H5Sselect_hyperslab(*file, H5S_SELECT_SET, start, NULL, count, NULL) : 0;
}

static void close_spaces(hid_t file, hid_t memory)
{
    if (file >= 0)
        H5Sclose(file);
    if (memory >= 0)
        H5Sclose(memory);
}

int sf_h5_block_write(sf_h5 *h5, const char *name, hid_t dataset, hid_t type, int rank, const hsize_t *start,
                      const hsize_t *count, const void *values)
{
    hid_t file, memory;
    int code = 0;
    if (select_block(dataset, rank, start, count, &file, &memory) < 0 ||
        H5Dwrite(dataset, type, memory, file, H5P_DEFAULT, values) < 0)
        code = sf_h5_fail(h5, name, "cannot be written");
    close_spaces(file, memory);
    return code;
}

int sf_h5_block_read(sf_h5 *h5, const char *name, hid_t dataset, hid_t type, int rank, const hsize_t *start,
                     const hsize_t *count, void *values)
{
    hid_t file, memory;
    int code = 0;
    if (select_block(dataset, rank, start, count, &file, &memory) < 0 ||
        H5Dread(dataset, type, memory, file, H5P_DEFAULT, values) < 0)
        code = sf_h5_fail(h5, name, "cannot be read");
    close_spaces(file, memory);
    return code;
}

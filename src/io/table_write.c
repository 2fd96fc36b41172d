/* Chunks of a table file, packed in memory and put to the file as they are. HDF5 packs them itself, in a file that is
 * nowhere but in memory, so its filters stand here in no second form. */
#include <stdlib.h>
#include <string.h>

#include "io/aside.h"
#include "io/seal.h"
#include "io/table_header.h"
#include "io/version.h"

static size_t array_chunks(size_t n_maps)
{
    return (n_maps + SF_TABLE_CHUNK - 1) / SF_TABLE_CHUNK;
}

size_t sf_table_file_chunks(const sf_map_table *maps)
{
    return array_chunks(maps->n_maps) * (maps->layout.n_words > 1 ? 3 : 2);
}

/* The array a chunk belongs to, and its first map. */
static int chunk_array(const sf_map_table *maps, size_t chunk, size_t *first)
{
    size_t n = array_chunks(maps->n_maps), k = chunk / n;
    *first = chunk % n * SF_TABLE_CHUNK;
    return k == 0 ? SF_TABLE_LOW : k == 1 && maps->layout.n_words > 1 ? SF_TABLE_HIGH : SF_TABLE_COUNT;
}

/* ---- packing ---- */

struct sf_table_packer {
    const sf_map_table *maps;
    sf_h5 h5;
    hid_t dataset[SF_TABLE_ARRAYS]; /* of one chunk each */
    size_t n;                       /* maps a chunk */
    uint8_t values[SF_TABLE_CHUNK * 8];
};

static int create_datasets(sf_table_packer *p)
{
    int code = sf_h5_group_create(&p->h5, "/maps");
    for (int array = 0; array < SF_TABLE_ARRAYS && !code; array++)
        code = sf_table_array_create(&p->h5, array, p->n, &p->dataset[array]);
    return code;
}

int sf_table_packer_open(sf_table_packer **packer, const sf_map_table *maps, sf_error *err)
{
    sf_table_packer *p = calloc(1, sizeof *p);
    *packer = NULL;
    if (!p)
        return sf_fail(err, SF_ENOMEM, "out of memory for packing a table");
    p->maps = maps;
    p->n = maps->n_maps < SF_TABLE_CHUNK ? maps->n_maps : SF_TABLE_CHUNK;
    for (int array = 0; array < SF_TABLE_ARRAYS; array++)
        p->dataset[array] = H5I_INVALID_HID;
    int code = sf_h5_create_in_memory(&p->h5, "a table that is packed", err);
    if (!code)
        code = create_datasets(p);
    if (code)
        sf_table_packer_close(p);
    else
        *packer = p;
    return code;
}

void sf_table_packer_close(sf_table_packer *packer)
{
    if (!packer)
        return;
    for (int array = 0; array < SF_TABLE_ARRAYS; array++) {
        if (packer->dataset[array] >= 0)
            H5Dclose(packer->dataset[array]);
    }
    packer->h5.err = NULL;
    sf_h5_close(&packer->h5);
    free(packer);
}

/* In front of the bytes: which filters HDF5 left out, as it does where gzip only adds. */
int sf_table_packer_pack(sf_table_packer *packer, size_t chunk, uint8_t *bytes, size_t *n, sf_error *err)
{
    const hsize_t start = 0, count = packer->n;
    size_t first;
    int array = chunk_array(packer->maps, chunk, &first);
    const char *name = sf_table_arrays[array].name;
    size_t width = sf_table_arrays[array].bytes, left = packer->maps->n_maps - first;
    left = left < packer->n ? left : packer->n;
    memcpy(packer->values, (const char *)sf_table_array_values(packer->maps, array) + first * width, left * width);
    memset(packer->values + left * width, 0, (packer->n - left) * width); /* as HDF5 fills the last chunk */
    packer->h5.err = err;
    int code = sf_h5_block_write(&packer->h5, name, packer->dataset[array], sf_table_array_native(array), 1, &start, &count,
                                 packer->values);
    hsize_t size = 0;
    uint32_t left_out = 0;
    if (!code && (H5Dflush(packer->dataset[array]) < 0 ||
                  H5Dget_chunk_storage_size(packer->dataset[array], &start, &size) < 0 ||
                  size > SF_TABLE_PACKED_MAX - sizeof left_out ||
                  H5Dread_chunk(packer->dataset[array], H5P_DEFAULT, &start, &left_out, bytes + sizeof left_out) < 0))
        code = sf_h5_fail(&packer->h5, name, "cannot be packed");
    memcpy(bytes, &left_out, sizeof left_out);
    *n = (size_t)size + sizeof left_out;
    return code;
}

/* ---- writing ---- */

struct sf_table_writer {
    char *path, *aside;
    sf_h5 h5;
    hid_t dataset[SF_TABLE_ARRAYS];
    sf_map_table maps; /* its numbers; the arrays are not ours */
    size_t next;       /* chunk */
};

static int begin(sf_table_writer *w, const char *letters, sf_error *err)
{
    sf_table_about about = {.schema = SF_TABLE_SCHEMA_VERSION,
                            .length = w->maps.layout.length,
                            .n_maps = w->maps.n_maps,
                            .conformations = w->maps.conformations,
                            .max_contacts = w->maps.max_contacts};
    snprintf(about.program, sizeof about.program, "starfold");
    snprintf(about.version, sizeof about.version, "%s", sf_version);
    snprintf(about.revision, sizeof about.revision, "%s", sf_revision);
    snprintf(about.lattice, sizeof about.lattice, "%s", w->maps.lattice->name);
    snprintf(about.letters, sizeof about.letters, "%s", letters);
    int code = sf_aside_begin(w->path, &w->aside, err);
    if (!code)
        code = sf_h5_create(&w->h5, w->aside, w->path, err);
    if (!code)
        code = sf_table_header_write(&w->h5, &about, &w->maps.layout);
    for (int array = 0; array < SF_TABLE_ARRAYS && !code; array++) {
        if (array != SF_TABLE_HIGH || w->maps.layout.n_words > 1)
            code = sf_table_array_create(&w->h5, array, w->maps.n_maps, &w->dataset[array]);
    }
    return code;
}

int sf_table_writer_open(sf_table_writer **writer, const char *path, const sf_map_table *maps, const char *letters,
                         sf_error *err)
{
    sf_table_writer *w = calloc(1, sizeof *w);
    *writer = NULL;
    char *copy = strdup(path);
    if (!w || !copy) {
        free(w);
        free(copy);
        return sf_fail(err, SF_ENOMEM, "%s: out of memory", path);
    }
    w->path = copy;
    w->h5.file = H5I_INVALID_HID;
    w->maps = *maps;
    for (int array = 0; array < SF_TABLE_ARRAYS; array++)
        w->dataset[array] = H5I_INVALID_HID;
    int code = begin(w, letters, err);
    w->h5.err = NULL;
    if (code)
        sf_table_writer_close(w);
    else
        *writer = w;
    return code;
}

int sf_table_writer_put(sf_table_writer *writer, const uint8_t *bytes, size_t n, sf_error *err)
{
    size_t first;
    int array = chunk_array(&writer->maps, writer->next++, &first);
    const hsize_t start = first;
    uint32_t left_out;
    memcpy(&left_out, bytes, sizeof left_out);
    writer->h5.err = err;
    if (H5Dwrite_chunk(writer->dataset[array], H5P_DEFAULT, left_out, &start, n - sizeof left_out,
                       bytes + sizeof left_out) < 0)
        return sf_h5_fail(&writer->h5, sf_table_arrays[array].name, "cannot be written");
    return 0;
}

/* Closes the file; the first cause of a failure stays. */
static int close_file(sf_table_writer *w)
{
    int code = 0;
    for (int array = 0; array < SF_TABLE_ARRAYS; array++) {
        if (w->dataset[array] >= 0 && H5Dclose(w->dataset[array]) < 0 && !code)
            code = sf_h5_fail(&w->h5, sf_table_arrays[array].name, "cannot be written");
        w->dataset[array] = H5I_INVALID_HID;
    }
    if (code)
        w->h5.err = NULL;
    int closed = sf_h5_close(&w->h5);
    return code ? code : closed;
}

int sf_table_writer_commit(sf_table_writer *writer, sf_error *err)
{
    writer->h5.err = err;
    int code = close_file(writer);
    if (!code)
        code = sf_seal_write(writer->aside, writer->path, err);
    if (!code)
        code = sf_aside_commit(writer->path, writer->aside, err);
    if (!code) {
        free(writer->aside);
        writer->aside = NULL;
    }
    return code;
}

void sf_table_writer_close(sf_table_writer *writer)
{
    if (!writer)
        return;
    writer->h5.err = NULL;
    close_file(writer);
    sf_aside_drop(writer->aside);
    free(writer->aside);
    free(writer->path);
    free(writer);
}

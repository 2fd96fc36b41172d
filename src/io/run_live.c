/* The file of a running search, open for all to read and whole after a kill at any instant.
 *
 * Obvious would be packed chunks as in the finished file; a chunk that is rewritten as rows come is lost when the
 * writer dies meanwhile. Here rows go to unpacked chunks in the earliest format, past the chunk cache; only when all of
 * a block is flushed are the counts in /progress written over, one word each, and a reader believes these counts alone.
 */
#include <stdlib.h>
#include <string.h>

#include "io/aside.h"
#include "io/field_io.h"
#include "io/run_file.h"
#include "io/view.h"

struct sf_live_file {
    sf_h5 h5;
    char *path;
    sf_view view;    /* its counts are those that the file has */
    hid_t *dataset;  /* [sf_n_fields] */
    sf_place *first; /* [first_capacity] what the file has of record->known.first */
    size_t first_capacity;
    size_t first_unsettled; /* row of the migration log before which no fate can change */
};

static int create_datasets(sf_live_file *file)
{
    int code = 0;
    for (size_t n = 0; n < sf_n_fields && !code; n++) {
        const sf_field *field = &sf_fields[n];
        if (!sf_field_present(&file->view, field))
            continue;
        code = sf_field_create(&file->h5, &file->view, field, &file->dataset[n]);
        if (!code && sf_field_growing(field) < 0)
            code = sf_field_write(&file->h5, &file->view, field, file->dataset[n], -1, 0, 0);
    }
    return code ? code : sf_fields_attach_scales(&file->h5, &file->view);
}

static int open_file(sf_live_file *file, const char *path, const sf_record *record, const sf_run_meta *meta,
                     sf_error *err)
{
    file->path = strdup(path);
    file->dataset = malloc(sf_n_fields * sizeof *file->dataset);
    if (!file->path || !file->dataset)
        return sf_fail(err, SF_ENOMEM, "%s: out of memory", path);
    for (size_t n = 0; n < sf_n_fields; n++)
        file->dataset[n] = H5I_INVALID_HID;
    int code = sf_view_init(&file->view, record, meta, true, err);
    if (code)
        return code;
    file->view.generation = -1;
    file->view.n_sequences = file->view.n_migrants = 0;
    char *aside = NULL;
    code = sf_aside_begin(path, &aside, err);
    if (!code)
        code = sf_h5_create(&file->h5, aside, file->path, true, err);
    if (!code)
        code = sf_run_begin(&file->h5, &file->view, meta);
    if (!code)
        code = create_datasets(file);
    if (!code)
        code = sf_live_file_append(file, record, err);
    if (!code)
        code = sf_aside_commit(path, aside, err); /* the open file keeps writing under its new name */
    if (code)
        sf_aside_drop(aside);
    free(aside);
    return code;
}

int sf_live_file_create(sf_live_file **file, const char *path, const sf_record *record, const sf_run_meta *meta,
                        sf_error *err)
{
    *file = calloc(1, sizeof **file);
    if (!*file)
        return sf_fail(err, SF_ENOMEM, "%s: out of memory", path);
    (*file)->h5.file = H5I_INVALID_HID;
    int code = open_file(*file, path, record, meta, err);
    if (code) {
        sf_live_file_close(*file);
        *file = NULL;
    }
    return code;
}

static size_t rows_along(const sf_view *view, const sf_field *field)
{
    return sf_view_size(view, field->axis[sf_field_growing(field)]);
}

/* Lengthens the datasets and writes the new rows; `old` has the counts of before. */
static int append_rows(sf_live_file *file, const sf_view *old)
{
    for (size_t n = 0; n < sf_n_fields; n++) {
        const sf_field *field = &sf_fields[n];
        int axis = sf_field_growing(field), code = 0;
        if (axis < 0 || file->dataset[n] < 0)
            continue;
        size_t first = rows_along(old, field), last = rows_along(&file->view, field);
        if (first == last)
            continue;
        hsize_t size[SF_RANK_MAX];
        for (int k = 0; k < field->rank; k++)
            size[k] = sf_view_size(&file->view, field->axis[k]);
        if (H5Dset_extent(file->dataset[n], size) < 0)
            code = sf_h5_fail(&file->h5, field->name, "cannot be lengthened");
        if (!code)
            code = sf_field_write(&file->h5, &file->view, field, file->dataset[n], axis, first, last);
        if (code)
            return code;
    }
    return 0;
}

/* Writes rows that the file has already again, in the fields whose value is found by `at`. */
static int rewrite_rows(sf_live_file *file, const char *prefix, size_t first, size_t last)
{
    int code = 0;
    for (size_t n = 0; n < sf_n_fields && !code; n++) {
        if (strncmp(sf_fields[n].name, prefix, strlen(prefix)) == 0)
            code = sf_field_write(&file->h5, &file->view, &sf_fields[n], file->dataset[n], 0, first, last);
    }
    return code;
}

/* A sequence may turn out to have been asked for earlier, by an island that reports later. */
static int rewrite_places(sf_live_file *file, const sf_view *old)
{
    const sf_known *known = &file->view.record->known;
    size_t n = (size_t)old->n_sequences;
    const uint8_t *changed = known->changed, *next;
    for (size_t row = 0; row < n && (next = memchr(changed + row, 1, n - row)); row++) {
        row = (size_t)(next - changed);
        if (!sf_place_less(&known->first[row], &file->first[row]))
            continue;
        int code = rewrite_rows(file, "/sequences/first_", row, row + 1);
        if (code)
            return code;
        file->first[row] = known->first[row];
    }
    return 0;
}

static int remember_places(sf_live_file *file, const sf_view *old)
{
    const sf_known *known = &file->view.record->known;
    if (known->n > file->first_capacity) {
        size_t capacity = known->capacity > known->n ? known->capacity : known->n;
        sf_place *first = realloc(file->first, capacity * sizeof *first);
        if (!first)
            return sf_fail(file->h5.err, SF_ENOMEM, "%s: out of memory", file->path);
        file->first = first;
        file->first_capacity = capacity;
    }
    size_t n = (size_t)old->n_sequences;
    if (known->n > n)
        memcpy(file->first + n, known->first + n, (known->n - n) * sizeof *known->first);
    return 0;
}

static int rewrite_fates(sf_live_file *file, const sf_view *old)
{
    size_t first = file->first_unsettled, last = (size_t)old->n_migrants;
    const sf_migrant *migrant = file->view.record->migrant;
    int code = first < last ? rewrite_rows(file, "/migration/fate", first, last) : 0;
    while (first < (size_t)file->view.n_migrants && migrant[first].fate != SF_MIGRANT_IN_FLIGHT)
        first++;
    file->first_unsettled = first;
    return code;
}

/* The counts, after everything that they count has reached the file. */
static int write_progress(sf_live_file *file)
{
    int code = sf_h5_flush(&file->h5);
    for (size_t n = 0; n < sf_n_fields && !code; n++) {
        if (strncmp(sf_fields[n].name, "/progress/", strlen("/progress/")) == 0)
            code = sf_field_write(&file->h5, &file->view, &sf_fields[n], file->dataset[n], -1, 0, 0);
    }
    return code ? code : sf_h5_flush(&file->h5);
}

int sf_live_file_append(sf_live_file *file, const sf_record *record, sf_error *err)
{
    sf_view old = file->view;
    file->h5.err = err;
    file->view.record = (sf_record *)(uintptr_t)record;
    sf_view_update(&file->view);
    int code = remember_places(file, &old);
    if (!code)
        code = append_rows(file, &old);
    if (!code)
        code = rewrite_places(file, &old);
    if (!code)
        code = rewrite_fates(file, &old);
    if (!code)
        code = write_progress(file);
    if (code) { /* the rows are not counted: a later append writes them again */
        file->view = old;
        file->view.record = (sf_record *)(uintptr_t)record;
    }
    file->h5.err = NULL;
    return code;
}

void sf_live_file_close(sf_live_file *file)
{
    if (!file)
        return;
    for (size_t n = 0; file->dataset && n < sf_n_fields; n++) {
        if (file->dataset[n] >= 0)
            H5Dclose(file->dataset[n]);
    }
    sf_h5_close(&file->h5);
    sf_view_free(&file->view);
    free(file->first);
    free(file->dataset);
    free(file->path);
    free(file);
}

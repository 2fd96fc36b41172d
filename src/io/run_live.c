/* The file of a running search, open for all to read and whole after a kill at any instant.
 *
 * Obvious would be datasets that take a new chunk whenever they need one. But then HDF5 changes the index of the chunks
 * (a tree that splits), the size of the dataset and the size of the file one after the other, and between these writes
 * the dataset cannot be read; nor can one whose packed chunk is written over. So the chunks of a file under its name
 * never change: each dataset has one unpacked chunk with more room than it needs, a hole on the disk, and rows go there
 * past the chunk cache. Of what is not a row, one word each is written over: first the datasets' sizes, and when all is
 * flushed, the counts in /progress. When a dataset runs out of room the file is written anew, aside, with twice as much,
 * and takes the other's name. */
#include <stdlib.h>
#include <string.h>

#include "io/aside.h"
#include "io/field_io.h"
#include "io/run_file.h"
#include "io/view.h"

struct sf_live_file {
    sf_h5 h5;
    char *path;
    sf_run_meta meta;
    sf_view view;    /* its counts are those that the file has */
    hid_t *dataset;  /* [sf_n_fields] */
    size_t *room;    /* [sf_n_fields] rows that a growing dataset can have */
    sf_place *first; /* [first_capacity] what the file has of record->known.first */
    size_t first_capacity;
    size_t first_unsettled; /* row of the migration log before which no fate can change */
};

size_t sf_live_room = (size_t)1 << 20;

static bool grows(const sf_view *view, const sf_field *field)
{
    return sf_field_present(view, field) && sf_field_growing(field) >= 0;
}

static size_t rows_along(const sf_view *view, const sf_field *field)
{
    return sf_view_size(view, field->axis[sf_field_growing(field)]);
}

/* Room for twice the rows of the view, and not less than sf_live_room in all datasets along an axis together. A dataset
 * without rows has no chunk, and so no room. */
static void choose_room(sf_live_file *file)
{
    sf_view *view = &file->view;
    size_t row_bytes[SF_N_AXES] = {0};
    for (size_t n = 0; n < sf_n_fields; n++) {
        const sf_field *field = &sf_fields[n];
        if (!grows(view, field))
            continue;
        int growing = sf_field_growing(field);
        size_t bytes = sf_field_bytes(view, field);
        for (int k = 0; k < field->rank; k++)
            bytes *= k == growing ? 1 : sf_view_size(view, field->axis[k]);
        row_bytes[field->axis[growing]] += bytes;
    }
    for (int axis = 0; axis < SF_N_AXES; axis++) {
        size_t least = row_bytes[axis] ? sf_live_room / row_bytes[axis] + 1 : 0;
        size_t twice = least ? 2 * sf_view_size(view, (sf_axis)axis) : 0;
        view->room[axis] = twice > least ? twice : least;
    }
    for (size_t n = 0; n < sf_n_fields; n++)
        file->room[n] = grows(view, &sf_fields[n]) ? sf_field_room(view, &sf_fields[n]) : SIZE_MAX;
}

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

static int append(sf_live_file *file, const sf_record *record, sf_error *err);

static int take_memory(sf_live_file *file, const char *path, sf_error *err)
{
    file->path = strdup(path);
    file->dataset = malloc(sf_n_fields * sizeof *file->dataset);
    file->room = calloc(sf_n_fields, sizeof *file->room);
    if (!file->path || !file->dataset || !file->room)
        return sf_fail(err, SF_ENOMEM, "%s: out of memory", path);
    for (size_t n = 0; n < sf_n_fields; n++)
        file->dataset[n] = H5I_INVALID_HID;
    return 0;
}

/* Under its name the file appears with all rows that the record has. */
static int open_file(sf_live_file *file, const sf_record *record, sf_error *err)
{
    int code = sf_view_init(&file->view, record, &file->meta, true, err);
    if (code)
        return code;
    choose_room(file);
    file->view.generation = -1;
    file->view.n_sequences = file->view.n_migrants = 0;
    char *aside = NULL;
    code = sf_aside_begin(file->path, &aside, err);
    if (!code)
        code = sf_h5_create(&file->h5, aside, file->path, err);
    if (!code)
        code = sf_run_begin(&file->h5, &file->view, &file->meta);
    if (!code)
        code = create_datasets(file);
    if (!code)
        code = append(file, record, err);
    if (!code)
        code = sf_aside_commit(file->path, aside, err); /* the open file keeps writing under its new name */
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
    (*file)->meta = *meta;
    int code = take_memory(*file, path, err);
    if (!code)
        code = open_file(*file, record, err);
    if (code) {
        sf_live_file_close(*file);
        *file = NULL;
    }
    return code;
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

static int append(sf_live_file *file, const sf_record *record, sf_error *err)
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

static bool has_room(const sf_live_file *file, const sf_record *record)
{
    sf_view view = file->view;
    view.record = (sf_record *)(uintptr_t)record;
    sf_view_update(&view);
    for (size_t n = 0; n < sf_n_fields; n++) {
        if (grows(&view, &sf_fields[n]) && rows_along(&view, &sf_fields[n]) > file->room[n])
            return false;
    }
    return true;
}

int sf_live_file_append(sf_live_file *file, const sf_record *record, sf_error *err)
{
    sf_live_file *larger;
    if (has_room(file, record))
        return append(file, record, err);
    int code = sf_live_file_create(&larger, file->path, record, &file->meta, err);
    if (code)
        return code;
    const sf_live_file old = *file;
    *file = *larger;
    *larger = old;
    sf_live_file_close(larger);
    return 0;
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
    free(file->room);
    free(file->path);
    free(file);
}

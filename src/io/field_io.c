/* Blocks of values between memory and file. A whole dataset at once would double the memory of a large run; a row at a
 * time would cost a call of HDF5 each. So values pass through a buffer of one chunk. */
#include "io/field_io.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONTIGUOUS_BYTES_MAX = 4096, /* below, chunks cost more than they save */
    CHUNK_BYTES = 256 << 10,     /* of a finished file */
};

static const size_t LIVE_CHUNK_BYTES_MAX = (size_t)1 << 31; /* HDF5 allows almost twice as many */

/* The largest block of the field with at most `bytes`: leading axes are cut first, so that a block is one run of rows.
 */
static void choose_block(int rank, const hsize_t *size, size_t value_bytes, size_t bytes, hsize_t *block)
{
    hsize_t room = bytes / value_bytes ? bytes / value_bytes : 1;
    for (int k = rank - 1; k >= 0; k--) {
        hsize_t n = size[k] ? size[k] : 1;
        block[k] = n < room ? n : room;
        room /= block[k];
    }
}

static hid_t stored_type(const sf_view *view, const sf_field *field, bool memory)
{
    switch (field->type) {
    case SF_TYPE_U8:
        return H5Tcopy(memory ? H5T_NATIVE_UINT8 : H5T_STD_U8LE);
    case SF_TYPE_I32:
        return H5Tcopy(memory ? H5T_NATIVE_INT32 : H5T_STD_I32LE);
    case SF_TYPE_I64:
        return H5Tcopy(memory ? H5T_NATIVE_INT64 : H5T_STD_I64LE);
    case SF_TYPE_U64:
        return H5Tcopy(memory ? H5T_NATIVE_UINT64 : H5T_STD_U64LE);
    case SF_TYPE_TEXT:
    case SF_TYPE_LETTERS:
    case SF_TYPE_SOLUTION:
        break;
    }
    return sf_h5_text_type(sf_field_bytes(view, field));
}

static void field_sizes(const sf_view *view, const sf_field *field, hsize_t *size)
{
    for (int k = 0; k < field->rank; k++)
        size[k] = sf_view_size(view, field->axis[k]);
}

/* How the file holds the field: whole files small things in one piece and the rest packed, live files open-ended. */
static void choose_layout(const sf_view *view, const sf_field *field, sf_h5_layout *layout)
{
    static const uint64_t not_counted = SF_COUNT_SOME;
    *layout = (sf_h5_layout){.rank = field->rank, .growing = -1, .packed = !view->live};
    field_sizes(view, field, layout->size);
    if (field->flags & SF_FIELD_COUNTS)
        layout->fill = &not_counted;
    size_t value_bytes = sf_field_bytes(view, field), bytes = value_bytes;
    for (int k = 0; k < field->rank; k++)
        bytes *= layout->size[k];
    int growing = sf_field_growing(field);
    if (view->live && growing >= 0) {
        layout->growing = growing;
        layout->size[growing] = view->room[field->axis[growing]];
        choose_block(field->rank, layout->size, value_bytes, LIVE_CHUNK_BYTES_MAX, layout->chunk);
        layout->size[growing] = 0;
    } else if (!view->live && field->rank > 0 && bytes > CONTIGUOUS_BYTES_MAX) {
        choose_block(field->rank, layout->size, value_bytes, CHUNK_BYTES, layout->chunk);
    }
}

int sf_field_create(sf_h5 *h5, const sf_view *view, const sf_field *field, hid_t *dataset)
{
    sf_h5_layout layout;
    choose_layout(view, field, &layout);
    *dataset = H5I_INVALID_HID;
    hid_t type = stored_type(view, field, false);
    if (type < 0)
        return sf_h5_fail(h5, field->name, "the dataset's type cannot be made");
    int code = sf_h5_dataset_create(h5, field->name, type, &layout, dataset);
    H5Tclose(type);
    if (!code)
        code = sf_h5_attr_text(h5, *dataset, "units", field->units);
    if (!code)
        code = sf_h5_attr_text(h5, *dataset, "description", field->description);
    return code;
}

size_t sf_field_room(const sf_view *view, const sf_field *field)
{
    sf_h5_layout layout;
    int growing = sf_field_growing(field);
    choose_layout(view, field, &layout);
    size_t rows = sf_view_size(view, field->axis[growing]), chunk = layout.chunk[growing];
    return (rows + chunk - 1) / chunk * chunk;
}

static const sf_field *scale_of(sf_axis axis)
{
    for (size_t n = 0; n < sf_n_fields; n++) {
        if ((sf_fields[n].flags & SF_FIELD_SCALE) && sf_fields[n].axis[0] == axis)
            return &sf_fields[n];
    }
    return NULL;
}

static int attach(sf_h5 *h5, const sf_field *field, hid_t dataset)
{
    const char *name[SF_RANK_MAX], *scale[SF_RANK_MAX];
    for (int k = 0; k < field->rank; k++) {
        name[k] = sf_axis_name(field->axis[k]);
        scale[k] = scale_of(field->axis[k])->name;
    }
    int code = sf_h5_axes_name(h5, dataset, field->rank, name);
    if (!code && !(field->flags & SF_FIELD_SCALE)) /* a scale has none itself */
        code = sf_h5_axes_attach(h5, dataset, field->rank, scale);
    return code;
}

static int make_scale(sf_h5 *h5, const sf_view *view, const sf_field *field, hid_t dataset)
{
    sf_h5_user *user = malloc(sf_n_fields * SF_RANK_MAX * sizeof *user);
    size_t n_users = 0;
    if (!user)
        return sf_fail(h5->err, SF_ENOMEM, "%s: out of memory", h5->path);
    for (size_t n = 0; n < sf_n_fields; n++) {
        const sf_field *other = &sf_fields[n];
        for (int k = 0; k < other->rank; k++) {
            if (other->axis[k] == field->axis[0] && other != field && sf_field_present(view, other))
                user[n_users++] = (sf_h5_user){other->name, k};
        }
    }
    int code = sf_h5_scale_make(h5, dataset, sf_axis_name(field->axis[0]), n_users, user);
    free(user);
    return code;
}

int sf_fields_attach_scales(sf_h5 *h5, const sf_view *view)
{
    int code = 0;
    for (size_t n = 0; n < sf_n_fields && !code; n++) {
        const sf_field *field = &sf_fields[n];
        if (field->rank == 0 || !sf_field_present(view, field))
            continue;
        hid_t dataset = H5Dopen2(h5->file, field->name, H5P_DEFAULT);
        if (dataset < 0)
            return sf_h5_fail(h5, field->name, "cannot be opened");
        code = attach(h5, field, dataset);
        if (!code && (field->flags & SF_FIELD_SCALE))
            code = make_scale(h5, view, field, dataset);
        H5Dclose(dataset);
    }
    return code;
}

/* A walk over a box of the field's values in blocks. */
typedef struct walk {
    int rank;
    hsize_t first[SF_RANK_MAX], last[SF_RANK_MAX]; /* the box, half-open */
    hsize_t block[SF_RANK_MAX];
    hsize_t start[SF_RANK_MAX], count[SF_RANK_MAX]; /* the present block */
    size_t n_values;
    bool done;
} walk;

static void walk_clip(walk *w)
{
    w->n_values = 1;
    for (int k = 0; k < w->rank; k++) {
        hsize_t left = w->last[k] - w->start[k];
        w->count[k] = left < w->block[k] ? left : w->block[k];
        w->n_values *= w->count[k];
    }
}

static void walk_begin(walk *w, const sf_view *view, const sf_field *field)
{
    *w = (walk){.rank = field->rank};
    field_sizes(view, field, w->last);
    choose_block(field->rank, w->last, sf_field_bytes(view, field), CHUNK_BYTES, w->block);
}

/* Narrows the box to rows first..last-1 of one axis and goes to its first block. */
static void walk_narrow(walk *w, int axis, size_t first, size_t last)
{
    if (axis >= 0) {
        w->first[axis] = first;
        w->last[axis] = last;
    }
    for (int k = 0; k < w->rank; k++)
        w->done = w->done || w->first[k] >= w->last[k];
    memcpy(w->start, w->first, sizeof w->start);
    walk_clip(w);
}

static void walk_next(walk *w)
{
    int k = w->rank - 1;
    for (; k >= 0; k--) {
        w->start[k] += w->block[k];
        if (w->start[k] < w->last[k])
            break;
        w->start[k] = w->first[k];
    }
    w->done = k < 0;
    walk_clip(w);
}

/* Index of the first value of the present block, and of the value after the one at `index`. */
static void index_first(const walk *w, size_t *index)
{
    for (int k = 0; k < w->rank; k++)
        index[k] = w->start[k];
}

static void index_next(const walk *w, size_t *index)
{
    for (int k = w->rank - 1; k >= 0; k--) {
        if (++index[k] < w->start[k] + w->count[k])
            return;
        index[k] = w->start[k];
    }
}

static int buffer_new(sf_h5 *h5, const walk *w, size_t value_bytes, uint8_t **buffer)
{
    size_t n = value_bytes;
    for (int k = 0; k < w->rank; k++)
        n *= w->block[k];
    *buffer = malloc(n);
    return *buffer ? 0 : sf_fail(h5->err, SF_ENOMEM, "%s: out of memory (%zu bytes)", h5->path, n);
}

int sf_field_write(sf_h5 *h5, sf_view *view, const sf_field *field, hid_t dataset, int axis, size_t first, size_t last)
{
    size_t value_bytes = sf_field_bytes(view, field), index[SF_RANK_MAX] = {0};
    walk w;
    walk_begin(&w, view, field);
    walk_narrow(&w, axis, first, last);
    if (w.done)
        return 0;
    uint8_t *buffer = NULL;
    hid_t type = stored_type(view, field, true);
    int code =
        type < 0 ? sf_h5_fail(h5, field->name, "the type cannot be made") : buffer_new(h5, &w, value_bytes, &buffer);
    for (; !code && !w.done; walk_next(&w)) {
        index_first(&w, index);
        for (size_t n = 0; n < w.n_values; n++, index_next(&w, index))
            sf_field_store(view, field, index, buffer + n * value_bytes);
        code = sf_h5_block_write(h5, field->name, dataset, type, w.rank, w.start, w.count, buffer);
    }
    free(buffer);
    if (type >= 0)
        H5Tclose(type);
    return code;
}

static int field_open(sf_h5 *h5, const sf_view *view, const sf_field *field, hid_t *dataset)
{
    sf_h5_demand demand = {.type = stored_type(view, field, false), .rank = field->rank, .growing = -1};
    *dataset = H5I_INVALID_HID;
    if (demand.type < 0)
        return sf_h5_fail(h5, field->name, "the type cannot be made");
    field_sizes(view, field, demand.size);
    if (view->live)
        demand.growing = sf_field_growing(field);
    int code = sf_h5_dataset_open(h5, field->name, &demand, dataset);
    H5Tclose(demand.type);
    return code;
}

int sf_field_check(sf_h5 *h5, const sf_view *view, const sf_field *field)
{
    hid_t dataset;
    int code = field_open(h5, view, field, &dataset);
    if (dataset >= 0)
        H5Dclose(dataset);
    return code;
}

/* Takes one value, or compares it. */
static int take(sf_h5 *h5, sf_view *view, const sf_field *field, const size_t *index, const uint8_t *stored)
{
    uint8_t mine[1024]; /* derived values are numbers or letters */
    if (!(field->flags & SF_FIELD_DERIVED))
        return sf_field_take(view, field, index, stored)
                   ? 0
                   : sf_h5_fail(h5, field->name, "has letters that are not of the alphabet");
    sf_field_store(view, field, index, mine);
    if (memcmp(mine, stored, sf_field_bytes(view, field)) != 0)
        return sf_h5_fail(h5, field->name, "does not agree with what it follows from");
    return 0;
}

int sf_field_read(sf_h5 *h5, sf_view *view, const sf_field *field)
{
    if (field->type == SF_TYPE_TEXT)
        return sf_h5_text_read(h5, field->name, field->capacity, field->at(view, field, NULL));
    hid_t dataset, type = stored_type(view, field, true);
    int code = field_open(h5, view, field, &dataset);
    size_t value_bytes = sf_field_bytes(view, field), index[SF_RANK_MAX] = {0};
    uint8_t *buffer = NULL;
    walk w;
    walk_begin(&w, view, field);
    walk_narrow(&w, -1, 0, 0);
    if (!code && type < 0)
        code = sf_h5_fail(h5, field->name, "the type cannot be made");
    if (!code)
        code = buffer_new(h5, &w, value_bytes, &buffer);
    for (; !code && !w.done; walk_next(&w)) {
        code = sf_h5_block_read(h5, field->name, dataset, type, w.rank, w.start, w.count, buffer);
        index_first(&w, index);
        for (size_t n = 0; n < w.n_values && !code; n++, index_next(&w, index))
            code = take(h5, view, field, index, buffer + n * value_bytes);
    }
    free(buffer);
    if (dataset >= 0)
        H5Dclose(dataset);
    if (type >= 0)
        H5Tclose(type);
    return code;
}

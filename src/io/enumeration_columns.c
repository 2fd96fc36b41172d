/* One list says of each dataset its axes, its types and where its values lie in memory; those that anyone could derive from
 * the histograms are written for people and not read back. */
#include "io/enumeration_columns.h"

#include <stdlib.h>
#include <string.h>

#include "io/h5_scalars.h"
#include "starfold/problem.h"

enum { CONTIGUOUS_BYTES_MAX = 1 << 16, CHUNK_BYTES = 1 << 18, N_AXES = 3, N_COLUMNS = 10, USERS_MAX = 8 };

typedef enum axis { AXIS_ASKED, AXIS_SEQUENCE, AXIS_SCORE } axis;

static const char *const axis_names[N_AXES] = {"asked", "sequence", "score"};
static const char *const scale_names[N_AXES] = {"/dimensions/asked", "/dimensions/sequence", "/dimensions/score"};

/* One dataset; one axis alone may be its scale. */
typedef struct column {
    const char *name, *units, *description;
    enum { TEXT, INT32, INT64, COUNT } type; /* a text has the length of a sequence */
    bool scale;
    int rank;
    axis on[2];
    const void *values;
} column;

/* What is written beside the caller's arrays. */
typedef struct derived {
    int64_t *number[N_AXES];
    int32_t *best, *distinct, *exact;
} derived;

static hsize_t axis_size(const sf_enumeration *e, axis a)
{
    return a == AXIS_ASKED ? e->n_asked : a == AXIS_SEQUENCE ? e->n : (hsize_t)e->n_scores;
}

static void list_columns(const sf_enumeration *e, const derived *d, column column_of[N_COLUMNS])
{
    const column all[N_COLUMNS] = {
        {scale_names[AXIS_ASKED], "", "number of the sequence in the order given, from 0", INT64, true, 1, {AXIS_ASKED},
         d->number[AXIS_ASKED]},
        {scale_names[AXIS_SEQUENCE], "", "row of /sequences", INT64, true, 1, {AXIS_SEQUENCE}, d->number[AXIS_SEQUENCE]},
        {scale_names[AXIS_SCORE], "contact", "the score that an entry of a histogram counts", INT64, true, 1, {AXIS_SCORE},
         d->number[AXIS_SCORE]},
        {"/asked/letters", "", "a sequence that was asked for, in the order given", TEXT, false, 1, {AXIS_ASKED}, e->asked},
        {"/asked/sequence", "", "row of /sequences that answers it", INT64, false, 1, {AXIS_ASKED}, e->row},
        {"/sequences/letters", "", "the lesser of a sequence and its reverse; each once", TEXT, false, 1, {AXIS_SEQUENCE},
         e->letters},
        {"/sequences/histogram", "conformation", "conformations of each score, up to symmetry", COUNT, false, 2,
         {AXIS_SEQUENCE, AXIS_SCORE}, e->histogram},
        {"/sequences/best_score", "contact", "highest score that a conformation is known to have", INT32, false, 1,
         {AXIS_SEQUENCE}, d->best},
        {"/sequences/distinct_scores", "score", "number of scores that conformations are known to have", INT32, false, 1,
         {AXIS_SEQUENCE}, d->distinct},
        {"/sequences/exact", "1", "1 where nothing that was asked was left open", INT32, false, 1, {AXIS_SEQUENCE}, d->exact},
    };
    memcpy(column_of, all, sizeof all);
}

/* ---- what follows from the histograms ---- */

static void derived_free(derived *d)
{
    for (int a = 0; a < N_AXES; a++)
        free(d->number[a]);
    free(d->best);
    free(d->distinct);
    free(d->exact);
}

static void summarise(const sf_enumeration *e, derived *d)
{
    for (size_t i = 0; i < e->n; i++) {
        d->best[i] = e->min_score;
        d->exact[i] = sf_histogram_settled(e->n_scores, e->histogram + i * (size_t)e->n_scores, e->top_counts);
        for (int s = 0; s < e->n_scores; s++) {
            const uint64_t count = e->histogram[i * (size_t)e->n_scores + (size_t)s];
            if (count != 0 && count != SF_COUNT_UNKNOWN) {
                d->best[i] = e->min_score + s;
                d->distinct[i]++;
            }
        }
    }
}

static int derive(const sf_enumeration *e, derived *d, sf_error *err)
{
    bool taken = true;
    *d = (derived){0};
    for (int a = 0; a < N_AXES; a++) {
        const size_t n = axis_size(e, (axis)a);
        d->number[a] = calloc(n + 1, sizeof *d->number[a]);
        taken = taken && d->number[a];
        for (size_t i = 0; d->number[a] && i < n; i++)
            d->number[a][i] = (int64_t)i + (a == AXIS_SCORE ? e->min_score : 0);
    }
    d->best = calloc(e->n + 1, sizeof *d->best);
    d->distinct = calloc(e->n + 1, sizeof *d->distinct);
    d->exact = calloc(e->n + 1, sizeof *d->exact);
    if (!taken || !d->best || !d->distinct || !d->exact)
        return sf_fail(err, SF_ENOMEM, "out of memory for writing %zu histograms", e->n);
    summarise(e, d);
    return SF_OK;
}

/* ---- one dataset ---- */

/* Large ones in chunks of rows, packed. */
static void choose_layout(sf_h5_layout *layout, size_t value_bytes)
{
    hsize_t row = value_bytes;
    layout->growing = -1;
    layout->packed = true;
    for (int k = 1; k < layout->rank; k++) {
        row *= layout->size[k];
        layout->chunk[k] = layout->size[k];
    }
    if (row * layout->size[0] > CONTIGUOUS_BYTES_MAX)
        layout->chunk[0] = row < CHUNK_BYTES ? CHUNK_BYTES / row : 1;
    if (layout->chunk[0] > layout->size[0])
        layout->chunk[0] = layout->size[0];
}

static int write_array(sf_h5 *h5, const char *name, hid_t stored, hid_t memory, int rank, const hsize_t *size,
                       const void *values, hid_t *dataset)
{
    const hsize_t start[2] = {0, 0};
    sf_h5_layout layout = {.rank = rank};
    memcpy(layout.size, size, (size_t)rank * sizeof *size);
    choose_layout(&layout, H5Tget_size(stored));
    int code = sf_h5_dataset_create(h5, name, stored, &layout, dataset);
    return code ? code : sf_h5_block_write(h5, name, *dataset, memory, rank, start, size, values);
}

static int write_column(sf_h5 *h5, const sf_enumeration *e, const column *c)
{
    const hid_t stored[] = {[INT32] = H5T_STD_I32LE, [INT64] = H5T_STD_I64LE, [COUNT] = H5T_STD_U64LE};
    const hid_t memory[] = {[INT32] = H5T_NATIVE_INT32, [INT64] = H5T_NATIVE_INT64, [COUNT] = H5T_NATIVE_UINT64};
    hsize_t size[2] = {0, 0};
    hid_t dataset = H5I_INVALID_HID, text = c->type == TEXT ? sf_h5_text_type((size_t)e->length) : H5I_INVALID_HID;
    for (int k = 0; k < c->rank; k++)
        size[k] = axis_size(e, c->on[k]);
    int code = c->type == TEXT && text < 0 ? sf_h5_fail(h5, c->name, "the type cannot be made") : SF_OK;
    if (!code)
        code = write_array(h5, c->name, c->type == TEXT ? text : stored[c->type], c->type == TEXT ? text : memory[c->type],
                           c->rank, size, c->values, &dataset);
    if (!code)
        code = sf_h5_describe(h5, dataset, c->units, c->description);
    code = sf_h5_close_written(h5, c->name, dataset, code);
    if (text >= 0)
        H5Tclose(text);
    return code;
}

static int write_axes(sf_h5 *h5, const column all[N_COLUMNS], const column *c)
{
    const char *name[2], *scale[2];
    sf_h5_user user[USERS_MAX];
    size_t n_users = 0;
    hid_t dataset = H5Dopen2(h5->file, c->name, H5P_DEFAULT);
    if (dataset < 0)
        return sf_h5_fail(h5, c->name, "cannot be opened");
    for (int k = 0; k < c->rank; k++) {
        name[k] = axis_names[c->on[k]];
        scale[k] = scale_names[c->on[k]];
    }
    for (int i = 0; i < N_COLUMNS && c->scale; i++) {
        for (int k = 0; k < all[i].rank; k++) {
            if (!all[i].scale && all[i].on[k] == c->on[0] && n_users < USERS_MAX)
                user[n_users++] = (sf_h5_user){all[i].name, k};
        }
    }
    int code = sf_h5_axes_name(h5, dataset, c->rank, name);
    if (!code)
        code = c->scale ? sf_h5_scale_make(h5, dataset, name[0], n_users, user)
                        : sf_h5_axes_attach(h5, dataset, c->rank, scale);
    return sf_h5_close_written(h5, c->name, dataset, code);
}

static int write_done(sf_h5 *h5, const sf_enumeration *e)
{
    const hsize_t size = e->n_parts / 8 + 1;
    hid_t dataset = H5I_INVALID_HID;
    int code = write_array(h5, "/progress/done", H5T_STD_U8LE, H5T_NATIVE_UINT8, 1, &size, e->done, &dataset);
    return sf_h5_close_written(h5, "/progress/done", dataset, code);
}

int sf_enumeration_columns_write(sf_h5 *h5, const sf_enumeration *e)
{
    derived d;
    column column_of[N_COLUMNS];
    int code = derive(e, &d, h5->err);
    list_columns(e, &d, column_of);
    for (int k = 0; k < N_COLUMNS && !code; k++)
        code = write_column(h5, e, &column_of[k]);
    for (int k = 0; k < N_COLUMNS && !code; k++)
        code = write_axes(h5, column_of, &column_of[k]);
    if (!code && e->unfinished)
        code = write_done(h5, e);
    derived_free(&d);
    return code;
}

/* ---- reading ---- */

static int read_array(sf_h5 *h5, const char *name, hid_t stored, hid_t memory, int rank, const hsize_t *size,
                      size_t value_bytes, void **values)
{
    const hsize_t start[2] = {0, 0};
    sf_h5_demand demand = {.type = stored, .rank = rank, .growing = -1};
    hsize_t bytes = value_bytes;
    hid_t dataset;
    for (int k = 0; k < rank; k++) {
        demand.size[k] = size[k];
        bytes *= size[k]; /* all were checked: far below 2^64 */
    }
    int code = sf_h5_dataset_open(h5, name, &demand, &dataset);
    if (code)
        return code;
    *values = malloc(bytes + 1);
    code = *values ? sf_h5_block_read(h5, name, dataset, memory, rank, start, size, *values)
                   : sf_fail(h5->err, SF_ENOMEM, "%s: out of memory while reading it", h5->path);
    H5Dclose(dataset);
    return code;
}

static int read_texts(sf_h5 *h5, const sf_enumeration *e, const char *name, hsize_t n, char **letters)
{
    hid_t text = sf_h5_text_type((size_t)e->length);
    void *values = NULL;
    int code = text < 0 ? sf_h5_fail(h5, name, "cannot be described")
                        : read_array(h5, name, text, text, 1, &n, (size_t)e->length, &values);
    if (text >= 0)
        H5Tclose(text);
    *letters = values;
    return code;
}

int sf_enumeration_columns_read(sf_h5 *h5, sf_enumeration *e)
{
    const hsize_t counts[2] = {e->n, (hsize_t)e->n_scores}, asked = e->n_asked, bytes = e->n_parts / 8 + 1;
    void *values = NULL;
    int code = read_texts(h5, e, "/asked/letters", e->n_asked, &e->asked);
    if (!code)
        code = read_texts(h5, e, "/sequences/letters", e->n, &e->letters);
    if (!code)
        code = read_array(h5, "/asked/sequence", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &asked, 8, &values);
    e->row = values;
    for (size_t i = 0; !code && i < e->n_asked; i++) {
        if (e->row[i] < 0 || (size_t)e->row[i] >= e->n)
            code = sf_h5_fail(h5, "/asked/sequence", "is out of its range");
    }
    values = NULL;
    if (!code)
        code = read_array(h5, "/sequences/histogram", H5T_STD_U64LE, H5T_NATIVE_UINT64, 2, counts, 8, &values);
    e->histogram = values;
    values = NULL;
    if (!code && e->unfinished)
        code = read_array(h5, "/progress/done", H5T_STD_U8LE, H5T_NATIVE_UINT8, 1, &bytes, 1, &values);
    e->done = values;
    return code;
}

/* Written whole each time, so that what stands under a name is never half a file: a checkpoint is some megabytes. Only
 * sealed files are read: a file that was damaged, or changed through HDF5, is told before HDF5 sees it. */
#include "io/enumeration_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/h5.h"
#include "io/sealed.h"
#include "io/tried.h"
#include "io/version.h"
#include "starfold/problem.h"

enum {
    CONTIGUOUS_BYTES_MAX = 1 << 16,
    CHUNK_BYTES = 1 << 18,
    N_AXES = 3,
    N_COLUMNS = 10,
    ROWS_MAX = 1 << 28,
    USERS_MAX = 8
};

#define PARTS_MAX (UINT64_C(1) << 40)

typedef enum axis { AXIS_ASKED, AXIS_SEQUENCE, AXIS_SCORE } axis;

static const char *const axis_names[N_AXES] = {"asked", "sequence", "score"};
static const char *const scale_names[N_AXES] = {"/dimensions/asked", "/dimensions/sequence", "/dimensions/score"};

/* One dataset: its axes, and where its values are in memory. */
typedef struct column {
    const char *name, *units, *description;
    int rank;
    axis on[2];
    bool scale;
    hid_t memory, stored; /* types; texts: both H5I_INVALID_HID */
    void *values;
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
        {"/dimensions/asked",
         "-",
         "number of the sequence in the order given, from 0",
         1,
         {AXIS_ASKED},
         true,
         H5T_NATIVE_INT64,
         H5T_STD_I64LE,
         d->number[AXIS_ASKED]},
        {"/dimensions/sequence",
         "-",
         "row of /sequences",
         1,
         {AXIS_SEQUENCE},
         true,
         H5T_NATIVE_INT64,
         H5T_STD_I64LE,
         d->number[AXIS_SEQUENCE]},
        {"/dimensions/score",
         "contact",
         "the score that an entry of a histogram counts",
         1,
         {AXIS_SCORE},
         true,
         H5T_NATIVE_INT64,
         H5T_STD_I64LE,
         d->number[AXIS_SCORE]},
        {"/asked/letters",
         "-",
         "a sequence that was asked for, in the order given",
         1,
         {AXIS_ASKED},
         false,
         H5I_INVALID_HID,
         H5I_INVALID_HID,
         e->asked},
        {"/asked/sequence",
         "-",
         "row of /sequences that answers it",
         1,
         {AXIS_ASKED},
         false,
         H5T_NATIVE_INT64,
         H5T_STD_I64LE,
         e->row},
        {"/sequences/letters",
         "-",
         "the lesser of a sequence and its reverse; each once",
         1,
         {AXIS_SEQUENCE},
         false,
         H5I_INVALID_HID,
         H5I_INVALID_HID,
         e->letters},
        {"/sequences/histogram",
         "conformation",
         "conformations of each score, up to symmetry",
         2,
         {AXIS_SEQUENCE, AXIS_SCORE},
         false,
         H5T_NATIVE_UINT64,
         H5T_STD_U64LE,
         e->histogram},
        {"/sequences/best_score",
         "contact",
         "highest score that a conformation is known to have",
         1,
         {AXIS_SEQUENCE},
         false,
         H5T_NATIVE_INT32,
         H5T_STD_I32LE,
         d->best},
        {"/sequences/distinct_scores",
         "score",
         "number of scores that conformations are known to have",
         1,
         {AXIS_SEQUENCE},
         false,
         H5T_NATIVE_INT32,
         H5T_STD_I32LE,
         d->distinct},
        {"/sequences/exact",
         "1",
         "1 where nothing was left open",
         1,
         {AXIS_SEQUENCE},
         false,
         H5T_NATIVE_INT32,
         H5T_STD_I32LE,
         d->exact},
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
        d->exact[i] = 1;
        for (int s = 0; s < e->n_scores; s++) {
            const uint64_t count = e->histogram[i * (size_t)e->n_scores + (size_t)s];
            if (count == SF_COUNT_UNKNOWN) {
                d->exact[i] = 0;
            } else if (count) {
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

static void column_sizes(const sf_enumeration *e, const column *c, hsize_t size[2])
{
    for (int k = 0; k < c->rank; k++)
        size[k] = axis_size(e, c->on[k]);
}

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
    hsize_t size[2] = {0, 0};
    hid_t dataset = H5I_INVALID_HID, text = H5I_INVALID_HID;
    column_sizes(e, c, size);
    if (c->stored < 0)
        text = sf_h5_text_type((size_t)e->length);
    int code = c->stored < 0 && text < 0 ? sf_h5_fail(h5, c->name, "the type cannot be made") : SF_OK;
    if (!code)
        code = write_array(h5, c->name, c->stored < 0 ? text : c->stored, c->stored < 0 ? text : c->memory, c->rank,
                           size, c->values, &dataset);
    if (!code)
        code = sf_h5_attr_text(h5, dataset, "units", strcmp(c->units, "-") ? c->units : "");
    if (!code)
        code = sf_h5_attr_text(h5, dataset, "description", c->description);
    if (dataset >= 0 && H5Dclose(dataset) < 0 && !code) /* only closing it writes a small dataset */
        code = sf_h5_fail(h5, c->name, "cannot be written");
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
    if (H5Dclose(dataset) < 0 && !code)
        code = sf_h5_fail(h5, c->name, "cannot be written");
    return code;
}

/* ---- numbers and texts: attributes of /config and /progress, as text ---- */

typedef struct entry {
    const char *group, *name;
    char *text; /* of size bytes, or NULL: a number */
    size_t size;
    int64_t number, least, most;
} entry;

enum { N_QUESTION = 10, N_PROGRESS = 4, N_ENTRIES = N_QUESTION + N_PROGRESS, VALUE_SIZE = 32 };

/* The scalars of an enumeration, in the order of the file. */
static void list_entries(sf_enumeration *e, entry entry_of[N_ENTRIES])
{
    const int64_t any = INT64_MAX;
    const entry all[N_ENTRIES] = {
        {"/config", "lattice", e->lattice, sizeof e->lattice, 0, 0, 0},
        {"/config", "score-model", e->score_model, sizeof e->score_model, 0, 0, 0},
        {"/config", "length", NULL, 0, e->length, SF_LENGTH_MIN, SF_LENGTH_MAX},
        {"/config", "proven", NULL, 0, e->proven, 0, 1},
        {"/config", "top-counts", NULL, 0, e->top_counts, 0, SF_SCORES_MAX},
        {"/config", "node-limit", NULL, 0, (int64_t)(e->node_limit > INT64_MAX ? INT64_MAX : e->node_limit), 0, any},
        {"/config", "min-score", NULL, 0, e->min_score, -1000000, 1000000},
        {"/config", "scores", NULL, 0, e->n_scores, 1, SF_SCORES_MAX},
        {"/config", "asked", NULL, 0, (int64_t)e->n_asked, 1, ROWS_MAX},
        {"/config", "sequences", NULL, 0, (int64_t)e->n, 1, ROWS_MAX},
        {"/progress", "engine", e->engine, sizeof e->engine, 0, 0, 0},
        {"/progress", "block", NULL, 0, (int64_t)e->block, 1, ROWS_MAX},
        {"/progress", "parts-per-block", NULL, 0, (int64_t)e->parts_per_block, 1, PARTS_MAX},
        {"/progress", "parts", NULL, 0, (int64_t)e->n_parts, 1, PARTS_MAX},
    };
    memcpy(entry_of, all, sizeof all);
}

static void take_numbers(sf_enumeration *e, const entry entry_of[N_ENTRIES])
{
    e->length = (int)entry_of[2].number;
    e->proven = entry_of[3].number == 1;
    e->top_counts = (int)entry_of[4].number;
    e->node_limit = (uint64_t)entry_of[5].number;
    e->min_score = (int)entry_of[6].number;
    e->n_scores = (int)entry_of[7].number;
    e->n_asked = (size_t)entry_of[8].number;
    e->n = (size_t)entry_of[9].number;
    e->block = (size_t)entry_of[11].number;
    e->parts_per_block = (size_t)entry_of[12].number;
    e->n_parts = (size_t)entry_of[13].number;
}

static int transfer_entry(sf_h5 *h5, entry *e, bool writing)
{
    char value[VALUE_SIZE] = "", *end;
    char *text = e->text ? e->text : value;
    hid_t group = sf_h5_is_plain_path(h5, e->group) ? H5Gopen2(h5->file, e->group, H5P_DEFAULT) : H5I_INVALID_HID;
    if (group < 0)
        return sf_h5_fail(h5, e->group, "is missing, or is a link to elsewhere");
    if (!e->text)
        snprintf(value, sizeof value, "%" PRId64, e->number);
    int code = writing ? sf_h5_attr_text(h5, group, e->name, text)
                       : sf_h5_attr_read_text(h5, group, e->name, e->text ? e->size : sizeof value, text);
    H5Gclose(group);
    if (code || writing || e->text)
        return code;
    errno = 0;
    e->number = strtoll(value, &end, 10);
    if (end == value || *end || errno || e->number < e->least || e->number > e->most)
        code = sf_h5_fail(h5, e->name, "is out of its range");
    return code;
}

/* ---- writing ---- */

static int write_head(sf_h5 *h5, const sf_enumeration *e)
{
    static const char *const groups[] = {"/asked", "/config", "/dimensions", "/provenance", "/sequences", "/progress"};
    int code = sf_h5_attr_text(h5, h5->file, "title", SF_ENUMERATION_TITLE);
    if (!code)
        code = sf_h5_attr_int(h5, h5->file, "schema", SF_ENUMERATION_SCHEMA);
    if (!code)
        code = sf_h5_attr_text(h5, h5->file, "state", e->unfinished ? "running" : "finished");
    for (int k = 0; k < (e->unfinished ? 6 : 5) && !code; k++)
        code = sf_h5_group_create(h5, groups[k]);
    hid_t group = code ? H5I_INVALID_HID : H5Gopen2(h5->file, "/provenance", H5P_DEFAULT);
    if (!code && group < 0)
        code = sf_h5_fail(h5, "/provenance", "cannot be opened");
    if (!code)
        code = sf_h5_attr_text(h5, group, "program", "starfold");
    if (!code)
        code = sf_h5_attr_text(h5, group, "version", sf_version);
    if (!code)
        code = sf_h5_attr_text(h5, group, "revision", sf_revision);
    if (group >= 0)
        H5Gclose(group);
    return code;
}

static int write_done(sf_h5 *h5, const sf_enumeration *e)
{
    const hsize_t size = e->n_parts / 8 + 1;
    hid_t dataset = H5I_INVALID_HID;
    int code = write_array(h5, "/progress/done", H5T_STD_U8LE, H5T_NATIVE_UINT8, 1, &size, e->done, &dataset);
    if (dataset >= 0)
        H5Dclose(dataset);
    return code;
}

typedef struct whole_enumeration {
    const sf_enumeration *enumeration;
    const derived *derived;
} whole_enumeration;

static int write_all(sf_h5 *h5, const void *context)
{
    const sf_enumeration *e = ((const whole_enumeration *)context)->enumeration;
    const derived *d = ((const whole_enumeration *)context)->derived;
    entry entry_of[N_ENTRIES];
    column column_of[N_COLUMNS];
    sf_enumeration copy = *e; /* its texts are written from there */
    int code = write_head(h5, e);
    list_entries(&copy, entry_of);
    for (int k = 0; k < (e->unfinished ? N_ENTRIES : N_QUESTION) && !code; k++)
        code = transfer_entry(h5, &entry_of[k], true);
    list_columns(e, d, column_of);
    for (int k = 0; k < N_COLUMNS && !code; k++)
        code = write_column(h5, e, &column_of[k]);
    for (int k = 0; k < N_COLUMNS && !code; k++)
        code = write_axes(h5, column_of, &column_of[k]);
    if (!code && e->unfinished)
        code = write_done(h5, e);
    return code;
}

int sf_enumeration_write(const char *path, const sf_enumeration *enumeration, sf_error *err)
{
    derived d;
    int code = derive(enumeration, &d, err);
    if (!code)
        code = sf_sealed_write(path, write_all, &(whole_enumeration){enumeration, &d}, err);
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

static int read_arrays(sf_h5 *h5, sf_enumeration *e)
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

static int read_head(sf_h5 *h5, sf_enumeration *e)
{
    char title[64] = "", state[16] = "";
    int32_t schema = 0;
    int code = H5Aexists(h5->file, "title") > 0 ? sf_h5_attr_read_text(h5, h5->file, "title", sizeof title, title) : 0;
    if (!code && strcmp(title, SF_ENUMERATION_TITLE) != 0)
        return sf_h5_fail(h5, NULL, "is HDF5, but not an enumeration of starfold");
    if (!code)
        code = sf_h5_attr_read_int(h5, h5->file, "schema", &schema);
    if (!code && schema != SF_ENUMERATION_SCHEMA)
        return sf_fail(h5->err, SF_EFORMAT, "%s: has schema version %d; this starfold (%s) reads version %d", h5->path,
                       (int)schema, sf_version, (int)SF_ENUMERATION_SCHEMA);
    if (!code)
        code = sf_h5_attr_read_text(h5, h5->file, "state", sizeof state, state);
    e->unfinished = strcmp(state, "running") == 0;
    if (!code && !e->unfinished && strcmp(state, "finished") != 0)
        code = sf_h5_fail(h5, "state", "is neither running nor finished");
    return code;
}

static int read_open(sf_h5 *h5, void *enumeration)
{
    sf_enumeration *e = enumeration;
    entry entry_of[N_ENTRIES];
    int code = read_head(h5, e);
    list_entries(e, entry_of);
    for (int k = 0; k < (e->unfinished ? N_ENTRIES : N_QUESTION) && !code; k++)
        code = transfer_entry(h5, &entry_of[k], false);
    if (!code)
        take_numbers(e, entry_of);
    return code ? code : read_arrays(h5, e);
}

int sf_enumeration_read(const char *path, sf_enumeration *enumeration, sf_error *err)
{
    *enumeration = (sf_enumeration){0};
    int code = sf_tried_read(path, "an enumeration of starfold", read_open, enumeration, err);
    if (code)
        sf_enumeration_free(enumeration);
    return code;
}

void sf_enumeration_free(sf_enumeration *enumeration)
{
    free(enumeration->asked);
    free(enumeration->row);
    free(enumeration->letters);
    free(enumeration->histogram);
    free(enumeration->done);
    *enumeration = (sf_enumeration){0};
}

const char *sf_enumeration_difference(const sf_enumeration *a, const sf_enumeration *b)
{
    const size_t length = (size_t)a->length;
    if (strcmp(a->lattice, b->lattice) != 0)
        return "lattice";
    if (strcmp(a->score_model, b->score_model) != 0 || a->min_score != b->min_score || a->n_scores != b->n_scores)
        return "score model";
    if (a->length != b->length || a->n_asked != b->n_asked || a->n != b->n ||
        memcmp(a->asked, b->asked, a->n_asked * length) != 0 || memcmp(a->letters, b->letters, a->n * length) != 0 ||
        memcmp(a->row, b->row, a->n_asked * sizeof *a->row) != 0)
        return "sequences";
    if (a->proven != b->proven)
        return "engine";
    if (a->top_counts != b->top_counts)
        return "top-counts";
    return a->node_limit != b->node_limit ? "node-limit" : NULL;
}

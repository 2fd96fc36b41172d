/* Written whole each time, so that what stands under a name is never half a file: a checkpoint is some megabytes. Only
 * sealed files are read: a file that was damaged, or changed through HDF5, is told before HDF5 sees it. */
#include "io/enumeration_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/enumeration_columns.h"
#include "io/file_kind.h"
#include "io/sealed.h"
#include "io/tried.h"
#include "io/version.h"
#include "starfold/problem.h"

enum { ROWS_MAX = 1 << 28 };

#define PARTS_MAX (UINT64_C(1) << 40)

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

static int write_all(sf_h5 *h5, const void *context)
{
    const sf_enumeration *e = context;
    entry entry_of[N_ENTRIES];
    sf_enumeration copy = *e; /* its texts are written from there */
    int code = write_head(h5, e);
    list_entries(&copy, entry_of);
    for (int k = 0; k < (e->unfinished ? N_ENTRIES : N_QUESTION) && !code; k++)
        code = transfer_entry(h5, &entry_of[k], true);
    return code ? code : sf_enumeration_columns_write(h5, e);
}

int sf_enumeration_write(const char *path, const sf_enumeration *enumeration, sf_error *err)
{
    return sf_sealed_write(path, write_all, enumeration, err);
}

/* ---- reading ---- */

static int read_head(sf_h5 *h5, sf_enumeration *e)
{
    char state[16] = "";
    int32_t schema = 0;
    int code = sf_file_check_title(h5, SF_FILE_ENUMERATION);
    if (!code)
        code = sf_h5_attr_read_int(h5, h5->file, "schema", &schema);
    if (!code)
        code = sf_file_check_schema(h5, schema, SF_ENUMERATION_SCHEMA);
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
    return code ? code : sf_enumeration_columns_read(h5, e);
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
    if (a->length != b->length)
        return "length"; /* first: the range of scores goes with it */
    if (strcmp(a->score_model, b->score_model) != 0 || a->min_score != b->min_score || a->n_scores != b->n_scores)
        return "score model";
    if (a->n_asked != b->n_asked || a->n != b->n ||
        memcmp(a->asked, b->asked, a->n_asked * length) != 0 || memcmp(a->letters, b->letters, a->n * length) != 0 ||
        memcmp(a->row, b->row, a->n_asked * sizeof *a->row) != 0)
        return "sequences";
    if (a->proven != b->proven)
        return "engine";
    if (a->top_counts != b->top_counts)
        return "top-counts";
    return a->node_limit != b->node_limit ? "node-limit" : NULL;
}

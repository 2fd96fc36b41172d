/* What is the same for finished and live files: the view of the record, the root, /config. */
#include "io/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file_kind.h"
#include "io/version.h"

/* Order of the migration log, as an index: the record stays as it is. qsort has no context, so keys are copied. */
typedef struct migrant_key {
    int32_t trial, from, index;
    int64_t sent;
    size_t row;
} migrant_key;

static int compare_migrants(const void *a_, const void *b_)
{
    const migrant_key *a = a_, *b = b_;
    if (a->trial != b->trial)
        return a->trial < b->trial ? -1 : 1;
    if (a->sent != b->sent)
        return a->sent < b->sent ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static int order_migrants(const sf_record *record, size_t *order)
{
    size_t n = record->n_migrants;
    migrant_key *key = malloc((n ? n : 1) * sizeof *key);
    if (!key)
        return SF_ENOMEM;
    for (size_t k = 0; k < n; k++) {
        const sf_migrant *m = &record->migrant[k];
        key[k] = (migrant_key){m->trial, m->from, m->index, m->sent, k};
    }
    qsort(key, n, sizeof *key, compare_migrants);
    for (size_t k = 0; k < n; k++)
        order[k] = key[k].row;
    free(key);
    return 0;
}

/* Levels as flat arrays; `rank` is the inverse of the order of the sequences. */
static int flatten_levels(sf_view *view, const sf_run_meta *meta)
{
    size_t n = meta->n_levels, n_rows = view->record->known.n, size = (size_t)view->witness_size;
    size_t *rank = malloc((n_rows ? n_rows : 1) * sizeof *rank);
    view->level_row = malloc((n ? n : 1) * sizeof *view->level_row);
    view->level_star = malloc((n ? n : 1) * 3 * sizeof *view->level_star);
    view->level_solution = calloc((n ? n : 1) * 3, size);
    if (!rank || !view->level_row || !view->level_star || !view->level_solution) {
        free(rank);
        return SF_ENOMEM;
    }
    for (size_t k = 0; k < n_rows; k++)
        rank[view->sequence_order[k]] = k;
    for (size_t k = 0; k < n; k++) {
        const sf_level *level = &meta->levels[k];
        view->level_row[k] = (int64_t)rank[level->row];
        for (size_t s = 0; s < 3; s++) {
            view->level_star[k * 3 + s] = level->has_stars ? level->stars[s] : -1;
            if (level->has_stars && level->solution[s])
                snprintf(view->level_solution + (k * 3 + s) * size, size, "%s", level->solution[s]);
        }
    }
    free(rank);
    return 0;
}

static int copy_text(char *to, size_t size, const char *text, const char *what, sf_error *err)
{
    if ((size_t)snprintf(to, size, "%s", text) >= size)
        return sf_fail(err, SF_EINPUT, "%s \"%s\" is longer than the %zu characters a run file holds", what, text,
                       size - 1);
    return 0;
}

static int order_rows(sf_view *view, const sf_run_meta *meta)
{
    const sf_record *record = view->record;
    size_t n = record->known.n, m = record->n_migrants;
    size_t *sequences = malloc((n ? n : 1) * sizeof *sequences), *migrants = malloc((m ? m : 1) * sizeof *migrants);
    view->sequence_order = sequences;
    view->migrant_order = migrants;
    if (!sequences || !migrants || order_migrants(record, migrants) != 0)
        return SF_ENOMEM;
    sf_known_sort(&record->known, sequences);
    return flatten_levels(view, meta);
}

void sf_view_update(sf_view *view)
{
    const sf_record *record = view->record;
    view->generation = record->generation;
    view->n_sequences = (int64_t)record->known.n;
    view->n_migrants = (int64_t)record->n_migrants;
    if (!view->live)
        view->best_fitness = sf_record_best_fitness(record);
}

int sf_view_init(sf_view *view, const sf_record *record, const sf_run_meta *meta, bool live, sf_error *err)
{
    *view = (sf_view){
        .record = (sf_record *)(uintptr_t)record, /* only read: the fields serve the reader too */
        .live = live,
        .schema = SF_SCHEMA_VERSION,
        .program = "starfold",
        .config = record->config,
        .length = record->length,
        .n_scores = record->n_scores,
        .min_score = meta->min_score,
        .witness_size = meta->witness_size,
        .n_levels = live ? 0 : (int64_t)meta->n_levels,
    };
    sf_view_update(view);
    snprintf(view->version, sizeof view->version, "%s", sf_version);
    snprintf(view->revision, sizeof view->revision, "%s", sf_revision);
    int code = copy_text(view->lattice, sizeof view->lattice, meta->lattice, "lattice", err);
    if (!code)
        code = copy_text(view->letters, sizeof view->letters, meta->letters, "alphabet", err);
    if (!code && !live && order_rows(view, meta) != 0)
        code = sf_fail(err, SF_ENOMEM, "out of memory while sorting %zu sequences for the run file", record->known.n);
    if (code)
        sf_view_free(view);
    return code;
}

void sf_view_free(sf_view *view)
{
    free((void *)(uintptr_t)view->sequence_order);
    free((void *)(uintptr_t)view->migrant_order);
    free(view->incoming);
    free(view->level_row);
    free(view->level_star);
    free(view->level_solution);
    *view = (sf_view){0};
}

static int compare_entries(const void *a, const void *b)
{
    const sf_config_entry *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Values are attributes of /config, origins attributes of /config/origin, by name. */
static int write_config(sf_h5 *h5, const sf_run_meta *meta)
{
    const sf_config_entry **entry = malloc((meta->n_config + 1) * sizeof *entry);
    if (!entry)
        return sf_fail(h5->err, SF_ENOMEM, "%s: out of memory", h5->path);
    for (size_t k = 0; k < meta->n_config; k++)
        entry[k] = &meta->config[k];
    qsort(entry, meta->n_config, sizeof *entry, compare_entries);
    int code = sf_h5_group_create(h5, "/config/origin");
    hid_t values = code ? H5I_INVALID_HID : H5Gopen2(h5->file, "/config", H5P_DEFAULT);
    hid_t origins = code ? H5I_INVALID_HID : H5Gopen2(h5->file, "/config/origin", H5P_DEFAULT);
    if (!code && (values < 0 || origins < 0))
        code = sf_h5_fail(h5, "/config", "cannot be opened");
    for (size_t k = 0; k < meta->n_config && !code; k++) {
        code = sf_h5_attr_text(h5, values, entry[k]->name, entry[k]->value);
        if (!code)
            code = sf_h5_attr_text(h5, origins, entry[k]->name, entry[k]->origin);
    }
    if (values >= 0)
        H5Gclose(values);
    if (origins >= 0)
        H5Gclose(origins);
    free(entry);
    return code;
}

int sf_run_begin(sf_h5 *h5, const sf_view *view, const sf_run_meta *meta)
{
    int code = sf_h5_attr_text(h5, h5->file, "title", SF_RUN_TITLE);
    if (!code)
        code = sf_h5_attr_int(h5, h5->file, "schema", SF_SCHEMA_VERSION);
    if (!code)
        code = sf_h5_attr_text(h5, h5->file, "state", meta->state);
    if (!code)
        code = sf_h5_attr_text(h5, h5->file, "form", view->live ? "live" : "whole");
    for (size_t k = 0; sf_groups[k] && !code; k++)
        code = sf_h5_group_create(h5, sf_groups[k]);
    return code ? code : write_config(h5, meta);
}

int sf_run_check_root(sf_h5 *h5, char *state, bool *live)
{
    char form[16];
    int32_t schema = 0;
    int code = sf_file_check_title(h5, SF_FILE_RUN);
    if (!code)
        code = sf_h5_attr_read_int(h5, h5->file, "schema", &schema);
    if (!code)
        code = sf_file_check_schema(h5, schema, SF_SCHEMA_VERSION);
    if (!code)
        code = sf_h5_attr_read_text(h5, h5->file, "state", 16, state);
    if (!code)
        code = sf_h5_attr_read_text(h5, h5->file, "form", sizeof form, form);
    if (code)
        return code;
    *live = strcmp(form, "live") == 0;
    if (strcmp(state, "running") != 0 && strcmp(state, "stopped") != 0 && strcmp(state, "finished") != 0)
        return sf_h5_fail(h5, "state", "is none of running, stopped, finished");
    if (!*live && strcmp(form, "whole") != 0)
        return sf_h5_fail(h5, "form", "is none of live, whole");
    return 0;
}

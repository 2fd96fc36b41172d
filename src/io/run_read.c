/* A run file read back. Nothing in it is believed before it is checked: the scalars first, then type, rank and size of
 * every dataset against them, and only then is memory taken and are values read, each against the others. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "io/field_io.h"
#include "io/run_check.h"
#include "io/run_file.h"
#include "io/tried.h"
#include "io/view.h"

enum { CONFIG_MAX = 512 };

static int read_scalars(sf_h5 *h5, sf_view *view)
{
    for (size_t n = 0; n < sf_n_fields; n++) {
        if (sf_fields[n].rank != 0)
            continue;
        int code = sf_field_read(h5, view, &sf_fields[n]);
        if (code)
            return code;
    }
    return sf_run_check_scalars(h5, view);
}

static int check_datasets(sf_h5 *h5, const sf_view *view)
{
    int code = 0;
    for (size_t n = 0; n < sf_n_fields && !code; n++) {
        if (sf_fields[n].rank > 0 && sf_field_present(view, &sf_fields[n]))
            code = sf_field_check(h5, view, &sf_fields[n]);
    }
    return code;
}

static int no_memory(const sf_h5 *h5)
{
    return sf_fail(h5->err, SF_ENOMEM, "%s: out of memory while reading it", h5->path);
}

/* ---- /config ---- */

static int read_option(sf_h5 *h5, hid_t values, hid_t origins, hsize_t k, sf_config_entry *entry)
{
    ssize_t n =
        H5Aget_name_by_idx(values, ".", H5_INDEX_NAME, H5_ITER_INC, k, entry->name, sizeof entry->name, H5P_DEFAULT);
    if (n <= 0 || n >= (ssize_t)sizeof entry->name)
        return sf_h5_fail(h5, "/config", "has an option whose name is too long");
    if (!sf_h5_is_text(entry->name))
        return sf_h5_fail(h5, "/config", "has an option whose name has characters that are not text");
    int code = sf_h5_attr_read_text(h5, values, entry->name, sizeof entry->value, entry->value);
    return code ? code : sf_h5_attr_read_text(h5, origins, entry->name, sizeof entry->origin, entry->origin);
}

static int read_config(sf_h5 *h5, sf_run_data *data)
{
    H5O_info_t info;
    if (!sf_h5_is_plain_path(h5, "/config/origin"))
        return sf_h5_fail(h5, "/config", "is missing, or is a link to elsewhere");
    hid_t values = H5Gopen2(h5->file, "/config", H5P_DEFAULT);
    hid_t origins = values < 0 ? H5I_INVALID_HID : H5Gopen2(h5->file, "/config/origin", H5P_DEFAULT);
    int code = 0;
    if (origins < 0 || H5Oget_info2(values, &info, H5O_INFO_NUM_ATTRS) < 0)
        code = sf_h5_fail(h5, "/config", "cannot be opened");
    else if (info.num_attrs > CONFIG_MAX)
        code = sf_h5_fail(h5, "/config", "has too many options");
    if (!code) {
        data->config = calloc((size_t)info.num_attrs + 1, sizeof *data->config);
        code = data->config ? 0 : no_memory(h5);
    }
    for (hsize_t k = 0; !code && k < info.num_attrs; k++) {
        code = read_option(h5, values, origins, k, &data->config[k]);
        data->meta.n_config += !code;
    }
    data->meta.config = data->config;
    if (values >= 0)
        H5Gclose(values);
    if (origins >= 0)
        H5Gclose(origins);
    return code;
}

/* ---- memory, by the sizes that were checked ---- */

static int take_memory(sf_h5 *h5, sf_view *view, sf_run_data *data)
{
    sf_record *record = &data->record;
    size_t n = (size_t)view->n_levels, size = (size_t)view->witness_size;
    int code = sf_record_init(record, &view->config, view->length, view->n_scores, h5->err);
    if (code)
        return code;
    record->generation = view->generation;
    view->record = record;
    view->incoming = calloc((size_t)view->n_sequences + 1, (size_t)view->length);
    view->level_row = calloc(n + 1, sizeof *view->level_row);
    view->level_star = calloc(n + 1, 3 * sizeof *view->level_star);
    view->level_solution = calloc(n + 1, 3 * size);
    if (!view->incoming || !view->level_row || !view->level_star || !view->level_solution ||
        sf_record_reserve_migrants(record, (size_t)view->n_migrants) != 0)
        return no_memory(h5);
    record->n_migrants = (size_t)view->n_migrants;
    return 0;
}

/* /sequences/letters come first: a known genome has a row only once it is added. */
static int read_letters(sf_h5 *h5, sf_view *view)
{
    sf_known *known = &view->record->known;
    const sf_place nowhere = {0, 0, 0, 0};
    const sf_field *field = sf_field_find("/sequences/letters");
    int code = sf_field_read(h5, view, field);
    for (size_t n = 0; !code && n < (size_t)view->n_sequences; n++) {
        size_t row;
        bool is_new;
        if (sf_known_add(known, view->incoming + n * (size_t)view->length, &nowhere, &row, &is_new) != 0)
            code = no_memory(h5);
        else if (!is_new)
            code = sf_h5_fail(h5, field->name, "has a sequence twice");
    }
    free(view->incoming);
    view->incoming = NULL;
    return code;
}

static int read_fields(sf_h5 *h5, sf_view *view, bool derived)
{
    int code = 0;
    for (size_t n = 0; n < sf_n_fields && !code; n++) {
        const sf_field *field = &sf_fields[n];
        bool is_derived = field->flags & SF_FIELD_DERIVED;
        if (field->rank > 0 && is_derived == derived && sf_field_present(view, field) &&
            strcmp(field->name, "/sequences/letters") != 0)
            code = sf_field_read(h5, view, field);
    }
    return code;
}

/* ---- what the caller gets ---- */

static char *copy_text(char **at, const char *text)
{
    char *copy = *at;
    size_t n = strlen(text) + 1;
    memcpy(copy, text, n);
    *at += n;
    return copy;
}

static int hand_over(sf_h5 *h5, sf_view *view, const char *state, sf_run_data *data)
{
    size_t n = (size_t)view->n_levels, size = (size_t)view->witness_size;
    data->levels = calloc(n + 1, sizeof *data->levels);
    data->text = malloc(strlen(state) + strlen(view->lattice) + strlen(view->letters) + 3);
    if (!data->levels || !data->text)
        return no_memory(h5);
    data->solutions = view->level_solution;
    view->level_solution = NULL;
    for (size_t k = 0; k < n; k++) {
        sf_level *level = &data->levels[k];
        level->row = (size_t)view->level_row[k];
        level->has_stars = view->level_star[k * 3] >= 0;
        for (size_t s = 0; s < 3; s++) {
            char *solution = data->solutions + (k * 3 + s) * size;
            level->stars[s] = level->has_stars ? view->level_star[k * 3 + s] : 0;
            level->solution[s] = solution[0] ? solution : NULL;
        }
    }
    char *at = data->text;
    data->meta.state = copy_text(&at, state);
    data->meta.lattice = copy_text(&at, view->lattice);
    data->meta.letters = copy_text(&at, view->letters);
    data->meta.min_score = view->min_score;
    data->meta.witness_size = view->witness_size;
    data->meta.n_levels = n;
    data->meta.levels = data->levels;
    data->live = view->live;
    data->schema = view->schema;
    memcpy(data->program, view->program, sizeof data->program);
    memcpy(data->version, view->version, sizeof data->version);
    memcpy(data->revision, view->revision, sizeof data->revision);
    sf_known_clear_changed(&data->record.known);
    return 0;
}

static int read_open(sf_h5 *h5, sf_view *view, sf_run_data *data)
{
    char state[16] = "";
    int code = sf_run_check_root(h5, state, &view->live);
    if (!code)
        code = read_scalars(h5, view);
    if (!code)
        code = check_datasets(h5, view);
    if (!code)
        code = read_config(h5, data);
    if (!code)
        code = take_memory(h5, view, data);
    if (!code)
        code = read_letters(h5, view);
    if (!code)
        code = read_fields(h5, view, false);
    if (!code)
        code = sf_run_check_values(h5, view);
    if (!code)
        code = read_fields(h5, view, true);
    return code ? code : hand_over(h5, view, state, data);
}

static int read_tried(sf_h5 *h5, void *data)
{
    sf_view view = {0};
    int code = read_open(h5, &view, data);
    sf_view_free(&view);
    return code;
}

/* It has no seal while it is live, or when it was edited. */
static int read_checked(sf_run_data *data, const char *path, sf_error *err)
{
    int code = sf_tried_read(path, NULL, read_tried, data, err);
    if (code)
        sf_run_data_free(data);
    return code;
}

/* Nanoseconds; 0 when there is none. */
static int64_t modified(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec : 0;
}

/* A live file may be caught amid a flush, its parts not yet fitting each other. Then it was written to while it was
 * read, or within the clock's step before: that is worth another try. */
int sf_run_file_read(sf_run_data *data, const char *path, sf_error *err)
{
    enum { TRIES = 20, STEP = 10000000 };
    const struct timespec pause = {0, 5 * STEP};
    for (int k = 1;; k++) {
        struct timespec now;
        *data = (sf_run_data){0};
        clock_gettime(CLOCK_REALTIME, &now);
        int64_t before = modified(path), start = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
        int code = read_checked(data, path, err);
        bool moving = modified(path) != before || (start - before < STEP && start >= before);
        if (!code && err)
            *err = (sf_error){0}; /* of a try before */
        if (code != SF_EFORMAT || !moving || k == TRIES)
            return code;
        nanosleep(&pause, NULL);
    }
}

void sf_run_data_free(sf_run_data *data)
{
    sf_record_free(&data->record);
    free(data->config);
    free(data->levels);
    free(data->solutions);
    free(data->text);
    *data = (sf_run_data){0};
}

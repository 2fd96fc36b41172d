/* The census file in one place: its single values, its arrays, the writer of both, and a reader of what they are in sum. */
#include "io/census_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file_kind.h"
#include "io/h5_scalars.h"
#include "io/sealed.h"
#include "io/tried.h"
#include "io/version.h"

enum { CHUNK_BYTES = 1 << 19, BLOCK_CHUNKS = 8, RANK_MAX = 3 };

#define FIELD(member) SF_H5_FIELD(sf_census_about, member)

static const sf_h5_scalar scalars[] = {
    SF_H5_PROVENANCE(sf_census_about),
    {"/census/lattice", "", "lattice on which chains fold", SF_H5_TEXT, FIELD(lattice)},
    {"/census/length", "residue", "residues of a sequence", SF_H5_INT32, FIELD(length)},
    {"/census/letters", "", "alphabet; a letter's place in it, from 0, is its digit in the number of a sequence", SF_H5_TEXT,
     FIELD(letters)},
    {"/census/score_model", "", "score model: its name, or alphabet and contact weights", SF_H5_TEXT, FIELD(model)},
    {"/census/min_score", "score", "score of the first entry of a histogram", SF_H5_INT32, FIELD(min_score)},
    {"/census/n_scores", "1", "entries of a histogram: up to the highest score of any conformation", SF_H5_INT32,
     FIELD(n_scores)},
    {"/census/sequences", "sequence", "sequences in all; a chain and its reverse are two", SF_H5_UINT64, FIELD(n_sequences)},
    {"/census/unique_best", "sequence", "sequences of whose conformations just one has the best score", SF_H5_UINT64,
     FIELD(unique_best)},
    {"/census/sequences_with_gaps", "sequence", "sequences with a score that no conformation has between two that some have",
     SF_H5_UINT64, FIELD(sequences_with_gaps)},
    {"/census/shapes", "shape", "distinct histograms of all sequences; 0: not asked for", SF_H5_UINT64, FIELD(n_shapes)},
    {"/census/most_shared", "sequence", "sequences that the commonest shape has; 0: not asked for", SF_H5_UINT64,
     FIELD(most_shared)},
};
enum { N_SCALARS = sizeof scalars / sizeof scalars[0] };

/* ---- arrays ---- */

typedef struct array array;

/* Puts the n rows from `first` on, as they lie in the file but in this machine's byte order, to `to`. */
typedef void fill_rows(const sf_census_data *data, const array *a, size_t first, size_t n, void *to);

struct array {
    const char *name, *units, *description;
    enum { U8, I32, U64, LETTERS } type;
    int rank;
    const char *axes[RANK_MAX];
    fill_rows *fill;
};

static void fill_fitness_scale(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    (void)data, (void)a;
    for (size_t i = 0; i < n; i++)
        ((int32_t *)to)[i] = (int32_t)(first + i);
}

static void fill_score_scale(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    (void)a;
    for (size_t i = 0; i < n; i++)
        ((int32_t *)to)[i] = data->about.min_score + (int32_t)(first + i);
}

static void fill_fitness(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    (void)a;
    memcpy(to, data->fitness + first, n * sizeof *data->fitness);
}

static void fill_best_score(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    (void)a;
    memcpy(to, data->best_score + first, n * sizeof *data->best_score);
}

static void fill_each_fitness(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    (void)a;
    memcpy(to, data->each_fitness + first, n);
}

static void fill_each_best(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    (void)a;
    memcpy(to, data->each_best + first, n);
}

static void fill_histogram(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    size_t n_scores = (size_t)data->about.n_scores;
    (void)a;
    for (size_t i = 0; i < n; i++)
        memcpy((uint64_t *)to + i * n_scores, sf_shapes_row(data->shapes, first + i), n_scores * sizeof(uint64_t));
}

static void fill_multiplicity(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    (void)a;
    for (size_t i = 0; i < n; i++)
        ((uint64_t *)to)[i] = sf_shapes_row(data->shapes, first + i)[data->shapes->n_scores];
}

static void fill_letters(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    size_t length = (size_t)data->about.length;
    uint64_t n_letters = strlen(data->about.letters);
    (void)a;
    for (size_t i = 0; i < n; i++) {
        uint64_t number = sf_shapes_row(data->shapes, first + i)[data->shapes->n_scores + 1];
        for (size_t k = length; k-- > 0; number /= n_letters)
            ((char *)to)[i * length + k] = data->about.letters[number % n_letters];
    }
}

static void fill_shape_fitness(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    (void)a;
    for (size_t i = 0; i < n; i++)
        ((int32_t *)to)[i] = sf_shapes_fitness(data->shapes, first + i);
}

static void fill_shape_best(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    (void)a;
    for (size_t i = 0; i < n; i++)
        ((int32_t *)to)[i] = data->about.min_score + sf_shapes_best(data->shapes, first + i);
}

static void fill_shapes_of(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    (void)a;
    memcpy(to, data->summary->shapes + first, n * sizeof(uint64_t));
}

static void fill_range(const sf_census_data *data, const array *a, size_t first, size_t n, void *to)
{
    size_t n_scores = (size_t)data->about.n_scores;
    (void)a;
    for (size_t i = 0; i < n; i++)
        memcpy((uint64_t *)to + i * n_scores * 3, sf_shapes_range(data->summary, (int)(first + i), 0),
               n_scores * 3 * sizeof(uint64_t));
}

/* Those of shapes come last. */
static const array arrays[] = {
    {"/dimensions/fitness", "score", "number of distinct scores", I32, 1, {"fitness"}, fill_fitness_scale},
    {"/dimensions/score", "score", "score that an entry counts", I32, 1, {"score"}, fill_score_scale},
    {"/summary/fitness", "sequence", "sequences by their number of distinct scores", U64, 1, {"fitness"}, fill_fitness},
    {"/summary/best_score", "sequence", "sequences by their best score", U64, 1, {"score"}, fill_best_score},
    {"/sequences/fitness", "score", "number of distinct scores of every sequence, by its number", U8, 1, {"sequence"},
     fill_each_fitness},
    {"/sequences/best_score", "score", "best score less /census/min_score of every sequence, by its number", U8, 1,
     {"sequence"}, fill_each_best},
    {"/shapes/histogram", "conformation", "the distinct histograms, ascending: the count of the lowest score first", U64, 2,
     {"shape", "score"}, fill_histogram},
    {"/shapes/sequences", "sequence", "how many sequences have this histogram", U64, 1, {"shape"}, fill_multiplicity},
    {"/shapes/letters", "", "the least of them, in the order of the letters", LETTERS, 1, {"shape"}, fill_letters},
    {"/shapes/fitness", "score", "number of distinct scores", I32, 1, {"shape"}, fill_shape_fitness},
    {"/shapes/best_score", "score", "best score", I32, 1, {"shape"}, fill_shape_best},
    {"/shapes/by_fitness/shapes", "shape", "distinct histograms by their number of distinct scores", U64, 1, {"fitness"},
     fill_shapes_of},
    {"/shapes/by_fitness/range", "conformation",
     "least, middle and greatest count of each score over the sequences of a fitness", U64, 3,
     {"fitness", "score", "range"}, fill_range},
};
enum { N_ARRAYS = sizeof arrays / sizeof arrays[0], N_SCALES = 2, N_PLAIN = 6 };

static size_t n_arrays(const sf_census_about *about)
{
    return about->n_shapes ? N_ARRAYS : N_PLAIN;
}

static hsize_t axis_size(const sf_census_about *about, const char *axis)
{
    if (strcmp(axis, "fitness") == 0)
        return (hsize_t)about->n_scores + 1;
    if (strcmp(axis, "score") == 0)
        return (hsize_t)about->n_scores;
    if (strcmp(axis, "range") == 0)
        return 3;
    return strcmp(axis, "shape") == 0 ? about->n_shapes : about->n_sequences;
}

/* The type in the file or in memory; the caller closes it. */
static hid_t type_of(const array *a, const sf_census_about *about, bool stored)
{
    switch (a->type) {
    case U8:
        return H5Tcopy(stored ? H5T_STD_U8LE : H5T_NATIVE_UINT8);
    case I32:
        return H5Tcopy(stored ? H5T_STD_I32LE : H5T_NATIVE_INT32);
    case LETTERS:
        return sf_h5_text_type((size_t)about->length);
    default:
        return H5Tcopy(stored ? H5T_STD_U64LE : H5T_NATIVE_UINT64);
    }
}

/* ---- writing ---- */

/* Sizes of the array, and bytes of a row of its first axis. */
static size_t measure(const sf_census_about *about, const array *a, size_t bytes, hsize_t size[RANK_MAX])
{
    for (int k = 0; k < a->rank; k++) {
        size[k] = axis_size(about, a->axes[k]);
        bytes *= k > 0 ? (size_t)size[k] : 1;
    }
    return bytes;
}

static int write_rows(sf_h5 *h5, const sf_census_data *data, const array *a, hid_t dataset, hid_t type, const hsize_t *size,
                      size_t row_bytes, size_t block)
{
    void *buffer = malloc(block * row_bytes);
    int code = buffer ? 0 : sf_fail(h5->err, SF_ENOMEM, "%s: out of memory while it is written", h5->path);
    for (hsize_t at = 0; at < size[0] && !code; at += block) {
        hsize_t start[RANK_MAX] = {at}, count[RANK_MAX] = {size[0] - at < block ? size[0] - at : block, size[1], size[2]};
        a->fill(data, a, (size_t)at, (size_t)count[0], buffer);
        code = sf_h5_block_write(h5, a->name, dataset, type, a->rank, start, count, buffer);
    }
    free(buffer);
    return code;
}

static int attach_scales(sf_h5 *h5, const array *a, hid_t dataset)
{
    const char *scales[RANK_MAX] = {NULL};
    bool any = false;
    for (int k = 0; k < a->rank; k++) {
        scales[k] = strcmp(a->axes[k], "fitness") == 0 ? "/dimensions/fitness"
                    : strcmp(a->axes[k], "score") == 0 ? "/dimensions/score"
                                                       : NULL;
        any = any || scales[k];
    }
    int code = sf_h5_axes_name(h5, dataset, a->rank, a->axes);
    return code || !any ? code : sf_h5_axes_attach(h5, dataset, a->rank, scales);
}

/* Scales are made once all that use them are there. */
static int make_scale(sf_h5 *h5, const sf_census_about *about, const array *scale_array)
{
    sf_h5_user users[N_ARRAYS * RANK_MAX];
    size_t n = 0;
    for (size_t i = N_SCALES; i < n_arrays(about); i++) {
        for (int k = 0; k < arrays[i].rank; k++) {
            if (strcmp(arrays[i].axes[k], scale_array->axes[0]) == 0)
                users[n++] = (sf_h5_user){arrays[i].name, k};
        }
    }
    hid_t dataset = H5Dopen2(h5->file, scale_array->name, H5P_DEFAULT);
    int code = dataset < 0 ? sf_h5_fail(h5, scale_array->name, "cannot be opened")
                           : sf_h5_scale_make(h5, dataset, scale_array->axes[0], n, users);
    return sf_h5_close_written(h5, scale_array->name, dataset, code);
}

static int write_array(sf_h5 *h5, const sf_census_data *data, const array *a, bool is_scale)
{
    hid_t stored = type_of(a, &data->about, true), type = type_of(a, &data->about, false), dataset = H5I_INVALID_HID;
    int code = stored < 0 || type < 0 ? sf_h5_fail(h5, a->name, "the type cannot be made") : 0;
    if (!code) {
        hsize_t size[RANK_MAX] = {0};
        size_t row_bytes = measure(&data->about, a, H5Tget_size(type), size), rows = CHUNK_BYTES / row_bytes + 1;
        sf_h5_layout layout = {.rank = a->rank, .size = {size[0], size[1], size[2]}, .growing = -1, .packed = true};
        for (int k = 0; k < a->rank; k++)
            layout.chunk[k] = k == 0 && rows < size[0] ? rows : size[k];
        code = sf_h5_dataset_create(h5, a->name, stored, &layout, &dataset);
        if (!code)
            code = sf_h5_describe(h5, dataset, a->units, a->description);
        if (!code && !is_scale)
            code = attach_scales(h5, a, dataset);
        if (!code)
            code = write_rows(h5, data, a, dataset, type, size, row_bytes, (size_t)layout.chunk[0]);
    }
    code = sf_h5_close_written(h5, a->name, dataset, code);
    if (stored >= 0)
        H5Tclose(stored);
    if (type >= 0)
        H5Tclose(type);
    return code;
}

static int write_all(sf_h5 *h5, const void *context)
{
    const sf_census_data *data = context;
    static const char *const groups[] = {"/provenance", "/census", "/dimensions",        "/summary",
                                         "/sequences",  "/shapes", "/shapes/by_fitness"};
    size_t n_groups = sizeof groups / sizeof groups[0] - (data->about.n_shapes ? 0 : 2);
    int code = sf_h5_attr_text(h5, h5->file, "title", SF_CENSUS_TITLE);
    for (size_t k = 0; k < n_groups && !code; k++)
        code = sf_h5_group_create(h5, groups[k]);
    if (!code)
        code = sf_h5_scalars_write(h5, N_SCALARS, scalars, &data->about);
    for (size_t k = 0; k < n_arrays(&data->about) && !code; k++)
        code = write_array(h5, data, &arrays[k], k < N_SCALES);
    for (size_t k = 0; k < N_SCALES && !code; k++)
        code = make_scale(h5, &data->about, &arrays[k]);
    return code;
}

int sf_census_file_write(const char *path, const sf_census_data *data, sf_error *err)
{
    sf_census_data mine = *data;
    snprintf(mine.about.program, sizeof mine.about.program, "starfold");
    snprintf(mine.about.version, sizeof mine.about.version, "%s", sf_version);
    snprintf(mine.about.revision, sizeof mine.about.revision, "%s", sf_revision);
    mine.about.schema = SF_CENSUS_SCHEMA_VERSION;
    return sf_sealed_write(path, write_all, &mine, err);
}

/* ---- reading ---- */

static int check_about(sf_h5 *h5, const sf_census_about *about)
{
    int code = sf_file_check_schema(h5, about->schema, SF_CENSUS_SCHEMA_VERSION);
    if (code)
        return code;
    if (about->length < SF_LENGTH_MIN || about->length > SF_LENGTH_MAX)
        return sf_h5_fail(h5, "/census/length", "is out of its range");
    if (about->n_scores < 1 || about->n_scores > SF_CENSUS_SCORES_MAX)
        return sf_h5_fail(h5, "/census/n_scores", "is out of its range");
    if (about->n_shapes > about->n_sequences)
        return sf_h5_fail(h5, "/census/shapes", "is more than there are sequences");
    if (strlen(about->letters) < 2)
        return sf_h5_fail(h5, "/census/letters", "has fewer than two letters");
    uint64_t n = 1;
    bool fits = true;
    for (int k = 0; k < about->length && fits; k++)
        fits = !__builtin_mul_overflow(n, strlen(about->letters), &n);
    fits = fits && n == about->n_sequences;
    return fits ? 0 : sf_h5_fail(h5, "/census/sequences", "does not fit length and letters");
}

/* Checks the dataset; reads it where values is not NULL. */
static int read_array(sf_h5 *h5, const sf_census_about *about, const array *a, void *values)
{
    hid_t stored = type_of(a, about, true), type = type_of(a, about, false), dataset = H5I_INVALID_HID;
    int code = stored < 0 || type < 0 ? sf_h5_fail(h5, a->name, "the type cannot be made") : 0;
    if (!code) {
        hsize_t size[RANK_MAX] = {0}, start[RANK_MAX] = {0};
        measure(about, a, 1, size);
        const sf_h5_demand demand = {
            .type = stored, .rank = a->rank, .size = {size[0], size[1], size[2]}, .growing = -1};
        code = sf_h5_dataset_open(h5, a->name, &demand, &dataset);
        if (!code && values)
            code = sf_h5_block_read(h5, a->name, dataset, type, a->rank, start, size, values);
    }
    if (dataset >= 0)
        H5Dclose(dataset);
    if (stored >= 0)
        H5Tclose(stored);
    if (type >= 0)
        H5Tclose(type);
    return code;
}

static int check_sum(sf_h5 *h5, const char *name, const uint64_t *counts, size_t n, uint64_t right)
{
    uint64_t sum = 0;
    bool fits = true;
    for (size_t i = 0; i < n && fits; i++)
        fits = !__builtin_add_overflow(sum, counts[i], &sum);
    return fits && sum == right ? 0 : sf_h5_fail(h5, name, "does not add up to the sequences");
}

/* Where what is read goes. */
typedef struct target {
    sf_census_about *about;
    uint64_t *fitness, *best_score;
} target;

static int read_open(sf_h5 *h5, void *context)
{
    const target *t = context;
    sf_census_about *about = t->about;
    int code = sf_file_check_title(h5, SF_FILE_CENSUS);
    if (!code)
        code = sf_h5_scalars_read(h5, N_SCALARS, scalars, about);
    if (!code)
        code = check_about(h5, about);
    for (size_t k = 0; !code && k < n_arrays(about); k++) {
        const array *a = &arrays[k];
        uint64_t *values = a->fill == fill_fitness ? t->fitness : a->fill == fill_best_score ? t->best_score : NULL;
        code = read_array(h5, about, a, values);
    }
    if (!code)
        code = check_sum(h5, "/summary/fitness", t->fitness, (size_t)about->n_scores + 1, about->n_sequences);
    return code ? code
                : check_sum(h5, "/summary/best_score", t->best_score, (size_t)about->n_scores, about->n_sequences);
}

int sf_census_file_read(sf_census_about *about, uint64_t *fitness, uint64_t *best_score, const char *path, sf_error *err)
{
    target t = {about, fitness, best_score};
    memset(about, 0, sizeof *about);
    memset(fitness, 0, (SF_CENSUS_SCORES_MAX + 1) * sizeof *fitness);
    memset(best_score, 0, SF_CENSUS_SCORES_MAX * sizeof *best_score);
    return sf_tried_read(path, "a census", read_open, &t, err);
}

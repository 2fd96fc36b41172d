/* Damaged and hostile run files: each has its status and the line it must give. */
#include <hdf5.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/digest.h"
#include "io/seal.h"
#include "sample_run.h"

static uint8_t *good;
static size_t n_good;

/* A finished run with kept populations, its bytes kept in `good`. */
static void make_good(const char *path)
{
    sample_run run;
    sf_error err = {0};
    sample_init(&run, 2, 2, 5, true);
    sample_run_to(&run, 5);
    run.meta.state = "finished";
    if (sf_run_file_write(path, &run.record, &run.meta, &err) != 0)
        printf("\n  %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(err.code, 0);
    sample_free(&run);
    free(good);
    good = sample_bytes(path, &n_good);
}

static void write_bytes(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

/* Reads the file and expects the code and a part of the line; the line names the file. */
static void expect(const char *path, const char *what, int code, const char *part)
{
    sf_run_data data;
    sf_error err = {0};
    int got = sf_run_file_read(&data, path, &err);
    bool as_expected = got == code && (code == 0 || (strstr(err.text, part) && strstr(err.text, path) == err.text &&
                                                     !strchr(err.text, '\n') && data.config == NULL));
    if (!as_expected)
        printf("\n  %s: expected %d ... %s ..., got %d: %s\n", what, code, part, got, err.text);
    CU_ASSERT_TRUE(as_expected);
    sf_run_data_free(&data);
}

/* ---- bytes ---- */

static void test_cut(void)
{
    const char *path = sample_path("cut.h5");
    make_good(path);
    enum { SEAL = 48 };
    const struct {
        size_t n;
        const char *part;
    } cut[] = {{0, "is not an HDF5 file (it is empty)"},
               {1, "is not an HDF5 file"},
               {7, "is not an HDF5 file"},
               {8, "HDF5 cannot open it"},
               {50, "HDF5 cannot open it"},
               {95, "HDF5 cannot open it"},
               {96, "HDF5 cannot open it"},
               {1000, "HDF5 cannot open it"},
               {n_good / 4, "HDF5 cannot open it"},
               {n_good / 2, "HDF5 cannot open it"},
               {n_good * 3 / 4, "HDF5 cannot open it"},
               {n_good - SEAL - 1, "HDF5 cannot open it"}};
    for (size_t k = 0; k < sizeof cut / sizeof cut[0]; k++) {
        write_bytes(path, good, cut[k].n);
        expect(path, "cut", SF_EFORMAT, cut[k].part);
    }
    write_bytes(path, good, n_good - SEAL); /* nothing but the seal is gone */
    expect(path, "no seal", 0, "");
    write_bytes(path, good, n_good - 1);
    expect(path, "half a seal", 0, "");
}

/* Any changed byte is told by the seal. */
static void test_flipped(void)
{
    const char *path = sample_path("flip.h5");
    uint64_t random = test_seed();
    make_good(path);
    for (int k = 0; k < 300; k++) {
        size_t at = 8 + test_random(&random) % (n_good - 8 - 48);
        if (k < 32)
            at = n_good - 32 + (size_t)k; /* the hash itself */
        uint8_t was = good[at];
        good[at] ^= (uint8_t)(1u << (test_random(&random) % 8));
        write_bytes(path, good, n_good);
        expect(path, "flip", SF_EFORMAT, "do not fit its seal");
        good[at] = was;
    }
}

/* Without a seal, or with one made anew, HDF5 meets the changed bytes: whatever it says, we neither crash nor hang nor
 * give half a record. */
static void flip(bool sealed)
{
    const char *path = sample_path("flip.h5");
    uint64_t random = test_seed() + 1 + sealed;
    int n_read = 0, n_refused = 0, n_other = 0;
    make_good(path);
    for (int k = 0; k < 150; k++) {
        size_t at = test_random(&random) % (n_good - 48);
        uint8_t was = good[at];
        good[at] ^= (uint8_t)(1u << (test_random(&random) % 8));
        write_bytes(path, good, n_good - 48);
        good[at] = was;
        if (sealed)
            CU_ASSERT_EQUAL(sf_seal_write(path, path, NULL), 0);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            sf_run_data data;
            char hex[SF_DIGEST_SIZE];
            sf_error err = {0};
            alarm(600); /* what hangs, on a machine of any speed */
            int code = sf_run_file_read(&data, path, &err);
            if (code == 0)
                sf_run_data_free(&data);
            sf_digest_file(path, hex, NULL);
            _exit(code == 0 ? 0 : code == SF_EFORMAT && err.text[0] ? 1 : 2);
        }
        int status = -1;
        CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
        int answer = WIFEXITED(status) ? WEXITSTATUS(status) : 3;
        n_read += answer == 0;
        n_refused += answer == 1;
        n_other += answer > 1;
        if (answer > 1)
            printf("\n  byte %zu flipped: status %#x\n", at, (unsigned)status);
    }
    printf("%d read, %d refused, %d otherwise ... ", n_read, n_refused, n_other);
    CU_ASSERT_TRUE(n_read > 0 && n_refused > 0);
    CU_ASSERT_EQUAL(n_other, 0);
}

static void test_flipped_unnoticed(void)
{
    flip(false);
    flip(true);
}

/* ---- damage done through HDF5 ---- */

enum operation {
    DELETE, /* the object */
    SET,    /* value a at position b */
    OTHER_ORDER,
    AS_FLOAT, /* the same values as 64-bit floats, one of them NaN */
    AS_INT64,
    AS_VARIABLE, /* texts of variable length */
    EMPTY_SHAPE, /* a single value */
    FLATTEN,     /* one axis instead of many */
    SHORTEN,     /* one row less */
    VAST,        /* a million million rows, none of them stored */
    VAST_CHUNK,
    GROUP,         /* a group of that name */
    SOFT,          /* a soft link to a good copy */
    CYCLE,         /* a soft link to itself */
    EXTERNAL_LINK, /* to a good copy in another file */
    EXTERNAL_DATA,
    VIRTUAL,
    FILTER,
    LETTER,         /* character a at byte b */
    SWAP,           /* rows a and b */
    ATTRIBUTE_INT,  /* attribute `name` of the root is the integer a */
    ATTRIBUTE_TEXT, /* ... is a text of a letters x */
    ATTRIBUTE_GONE,
    OPTION_INT, /* an option that is no text */
    OPTION_LONG,
    ORIGIN_GONE,
};

typedef struct damage {
    const char *name;
    enum operation operation;
    int64_t a;
    size_t b;
    const char *part; /* of the line */
} damage;

/* A dataset and what it held. */
typedef struct dataset {
    hid_t file, type, space;
    const char *name;
    int rank;
    hsize_t size[H5S_MAX_RANK];
    size_t n, value_bytes;
    uint8_t *values;
} dataset;

static void take_dataset(dataset *d, hid_t file, const char *name)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    CU_ASSERT_TRUE_FATAL(set >= 0);
    *d = (dataset){.file = file, .name = name, .type = H5Dget_type(set), .space = H5Dget_space(set)};
    d->rank = H5Sget_simple_extent_dims(d->space, d->size, NULL);
    d->n = (size_t)H5Sget_simple_extent_npoints(d->space);
    d->value_bytes = H5Tget_size(d->type);
    d->values = calloc(d->n + 1, d->value_bytes < 8 ? 8 : d->value_bytes);
    CU_ASSERT_TRUE_FATAL(H5Dread(set, d->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, d->values) >= 0);
    H5Dclose(set);
}

/* Puts the dataset in place anew, with this type in the file, as this shape. */
static void put_dataset(dataset *d, hid_t file_type, hid_t memory_type, int rank, const hsize_t *size, hid_t creation)
{
    CU_ASSERT_TRUE_FATAL(H5Ldelete(d->file, d->name, H5P_DEFAULT) >= 0);
    hid_t space = rank ? H5Screate_simple(rank, size, NULL) : H5Screate(H5S_SCALAR);
    hid_t set = H5Dcreate2(d->file, d->name, file_type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    CU_ASSERT_TRUE_FATAL(set >= 0);
    if (memory_type >= 0)
        CU_ASSERT_TRUE(H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, d->values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static void drop_dataset(dataset *d)
{
    H5Tclose(d->type);
    H5Sclose(d->space);
    free(d->values);
}

static void damage_values(dataset *d, const damage *how)
{
    size_t bytes = d->value_bytes;
    if (how->operation == SET) {
        memcpy(d->values + how->b * bytes, &how->a, bytes); /* little-endian */
    } else if (how->operation == LETTER) {
        d->values[how->b] = (uint8_t)how->a;
    } else {
        uint8_t row[64];
        memcpy(row, d->values + (size_t)how->a * bytes, bytes);
        memcpy(d->values + (size_t)how->a * bytes, d->values + how->b * bytes, bytes);
        memcpy(d->values + how->b * bytes, row, bytes);
    }
    put_dataset(d, d->type, d->type, d->rank, d->size, H5P_DEFAULT);
}

static void as_float(dataset *d)
{
    H5Tconvert(d->type, H5T_NATIVE_DOUBLE, d->n, d->values, NULL, H5P_DEFAULT);
    memset(d->values, 0xff, 8);
    put_dataset(d, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, d->rank, d->size, H5P_DEFAULT);
}

static void damage_storage(dataset *d, const damage *how)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[H5S_MAX_RANK], size[H5S_MAX_RANK];
    memcpy(size, d->size, sizeof size);
    memcpy(chunk, d->size, sizeof chunk);
    hid_t memory = how->operation == FILTER || how->operation == VAST_CHUNK ? d->type : H5I_INVALID_HID;
    switch (how->operation) {
    case VAST:
        size[0] = (hsize_t)1 << 40;
        H5Pset_chunk(creation, d->rank, chunk);
        break;
    case VAST_CHUNK:
        chunk[0] = (hsize_t)1 << 20;
        size[0] = d->size[0];
        H5Pset_chunk(creation, d->rank, chunk);
        H5Pset_deflate(creation, 1);
        memory = H5I_INVALID_HID;
        break;
    case EXTERNAL_DATA:
        H5Pset_external(creation, "/etc/passwd", 0, d->n * d->value_bytes);
        break;
    case VIRTUAL:
        H5Pset_virtual(creation, d->space, sample_path("good.h5"), d->name, d->space);
        break;
    default:
        H5Pset_chunk(creation, d->rank, chunk);
        H5Pset_scaleoffset(creation, H5Z_SO_INT, 0);
        break;
    }
    if (how->operation == VAST_CHUNK) { /* HDF5 wants a limit that is no less than the chunk */
        hsize_t limit[H5S_MAX_RANK];
        memcpy(limit, d->size, sizeof limit);
        limit[0] = H5S_UNLIMITED;
        hid_t space = H5Screate_simple(d->rank, d->size, limit);
        H5Ldelete(d->file, d->name, H5P_DEFAULT);
        H5Dclose(H5Dcreate2(d->file, d->name, d->type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
        H5Sclose(space);
    } else {
        put_dataset(d, d->type, memory, d->rank, size, creation);
    }
    H5Pclose(creation);
}

static void damage_dataset(hid_t file, const damage *how)
{
    dataset d;
    take_dataset(&d, file, how->name);
    hsize_t size[H5S_MAX_RANK] = {d.n};
    switch (how->operation) {
    case SET:
    case LETTER:
    case SWAP:
        damage_values(&d, how);
        break;
    case OTHER_ORDER:
        put_dataset(&d, d.value_bytes == 4 ? H5T_STD_I32BE : H5T_STD_U64BE, d.type, d.rank, d.size, H5P_DEFAULT);
        break;
    case AS_FLOAT:
        as_float(&d);
        break;
    case AS_INT64:
        put_dataset(&d, H5T_STD_I64LE, d.type, d.rank, d.size, H5P_DEFAULT);
        break;
    case AS_VARIABLE: {
        hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, H5T_VARIABLE);
        put_dataset(&d, type, H5I_INVALID_HID, d.rank, d.size, H5P_DEFAULT);
        H5Tclose(type);
        break;
    }
    case EMPTY_SHAPE:
        put_dataset(&d, d.type, H5I_INVALID_HID, 0, NULL, H5P_DEFAULT);
        break;
    case FLATTEN:
        put_dataset(&d, d.type, d.type, 1, size, H5P_DEFAULT);
        break;
    case SHORTEN:
        memcpy(size, d.size, sizeof size);
        size[0]--;
        put_dataset(&d, d.type, d.type, d.rank, size, H5P_DEFAULT);
        break;
    default:
        damage_storage(&d, how);
        break;
    }
    drop_dataset(&d);
}

static void damage_link(hid_t file, const damage *how)
{
    CU_ASSERT_TRUE_FATAL(how->operation == SOFT || H5Ldelete(file, how->name, H5P_DEFAULT) >= 0);
    if (how->operation == GROUP) {
        H5Gclose(H5Gcreate2(file, how->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    } else if (how->operation == SOFT) {
        H5Lmove(file, how->name, file, "/moved", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_soft("/moved", file, how->name, H5P_DEFAULT, H5P_DEFAULT);
    } else if (how->operation == CYCLE) {
        H5Lcreate_soft(how->name, file, how->name, H5P_DEFAULT, H5P_DEFAULT);
    } else if (how->operation == EXTERNAL_LINK) {
        H5Lcreate_external(sample_path("good.h5"), how->name, file, how->name, H5P_DEFAULT, H5P_DEFAULT);
    }
}

static void damage_attribute(hid_t file, const damage *how)
{
    bool root = how->operation < OPTION_INT;
    hid_t object = root ? H5Oopen(file, "/", H5P_DEFAULT)
                        : H5Oopen(file, how->operation == ORIGIN_GONE ? "/config/origin" : "/config", H5P_DEFAULT);
    hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    int32_t number = (int32_t)how->a;
    char text[4096];
    const char *pointer = text;
    memset(text, 'x', sizeof text);
    text[how->a >= 0 && how->a < 4096 ? how->a : 0] = '\0';
    H5Tset_size(type, H5T_VARIABLE);
    CU_ASSERT_TRUE(H5Adelete(object, how->name) >= 0);
    if (how->operation != ATTRIBUTE_GONE && how->operation != ORIGIN_GONE) {
        bool integer = how->operation == ATTRIBUTE_INT || how->operation == OPTION_INT;
        hid_t attribute =
            H5Acreate2(object, how->name, integer ? H5T_STD_I32LE : type, space, H5P_DEFAULT, H5P_DEFAULT);
        if (integer)
            H5Awrite(attribute, H5T_NATIVE_INT32, &number);
        else
            H5Awrite(attribute, type, &pointer);
        H5Aclose(attribute);
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Oclose(object);
}

static void do_damage(const char *path, const damage *how)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    CU_ASSERT_TRUE_FATAL(file >= 0);
    if (how->operation >= ATTRIBUTE_INT)
        damage_attribute(file, how);
    else if (how->operation == DELETE || (how->operation >= GROUP && how->operation <= EXTERNAL_LINK))
        damage_link(file, how);
    else
        damage_dataset(file, how);
    H5Fclose(file);
}

static const damage damages[] = {
    {"title", ATTRIBUTE_GONE, 0, 0, "not a run file of starfold"},
    {"title", ATTRIBUTE_TEXT, 12, 0, "not a run file of starfold"},
    {"title", ATTRIBUTE_TEXT, 1000, 0, "not a run file of starfold"},
    {"title", ATTRIBUTE_INT, 1, 0, "not a run file of starfold"},
    {"schema", ATTRIBUTE_GONE, 0, 0, "schema: the attribute is missing"},
    {"schema", ATTRIBUTE_INT, 2, 0, "has schema version 2"},
    {"schema", ATTRIBUTE_INT, -1, 0, "has schema version -1"},
    {"schema", ATTRIBUTE_TEXT, 1, 0, "schema: the attribute is not a 32-bit integer"},
    {"state", ATTRIBUTE_TEXT, 3, 0, "state: is none of"},
    {"state", ATTRIBUTE_GONE, 0, 0, "state: the attribute is missing"},
    {"form", ATTRIBUTE_TEXT, 0, 0, "form: is none of"},
    {"population", OPTION_INT, 6, 0, "population: the attribute is not a text"},
    {"population", OPTION_LONG, SF_SCORE_MODEL_TEXT_SIZE, 0, "population: the attribute is too long"},
    {"population", ORIGIN_GONE, 0, 0, "population: the attribute is missing"},
    {"/config/origin", DELETE, 0, 0, "/config: is missing"},
    {"/trajectory/best", DELETE, 0, 0, "/trajectory/best: the dataset is missing"},
    {"/trajectory", DELETE, 0, 0, "/trajectory/best: the dataset is missing"},
    {"/sequences/letters", DELETE, 0, 0, "/sequences/letters: the dataset is missing"},
    {"/search/seed", DELETE, 0, 0, "/search/seed: the dataset is missing"},
    {"/progress", DELETE, 0, 0, "/progress/generation: the dataset is missing"},
    {"/population/last", DELETE, 0, 0, "/population/last: the dataset is missing"},
    {"/levels/stars", GROUP, 0, 0, "/levels/stars: is not a dataset"},
    {"/trajectory/sum", SOFT, 0, 0, "/trajectory/sum: the dataset is missing, or is a link to elsewhere"},
    {"/trajectory/sum", CYCLE, 0, 0, "/trajectory/sum: the dataset is missing, or is a link to elsewhere"},
    {"/trajectory/sum", EXTERNAL_LINK, 0, 0, "/trajectory/sum: the dataset is missing, or is a link to elsewhere"},
    {"/trajectory", SOFT, 0, 0, "/trajectory/best: the dataset is missing, or is a link to elsewhere"},
    {"/config", SOFT, 0, 0, "/config: is missing, or is a link to elsewhere"},
    {"/trajectory/sum", EXTERNAL_DATA, 0, 0, "/trajectory/sum: lies outside the file"},
    {"/trajectory/sum", VIRTUAL, 0, 0, "/trajectory/sum: lies outside the file"},
    {"/trajectory/sum", FILTER, 0, 0, "/trajectory/sum: has filters that are not ours"},
    {"/trajectory/best", OTHER_ORDER, 0, 0, "/trajectory/best: has another type"},
    {"/sequences/histogram", OTHER_ORDER, 0, 0, "/sequences/histogram: has another type"},
    {"/sequences/histogram", AS_FLOAT, 0, 0, "/sequences/histogram: has another type"},
    {"/trajectory/sum", AS_FLOAT, 0, 0, "/trajectory/sum: has another type"},
    {"/trajectory/best", AS_INT64, 0, 0, "/trajectory/best: has another type"},
    {"/sequences/letters", AS_VARIABLE, 0, 0, "/sequences/letters: has another type"},
    {"/search/lattice", AS_VARIABLE, 0, 0, "/search/lattice: is not a text of fixed length"},
    {"/search/seed", AS_INT64, 0, 0, "/search/seed: has another type"},
    {"/trajectory/best", FLATTEN, 0, 0, "/trajectory/best: has another rank"},
    {"/trajectory/best", EMPTY_SHAPE, 0, 0, "/trajectory/best: has another rank"},
    {"/search/seed", FLATTEN, 0, 0, "/search/seed: is not a single value"},
    {"/sequences/histogram", SHORTEN, 0, 0, "/sequences/histogram: has another size"},
    {"/migration/from", SHORTEN, 0, 0, "/migration/from: has another size"},
    {"/population/all", SHORTEN, 0, 0, "/population/all: has another size"},
    {"/sequences/histogram", VAST, 0, 0, "/sequences/histogram: has another size"},
    {"/sequences/histogram", VAST_CHUNK, 0, 0, "/sequences/histogram: has chunks that are too large"},
    {"/progress/sequences", SET, INT64_C(1) << 39, 0, "/progress: asks for more memory"},
    {"/progress/sequences", SET, INT64_C(1) << 60, 0, "/progress/sequences: is out of its range"},
    {"/progress/sequences", SET, -1, 0, "/progress/sequences: is out of its range: -1"},
    {"/progress/sequences", SET, 5, 0, "has another size than the run"},
    {"/progress/generation", SET, 6, 0, "/progress/generation: is out of its range: 6"},
    {"/progress/generation", SET, 4, 0, "has another size than the run"},
    {"/progress/levels", SET, 100000, 0, "/progress/levels: is out of its range"},
    {"/search/length", SET, 0, 0, "/search/length: is out of its range"},
    {"/search/length", SET, 9, 0, "has another type"},
    {"/search/length", SET, INT32_MAX, 0, "/search/length: is out of its range"},
    {"/search/n_scores", SET, -5, 0, "/search/n_scores: is out of its range"},
    {"/search/n_scores", SET, 100000, 0, "/search/n_scores: is out of its range"},
    {"/search/witness_size", SET, INT32_MIN, 0, "/search/witness_size: is out of its range"},
    {"/search/min_score", SET, INT32_MAX, 0, "/search/min_score: is out of its range"},
    {"/search/min_score", SET, 1, 0, "does not"},
    {"/search/population", SET, 1, 0, "/search: --population 1: allowed is"},
    {"/search/trials", SET, 3, 0, "has another size than the run"},
    {"/search/trials", SET, 1000000, 0, "has another size than the run"},
    {"/search/generations", SET, INT64_MAX, 0, "/search: --generations"},
    {"/search/generations", SET, 1000000000, 0, "/search: asks for more memory"},
    {"/search/mutation_rate", SET, -1, 0, "/search: --mutation-rate"},
    {"/search/topology", SET, 77, 0, "/search: --topology"},
    {"/search/letters", LETTER, 'H', 1, "/search/letters: has a letter twice"},
    {"/search/letters", LETTER, 0, 1, "/search/letters: has fewer than two letters"},
    {"/search/letters", LETTER, 7, 1, "/search/letters: has characters that are not text"},
    {"/provenance/schema", SET, 9, 0, "/provenance/schema: is out of its range: 9"},
    {"/sequences/letters", LETTER, 'X', 5, "/sequences/letters: has letters that are not of the alphabet"},
    {"/sequences/letters", LETTER, 0, 25, "/sequences/letters: has letters that are not of the alphabet"},
    {"/population/last", LETTER, 'h', 3, "/population/last: has letters that are not of the alphabet"},
    {"/population/all", LETTER, 200, 3, "/population/all: has letters that are not of the alphabet"},
    {"/migration/letters", LETTER, '?', 3, "/migration/letters: has letters that are not of the alphabet"},
    {"/levels/solutions", LETTER, '\n', 0, "/levels/solutions: has letters that are not of the alphabet"},
    {"/levels/solutions", LETTER, 0, 2, "/levels/solutions: has letters that are not of the alphabet"},
    {"/sequences/letters", SWAP, 3, 4, "does not fit the histogram|is not sorted"},
    {"/sequences/histogram", SET, -1, 3, "does not fit the histogram in row"},
    {"/sequences/distinct_scores", SET, -4, 2, "/sequences/distinct_scores: does not fit the histogram in row: 2"},
    {"/sequences/best_score", SET, 77, 2, "/sequences/best_score: does not fit the histogram in row: 2"},
    {"/sequences/exact", SET, 2, 0, "/sequences/exact: does not fit the histogram in row: 0"},
    {"/sequences/first_trial", SET, 2, 4, "names a place outside the search in row: 4"},
    {"/sequences/first_generation", SET, -1, 4, "names a place outside the search in row: 4"},
    {"/sequences/first_individual", SET, 6, 0, "names a place outside the search in row: 0"},
    {"/trajectory/best", SET, -2, 0, "/trajectory/best: and worst do not fit each other"},
    {"/trajectory/worst", SET, INT32_MAX, 3, "/trajectory/best: and worst do not fit each other"},
    {"/trajectory/sum", SET, INT64_MIN, 0, "/trajectory/sum: does not fit best and worst"},
    {"/trajectory/n_at_best", SET, 0, 0, "/trajectory/n_at_best: is out of its range"},
    {"/trajectory/n_distinct", SET, 7, 0, "/trajectory/n_distinct: is out of its range"},
    {"/trajectory/n_at_best_known", SET, 6, 0, "/trajectory/n_at_best_known: does not agree"},
    {"/dimensions/score", SET, 6, 0, "/dimensions/score: does not agree"},
    {"/dimensions/generation", SET, 0, 3, "/dimensions/generation: does not agree"},
    {"/migration/to", SET, 2, 0, "/migration: names a place outside the search in row: 0"},
    {"/migration/sent", SET, -2, 0, "/migration/sent: and taken do not fit each other in row: 0"},
    {"/migration/fate", SET, 3, 1, "/migration/fate: is none of 0, 1, 2 in row: 1"},
    {"/migration/trial", SET, 1, 0, "/migration: is not sorted at row: 1"},
    {"/levels/sequence", SET, -1, 0, "/levels/sequence: is no row of /sequences in row: 0"},
    {"/levels/sequence", SET, 1000000, 1, "/levels/sequence: is no row of /sequences in row: 1"},
    {"/levels/stars", SET, 9, 0, "/levels/stars: are not ascending in row: 0"},
    {"/levels/letters", LETTER, 'Q', 0, "/levels/letters: does not agree"},
    {"/levels/best_score", SET, 3, 1, "/levels/best_score: does not agree"},
};

/* A part may offer two lines with |, where it depends on the sample which of two checks comes first. */
static const char *fitting_part(const char *path, const char *part)
{
    static char first[128];
    const char *bar = strchr(part, '|');
    sf_run_data data;
    sf_error err = {0};
    if (!bar)
        return part;
    sf_run_file_read(&data, path, &err);
    snprintf(first, sizeof first, "%.*s", (int)(bar - part), part);
    return strstr(err.text, bar + 1) ? bar + 1 : first;
}

static void test_damages(void)
{
    const char *path = sample_path("damaged.h5");
    make_good(sample_path("good.h5"));
    for (size_t k = 0; k < sizeof damages / sizeof damages[0]; k++) {
        char hex[SF_DIGEST_SIZE], what[128];
        write_bytes(path, good, n_good);
        do_damage(path, &damages[k]);
        snprintf(what, sizeof what, "%s, operation %d", damages[k].name, damages[k].operation);
        expect(path, what, SF_EFORMAT, fitting_part(path, damages[k].part));
        int code = sf_digest_file(path, hex, NULL);
        CU_ASSERT_TRUE(code == 0 || code == SF_EFORMAT);
    }
    printf("%zu files ... ", sizeof damages / sizeof damages[0]);
}

/* Other things under the name of a run file. */
static void test_other_things(void)
{
    const char *path = sample_path("thing");
    expect(sample_path("no such thing"), "nothing", SF_EINPUT, "No such file");
    expect(sample_folder(), "folder", SF_EINPUT, "is not a regular file");
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    expect(path, "pipe", SF_EINPUT, "is not a regular file");
    unlink(path);
    expect("/dev/zero", "device", SF_EINPUT, "is not a regular file");
    write_bytes(path, (const uint8_t *)"HPHPHPHPHPHP\n", 13);
    expect(path, "text", SF_EFORMAT, "is not an HDF5 file");
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    expect(path, "empty HDF5", SF_EFORMAT, "not a run file of starfold");
    sf_perf_entry entry = {"/time/total", "s", "wall time", 1.5, NULL};
    CU_ASSERT_EQUAL(sf_perf_file_write(path, 1, &entry, NULL), 0);
    expect(path, "perf file", SF_EFORMAT, "not a run file of starfold but the timings and layout of a run");
}

/* A live file whose counts promise more than it holds. */
static void test_live(void)
{
    const char *path = sample_path("live.h5");
    sample_run run;
    sf_live_file *live;
    sample_init(&run, 2, 2, 5, false);
    sample_run_to(&run, 3);
    CU_ASSERT_EQUAL_FATAL(sf_live_file_create(&live, path, &run.record, &run.meta, NULL), 0);
    sf_live_file_close(live);
    sample_free(&run);
    expect(path, "good", 0, "");
    do_damage(path,
              &(damage){"/progress/sequences", SET, 3, 0, ""}); /* fewer than there are: a block was not finished */
    expect(path, "block cut off", 0, "");
    do_damage(path, &(damage){"/progress/generation", SET, 2, 0, ""});
    expect(path, "generation cut off", 0, "");
    do_damage(path, &(damage){"/progress/generation", SET, 4, 0, ""});
    expect(path, "generation", SF_EFORMAT, "has another size than the run");
    do_damage(path, &(damage){"/progress/generation", SET, 3, 0, ""});
    do_damage(path, &(damage){"/progress/migrants", SET, 1000, 0, ""});
    expect(path, "migrants", SF_EFORMAT, "has another size than the run");
}

static void test_end(void)
{
    free(good);
    good = NULL;
}

const test_case test_cases[] = {
    {"cut", test_cut},
    {"flipped", test_flipped},
    {"flipped, no seal or a new one", test_flipped_unnoticed},
    {"damaged through HDF5", test_damages},
    {"other things", test_other_things},
    {"live file", test_live},
    {"end", test_end},
    {NULL, NULL},
};

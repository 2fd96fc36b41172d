/* The census file: written twice the same, read back, and damaged in every byte. */
#include "io/census_file.h"

#include <hdf5.h>
#include <unistd.h>

#include "sample_run.h"

enum { LENGTH = 3, N = 1 << LENGTH, SCORES = 2, SEAL = 48 };

/* Numbers as a census might have them; shapes.n_scores is larger than what is written. */
static uint64_t row[] = {4, 1, 0, 1, 5, 5, 0, 0, 3, 0}, sequences[] = {0, 3, 5, 0}, n_shapes[] = {0, 1, 1, 0}, range[36];
static const uint64_t fitness[] = {0, 3, 5}, best_score[] = {3, 5};
static const uint8_t each_fitness[N] = {2, 2, 2, 1, 2, 1, 2, 1}, each_best[N] = {1, 1, 1, 0, 1, 0, 1, 0};
static const sf_shapes shapes = {.n_scores = 3, .n = 2, .room = 2, .row = row};
static const sf_shapes_summary summary = {3, 5, sequences, n_shapes, range};

static sf_census_data data_of(bool with_shapes)
{
    sf_census_data data = {.about = {.lattice = "square", .length = LENGTH, .letters = "HP", .model = "hp", .min_score = -1,
                                     .n_scores = SCORES, .n_sequences = N, .unique_best = 1},
                           .fitness = fitness,
                           .best_score = best_score,
                           .each_fitness = each_fitness,
                           .each_best = each_best};
    if (with_shapes) {
        data.about.n_shapes = 2;
        data.about.most_shared = 5;
        data.shapes = &shapes;
        data.summary = &summary;
    }
    return data;
}

static const char *made(const char *name, bool with_shapes)
{
    const char *path = sample_path(name);
    sf_census_data data = data_of(with_shapes);
    sf_error err = {0};
    if (sf_census_file_write(path, &data, &err) != 0)
        printf("\n  %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(err.code, 0);
    return path;
}

static int read_it(const char *path, sf_census_about *about, sf_error *err)
{
    uint64_t by_fitness[SF_CENSUS_SCORES_MAX + 1], by_score[SF_CENSUS_SCORES_MAX];
    int code = sf_census_file_read(about, by_fitness, by_score, path, err);
    if (!code) {
        CU_ASSERT_EQUAL(memcmp(by_fitness, fitness, sizeof fitness), 0);
        CU_ASSERT_EQUAL(memcmp(by_score, best_score, sizeof best_score), 0);
    }
    return code;
}

static void test_round_trip(void)
{
    for (int with_shapes = 0; with_shapes < 2; with_shapes++) {
        const char *path = made("a.h5", with_shapes), *other = made("b.h5", with_shapes);
        sf_census_about about;
        sf_error err = {0};
        CU_ASSERT(sample_same_bytes(path, other));
        CU_ASSERT(sf_census_file_is(path));
        CU_ASSERT_EQUAL(read_it(path, &about, &err), 0);
        CU_ASSERT_STRING_EQUAL(about.lattice, "square");
        CU_ASSERT_STRING_EQUAL(about.letters, "HP");
        CU_ASSERT_STRING_EQUAL(about.program, "starfold");
        CU_ASSERT_EQUAL(about.length, LENGTH);
        CU_ASSERT_EQUAL(about.min_score, -1);
        CU_ASSERT_EQUAL(about.n_sequences, N);
        CU_ASSERT_EQUAL(about.n_shapes, with_shapes ? 2 : 0);
        CU_ASSERT_EQUAL(about.schema, SF_CENSUS_SCHEMA_VERSION);
    }
}

/* What h5py would see. */
static void test_arrays(void)
{
    const char *path = made("a.h5", true);
    uint64_t histogram[2][SCORES], multiplicity[2];
    uint8_t each[N];
    char letters[2][LENGTH];
    int32_t best[2];
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, LENGTH);
    H5Tset_strpad(text, H5T_STR_NULLPAD);
    const struct {
        const char *name;
        hid_t type;
        void *to;
    } reads[] = {{"/shapes/histogram", H5T_NATIVE_UINT64, histogram}, {"/shapes/sequences", H5T_NATIVE_UINT64, multiplicity},
                 {"/shapes/letters", text, letters},                  {"/shapes/best_score", H5T_NATIVE_INT32, best},
                 {"/sequences/fitness", H5T_NATIVE_UINT8, each}};
    for (size_t k = 0; k < sizeof reads / sizeof reads[0]; k++) {
        hid_t dataset = H5Dopen2(file, reads[k].name, H5P_DEFAULT);
        CU_ASSERT_FATAL(dataset >= 0);
        CU_ASSERT(H5Dread(dataset, reads[k].type, H5S_ALL, H5S_ALL, H5P_DEFAULT, reads[k].to) >= 0);
        H5Dclose(dataset);
    }
    H5Tclose(text);
    H5Fclose(file);
    CU_ASSERT_EQUAL(memcmp(each, each_fitness, sizeof each), 0);
    CU_ASSERT_EQUAL(histogram[0][0], 4);
    CU_ASSERT_EQUAL(histogram[0][1], 1);
    CU_ASSERT_EQUAL(histogram[1][0], 5);
    CU_ASSERT_EQUAL(histogram[1][1], 0);
    CU_ASSERT_EQUAL(multiplicity[0], 1);
    CU_ASSERT_EQUAL(multiplicity[1], 3);
    CU_ASSERT_EQUAL(memcmp(letters[0], "PHP", LENGTH), 0);
    CU_ASSERT_EQUAL(memcmp(letters[1], "HHH", LENGTH), 0);
    CU_ASSERT_EQUAL(best[0], 0);
    CU_ASSERT_EQUAL(best[1], -1);
}

static void expect(const char *path, const char *what, int code, const char *part)
{
    sf_census_about about;
    sf_error err = {0};
    int got = read_it(path, &about, &err);
    bool as_expected = got == code && strstr(err.text, part) && strstr(err.text, path) == err.text && !strchr(err.text, '\n');
    if (!as_expected)
        printf("\n  %s: expected %d ... %s ..., got %d: %s\n", what, code, part, got, err.text);
    CU_ASSERT(as_expected);
}

static void write_bytes(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static void test_damaged(void)
{
    const char *path = made("a.h5", true);
    size_t n;
    uint8_t *bytes = sample_bytes(path, &n);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    for (size_t k = 0; k < n; k += n / 97 + 1) {
        bytes[k] ^= 0x10;
        write_bytes(path, bytes, n);
        bytes[k] ^= 0x10;
        expect(path, "flipped", SF_EFORMAT, "");
        CU_ASSERT_FALSE(sf_census_file_is(path));
    }
    for (size_t k = 0; k < n; k += n / 13 + 1) {
        write_bytes(path, bytes, k);
        expect(path, "cut", SF_EFORMAT, "");
    }
    write_bytes(path, bytes, n - SEAL);
    expect(path, "no seal", SF_EFORMAT, "has no seal");
    free(bytes);
    unlink(path);
    expect(path, "missing", SF_EINPUT, "");
}

/* Files that someone made: sealed and whole, but not what they say. */
static void test_wrong_values(void)
{
    const char *path = sample_path("a.h5");
    static const uint64_t wrong_sum[] = {0, 3, 4};
    sf_error err = {0};
    sf_census_data data = data_of(false);
    data.fitness = wrong_sum;
    CU_ASSERT_EQUAL(sf_census_file_write(path, &data, &err), 0);
    expect(path, "sum", SF_EFORMAT, "/summary/fitness");
    data = data_of(false);
    data.best_score = wrong_sum;
    CU_ASSERT_EQUAL(sf_census_file_write(path, &data, &err), 0);
    expect(path, "sum", SF_EFORMAT, "/summary/best_score");
    data = data_of(false);
    snprintf(data.about.letters, sizeof data.about.letters, "HPX");
    CU_ASSERT_EQUAL(sf_census_file_write(path, &data, &err), 0);
    expect(path, "letters", SF_EFORMAT, "/census/sequences");
    sample_run run;
    sample_init(&run, 1, 1, 2, false);
    sample_run_to(&run, 2);
    CU_ASSERT_EQUAL(sf_run_file_write(path, &run.record, &run.meta, &err), 0);
    sample_free(&run);
    expect(path, "a run", SF_EINPUT, "is not a census");
    CU_ASSERT_FALSE(sf_census_file_is(path));
}

const test_case test_cases[] = {
    {"written twice the same, and read back", test_round_trip},
    {"the arrays as other programs read them", test_arrays},
    {"cut, flipped, without a seal, missing", test_damaged},
    {"whole, but not what it says", test_wrong_values},
    {NULL, NULL},
};

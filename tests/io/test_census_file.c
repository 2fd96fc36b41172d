/* The census file: written twice the same, read back, and damaged in every byte. */
#include "io/census_file.h"

#include <unistd.h>

#include "edit_h5.h"
#include "io/file_kind.h"

enum { LENGTH = 3, N = 1 << LENGTH, SCORES = 2 };

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
        CU_ASSERT_EQUAL(sf_file_kind_of(path), SF_FILE_CENSUS);
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
        CU_ASSERT_EQUAL(sf_file_kind_of(path), SF_FILE_UNKNOWN);
    }
    for (size_t k = 0; k < n; k += n / 13 + 1) {
        write_bytes(path, bytes, k);
        expect(path, "cut", SF_EFORMAT, "");
    }
    write_bytes(path, bytes, n - SEAL_SIZE);
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
    CU_ASSERT_EQUAL(sf_file_kind_of(path), SF_FILE_RUN);
}

static int read_any(const char *path, sf_error *err)
{
    sf_census_about about;
    uint64_t by_fitness[SF_CENSUS_SCORES_MAX + 1], by_score[SF_CENSUS_SCORES_MAX];
    return sf_census_file_read(&about, by_fitness, by_score, path, err);
}

static void test_flipped_and_sealed(void)
{
    size_t n;
    const char *path = made("a.h5", true);
    uint8_t *bytes = sample_bytes(path, &n);
    flip_and_seal(path, bytes, n, read_any);
    free(bytes);
}

/* ---- strange values in good HDF5 ---- */

static void lose_title(void) { H5Adelete(edited, "title"); }
static void be_a_table(void) { set_attribute("title", "Starfold table of contact maps"); }
static void next_version(void) { set_number("/provenance/schema", 2); }
static void short_chain(void) { set_number("/census/length", 2); }
static void long_chain(void) { set_number("/census/length", 65); }
static void other_chain(void) { set_number("/census/length", 4); }
static void no_length(void) { remove_object("/census/length"); }
static void wide_length(void) { reshape("/census/length", H5T_STD_I32LE, 1, 0); }
static void no_scores(void) { set_number("/census/n_scores", 0); }
static void many_scores(void) { set_number("/census/n_scores", 256); }
static void more_scores(void) { set_number("/census/n_scores", 3); }
static void one_letter(void) { set_text("/census/letters", "H"); }
static void odd_lattice(void) { set_text("/census/lattice", "\033[2J"); }
static void long_lattice(void) { set_text("/census/lattice", "a lattice with too long a name"); }
static void vast(void) { set_number("/census/sequences", INT64_MAX); }
static void many_shapes(void) { set_number("/census/shapes", N + 1); }
static void more_shapes(void) { set_number("/census/shapes", 3); }

/* 2^64 sequences are 0 where sizes wrap. */
static void wrapping_sequences(void)
{
    set_number("/census/length", 64);
    set_number("/census/sequences", 0);
}

static void wrapping_counts(void)
{
    const uint64_t counts[] = {UINT64_MAX, 4, 5};
    hid_t dataset = H5Dopen2(edited, "/summary/fitness", H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, counts);
    H5Dclose(dataset);
}

static void no_fitness(void) { remove_object("/summary/fitness"); }
static void signed_fitness(void) { reshape("/summary/fitness", H5T_STD_I64LE, SCORES + 1, 0); }
static void flat_fitness(void) { reshape("/summary/fitness", H5T_STD_U64LE, SCORES + 1, 1); }
static void long_fitness(void) { reshape("/summary/fitness", H5T_STD_U64LE, 1000, 0); }
static void empty_fitness(void) { reshape("/summary/fitness", H5T_STD_U64LE, SCORES + 1, 0); }
static void soft_link(void) { link_softly("/summary/best_score"); }
static void external_link(void) { link_to_file("/summary/best_score"); }
static void a_group(void) { become_group("/summary/best_score"); }
static void outside(void) { lie_outside("/summary/best_score", H5T_STD_U64LE, SCORES); }
static void short_each(void) { reshape("/sequences/fitness", H5T_STD_U8LE, N - 1, 0); }
static void empty_each(void) { reshape("/sequences/fitness", H5T_STD_U8LE, N, 0); }
static void no_histogram(void) { remove_object("/shapes/histogram"); }
static void flat_histogram(void) { reshape("/shapes/histogram", H5T_STD_U64LE, 2 * SCORES, 0); }
static void numbers_for_letters(void) { reshape("/shapes/letters", H5T_STD_U8LE, 2, 0); }

static void test_strange_values(void)
{
    static const struct {
        const char *what;
        void (*change)(void);
        int code;
        const char *part;
    } cases[] = {
        {"lose_title", lose_title, SF_EINPUT, "is not a census"},
        {"be_a_table", be_a_table, SF_EINPUT, "is not a census"},
        {"next_version", next_version, SF_EFORMAT, "has schema version 2; this starfold"},
        {"short_chain", short_chain, SF_EFORMAT, "/census/length: is out of its range"},
        {"long_chain", long_chain, SF_EFORMAT, "/census/length: is out of its range"},
        {"other_chain", other_chain, SF_EFORMAT, "/census/sequences: does not fit length and letters"},
        {"no_length", no_length, SF_EFORMAT, "/census/length: the dataset is missing"},
        {"wide_length", wide_length, SF_EFORMAT, "/census/length: is not a single value"},
        {"no_scores", no_scores, SF_EFORMAT, "/census/n_scores: is out of its range"},
        {"many_scores", many_scores, SF_EFORMAT, "/census/n_scores: is out of its range"},
        {"more_scores", more_scores, SF_EFORMAT, "has another size than"},
        {"one_letter", one_letter, SF_EFORMAT, "/census/letters: has fewer than two letters"},
        {"odd_lattice", odd_lattice, SF_EFORMAT, "/census/lattice: has characters that are not text"},
        {"long_lattice", long_lattice, SF_EFORMAT, "/census/lattice: is not a text of fixed length, or too long"},
        {"vast", vast, SF_EFORMAT, "/census/sequences: does not fit length and letters"},
        {"wrapping_sequences", wrapping_sequences, SF_EFORMAT, "/census/"},
        {"many_shapes", many_shapes, SF_EFORMAT, "/census/shapes: is more than there are sequences"},
        {"more_shapes", more_shapes, SF_EFORMAT, "has another size than"},
        {"wrapping_counts", wrapping_counts, SF_EFORMAT, "/summary/fitness: does not add up to the sequences"},
        {"no_fitness", no_fitness, SF_EFORMAT, "/summary/fitness: the dataset is missing, or is a link to elsewhere"},
        {"signed_fitness", signed_fitness, SF_EFORMAT, "/summary/fitness: has another type than it should"},
        {"flat_fitness", flat_fitness, SF_EFORMAT, "/summary/fitness: has another rank than it should"},
        {"long_fitness", long_fitness, SF_EFORMAT, "/summary/fitness: has another size than"},
        {"empty_fitness", empty_fitness, SF_EFORMAT, "/summary/fitness: claims more values than its bytes can hold"},
        {"soft_link", soft_link, SF_EFORMAT, "/summary/best_score: the dataset is missing, or is a link to elsewhere"},
        {"external_link", external_link, SF_EFORMAT, "/summary/best_score: the dataset is missing, or is a link"},
        {"a_group", a_group, SF_EFORMAT, "/summary/best_score: is not a dataset"},
        {"outside", outside, SF_EFORMAT, "/summary/best_score: lies outside the file"},
        {"short_each", short_each, SF_EFORMAT, "/sequences/fitness: has another size than"},
        {"empty_each", empty_each, SF_EFORMAT, "/sequences/fitness: claims more values than its bytes can hold"},
        {"no_histogram", no_histogram, SF_EFORMAT, "/shapes/histogram: the dataset is missing"},
        {"flat_histogram", flat_histogram, SF_EFORMAT, "/shapes/histogram: has another rank than it should"},
        {"numbers_for_letters", numbers_for_letters, SF_EFORMAT, "/shapes/letters: has another type than it should"},
    };
    size_t n;
    const char *path = made("a.h5", true);
    uint8_t *bytes = sample_bytes(path, &n);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        write_changed(path, bytes, n, cases[k].change);
        expect(path, cases[k].what, cases[k].code, cases[k].part);
    }
    free(bytes);
}

const test_case test_cases[] = {
    {"written twice the same, and read back", test_round_trip},
    {"the arrays as other programs read them", test_arrays},
    {"cut, flipped, without a seal, missing", test_damaged},
    {"flipped and sealed", test_flipped_and_sealed},
    {"whole, but not what it says", test_wrong_values},
    {"strange values", test_strange_values},
    {NULL, NULL},
};

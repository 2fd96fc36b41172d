/* The file of an enumeration and its checkpoint: written and read back, cut, flipped, and with strange values in good
 * HDF5, each with its status and the line it must give. */
#include "io/enumeration_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "edit_h5.h"
#include "io/digest.h"
#include "io/file_kind.h"

enum { LENGTH = 4, ASKED = 3, N = 2, SCORES = 3, PARTS = 11 };

static char asked[] = "HHPPPPHHPPPP", letters[] = "PPHHPPPP";
static int64_t row[ASKED] = {0, 0, 1};
static uint64_t histogram[N * SCORES] = {3, 2, 0, 5, 0, 0};
static uint8_t done[PARTS / 8 + 1] = {0xff, 0x05};

static sf_enumeration sample(bool unfinished)
{
    return (sf_enumeration){.lattice = "square",
                            .score_model = "hp",
                            .length = LENGTH,
                            .n_scores = SCORES,
                            .n_asked = ASKED,
                            .asked = asked,
                            .row = row,
                            .n = N,
                            .letters = letters,
                            .histogram = histogram,
                            .unfinished = unfinished,
                            .engine = "walk",
                            .block = 2,
                            .parts_per_block = PARTS,
                            .n_parts = PARTS,
                            .done = done};
}

/* A file, and its bytes, which the caller frees. */
static uint8_t *make(const char *path, bool unfinished, size_t *n)
{
    const sf_enumeration e = sample(unfinished);
    sf_error err = {0};
    CU_ASSERT_EQUAL_FATAL(sf_enumeration_write(path, &e, &err), 0);
    return sample_bytes(path, n);
}

static void test_round_trip(void)
{
    const char *path = sample_path("a.h5"), *other = sample_path("b.h5");
    for (int unfinished = 0; unfinished < 2; unfinished++) {
        const sf_enumeration e = sample(unfinished);
        sf_enumeration back;
        sf_error err = {0};
        size_t n;
        free(make(path, unfinished, &n));
        free(make(other, unfinished, &n));
        CU_ASSERT_TRUE(sample_same_bytes(path, other));
        CU_ASSERT_EQUAL(sf_file_kind_of(path), SF_FILE_ENUMERATION);
        CU_ASSERT_EQUAL_FATAL(sf_enumeration_read(path, &back, &err), 0);
        CU_ASSERT_PTR_NULL(sf_enumeration_difference(&e, &back));
        back.length++; /* shows in the range of scores, too */
        back.n_scores++;
        CU_ASSERT_STRING_EQUAL(sf_enumeration_difference(&e, &back), "length");
        back.length--;
        CU_ASSERT_STRING_EQUAL(sf_enumeration_difference(&e, &back), "score model");
        back.n_scores--;
        CU_ASSERT_EQUAL(memcmp(back.histogram, histogram, sizeof histogram), 0);
        CU_ASSERT_EQUAL(back.unfinished, unfinished);
        CU_ASSERT_TRUE(!unfinished || (back.n_parts == PARTS && memcmp(back.done, done, sizeof done) == 0));
        sf_enumeration_free(&back);
    }
}

static int read_any(const char *path, sf_error *err)
{
    sf_enumeration e;
    int code = sf_enumeration_read(path, &e, err);
    CU_ASSERT_TRUE(code == 0 || (!e.asked && !e.letters && !e.row && !e.histogram && !e.done));
    sf_enumeration_free(&e);
    return code;
}

static void expect(const char *path, const char *what, int code, const char *part)
{
    sf_error err = {0};
    int got = read_any(path, &err);
    bool as_expected =
        got == code && (code == 0 || (strstr(err.text, part) && strstr(err.text, path) == err.text && !strchr(err.text, '\n')));
    if (!as_expected)
        printf("\n  %s: expected %d ... %s ..., got %d: %s\n", what, code, part, got, err.text);
    CU_ASSERT_TRUE(as_expected);
}

static void test_damaged(void)
{
    size_t n;
    const char *path = sample_path("damaged.h5");
    uint8_t *bytes = make(path, true, &n);
    for (size_t k = 8; k < n; k += n / 97 + 1) {
        bytes[k] ^= 0x10;
        write_bytes(path, bytes, n);
        bytes[k] ^= 0x10;
        expect(path, "flipped", SF_EFORMAT, k + SEAL_SIZE < n ? "do not fit its seal" : "");
        CU_ASSERT_EQUAL(sf_file_kind_of(path), SF_FILE_UNKNOWN);
    }
    for (size_t k = 0; k < n; k += n / 13 + 1) {
        write_bytes(path, bytes, k);
        expect(path, "cut", SF_EFORMAT, k < 8 ? "is not an HDF5 file" : "has no seal at its end");
    }
    write_bytes(path, bytes, n - SEAL_SIZE);
    expect(path, "no seal", SF_EFORMAT, "has no seal at its end: it was cut, changed, or is not an enumeration");
    write_bytes(path, (const uint8_t *)"a text, and no more than that", 20);
    expect(path, "a text", SF_EFORMAT, "is not an HDF5 file");
    unlink(path);
    expect(path, "missing", SF_EINPUT, "cannot be opened");
    CU_ASSERT_EQUAL(mkdir(path, 0777), 0);
    expect(path, "a folder", SF_EINPUT, "is not a regular file");
    rmdir(path);
    free(bytes);
}

static void test_flipped_and_sealed(void)
{
    size_t n;
    const char *path = sample_path("flip.h5");
    uint8_t *bytes = make(path, true, &n);
    flip_and_seal(path, bytes, n, read_any);
    free(bytes);
}

/* ---- strange values in good HDF5 ---- */

/* Texts are attributes of groups. */
static void set_option(const char *group, const char *name, const char *text)
{
    const hid_t whole = edited;
    edited = H5Gopen2(whole, group, H5P_DEFAULT);
    set_attribute(name, text);
    H5Gclose(edited);
    edited = whole;
}

static void lose_title(void) { H5Adelete(edited, "title"); }
static void be_a_run(void) { set_attribute("title", "Starfold run"); }
static void long_title(void) { set_attribute("title", "Starfold enumeration of more things than there is room to name here"); }
static void text_schema(void) { set_attribute("schema", "1"); }
static void no_state(void) { H5Adelete(edited, "state"); }
static void odd_state(void) { set_attribute("state", "asleep"); }
static void no_config(void) { remove_object("/config"); }
static void config_elsewhere(void) { link_softly("/config"); }
static void config_of_file(void) { link_to_file("/config"); }
static void odd_lattice(void) { set_option("/config", "lattice", "\033[2J"); }
static void long_lattice(void) { set_option("/config", "lattice", "a lattice with too long a name"); }
static void short_chain(void) { set_option("/config", "length", "2"); }
static void long_chain(void) { set_option("/config", "length", "65"); }
static void word_chain(void) { set_option("/config", "length", "four"); }
static void more_chain(void) { set_option("/config", "length", "4 5"); }
static void huge_chain(void) { set_option("/config", "length", "99999999999999999999"); }
static void other_chain(void) { set_option("/config", "length", "5"); }
static void no_scores(void) { set_option("/config", "scores", "0"); }
static void many_scores(void) { set_option("/config", "scores", "513"); }
static void more_scores(void) { set_option("/config", "scores", "4"); }
static void far_score(void) { set_option("/config", "min-score", "-1000001"); }
static void negative_limit(void) { set_option("/config", "node-limit", "-1"); }
static void vast_asked(void) { set_option("/config", "asked", "268435457"); }
static void many_asked(void) { set_option("/config", "asked", "268435456"); }
static void no_sequences(void) { set_option("/config", "sequences", "0"); }
static void more_sequences(void) { set_option("/config", "sequences", "3"); }
static void vast_parts(void) { set_option("/progress", "parts", "1099511627777"); }
static void many_parts(void) { set_option("/progress", "parts", "1099511627776"); }
static void negative_parts(void) { set_option("/progress", "parts", "-11"); }
static void no_block(void) { set_option("/progress", "block", "0"); }
static void no_progress(void) { remove_object("/progress"); }
static void no_done(void) { remove_object("/progress/done"); }
static void wide_done(void) { reshape("/progress/done", H5T_STD_U16LE, PARTS / 8 + 1, 0); }
static void no_letters(void) { remove_object("/sequences/letters"); }
static void numbers_for_letters(void) { reshape("/sequences/letters", H5T_STD_U32LE, N, 0); }
static void text_of_any_length(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    reshape("/asked/letters", type, ASKED, 0);
    H5Tclose(type);
}
static void signed_histogram(void) { reshape("/sequences/histogram", H5T_STD_I64LE, N, SCORES); }
static void flat_histogram(void) { reshape("/sequences/histogram", H5T_STD_U64LE, N * SCORES, 0); }
static void empty_histogram(void) { reshape("/sequences/histogram", H5T_STD_U64LE, N, SCORES); }
static void histogram_elsewhere(void) { link_softly("/sequences/histogram"); }
static void histogram_of_file(void) { link_to_file("/sequences/histogram"); }
static void a_group(void) { become_group("/sequences/histogram"); }
static void rows_outside(void) { lie_outside("/asked/sequence", H5T_STD_I64LE, ASKED); }

static void set_rows(int64_t last)
{
    const int64_t rows[ASKED] = {0, 0, last};
    hid_t dataset = H5Dopen2(edited, "/asked/sequence", H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows);
    H5Dclose(dataset);
}

static void row_beyond(void) { set_rows(N); }
static void row_before(void) { set_rows(-1); }
static void row_far(void) { set_rows(INT64_MIN); }

static void test_strange_values(void)
{
    static const struct {
        const char *what;
        void (*change)(void);
        const char *part;
    } cases[] = {
        {"lose_title", lose_title, "is not an enumeration of starfold"},
        {"be_a_run", be_a_run, "is not an enumeration of starfold"},
        {"long_title", long_title, "is not an enumeration of starfold"},
        {"text_schema", text_schema, "schema: the attribute is not a 32-bit integer"},
        {"no_state", no_state, "state: the attribute"},
        {"odd_state", odd_state, "state: is neither running nor finished"},
        {"no_config", no_config, "/config: is missing, or is a link to elsewhere"},
        {"config_elsewhere", config_elsewhere, "/config: is missing, or is a link to elsewhere"},
        {"config_of_file", config_of_file, "/config: is missing, or is a link to elsewhere"},
        {"odd_lattice", odd_lattice, "lattice: the attribute has characters that are not text"},
        {"long_lattice", long_lattice, "lattice: the attribute is too long"},
        {"short_chain", short_chain, "length: is out of its range"},
        {"long_chain", long_chain, "length: is out of its range"},
        {"word_chain", word_chain, "length: is out of its range"},
        {"more_chain", more_chain, "length: is out of its range"},
        {"huge_chain", huge_chain, "length: is out of its range"},
        {"other_chain", other_chain, "/asked/letters: has another type than it should"},
        {"no_scores", no_scores, "scores: is out of its range"},
        {"many_scores", many_scores, "scores: is out of its range"},
        {"more_scores", more_scores, "/sequences/histogram: has another size than"},
        {"far_score", far_score, "min-score: is out of its range"},
        {"negative_limit", negative_limit, "node-limit: is out of its range"},
        {"vast_asked", vast_asked, "asked: is out of its range"},
        {"many_asked", many_asked, "/asked/letters: has another size than"},
        {"no_sequences", no_sequences, "sequences: is out of its range"},
        {"more_sequences", more_sequences, "/sequences/letters: has another size than"},
        {"vast_parts", vast_parts, "parts: is out of its range"},
        {"many_parts", many_parts, "/progress/done: has another size than"},
        {"negative_parts", negative_parts, "parts: is out of its range"},
        {"no_block", no_block, "block: is out of its range"},
        {"no_progress", no_progress, "/progress: is missing, or is a link to elsewhere"},
        {"no_done", no_done, "/progress/done: the dataset is missing"},
        {"wide_done", wide_done, "/progress/done: has another type than it should"},
        {"no_letters", no_letters, "/sequences/letters: the dataset is missing"},
        {"numbers_for_letters", numbers_for_letters, "/sequences/letters: has another type than it should"},
        {"text_of_any_length", text_of_any_length, "/asked/letters: has another type than it should"},
        {"signed_histogram", signed_histogram, "/sequences/histogram: has another type than it should"},
        {"flat_histogram", flat_histogram, "/sequences/histogram: has another rank than it should"},
        {"empty_histogram", empty_histogram, "/sequences/histogram: claims more values than its bytes can hold"},
        {"histogram_elsewhere", histogram_elsewhere, "/sequences/histogram: the dataset is missing, or is a link"},
        {"histogram_of_file", histogram_of_file, "/sequences/histogram: the dataset is missing, or is a link"},
        {"a_group", a_group, "/sequences/histogram: is not a dataset"},
        {"rows_outside", rows_outside, "/asked/sequence: lies outside the file"},
        {"row_beyond", row_beyond, "/asked/sequence: is out of its range"},
        {"row_before", row_before, "/asked/sequence: is out of its range"},
        {"row_far", row_far, "/asked/sequence: is out of its range"},
    };
    size_t n;
    const char *path = sample_path("values.h5");
    uint8_t *bytes = make(path, true, &n);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        write_changed(path, bytes, n, cases[k].change);
        expect(path, cases[k].what, SF_EFORMAT, cases[k].part);
    }
    write_bytes(path, bytes, n);
    expect(path, "good", 0, "");
    free(bytes);
}

const test_case test_cases[] = {
    {"round trip", test_round_trip},
    {"damaged", test_damaged},
    {"flipped and sealed", test_flipped_and_sealed},
    {"strange values", test_strange_values},
    {NULL, NULL},
};

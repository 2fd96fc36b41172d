/* Table files: written and read back, and damaged or hostile ones, each with its status and the line it must give. The
 * damaged ones are sealed again where it is not the seal that is tested: our own checks must hold without it. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "edit_h5.h"
#include "io/digest.h"
#include "io/table_file.h"

static sf_map_table build(const char *lattice, int length)
{
    sf_map_table maps;
    const sf_map_options options = {1, 0, NULL};
    if (sf_map_table_build(&maps, sf_lattice_find(lattice), length, &options, NULL) != 0)
        CU_FAIL_FATAL("no table");
    return maps;
}

static int write_table(const char *path, const sf_map_table *maps, sf_error *err)
{
    static uint8_t bytes[SF_TABLE_PACKED_MAX];
    sf_table_packer *packer = NULL;
    sf_table_writer *writer = NULL;
    size_t n;
    int code = sf_table_packer_open(&packer, maps, err);
    if (!code)
        code = sf_table_writer_open(&writer, path, maps, "HP", err);
    for (size_t k = 0; k < sf_table_file_chunks(maps) && !code; k++) {
        code = sf_table_packer_pack(packer, k, bytes, &n, err);
        if (!code)
            code = sf_table_writer_put(writer, bytes, n, err);
    }
    if (!code)
        code = sf_table_writer_commit(writer, err);
    sf_table_writer_close(writer);
    sf_table_packer_close(packer);
    return code;
}

static sf_problem problem_of(const char *lattice, const char *model, int length)
{
    sf_problem problem;
    CU_ASSERT_EQUAL_FATAL(
        sf_problem_init(&problem, sf_lattice_find(lattice), sf_score_model_find(model), length, NULL), 0);
    return problem;
}

static bool same(const sf_map_table *a, const sf_map_table *b)
{
    return a->lattice == b->lattice && a->layout.length == b->layout.length && a->n_maps == b->n_maps &&
           a->conformations == b->conformations && a->max_contacts == b->max_contacts && !a->high == !b->high &&
           memcmp(a->low, b->low, a->n_maps * sizeof *a->low) == 0 &&
           (!a->high || memcmp(a->high, b->high, a->n_maps * sizeof *a->high) == 0) &&
           memcmp(a->count, b->count, a->n_maps * sizeof *a->count) == 0;
}

/* ---- good files ---- */

static void round_trip(const char *lattice, int length)
{
    const char *path = sample_path("table.h5");
    sf_map_table maps = build(lattice, length), back;
    sf_table_about about;
    sf_error err = {0};
    const sf_problem problem = problem_of(lattice, "hp", length);
    CU_ASSERT_EQUAL_FATAL(write_table(path, &maps, &err), 0);
    CU_ASSERT_EQUAL_FATAL(sf_table_file_read(&back, &about, path, &problem, &err), 0);
    CU_ASSERT_TRUE(same(&maps, &back));
    CU_ASSERT_STRING_EQUAL(about.lattice, lattice);
    CU_ASSERT_STRING_EQUAL(about.letters, "HP");
    CU_ASSERT_STRING_EQUAL(about.program, "starfold");
    CU_ASSERT_EQUAL(about.length, length);
    CU_ASSERT_EQUAL(about.n_maps, maps.n_maps);
    struct stat info;
    CU_ASSERT_EQUAL(stat(path, &info), 0);
    CU_ASSERT_EQUAL(about.file_bytes, (uint64_t)info.st_size);
    sf_map_table_free(&back);
    sf_map_table_free(&maps);
    unlink(path);
}

static void test_round_trip(void)
{
    for (int length = 3; length <= 16; length++) /* up to 31,940 maps: just below a chunk */
        round_trip("square", length);
    for (int length = 3; length <= 12; length++)
        round_trip("cubic", length);
    round_trip("square", 17); /* three chunks, the last one in part */
    round_trip("square", 19); /* maps of two words */
}

/* HDF5 itself, without our reader, finds the values under their names, packed and summed. */
static void test_plain_hdf5(void)
{
    const char *path = sample_path("plain.h5");
    sf_map_table maps = build("square", 14);
    sf_error err = {0};
    CU_ASSERT_EQUAL_FATAL(write_table(path, &maps, &err), 0);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), dataset = H5Dopen2(file, "/maps/low", H5P_DEFAULT);
    hid_t creation = H5Dget_create_plist(dataset);
    uint64_t *low = calloc(maps.n_maps, sizeof *low);
    CU_ASSERT_TRUE(H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, low) >= 0);
    CU_ASSERT_EQUAL(memcmp(low, maps.low, maps.n_maps * sizeof *low), 0);
    CU_ASSERT_EQUAL(H5Pget_nfilters(creation), 3);
    CU_ASSERT_EQUAL(H5Pget_layout(creation), H5D_CHUNKED);
    CU_ASSERT_TRUE(H5Aexists(dataset, "units") > 0 && H5Aexists(dataset, "description") > 0);
    free(low);
    H5Pclose(creation);
    H5Dclose(dataset);
    H5Fclose(file);
    sf_map_table_free(&maps);
}

static void test_same_bytes(void)
{
    const char *path = sample_path("one.h5"), *other = sample_path("two.h5");
    char hex[2][SF_DIGEST_SIZE];
    size_t n[2];
    sf_map_table maps = build("square", 16);
    sf_error err = {0};
    CU_ASSERT_EQUAL_FATAL(write_table(path, &maps, &err), 0);
    CU_ASSERT_EQUAL_FATAL(write_table(other, &maps, &err), 0);
    CU_ASSERT_EQUAL_FATAL(write_table(other, &maps, &err), 0); /* replaced */
    uint8_t *a = sample_bytes(path, &n[0]), *b = sample_bytes(other, &n[1]);
    CU_ASSERT_TRUE(n[0] == n[1] && memcmp(a, b, n[0]) == 0);
    CU_ASSERT_EQUAL(sf_digest_file(path, hex[0], &err), 0);
    CU_ASSERT_EQUAL(sf_digest_file(other, hex[1], &err), 0);
    CU_ASSERT_STRING_EQUAL(hex[0], hex[1]);
    free(a);
    free(b);
    sf_map_table_free(&maps);
}

/* What is not committed leaves nothing, and the file that was there stays. */
static void test_given_up(void)
{
    const char *path = sample_path("given_up.h5");
    char aside[4096];
    sf_map_table maps = build("square", 10);
    sf_table_writer *writer;
    sf_error err = {0};
    snprintf(aside, sizeof aside, "%s.tmp", path);
    CU_ASSERT_EQUAL_FATAL(sf_table_writer_open(&writer, path, &maps, "HP", &err), 0);
    CU_ASSERT_EQUAL(access(aside, F_OK), 0);
    sf_table_writer_close(writer);
    CU_ASSERT_TRUE(access(aside, F_OK) != 0 && access(path, F_OK) != 0);
    CU_ASSERT_EQUAL_FATAL(write_table(path, &maps, &err), 0);
    CU_ASSERT_EQUAL_FATAL(sf_table_writer_open(&writer, path, &maps, "HP", &err), 0);
    sf_table_writer_close(writer);
    CU_ASSERT_TRUE(access(aside, F_OK) != 0 && access(path, F_OK) == 0);
    CU_ASSERT_EQUAL(sf_table_writer_open(&writer, "/nowhere/t.h5", &maps, "HP", &err), SF_EIO);
    CU_ASSERT_PTR_NULL(writer);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/nowhere"));
    sf_map_table_free(&maps);
}

/* ---- damaged bytes ---- */

static uint8_t *good;
static size_t n_good;

static void make_good(const char *path, const char *lattice, int length)
{
    sf_map_table maps = build(lattice, length);
    sf_error err = {0};
    CU_ASSERT_EQUAL_FATAL(write_table(path, &maps, &err), 0);
    sf_map_table_free(&maps);
    free(good);
    good = sample_bytes(path, &n_good);
}

static void expect_of(const char *path, const sf_problem *problem, const char *what, int code, const char *part)
{
    sf_map_table maps;
    sf_error err = {0};
    int got = sf_table_file_read(&maps, NULL, path, problem, &err);
    bool as_expected = got == code && (code == 0 || (strstr(err.text, part) && strstr(err.text, path) == err.text &&
                                                     !strchr(err.text, '\n') && !maps.low && maps.n_maps == 0));
    if (!as_expected)
        printf("\n  %s: expected %d ... %s ..., got %d: %s\n", what, code, part, got, err.text);
    CU_ASSERT_TRUE(as_expected);
    sf_map_table_free(&maps);
}

static void expect(const char *path, const char *what, int code, const char *part)
{
    expect_of(path, NULL, what, code, part);
}

static void test_cut(void)
{
    const char *path = sample_path("cut.h5");
    make_good(path, "square", 12);
    const struct {
        size_t n;
        const char *part;
    } cut[] = {{0, "is not an HDF5 file (it is empty)"},
               {1, "is not an HDF5 file"},
               {7, "is not an HDF5 file"},
               {8, "has no seal"},
               {96, "has no seal"},
               {n_good / 4, "has no seal"},
               {n_good / 2, "has no seal"},
               {n_good - 4096, "has no seal"},
               {n_good - SEAL_SIZE, "has no seal"},
               {n_good - 1, "has no seal"}};
    for (size_t k = 0; k < sizeof cut / sizeof cut[0]; k++) {
        write_bytes(path, good, cut[k].n);
        expect(path, "cut", SF_EFORMAT, cut[k].part);
    }
    unlink(path);
    expect(path, "missing", SF_EINPUT, "cannot be opened: No such file");
    CU_ASSERT_EQUAL(mkdir(path, 0777), 0);
    expect(path, "a folder", SF_EINPUT, "is not a regular file");
    rmdir(path);
}

static void test_flipped(void)
{
    const char *path = sample_path("flip.h5");
    uint64_t random = test_seed();
    make_good(path, "square", 12);
    for (int k = 0; k < 300; k++) {
        size_t at = 8 + test_random(&random) % (n_good - 8 - SEAL_SIZE);
        if (k < 32)
            at = n_good - 32 + (size_t)k; /* the hash itself */
        uint8_t was = good[at];
        good[at] ^= (uint8_t)(1u << (test_random(&random) % 8));
        write_bytes(path, good, n_good);
        expect(path, "flip", SF_EFORMAT, "do not fit its seal");
        good[at] = was;
    }
}

static int read_any(const char *path, sf_error *err)
{
    sf_map_table maps;
    int code = sf_table_file_read(&maps, NULL, path, NULL, err);
    sf_map_table_free(&maps);
    return code;
}

static void test_flipped_and_sealed(void)
{
    const char *path = sample_path("flip.h5");
    make_good(path, "square", 10);
    flip_and_seal(path, good, n_good, read_any);
}

/* ---- strange values in good HDF5 ---- */

/* One value of an array. */
static void set_value(const char *name, hsize_t at, uint64_t value)
{
    hsize_t one = 1;
    hid_t dataset = H5Dopen2(edited, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    hid_t memory = H5Screate_simple(1, &one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
    H5Dwrite(dataset, H5T_NATIVE_UINT64, memory, space, H5P_DEFAULT, &value);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
}

enum { N_MAPS = 1113 }; /* square, 12 residues */

static void lose_title(void) { H5Adelete(edited, "title"); }
static void be_a_run(void) { set_attribute("title", "Starfold run"); }
static void other_title(void) { set_attribute("title", "Nothing"); }
static void next_version(void) { set_number("/provenance/schema", 2); }
static void old_version(void) { set_number("/provenance/schema", 0); }
static void no_lattice(void) { set_text("/table/lattice", "hexagonal"); }
static void cubic(void) { set_text("/table/lattice", "cubic"); }
static void long_lattice(void) { set_text("/table/lattice", "a lattice with too long a name"); }
static void short_chain(void) { set_number("/table/length", 2); }
static void long_chain(void) { set_number("/table/length", 25); }
static void negative_chain(void) { set_number("/table/length", -12); }
static void next_chain(void) { set_number("/table/length", 13); }
static void soft_link(void) { link_softly("/maps/low"); }
static void external_link(void) { link_to_file("/maps/low"); }
static void a_group(void) { become_group("/maps/low"); }
static void signed_maps(void) { reshape("/maps/low", H5T_STD_I64LE, N_MAPS, 0); }
static void wide_counts(void) { reshape("/maps/count", H5T_STD_U64LE, N_MAPS, 0); }
static void fewer_maps(void) { reshape("/maps/low", H5T_STD_U64LE, N_MAPS - 1, 0); }
static void flat_maps(void) { reshape("/maps/low", H5T_STD_U64LE, N_MAPS, 1); }
static void empty_maps(void) { reshape("/maps/low", H5T_STD_U64LE, N_MAPS, 0); }
static void outside(void) { lie_outside("/maps/low", H5T_STD_U64LE, N_MAPS); }
static void one_letter(void) { set_text("/table/letters", "H"); }
static void odd_letters(void) { set_text("/table/letters", "H\033"); }
static void more_maps(void) { set_number("/table/maps", N_MAPS + 1); }
static void vast_maps(void) { set_number("/table/maps", INT64_C(1) << 60); }
static void more_conformations(void) { set_number("/table/conformations", 15038); }
static void more_contacts(void) { set_number("/table/max_contacts", 7); }
static void no_low(void) { H5Ldelete(edited, "/maps/low", H5P_DEFAULT); }
static void no_count(void) { H5Ldelete(edited, "/maps/count", H5P_DEFAULT); }
static void no_length(void) { H5Ldelete(edited, "/table/length", H5P_DEFAULT); }
static void no_pairs(void) { H5Ldelete(edited, "/layout/pairs", H5P_DEFAULT); }
static void same_map(void) { set_value("/maps/low", 5, 0); }
static void far_bit(void) { set_value("/maps/low", N_MAPS - 1, UINT64_C(1) << 63); }
static void no_fold(void) { set_value("/maps/count", 7, 0); }
static void one_fold(void) { set_value("/maps/count", 7, 123456); }
static void other_folds(void) { set_value("/maps/count", 0, UINT32_MAX); }

static void other_filter(void)
{
    const hsize_t size = N_MAPS, chunk = 64;
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_scaleoffset(creation, H5Z_SO_INT, 0);
    put("/maps/low", H5T_STD_U64LE, 1, &size, creation);
    H5Pclose(creation);
}

static void vast_chunks(void)
{
    const hsize_t size = N_MAPS, chunk = UINT32_C(1) << 28;
    const hsize_t limit = H5S_UNLIMITED;
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &size, &limit);
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_deflate(creation, 1);
    H5Ldelete(edited, "/maps/low", H5P_DEFAULT);
    H5Dclose(H5Dcreate2(edited, "/maps/low", H5T_STD_U64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(creation);
}

static void other_pairs(void)
{
    uint8_t pairs[25][2] = {{0}};
    hid_t dataset = H5Dopen2(edited, "/layout/pairs", H5P_DEFAULT);
    CU_ASSERT_TRUE(H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, pairs) >= 0);
    pairs[3][0] ^= 2;
    H5Dwrite(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, pairs);
    H5Dclose(dataset);
}

static void test_values(void)
{
    static const struct {
        const char *what;
        void (*change)(void);
        int code;
        const char *part;
    } cases[] = {
        {"lose_title", lose_title, SF_EINPUT, "is not a table of contact maps"},
        {"be_a_run", be_a_run, SF_EINPUT, "is not a table of contact maps but a run file"},
        {"other_title", other_title, SF_EINPUT, "is not a table of contact maps"},
        {"next_version", next_version, SF_EFORMAT, "has schema version 2; this starfold"},
        {"old_version", old_version, SF_EFORMAT, "has schema version 0; this starfold"},
        {"no_lattice", no_lattice, SF_EFORMAT, "/table/lattice: names a lattice that this program does not know"},
        {"cubic", cubic, SF_EFORMAT, "/table/maps: is 1113; 12 residues on the cubic lattice have 8738"},
        {"long_lattice", long_lattice, SF_EFORMAT, "/table/lattice: is not a text of fixed length, or too long"},
        {"short_chain", short_chain, SF_EFORMAT, "/table/length: is out of its range"},
        {"long_chain", long_chain, SF_EFORMAT, "/table/length: is out of its range"},
        {"negative_chain", negative_chain, SF_EFORMAT, "/table/length: is out of its range"},
        {"next_chain", next_chain, SF_EFORMAT, "/table/maps: is 1113; 13 residues on the square lattice have 2309"},
        {"one_letter", one_letter, SF_EFORMAT, "/table/letters: has fewer than two letters"},
        {"odd_letters", odd_letters, SF_EFORMAT, "/table/letters: has characters that are not text"},
        {"more_maps", more_maps, SF_EFORMAT, "/table/maps: is 1114; 12 residues"},
        {"vast_maps", vast_maps, SF_EFORMAT, "/table/maps: is 1152921504606846976; 12 residues"},
        {"more_conformations", more_conformations, SF_EFORMAT, "says that it holds 15038 conformations; its maps hold 15037"},
        {"more_contacts", more_contacts, SF_EFORMAT, "the most contacts of a map are 6, not 7"},
        {"no_low", no_low, SF_EFORMAT, "/maps/low: the dataset is missing, or is a link to elsewhere"},
        {"no_count", no_count, SF_EFORMAT, "/maps/count: the dataset is missing"},
        {"no_length", no_length, SF_EFORMAT, "/table/length: the dataset is missing"},
        {"no_pairs", no_pairs, SF_EFORMAT, "/layout/pairs: the dataset is missing"},
        {"soft_link", soft_link, SF_EFORMAT, "/maps/low: the dataset is missing, or is a link to elsewhere"},
        {"external_link", external_link, SF_EFORMAT, "/maps/low: the dataset is missing, or is a link to elsewhere"},
        {"a_group", a_group, SF_EFORMAT, "/maps/low: is not a dataset"},
        {"signed_maps", signed_maps, SF_EFORMAT, "/maps/low: has another type than it should"},
        {"wide_counts", wide_counts, SF_EFORMAT, "/maps/count: has another type than it should"},
        {"fewer_maps", fewer_maps, SF_EFORMAT, "/maps/low: has another size than"},
        {"flat_maps", flat_maps, SF_EFORMAT, "/maps/low: has another rank than it should"},
        {"empty_maps", empty_maps, SF_EFORMAT, "/maps/low: claims more values than its bytes can hold"},
        {"outside", outside, SF_EFORMAT, "/maps/low: lies outside the file"},
        {"other_filter", other_filter, SF_EFORMAT, "/maps/low: has filters that are not ours"},
        {"vast_chunks", vast_chunks, SF_EFORMAT, "/maps/low: has chunks that are too large"},
        {"other_pairs", other_pairs, SF_EFORMAT, "/layout/pairs: gives the bits other residues"},
        {"same_map", same_map, SF_EFORMAT, "contact map 5 of 1113 is not above the one before it"},
        {"far_bit", far_bit, SF_EFORMAT, "a contact map has bits beyond the 25 of its length"},
        {"no_fold", no_fold, SF_EFORMAT, "contact map 7 of 1113 has no conformation"},
        {"one_fold", one_fold, SF_EFORMAT, "conformations; there are 15037"},
        {"other_folds", other_folds, SF_EFORMAT, "conformations; there are 15037"},
    };
    const char *path = sample_path("values.h5");
    make_good(path, "square", 12);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        write_changed(path, good, n_good, cases[k].change);
        expect(path, cases[k].what, cases[k].code, cases[k].part);
    }
    write_bytes(path, good, n_good);
    expect(path, "good", 0, "");
}

/* Good tables, of something else. */
static void test_of_something_else(void)
{
    static const struct {
        const char *lattice, *model;
        int length;
    } others[] = {{"square", "hp", 13}, {"cubic", "hp", 12}, {"square", "hpnx", 12}, {"square", "hp", 40}};
    const char *path = sample_path("other.h5");
    make_good(path, "square", 12);
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        const sf_problem problem = problem_of(others[k].lattice, others[k].model, others[k].length);
        expect_of(path, &problem, others[k].model, SF_EMISMATCH,
                  "holds the contact maps of 12 residues on the square lattice, letters HP; asked for are");
    }
    const sf_problem fitting = problem_of("square", "hp", 12);
    expect_of(path, &fitting, "fitting", 0, "");
}

const test_case test_cases[] = {
    {"round trip", test_round_trip},
    {"plain HDF5", test_plain_hdf5},
    {"same bytes", test_same_bytes},
    {"given up", test_given_up},
    {"cut", test_cut},
    {"flipped", test_flipped},
    {"flipped and sealed", test_flipped_and_sealed},
    {"strange values", test_values},
    {"of something else", test_of_something_else},
    {NULL, NULL},
};

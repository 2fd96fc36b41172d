/* BLAKE2b against published values; the digest of a file stays when only the layout changes, and goes when anything
 * else does. */
#include <hdf5.h>
#include <unistd.h>

#include "io/blake2b.h"
#include "io/digest.h"
#include "sample_run.h"

/* Hash of `n` bytes, byte i being i mod 251, taken in pieces of `step`. */
static void hash_pattern(size_t n, size_t step, char *hex)
{
    uint8_t bytes[1024], hash[32];
    sf_blake2b state;
    for (size_t k = 0; k < n; k++)
        bytes[k] = (uint8_t)(k % 251);
    sf_blake2b_init(&state, sizeof hash);
    for (size_t k = 0; k < n; k += step)
        sf_blake2b_add(&state, bytes + k, n - k < step ? n - k : step);
    sf_blake2b_end(&state, hash);
    for (size_t k = 0; k < sizeof hash; k++)
        sprintf(hex + 2 * k, "%02x", hash[k]);
}

static void test_blake2b(void)
{
    /* RFC 7693, appendix A. */
    static const uint8_t abc[64] = {0xba, 0x80, 0xa5, 0x3f, 0x98, 0x1c, 0x4d, 0x0d, 0x6a, 0x27, 0x97, 0xb6, 0x9f,
                                    0x12, 0xf6, 0xe9, 0x4c, 0x21, 0x2f, 0x14, 0x68, 0x5a, 0xc4, 0xb7, 0x4b, 0x12,
                                    0xbb, 0x6f, 0xdb, 0xff, 0xa2, 0xd1, 0x7d, 0x87, 0xc5, 0x39, 0x2a, 0xab, 0x79,
                                    0x2d, 0xc2, 0x52, 0xd5, 0xde, 0x45, 0x33, 0xcc, 0x95, 0x18, 0xd3, 0x8a, 0xa8,
                                    0xdb, 0xf1, 0x92, 0x5a, 0xb9, 0x23, 0x86, 0xed, 0xd4, 0x00, 0x99, 0x23};
    /* Made with coreutils' `b2sum -l 256`, lengths around the block of 128 bytes. */
    static const struct {
        size_t n;
        const char *hex;
    } known[] = {
        {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
        {1, "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314"},
        {127, "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72"},
        {128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"},
        {129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"},
        {255, "d9ef0fc521b4266d16df662bec231bc2ec3989e7adeaf63169c295dc239dbbea"},
        {256, "582f782226018ec33076bd8d1c42413530ac7e1126260ffc0f306ba3befc3f24"},
        {257, "227e15ed64ee8e93eb7bc53828f76eed974f2c4ab1408c3d08f212b7f8d69904"},
        {1000, "b372d0608f720c8c3dd41e9c8eecb10143b41abe520b616607e754bf79c08331"},
    };
    uint8_t hash[64];
    char hex[65];
    sf_blake2b state;
    sf_blake2b_init(&state, 64);
    sf_blake2b_add(&state, "abc", 3);
    sf_blake2b_end(&state, hash);
    CU_ASSERT_EQUAL(memcmp(hash, abc, 64), 0);
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        hash_pattern(known[k].n, 1024, hex);
        CU_ASSERT_STRING_EQUAL(hex, known[k].hex);
        hash_pattern(known[k].n, 1, hex);
        CU_ASSERT_STRING_EQUAL(hex, known[k].hex);
        hash_pattern(known[k].n, 100, hex);
        CU_ASSERT_STRING_EQUAL(hex, known[k].hex);
    }
}

static const char *digest_of(const char *path)
{
    static char hex[4][SF_DIGEST_SIZE];
    static int turn;
    char *answer = hex[turn++ % 4];
    sf_error err = {0};
    if (sf_digest_file(path, answer, &err) != 0)
        printf("\n  %s\n", err.text);
    CU_ASSERT_EQUAL(err.code, 0);
    return answer;
}

/* How a small file is made: `layout` must not change the digest, `content` must. */
typedef struct recipe {
    int layout, content;
} recipe;

enum { N_LAYOUTS = 6, N_CONTENTS = 13 };

static void put_text(hid_t object, const char *name, const char *text)
{
    hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, text);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
}

static void make_numbers(hid_t file, recipe r)
{
    int32_t value[3][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {-8, 9, 10, 11}};
    hsize_t size[2] = {3, 4}, limit[2] = {r.layout == 4 ? H5S_UNLIMITED : 3, 4}, chunk[2] = {2, 3};
    if (r.content == 1)
        value[2][3] = 12;
    if (r.content == 2)
        size[0] = limit[0] = 4, size[1] = limit[1] = 3;
    hid_t space = H5Screate_simple(2, size, limit), creation = H5Pcreate(H5P_DATASET_CREATE);
    if (r.layout >= 2)
        H5Pset_chunk(creation, 2, chunk);
    if (r.layout == 3)
        H5Pset_deflate(creation, 9);
    hid_t type = r.layout == 1 ? H5T_STD_I32BE : r.content == 3 ? H5T_STD_I64LE : H5T_STD_I32LE;
    if (r.content == 4)
        type = H5T_IEEE_F32LE;
    const char *name = r.content == 5 ? "/group/other" : "/group/numbers";
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
    put_text(set, "units", r.content == 6 ? "m" : "s");
    if (r.content == 7)
        put_text(set, "more", "");
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(space);
}

static void make_texts(hid_t file, recipe r)
{
    const char text[2][6] = {"HPHP", "PP"}, wide[2][10] = {"HPHP", "PP"}, other[2][6] = {"HPHP", "PPP"};
    const char *varied[2] = {"one", "two"};
    hsize_t size = 2;
    hid_t space = H5Screate_simple(1, &size, NULL), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, r.layout == 5 ? sizeof wide[0] : sizeof text[0]);
    hid_t set = H5Dcreate2(file, "/texts", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
             r.layout == 5    ? (const void *)wide
             : r.content == 8 ? other
                              : text);
    H5Tset_size(type, H5T_VARIABLE);
    if (r.content == 9)
        varied[1] = "three";
    hid_t attribute = H5Acreate2(set, "varied", type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, varied);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Dclose(set);
    H5Sclose(space);
}

static void make_file(const char *path, recipe r)
{
    unlink(path);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (r.layout == 1)
        make_texts(file, r); /* another order of writing */
    H5Gclose(H5Gcreate2(file, "/group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    make_numbers(file, r);
    if (r.layout != 1)
        make_texts(file, r);
    if (r.content == 10)
        H5Gclose(H5Gcreate2(file, "/group2", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (r.content == 11)
        H5Lcreate_soft("/texts", file, "/soft", H5P_DEFAULT, H5P_DEFAULT);
    if (r.content == 12)
        H5Lcreate_hard(file, "/texts", file, "/zwei", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
}

static void test_layout_and_content(void)
{
    const char *path = sample_path("small.h5");
    char plain[SF_DIGEST_SIZE], seen[N_CONTENTS][SF_DIGEST_SIZE];
    make_file(path, (recipe){0, 0});
    strcpy(plain, digest_of(path));
    CU_ASSERT_EQUAL(strlen(plain), 64);
    for (int layout = 1; layout < N_LAYOUTS; layout++) {
        make_file(path, (recipe){layout, 0});
        CU_ASSERT_STRING_EQUAL(digest_of(path), plain);
    }
    for (int content = 0; content < N_CONTENTS; content++) {
        make_file(path, (recipe){0, content});
        strcpy(seen[content], digest_of(path));
        for (int other = 0; other < content; other++)
            CU_ASSERT_STRING_NOT_EQUAL(seen[content], seen[other]);
    }
}

static void change_text(const char *path, const char *name, const char *text)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    CU_ASSERT_FATAL(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CU_ASSERT_FATAL(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
    put_text(set, "units", "");
    put_text(set, "description", "");
    H5Dclose(set);
    H5Tclose(type);
    H5Sclose(space);
    H5Fclose(file);
}

/* Of a run file everything counts but where it was built. */
static void test_run(void)
{
    sample_run run;
    sf_error err = {0};
    char before[SF_DIGEST_SIZE];
    const char *path = sample_path("run.h5"), *other = sample_path("other.h5");
    sample_init(&run, 2, 2, 5, true);
    sample_run_to(&run, 5);
    CU_ASSERT_EQUAL_FATAL(sf_run_file_write(path, &run.record, &run.meta, &err), 0);
    strcpy(before, digest_of(path));
    run.record.known.histogram[5]++;
    CU_ASSERT_EQUAL_FATAL(sf_run_file_write(other, &run.record, &run.meta, &err), 0);
    CU_ASSERT_STRING_NOT_EQUAL(digest_of(other), before);
    run.record.known.histogram[5]--;
    run.meta.state = "finished";
    CU_ASSERT_EQUAL_FATAL(sf_run_file_write(other, &run.record, &run.meta, &err), 0);
    CU_ASSERT_STRING_NOT_EQUAL(digest_of(other), before);
    change_text(path, "/provenance/revision", "another build");
    CU_ASSERT_STRING_EQUAL(digest_of(path), before);
    change_text(path, "/search/lattice", "triangular");
    CU_ASSERT_STRING_NOT_EQUAL(digest_of(path), before);
    sample_free(&run);
}

static void refused(const char *path, int code, const char *part)
{
    char hex[SF_DIGEST_SIZE];
    sf_error err = {0};
    CU_ASSERT_EQUAL(sf_digest_file(path, hex, &err), code);
    if (!strstr(err.text, part))
        printf("\n  %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, part));
}

static void test_refused(void)
{
    const char *path = sample_path("bad.h5");
    refused(path, SF_EINPUT, "No such file");
    fclose(fopen(path, "w"));
    refused(path, SF_EFORMAT, "not an HDF5 file (it is empty)");
    unlink(path);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hsize_t size = 2;
    hid_t type = H5Tcreate(H5T_COMPOUND, 4), space = H5Screate_simple(1, &size, NULL);
    H5Tinsert(type, "x", 0, H5T_NATIVE_INT32);
    H5Dclose(H5Dcreate2(file, "compound", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Tclose(type);
    H5Fclose(file);
    refused(path, SF_EFORMAT, "compound: has a type without canonical form");
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(creation, "/etc/passwd", 0, 8);
    H5Dclose(H5Dcreate2(file, "outside", H5T_NATIVE_INT32, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Pclose(creation);
    H5Sclose(space);
    H5Fclose(file);
    refused(path, SF_EFORMAT, "outside: lies outside the file");
}

const test_case test_cases[] = {
    {"BLAKE2b", test_blake2b},
    {"layout and content", test_layout_and_content},
    {"run file", test_run},
    {"refused", test_refused},
    {NULL, NULL},
};

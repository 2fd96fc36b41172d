/* Strange things written into good HDF5, for tests of what readers say of them: the bytes of a good file without its seal
 * are written, edited through HDF5, and sealed again. */
#ifndef SF_TESTS_IO_EDIT_H5_H
#define SF_TESTS_IO_EDIT_H5_H

#include <hdf5.h>

#include "io/seal.h"
#include "sample_run.h"

enum { SEAL_SIZE = 48 };

static inline void write_bytes(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static hid_t edited; /* the one that is edited */

static inline void set_attribute(const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, H5T_VARIABLE);
    if (H5Aexists(edited, name) > 0)
        H5Adelete(edited, name);
    hid_t attribute = H5Acreate2(edited, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, &text);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
}

static inline void set_text(const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Ldelete(edited, name, H5P_DEFAULT);
    hid_t dataset = H5Dcreate2(edited, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
}

static inline void set_number(const char *name, int64_t value)
{
    hid_t dataset = H5Dopen2(edited, name, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    H5Dclose(dataset);
}

static inline void put(const char *name, hid_t type, int rank, const hsize_t *size, hid_t creation)
{
    hid_t space = H5Screate_simple(rank, size, NULL);
    H5Ldelete(edited, name, H5P_DEFAULT);
    hid_t dataset = H5Dcreate2(edited, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    CU_ASSERT_TRUE(dataset >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
}

static inline void remove_object(const char *name)
{
    CU_ASSERT_TRUE(H5Ldelete(edited, name, H5P_DEFAULT) >= 0);
}

/* Another shape or type, without values. */
static inline void reshape(const char *name, hid_t type, hsize_t rows, hsize_t columns)
{
    const hsize_t size[2] = {rows, columns};
    put(name, type, columns ? 2 : 1, size, H5P_DEFAULT);
}

static inline void lie_outside(const char *name, hid_t type, hsize_t n)
{
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(creation, "/etc/passwd", 0, n * H5Tget_size(type));
    put(name, type, 1, &n, creation);
    H5Pclose(creation);
}

static inline void link_softly(const char *name)
{
    H5Lmove(edited, name, edited, "/elsewhere", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/elsewhere", edited, name, H5P_DEFAULT, H5P_DEFAULT);
}

static inline void link_to_file(const char *name)
{
    remove_object(name);
    H5Lcreate_external("/etc/passwd", "/x", edited, name, H5P_DEFAULT, H5P_DEFAULT);
}

static inline void become_group(const char *name)
{
    remove_object(name);
    H5Gclose(H5Gcreate2(edited, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

/* Writes the n good bytes, of which the last SEAL_SIZE are the seal, with one change. */
static inline void write_changed(const char *path, const uint8_t *good, size_t n, void (*change)(void))
{
    sf_error err = {0};
    write_bytes(path, good, n - SEAL_SIZE);
    edited = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    CU_ASSERT_TRUE_FATAL(edited >= 0);
    change();
    CU_ASSERT_TRUE(H5Fclose(edited) >= 0);
    CU_ASSERT_EQUAL(sf_seal_write(path, path, &err), 0);
}

/* Flips a bit, seals the file anew and reads it, many times: it is read, or refused with one line; nothing dies of it. */
static inline void flip_and_seal(const char *path, uint8_t *good, size_t n, int (*read)(const char *path, sf_error *err))
{
    enum { TIMES = 150 };
    uint64_t random = test_seed() + 1;
    int n_refused = 0;
    for (int k = 0; k < TIMES; k++) {
        sf_error err = {0};
        const size_t at = test_random(&random) % (n - SEAL_SIZE);
        const uint8_t was = good[at];
        good[at] ^= (uint8_t)(1u << (test_random(&random) % 8));
        write_bytes(path, good, n - SEAL_SIZE);
        good[at] = was;
        CU_ASSERT_EQUAL(sf_seal_write(path, path, &err), 0);
        const int code = read(path, &err);
        n_refused += code != 0;
        CU_ASSERT_TRUE(code == 0 || (code == err.code && strstr(err.text, path) == err.text && !strchr(err.text, '\n')));
    }
    CU_ASSERT_TRUE(n_refused > 0);
    printf("%d refused, %d read ... ", n_refused, TIMES - n_refused);
}

#endif

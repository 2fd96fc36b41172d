/* Run files that say strange things in good HDF5: a good file is edited through HDF5 (values, shapes, types, attributes,
 * links), sealed, and read in this process, so that sanitizers see every step of our own checks. */
#include <hdf5.h>

#include "fuzz_h5.h"
#include "fuzz_run.h"
#include "io/schema.h"
#include "io/seal.h"

enum { EDITS_MAX = 6 };

enum operation { SET, SET_MORE, RESHAPE, RETYPE, REMOVE, LINK, ATTRIBUTE, OPTION, N_OPERATIONS };

static void edit(hid_t file, fuzz_source *source)
{
    static const char *const roots[] = {"title", "schema", "state", "form"};
    static const char *const targets[] = {"/search/seed", "/", "/nowhere", "/config"};
    const char *name = sf_fields[fuzz_byte(source) % sf_n_fields].name;
    switch ((enum operation)(fuzz_byte(source) % N_OPERATIONS)) {
    case SET:
        fuzz_h5_set(file, name, source, 1);
        break;
    case SET_MORE:
        fuzz_h5_set(file, name, source, 8);
        break;
    case RESHAPE:
        fuzz_h5_replace(file, name, source, false);
        break;
    case RETYPE:
        fuzz_h5_replace(file, name, source, true);
        break;
    case REMOVE:
        H5Ldelete(file, name, H5P_DEFAULT);
        break;
    case LINK:
        H5Ldelete(file, name, H5P_DEFAULT);
        if (fuzz_byte(source) & 1)
            H5Lcreate_soft(targets[fuzz_byte(source) % 4], file, name, H5P_DEFAULT, H5P_DEFAULT);
        else
            H5Lcreate_hard(file, targets[fuzz_byte(source) % 4], file, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
    case ATTRIBUTE:
        fuzz_h5_attribute(file, roots[fuzz_byte(source) % 4], source);
        break;
    case OPTION: {
        const bool origin = fuzz_byte(source) & 1;
        char option[8] = {(char)('a' + fuzz_byte(source) % 26), '\0'};
        hid_t group = H5Gopen2(file, origin ? "/config/origin" : "/config", H5P_DEFAULT);
        if (group >= 0) {
            fuzz_h5_attribute(group, fuzz_byte(source) & 1 ? "seed" : option, source);
            H5Gclose(group);
        }
        break;
    }
    case N_OPERATIONS:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_source source = {bytes, n};
    size_t n_file;
    sf_error err = {0};
    const unsigned choice = fuzz_byte(&source);
    const uint8_t *good = fuzz_run_bytes(choice & FUZZ_RUN_LIVE, &n_file);
    const char *path = fuzz_path("run.h5");
    fuzz_write(path, n_file, good);
    hid_t file = fuzz_h5_open(path);
    for (int k = 0; k < EDITS_MAX && source.n > 0; k++)
        edit(file, &source);
    FUZZ_REQUIRE(H5Fclose(file) >= 0);
    FUZZ_REQUIRE(sf_seal_write(path, path, &err) == 0);
    fuzz_read_run(path, choice);
    return 0;
}

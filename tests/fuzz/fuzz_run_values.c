/* Run files that say strange things in good HDF5: a good file is edited through HDF5 (values, shapes, types, attributes,
 * links), sealed, and read in this process, so that sanitizers see every step of our own checks. */
#include <hdf5.h>

#include "fuzz_h5.h"
#include "fuzz_run.h"
#include "io/schema.h"
#include "io/seal.h"

enum { EDITS_MAX = 6 };

/* An option, or where it is from. */
static void edit_option(hid_t file, fuzz_source *source)
{
    const bool origin = fuzz_byte(source) & 1;
    char option[8] = {(char)('a' + fuzz_byte(source) % 26), '\0'};
    hid_t group = H5Gopen2(file, origin ? "/config/origin" : "/config", H5P_DEFAULT);
    if (group < 0)
        return;
    fuzz_h5_attribute(group, fuzz_byte(source) & 1 ? "seed" : option, source);
    H5Gclose(group);
}

static void edit(hid_t file, fuzz_source *source)
{
    static const char *const roots[] = {"title", "schema", "state", "form"};
    static const char *const targets[] = {"/search/seed", "/", "/nowhere", "/config"};
    const char *name = sf_fields[fuzz_byte(source) % sf_n_fields].name;
    const unsigned operation = fuzz_byte(source) % (FUZZ_H5_EDITS + 2);
    if (operation < FUZZ_H5_EDITS)
        fuzz_h5_edit(file, name, targets, operation, source);
    else if (operation == FUZZ_H5_EDITS)
        fuzz_h5_attribute(file, roots[fuzz_byte(source) % 4], source);
    else
        edit_option(file, source);
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

/* Table files that say strange things in good HDF5: a good file is edited through HDF5, sealed, and read in this process.
 * Whatever is read must be what a table is, and say the same when it is written again. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_h5.h"
#include "io/digest.h"
#include "io/seal.h"
#include "io/table_file.h"

enum { LENGTH = 9, EDITS_MAX = 6, SEAL_SIZE = 48 };

static void write_table(const char *path, const sf_map_table *maps, const char *letters)
{
    static uint8_t bytes[SF_TABLE_PACKED_MAX];
    sf_table_packer *packer;
    sf_table_writer *writer;
    sf_error err = {0};
    size_t n;
    FUZZ_REQUIRE(sf_table_packer_open(&packer, maps, &err) == 0);
    FUZZ_REQUIRE(sf_table_writer_open(&writer, path, maps, letters, &err) == 0);
    for (size_t k = 0; k < sf_table_file_chunks(maps); k++) {
        FUZZ_REQUIRE(sf_table_packer_pack(packer, k, bytes, &n, &err) == 0);
        FUZZ_REQUIRE(sf_table_writer_put(writer, bytes, n, &err) == 0);
    }
    FUZZ_REQUIRE(sf_table_writer_commit(writer, &err) == 0);
    sf_table_writer_close(writer);
    sf_table_packer_close(packer);
}

/* The bytes of a good file without its seal. */
static const uint8_t *good_bytes(size_t *n)
{
    static uint8_t *bytes;
    static size_t n_bytes;
    if (!bytes) {
        sf_map_table maps;
        const sf_map_options options = {1, 0, NULL};
        const char *path = fuzz_path("good.h5");
        FUZZ_REQUIRE(sf_map_table_build(&maps, sf_lattice_find("square"), LENGTH, &options, NULL) == 0);
        write_table(path, &maps, "HP");
        bytes = fuzz_read(path, &n_bytes);
        sf_map_table_free(&maps);
        unlink(path);
    }
    *n = n_bytes - SEAL_SIZE;
    return bytes;
}

static void edit(hid_t file, fuzz_source *source)
{
    static const char *const names[] = {
        "/maps/low",     "/maps/count",   "/layout/pairs",        "/table/lattice",      "/table/length",
        "/table/maps",   "/table/letters", "/table/conformations", "/table/max_contacts", "/provenance/schema",
        "/provenance/version"};
    static const char *const targets[] = {"/table/maps", "/", "/nowhere", "/maps"};
    const char *name = names[fuzz_byte(source) % (sizeof names / sizeof names[0])];
    const unsigned operation = fuzz_byte(source) % (FUZZ_H5_EDITS + 1);
    if (operation < FUZZ_H5_EDITS)
        fuzz_h5_edit(file, name, targets, operation, source);
    else
        fuzz_h5_attribute(file, "title", source);
}

static void read_table(const char *path, bool unedited, bool digest)
{
    char hex[SF_DIGEST_SIZE];
    sf_map_table maps, again;
    sf_table_about about;
    sf_error err = {0};
    int code = sf_table_file_read(&maps, &about, path, NULL, &err);
    fuzz_check_error(code, &err);
    FUZZ_REQUIRE(code == 0 || !unedited);
    FUZZ_REQUIRE(code == 0 || (maps.low == NULL && maps.n_maps == 0));
    if (digest)
        fuzz_check_error(sf_digest_file(path, hex, &err), &err);
    if (code)
        return;
    FUZZ_REQUIRE(sf_map_table_check(&maps, &err) == 0);
    const char *copy = fuzz_path("copy.h5");
    write_table(copy, &maps, about.letters);
    FUZZ_REQUIRE(sf_table_file_read(&again, NULL, copy, NULL, &err) == 0);
    FUZZ_REQUIRE(again.n_maps == maps.n_maps && memcmp(again.low, maps.low, maps.n_maps * sizeof *maps.low) == 0);
    sf_map_table_free(&again);
    sf_map_table_free(&maps);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_source source = {bytes, n};
    size_t n_file;
    sf_error err = {0};
    const uint8_t *good = good_bytes(&n_file);
    const unsigned choice = fuzz_byte(&source);
    const char *path = fuzz_path("table.h5");
    fuzz_write(path, n_file, good);
    hid_t file = fuzz_h5_open(path);
    for (int k = 0; k < EDITS_MAX && source.n > 0; k++)
        edit(file, &source);
    FUZZ_REQUIRE(H5Fclose(file) >= 0);
    FUZZ_REQUIRE(sf_seal_write(path, path, &err) == 0);
    read_table(path, n <= 1, choice & 1);
    return 0;
}

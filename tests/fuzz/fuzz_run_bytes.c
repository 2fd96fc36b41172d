/* Run files whose bytes were changed: edits (offset, bytes) to a good file, which has no seal then and is first tried in a
 * process of its own, because HDF5 dies of some. Here that process's faults are caught and the reader must stay whole;
 * what our own checks make of strange values is fuzz_run_values.c's. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_source source = {bytes, n};
    size_t n_file;
    const unsigned choice = fuzz_byte(&source);
    const uint8_t *good = fuzz_run_bytes(choice & FUZZ_RUN_LIVE, &n_file);
    uint8_t *file = malloc(n_file);
    FUZZ_REQUIRE(file != NULL);
    memcpy(file, good, n_file);
    for (int edits = 0; edits < 8 && source.n > 0; edits++) {
        size_t at = (size_t)fuzz_number(&source, 3) % n_file;
        for (unsigned n_bytes = 1 + fuzz_byte(&source) % 8; n_bytes > 0 && at < n_file; n_bytes--)
            file[at++] = fuzz_byte(&source);
    }
    const unsigned cut = fuzz_byte(&source);
    const char *path = fuzz_path("run.h5");
    fuzz_write(path, n_file - n_file * (cut & 15) / 64, file);
    fuzz_read_run(path, choice);
    free(file);
    return 0;
}

/* What the fuzz targets share. A target is one LLVMFuzzerTestOneInput; libFuzzer drives it (scripts/fuzz.sh), or replay.c
 * with the kept corpus and a few thousand mutations of it in every test run. A target that finds something ends the
 * program: that is how libFuzzer learns of it. */
#ifndef SF_TESTS_FUZZ_H
#define SF_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Ends the program, naming the place, when `good` is false. */
void fuzz_require(bool good, const char *file, int line);
#define FUZZ_REQUIRE(good) fuzz_require(good, __FILE__, __LINE__)

/* A folder of this process, in memory where the machine has that, removed at its end; and a path in it. */
const char *fuzz_path(const char *name);

void fuzz_write(const char *path, size_t n, const void *bytes);

/* The bytes of a file; the caller frees them. */
uint8_t *fuzz_read(const char *path, size_t *n);

/* What a call left behind must be what error.h promises: 0, or a code of the list with one line of plain text. */
void fuzz_check_error(int code, const sf_error *err);

/* Takes values off the input; zeros once it is used up. */
typedef struct fuzz_source {
    const uint8_t *at;
    size_t n;
} fuzz_source;
uint8_t fuzz_byte(fuzz_source *source);
uint64_t fuzz_number(fuzz_source *source, int n_bytes);

#endif

/* A small run file for the two targets of the reader. */
#ifndef SF_TESTS_FUZZ_RUN_H
#define SF_TESTS_FUZZ_RUN_H

#include "fuzz.h"
#include "io/run_file.h"

/* A whole run file (or a live one), its bytes without the seal; made at the first call. */
const uint8_t *fuzz_run_bytes(bool live, size_t *n);

/* What an input's first byte says: the kind of file, and what is done with it beside reading. */
enum { FUZZ_RUN_LIVE = 1, FUZZ_RUN_DIGEST = 2, FUZZ_RUN_REPAIR = 4 };

/* Reads a run file, and, as `choice` has it, takes its digest, and writes it anew as `repair` does and reads that: it must
 * say the same. */
void fuzz_read_run(const char *path, unsigned choice);

#endif

/* What the targets of app share. */
#ifndef SF_TESTS_FUZZ_APP_H
#define SF_TESTS_FUZZ_APP_H

#include "app/app.h"
#include "fuzz.h"

enum { FUZZ_WORDS_MAX = 64 };

/* The k-th command, any k. */
const sf_command *fuzz_command(unsigned k);

/* Reads a command line of n words (the first is the command's name) in the folder of this process, and checks what comes of
 * it: an error is a line, values are in range and the same again after they were written. */
void fuzz_read_options(const sf_command *command, int n, char **words);

#endif

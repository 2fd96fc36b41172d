/* The command line: one word a line, the first line is the command's name. What follows an empty line is the text of the
 * file `c`, which words may name. Words with a slash are left out, so that nothing of the machine is opened. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_app.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *words[FUZZ_WORDS_MAX + 1] = {NULL}, *text = malloc(n + 2);
    unsigned sum = 0;
    int n_words = 0;
    FUZZ_REQUIRE(text != NULL);
    memcpy(text, bytes, n);
    memcpy(text + n, "\n", 2);
    char *at = text;
    while (at < text + n && *at != '\n' && n_words < FUZZ_WORDS_MAX) {
        char *end = memchr(at, '\n', (size_t)(text + n + 1 - at));
        *end = '\0';
        if (!strchr(at, '/'))
            words[n_words++] = at;
        at = end + 1;
    }
    if (n_words > 0) {
        for (const char *c = words[0]; *c; c++)
            sum += (unsigned char)*c;
        const sf_command *command = fuzz_command(sum);
        for (unsigned k = 0; k < 10; k++) {
            if (strcmp(fuzz_command(k)->name, words[0]) == 0)
                command = fuzz_command(k);
        }
        size_t left = at + 1 < text + n ? (size_t)(text + n - at - 1) : 0;
        fuzz_write(fuzz_path("c"), left, at + 1);
        fuzz_read_options(command, n_words, words);
    }
    free(text);
    return 0;
}

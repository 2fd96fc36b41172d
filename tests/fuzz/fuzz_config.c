/* The configuration file, read for `run`. A model of a search may be the name of a file; values with a slash are therefore
 * left out, so that nothing of the machine is opened. */
#include <string.h>

#include "fuzz_app.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char run[] = "run", option[] = "--config", file[] = "config";
    char *words[] = {run, option, file, NULL};
    const char model[] = "H P\nH 1 0\nP 0 0\n";
    if (n > 0 && memchr(bytes, '/', n))
        return 0;
    fuzz_write(fuzz_path("model"), sizeof model - 1, model);
    fuzz_write(fuzz_path(file), n, bytes);
    fuzz_read_options(&sf_command_run, 3, words);
    return 0;
}

/* Writes run files of the made-up search of tests/io/sample_run.h: make_sample PATH TRIALS ISLANDS GENERATION [live].
 */
#include <stdlib.h>
#include <string.h>

#include "io/sample_run.h"

uint64_t test_seed(void)
{
    return 7;
}

uint64_t test_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 40;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    sample_run run;
    sf_error err = {0};
    int code;
    sample_init(&run, (int32_t)atoi(argv[2]), (int32_t)atoi(argv[3]), 50, argc > 5 && strcmp(argv[5], "kept") == 0);
    if (atoi(argv[4]) >= 0)
        sample_run_to(&run, atoi(argv[4]));
    if (argc > 5 && strcmp(argv[5], "live") == 0) {
        sf_live_file *file;
        code = sf_live_file_create(&file, argv[1], &run.record, &run.meta, &err);
        if (!code)
            sf_live_file_close(file);
    } else {
        code = sf_run_file_write(argv[1], &run.record, &run.meta, &err);
    }
    if (code)
        fprintf(stderr, "%s\n", err.text);
    sample_free(&run);
    return code != 0;
}

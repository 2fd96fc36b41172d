/* A program outside the tree: the histogram of a sequence, or with a second word "sets" which scores it has, without MPI and
 * without HDF5. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "starfold/engine.h"

int main(int argc, char **argv)
{
    const char *text = argc > 1 ? argv[1] : "";
    sf_error err = {0, ""};
    sf_problem problem;
    sf_engine_options options;
    sf_engine *engine = NULL;
    uint8_t elements[SF_LENGTH_MAX];
    uint64_t histogram[SF_SCORES_MAX];
    sf_engine_options_init(&options);
    if (argc > 2 && strcmp(argv[2], "sets") == 0) {
        options.sets = true;
        options.top_counts = 0;
    }
    int code = sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), (int)strlen(text), &err);
    if (!code)
        code = sf_sequence_parse(&problem, text, elements, &err);
    if (!code)
        code = sf_engine_open(&engine, &problem, &options, 1, &err);
    if (!code)
        code = sf_engine_histograms(engine, 1, elements, histogram, &err);
    for (int s = 0; !code && s < problem.n_scores; s++)
        printf("%" PRIu64 "%c", histogram[s] == SF_COUNT_SOME ? 1 : histogram[s], s + 1 < problem.n_scores ? ' ' : '\n');
    if (code)
        fprintf(stderr, "%s\n", err.text);
    sf_engine_close(engine);
    return sf_error_status(code);
}

/* Score models: the file's text and the stored line. What is read must be symmetric, in range, and the same again after
 * it was written. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "starfold/score_model.h"

static void check_model(const sf_score_model *model)
{
    char line[SF_SCORE_MODEL_TEXT_SIZE];
    sf_score_model again;
    sf_error err = {0};
    FUZZ_REQUIRE(model->n_letters >= 2 && model->n_letters <= SF_LETTERS_MAX);
    FUZZ_REQUIRE(strlen(model->letter) == (size_t)model->n_letters);
    for (int i = 0; i < model->n_letters; i++) {
        for (int j = 0; j < model->n_letters; j++) {
            FUZZ_REQUIRE(model->weight[i][j] == model->weight[j][i]);
            FUZZ_REQUIRE(abs(model->weight[i][j]) <= SF_WEIGHT_MAX);
        }
    }
    sf_score_model_write(model, line);
    FUZZ_REQUIRE(strlen(line) < sizeof line - 1);
    FUZZ_REQUIRE(sf_score_model_from_line(&again, line, &err) == 0);
    FUZZ_REQUIRE(again.n_letters == model->n_letters && strcmp(again.letter, model->letter) == 0 &&
                 strcmp(again.name, model->name) == 0 && memcmp(again.weight, model->weight, sizeof again.weight) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sf_score_model model;
    sf_error err = {0};
    int code = sf_score_model_parse(&model, "fuzz", n, (const char *)bytes, &err);
    fuzz_check_error(code, &err);
    if (code == 0)
        check_model(&model);
    char *line = malloc(n + 1);
    FUZZ_REQUIRE(line != NULL);
    memcpy(line, bytes, n);
    line[n] = '\0';
    code = sf_score_model_from_line(&model, line, &err);
    fuzz_check_error(code, &err);
    if (code == 0)
        check_model(&model);
    free(line);
    return 0;
}

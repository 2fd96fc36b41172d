/* The score models that are built in. A model is data: an alphabet and a symmetric matrix of contact weights; one that
 * is read from a file (score_model_text.c) fills the same struct. */
#include "starfold/score_model.h"

#include <stddef.h>
#include <string.h>

static const sf_score_model models[] = {
    {.name = "hp", .n_letters = 2, .letter = "HP", .weight = {{1, 0}, {0, 0}}},
    {.name = "hpnx",
     .n_letters = 4,
     .letter = "HPNX",
     .weight = {{4, 0, 0, 0}, {0, -1, 1, 0}, {0, 1, -1, 0}, {0, 0, 0, 0}}},
};

static const char *const names[] = {"hp", "hpnx", NULL};

const char *const *sf_score_model_names(void)
{
    return names;
}

const sf_score_model *sf_score_model_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof models / sizeof models[0]; i++) {
        if (strcmp(name, models[i].name) == 0)
            return &models[i];
    }
    return NULL;
}

bool sf_score_model_is_hp(const sf_score_model *model)
{
    return model->n_letters == 2 && model->weight[0][0] == 1 && model->weight[0][1] == 0 && model->weight[1][0] == 0 &&
           model->weight[1][1] == 0;
}

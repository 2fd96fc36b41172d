/* Score models: an alphabet and a symmetric integer matrix of contact weights. `hp` is built in: H H counts 1. */
#ifndef STARFOLD_SCORE_MODEL_H
#define STARFOLD_SCORE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "starfold/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SF_LETTERS_MAX = 20, SF_WEIGHT_MAX = 100 };

typedef struct sf_score_model {
    char name[32];
    int n_letters;                                  /* 2..SF_LETTERS_MAX */
    char letter[SF_LETTERS_MAX + 1];                /* letter[i] is how element i is written; ends in '\0' */
    int weight[SF_LETTERS_MAX][SF_LETTERS_MAX];     /* symmetric; |weight| <= SF_WEIGHT_MAX */
} sf_score_model;

/* The built-in model of that name, or NULL. Static storage. `hp`: element 0 is H, element 1 is P. */
const sf_score_model *sf_score_model_find(const char *name);

/* True when the model is plain HP: two letters, weight 1 for element 0 with itself, 0 otherwise. The fast engines ask. */
bool sf_score_model_is_hp(const sf_score_model *model);

#ifdef __cplusplus
}
#endif
#endif

/* Score models: an alphabet and a symmetric integer matrix of contact weights.
 *
 * Built in are `hp` (H H counts 1) and `hpnx`, HP with charges: hydrophobic, positive, negative, neutral; contacts
 * H H 4, P N 1, P P and N N -1, all others 0 (Bornberg-Bauer, RECOMB 1997, with the sign of the energies turned).
 * Others come from a small text file:
 *
 *     # a remark
 *         H  P  N        the alphabet
 *     H   4  0  0        a row for each letter, in the order of the alphabet
 *     P   0 -1  1
 *     N   0  1 -1
 */
#ifndef STARFOLD_SCORE_MODEL_H
#define STARFOLD_SCORE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SF_LETTERS_MAX = 20, SF_WEIGHT_MAX = 100, SF_SCORE_MODEL_TEXT_SIZE = 1200, SF_SCORE_MODEL_FILE_MAX = 65536 };

typedef struct sf_score_model {
    char name[32];
    int n_letters;                                  /* 2..SF_LETTERS_MAX */
    char letter[SF_LETTERS_MAX + 1];                /* letter[i] is how element i is written; ends in '\0' */
    int weight[SF_LETTERS_MAX][SF_LETTERS_MAX];     /* symmetric; |weight| <= SF_WEIGHT_MAX */
} sf_score_model;

/* The built-in model of that name, or NULL. Static storage. `hp`: element 0 is H, element 1 is P. */
const sf_score_model *sf_score_model_find(const char *name);

/* Names of the built-in models, ended by NULL. */
const char *const *sf_score_model_names(void);

/* Reads the text of a model file, n bytes; `source` names it in messages. SF_EINPUT, with the line's number, for a letter
 * that is not A to Z or stands twice, a row that is missing, too long, too short or out of order, a weight that is no
 * integer of -SF_WEIGHT_MAX..SF_WEIGHT_MAX, or a matrix that is not symmetric. The model's name becomes "custom", or the
 * built-in name when the model is the same as that one. */
int sf_score_model_parse(sf_score_model *model, const char *source, size_t n, const char *text, sf_error *err);

/* The same for a file of at most SF_SCORE_MODEL_FILE_MAX bytes. SF_EINPUT when it cannot be read. */
int sf_score_model_read(sf_score_model *model, const char *path, sf_error *err);

/* One line that says all of a model, to be stored: the name of a built-in one, else the alphabet, a colon and the upper
 * triangle's rows, as "HPN:4,0,0;-1,1;-1". text has room for SF_SCORE_MODEL_TEXT_SIZE. */
void sf_score_model_write(const sf_score_model *model, char *text);

/* Reads such a line back; SF_EINPUT when it is not one. */
int sf_score_model_from_line(sf_score_model *model, const char *line, sf_error *err);

/* True when the model is plain HP: two letters, weight 1 for element 0 with itself, 0 otherwise. The fast engines ask. */
bool sf_score_model_is_hp(const sf_score_model *model);

#ifdef __cplusplus
}
#endif
#endif

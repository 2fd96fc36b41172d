/* The file of `enumerate --output`, described in analysis/README.md: what was asked and the histograms; and beside it,
 * while the work goes on, a checkpoint: the same file with the histograms summed so far and which parts are in them. */
#ifndef SF_IO_ENUMERATION_FILE_H
#define SF_IO_ENUMERATION_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"
#include "starfold/score_model.h"

enum { SF_ENUMERATION_SCHEMA = 1 };

#define SF_ENUMERATION_TITLE "Starfold enumeration"

/* What is asked and what is known. When written, all pointers are the caller's; when read, the struct owns them. */
typedef struct sf_enumeration {
    /* the question */
    char lattice[16];
    char score_model[SF_SCORE_MODEL_TEXT_SIZE]; /* its name, or its line */
    int length, min_score, n_scores;
    bool proven;         /* sets of scores with counts at the top, not whole histograms */
    int top_counts;      /* 0 when not proven */
    uint64_t node_limit; /* 0 when not proven, or without a limit */
    size_t n_asked;
    char *asked;         /* [n_asked][length] letters, in the order given */
    int64_t *row;        /* [n_asked] its row among the puzzles */
    size_t n;            /* distinct puzzles */
    char *letters;       /* [n][length], canonical */
    uint64_t *histogram; /* [n][n_scores] */
    /* of a checkpoint only */
    bool unfinished;
    char engine[16];
    size_t block, parts_per_block, n_parts;
    uint8_t *done; /* [n_parts / 8 + 1] a bit for each part that is in the histograms */
} sf_enumeration;

/* Writes the file aside, sealed, synced and renamed; an existing one is replaced. The same content gives the same
 * bytes. */
int sf_enumeration_write(const char *path, const sf_enumeration *enumeration, sf_error *err);

/* Reads one back, checked; free it in any case. SF_EINPUT when there is no such file, SF_EFORMAT when it is damaged or
 * of another kind. */
int sf_enumeration_read(const char *path, sf_enumeration *enumeration, sf_error *err);
void sf_enumeration_free(sf_enumeration *enumeration); /* one that was read */

/* What the other one asks that this one does not, as a word for people ("lattice", "sequences", ...); NULL when both
 * ask the same. */
const char *sf_enumeration_difference(const sf_enumeration *a, const sf_enumeration *b);

#endif

/* The census file: what a census found of all sequences of a length, in HDF5, described in analysis/README.md. Written by
 * rank 0 alone, aside, sealed, synced and renamed; the same bytes for the same census and build. No MPI. */
#ifndef SF_IO_CENSUS_FILE_H
#define SF_IO_CENSUS_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/engines/census/census_shapes.h"
#include "starfold/error.h"
#include "starfold/problem.h"

enum { SF_CENSUS_SCHEMA_VERSION = 1, SF_CENSUS_SCORES_MAX = 255 };

#define SF_CENSUS_TITLE "Starfold census"

/* What a census file says of itself. */
typedef struct sf_census_about {
    char program[32], version[32], revision[64];
    int32_t schema;
    char lattice[16];
    int32_t length;
    char letters[SF_LETTERS_MAX + 1];
    char model[SF_SCORE_MODEL_TEXT_SIZE]; /* as sf_score_model_write gives it */
    int32_t min_score;                    /* of histogram[0] */
    int32_t n_scores;                     /* 1..SF_CENSUS_SCORES_MAX: up to the highest score of any conformation */
    uint64_t n_sequences, unique_best, sequences_with_gaps;
    uint64_t n_shapes; /* 0: shapes were not asked for */
    uint64_t most_shared;
} sf_census_about;

/* All that is written; everything is the caller's. A sequence is a number: its letters' indices as digits, residue 0 the
 * highest. */
typedef struct sf_census_data {
    sf_census_about about;         /* from lattice on; the rest is filled in */
    const uint64_t *fitness;       /* [n_scores + 1]: sequences by number of distinct scores */
    const uint64_t *best_score;    /* [n_scores]: sequences by best score - min_score */
    const uint8_t *each_fitness;   /* [n_sequences] */
    const uint8_t *each_best;      /* [n_sequences], best score - min_score */
    const sf_shapes *shapes;       /* settled; of at least n_scores scores, the others all zero; NULL: none */
    const sf_shapes_summary *summary;
} sf_census_data;

/* An existing file is replaced: whether it may be is the caller's to know. On failure nothing new is under `path`. */
int sf_census_file_write(const char *path, const sf_census_data *data, sf_error *err);

/* Reads and checks what the file says in sum: fitness[SF_CENSUS_SCORES_MAX + 1] and best_score[SF_CENSUS_SCORES_MAX] are
 * overwritten. SF_EINPUT when there is no such file or it is something else, SF_EFORMAT when it is damaged. */
int sf_census_file_read(sf_census_about *about, uint64_t *fitness, uint64_t *best_score, const char *path, sf_error *err);

#endif

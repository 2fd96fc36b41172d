/* The run file described in one place: every dataset with its name, type, axes, unit and sentence, and where its values
 * live. The writers, the reader and the table in analysis/README.md follow this list; a new dataset is one more line.
 */
#ifndef SF_IO_SCHEMA_H
#define SF_IO_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/search/record.h"
#include "io/run_file.h"

enum { SF_RANK_MAX = 5 };

typedef enum sf_axis {
    SF_AXIS_TRIAL,
    SF_AXIS_GENERATION,
    SF_AXIS_ISLAND,
    SF_AXIS_INDIVIDUAL,
    SF_AXIS_SEQUENCE,
    SF_AXIS_SCORE,
    SF_AXIS_MIGRANT,
    SF_AXIS_LEVEL,
    SF_AXIS_STAR,
    SF_N_AXES
} sf_axis;

/* How a value is stored. Integers are little-endian; texts are fixed-length ASCII filled up with zeros. */
typedef enum sf_type {
    SF_TYPE_U8,
    SF_TYPE_I32,
    SF_TYPE_I64,
    SF_TYPE_U64,
    SF_TYPE_TEXT,     /* one text; in memory a buffer of `capacity` characters */
    SF_TYPE_LETTERS,  /* a sequence of `length` letters; in memory elements */
    SF_TYPE_SOLUTION, /* in memory a buffer of `witness_size` characters */
} sf_type;

enum sf_field_flag {
    SF_FIELD_DERIVED = 1, /* follows from the others: compared on reading, not taken */
    SF_FIELD_SCALE = 2,   /* is the HDF5 dimension scale of its axis */
    SF_FIELD_WHOLE = 4,   /* not in live files */
    SF_FIELD_KEPT = 8,    /* only where every generation's populations are kept */
    SF_FIELD_BRED = 16,   /* only from generation 0 on */
    SF_FIELD_COUNTS = 32, /* histogram: has the values that are not numbers */
};

/* A record and its meta data as the fields see them: the scalars copied, the rest by pointer. */
typedef struct sf_view {
    sf_record *record;
    bool live;

    int32_t schema;
    char program[32], version[32], revision[64];
    sf_search_config config;
    int32_t length, n_scores, min_score, witness_size;
    char lattice[32], letters[32];
    int64_t generation, n_sequences, n_migrants, n_levels;

    const size_t *sequence_order; /* rows of record->known as they are stored; NULL: as they are */
    const size_t *migrant_order;
    uint8_t *incoming;    /* reading: sequences before they are in record->known */
    int64_t *level_row;   /* [n_levels], stored row of the level's sequence */
    int32_t *level_star;  /* [n_levels][3], -1 for none */
    char *level_solution; /* [n_levels][3][witness_size] */
    int32_t best_fitness;

    size_t room[SF_N_AXES]; /* writing a live file: rows of a chunk along a growing axis */

    int32_t scratch_i32; /* where derived values are put */
    int64_t scratch_i64;
} sf_view;

typedef struct sf_field sf_field;
struct sf_field {
    const char *name; /* path in the file */
    sf_type type;
    int rank;
    sf_axis axis[SF_RANK_MAX];
    int flags;
    const char *units;
    const char *description;
    void *(*at)(sf_view *view, const sf_field *field, const size_t *index); /* the value in memory */
    size_t offset;                                                          /* for `at` */
    size_t capacity;                                                        /* of a text, with the closing zero */
};

/* The list, and its length. */
extern const sf_field sf_fields[];
extern const size_t sf_n_fields;

/* The field of that name, or NULL. */
const sf_field *sf_field_find(const char *name);

/* Groups of the file, parents first; ends with NULL. */
extern const char *const sf_groups[];

/* Name of an axis, and its size in this view (the rows that are complete). */
const char *sf_axis_name(sf_axis axis);
size_t sf_view_size(const sf_view *view, sf_axis axis);

/* Whether a file of this view has the field. */
bool sf_field_present(const sf_view *view, const sf_field *field);

/* The axis along which a live file grows the field, or -1. */
int sf_field_growing(const sf_field *field);

/* Bytes of one stored value (texts: by what the view holds). At least 1. */
size_t sf_field_bytes(const sf_view *view, const sf_field *field);

/* Copies the value at `index` to its stored form of sf_field_bytes bytes, or back. Taking back fails (false) when
 * letters are not of the alphabet or a text is not a closed one. */
void sf_field_store(sf_view *view, const sf_field *field, const size_t *index, uint8_t *stored);
bool sf_field_take(sf_view *view, const sf_field *field, const size_t *index, const uint8_t *stored);

#endif

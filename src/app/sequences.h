/* The sequences that `enumerate` is asked for, grouped by length; in a group each puzzle (a sequence or its reverse) is
 * there once, however often it was given. */
#ifndef SF_APP_SEQUENCES_H
#define SF_APP_SEQUENCES_H

#include <stddef.h>
#include <stdint.h>

#include "app/app.h"

typedef struct sf_sequence_group {
    sf_problem problem;
    size_t n;            /* distinct puzzles */
    uint8_t *elements;   /* [n][length], canonical */
    uint64_t *histogram; /* [n][n_scores], for the caller to fill; owned */
    char engine[16];     /* what counted, for the caller to fill */
} sf_sequence_group;

typedef struct sf_sequence_asked {
    const char *text; /* as given, in upper case */
    size_t group, row;
} sf_sequence_asked;

typedef struct sf_sequence_list {
    size_t n;
    sf_sequence_asked *asked; /* [n] in the order given */
    size_t n_groups;
    sf_sequence_group *group; /* in order of first appearance */
    char *text;               /* storage of asked[].text */
} sf_sequence_list;

/* Reads the words of the command line, or the file of --file (rank 0 reads it, every rank gets it). SF_EINPUT with the
 * word or line that is wrong. Collective. The list may be freed whatever came of it. */
int sf_sequence_list_read(sf_sequence_list *list, const sf_app *app, sf_error *err);
void sf_sequence_list_free(sf_sequence_list *list);

#endif

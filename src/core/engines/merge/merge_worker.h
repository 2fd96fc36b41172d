/* The inside of engine "walk": how a problem is counted, and the workers that do it. */
#ifndef SF_CORE_MERGE_WORKER_H
#define SF_CORE_MERGE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engines/merge/merge_any.h"
#include "core/engines/merge/merge_plan.h"

/* How sequences of a problem are counted. */
typedef enum merge_kind {
    MERGE_SQUARE, /* one class of letters whose contacts count, square lattice */
    MERGE_CUBIC,  /* the same, cubic lattice */
    MERGE_ANY,    /* any model */
    MERGE_NOT     /* not by merging */
} merge_kind;

/* What all workers share: constant once made. */
typedef struct merge_setup {
    const sf_problem *problem;
    const volatile int *stop;
    merge_kind kind;
    bool class_h[SF_LETTERS_MAX]; /* letters that make contacts that count */
    int weight;                   /* of such a contact */
    size_t n_parts;
    merge_sizes sizes;
    square_count *square_count;
    cubic_count *cubic_count;
    cubic_geometry *geometry; /* for MERGE_CUBIC; owned */
} merge_setup;

typedef struct merge_worker merge_worker;

/* The workers, and the split last decided. */
typedef struct merge_crew {
    int lock; /* guards what follows */
    merge_worker *idle, *all;
    bool decided; /* `split` is that of `elements` */
    uint8_t elements[SF_LENGTH_MAX];
    merge_split split;
} merge_crew;

merge_kind sf_merge_kind(const sf_problem *problem);

/* Fills the setup; problem must outlive it. SF_ENOMEM, SF_EINPUT (STARFOLD_ISA). Free it in any case. */
int sf_merge_setup_init(merge_setup *setup, const sf_problem *problem, const volatile int *stop, sf_error *err);
void sf_merge_setup_free(merge_setup *setup);

/* Bytes a worker takes, at most. */
uint64_t sf_merge_worker_bytes(const sf_problem *problem, merge_kind kind);

/* Adds part `part` of the sequence to partial[n_scores], by an idle worker of the crew or a new one. Thread-safe. */
int sf_merge_crew_count(const merge_setup *setup, merge_crew *crew, const uint8_t *elements, size_t part,
                        uint64_t *partial, sf_error *err);

/* Bytes of all workers. */
uint64_t sf_merge_crew_bytes(merge_crew *crew);
void sf_merge_crew_free(merge_crew *crew);

#endif

/* What was done of the tree searches of a sequence, so that they can be taken up again: the tasks that were searched to
 * their end, by the number of the list (tasks are cut alike each time) and their own. */
#ifndef SF_CORE_BOUND_JOURNAL_H
#define SF_CORE_BOUND_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"

typedef struct bound_note {
    uint32_t list, task;
    uint64_t nodes, found;
} bound_note;

typedef struct bound_journal {
    const bound_note *begun; /* by list and task; NULL: nothing was done */
    size_t n_begun;
    bool (*wanted)(
        void *context); /* asked often: shall a long search be given back? NULL: it has all workers there are */
    void *context;
    uint64_t least_nodes; /* what may take no more nodes is not given back */
    bool given_back;  /* the search has ended for that reason; what was done of it is in `note` */
    bound_note *note; /* by list and task; owned */
    size_t n, room;
} bound_journal;

/* Frees the notes; zeroed is allowed. */
void sf_bound_journal_free(bound_journal *journal);

/* Writes a note, after those of lower lists and tasks. SF_ENOMEM. */
int sf_bound_journal_add(bound_journal *journal, bound_note note, sf_error *err);

/* The note of a task among those of an earlier search; NULL: none. `journal` may be NULL. */
const bound_note *sf_bound_journal_find(const bound_journal *journal, uint32_t list, uint32_t task);

#endif

/* Notes in the order in which lists are worked on. */
#include "core/engines/bound/bound_journal.h"

#include <stdlib.h>

void sf_bound_journal_free(bound_journal *journal)
{
    free(journal->note);
    *journal = (bound_journal){0};
}

int sf_bound_journal_add(bound_journal *journal, bound_note note, sf_error *err)
{
    if (journal->n == journal->room) {
        const size_t room = 2 * journal->room + 256;
        bound_note *more = realloc(journal->note, room * sizeof *more);
        if (!more)
            return sf_fail(err, SF_ENOMEM, "out of memory for notes of a tree search");
        journal->note = more;
        journal->room = room;
    }
    journal->note[journal->n++] = note;
    return SF_OK;
}

static int compare(const void *a, const void *b)
{
    const bound_note *x = a, *y = b;
    if (x->list != y->list)
        return x->list < y->list ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

const bound_note *sf_bound_journal_find(const bound_journal *journal, uint32_t list, uint32_t task)
{
    const bound_note key = {.list = list, .task = task};
    if (!journal || !journal->begun)
        return NULL;
    return bsearch(&key, journal->begun, journal->n_begun, sizeof key, compare);
}

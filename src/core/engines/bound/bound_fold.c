/* Turns folds by the symmetries of the lattice, a step at a time: the first step onto a new axis says which axis that
 * is and which way it goes. */
#include "core/engines/bound/bound_fold.h"

#include <stdbool.h>

typedef struct turn {
    bool known[3];
    int axis_as[3], sign[3];
    int n_open;
} turn;

/* The lattice step from a to b, turned. */
static int turned_step(turn *t, bound_place a, bound_place b)
{
    const int by[3] = {b.x - a.x, b.y - a.y, b.z - a.z};
    const int axis = by[0] ? 0 : by[1] ? 1 : 2;
    if (!t->known[axis]) {
        t->known[axis] = true;
        t->axis_as[axis] = t->n_open++;
        t->sign[axis] = by[axis];
    }
    return 2 * t->axis_as[axis] + (by[axis] != t->sign[axis]);
}

void sf_bound_fold_walk(const sf_lattice *lattice, int length, const bound_place *fold, char *walk)
{
    turn t = {.n_open = 0};
    for (int i = 0; i + 1 < length; i++)
        walk[i] = lattice->letter[turned_step(&t, fold[i], fold[i + 1])];
    walk[length - 1] = '\0';
}

void sf_bound_fold_task(const bound_schedule *schedule, const bound_place *fold, int n_placed, bound_task *task)
{
    turn t = {.n_open = 0};
    *task = (bound_task){.n_placed = n_placed};
    (void)turned_step(&t, fold[schedule->seed], fold[schedule->seed + 1]);
    for (int n = 2; n < n_placed; n++) {
        const bound_step *step = &schedule->step[n];
        const int from = step->to_right ? step->right : step->left;
        task->step[n] = (uint8_t)turned_step(&t, fold[from], fold[step->residue]);
    }
}

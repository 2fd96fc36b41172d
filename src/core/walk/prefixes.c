/* The first steps of all reduced conformations, in lexicographic order. They are grown one step at a time until there
 * are enough of them to keep many workers busy: a number fixed here, so that the parts depend on lattice and length
 * alone. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/walk/walk.h"

enum { PREFIXES_ENOUGH = 256 };

int sf_walk_choices(const sf_lattice *lattice, int n_open)
{
    return n_open < lattice->dimension ? 2 * n_open + 1 : lattice->n_steps;
}

int sf_walk_open_axes(const uint8_t *steps, int n_steps)
{
    int n_open = 0;
    for (int i = 0; i < n_steps; i++)
        n_open = steps[i] / 2 >= n_open ? steps[i] / 2 + 1 : n_open;
    return n_open;
}

/* Does the walk come back to where it is after its last step? */
static bool meets_itself(const sf_lattice *lattice, const uint8_t *steps, int n_steps)
{
    int offset[3] = {0};
    for (int i = n_steps - 1; i >= 0; i--) {
        for (int axis = 0; axis < 3; axis++)
            offset[axis] += lattice->step[steps[i]][axis];
        if (offset[0] == 0 && offset[1] == 0 && offset[2] == 0)
            return true;
    }
    return false;
}

/* All self-avoiding extensions by one step; to[] has room for n * lattice->n_steps walks of n_steps + 1 steps. */
static size_t extend(const sf_lattice *lattice, const uint8_t *from, size_t n, int n_steps, uint8_t *to)
{
    size_t n_to = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *walk = from + i * (size_t)n_steps;
        int choices = sf_walk_choices(lattice, sf_walk_open_axes(walk, n_steps));
        for (int step = 0; step < choices; step++) {
            uint8_t *longer = to + n_to * (size_t)(n_steps + 1);
            memcpy(longer, walk, (size_t)n_steps);
            longer[n_steps] = (uint8_t)step;
            n_to += !meets_itself(lattice, longer, n_steps + 1);
        }
    }
    return n_to;
}

int sf_walk_prefixes_init(sf_walk_prefixes *prefixes, const sf_lattice *lattice, int length, sf_error *err)
{
    *prefixes = (sf_walk_prefixes){0};
    if (length < 2 || length > SF_LENGTH_MAX)
        return sf_fail(err, SF_EINPUT, "walks of %d residues cannot be enumerated; 2 to %d are allowed", length,
                       SF_LENGTH_MAX);
    uint8_t *steps = malloc(1);
    size_t n = 1;
    int n_steps = 1;
    if (!steps)
        goto no_memory;
    steps[0] = 0; /* the first step of all */
    while (n < PREFIXES_ENOUGH && n_steps < length - 1) {
        uint8_t *longer = malloc(n * (size_t)lattice->n_steps * (size_t)(n_steps + 1)); /* n is small: no overflow */
        if (!longer)
            goto no_memory;
        n = extend(lattice, steps, n, n_steps, longer);
        n_steps++;
        free(steps);
        steps = longer;
    }
    *prefixes = (sf_walk_prefixes){.lattice = lattice, .length = length, .n_steps = n_steps, .n = n, .steps = steps};
    return SF_OK;

no_memory:
    free(steps);
    return sf_fail(err, SF_ENOMEM, "no memory for the first steps of walks of %d residues", length);
}

void sf_walk_prefixes_free(sf_walk_prefixes *prefixes)
{
    free(prefixes->steps);
    *prefixes = (sf_walk_prefixes){0};
}

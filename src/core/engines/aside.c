/* A list under a lock: few parts are ever given back. */
#include "core/engines/aside.h"

#include <stdlib.h>
#include <string.h>

void sf_aside_free(sf_aside *aside)
{
    for (size_t i = 0; i < aside->n; i++)
        free(aside->parts[i].bytes);
    free(aside->parts);
    aside->parts = NULL;
    aside->n = 0;
}

int sf_aside_keep(sf_aside *aside, size_t part, size_t n_bytes, const void *bytes, sf_error *err)
{
    uint8_t *copy = malloc(n_bytes + 1);
    bool kept = false;
    if (copy && n_bytes > 0)
        memcpy(copy, bytes, n_bytes);
#pragma omp critical(sf_aside)
    {
        sf_aside_part *parts = copy ? realloc(aside->parts, (aside->n + 1) * sizeof *parts) : NULL;
        if (parts) {
            parts[aside->n++] = (sf_aside_part){part, n_bytes, copy};
            aside->parts = parts;
            kept = true;
        }
    }
    if (!kept)
        free(copy);
    return kept ? SF_OK : sf_fail(err, SF_ENOMEM, "out of memory for a sequence that is to be shared");
}

bool sf_aside_has(const sf_aside *aside, size_t part)
{
    bool found = false;
    if (!aside)
        return false;
#pragma omp critical(sf_aside)
    for (size_t i = 0; i < aside->n && !found; i++)
        found = aside->parts[i].part == part;
    return found;
}

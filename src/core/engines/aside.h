/* Parts that a worker gives back before they are done, because others have nothing left to do: then all share them.
 *
 * Which parts these are, and how far they have come, depends on timing; what comes of a part does not, because what was
 * done of it is kept as it would be done again. */
#ifndef SF_CORE_ASIDE_H
#define SF_CORE_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "starfold/error.h"

typedef struct sf_aside_part {
    size_t part;
    size_t n_bytes;
    uint8_t *bytes; /* what was done of it, in the engine's own terms */
} sf_aside_part;

typedef struct sf_aside {
    bool (*wanted)(void *context); /* is somebody idle? Asked by any worker between pieces of its part */
    void *context;
    sf_aside_part *parts; /* owned; in no order */
    size_t n;
} sf_aside;

void sf_aside_free(sf_aside *aside);

/* Takes a part back, with a copy of what was done of it. Thread-safe. SF_ENOMEM. */
int sf_aside_keep(sf_aside *aside, size_t part, size_t n_bytes, const void *bytes, sf_error *err);

/* True when the part was given back. Thread-safe; `aside` may be NULL. */
bool sf_aside_has(const sf_aside *aside, size_t part);

#endif

/* Large arrays: size checked before the multiplication, aligned for every vector width, on huge pages where the system
 * has them (a page fault can cost more than the work on the page). */
#ifndef SF_CORE_BASE_ARRAY_H
#define SF_CORE_BASE_ARRAY_H

#include <stddef.h>

enum { SF_ARRAY_ALIGNMENT = 64 };

/* Room for n elements of `size` bytes (n or size may be 0), aligned to SF_ARRAY_ALIGNMENT, contents undefined. NULL when
 * the product does not fit size_t or memory is out. Freed with free(). */
void *sf_array_alloc(size_t n, size_t size) __attribute__((warn_unused_result));

/* The same, all bytes zero, every page touched. */
void *sf_array_zeroed(size_t n, size_t size) __attribute__((warn_unused_result));

/* Moves the n_used elements of `array` (may be NULL) into room for n_new and frees the old; returns the new array. NULL on
 * failure: the old one is as it was. */
void *sf_array_grow(void *array, size_t n_used, size_t n_new, size_t size) __attribute__((warn_unused_result));

#endif

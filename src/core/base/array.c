/* Large arrays.
 *
 * malloc would do, but hands out fresh 4 KiB pages; on a virtual machine each first touch is a fault of microseconds.
 * Arrays of 2 MiB and more are therefore aligned to huge pages and the kernel is asked for them (it may decline). */
#include "core/base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 1 << 21 };

void *sf_array_alloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : SF_ARRAY_ALIGNMENT;
    size_t rounded = bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
    void *memory = aligned_alloc(unit, rounded);
    if (memory && unit == HUGE_PAGE)
        (void)madvise(memory, rounded, MADV_HUGEPAGE); /* a wish; failure changes nothing but speed */
    return memory;
}

void *sf_array_zeroed(size_t n, size_t size)
{
    void *memory = sf_array_alloc(n, size);
    if (memory)
        memset(memory, 0, n * size);
    return memory;
}

void *sf_array_grow(void *array, size_t n_used, size_t n_new, size_t size)
{
    void *grown = sf_array_alloc(n_new, size);
    if (!grown)
        return NULL;
    if (n_used > 0)
        memcpy(grown, array, n_used * size);
    free(array);
    return grown;
}

/* A table as one block of bytes without pointers, for memory that processes share: its numbers, then its arrays one after
 * the other. What is written on one instruction set opens on another. Read by the same build of the program only. */
#ifndef SF_CORE_TABLE_IMAGE_H
#define SF_CORE_TABLE_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "starfold/error.h"

/* An array that a layout keeps, so that room, images and closing need no list of their own. */
typedef struct sf_table_array {
    void *pointer; /* address of the pointer to the array, whatever the type of its elements */
    uint64_t bytes;
} sf_table_array;

enum { SF_TABLE_ARRAYS = 8, SF_TABLE_IMAGE_ALIGNMENT = 64 };

static inline sf_table_array sf_table_array_of(void *pointer, uint64_t bytes)
{
    return (sf_table_array){pointer, bytes};
}

static inline void *sf_table_array_get(const sf_table_array *array)
{
    void *memory;
    memcpy(&memory, array->pointer, sizeof memory);
    return memory;
}

static inline void sf_table_array_set(const sf_table_array *array, void *memory)
{
    memcpy(array->pointer, &memory, sizeof memory);
}

/* Makes zeroed room for the arrays and adds its bytes to *bytes. SF_ENOMEM: what there is may be freed, the rest is NULL. */
int sf_table_arrays_alloc(size_t n, const sf_table_array *arrays, uint64_t *bytes);

struct sf_table;

/* Bytes of the table's image. */
uint64_t sf_table_image_bytes(const struct sf_table *table);

/* Writes the image to memory of that size, aligned to SF_TABLE_IMAGE_ALIGNMENT. */
void sf_table_image_write(const struct sf_table *table, void *memory);

/* Opens the image in place: nothing of it is copied but the numbers, and it must outlive the table. The kernels are those of
 * sf_isa_get. SF_ECHECK when this is no image of this build, or cut; SF_ENOMEM. *table is NULL on failure. */
int sf_table_image_open(struct sf_table **table, const void *memory, uint64_t bytes, sf_error *err);

#endif

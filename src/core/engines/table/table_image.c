/* An image is the struct of the table as it is, followed by the arrays, each on a boundary of its own: both ends list the
 * arrays by the same functions, so that offsets need not be stored. The pointers in the struct mean nothing there. */
#include "core/engines/table/table_image.h"

#include <stdlib.h>

#include "core/base/array.h"
#include "core/engines/table/table_layouts.h"

typedef struct header {
    char magic[16];
    uint64_t bytes;
    uint64_t head_bytes; /* of this struct: another build may have another */
    sf_table table;
} header;

static const char magic[16] = "starfold table";

int sf_table_arrays_alloc(size_t n, const sf_table_array *arrays, uint64_t *bytes)
{
    int code = 0;
    for (size_t i = 0; i < n; i++) {
        void *memory = sf_array_zeroed((size_t)arrays[i].bytes, 1);
        sf_table_array_set(&arrays[i], memory);
        *bytes += arrays[i].bytes;
        code = memory ? code : SF_ENOMEM;
    }
    return code;
}

static size_t list_arrays(sf_table *table, sf_table_array arrays[2 * SF_TABLE_ARRAYS])
{
    size_t n = 0;
    if (table->kinds & SF_TABLE_SETS)
        n += sf_set_table_arrays(&table->set, arrays);
    if (table->kinds & SF_TABLE_HISTOGRAMS)
        n += sf_sliced_table_arrays(&table->sliced, arrays + n);
    return n;
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + SF_TABLE_IMAGE_ALIGNMENT - 1) / SF_TABLE_IMAGE_ALIGNMENT * SF_TABLE_IMAGE_ALIGNMENT;
}

static uint64_t image_bytes(size_t n, const sf_table_array *arrays)
{
    uint64_t bytes = aligned(sizeof(header));
    for (size_t i = 0; i < n; i++)
        bytes += aligned(arrays[i].bytes);
    return bytes;
}

uint64_t sf_table_image_bytes(const sf_table *table)
{
    sf_table_array arrays[2 * SF_TABLE_ARRAYS];
    sf_table copy = *table;
    return image_bytes(list_arrays(&copy, arrays), arrays);
}

void sf_table_image_write(const sf_table *table, void *memory)
{
    header *head = memory;
    sf_table_array arrays[2 * SF_TABLE_ARRAYS];
    sf_table copy = *table;
    size_t n = list_arrays(&copy, arrays);
    uint8_t *at = (uint8_t *)memory + aligned(sizeof *head);
    memset(head, 0, sizeof *head);
    memcpy(head->magic, magic, sizeof magic);
    head->bytes = image_bytes(n, arrays);
    head->head_bytes = sizeof *head;
    head->table = *table;
    for (size_t i = 0; i < n; i++) {
        memcpy(at, sf_table_array_get(&arrays[i]), (size_t)arrays[i].bytes);
        at += aligned(arrays[i].bytes);
    }
}

int sf_table_image_open(sf_table **table, const void *memory, uint64_t bytes, sf_error *err)
{
    const header *head = memory;
    sf_table_array arrays[2 * SF_TABLE_ARRAYS];
    *table = NULL;
    if ((uintptr_t)memory % SF_TABLE_IMAGE_ALIGNMENT != 0 || bytes < sizeof *head ||
        memcmp(head->magic, magic, sizeof magic) != 0 || head->head_bytes != sizeof *head || head->bytes > bytes)
        return sf_fail(err, SF_ECHECK, "the shared memory holds no table of this build of the program, or only a part of one");
    sf_table *t = malloc(sizeof *t);
    if (!t)
        return sf_fail(err, SF_ENOMEM, "out of memory for a table");
    *t = head->table;
    t->borrowed = true;
    size_t n = list_arrays(t, arrays);
    if (image_bytes(n, arrays) != head->bytes) {
        free(t);
        return sf_fail(err, SF_ECHECK, "the table in shared memory is not as long as it says");
    }
    uint8_t *at = (uint8_t *)(uintptr_t)memory + aligned(sizeof *head);
    for (size_t i = 0; i < n; i++) {
        sf_table_array_set(&arrays[i], at); /* constant: a table is never written to once it is open */
        at += aligned(arrays[i].bytes);
    }
    sf_set_table_dispatch(&t->set);
    sf_sliced_table_dispatch(&t->sliced);
    *table = t;
    return 0;
}

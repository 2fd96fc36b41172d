/* What stands in a table file beside the maps: scalars, and which pair of residues each bit is. */
#ifndef SF_IO_TABLE_HEADER_H
#define SF_IO_TABLE_HEADER_H

#include "io/h5.h"
#include "io/table_file.h"

/* The arrays: low words, high words, counts. */
enum { SF_TABLE_LOW, SF_TABLE_HIGH, SF_TABLE_COUNT, SF_TABLE_ARRAYS };
typedef struct sf_table_array {
    const char *name, *units, *description;
    size_t bytes; /* of a value */
} sf_table_array;
extern const sf_table_array sf_table_arrays[SF_TABLE_ARRAYS];

/* Types of a value in the file and in memory. Nothing to close. */
hid_t sf_table_array_stored(int array);
hid_t sf_table_array_native(int array);

/* The array in memory; NULL for high words that are not there. */
void *sf_table_array_values(const sf_map_table *maps, int array);

/* Creates the dataset of an array, still empty, with its attributes. */
int sf_table_array_create(sf_h5 *h5, int array, size_t n_maps, hid_t *dataset);

/* Groups, scalars and the layout of the bits. */
int sf_table_header_write(sf_h5 *h5, const sf_table_about *about, const sf_contact_layout *layout);

/* Reads the scalars, each within its type and size; what they say is not judged here. */
int sf_table_header_read(sf_h5 *h5, sf_table_about *about);

/* SF_EFORMAT unless the file's bits are these pairs. */
int sf_table_layout_check(sf_h5 *h5, const sf_contact_layout *layout);

#endif

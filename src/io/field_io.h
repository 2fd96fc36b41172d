/* One generic writer and one generic checked reader for the fields of schema.h. */
#ifndef SF_IO_FIELD_IO_H
#define SF_IO_FIELD_IO_H

#include "io/h5.h"
#include "io/schema.h"

/* Creates the field's dataset with units and description; a live file's growing datasets start empty, in chunks of
 * view->room rows (fewer where that is too much for HDF5). */
int sf_field_create(sf_h5 *h5, const sf_view *view, const sf_field *field, hid_t *dataset);

/* Live file: the rows of a growing field for which no other chunk is needed than those which the view's rows need. */
size_t sf_field_room(const sf_view *view, const sf_field *field);

/* Makes the scales and attaches them to every axis, with names. All datasets must exist. */
int sf_fields_attach_scales(sf_h5 *h5, const sf_view *view);

/* Writes the rows first..last-1 along `axis` (an index into the field's axes; -1: everything). */
int sf_field_write(sf_h5 *h5, sf_view *view, const sf_field *field, hid_t dataset, int axis, size_t first, size_t last);

/* Reads and takes all values; a derived field is compared instead. */
int sf_field_read(sf_h5 *h5, sf_view *view, const sf_field *field);

/* Checks the field's dataset as sf_h5_dataset_open does, without reading it. */
int sf_field_check(sf_h5 *h5, const sf_view *view, const sf_field *field);

#endif

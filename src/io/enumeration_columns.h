/* The datasets of an enumeration's file: what was asked, what is known, and of a checkpoint which parts are counted. */
#ifndef SF_IO_ENUMERATION_COLUMNS_H
#define SF_IO_ENUMERATION_COLUMNS_H

#include "io/enumeration_file.h"
#include "io/h5.h"

/* Writes them; their groups must exist. */
int sf_enumeration_columns_write(sf_h5 *h5, const sf_enumeration *e);

/* Reads what does not follow from the rest into arrays of its own; the numbers of `e` say how large they must be. */
int sf_enumeration_columns_read(sf_h5 *h5, sf_enumeration *e);

#endif

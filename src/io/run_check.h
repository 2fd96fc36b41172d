/* What must hold between the values of a run file, whoever wrote it. */
#ifndef SF_IO_RUN_CHECK_H
#define SF_IO_RUN_CHECK_H

#include "io/h5.h"
#include "io/schema.h"

/* The scalars: every size in its range, and their products within what a machine can hold. */
int sf_run_check_scalars(sf_h5 *h5, sf_view *view);

/* Everything else, once it is read; also finds the best fitness. */
int sf_run_check_values(sf_h5 *h5, sf_view *view);

#endif

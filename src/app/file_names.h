/* The files that the command line names, looked at before any work. */
#ifndef SF_APP_FILE_NAMES_H
#define SF_APP_FILE_NAMES_H

#include "app/app.h"

/* SF_EINPUT when a file to write is also read, or two to write are one, and when --perf names what cannot be written:
 * otherwise that is found out after hours of work. For rank 0. */
int sf_app_check_file_names(const sf_app *app, sf_error *err);

#endif

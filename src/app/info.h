/* What `starfold info` says of files that are not of a run; rank 0. SF_EINPUT, SF_EFORMAT as their readers give. */
#ifndef SF_APP_INFO_H
#define SF_APP_INFO_H

#include <stdbool.h>

#include "starfold/error.h"

int sf_census_info(const char *path, bool json, sf_error *err);
int sf_table_info(const char *path, bool json, sf_error *err); /* also `starfold table info` */
int sf_enumeration_info(const char *path, bool json, sf_error *err);

#endif

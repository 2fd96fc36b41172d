/* JSON of Starfold's numbers with cJSON, whose own numbers are doubles: whole numbers are written digit by digit, and
 * those beyond 53 bits as strings of digits, so that no reader rounds them. */
#ifndef SF_APP_JSON_H
#define SF_APP_JSON_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "starfold/error.h"

/* A count: number or string of digits; SF_COUNT_SOME and SF_COUNT_UNKNOWN are null. NULL when out of memory. */
cJSON *sf_json_count(uint64_t count);

/* A signed number within 53 bits. */
cJSON *sf_json_integer(int64_t value);

void sf_json_add_integer(cJSON *object, const char *name, int64_t value);
void sf_json_add_count(cJSON *object, const char *name, uint64_t count);
void sf_json_add_counts(cJSON *object, const char *name, size_t n, const uint64_t *counts);

/* Prints the document and a newline to standard output and deletes it; NULL is answered as out of memory. */
int sf_json_print(cJSON *document, sf_error *err);

#endif

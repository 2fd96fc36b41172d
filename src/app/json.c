/* Numbers go in as raw digits: cJSON would print them as doubles, 10^15 already as 1e+15. */
#include "app/json.h"

#include <inttypes.h>
#include <stdio.h>

#include "starfold/problem.h"

static const uint64_t EXACT_MAX = (UINT64_C(1) << 53) - 1;

cJSON *sf_json_count(uint64_t count)
{
    char digits[24];
    if (count == SF_COUNT_SOME || count == SF_COUNT_UNKNOWN)
        return cJSON_CreateNull();
    snprintf(digits, sizeof digits, "%" PRIu64, count);
    return count > EXACT_MAX ? cJSON_CreateString(digits) : cJSON_CreateRaw(digits);
}

cJSON *sf_json_integer(int64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, value);
    return cJSON_CreateRaw(digits);
}

void sf_json_add_integer(cJSON *object, const char *name, int64_t value)
{
    cJSON_AddItemToObject(object, name, sf_json_integer(value));
}

void sf_json_add_count(cJSON *object, const char *name, uint64_t count)
{
    cJSON_AddItemToObject(object, name, sf_json_count(count));
}

void sf_json_add_counts(cJSON *object, const char *name, size_t n, const uint64_t *counts)
{
    cJSON *list = cJSON_AddArrayToObject(object, name);
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, sf_json_count(counts[i]));
}

int sf_json_print(cJSON *document, sf_error *err)
{
    char *text = document ? cJSON_Print(document) : NULL;
    cJSON_Delete(document);
    if (!text)
        return sf_fail(err, SF_ENOMEM, "out of memory for the JSON document");
    puts(text);
    cJSON_free(text);
    return 0;
}

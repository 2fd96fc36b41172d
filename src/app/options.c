/* Values of options: text in, text out, ranges. The message for a wrong value names the option, what was given and what
 * is allowed, whether it came from the command line, a file or a run file. */
#include "app/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANGE_SIZE = 256 };

const char *sf_origin_name(sf_origin origin)
{
    static const char *const names[] = {
        [SF_ORIGIN_DEFAULT] = "default",
        [SF_ORIGIN_PRESET] = "preset",
        [SF_ORIGIN_FILE] = "file",
        [SF_ORIGIN_COMMAND_LINE] = "command line",
    };
    return names[origin];
}

sf_origin sf_origin_parse(const char *name)
{
    for (sf_origin origin = SF_ORIGIN_DEFAULT; origin <= SF_ORIGIN_COMMAND_LINE; origin++) {
        if (strcmp(sf_origin_name(origin), name) == 0)
            return origin;
    }
    return SF_ORIGIN_DEFAULT;
}

int sf_options_init(sf_options *options, const sf_command *command, sf_error *err)
{
    memset(options, 0, sizeof *options);
    options->command = command;
    for (const sf_option_group *const *group = command->groups; *group; group++) {
        for (size_t i = 0; i < (*group)->n && options->n < SF_OPTIONS_MAX; i++)
            options->option[options->n++] = &(*group)->option[i];
    }
    for (int i = 0; i < options->n; i++) {
        const char *fallback = options->option[i]->fallback;
        int code = fallback ? sf_option_set(options, i, fallback, SF_ORIGIN_DEFAULT, "default ", err) : 0;
        if (code)
            return code;
    }
    return 0;
}

int sf_options_find(const sf_options *options, const char *name)
{
    for (int i = 0; i < options->n; i++) {
        if (strcmp(options->option[i]->name, name) == 0)
            return i;
    }
    return -1;
}

bool sf_options_given(const sf_options *options, const char *name)
{
    int idx = sf_options_find(options, name);
    return idx >= 0 && options->origin[idx] != SF_ORIGIN_DEFAULT;
}

/* Digits only, no sign, no spaces. */
static bool parse_natural(const char *text, uint64_t *value)
{
    *value = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*text - '0'), value))
            return false;
    }
    return true;
}

/* A decimal fraction times 10^decimals, exactly: "0.25" with 3 decimals is 250. No more decimals than that. */
static bool parse_fixed(const char *text, int decimals, uint64_t *value)
{
    char digits[64];
    const char *point = strchr(text, '.');
    size_t whole = point ? (size_t)(point - text) : strlen(text), part = point ? strlen(point + 1) : 0;
    if (whole + (size_t)decimals >= sizeof digits || part > (size_t)decimals || whole + part == 0)
        return false;
    memset(digits, '0', sizeof digits);
    memcpy(digits, text, whole);
    if (point)
        memcpy(digits + whole, point + 1, part);
    digits[whole + (size_t)decimals] = '\0';
    return parse_natural(digits, value);
}

/* [[D-]H:]M:S or seconds with up to 3 decimals, in milliseconds. */
static bool parse_duration(const char *text, uint64_t *value)
{
    if (!strchr(text, ':') && !strchr(text, '-'))
        return parse_fixed(text, 3, value);
    uint64_t days = 0, seconds = 0;
    char field[32];
    const char *dash = strchr(text, '-');
    if (dash) {
        snprintf(field, sizeof field, "%.*s", (int)(dash - text < 20 ? dash - text : 20), text);
        if (!parse_natural(field, &days) || days > 100000)
            return false;
        text = dash + 1;
    }
    for (int i = 0; text; i++) {
        const char *colon = strchr(text, ':');
        size_t n = colon ? (size_t)(colon - text) : strlen(text);
        uint64_t number;
        snprintf(field, sizeof field, "%.*s", (int)(n < 20 ? n : 20), text);
        if (i > 2 || !parse_natural(field, &number) || number > 10000000)
            return false;
        seconds = seconds * 60 + number;
        text = colon ? colon + 1 : NULL;
    }
    *value = (days * 86400 + seconds) * 1000;
    return true;
}

static bool parse_bytes(const char *text, uint64_t *value)
{
    static const char units[] = "KMGT";
    char digits[32];
    size_t n = strlen(text);
    if (n == 0 || n >= sizeof digits)
        return false;
    const char *unit = strchr(units, toupper((unsigned char)text[n - 1]));
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    snprintf(digits, sizeof digits, "%.*s", (int)(n - (unit != NULL)), text);
    return parse_natural(digits, value) && !__builtin_mul_overflow(*value, UINT64_C(1) << shift, value);
}

static bool parse_flag(const char *text, bool *value)
{
    static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no", "off", "0"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
            *value = strcasecmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static void fixed_text(uint64_t value, int decimals, size_t size, char *text)
{
    uint64_t one = 1;
    for (int i = 0; i < decimals; i++)
        one *= 10;
    snprintf(text, size, "%" PRIu64 ".%0*" PRIu64, value / one, decimals, value % one);
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '0')
        text[--n] = '\0';
    if (n > 0 && text[n - 1] == '.')
        text[n - 1] = '\0';
}

/* What is allowed, in words. */
static void range_text(const sf_option *option, size_t size, char *text)
{
    char most[64];
    switch (option->kind) {
    case SF_OPTION_FLAG:
        snprintf(text, size, "allowed are true and false");
        break;
    case SF_OPTION_RATE:
        snprintf(text, size, "allowed is 0 to 1, with at most 9 decimals");
        break;
    case SF_OPTION_DURATION:
        snprintf(text, size, "allowed are seconds (as 90 or 0.5) or [D-]H:M:S%s", option->least ? ", 0.001 at least" : "");
        break;
    case SF_OPTION_BYTES:
        snprintf(text, size, "allowed are bytes, or a number with K, M, G or T");
        break;
    case SF_OPTION_CHOICE: {
        int n = snprintf(text, size, "allowed:");
        for (const char *const *name = option->choices(); *name && n > 0 && (size_t)n < size; name++)
            n += snprintf(text + n, size - (size_t)n, " %s", *name);
        break;
    }
    case SF_OPTION_TEXT:
        snprintf(text, size, "allowed are 1 to %d characters", SF_TEXT_SIZE - 1);
        break;
    case SF_OPTION_MODEL: {
        int n = snprintf(text, size, "allowed:");
        for (const char *const *name = sf_score_model_names(); *name; name++)
            n += snprintf(text + n, size - (size_t)n, " %s", *name);
        snprintf(text + n, size - (size_t)n, ", a file, or a line as HP:1,0;0");
        break;
    }
    default:
        snprintf(most, sizeof most, "%" PRIu64, option->most);
        snprintf(text, size, "allowed is %" PRIu64 " to %s%s", option->least, most, option->why ? option->why : "");
    }
}

static bool parse_choice(const sf_option *option, const char *text, int64_t *value)
{
    const char *const *names = option->choices();
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], text) == 0) {
            *value = i;
            return true;
        }
    }
    return false;
}

static bool in_range(const sf_option *option, uint64_t value)
{
    return value >= option->least && value <= option->most;
}

/* A number without a default may be absent: 0 in the field, "none" as text. */
static bool may_be_none(const sf_option *option)
{
    return option->kind == SF_OPTION_NATURAL && !option->fallback;
}

/* Parses into the field; false when the text is not an allowed value. */
static bool set_field(const sf_option *option, const char *text, void *field)
{
    uint64_t number = 0;
    switch (option->kind) {
    case SF_OPTION_FLAG:
        return parse_flag(text, field);
    case SF_OPTION_INTEGER:
        if (!parse_natural(text, &number) || !in_range(option, number))
            return false;
        *(int64_t *)field = (int64_t)number;
        return true;
    case SF_OPTION_CHOICE:
        return parse_choice(option, text, field);
    case SF_OPTION_TEXT:
        if (!*text || strlen(text) >= SF_TEXT_SIZE)
            return false;
        memcpy(field, text, strlen(text) + 1);
        return true;
    case SF_OPTION_MODEL: {
        sf_score_model model;
        if (sf_score_model_from_line(&model, text, NULL) != 0)
            return false;
        *(sf_score_model *)field = model;
        return true;
    }
    case SF_OPTION_RATE:
        if (!parse_fixed(text, 9, &number))
            return false;
        break;
    case SF_OPTION_DURATION:
        if (!parse_duration(text, &number))
            return false;
        break;
    case SF_OPTION_BYTES:
        if (!parse_bytes(text, &number))
            return false;
        break;
    case SF_OPTION_NATURAL:
        if (may_be_none(option) && strcmp(text, "none") == 0) {
            *(uint64_t *)field = 0;
            return true;
        }
        if (!parse_natural(text, &number))
            return false;
        break;
    }
    if (!in_range(option, number))
        return false;
    *(uint64_t *)field = number;
    return true;
}

int sf_option_set(sf_options *options, int idx, const char *text, sf_origin origin, const char *where, sf_error *err)
{
    const sf_option *option = options->option[idx];
    void *field = (char *)&options->settings + option->offset;
    if (!set_field(option, text, field)) {
        char range[RANGE_SIZE];
        range_text(option, sizeof range, range);
        return sf_fail(err, SF_EINPUT, "%s%s is '%.80s'; %s", where, option->name, text, range);
    }
    options->origin[idx] = origin;
    return 0;
}

int sf_option_give(sf_options *options, int idx, const char *text, sf_origin origin, const char *where, sf_error *err)
{
    sf_score_model model;
    char line[SF_SCORE_MODEL_TEXT_SIZE];
    if (options->option[idx]->kind != SF_OPTION_MODEL || strchr(text, ':') || access(text, F_OK) != 0)
        return sf_option_set(options, idx, text, origin, where, err);
    if (sf_score_model_find(text)) /* a file of that name does not hide a built-in model */
        return sf_option_set(options, idx, text, origin, where, err);
    int code = sf_score_model_read(&model, text, err);
    if (code)
        return code;
    sf_score_model_write(&model, line);
    return sf_option_set(options, idx, line, origin, where, err);
}

void sf_option_text(const sf_options *options, int idx, size_t size, char *text)
{
    const sf_option *option = options->option[idx];
    const void *field = (const char *)&options->settings + option->offset;
    switch (option->kind) {
    case SF_OPTION_FLAG:
        snprintf(text, size, "%s", *(const bool *)field ? "true" : "false");
        break;
    case SF_OPTION_INTEGER:
        snprintf(text, size, "%" PRId64, *(const int64_t *)field);
        break;
    case SF_OPTION_CHOICE:
        snprintf(text, size, "%s", option->choices()[*(const int64_t *)field]);
        break;
    case SF_OPTION_RATE:
        fixed_text(*(const uint64_t *)field, 9, size, text);
        break;
    case SF_OPTION_DURATION:
        fixed_text(*(const uint64_t *)field, 3, size, text);
        break;
    case SF_OPTION_TEXT:
        snprintf(text, size, "%s", (const char *)field);
        break;
    case SF_OPTION_MODEL: {
        char line[SF_SCORE_MODEL_TEXT_SIZE];
        sf_score_model_write(field, line);
        snprintf(text, size, "%s", line);
        break;
    }
    default:
        if (may_be_none(option) && *(const uint64_t *)field == 0)
            snprintf(text, size, "none");
        else
            snprintf(text, size, "%" PRIu64, *(const uint64_t *)field);
    }
}

/* The list of errors, expanded to texts and exit statuses, and the one line that tells a user what happened. */
#include "starfold/error.h"

#include <stdarg.h>
#include <stdio.h>

int sf_fail(sf_error *err, int code, const char *format, ...)
{
    if (!err)
        return code;
    va_list arguments;
    va_start(arguments, format);
    err->code = code;
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    for (char *c = err->text; *c; c++) { /* what is quoted may come out of a hostile file, and a terminal obeys it */
        if (*c == '\n' || *c == '\r' || *c == '\t')
            *c = ' ';
        else if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    }
    return code;
}

const char *sf_error_text(int code)
{
    switch (code) {
    case SF_OK:
        return "no error";
#define SF_ERROR_CASE(name, status, text)                                                                              \
    case name:                                                                                                         \
        return text;
        SF_ERROR_LIST(SF_ERROR_CASE)
#undef SF_ERROR_CASE
    default:
        return "unknown error";
    }
}

int sf_error_status(int code)
{
    switch (code) {
    case SF_OK:
        return 0;
#define SF_ERROR_CASE(name, status, text)                                                                              \
    case name:                                                                                                         \
        return status;
        SF_ERROR_LIST(SF_ERROR_CASE)
#undef SF_ERROR_CASE
    default:
        return 1;
    }
}

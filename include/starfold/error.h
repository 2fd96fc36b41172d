/* Errors of Starfold: one list of codes, and one line of text that says what was wrong, where, and what to do.
 *
 * Every function that can fail returns 0 or a negative code of this list. Those that take an `sf_error` also fill it; the
 * line in it is complete (no newline) and can be shown to a user as it is. Core never prints and never exits. */
#ifndef STARFOLD_ERROR_H
#define STARFOLD_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* code, exit status of the program, general text */
#define SF_ERROR_LIST(X)                                                                                               \
    X(SF_EINPUT, 2, "the input is wrong")                                                                              \
    X(SF_ELIMIT, 2, "the request is beyond a limit")                                                                   \
    X(SF_EEXIST, 2, "the output exists")                                                                               \
    X(SF_EFORMAT, 2, "the file is damaged or of another kind")                                                         \
    X(SF_EMISMATCH, 2, "the file belongs to another configuration")                                                    \
    X(SF_ENOMEM, 1, "out of memory")                                                                                   \
    X(SF_EIO, 1, "reading or writing failed")                                                                          \
    X(SF_EMPI, 1, "a message between ranks failed")                                                                    \
    X(SF_EOVERFLOW, 1, "a counter would overflow")                                                                     \
    X(SF_ECHECK, 1, "a result failed its check")                                                                       \
    X(SF_ESTOPPED, 75, "stopped early with a good checkpoint")

enum sf_error_code {
    SF_OK = 0,
#define SF_ERROR_ENUM(code, status, text) code##_POSITIVE,
    SF_ERROR_LIST(SF_ERROR_ENUM)
#undef SF_ERROR_ENUM
        SF_ERROR_END,
#define SF_ERROR_ENUM(code, status, text) code = -code##_POSITIVE,
    SF_ERROR_LIST(SF_ERROR_ENUM)
#undef SF_ERROR_ENUM
};

enum { SF_ERROR_TEXT_SIZE = 512 };

typedef struct sf_error {
    int code;                      /* 0 or a code of the list */
    char text[SF_ERROR_TEXT_SIZE]; /* one line, no newline */
} sf_error;

/* Fills *err (may be NULL) with the code and the formatted line (cut to fit, newlines become spaces, other control
 * characters '?'); returns `code`, so that a caller can write `return sf_fail(err, SF_EINPUT, "...")`. */
int sf_fail(sf_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* General text of a code; "no error" for 0, "unknown error" for what is not in the list. Static storage. */
const char *sf_error_text(int code);

/* Exit status the program ends with for a code: 0, 1, 2 or 75. */
int sf_error_status(int code);

#ifdef __cplusplus
}
#endif
#endif

/* Options as data. A command lists groups of options; the one table serves the command line (getopt_long), the
 * configuration file (INI, the same names as keys), --help, and what a run file says of its configuration.
 *
 * Where a value comes from, the later wins: default, preset, file, command line. */
#ifndef SF_APP_OPTIONS_H
#define SF_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "app/settings.h"
#include "starfold/error.h"

typedef enum sf_option_kind {
    SF_OPTION_FLAG,     /* bool */
    SF_OPTION_INTEGER,  /* int64_t in least..most */
    SF_OPTION_NATURAL,  /* uint64_t in least..most */
    SF_OPTION_RATE,     /* uint64_t: a decimal fraction in 0..1, stored times SF_RATE_ONE */
    SF_OPTION_DURATION, /* uint64_t milliseconds: seconds with up to 3 decimals, M:S, H:M:S or D-H:M:S */
    SF_OPTION_BYTES,    /* uint64_t: digits with K, M, G or T (powers of 1024) */
    SF_OPTION_CHOICE,   /* int64_t: index into choices() */
    SF_OPTION_TEXT,     /* char[SF_TEXT_SIZE] */
    SF_OPTION_MODEL     /* sf_score_model: a built-in name, or a line of sf_score_model_write */
} sf_option_kind;

/* Behind a range of lengths. */
#define SF_LENGTH_WHY "; all engines work in fixed arrays of 64 residues"

typedef struct sf_option {
    const char *name;     /* long option and key */
    const char *argument; /* as --help shows it; NULL for flags */
    sf_option_kind kind;
    size_t offset;        /* of its field in sf_settings */
    const char *fallback; /* the default as text; NULL: none */
    uint64_t least, most; /* range of numbers */
    const char *const *(*choices)(void);
    bool result; /* can change results: stored in the run file */
    const char *help;
    const char *why; /* the range ends where it does, as said behind it; NULL: nothing to say */
} sf_option;

typedef struct sf_option_group {
    const char *title;
    size_t n;
    const sf_option *option;
} sf_option_group;

extern const sf_option_group sf_group_common, sf_group_problem, sf_group_length, sf_group_engine, sf_group_proof,
    sf_group_enumerate, sf_group_kept, sf_group_search, sf_group_run, sf_group_output, sf_group_levels, sf_group_verify,
    sf_group_copy, sf_group_census, sf_group_table, sf_group_table_build;

typedef enum sf_origin { SF_ORIGIN_DEFAULT, SF_ORIGIN_PRESET, SF_ORIGIN_FILE, SF_ORIGIN_COMMAND_LINE } sf_origin;

struct sf_app;

typedef struct sf_command {
    const char *name;
    const char *words;   /* positional arguments as --help shows them, "" for none */
    const char *summary; /* one line */
    const char *text;    /* what it does, for --help */
    int min_words, max_words;
    const sf_option_group *const *groups; /* ended by NULL */
    int (*run)(struct sf_app *app, sf_error *err);
} sf_command;

enum { SF_OPTIONS_MAX = 64 };

typedef struct sf_options {
    const sf_command *command;
    int n;
    const sf_option *option[SF_OPTIONS_MAX]; /* the command's groups, one after the other */
    sf_origin origin[SF_OPTIONS_MAX];
    sf_settings settings;
    int n_words;
    char **words; /* positional arguments; point into argv */
} sf_options;

/* Fills *options with the command's options at their defaults. */
int sf_options_init(sf_options *options, const sf_command *command, sf_error *err);

/* Reads the command line (argv[0] is the command's name) and what it names: configuration file and preset. SF_EINPUT
 * with one line for whatever is wrong. With --help in it, nothing else is checked. */
int sf_options_read(sf_options *options, int argc, char **argv, sf_error *err);

/* Index of the option of that name, or -1. */
int sf_options_find(const sf_options *options, const char *name);

/* True when the option was given in a file, a preset or on the command line. */
bool sf_options_given(const sf_options *options, const char *name);

/* Sets an option from text. `where` opens the message ("--" for the command line, "FILE line 3: " ...). */
int sf_option_set(sf_options *options, int idx, const char *text, sf_origin origin, const char *where, sf_error *err);

/* The same for a value that a user gave: a score model may also be the name of a file, which is read now. Values that
 * come out of a run file are never taken for names of files. */
int sf_option_give(sf_options *options, int idx, const char *text, sf_origin origin, const char *where, sf_error *err);

/* The present value in its canonical spelling. */
void sf_option_text(const sf_options *options, int idx, size_t size, char *text);

/* "default", "preset", "file", "command line". */
const char *sf_origin_name(sf_origin origin);

/* The origin of that name; SF_ORIGIN_DEFAULT for an unknown one. */
sf_origin sf_origin_parse(const char *name);

/* The name of `names` (ended by NULL) nearest to `word`, or NULL when none is near. */
const char *sf_nearest(const char *word, const char *const *names);

/* Presets as data: names ended by NULL, and the option/value pairs of one (ended by NULLs), or NULL. */
typedef struct sf_preset_pair {
    const char *name, *value;
} sf_preset_pair;
const char *const *sf_preset_names(void);
const sf_preset_pair *sf_preset_find(const char *name);

/* Prints the help of a command. */
void sf_options_help(const sf_command *command, FILE *out);

#endif

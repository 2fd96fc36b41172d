/* Where values come from: the command line (getopt_long), a configuration file (inih), a preset.
 *
 * getopt_long takes any unambiguous beginning of a name for the name; a script that relies on it breaks when a later
 * version adds an option, so only whole names are accepted here, and a wrong one is answered with the nearest. */
#include "app/options.h"

#include <errno.h>
#include <getopt.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_OPTION = 1000, NEAR_LENGTH = 40, WHERE_SIZE = 400, INI_LINES_MAX = 10000 };

/* Edits (insert, delete, replace, swap of neighbours) between two words, compared up to NEAR_LENGTH letters. */
static int word_distance(const char *a, const char *b)
{
    int d[NEAR_LENGTH + 1][NEAR_LENGTH + 1];
    int n = (int)strnlen(a, NEAR_LENGTH), m = (int)strnlen(b, NEAR_LENGTH);
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

const char *sf_nearest(const char *word, const char *const *names)
{
    const char *nearest = NULL;
    int least = (int)strnlen(word, NEAR_LENGTH) / 3 + 1;
    for (; *names; names++) {
        size_t n = strlen(word);
        int distance = n >= 2 && strncmp(word, *names, n) == 0 ? 0 : word_distance(word, *names);
        if (distance <= least && !(nearest && distance == least)) {
            nearest = *names;
            least = distance;
        }
    }
    return nearest;
}

/* Fails for a name that is no option of the command; `prefix` is how options are written there. */
static int unknown_name(const sf_options *options, const char *where, const char *what, const char *prefix,
                        const char *name, sf_error *err)
{
    const char *names[SF_OPTIONS_MAX + 1] = {NULL};
    for (int i = 0; i < options->n; i++)
        names[i] = options->option[i]->name;
    const char *nearest = sf_nearest(name, names);
    if (nearest)
        return sf_fail(err, SF_EINPUT, "%sunknown %s '%s%.60s'; did you mean '%s%s'?", where, what, prefix, name,
                       prefix, nearest);
    return sf_fail(err, SF_EINPUT, "%sunknown %s '%s%.60s'; 'starfold %s --help' lists them", where, what, prefix, name,
                   options->command->name);
}

/* An assignment on the command line, kept until file and preset were read. */
typedef struct assignment {
    int idx;
    const char *text;
} assignment;

/* The name inside --name or --name=value. */
static void option_name(const char *word, size_t size, char *name)
{
    const char *start = word + strspn(word, "-");
    snprintf(name, size, "%.*s", (int)(strcspn(start, "=") < size ? strcspn(start, "=") : size - 1), start);
}

/* Answers a getopt result that is not an option of ours. */
static int refuse_word(const sf_options *options, int result, const char *word, sf_error *err)
{
    char name[64];
    option_name(word, sizeof name, name);
    int idx = strncmp(word, "--", 2) == 0 ? sf_options_find(options, name) : -1;
    if (idx >= 0 && result == ':')
        return sf_fail(err, SF_EINPUT, "--%s needs a value: --%s %s", name, name, options->option[idx]->argument);
    if (idx >= 0)
        return sf_fail(err, SF_EINPUT, "--%s takes no value", name);
    if (strncmp(word, "--", 2) == 0)
        return unknown_name(options, "", "option", "--", name, err);
    return sf_fail(err, SF_EINPUT, "unknown option '%.60s'; options are written out, 'starfold %s --help' lists them",
                   word, options->command->name);
}

/* Collects the assignments of the command line; *n is set. */
static int read_words(sf_options *options, int argc, char **argv, assignment *given, int given_max, int *n,
                      sf_error *err)
{
    struct option names[SF_OPTIONS_MAX + 1];
    memset(names, 0, sizeof names);
    for (int i = 0; i < options->n; i++) {
        names[i].name = options->option[i]->name;
        names[i].has_arg = options->option[i]->kind == SF_OPTION_FLAG ? no_argument : required_argument;
        names[i].val = FIRST_OPTION + i;
    }
    *n = 0;
    optind = 0;
    opterr = 0;
    for (;;) {
        int found = -1, result = getopt_long(argc, argv, ":h", names, &found);
        if (result == -1)
            break;
        /* the word just read is the last one before optind, or the one before its separate value */
        const char *word = argv[optind - (result >= FIRST_OPTION && optarg == argv[optind - 1] ? 2 : 1)];
        char name[64], letter[3] = {'-', (char)optopt, '\0'};
        option_name(word, sizeof name, name);
        if (result == 'h')
            found = sf_options_find(options, "help");
        else if (result < FIRST_OPTION)
            return refuse_word(options, result, optopt > 0 && optopt < FIRST_OPTION ? letter : word, err);
        else if (strcmp(name, options->option[found]->name) != 0)
            return unknown_name(options, "", "option", "--", name, err);
        if (*n == given_max)
            return sf_fail(err, SF_EINPUT, "more than %d options on the command line", given_max);
        given[(*n)++] = (assignment){found, optarg};
    }
    options->n_words = argc - optind;
    options->words = argv + optind;
    return 0;
}

/* ---- the configuration file ---- */

typedef struct ini_state {
    sf_options *options;
    const char *path;
    FILE *file;
    int line;
    bool seen[SF_OPTIONS_MAX];
    bool pass_preset; /* the first pass takes the preset alone */
    int code;
    sf_error *err;
} ini_state;

static void ini_where(const ini_state *state, size_t size, char *where)
{
    snprintf(where, size, "%.300s line %d: ", state->path, state->line);
}

/* fgets that counts lines and does not cut them in silence. */
static char *ini_line(char *text, int size, void *stream)
{
    ini_state *state = stream;
    if (state->code || !fgets(text, size, state->file))
        return NULL;
    state->line++;
    size_t n = strlen(text);
    bool whole = (n > 0 && text[n - 1] == '\n') || feof(state->file);
    if (!whole || n == 0 || state->line > INI_LINES_MAX) {
        char where[WHERE_SIZE];
        ini_where(state, sizeof where, where);
        state->code = sf_fail(state->err, SF_EINPUT, "%s%s; lines may have %d characters, files %d lines", where,
                              whole ? "not a text file, or too long a file" : "the line is too long or has a zero byte",
                              size - 2, INI_LINES_MAX);
        return NULL;
    }
    return text;
}

static int ini_key(void *user, const char *section, const char *name, const char *value)
{
    ini_state *state = user;
    char where[WHERE_SIZE];
    (void)section; /* headings are for the reader */
    if (state->code)
        return 1;
    ini_where(state, sizeof where, where);
    int idx = sf_options_find(state->options, name);
    if (idx < 0 || strcmp(name, "help") == 0 || strcmp(name, "config") == 0)
        state->code = unknown_name(state->options, where, "key", "", name, state->err);
    else if (state->seen[idx])
        state->code = sf_fail(state->err, SF_EINPUT, "%skey '%s' is given twice; give it once", where, name);
    else if (!state->pass_preset)
        state->code = sf_option_give(state->options, idx, value, SF_ORIGIN_FILE, where, state->err);
    else if (strcmp(name, "preset") == 0)
        state->code = sf_option_give(state->options, idx, value, SF_ORIGIN_FILE, where, state->err);
    if (idx >= 0)
        state->seen[idx] = true;
    return 1;
}

static int read_file(sf_options *options, const char *path, bool pass_preset, sf_error *err)
{
    ini_state state = {.options = options, .path = path, .pass_preset = pass_preset, .err = err};
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) /* a pipe can be read once, this is read twice, by every rank */
        return sf_fail(err, SF_EINPUT, "the configuration '%.300s' is %s; give an INI file", path,
                       S_ISDIR(about.st_mode) ? "a folder" : "no regular file");
    state.file = fopen(path, "r");
    if (!state.file)
        return sf_fail(err, SF_EINPUT, "cannot read the configuration '%.300s': %s", path, strerror(errno));
    int bad_line = ini_parse_stream(ini_line, &state, ini_key, &state);
    fclose(state.file);
    if (!state.code && bad_line > 0) {
        state.line = bad_line;
        char where[WHERE_SIZE];
        ini_where(&state, sizeof where, where);
        return sf_fail(err, SF_EINPUT, "%sneither NAME = VALUE nor [heading] nor a comment (#)", where);
    }
    return state.code;
}

static int apply_preset(sf_options *options, const char *name, sf_error *err)
{
    const sf_preset_pair *pair = sf_preset_find(name);
    if (!pair) {
        char known[200] = "";
        for (const char *const *preset = sf_preset_names(); *preset; preset++)
            snprintf(known + strlen(known), sizeof known - strlen(known), " %s", *preset);
        return sf_fail(err, SF_EINPUT, "unknown preset '%.60s'; allowed:%s", name, known);
    }
    for (; pair->name; pair++) {
        int code =
            sf_option_set(options, sf_options_find(options, pair->name), pair->value, SF_ORIGIN_PRESET, "preset ", err);
        if (code)
            return code;
    }
    return 0;
}

/* The last value the command line gives an option, or NULL. */
static const char *last_given(const sf_options *options, const assignment *given, int n, const char *name)
{
    const char *text = NULL;
    for (int i = 0; i < n; i++) {
        if (strcmp(options->option[given[i].idx]->name, name) == 0)
            text = given[i].text ? given[i].text : "";
    }
    return text;
}

static int check_words(const sf_options *options, sf_error *err)
{
    const sf_command *command = options->command;
    if (options->n_words < command->min_words)
        return sf_fail(err, SF_EINPUT, "%s needs %s; 'starfold %s --help' tells more", command->name, command->words,
                       command->name);
    if (options->n_words > command->max_words)
        return sf_fail(err, SF_EINPUT, "%s takes %s, so '%.60s' is too much", command->name,
                       command->max_words ? command->words : "options only", options->words[command->max_words]);
    return 0;
}

int sf_options_read(sf_options *options, int argc, char **argv, sf_error *err)
{
    assignment *given = calloc((size_t)argc + 1, sizeof *given);
    int n = 0;
    if (!given)
        return sf_fail(err, SF_ENOMEM, "out of memory for the command line");
    int code = read_words(options, argc, argv, given, argc + 1, &n, err);
    if (!code && last_given(options, given, n, "help")) {
        options->settings.help = true;
        goto out;
    }
    const char *config = code ? NULL : last_given(options, given, n, "config");
    if (!code && config)
        code = read_file(options, config, true, err);
    const char *preset = code ? NULL : last_given(options, given, n, "preset");
    if (!preset && options->settings.preset[0])
        preset = options->settings.preset;
    if (!code && preset)
        code = apply_preset(options, preset, err);
    if (!code && config)
        code = read_file(options, config, false, err);
    for (int i = 0; !code && i < n; i++)
        code = sf_option_give(options, given[i].idx, given[i].text ? given[i].text : "true", SF_ORIGIN_COMMAND_LINE,
                             "--", err);
    if (!code)
        code = check_words(options, err);
out:
    free(given);
    return code;
}

/* --help, made from the option tables. */
#include "app/options.h"

#include <inttypes.h>
#include <string.h>

enum { HELP_COLUMN = 30, HELP_WIDTH = 96 };

/* Prints words from column `column` on (already there), breaking lines at HELP_WIDTH. */
static void print_wrapped(FILE *out, const char *text, int column)
{
    int at = column;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (at > column && at + 1 + n > HELP_WIDTH) {
            fprintf(out, "\n%*s", column, "");
            at = column;
        } else if (at > column) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", n, text);
        at += n;
        text += n;
        text += *text == ' ';
    }
    fputc('\n', out);
}

static void print_option(FILE *out, const sf_option *option)
{
    char text[1024];
    int n = snprintf(text, sizeof text, "--%s%s%s", option->name, option->argument ? " " : "",
                     option->argument ? option->argument : "");
    fprintf(out, "  %s", text);
    if (n + 4 > HELP_COLUMN)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(out, "%*s", HELP_COLUMN - 2 - n, "");
    n = snprintf(text, sizeof text, "%s", option->help);
    if (option->kind == SF_OPTION_CHOICE) {
        n += snprintf(text + n, sizeof text - (size_t)n, ":");
        for (const char *const *name = option->choices(); *name; name++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s %s", name == option->choices() ? "" : " |", *name);
    }
    bool range = option->kind == SF_OPTION_INTEGER;
    if (option->fallback && range)
        snprintf(text + n, sizeof text - (size_t)n, " (default %s; %" PRIu64 " to %" PRIu64 ")", option->fallback,
                 option->least, option->most);
    else if (range && !strstr(option->help, "default"))
        snprintf(text + n, sizeof text - (size_t)n, " (%" PRIu64 " to %" PRIu64 ")", option->least, option->most);
    else if (option->fallback)
        snprintf(text + n, sizeof text - (size_t)n, " (default %s)", option->fallback);
    print_wrapped(out, text, HELP_COLUMN);
}

void sf_options_help(const sf_command *command, FILE *out)
{
    fprintf(out, "Usage: starfold %s [options]%s%s\n\n", command->name, command->words[0] ? " " : "", command->words);
    print_wrapped(out, command->text, 0);
    for (const sf_option_group *const *group = command->groups; *group; group++) {
        fprintf(out, "\n%s:\n", (*group)->title);
        for (size_t i = 0; i < (*group)->n; i++)
            print_option(out, &(*group)->option[i]);
    }
}

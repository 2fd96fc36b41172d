/* --force says that a file may be replaced, not that the table or the list it is made from may. */
#include "app/file_names.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/run_paths.h"
#include "io/file_kind.h"
#include "io/run_file.h"

static int check_apart(const char *option, const char *path, const char *other_option, const char *other, sf_error *err)
{
    if (!sf_path_is_same(path, other))
        return 0;
    return sf_fail(err, SF_EINPUT, "--%s '%.300s' would replace the file of %s; choose another", option, path, other_option);
}

/* Timings of an earlier command may be replaced, nothing else. */
static int check_perf(const char *path, sf_error *err)
{
    char copy[SF_TEXT_SIZE], inside[SF_TEXT_SIZE + 8];
    snprintf(copy, sizeof copy, "%s", path);
    int code = sf_path_check_output(path, err);
    const char *folder = dirname(copy);
    snprintf(inside, sizeof inside, "%s/.", folder); /* of a file that is not a folder this is not there */
    if (!code && access(inside, W_OK | X_OK) != 0)
        code = sf_fail(err, SF_EINPUT, "--perf '%.300s' cannot be written: folder '%.300s': %s", path, folder, strerror(errno));
    if (!code && sf_path_exists(path) && !sf_file_has_title(path, SF_PERF_TITLE))
        code = sf_fail(err, SF_EEXIST, "--perf '%.300s' exists and holds no timings; choose another file", path);
    return code;
}

int sf_app_check_file_names(const sf_app *app, sf_error *err)
{
    const sf_settings *settings = &app->options.settings;
    const struct {
        const char *option, *path;
    } read[] = {{"--table", settings->table}, {"--file", settings->file}, {"--config", settings->config},
               {"--machine", settings->machine}};
    int code = 0;
    for (size_t i = 0; !code && i < sizeof read / sizeof read[0]; i++) {
        code = check_apart("output", settings->output, read[i].option, read[i].path, err);
        if (!code)
            code = check_apart("perf", settings->perf, read[i].option, read[i].path, err);
    }
    for (int i = 0; !code && i < app->options.n_words && settings->perf[0]; i++)
        code = check_apart("perf", settings->perf, "the command line", app->options.words[i], err);
    if (!code)
        code = check_apart("perf", settings->perf, "--output", settings->output, err);
    return !code && settings->perf[0] ? check_perf(settings->perf, err) : code;
}

/* starfold repair: a killed run's file made whole, on a copy: what it holds up to its last complete block, written anew
 * and closed. The original is not touched; `resume` needs none of this, it starts from the checkpoint. */
#include <inttypes.h>
#include <string.h>

#include "app/run_view.h"

static int write_copy(const sf_run_view *view, const sf_settings *settings, const char *output, sf_error *err)
{
    sf_run_meta meta = view->data.meta;
    sf_live_file *file = NULL;
    if (sf_path_is_same(output, view->paths.output))
        return sf_fail(err, SF_EINPUT, "the copy '%.300s' would replace the run itself; choose another --output",
                       output);
    if (sf_path_exists(output) && !settings->force)
        return sf_fail(err, SF_EEXIST, "%.300s exists; choose another --output, or replace it with --force", output);
    if (!view->data.live) /* a finished file or a checkpoint: written whole, so nothing of it is lost */
        return sf_run_file_write(output, &view->data.record, &meta, err);
    meta.state = "stopped";
    int code = sf_live_file_create(&file, output, &view->data.record, &meta, err);
    sf_live_file_close(file);
    return code;
}

static int repair(sf_app *app, sf_error *err)
{
    const sf_settings *settings = &app->options.settings;
    char output[SF_TEXT_SIZE + 16];
    sf_run_view view;
    if (!sf_app_speaks(app))
        return 0;
    int code = sf_run_view_open(&view, app->options.words[0], err);
    if (!code) {
        size_t n = strlen(view.paths.output);
        bool suffix = n > 3 && strcmp(view.paths.output + n - 3, ".h5") == 0;
        snprintf(output, sizeof output, "%.*s.repaired.h5", (int)(suffix ? n - 3 : n), view.paths.output);
        if (settings->output[0])
            snprintf(output, sizeof output, "%s", settings->output);
        code = sf_path_check_output(output, err);
    }
    if (!code)
        code = write_copy(&view, settings, output, err);
    if (!code && !settings->quiet)
        fprintf(stderr, "%s: generations to %" PRId64 ", %zu sequences\n", output, view.data.record.generation,
                view.data.record.known.n);
    sf_run_view_close(&view);
    return code;
}

static const sf_option_group *const groups[] = {&sf_group_copy, &sf_group_common, NULL};

const sf_command sf_command_repair = {
    .name = "repair",
    .words = "RUN.h5",
    .summary = "make a killed run's file whole, on a copy",
    .text =
        "Writes what the file of a killed run holds, up to its last complete block, to a new file that is closed as it "
        "should be. The file itself is left as it is. To go on with the search use 'starfold resume' instead.",
    .min_words = 1,
    .max_words = 1,
    .groups = groups,
    .run = repair,
};

/* starfold digest: a content hash of an HDF5 file that does not depend on how HDF5 laid it out. */
#include "app/app.h"
#include "app/json.h"
#include "app/run_paths.h"
#include "io/digest.h"

static int digest(sf_app *app, sf_error *err)
{
    const char *path = app->options.words[0];
    char hex[SF_DIGEST_SIZE];
    if (!sf_app_speaks(app))
        return 0;
    if (sf_path_is_folder(path))
        return sf_fail(err, SF_EINPUT, "'%.300s' is a folder; name a file", path);
    int code = sf_digest_file(path, hex, err);
    if (code)
        return code;
    if (!app->options.settings.format) {
        printf("%s  %s\n", hex, path); /* as b2sum and the like print it */
        return 0;
    }
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "file", path);
    cJSON_AddStringToObject(document, "digest", hex);
    return sf_json_print(document, err);
}

static const sf_option_group *const groups[] = {&sf_group_common, NULL};

const sf_command sf_command_digest = {
    .name = "digest",
    .words = "FILE",
    .summary = "a content hash that does not depend on HDF5 layout",
    .text =
        "Prints a hash of what an HDF5 file of Starfold says: values, shapes and attributes, not chunks, compression "
        "or "
        "the order of writing. Of a run file the provenance is left out, so files of different builds compare equal.",
    .min_words = 1,
    .max_words = 1,
    .groups = groups,
    .run = digest,
};

/* What the targets of app share; see fuzz_app.h. */
#include "fuzz_app.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const sf_command *fuzz_command(unsigned k)
{
    static const sf_command *const commands[] = {
        &sf_command_run,  &sf_command_resume, &sf_command_enumerate, &sf_command_census, &sf_command_levels,
        &sf_command_info, &sf_command_verify, &sf_command_repair,    &sf_command_digest, &sf_command_doctor,
    };
    return commands[k % (sizeof commands / sizeof commands[0])];
}

/* Every value as text, and back. A text that is empty was not given. */
static void check_values(sf_options *options)
{
    static sf_settings before;
    static char text[SF_TEXT_SIZE];
    sf_error err = {0};
    before = options->settings;
    for (int i = 0; i < options->n; i++) {
        sf_option_text(options, i, sizeof text, text);
        if (options->option[i]->kind != SF_OPTION_TEXT || text[0])
            (void)!sf_option_set(options, i, text, options->origin[i], "", &err);
        FUZZ_REQUIRE(memcmp(&before, &options->settings, sizeof before) == 0);
    }
}

void fuzz_read_options(const sf_command *command, int n, char **words)
{
    static sf_options options;
    sf_search_config config;
    sf_error err = {0};
    FUZZ_REQUIRE(chdir(fuzz_path("")) == 0);
    FUZZ_REQUIRE(sf_options_init(&options, command, &err) == 0);
    int code = sf_options_read(&options, n, words, &err);
    fuzz_check_error(code, &err);
    if (code || options.settings.help)
        return;
    FUZZ_REQUIRE(options.n_words >= command->min_words && options.n_words <= command->max_words);
    check_values(&options);
    sf_settings_search(&options.settings, &config);
    code = sf_search_config_check(&config, &err);
    fuzz_check_error(code, &err);
}

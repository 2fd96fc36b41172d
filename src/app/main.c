/* starfold: finds the command, reads its options, runs it, and turns what came of it into an exit status and at most
 * one line on standard error, whatever the number of ranks. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/file_names.h"
#include "app/machine.h"
#include "app/peers.h"
#include "app/phases.h"
#include "app/stop.h"
#include "app/table_source.h"
#include "core/base/isa.h"
#include "core/base/memory.h"
#include "io/version.h"

static const sf_command *const commands[] = {
    &sf_command_run,    &sf_command_resume, &sf_command_enumerate, &sf_command_census, &sf_command_table, &sf_command_levels,
    &sf_command_info,   &sf_command_verify, &sf_command_repair,    &sf_command_digest, &sf_command_doctor,
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_overview(void)
{
    printf("Usage: starfold COMMAND [options]\n\n"
           "Searches for HP chains that make good three-star puzzles, and counts every way they fold.\n\n");
    for (int i = 0; i < N_COMMANDS; i++)
        printf("  %-12s%s\n", commands[i]->name, commands[i]->summary);
    printf("\n'starfold COMMAND --help' lists its options. Any command runs alone or under mpirun or srun.\n"
           "Exit status: 0 done; 1 failed; 2 the input is wrong; 75 stopped early with a good checkpoint.\n");
}

/* The command of that name; fails with the nearest, or with all. */
static int find_command(const char *name, const sf_command **command, sf_error *err)
{
    const char *names[N_COMMANDS + 1] = {NULL};
    char list[256] = "";
    for (int i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i]->name;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", names[i]);
        if (strcmp(names[i], name) == 0) {
            *command = commands[i];
            return 0;
        }
    }
    const char *nearest = sf_nearest(name, names);
    if (nearest)
        return sf_fail(err, SF_EINPUT, "unknown command '%.60s'; did you mean '%s'?", name, nearest);
    return sf_fail(err, SF_EINPUT, "unknown command '%.60s'; the commands are %s", name, list);
}

/* --help, --version, or a command; every rank reads the same words and comes to the same end. */
static int run_words(sf_app *app, int argc, char **argv, sf_error *err)
{
    if (argc < 2)
        return sf_fail(err, SF_EINPUT, "no command given; 'starfold --help' lists them");
    bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0;
    if ((help && argc == 2) || strcmp(argv[1], "--version") == 0) {
        if (sf_app_speaks(app) && help)
            print_overview();
        else if (sf_app_speaks(app))
            printf("starfold %s (%s)\n", sf_version, sf_revision);
        return 0;
    }
    const sf_command *command = NULL;
    int code = find_command(argv[help ? 2 : 1], &command, err);
    if (!code)
        code = sf_options_init(&app->options, command, err);
    if (!code && !help)
        code = sf_options_read(&app->options, argc - 1, argv + 1, err);
    if (!code && !help && !app->options.settings.help)
        code = sf_isa_check(err);
    if (!code && !help && !app->options.settings.help)
        code = sf_app_table_check(app, err);
    code = sf_comm_agree(&app->comm, code, err);
    if (code)
        return code;
    if (help || app->options.settings.help) {
        if (sf_app_speaks(app))
            sf_options_help(command, stdout);
        return 0;
    }
    code = sf_app_agree_options(app, err);
    if (!code)
        code = sf_comm_agree(&app->comm, sf_app_speaks(app) ? sf_app_check_file_names(app, err) : 0, err);
    if (!code)
        code = sf_machine_take(app, err);
    if (!code)
        code = sf_peers_watch(app, err);
    if (!code)
        code = command->run(app, err);
    return !code && sf_app_speaks(app) ? sf_phases_write(app, command->name, err) : code;
}

/* Does the command end in order at a signal, so that it can go on later? */
static bool goes_on(int argc, char **argv)
{
    if (strcmp(argv[1], "run") == 0 || strcmp(argv[1], "resume") == 0)
        return true;
    for (int i = 2; i < argc && strcmp(argv[1], "enumerate") == 0; i++) {
        if (strncmp(argv[i], "--output", sizeof "--output" - 1) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    static sf_app app;
    sf_error err = {0, ""};
    sf_phase_begin(SF_PHASE_START);
    sf_memory_tune();
    sf_hdf5_open();
    signal(SIGXFSZ, SIG_IGN); /* a file that may grow no more is an error of the write, with a line of its own */
    if (argc > 1 && goes_on(argc, argv))
        sf_stop_catch_signals(); /* a batch system may send one while MPI begins */
    int code = sf_comm_open(&app.comm, &argc, &argv, &err);
    if (code) {
        const char *task = getenv("SLURM_PROCID"); /* copies that do not know of each other: one of them tells */
        if (!task || strcmp(task, "0") == 0)
            fprintf(stderr, "starfold: %s\n", err.text);
        return sf_error_status(code);
    }
    code = run_words(&app, argc, argv, &err);
    if (!code && sf_app_speaks(&app))
        code = sf_app_flush(&err);
    code = sf_comm_agree(&app.comm, code, &err);
    sf_peers_forget();
    sf_stop_hush();
    if (code && sf_app_speaks(&app)) {
        fflush(stdout);
        fprintf(stderr, "starfold: %s\n", err.text[0] ? err.text : sf_error_text(code));
    }
    sf_comm_close(&app.comm);
    return sf_error_status(code);
}

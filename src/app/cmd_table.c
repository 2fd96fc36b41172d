/* starfold table: contact maps on disk, made once and read by later runs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "app/app.h"
#include "app/explain.h"
#include "app/file_lock.h"
#include "app/info.h"
#include "app/json.h"
#include "app/launch.h"
#include "app/phases.h"
#include "app/progress.h"
#include "app/run_paths.h"
#include "app/table_source.h"
#include "core/contacts/map_build.h"
#include "io/table_file.h"

static const double BYTES_A_MAP = 1.9; /* on disk, about */

/* ---- build ---- */

/* What building and writing take. */
typedef struct cost {
    double seconds;
    uint64_t memory, disk; /* bytes: of each rank; of the file, about */
} cost;

static const char *maps_text(uint64_t maps, char text[64])
{
    char count[32];
    snprintf(text, 64, "%s contact map%s", sf_count_text(maps, count), maps == 1 ? "" : "s");
    return text;
}

/* From what was measured on one core of 2.8 GHz: 4.5 ns a conformation and 0.15 us a map to build, 0.1 us to pack. */
static cost estimate(const sf_app *app, const sf_problem *problem)
{
    const sf_lattice *lattice = problem->lattice;
    double maps = (double)sf_map_table_expected(lattice, problem->length);
    double walks = (double)sf_lattice_conformations(lattice, problem->length), workers = app->comm.size;
    const uint64_t building = sf_map_table_build_bytes(lattice, problem->length, sf_app_threads(app), app->comm.size);
    uint64_t joining = 0; /* a rank's part, and the whole that the ranks of a node share */
    if (app->comm.size > 1)
        joining = sf_map_table_bytes(lattice, problem->length) +
                  (uint64_t)((double)sf_map_table_bytes(lattice, problem->length) / maps *
                             (double)sf_map_table_part_expected(lattice, problem->length, app->comm.size));
    return (cost){
        .seconds = 2e-3 + (4.5e-9 * walks + 1.5e-7 * maps) / (workers * sf_app_threads(app)) + 1e-7 * maps / workers,
        .memory = building > joining ? building : joining,
        .disk = 16384 + (uint64_t)(maps * BYTES_A_MAP),
    };
}

static int explain(const sf_app *app, const sf_problem *problem, sf_error *err)
{
    const cost c = estimate(app, problem);
    const sf_map_options options = {sf_app_threads(app), app->options.settings.memory_limit, NULL};
    sf_error why = {0, ""};
    int refused = sf_map_table_memory_check(problem->lattice, problem->length, (size_t)app->comm.size, &options, &why);
    if (!refused)
        refused = sf_refuse_seconds(app, "building the table", c.seconds, &why);
    char time[32], memory[32], disk[32], maps[64];
    if (app->options.settings.format) {
        cJSON *document = cJSON_CreateObject();
        cJSON_AddStringToObject(document, "lattice", problem->lattice->name);
        sf_json_add_integer(document, "length", problem->length);
        sf_json_add_count(document, "maps", sf_map_table_expected(problem->lattice, problem->length));
        cJSON_AddNumberToObject(document, "seconds", c.seconds);
        sf_json_add_count(document, "memory_bytes", c.memory);
        sf_json_add_count(document, "disk_bytes", c.disk);
        if (refused)
            cJSON_AddStringToObject(document, "refused", why.text);
        int code = sf_json_print(document, err);
        return code || !refused ? code : sf_fail(err, refused, "%s", why.text);
    }
    printf("%s of %d residues on the %s lattice, %d rank%s of %d thread%s\n"
           "  about %s, %s of memory a rank, %s of disk\n",
           maps_text(sf_map_table_expected(problem->lattice, problem->length), maps), problem->length,
           problem->lattice->name, app->comm.size, app->comm.size == 1 ? "" : "s", sf_app_threads(app),
           sf_app_threads(app) == 1 ? "" : "s", sf_seconds_text(c.seconds, time), sf_bytes_text(c.memory, memory),
           sf_bytes_text(c.disk, disk));
    return refused ? sf_fail(err, refused, "%s", why.text) : 0;
}

/* The command line, on every rank. */
static int prepare(const sf_app *app, sf_problem *problem, sf_error *err)
{
    const sf_settings *settings = &app->options.settings;
    sf_engine_options options;
    sf_engine_cost unused;
    if (!settings->length)
        return sf_fail(err, SF_EINPUT, "--length is needed: the residues of a chain");
    if (!settings->output[0] && !settings->explain)
        return sf_fail(err, SF_EINPUT, "--output is needed: the file to write, as --output T.h5");
    sf_app_engine_options(app, &options);
    int code = sf_app_problem(app, (int)settings->length, problem, err);
    return code ? code : sf_engine_estimate("table", problem, &options, &unused, err);
}

static void say_done(const sf_app *app, const sf_map_table *maps, double start_s)
{
    char text[64], time[32], size[32];
    struct stat about;
    if (app->options.settings.quiet || stat(app->options.settings.output, &about) != 0)
        return;
    fprintf(stderr, "%s: %s of %d residues on the %s lattice, %s, %s\n", app->options.settings.output,
            maps_text(maps->n_maps, text), maps->layout.length, maps->lattice->name,
            sf_bytes_text((uint64_t)about.st_size, size), sf_seconds_text(sf_now() - start_s, time));
}

static int build(const sf_app *app, sf_error *err)
{
    const sf_settings *settings = &app->options.settings;
    sf_problem problem;
    sf_maps maps = {0};
    sf_map_options options = {sf_app_threads(app), settings->memory_limit, NULL};
    sf_file_lock lock = {.fd = -1};
    double start_s = sf_now();
    int code = sf_comm_agree(&app->comm, prepare(app, &problem, err), err);
    if (code)
        return code;
    if (settings->explain)
        return sf_comm_agree(&app->comm, sf_app_speaks(app) ? explain(app, &problem, err) : 0, err);
    code = sf_comm_agree(&app->comm, sf_refuse_seconds(app, "building the table", estimate(app, &problem).seconds, err), err);
    if (!code && !options.memory_limit)
        code = sf_launch_memory(app, &options.memory_limit, err);
    if (!code)
        code = sf_comm_agree(&app->comm, sf_app_speaks(app) ? sf_path_claim(settings, &lock, err) : 0, err);
    sf_phase_begin(SF_PHASE_OPEN);
    if (!code)
        code = sf_maps_build_together(&app->comm, &maps, problem.lattice, problem.length, &options, err);
    sf_phase_begin(SF_PHASE_WRITE);
    if (!code)
        code = sf_app_table_write(app, settings->output, &maps.table, problem.model->letter, err);
    if (!code && sf_app_speaks(app))
        say_done(app, &maps.table, start_s);
    sf_maps_free(&maps);
    sf_file_lock_drop(&lock);
    return code;
}

/* ---- info (rank 0) ---- */

static int info_json(const char *path, const sf_table_about *about, uint64_t bytes, sf_error *err)
{
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "file", path);
    cJSON_AddStringToObject(document, "kind", "table");
    cJSON_AddStringToObject(document, "lattice", about->lattice);
    sf_json_add_integer(document, "length", about->length);
    cJSON_AddStringToObject(document, "letters", about->letters);
    sf_json_add_count(document, "maps", about->n_maps);
    sf_json_add_count(document, "conformations", about->conformations);
    sf_json_add_integer(document, "max_contacts", about->max_contacts);
    sf_json_add_count(document, "file_bytes", about->file_bytes);
    sf_json_add_count(document, "memory_bytes", bytes);
    sf_json_add_integer(document, "schema", about->schema);
    cJSON_AddStringToObject(document, "program", about->program);
    cJSON_AddStringToObject(document, "version", about->version);
    cJSON_AddStringToObject(document, "revision", about->revision);
    return sf_json_print(document, err);
}

int sf_table_info(const char *path, bool json, sf_error *err)
{
    sf_map_table maps;
    sf_table_about about;
    char text[32], disk[32], memory[32];
    int code = sf_table_file_read(&maps, &about, path, NULL, err);
    if (code)
        return sf_app_table_advise(code, "build the table anew (starfold table build)", err);
    uint64_t bytes = sf_map_table_bytes(maps.lattice, about.length);
    sf_map_table_free(&maps);
    if (json)
        return info_json(path, &about, bytes, err);
    printf("%s\n", path);
    printf("  chains         %d residues, %s lattice, letters %s\n", about.length, about.lattice, about.letters);
    printf("  contact maps   %s, of at most %d contact%s\n", sf_count_text(about.n_maps, text), about.max_contacts,
           about.max_contacts == 1 ? "" : "s");
    printf("  conformations  %s\n", sf_count_text(about.conformations, text));
    printf("  size           %s on disk, %s in memory\n", sf_bytes_text(about.file_bytes, disk),
           sf_bytes_text(bytes, memory));
    printf("  written by     %s %s (%s), schema %d\n", about.program, about.version, about.revision, about.schema);
    return 0;
}

/* ---- the command ---- */

static int table(sf_app *app, sf_error *err)
{
    const char *action = app->options.words[0];
    bool is_build = strcmp(action, "build") == 0, is_info = strcmp(action, "info") == 0;
    if (!is_build && !is_info)
        return sf_fail(err, SF_EINPUT, "there is no 'starfold table %.60s'; there are 'starfold table build' and 'starfold "
                       "table info'", action);
    if (is_build && app->options.n_words > 1)
        return sf_fail(err, SF_EINPUT, "table build takes options only, so '%.60s' is too much", app->options.words[1]);
    if (is_info && app->options.n_words < 2)
        return sf_fail(err, SF_EINPUT, "table info needs a file: starfold table info T.h5");
    if (is_build)
        return build(app, err);
    return sf_app_speaks(app) ? sf_table_info(app->options.words[1], app->options.settings.format != 0, err) : 0;
}

static const sf_option_group *const groups[] = {&sf_group_length, &sf_group_problem, &sf_group_table_build,
                                                &sf_group_common, NULL};

const sf_command sf_command_table = {
    .name = "table",
    .words = "build --output T.h5 | info T.h5",
    .summary = "contact maps on disk, made once and read by later runs",
    .text =
        "'starfold table build --length N --output T.h5' writes the distinct contact maps of N residues with their "
        "multiplicities: ranks and threads share the work, and the file is the same byte for byte for any number of "
        "them. 'starfold table info T.h5' checks a file and tells what it holds. run, resume, enumerate and census read "
        "it with --table.",
    .min_words = 1,
    .max_words = 2,
    .groups = groups,
    .run = table,
};

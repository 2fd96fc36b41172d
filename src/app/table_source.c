/* Every rank needs the whole table of contact maps, so obvious would be that each builds it, or reads its file; together
 * they are done sooner, and one reader spares the file system. Ranks of a node have one copy of it.
 *
 * In a cache, whoever first misses a table builds it under the lock of its file; others wait for the lock and then find
 * the file, or, when the builder died, have the lock and build. */
#include "app/table_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "app/file_lock.h"
#include "app/run_paths.h"
#include "io/table_file.h"

enum { WAIT_NS = 50000000 };

static const char table_advice[] = "build it anew (starfold table build), or leave --table out";
static const char cache_advice[] = "remove that file, and it is built anew";

int sf_app_table_check(const sf_app *app, sf_error *err)
{
    sf_engine_options options;
    if (!app->options.settings.table[0] || sf_options_find(&app->options, "engine") < 0)
        return 0;
    sf_app_engine_options(app, &options);
    if (strcmp(options.engine, "auto") == 0 || strcmp(options.engine, "table") == 0)
        return 0;
    return sf_fail(err, SF_EINPUT, "--table is read by engine table, not by --engine %s; leave one of them out",
                   options.engine);
}

int sf_app_table_advise(int code, const char *advice, sf_error *err)
{
    if (code != SF_EFORMAT && code != SF_EMISMATCH)
        return code;
    sf_error said = *err;
    return sf_fail(err, code, "%.400s; %s", said.text, advice);
}

/* ---- reading ---- */

/* Rank 0 has read, or failed; all get what it read. Collective. */
static int share(const sf_app *app, const sf_problem *problem, int code, sf_maps *maps, sf_error *err)
{
    code = sf_comm_agree(&app->comm, code, err);
    if (!code)
        code = sf_maps_broadcast(&app->comm, maps, problem->lattice, problem->length, err);
    return code;
}

static int get_from_file(const sf_app *app, const sf_problem *problem, sf_maps *maps, sf_error *err)
{
    int code = 0;
    if (sf_app_speaks(app)) {
        code = sf_table_file_read(&maps->table, NULL, app->options.settings.table, problem, err);
        code = sf_app_table_advise(code, code == SF_EMISMATCH ? "name a table of these, or leave --table out" : table_advice,
                                   err);
    }
    return share(app, problem, code, maps, err);
}

/* ---- building ---- */

static int build(const sf_app *app, const sf_problem *problem, const sf_engine_options *options, sf_maps *maps,
                 sf_error *err)
{
    const sf_map_options how = {options->n_threads, options->memory_limit, options->stop};
    return sf_maps_build_together(&app->comm, maps, problem->lattice, problem->length, &how, err);
}

/* ---- the cache (rank 0 but where said) ---- */

/* The folder that the user told of, or NULL. */
static const char *cache_folder(const sf_app *app)
{
    const char *told = app->options.settings.table_cache, *found = getenv("STARFOLD_CACHE");
    return told[0] ? told : found && found[0] ? found : NULL;
}

/* False when the name is too long. */
static bool cache_name(const char *folder, const sf_problem *problem, char path[SF_TEXT_SIZE])
{
    return snprintf(path, SF_TEXT_SIZE, "%s/%s-%d-%s-v%d.h5", folder, problem->lattice->name, problem->length,
                    problem->model->letter, SF_TABLE_SCHEMA_VERSION) < SF_TEXT_SIZE;
}

void sf_app_table_prefer(const sf_app *app, const sf_problem *problem, sf_engine_options *options)
{
    const char *folder = cache_folder(app);
    char path[SF_TEXT_SIZE];
    const bool named = app->options.settings.table[0];
    if (named && strcmp(options->engine, "auto") == 0)
        options->engine = "table";
    options->maps_at_hand = named || (folder && cache_name(folder, problem, path) && sf_path_exists(path));
}

/* Makes the folder, but not those above it: a name that is wrong shows itself, by the failure or by the remark. */
static int cache_path(const sf_app *app, const char *folder, const sf_problem *problem, char path[SF_TEXT_SIZE], sf_error *err)
{
    if (!cache_name(folder, problem, path))
        return sf_fail(err, SF_EINPUT, "the name of the table cache is too long: '%.300s...'", folder);
    if (mkdir(folder, 0777) == 0) {
        if (!app->options.settings.quiet)
            fprintf(stderr, "remark: the table cache '%.300s' was not there; made that folder\n", folder);
    } else if (errno != EEXIST) {
        return sf_fail(err, SF_EINPUT, "the table cache '%.300s' cannot be made: %s; choose another folder", folder,
                       strerror(errno));
    }
    if (!sf_path_is_folder(folder))
        return sf_fail(err, SF_EINPUT, "the table cache '%.300s' is not a folder; choose another", folder);
    return 0;
}

static int wait_for(const sf_app *app, const char *path, const char *holder, const volatile int *stop, bool *said,
                    sf_error *err)
{
    if (!*said && !app->options.settings.quiet)
        fprintf(stderr, "waiting for %s, built by %s\n", path, holder);
    *said = true;
    if (stop && *stop)
        return sf_fail(err, SF_ESTOPPED, "stopped while waiting for %.300s", path);
    nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    return 0;
}

/* What becomes of a table that is asked of the cache. */
enum { CACHE_FOUND, CACHE_FILLED, CACHE_UNWRITABLE };

/* A folder that others fill, mounted to be read, is no reason to stop. */
static void say_unwritable(const sf_app *app, const char *folder, int error)
{
    if (!app->options.settings.quiet)
        fprintf(stderr, "remark: cannot write in the table cache '%.300s' (%s); the table is built in memory and not kept\n",
                folder, strerror(error));
}

/* Reads the table (CACHE_FOUND), or has the lock to build it (CACHE_FILLED), or cannot write there. */
static int find_in_cache(const sf_app *app, const char *folder, const char *path, const sf_problem *problem,
                         const volatile int *stop, sf_file_lock *lock, int *found, sf_maps *maps, sf_error *err)
{
    *found = CACHE_FOUND;
    char holder[SF_HOLDER_SIZE];
    bool said = false;
    for (;;) {
        if (sf_path_exists(path)) {
            sf_file_lock_drop(lock);
            *found = CACHE_FOUND;
            int code = sf_table_file_read(&maps->table, NULL, path, problem, err);
            return sf_app_table_advise(code, cache_advice, err);
        }
        *found = CACHE_FILLED;
        if (lock->fd >= 0)
            return 0;
        sf_error why = {0, ""};
        int code = sf_file_lock_take(lock, path, holder, &why);
        if (code == SF_EINPUT) {
            *found = CACHE_UNWRITABLE;
            say_unwritable(app, folder, errno);
            return 0;
        }
        *err = why;
        if (code == SF_EEXIST)
            code = wait_for(app, path, holder, stop, &said, err);
        if (code)
            return code;
    }
}

/* Collective. */
static int get_from_cache(const sf_app *app, const char *folder, const sf_problem *problem,
                          const sf_engine_options *options, sf_maps *maps, sf_error *err)
{
    char path[SF_TEXT_SIZE] = "";
    sf_file_lock lock = {.fd = -1};
    bool speaks = sf_app_speaks(app);
    int found = CACHE_FOUND;
    int code = speaks ? cache_path(app, folder, problem, path, err) : 0;
    if (speaks && !code)
        code = find_in_cache(app, folder, path, problem, options->stop, &lock, &found, maps, err);
    code = sf_comm_agree(&app->comm, code, err);
    if (!code)
        code = sf_comm_broadcast(&app->comm, sizeof found, &found, err);
    if (!code && found == CACHE_FOUND)
        code = share(app, problem, code, maps, err);
    else if (!code)
        code = build(app, problem, options, maps, err); /* all ranks write */
    if (!code && found == CACHE_FILLED)
        code = sf_app_table_write(app, path, &maps->table, problem->model->letter, err);
    sf_file_lock_drop(&lock);
    return code;
}

/* ---- what commands call ---- */

int sf_app_maps_get(const sf_app *app, const sf_problem *problem, const sf_engine_options *options, sf_maps *maps,
                    sf_error *err)
{
    const char *folder = cache_folder(app);
    bool cached = folder != NULL;
    *maps = (sf_maps){0};
    int code = sf_comm_broadcast(&app->comm, sizeof cached, &cached, err); /* environments may differ: rank 0's counts */
    if (!code && app->options.settings.table[0])
        code = get_from_file(app, problem, maps, err);
    else if (!code && cached)
        code = get_from_cache(app, folder, problem, options, maps, err);
    else if (!code)
        code = build(app, problem, options, maps, err);
    if (code)
        sf_maps_free(maps);
    return code;
}

/* Names of a run's files, and what is done with them. */
#include "app/run_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void sf_run_paths_init(sf_run_paths *paths, const char *output)
{
    memset(paths, 0, sizeof *paths);
    paths->lock.fd = -1;
    snprintf(paths->output, sizeof paths->output, "%s", output);
    snprintf(paths->checkpoint, sizeof paths->checkpoint, "%s.checkpoint", output);
    snprintf(paths->next, sizeof paths->next, "%s.checkpoint.next", output);
    snprintf(paths->previous, sizeof paths->previous, "%s.checkpoint.previous", output);
    snprintf(paths->stop, sizeof paths->stop, "%s.stop", output);
    size_t n = strlen(output);
    bool suffix = n > 3 && strcmp(output + n - 3, ".h5") == 0;
    snprintf(paths->perf, sizeof paths->perf, "%.*s.perf.h5", (int)(suffix ? n - 3 : n), output);
}

bool sf_path_exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

bool sf_path_is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

bool sf_path_is_same(const char *a, const char *b)
{
    struct stat first, second;
    if (!a[0] || !b[0])
        return false;
    return strcmp(a, b) == 0 || (stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
                                 first.st_ino == second.st_ino);
}

int sf_path_check_output(const char *path, sf_error *err)
{
    enum { NAME_LONGEST = 255 - (int)(sizeof ".checkpoint.previous.new" - 1) }; /* the names beside it are longer */
    struct stat about;
    const size_t n = strlen(path);
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const bool is_folder = sf_path_is_folder(path);
    if (n > 0 && !*name && !is_folder)
        return sf_fail(err, SF_EINPUT, "the output '%.300s' ends with '/', so it is no file's name; name a file", path);
    if (strlen(name) > NAME_LONGEST)
        return sf_fail(err, SF_EINPUT, "the output '%.60s...' has a name of %zu letters; choose one of at most %d", name,
                       strlen(name), NAME_LONGEST);
    if (lstat(path, &about) == 0 && S_ISLNK(about.st_mode) && !is_folder)
        return sf_fail(err, SF_EINPUT, "the output '%.300s' is a link, and would be replaced; name the file that it leads to",
                       path);
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode))
        return 0;
    if (S_ISDIR(about.st_mode))
        return sf_fail(err, SF_EINPUT, "the output '%.300s' is a folder; name a file in it", path);
    return sf_fail(err, SF_EINPUT, "the output '%.300s' is a device, a pipe or a socket; name a file", path);
}

int sf_path_claim(const sf_settings *settings, sf_file_lock *lock, sf_error *err)
{
    int code = sf_path_check_output(settings->output, err);
    if (!code)
        code = sf_file_lock_take(lock, settings->output, NULL, err);
    if (!code)
        sf_file_lock_guard(lock, settings->output);
    if (!code && sf_path_exists(settings->output) && !settings->force)
        code = sf_fail(err, SF_EEXIST, "%.300s exists; choose another output, or replace it with --force", settings->output);
    return code;
}

int sf_run_paths_lock(sf_run_paths *paths, sf_error *err)
{
    return sf_file_lock_take(&paths->lock, paths->output, NULL, err);
}

void sf_run_paths_unlock(sf_run_paths *paths)
{
    sf_file_lock_drop(&paths->lock);
}

bool sf_run_paths_held(const sf_run_paths *paths, char *holder)
{
    return sf_file_lock_held(paths->output, holder);
}

/* Makes the renames in the output's folder last. A folder that cannot be synced is no reason to fail. */
static void sync_folder(const char *output)
{
    char copy[SF_TEXT_SIZE];
    snprintf(copy, sizeof copy, "%s", output);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

int sf_run_paths_install_checkpoint(const sf_run_paths *paths, sf_error *err)
{
    char aside[sizeof paths->previous + 8];
    int code = 0;
    snprintf(aside, sizeof aside, "%s.new", paths->previous);
    unlink(aside);
    if (sf_path_exists(paths->checkpoint)) {
        bool linked = link(paths->checkpoint, aside) == 0 && rename(aside, paths->previous) == 0;
        if (!linked && rename(paths->checkpoint, paths->previous) != 0) /* no hard links here */
            code = sf_fail(err, SF_EIO, "cannot keep %.300s: %s", paths->previous, strerror(errno));
    }
    if (!code && rename(paths->next, paths->checkpoint) != 0)
        code =
            sf_fail(err, SF_EIO, "cannot rename %.200s to %.200s: %s", paths->next, paths->checkpoint, strerror(errno));
    if (code)
        sf_run_paths_sweep(paths);
    else
        sync_folder(paths->output);
    return code;
}

void sf_run_paths_sweep(const sf_run_paths *paths)
{
    static const char *const ends[] = {".tmp", ".checkpoint.next", ".checkpoint.next.tmp", ".checkpoint.previous.new"};
    char path[sizeof paths->perf + 8];
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(path, sizeof path, "%s%s", paths->output, ends[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s.tmp", paths->perf);
    unlink(path);
}

void sf_run_paths_drop_checkpoints(const sf_run_paths *paths)
{
    char damaged[sizeof paths->checkpoint + 16];
    snprintf(damaged, sizeof damaged, "%s.damaged", paths->checkpoint);
    sf_run_paths_sweep(paths);
    unlink(damaged);
    unlink(paths->checkpoint);
    unlink(paths->previous);
}

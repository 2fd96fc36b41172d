/* rename() replaces a file in one step, but only what was synced before survives a crash, and the new name itself lives
 * in the folder, which wants a sync of its own. */
#include "io/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of `path`, in memory of its own. */
static char *folder_of(const char *path)
{
    char *copy = strdup(path);
    char *folder = copy ? strdup(dirname(copy)) : NULL;
    free(copy);
    return folder;
}

static int check_folder(const char *path, const char *folder, sf_error *err)
{
    struct stat info;
    if (stat(folder, &info) != 0)
        return sf_fail(err, SF_EIO, "%s: cannot be written: folder %s: %s", path, folder, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return sf_fail(err, SF_EIO, "%s: cannot be written: %s is not a folder", path, folder);
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return sf_fail(err, SF_EIO, "%s: cannot be written: it is there and is not a regular file", path);
    return 0;
}

int sf_aside_begin(const char *path, char **aside, sf_error *err)
{
    size_t size = strlen(path) + sizeof ".tmp";
    char *folder = folder_of(path);
    *aside = malloc(size);
    int code = 0;
    if (!folder || !*aside) {
        code = sf_fail(err, SF_ENOMEM, "%s: out of memory", path);
    } else {
        snprintf(*aside, size, "%s.tmp", path);
        code = check_folder(path, folder, err);
        if (!code && unlink(*aside) != 0 && errno != ENOENT)
            code =
                sf_fail(err, SF_EIO, "%s: cannot be written: %s cannot be removed: %s", path, *aside, strerror(errno));
    }
    free(folder);
    if (code) {
        free(*aside);
        *aside = NULL;
    }
    return code;
}

/* Syncs a file or a folder; returns 0 or an errno. */
static int sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int reason = fsync(fd) != 0 ? errno : 0;
    if (close(fd) != 0 && reason == 0)
        reason = errno;
    return reason;
}

int sf_aside_commit(const char *path, const char *aside, sf_error *err)
{
    char *folder = folder_of(path);
    if (!folder)
        return sf_fail(err, SF_ENOMEM, "%s: out of memory", path);
    int code = 0, reason = sync_path(aside, O_RDONLY);
    if (reason) {
        code = sf_fail(err, SF_EIO, "%s: cannot be synced to disk: %s", aside, strerror(reason));
    } else if (rename(aside, path) != 0) {
        code = sf_fail(err, SF_EIO, "%s: cannot be renamed from %s: %s", path, aside, strerror(errno));
    } else {
        /* Some network file systems have no sync of folders; there the rename is as safe as it gets. */
        reason = sync_path(folder, O_RDONLY | O_DIRECTORY);
        if (reason && reason != EINVAL && reason != ENOTSUP)
            code = sf_fail(err, SF_EIO, "%s: its folder cannot be synced to disk: %s", path, strerror(reason));
    }
    free(folder);
    return code;
}

void sf_aside_drop(const char *aside)
{
    if (aside)
        unlink(aside);
}

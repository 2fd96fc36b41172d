/* The lock is an fcntl record lock: it ends with its process, however that dies, and most cluster file systems have it.
 * The file's text names the holder for people. Removing a lock file races with another process that has just opened it,
 * so a lock counts only when the locked file is still the one under its name. */
#include "app/run_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_TRIES = 100, HOLDER_SIZE = 256 };

void sf_run_paths_init(sf_run_paths *paths, const char *output)
{
    memset(paths, 0, sizeof *paths);
    paths->lock_fd = -1;
    snprintf(paths->output, sizeof paths->output, "%s", output);
    snprintf(paths->checkpoint, sizeof paths->checkpoint, "%s.checkpoint", output);
    snprintf(paths->next, sizeof paths->next, "%s.checkpoint.next", output);
    snprintf(paths->previous, sizeof paths->previous, "%s.checkpoint.previous", output);
    snprintf(paths->stop, sizeof paths->stop, "%s.stop", output);
    snprintf(paths->lock, sizeof paths->lock, "%s.lock", output);
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

/* One line about this process. */
static void write_holder(int fd)
{
    char line[HOLDER_SIZE], host[128] = "?";
    const char *job = getenv("SLURM_JOB_ID");
    gethostname(host, sizeof host - 1);
    int n = snprintf(line, sizeof line, "process %ld on %s%s%.40s\n", (long)getpid(), host, job ? ", job " : "",
                     job ? job : "");
    if (ftruncate(fd, 0) != 0 || pwrite(fd, line, (size_t)n, 0) != n)
        return; /* the text is a courtesy; the lock holds without it */
}

static void read_holder(const char *path, char *holder)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, holder, HOLDER_SIZE - 1) : 0;
    holder[n > 0 ? n : 0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    for (char *c = holder; *c; c++) { /* another's file: it is shown to people, and a terminal obeys it */
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    }
    if (fd >= 0)
        close(fd);
    if (!holder[0])
        strcpy(holder, "another process");
}

/* Says why nothing can be written beside the output. */
static int refuse_folder(const char *output, int error, sf_error *err)
{
    char copy[SF_TEXT_SIZE];
    struct stat about;
    snprintf(copy, sizeof copy, "%s", output);
    const char *folder = dirname(copy);
    if (stat(folder, &about) != 0)
        return sf_fail(err, SF_EINPUT, "the folder '%.300s' of the output does not exist; make it, or choose another",
                       folder);
    if (!S_ISDIR(about.st_mode))
        return sf_fail(err, SF_EINPUT, "'%.300s' is not a folder, so the output cannot be in it; choose another",
                       folder);
    if (error == ENOSPC || error == EDQUOT || error == EIO)
        return sf_fail(err, SF_EIO, "cannot write in the folder '%.300s' of the output: %s", folder, strerror(error));
    return sf_fail(err, SF_EINPUT, "cannot write in the folder '%.300s' of the output: %s; choose another", folder,
                   strerror(error));
}

static bool same_file(int fd, const char *path)
{
    struct stat here, there;
    return fstat(fd, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

int sf_run_paths_lock(sf_run_paths *paths, sf_error *err)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(paths->lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0)
            return refuse_folder(paths->output, errno, err);
        if (fcntl(fd, F_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) {
            char holder[HOLDER_SIZE];
            read_holder(paths->lock, holder);
            close(fd);
            return sf_fail(err, SF_EEXIST, "%.200s is being written by %s; wait for it, or choose another output",
                           paths->output, holder);
        }
        /* a file system without locks (ENOLCK, ENOSYS) is no reason to lose the run */
        if (same_file(fd, paths->lock)) {
            write_holder(fd);
            paths->lock_fd = fd;
            return 0;
        }
        close(fd);
    }
    return sf_fail(err, SF_EIO, "cannot lock %.300s: the file is removed again and again by others", paths->lock);
}

void sf_run_paths_unlock(sf_run_paths *paths)
{
    if (paths->lock_fd < 0)
        return;
    unlink(paths->lock);
    close(paths->lock_fd);
    paths->lock_fd = -1;
}

bool sf_run_paths_held(const sf_run_paths *paths, char *holder)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(paths->lock, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool held = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    if (held)
        read_holder(paths->lock, holder);
    return held;
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

/* The lock is an fcntl record lock: it ends with its process, however that dies, and most cluster file systems have it.
 * The file's text names the holder for people. Removing a lock file races with another process that has just opened it,
 * so a lock counts only when the locked file is still the one under its name. */
#include "app/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/peers.h"

enum { LOCK_TRIES = 100 };

static void lock_path(const char *output, char path[SF_TEXT_SIZE + 32])
{
    snprintf(path, SF_TEXT_SIZE + 32, "%s.lock", output);
}

/* One line about this process. */
static void write_holder(int fd)
{
    char line[SF_HOLDER_SIZE], host[128] = "?";
    const char *job = getenv("SLURM_JOB_ID");
    gethostname(host, sizeof host - 1);
    int n = snprintf(line, sizeof line, "process %ld on %s%s%.40s\n", (long)getpid(), host, job ? ", job " : "",
                     job ? job : "");
    if (ftruncate(fd, 0) != 0 || pwrite(fd, line, (size_t)n, 0) != n)
        return; /* the text is a courtesy; the lock holds without it */
}

static void read_holder(const char *path, char *holder)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, holder, SF_HOLDER_SIZE - 1) : 0;
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

static int refuse_lock(const char *path, sf_error *err)
{
    return sf_fail(err, SF_EINPUT, "%.300s is a link or no regular file, so it cannot be the lock; remove it, or choose "
                   "another output", path);
}

/* Says why nothing can be written beside the output. */
static int refuse_folder(const char *output, int error, sf_error *err)
{
    char copy[SF_TEXT_SIZE];
    struct stat about;
    snprintf(copy, sizeof copy, "%s", output);
    const char *folder = dirname(copy);
    errno = error; /* the caller may ask, too */
    if (error == ENAMETOOLONG)
        return sf_fail(err, SF_EINPUT, "the name of the output is too long: '%.100s...'; choose a shorter one", output);
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

/* In a folder that others write to, the name may lead to a file of ours elsewhere, which would be emptied, or to a pipe,
 * at which we would wait. */
static bool is_plain(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink <= 1;
}

static bool same_file(int fd, const char *path)
{
    struct stat here, there;
    return fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

int sf_file_lock_take(sf_file_lock *lock, const char *output, char *holder, sf_error *err)
{
    char path[SF_TEXT_SIZE + 32], name[SF_HOLDER_SIZE];
    lock->fd = -1;
    lock_path(output, path);
    for (int i = 0; i < LOCK_TRIES; i++) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (fd < 0)
            return errno == ELOOP || errno == ENXIO ? refuse_lock(path, err) : refuse_folder(output, errno, err);
        if (!is_plain(fd)) {
            close(fd);
            return refuse_lock(path, err);
        }
        if (fcntl(fd, F_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)) {
            read_holder(path, name);
            close(fd);
            if (holder)
                memcpy(holder, name, sizeof name);
            return sf_fail(err, SF_EEXIST, "%.200s is being written by %s; wait for it, or choose another output", output,
                           name);
        }
        /* a file system without locks (ENOLCK, ENOSYS) is no reason to lose the work */
        if (same_file(fd, path)) {
            write_holder(fd);
            snprintf(lock->path, sizeof lock->path, "%s", path);
            lock->fd = fd;
            return 0;
        }
        close(fd);
    }
    return sf_fail(err, SF_EIO, "cannot lock %.300s: the file is removed again and again by others", path);
}

/* ---- signals ---- */

enum { N_SIGNALS = 4 };
static const int end_signals[N_SIGNALS] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};

static struct {
    const sf_file_lock *lock; /* NULL: nothing is guarded */
    char output[SF_TEXT_SIZE], aside[SF_TEXT_SIZE + 32];
    struct stat before; /* of the output; st_ino 0: there was none */
    struct sigaction old[N_SIGNALS];
} guarded;

/* The work is not worth keeping, so there is no flag to poll: only what is safe in a handler, and the end. */
static void on_end(int number)
{
    static const char nothing[] = "starfold: stopped by a signal; nothing was written\n";
    static const char written[] = "starfold: stopped by a signal when the output was written\n";
    struct stat now;
    (void)number;
    const bool gone = sf_peers_tell_gone() >= 0 || sf_peers_told(); /* that is the line, and this signal its consequence */
    sf_peers_hush();                                                /* a rank that ends in order is not missed */
    const bool is_new = stat(guarded.output, &now) == 0 && now.st_ino != guarded.before.st_ino;
    unlink(guarded.aside);
    unlink(guarded.lock->path);
    if (gone)
        _exit(1);
    const ssize_t told = is_new ? write(STDERR_FILENO, written, sizeof written - 1)
                                : write(STDERR_FILENO, nothing, sizeof nothing - 1);
    (void)told; /* there is nothing left to do about it */
    _exit(1);
}

void sf_file_lock_guard(const sf_file_lock *lock, const char *output)
{
    struct sigaction action = {.sa_handler = on_end};
    snprintf(guarded.output, sizeof guarded.output, "%s", output);
    snprintf(guarded.aside, sizeof guarded.aside, "%s.tmp", output);
    memset(&guarded.before, 0, sizeof guarded.before);
    if (stat(output, &guarded.before) != 0)
        guarded.before.st_ino = 0;
    guarded.lock = lock;
    for (int i = 0; i < N_SIGNALS; i++)
        sigaddset(&action.sa_mask, end_signals[i]);
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(end_signals[i], &action, &guarded.old[i]);
}

static void end_guard(const sf_file_lock *lock)
{
    for (int i = 0; guarded.lock == lock && i < N_SIGNALS; i++)
        sigaction(end_signals[i], &guarded.old[i], NULL);
    if (guarded.lock == lock)
        guarded.lock = NULL;
}

void sf_file_lock_drop(sf_file_lock *lock)
{
    if (lock->fd < 0)
        return;
    end_guard(lock);
    unlink(lock->path);
    close(lock->fd);
    lock->fd = -1;
}

bool sf_file_lock_held(const char *output, char *holder)
{
    char path[SF_TEXT_SIZE + 32];
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    lock_path(output, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool held = fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    close(fd);
    if (held)
        read_holder(path, holder);
    return held;
}

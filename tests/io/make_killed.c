/* Writes the file of a made-up running search again and again, each time killed at another write:
 *
 *     io_make_killed FOLDER GENERATIONS ROOM FIRST STEP
 *
 * leaves in FOLDER the files kill-N.h5 (killed before write N), torn-N.h5 (killed amid it) and whole.h5 (not killed),
 * for every STEP-th N from FIRST on. ROOM: bytes that a new file has room for, see sf_live_room. The functions here take
 * the place of the library's: the linker prefers the program's own. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/sample_run.h"

enum { TRIALS = 2, ISLANDS = 3, PATH_SIZE = 512 };

static long n_writes, deadly; /* deadly: the write to die at, 0: none */
static bool torn;

uint64_t test_seed(void)
{
    return 7;
}

uint64_t test_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 40;
}

/* Counts a call; true when it is the one to die at. */
static bool dies(void)
{
    return ++n_writes == deadly;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
}

/* Half of a write is done where that is how it dies. */
#define DEADLY(type, name, parameters, arguments, half)                                                                \
    type name parameters                                                                                               \
    {                                                                                                                  \
        static type(*real) parameters;                                                                                 \
        if (!real)                                                                                                     \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                                                 \
        if (dies()) {                                                                                                  \
            if (torn)                                                                                                  \
                (void)!half;                                                                                           \
            die();                                                                                                     \
        }                                                                                                              \
        return real arguments;                                                                                         \
    }

DEADLY(ssize_t, pwrite, (int fd, const void *b, size_t n, off_t at), (fd, b, n, at), real(fd, b, n / 2, at))
DEADLY(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t at), (fd, b, n, at), real(fd, b, n / 2, at))
DEADLY(int, ftruncate, (int fd, off_t n), (fd, n), 0)
DEADLY(int, ftruncate64, (int fd, off64_t n), (fd, n), 0)
DEADLY(int, rename, (const char *from, const char *to), (from, to), 0)
DEADLY(int, fsync, (int fd), (fd), 0)

/* The file of a run that goes on to the last generation. */
static int write_file(const char *path, int64_t generations)
{
    sample_run run;
    sf_live_file *file;
    sf_error err = {0};
    sample_init(&run, TRIALS, ISLANDS, generations, true);
    int code = sf_live_file_create(&file, path, &run.record, &run.meta, &err);
    while (!code && run.record.generation < generations) {
        sample_step(&run);
        code = sf_live_file_append(file, &run.record, &err);
    }
    if (code)
        fprintf(stderr, "%s\n", err.text);
    else
        sf_live_file_close(file);
    sample_free(&run);
    return code;
}

/* True while there is a write to die at. */
static bool killed(const char *folder, int64_t generations, const char *kind, long at)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s-%ld.h5", folder, kind, at);
    pid_t child = fork();
    if (child == 0) {
        torn = strcmp(kind, "torn") == 0;
        deadly = at;
        _exit(write_file(path, generations));
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status) != 0)) {
        fprintf(stderr, "%s: could not be made\n", path);
        exit(1);
    }
    if (WIFEXITED(status))
        unlink(path);
    return WIFSIGNALED(status);
}

int main(int argc, char **argv)
{
    char path[PATH_SIZE];
    if (argc < 6)
        return 2;
    const int64_t generations = strtoll(argv[2], NULL, 10);
    const long first = strtol(argv[4], NULL, 10), step = strtol(argv[5], NULL, 10);
    sf_live_room = strtoull(argv[3], NULL, 10);
    for (long at = first; killed(argv[1], generations, "kill", at); at += step)
        killed(argv[1], generations, "torn", at);
    snprintf(path, sizeof path, "%s/whole.h5", argv[1]);
    if (write_file(path, generations) != 0)
        return 1;
    printf("%ld writes\n", n_writes);
    return 0;
}

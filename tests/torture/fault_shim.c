/* Preloaded into the program under test: counts its calls that change files of one folder, or its allocations, and lets
 * the n-th go wrong. The unit tests do so module by module; here the whole program, its libraries and all, meets what a
 * bad disk does to it.
 *
 * The environment says what: FAULT_FOLDER (files below it count; "memory": allocations made by the program itself),
 * FAULT_AT (the n-th call, from 1; 0 or absent: only count), FAULT_HOW (kill, torn, short, or the name of an error),
 * FAULT_STICKY (set: all later calls fail too, as on a full disk), FAULT_RANK (only there), FAULT_COUNT (a file that
 * gets the number of calls at exit). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum how { KILL, TORN, SHORT, ERROR };

static const char *folder;
static size_t folder_size;
static bool active, memory, sticky;
static long at;
static enum how how = ERROR;
static int error;
static long n_calls; /* atomic: the program has threads */
static uintptr_t text_first, text_last;
static pid_t owner;

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

/* AddressSanitizer's, in a program that was built with it. */
extern void *__interceptor_malloc(size_t n) __attribute__((weak));
extern void *__interceptor_calloc(size_t n, size_t size) __attribute__((weak));
extern void *__interceptor_realloc(void *old, size_t n) __attribute__((weak));
extern void *__interceptor_aligned_alloc(size_t alignment, size_t n) __attribute__((weak));

/* The first object is the program itself. */
static int find_text(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && header->p_flags & PF_X) {
            text_first = info->dlpi_addr + header->p_vaddr;
            text_last = text_first + header->p_memsz;
        }
    }
    return 1;
}

__attribute__((constructor)) static void begin(void)
{
    static const struct {
        const char *name;
        int value;
    } errors[] = {{"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EIO", EIO}, {"EROFS", EROFS}, {"ENOMEM", ENOMEM}};
    char program[4096] = "";
    const char *text = getenv("FAULT_HOW"), *rank = getenv("FAULT_RANK"), *mine = getenv("OMPI_COMM_WORLD_RANK");
    folder = getenv("FAULT_FOLDER");
    if (!folder || readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return;
    const char *base = strrchr(program, '/');
    if (!base || strcmp(base, "/starfold") != 0 || (rank && mine && strcmp(rank, mine) != 0))
        return;
    folder_size = strlen(folder);
    memory = strcmp(folder, "memory") == 0;
    sticky = getenv("FAULT_STICKY") != NULL;
    at = getenv("FAULT_AT") ? strtol(getenv("FAULT_AT"), NULL, 10) : 0;
    if (text && strcmp(text, "kill") == 0)
        how = KILL;
    else if (text && strcmp(text, "torn") == 0)
        how = TORN;
    else if (text && strcmp(text, "short") == 0)
        how = SHORT;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        error = text && strcmp(text, errors[i].name) == 0 ? errors[i].value : error;
    dl_iterate_phdr(find_text, NULL);
    owner = getpid();
    active = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_COUNT");
    if (!active || !path || getpid() != owner)
        return;
    active = false;
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "%ld\n", n_calls);
        fclose(file);
    }
}

/* Counts a call; true when it has to go wrong. A kill happens here, but for one in the middle of a write. */
static bool fault_in(bool a_write)
{
    long n = __atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED);
    if (at <= 0 || n < at || (n > at && !sticky))
        return false;
    if (how == KILL || (how == TORN && !a_write))
        kill(getpid(), SIGKILL);
    errno = error;
    return true;
}

static bool fault(void)
{
    return fault_in(false);
}

static bool below(const char *path)
{
    return active && !memory && strncmp(path, folder, folder_size) == 0;
}

static bool fd_below(int fd)
{
    char name[64], path[4096];
    if (!active || memory)
        return false;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return below(path);
}

#define REAL(type, name, parameters)                                                                                   \
    static type(*real) parameters;                                                                                     \
    if (!real)                                                                                                         \
    *(void **)&real = dlsym(RTLD_NEXT, name)

/* ---- writing ---- */

static ssize_t write_at(int fd, const void *bytes, size_t n, off64_t where)
{
    REAL(ssize_t, "pwrite64", (int, const void *, size_t, off64_t));
    if (!fd_below(fd) || !fault_in(true))
        return real(fd, bytes, n, where);
    if (how == TORN) {
        (void)!real(fd, bytes, n / 2, where);
        kill(getpid(), SIGKILL);
    }
    if (how == SHORT)
        return real(fd, bytes, n > 1 ? n / 2 : n, where);
    return -1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t where)
{
    return write_at(fd, bytes, n, where);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t where)
{
    return write_at(fd, bytes, n, where);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    REAL(ssize_t, "write", (int, const void *, size_t));
    if (!fd_below(fd) || !fault())
        return real(fd, bytes, n);
    return how == SHORT ? real(fd, bytes, n > 1 ? n / 2 : n) : -1;
}

size_t fwrite(const void *bytes, size_t size, size_t n, FILE *file)
{
    REAL(size_t, "fwrite", (const void *, size_t, size_t, FILE *));
    if (!active || memory || !fd_below(fileno(file)) || !fault())
        return real(bytes, size, n, file);
    return how == SHORT ? real(bytes, size, n / 2, file) : 0;
}

/* What stdio still held is written by this, so it can fail like a write. */
int fclose(FILE *file)
{
    REAL(int, "fclose", (FILE *));
    bool bad = active && !memory && fd_below(fileno(file)) && fault() && how != SHORT;
    int status = real(file);
    if (bad)
        errno = error;
    return bad ? EOF : status;
}

static int cut(int fd, off64_t n)
{
    REAL(int, "ftruncate64", (int, off64_t));
    return fd_below(fd) && fault() && how != SHORT ? -1 : real(fd, n);
}

int ftruncate64(int fd, off64_t n)
{
    return cut(fd, n);
}

int ftruncate(int fd, off_t n)
{
    return cut(fd, n);
}

int fsync(int fd)
{
    REAL(int, "fsync", (int));
    return fd_below(fd) && fault() && how != SHORT ? -1 : real(fd);
}

/* ---- names ---- */

int rename(const char *from, const char *to)
{
    REAL(int, "rename", (const char *, const char *));
    return below(to) && fault() && how != SHORT ? -1 : real(from, to);
}

int link(const char *from, const char *to)
{
    REAL(int, "link", (const char *, const char *));
    return below(to) && fault() && how != SHORT ? -1 : real(from, to);
}

/* Removing works on a full disk, so it is only a place to be killed at. */
int unlink(const char *path)
{
    REAL(int, "unlink", (const char *));
    if (below(path) && (how == KILL || how == TORN))
        (void)fault();
    return real(path);
}

/* ---- opening, where a file may be made ---- */

static int open_file(const char *path, int flags, mode_t mode)
{
    REAL(int, "open64", (const char *, int, mode_t));
    return below(path) && flags & O_CREAT && fault() && how != SHORT ? -1 : real(path, flags, mode);
}

static mode_t mode_of(int flags, va_list more)
{
    return flags & O_CREAT ? va_arg(more, mode_t) : 0;
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = mode_of(flags, more);
    va_end(more);
    return open_file(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = mode_of(flags, more);
    va_end(more);
    return open_file(path, flags, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    REAL(FILE *, "fopen64", (const char *, const char *));
    return below(path) && mode[0] != 'r' && fault() && how != SHORT ? NULL : real(path, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    return fopen64(path, mode);
}

/* ---- memory ---- */

/* The C library answers ENOMEM whatever is asked for. */
static bool no_memory(const void *caller)
{
    uintptr_t place = (uintptr_t)caller;
    if (!active || !memory || place < text_first || place >= text_last || !fault())
        return false;
    errno = ENOMEM;
    return true;
}

static void *allocate(size_t n)
{
    return __interceptor_malloc ? __interceptor_malloc(n) : __libc_malloc(n);
}

static void *allocate_aligned(size_t alignment, size_t n)
{
    return __interceptor_aligned_alloc ? __interceptor_aligned_alloc(alignment, n) : __libc_memalign(alignment, n);
}

void *malloc(size_t n)
{
    return no_memory(__builtin_return_address(0)) ? NULL : allocate(n);
}

void *calloc(size_t n, size_t size)
{
    if (no_memory(__builtin_return_address(0)))
        return NULL;
    return __interceptor_calloc ? __interceptor_calloc(n, size) : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
    if (no_memory(__builtin_return_address(0)))
        return NULL;
    return __interceptor_realloc ? __interceptor_realloc(old, n) : __libc_realloc(old, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return no_memory(__builtin_return_address(0)) ? NULL : allocate_aligned(alignment, n);
}

int posix_memalign(void **place, size_t alignment, size_t n)
{
    if (no_memory(__builtin_return_address(0)))
        return ENOMEM;
    *place = allocate_aligned(alignment, n);
    return *place ? 0 : ENOMEM;
}

char *strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = no_memory(__builtin_return_address(0)) ? NULL : allocate(n);
    return copy ? memcpy(copy, text, n) : NULL;
}

/* Runs a fuzz target without libFuzzer: every file of its corpus, then mutations of them, the same ones every time.
 *
 *     fuzz_NAME CORPUS_FOLDER MUTATIONS       in the tests
 *     fuzz_NAME FILE                          one input, as libFuzzer's own programs take it
 *
 * The seed is printed and can be set (STARFOLD_TEST_SEED). An input that the program dies of is left in the file
 * replay-crash of the working folder, to be given again. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

enum { FILES_MAX = 256, INPUT_MAX = 1 << 16, PATH_SIZE = 4096, EDITS_MAX = 8, RUN_MAX = 64 };

typedef struct input {
    uint8_t *bytes;
    size_t n;
} input;

static input corpus[FILES_MAX];
static size_t n_corpus;
static uint64_t random_state;

static uint64_t next_random(void) /* splitmix64 */
{
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t below(size_t n)
{
    return n ? (size_t)(next_random() % n) : 0;
}

static void take_file(const char *path)
{
    FUZZ_REQUIRE(n_corpus < FILES_MAX);
    input *in = &corpus[n_corpus++];
    in->bytes = fuzz_read(path, &in->n);
    FUZZ_REQUIRE(in->n <= INPUT_MAX / 2);
}

/* The files by name: the order of a folder is not the same everywhere. */
static void take_folder(const char *path)
{
    struct dirent **entry;
    int n = scandir(path, &entry, NULL, alphasort);
    FUZZ_REQUIRE(n >= 0);
    for (int i = 0; i < n; i++) {
        char file[PATH_SIZE];
        snprintf(file, sizeof file, "%s/%s", path, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.')
            take_file(file);
        free(entry[i]);
    }
    free(entry);
    FUZZ_REQUIRE(n_corpus > 0);
}

/* Puts `n` bytes into the input at `at`, moving the rest up. */
static void insert(uint8_t *bytes, size_t *n, size_t at, const uint8_t *what, size_t n_what)
{
    if (*n + n_what > INPUT_MAX)
        return;
    memmove(bytes + at + n_what, bytes + at, *n - at);
    memmove(bytes + at, what, n_what);
    *n += n_what;
}

static void edit(uint8_t *bytes, size_t *n)
{
    static const uint8_t odd[] = {0, 1, '\n', '\r', ' ', '"', '#', '%', '-', '.', '0', '9', ':', ';', '=', 0x7f, 0x80, 0xff};
    const input *other = &corpus[below(n_corpus)];
    uint8_t run[RUN_MAX];
    size_t at = below(*n + 1), left = *n - at, n_run = 1 + below(left < RUN_MAX ? left : RUN_MAX);
    switch (below(6)) {
    case 0:
        if (left)
            bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        if (left)
            bytes[at] = below(2) ? odd[below(sizeof odd)] : (uint8_t)next_random();
        break;
    case 2:
        insert(bytes, n, at, &odd[below(sizeof odd)], 1);
        break;
    case 3:
        if (n_run <= left) {
            memmove(bytes + at, bytes + at + n_run, left - n_run);
            *n -= n_run;
        }
        break;
    case 4:
        if (n_run <= left) {
            memcpy(run, bytes + at, n_run);
            for (size_t k = 1 + below(4); k > 0; k--)
                insert(bytes, n, at, run, n_run);
        }
        break;
    default:
        if (other->n) {
            size_t from = below(other->n), n_from = 1 + below(other->n - from < RUN_MAX ? other->n - from : RUN_MAX);
            if (from + n_from <= other->n)
                insert(bytes, n, at, other->bytes + from, n_from);
        }
    }
}

static uint8_t *present; /* the input being run */
static size_t n_present;

static void keep_present(int number)
{
    signal(number, SIG_DFL);
    int fd = open("replay-crash", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd >= 0 && write(fd, present, n_present) == (ssize_t)n_present)
        close(fd);
    raise(number);
}

/* An input of exactly its size, so that a checker of memory sees what reads beyond. */
static void run(const uint8_t *bytes, size_t n)
{
    uint8_t *exact = malloc(n ? n : 1);
    FUZZ_REQUIRE(exact != NULL);
    memcpy(exact, bytes, n);
    present = exact;
    n_present = n;
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

int main(int argc, char **argv)
{
    static uint8_t bytes[INPUT_MAX];
    const char *seed_text = getenv("STARFOLD_TEST_SEED");
    struct stat about;
    if (argc < 2 || stat(argv[1], &about) != 0) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER MUTATIONS, or %s FILE\n", argv[0], argv[0]);
        return 2;
    }
    if (S_ISDIR(about.st_mode))
        take_folder(argv[1]);
    else
        take_file(argv[1]);
    for (const int *number = (const int[]){SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, 0}; *number; number++)
        signal(*number, keep_present);
    for (size_t i = 0; i < n_corpus; i++)
        run(corpus[i].bytes, corpus[i].n);
    run(bytes, 0);
    const long n_mutations = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    const uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : UINT64_C(20261129);
    printf("%zu files, %ld mutations, seed %" PRIu64 "\n", n_corpus, n_mutations, seed);
    fflush(stdout);
    for (long k = 0; k < n_mutations; k++) {
        random_state = seed + (uint64_t)k * UINT64_C(0x5851f42d4c957f2d);
        const input *from = &corpus[below(n_corpus)];
        size_t n = from->n;
        memcpy(bytes, from->bytes, n);
        for (size_t edits = 1 + below(EDITS_MAX); edits > 0; edits--)
            edit(bytes, &n);
        run(bytes, n);
    }
    for (size_t i = 0; i < n_corpus; i++)
        free(corpus[i].bytes);
    return 0;
}

/* What the fuzz targets share; see fuzz.h. */
#include "fuzz.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static pid_t owner;

void fuzz_require(bool good, const char *file, int line)
{
    if (good)
        return;
    fprintf(stderr, "%s:%d: not as promised\n", file, line);
    abort();
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    if (getpid() == owner)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_path(const char *name)
{
    static char path[8][128];
    static unsigned turn;
    if (!folder[0]) {
        owner = getpid();
        strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/starfold-fuzz-XXXXXX" : "/tmp/starfold-fuzz-XXXXXX");
        FUZZ_REQUIRE(mkdtemp(folder) != NULL);
        atexit(remove_folder);
    }
    char *p = path[turn++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

void fuzz_write(const char *path, size_t n, const void *bytes)
{
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file != NULL);
    FUZZ_REQUIRE(n == 0 || fwrite(bytes, 1, n, file) == n);
    FUZZ_REQUIRE(fclose(file) == 0);
}

uint8_t *fuzz_read(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    FUZZ_REQUIRE(file != NULL);
    FUZZ_REQUIRE(fseek(file, 0, SEEK_END) == 0);
    *n = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*n + 1);
    FUZZ_REQUIRE(bytes != NULL);
    FUZZ_REQUIRE(fread(bytes, 1, *n, file) == *n);
    fclose(file);
    return bytes;
}

void fuzz_check_error(int code, const sf_error *err)
{
    if (code == 0)
        return;
    FUZZ_REQUIRE(code == err->code && strcmp(sf_error_text(code), "unknown error") != 0);
    FUZZ_REQUIRE(err->text[0] != '\0' && strnlen(err->text, sizeof err->text) < sizeof err->text);
    for (const char *c = err->text; *c; c++) /* a terminal obeys what is below a space */
        FUZZ_REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
}

uint8_t fuzz_byte(fuzz_source *source)
{
    if (source->n == 0)
        return 0;
    source->n--;
    return *source->at++;
}

uint64_t fuzz_number(fuzz_source *source, int n_bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < n_bytes; i++)
        value |= (uint64_t)fuzz_byte(source) << (8 * i);
    return value;
}

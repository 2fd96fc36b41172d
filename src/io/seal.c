/* The seal: 16 bytes that say what it is, then 32 bytes of BLAKE2b over everything before. */
#include "io/seal.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "io/blake2b.h"

enum { HASH_SIZE = 32, MARK_SIZE = 16, SEAL_SIZE = HASH_SIZE + MARK_SIZE };

static const char mark[MARK_SIZE + 1] = "starfold seal 1\n";

/* Hashes the first n bytes, or, with n < 0, all. Returns false when reading failed. */
static bool hash_file(FILE *file, int64_t n, uint8_t hash[HASH_SIZE])
{
    static const size_t size = 1 << 16;
    uint8_t buffer[1 << 16];
    sf_blake2b state;
    sf_blake2b_init(&state, HASH_SIZE);
    while (n != 0) {
        size_t want = n > 0 && n < (int64_t)size ? (size_t)n : size;
        size_t got = fread(buffer, 1, want, file);
        sf_blake2b_add(&state, buffer, got);
        if (n > 0)
            n -= (int64_t)got;
        if (got < want)
            break;
    }
    sf_blake2b_end(&state, hash);
    return !ferror(file) && n <= 0;
}

int sf_seal_write(const char *path, const char *shown, sf_error *err)
{
    uint8_t seal[SEAL_SIZE];
    FILE *file = fopen(path, "rb");
    bool good = file && hash_file(file, -1, seal + MARK_SIZE);
    int reason = errno;
    if (file)
        fclose(file);
    if (!good)
        return sf_fail(err, SF_EIO, "%s: cannot be read back: %s", shown, strerror(reason));
    memcpy(seal, mark, MARK_SIZE);
    file = fopen(path, "ab");
    good = file && fwrite(seal, 1, SEAL_SIZE, file) == SEAL_SIZE;
    reason = errno;
    if (file && fclose(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    return good ? 0 : sf_fail(err, SF_EIO, "%s: cannot be written: %s", shown, strerror(reason));
}

int sf_seal_check(const char *path, bool *sealed, sf_error *err)
{
    uint8_t seal[SEAL_SIZE], hash[HASH_SIZE];
    *sealed = false;
    FILE *file = fopen(path, "rb");
    if (!file)
        return sf_fail(err, SF_EINPUT, "%s: cannot be opened: %s", path, strerror(errno));
    int code = 0;
    if (fseeko(file, -SEAL_SIZE, SEEK_END) == 0) {
        off_t n = ftello(file);
        *sealed = fread(seal, 1, SEAL_SIZE, file) == SEAL_SIZE && memcmp(seal, mark, MARK_SIZE) == 0;
        rewind(file);
        if (*sealed && n > 0) {
            if (!hash_file(file, n, hash))
                code = sf_fail(err, SF_EIO, "%s: cannot be read: %s", path, strerror(errno));
            else if (memcmp(hash, seal + MARK_SIZE, HASH_SIZE) != 0)
                code = sf_fail(err, SF_EFORMAT, "%s: is damaged: its bytes do not fit its seal", path);
        }
    }
    fclose(file);
    return code;
}

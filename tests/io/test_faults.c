/* Every call that may fail made to fail in turn: allocations of ours, calls of HDF5, and under HDF5 the writes, as on a
 * full disk. Each time there is a code and a line, the file that was there is as it was, nothing is left aside, and the
 * next try without a fault succeeds. The functions here take the place of the library's (the linker prefers the
 * program's own); allocations are wrapped by the linker, so that HDF5 keeps its own. */
#include <dlfcn.h>
#include <errno.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/apart.h"
#include "io/census_file.h"
#include "io/digest.h"
#include "sample_run.h"

enum kind { NOTHING, ALLOCATION, CALL, WRITING };

static enum kind armed;
static long countdown; /* calls of the armed kind until one fails */
static bool sticky;    /* all later ones fail too, as on a full disk */
static bool deadly;    /* the process is killed there and then */
static bool hit;
static bool reading; /* closing what was read may fail unheard */

static bool fault(enum kind kind)
{
    if (armed != kind || (countdown > 0 && countdown-- > 1))
        return false;
    if (hit && !sticky)
        return false;
    hit = true;
    if (deadly)
        kill(getpid(), SIGKILL);
    return true;
}

static void find_real(void *function, const char *name)
{
    void **place = function;
    if (!*place)
        *place = dlsym(RTLD_NEXT, name);
}

#define FAULTY(kind, type, bad, name, parameters, arguments)                                                           \
    type name parameters;                                                                                              \
    type name parameters                                                                                               \
    {                                                                                                                  \
        static type(*real) parameters;                                                                                 \
        find_real(&real, #name);                                                                                       \
        if (fault(kind)) {                                                                                             \
            errno = ENOSPC;                                                                                            \
            return bad;                                                                                                \
        }                                                                                                              \
        return real arguments;                                                                                         \
    }

FAULTY(WRITING, ssize_t, -1, pwrite, (int fd, const void *b, size_t n, off_t at), (fd, b, n, at))
FAULTY(WRITING, ssize_t, -1, pwrite64, (int fd, const void *b, size_t n, off64_t at), (fd, b, n, at))
FAULTY(WRITING, int, -1, ftruncate, (int fd, off_t n), (fd, n))
FAULTY(WRITING, int, -1, ftruncate64, (int fd, off64_t n), (fd, n))
FAULTY(WRITING, int, -1, fsync, (int fd), (fd))
FAULTY(WRITING, int, -1, rename, (const char *a, const char *b), (a, b))
FAULTY(WRITING, size_t, 0, fwrite, (const void *b, size_t s, size_t n, FILE *f), (b, s, n, f))

FAULTY(CALL, hid_t, -1, H5Fcreate, (const char *p, unsigned f, hid_t c, hid_t a), (p, f, c, a))
FAULTY(CALL, hid_t, -1, H5Fopen, (const char *p, unsigned f, hid_t a), (p, f, a))
FAULTY(CALL, herr_t, -1, H5Fflush, (hid_t o, H5F_scope_t s), (o, s))
FAULTY(CALL, hid_t, -1, H5Gcreate2, (hid_t o, const char *n, hid_t l, hid_t c, hid_t a), (o, n, l, c, a))
FAULTY(CALL, hid_t, -1, H5Gopen2, (hid_t o, const char *n, hid_t a), (o, n, a))
FAULTY(CALL, hid_t, -1, H5Dcreate2, (hid_t o, const char *n, hid_t t, hid_t s, hid_t l, hid_t c, hid_t a),
       (o, n, t, s, l, c, a))
FAULTY(CALL, hid_t, -1, H5Dopen2, (hid_t o, const char *n, hid_t a), (o, n, a))
FAULTY(CALL, herr_t, -1, H5Dwrite, (hid_t d, hid_t t, hid_t m, hid_t f, hid_t p, const void *b), (d, t, m, f, p, b))
FAULTY(CALL, herr_t, -1, H5Dread, (hid_t d, hid_t t, hid_t m, hid_t f, hid_t p, void *b), (d, t, m, f, p, b))
FAULTY(CALL, herr_t, -1, H5Dset_extent, (hid_t d, const hsize_t *n), (d, n))
FAULTY(CALL, hid_t, -1, H5Dget_type, (hid_t d), (d))
FAULTY(CALL, hid_t, -1, H5Dget_space, (hid_t d), (d))
FAULTY(CALL, hid_t, -1, H5Dget_create_plist, (hid_t d), (d))
FAULTY(CALL, hid_t, -1, H5Acreate2, (hid_t o, const char *n, hid_t t, hid_t s, hid_t c, hid_t a), (o, n, t, s, c, a))
FAULTY(CALL, hid_t, -1, H5Aopen, (hid_t o, const char *n, hid_t a), (o, n, a))
FAULTY(CALL, herr_t, -1, H5Awrite, (hid_t a, hid_t t, const void *b), (a, t, b))
FAULTY(CALL, herr_t, -1, H5Aread, (hid_t a, hid_t t, void *b), (a, t, b))
FAULTY(CALL, hid_t, -1, H5Screate, (H5S_class_t c), (c))
FAULTY(CALL, hid_t, -1, H5Screate_simple, (int r, const hsize_t *n, const hsize_t *m), (r, n, m))
FAULTY(CALL, herr_t, -1, H5Sselect_hyperslab,
       (hid_t s, H5S_seloper_t o, const hsize_t *a, const hsize_t *b, const hsize_t *c, const hsize_t *d),
       (s, o, a, b, c, d))
FAULTY(CALL, hid_t, -1, H5Pcreate, (hid_t c), (c))
FAULTY(CALL, herr_t, -1, H5Pset_obj_track_times, (hid_t p, hbool_t t), (p, t))
FAULTY(CALL, herr_t, -1, H5Pset_chunk, (hid_t p, int r, const hsize_t *n), (p, r, n))
FAULTY(CALL, herr_t, -1, H5Pset_deflate, (hid_t p, unsigned l), (p, l))
FAULTY(CALL, herr_t, -1, H5Pset_fclose_degree, (hid_t p, H5F_close_degree_t d), (p, d))
FAULTY(CALL, hid_t, -1, H5Tcopy, (hid_t t), (t))
FAULTY(CALL, hid_t, -1, H5Tcreate, (H5T_class_t c, size_t n), (c, n))
FAULTY(CALL, hid_t, -1, H5Tvlen_create, (hid_t t), (t))
FAULTY(CALL, herr_t, -1, H5Tinsert, (hid_t t, const char *n, size_t at, hid_t m), (t, n, at, m))
FAULTY(CALL, herr_t, -1, H5Rcreate, (void *r, hid_t o, const char *n, H5R_type_t k, hid_t s), (r, o, n, k, s))
FAULTY(CALL, herr_t, -1, H5Lget_info, (hid_t o, const char *n, H5L_info_t *i, hid_t a), (o, n, i, a))

/* Readers meet their faults in this process. */
int sf_apart_try(const char *file, int (*work)(void *context, sf_error *err), void *context, sf_error *err)
{
    (void)file;
    (void)work;
    (void)context;
    (void)err;
    return 0;
}

int sf_apart_do(const char *file, int (*work)(void *context, sf_error *err), void *context, sf_error *err)
{
    (void)file;
    return work(context, err);
}

/* Closing happens all the same. */
herr_t H5Fclose(hid_t file);
herr_t H5Fclose(hid_t file)
{
    static herr_t (*real)(hid_t);
    find_real(&real, "H5Fclose");
    herr_t status = real(file);
    return !reading && fault(CALL) ? -1 : status;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t n);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t n);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t n)
{
    return fault(ALLOCATION) ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fault(ALLOCATION) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t n)
{
    return fault(ALLOCATION) ? NULL : __real_realloc(old, n);
}

char *__wrap_strdup(const char *text)
{
    return fault(ALLOCATION) ? NULL : __real_strdup(text);
}

/* For the leak checker: a file whose close failed stays in HDF5's own memory. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

/* ---- what is tried ---- */

static sample_run run;
static const char *path;

static int write_whole(sf_error *err)
{
    return sf_run_file_write(path, &run.record, &run.meta, err);
}

static int write_perf(sf_error *err)
{
    const sf_perf_entry entries[] = {{"/time/total", "s", "wall time", 2.5, NULL}, {"/host", "", "where", 0, "here"}};
    return sf_perf_file_write(path, 2, entries, err);
}

static int write_live(sf_error *err)
{
    sf_live_file *file;
    int code = sf_live_file_create(&file, path, &run.record, &run.meta, err);
    armed = NOTHING; /* all is in the file: closing has no answer to give */
    if (!code)
        sf_live_file_close(file);
    return code;
}

static int read_whole(sf_error *err)
{
    sf_run_data data;
    reading = true;
    int code = sf_run_file_read(&data, path, err);
    reading = false;
    CU_ASSERT_TRUE(code == 0 || (!data.record.stats && !data.config && !data.levels));
    sf_run_data_free(&data);
    return code;
}

static int digest(sf_error *err)
{
    char hex[SF_DIGEST_SIZE];
    reading = true;
    int code = sf_digest_file(path, hex, err);
    reading = false;
    return code;
}

/* A census of chains of three residues, as it might be: small, but of every kind of dataset. */
static int write_census(sf_error *err)
{
    static uint64_t row[] = {4, 1, 1, 1, 5, 0, 3, 0}, sequences[] = {0, 3, 1}, n_shapes[] = {0, 1, 1}, range[18];
    static const uint64_t fitness[] = {0, 3, 5}, best_score[] = {3, 5};
    static const uint8_t each[8] = {1, 1, 2, 2, 2, 2, 2, 1};
    const sf_shapes shapes = {.n_scores = 2, .n = 2, .room = 2, .row = row};
    const sf_shapes_summary summary = {2, 5, sequences, n_shapes, range};
    const sf_census_data data = {
        .about = {.lattice = "square", .length = 3, .letters = "HP", .model = "hp", .n_scores = 2, .n_sequences = 8,
                  .n_shapes = 2},
        .fitness = fitness,
        .best_score = best_score,
        .each_fitness = each,
        .each_best = each,
        .shapes = &shapes,
        .summary = &summary};
    return sf_census_file_write(path, &data, err);
}

static int read_census(sf_error *err)
{
    static char census_path[300];
    const char *run_path = path;
    sf_census_about about;
    uint64_t fitness[SF_CENSUS_SCORES_MAX + 1], best_score[SF_CENSUS_SCORES_MAX];
    enum kind kind = armed;
    armed = NOTHING;
    snprintf(census_path, sizeof census_path, "%s.census", run_path);
    path = census_path;
    int code = access(path, F_OK) == 0 ? 0 : write_census(err);
    path = run_path;
    armed = kind;
    reading = true;
    if (!code)
        code = sf_census_file_read(&about, fitness, best_score, census_path, err);
    reading = false;
    return code;
}

static bool is_same(const uint8_t *bytes, size_t n)
{
    size_t m;
    uint8_t *now = sample_bytes(path, &m);
    bool same = now && n == m && memcmp(bytes, now, n) == 0;
    free(now);
    return same;
}

/* Fails the 1st, 2nd, 3rd ... call of the kind until none is left to fail. Returns how many there were. Of the many
 * calls of HDF5 every third is taken, from a random one on; all of them with STARFOLD_TEST_ALL set. */
static long try_all(int (*work)(sf_error *err), enum kind kind, bool all_later, const char *name)
{
    sf_error err = {0};
    size_t n;
    CU_ASSERT_EQUAL_FATAL(sf_run_file_write(path, &run.record, &run.meta, &err), 0);
    uint8_t *before = sample_bytes(path, &n);
    char aside[300];
    snprintf(aside, sizeof aside, "%s.tmp", path);
    nanosleep(&(struct timespec){0, 50000000}, NULL); /* a file just written is read once more when that fails */
    uint64_t random = test_seed();
    long step = kind == CALL && !getenv("STARFOLD_TEST_ALL") ? 3 : 1;
    long k = 1 + (long)(test_random(&random) % (uint64_t)step);
    for (;; k += step) {
        memset(&err, 0, sizeof err);
        armed = kind;
        countdown = k;
        sticky = all_later;
        hit = false;
        int code = work(&err);
        armed = NOTHING;
        if (!hit)
            break;
        bool good = code != 0 && err.code == code && err.text[0] && access(aside, F_OK) != 0;
        /* Once the new file has its name only the folder's sync is left to fail. */
        bool kept = is_same(before, n) || strstr(err.text, "its folder cannot be synced");
        if (!good || !kept)
            printf("\n  %s, fault %ld: code %d, %s\n", name, k, code, err.text);
        CU_ASSERT_TRUE(good);
        CU_ASSERT_TRUE(kept);
        if (!good && k > 3000)
            break;
        if (strstr(err.text, "its folder"))
            CU_ASSERT_EQUAL(sf_run_file_write(path, &run.record, &run.meta, &err), 0);
    }
    free(before);
    memset(&err, 0, sizeof err);
    CU_ASSERT_EQUAL(work(&err), 0);
    printf("%ld %s, ", k - step, name);
    return k - step;
}

static void begin(void)
{
    path = sample_path("faults.h5");
    sample_init(&run, 2, 2, 3, true);
    sample_run_to(&run, 3);
}

static void test_allocations(void)
{
    begin();
    CU_ASSERT_TRUE(try_all(write_whole, ALLOCATION, false, "writing") > 20);
    CU_ASSERT_TRUE(try_all(read_whole, ALLOCATION, false, "reading") > 20);
    CU_ASSERT_TRUE(try_all(write_live, ALLOCATION, false, "live") > 20);
    CU_ASSERT_TRUE(try_all(write_perf, ALLOCATION, false, "perf") > 2);
    CU_ASSERT_TRUE(try_all(digest, ALLOCATION, false, "digest") > 20);
    CU_ASSERT_TRUE(try_all(write_census, ALLOCATION, false, "census") > 10);
    sample_free(&run);
}

static void test_calls(void)
{
    begin();
    CU_ASSERT_TRUE(try_all(write_whole, CALL, false, "writing") > 500);
    CU_ASSERT_TRUE(try_all(read_whole, CALL, false, "reading") > 500);
    CU_ASSERT_TRUE(try_all(write_live, CALL, false, "live") > 500);
    CU_ASSERT_TRUE(try_all(write_perf, CALL, false, "perf") > 10);
    CU_ASSERT_TRUE(try_all(digest, CALL, false, "digest") > 500);
    CU_ASSERT_TRUE(try_all(write_census, CALL, false, "census") > 200);
    CU_ASSERT_TRUE(try_all(read_census, CALL, false, "reading a census") > 100);
    sample_free(&run);
}

static void test_full_disk(void)
{
    begin();
    CU_ASSERT_TRUE(try_all(write_whole, WRITING, true, "writing") > 20);
    CU_ASSERT_TRUE(try_all(write_perf, WRITING, true, "perf") > 5);
    CU_ASSERT_TRUE(try_all(write_live, WRITING, true, "live") > 20);
    CU_ASSERT_TRUE(try_all(write_census, WRITING, true, "census") > 20);
    sample_free(&run);
}

/* Appends fail for want of room: the file stays readable up to the last good one. */
static void test_full_disk_live(void)
{
    sample_run other;
    sf_error err = {0};
    sample_init(&other, 2, 2, 40, false);
    path = sample_path("full.h5");
    for (long k = 1; k < 120; k += 7) {
        sf_live_file *file;
        sample_free(&other);
        sample_init(&other, 2, 2, 40, false);
        CU_ASSERT_EQUAL_FATAL(sf_live_file_create(&file, path, &other.record, &other.meta, &err), 0);
        armed = WRITING;
        countdown = k;
        sticky = true;
        hit = false;
        int64_t appended = -1;
        while (other.record.generation < 30) {
            sample_step(&other);
            if (sf_live_file_append(file, &other.record, &err) != 0)
                break;
            appended = other.record.generation;
        }
        CU_ASSERT_TRUE(hit);
        sf_live_file_close(file);
        armed = NOTHING;
        sf_run_data data;
        int code = sf_run_file_read(&data, path, &err);
        if (code)
            printf("\n  fault %ld: %s\n", k, err.text);
        CU_ASSERT_EQUAL(code, 0);
        CU_ASSERT_TRUE(code != 0 || data.record.generation >= appended);
        sf_run_data_free(&data);
    }
    sample_free(&other);
}

/* Does the work in a child that is killed at the k-th write; false when there were not so many. */
static bool kill_at(long k, int (*work)(sf_error *err))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        sf_error err = {0};
        armed = WRITING;
        countdown = k;
        deadly = true;
        hit = false;
        _exit(work(&err) ? 2 : 0);
    }
    int status = -1;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_TRUE(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    return WIFSIGNALED(status);
}

static void read_after(long k, int64_t least)
{
    sf_error err = {0};
    sf_run_data data;
    int code = sf_run_file_read(&data, path, &err);
    if (code)
        printf("\n  killed at write %ld: %s\n", k, err.text);
    CU_ASSERT_EQUAL(code, 0);
    CU_ASSERT_TRUE(code != 0 || data.record.generation >= least);
    sf_run_data_free(&data);
}

/* Over a good file: it is the old one or the new one. */
static void test_killed_writing(void)
{
    sf_error err = {0};
    begin();
    CU_ASSERT_EQUAL_FATAL(sf_run_file_write(path, &run.record, &run.meta, &err), 0);
    long k = 1;
    for (; kill_at(k, write_whole); k++)
        read_after(k, 3);
    CU_ASSERT_TRUE(k > 20);
    CU_ASSERT_EQUAL(sf_run_file_write(path, &run.record, &run.meta, &err), 0); /* over what was left aside */
    printf("%ld kills ... ", k - 1);
    sample_free(&run);
}

static int append_on(sf_error *err)
{
    sf_live_file *file;
    int code = sf_live_file_create(&file, path, &run.record, &run.meta, err);
    while (!code && run.record.generation < 30) {
        sample_step(&run);
        code = sf_live_file_append(file, &run.record, err);
    }
    if (!code)
        sf_live_file_close(file);
    return code;
}

/* Amid appends: the file reads, as far as it was complete. */
static void test_killed_appending(void)
{
    sf_error err = {0};
    path = sample_path("appended.h5");
    sample_init(&run, 2, 2, 40, true);
    CU_ASSERT_EQUAL_FATAL(sf_run_file_write(path, &run.record, &run.meta, &err), 0);
    uint64_t random = test_seed();
    int n = 0;
    for (long k = 1; kill_at(k, append_on); n++) {
        read_after(k, -1);
        k += getenv("STARFOLD_TEST_ALL") ? 1 : 1 + (long)(test_random(&random) % 60);
    }
    CU_ASSERT_TRUE(n > 50);
    read_after(0, 30);
    printf("%d kills ... ", n);
    sample_free(&run);
}

const test_case test_cases[] = {
    {"allocations", test_allocations},
    {"calls of HDF5", test_calls},
    {"full disk", test_full_disk},
    {"full disk, live file", test_full_disk_live},
    {"killed while writing", test_killed_writing},
    {"killed while appending", test_killed_appending},
    {NULL, NULL},
};

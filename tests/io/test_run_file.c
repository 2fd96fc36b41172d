/* Run files: what goes in comes out, the same record gives the same bytes, kills and failures leave what was good. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample_run.h"

static sf_error error, *const err = &error;

static void check_ok(int code)
{
    if (code != 0)
        printf("\n  %d: %s\n", code, err->text);
    CU_ASSERT_EQUAL_FATAL(code, 0);
}

/* What the record and the file say of the same sequence, whatever their rows. */
static void compare_known(const sf_known *a, const sf_known *b)
{
    CU_ASSERT_EQUAL_FATAL(a->n, b->n);
    for (size_t row = 0; row < a->n; row++) {
        size_t other = sf_known_find(b, a->genome + row * SAMPLE_LENGTH);
        CU_ASSERT_NOT_EQUAL_FATAL(other, SIZE_MAX);
        CU_ASSERT_EQUAL(memcmp(a->histogram + row * SAMPLE_SCORES, b->histogram + other * SAMPLE_SCORES,
                               SAMPLE_SCORES * sizeof(uint64_t)),
                        0);
        CU_ASSERT_EQUAL(a->fitness[row], b->fitness[other]);
        CU_ASSERT_EQUAL(a->best_score[row], b->best_score[other]);
        CU_ASSERT_EQUAL(a->exact[row], b->exact[other]);
        CU_ASSERT_FALSE(sf_place_less(&a->first[row], &b->first[other]));
        CU_ASSERT_FALSE(sf_place_less(&b->first[other], &a->first[row]));
    }
}

static void compare_trajectory(const sf_record *a, const sf_record *b)
{
    CU_ASSERT_EQUAL_FATAL(a->generation, b->generation);
    for (int32_t t = 0; t < a->config.trials; t++) {
        for (int64_t g = 0; g <= a->generation; g++) {
            size_t at = sf_record_stats_index(a, t, g, 0);
            for (size_t i = at; i < at + (size_t)a->config.islands; i++) {
                CU_ASSERT_EQUAL(a->stats[i].best, b->stats[i].best);
                CU_ASSERT_EQUAL(a->stats[i].worst, b->stats[i].worst);
                CU_ASSERT_EQUAL(a->stats[i].sum, b->stats[i].sum);
                CU_ASSERT_EQUAL(a->stats[i].n_at_best, b->stats[i].n_at_best);
                CU_ASSERT_EQUAL(a->stats[i].n_distinct, b->stats[i].n_distinct);
            }
        }
    }
}

static void compare_migrants(const sf_record *a, const sf_record *b)
{
    CU_ASSERT_EQUAL_FATAL(a->n_migrants, b->n_migrants);
    for (size_t k = 0; k < a->n_migrants; k++) {
        size_t found = 0;
        for (size_t m = 0; m < b->n_migrants; m++) {
            const sf_migrant *x = &a->migrant[k], *y = &b->migrant[m];
            found += x->trial == y->trial && x->from == y->from && x->to == y->to && x->index == y->index &&
                     x->sent == y->sent && x->taken == y->taken && x->fate == y->fate &&
                     memcmp(a->migrant_genome + k * SAMPLE_LENGTH, b->migrant_genome + m * SAMPLE_LENGTH,
                            SAMPLE_LENGTH) == 0;
        }
        CU_ASSERT_EQUAL(found, 1);
    }
}

static void compare_meta(const sample_run *run, const sf_run_data *data)
{
    CU_ASSERT_STRING_EQUAL(data->meta.lattice, "square");
    CU_ASSERT_STRING_EQUAL(data->meta.letters, "HP");
    CU_ASSERT_STRING_EQUAL(data->meta.state, run->meta.state);
    CU_ASSERT_EQUAL(data->meta.witness_size, SAMPLE_LENGTH);
    CU_ASSERT_STRING_EQUAL(data->program, "starfold");
    CU_ASSERT_EQUAL_FATAL(data->meta.n_config, 4);
    CU_ASSERT_STRING_EQUAL(data->config[0].name, "alpha");
    CU_ASSERT_STRING_EQUAL(data->config[0].value, "");
    CU_ASSERT_STRING_EQUAL(data->config[2].name, "population");
    CU_ASSERT_STRING_EQUAL(data->config[2].value, "6");
    CU_ASSERT_STRING_EQUAL(data->config[2].origin, "command line");
    CU_ASSERT_EQUAL(memcmp(&run->record.config, &data->record.config, sizeof run->record.config), 0);
}

static void test_round_trip(void)
{
    for (int keep = 0; keep < 2; keep++) {
        sample_run run;
        sf_run_data data;
        const char *path = sample_path("round.h5"), *again = sample_path("again.h5"), *copy = sample_path("copy.h5");
        sample_init(&run, 3, 4, 12, keep);
        sample_run_to(&run, 12);
        run.meta.state = "finished";
        check_ok(sf_run_file_write(path, &run.record, &run.meta, err));
        check_ok(sf_run_file_write(again, &run.record, &run.meta, err));
        CU_ASSERT_TRUE(sample_same_bytes(path, again));
        check_ok(sf_run_file_read(&data, path, err));
        CU_ASSERT_FALSE(data.live);
        compare_meta(&run, &data);
        compare_known(&run.record.known, &data.record.known);
        compare_trajectory(&run.record, &data.record);
        compare_migrants(&run.record, &data.record);
        size_t n = 3 * 4 * 6 * SAMPLE_LENGTH;
        CU_ASSERT_EQUAL(memcmp(run.record.population, data.record.population, n), 0);
        if (keep)
            CU_ASSERT_EQUAL(memcmp(run.record.populations, data.record.populations, 13 * n), 0);
        CU_ASSERT_EQUAL_FATAL(data.meta.n_levels, 2);
        CU_ASSERT_EQUAL(memcmp(run.record.known.genome + 3 * SAMPLE_LENGTH,
                               data.record.known.genome + data.levels[0].row * SAMPLE_LENGTH, SAMPLE_LENGTH),
                        0);
        CU_ASSERT_STRING_EQUAL(data.levels[0].solution[1], "RURDRURDR");
        CU_ASSERT_STRING_EQUAL(data.levels[0].solution[2], "RUL");
        CU_ASSERT_EQUAL(data.levels[0].stars[2], 3);
        CU_ASSERT_FALSE(data.levels[1].has_stars);
        CU_ASSERT_PTR_NULL(data.levels[1].solution[0]);
        check_ok(sf_run_file_write(copy, &data.record, &data.meta, err));
        CU_ASSERT_TRUE(sample_same_bytes(path, copy));
        sf_run_data_free(&data);
        sample_free(&run);
    }
}

/* Every stage of a run, the very first included, as a checkpoint that reads and writes again to the same bytes. */
static void test_checkpoints(void)
{
    sample_run run;
    const char *path = sample_path("check.h5"), *copy = sample_path("copy.h5");
    sample_init(&run, 2, 3, 6, true);
    for (int64_t generation = -1; generation <= 6; generation++) {
        sf_run_data data;
        if (generation >= 0)
            sample_run_to(&run, generation);
        check_ok(sf_run_file_write(path, &run.record, &run.meta, err));
        check_ok(sf_run_file_read(&data, path, err));
        CU_ASSERT_EQUAL(data.record.generation, generation);
        compare_known(&run.record.known, &data.record.known);
        compare_migrants(&run.record, &data.record);
        check_ok(sf_run_file_write(copy, &data.record, &data.meta, err));
        CU_ASSERT_TRUE(sample_same_bytes(path, copy));
        sf_run_data_free(&data);
    }
    sample_free(&run);
}

/* Counts that are not numbers, and the largest that are. */
static void test_not_counted(void)
{
    sample_run run;
    sf_run_data data;
    const char *path = sample_path("counts.h5");
    sample_init(&run, 1, 1, 2, false);
    sample_run_to(&run, 2);
    uint64_t *h = run.record.known.histogram;
    memset(h, 0, SAMPLE_SCORES * sizeof *h);
    h[0] = SF_COUNT_SOME;
    h[1] = SF_COUNT_UNKNOWN;
    h[7] = UINT64_MAX - 2;
    run.record.known.fitness[0] = 2;
    run.record.known.best_score[0] = 7;
    run.record.known.exact[0] = 0;
    check_ok(sf_run_file_write(path, &run.record, &run.meta, err));
    check_ok(sf_run_file_read(&data, path, err));
    compare_known(&run.record.known, &data.record.known);
    sf_run_data_free(&data);
    sample_free(&run);
}

/* A live file at every stage holds what the record held when it was appended, fates and first places included. */
static void test_live(void)
{
    sample_run run;
    sf_live_file *file = NULL;
    const char *path = sample_path("live.h5");
    sample_init(&run, 2, 3, 40, true);
    check_ok(sf_live_file_create(&file, path, &run.record, &run.meta, err));
    for (int64_t generation = -1; generation <= 40; generation += 3) {
        sf_run_data data;
        if (generation >= 0)
            sample_run_to(&run, generation);
        if (generation == 20) /* someone reports late that it was earlier */
            sample_add(&run, run.record.known.genome + 90 * SAMPLE_LENGTH, &(sf_place){0, 0, 0, 0});
        check_ok(sf_live_file_append(file, &run.record, err));
        if (generation % 2)
            sf_known_clear_changed(&run.record.known);
        check_ok(sf_run_file_read(&data, path, err));
        CU_ASSERT_TRUE(data.live);
        compare_meta(&run, &data);
        compare_known(&run.record.known, &data.record.known);
        compare_trajectory(&run.record, &data.record);
        compare_migrants(&run.record, &data.record);
        CU_ASSERT_EQUAL(data.meta.n_levels, 0);
        sf_run_data_free(&data);
    }
    sf_live_file_close(file);
    sample_free(&run);
}

/* A process that ends without closing, after any number of appends, even in the midst of one, leaves a file that reads.
 */
static void test_killed(void)
{
    sample_run run;
    const char *path = sample_path("killed.h5");
    sample_init(&run, 2, 3, 40, false);
    for (int64_t last = 0; last < 20; last++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            sf_live_file *file;
            if (sf_live_file_create(&file, path, &run.record, &run.meta, err))
                _exit(1);
            while (run.record.generation < last) {
                sample_step(&run);
                if (sf_live_file_append(file, &run.record, err))
                    _exit(1);
            }
            _exit(0);
        }
        int status = 1;
        CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
        CU_ASSERT_EQUAL(status, 0);
        sf_run_data data;
        check_ok(sf_run_file_read(&data, path, err));
        CU_ASSERT_EQUAL(data.record.generation, last);
        sf_run_data_free(&data);
    }
    sample_free(&run);
}

/* A file is read again and again while another process appends to it as fast as it can. */
static void test_read_while_written(void)
{
    sample_run run;
    const char *path = sample_path("busy.h5");
    sample_init(&run, 2, 3, 100000, false);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        sf_live_file *file;
        if (sf_live_file_create(&file, path, &run.record, &run.meta, err))
            _exit(1);
        while (run.record.generation < 100000) {
            sample_step(&run);
            if (sf_live_file_append(file, &run.record, err))
                break;
        }
        _exit(1); /* killed before it comes here */
    }
    while (access(path, F_OK) != 0)
        usleep(1000);
    int64_t last = -1;
    for (int k = 0; k < 20 || last <= 10; k++) { /* until it has gone on */
        sf_run_data data;
        check_ok(sf_run_file_read(&data, path, err));
        CU_ASSERT_TRUE(data.record.generation >= last);
        last = data.record.generation;
        sf_run_data_free(&data);
    }
    int status = 0;
    CU_ASSERT_EQUAL(kill(child, SIGKILL), 0);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_TRUE(WIFSIGNALED(status));
    sf_run_data data;
    check_ok(sf_run_file_read(&data, path, err));
    CU_ASSERT_TRUE(data.record.generation >= last);
    printf("%d generations at the end ... ", (int)data.record.generation);
    sf_run_data_free(&data);
    sample_free(&run);
}

static void expect(int code, const char *part, int got)
{
    if (got != code || !strstr(err->text, part))
        printf("\n  expected %d ... %s ..., got %d: %s\n", code, part, got, err->text);
    CU_ASSERT_EQUAL(got, code);
    CU_ASSERT_PTR_NOT_NULL(strstr(err->text, part));
    CU_ASSERT_PTR_NULL(strchr(err->text, '\n'));
}

static void test_failures(void)
{
    sample_run run;
    sf_live_file *file;
    sample_init(&run, 1, 2, 3, false);
    sample_run_to(&run, 3);
    expect(SF_EIO, "missing: No such file or directory",
           sf_run_file_write(sample_path("missing/x.h5"), &run.record, &run.meta, err));
    expect(SF_EIO, "No such file",
           sf_live_file_create(&file, sample_path("missing/x.h5"), &run.record, &run.meta, err));
    CU_ASSERT_PTR_NULL(file);
    const char *good = sample_path("good.h5"), *aside = sample_path("good.h5.tmp"),
               *below = sample_path("good.h5.tmp/x");
    check_ok(sf_run_file_write(good, &run.record, &run.meta, err));
    expect(SF_EIO, "is not a folder", sf_run_file_write(sample_path("good.h5/x.h5"), &run.record, &run.meta, err));
    expect(SF_EIO, "not a regular file", sf_run_file_write(sample_folder(), &run.record, &run.meta, err));
    /* What an interrupted writer left aside is replaced; a folder there is refused, and the good file stays. */
    fclose(fopen(aside, "w"));
    check_ok(sf_run_file_write(good, &run.record, &run.meta, err));
    CU_ASSERT_NOT_EQUAL(access(aside, F_OK), 0);
    CU_ASSERT_EQUAL(mkdir(aside, 0700), 0);
    CU_ASSERT_EQUAL(mkdir(below, 0700), 0);
    expect(SF_EIO, "cannot be removed", sf_run_file_write(good, &run.record, &run.meta, err));
    CU_ASSERT_EQUAL(rmdir(below), 0);
    CU_ASSERT_EQUAL(rmdir(aside), 0);
    sf_run_data data;
    check_ok(sf_run_file_read(&data, good, err));
    sf_run_data_free(&data);
    expect(SF_EINPUT, "No such file", sf_run_file_read(&data, sample_path("nothing.h5"), err));
    expect(SF_EINPUT, "not a regular file", sf_run_file_read(&data, sample_folder(), err));
    sample_free(&run);
}

/* A small file that has not begun and claims 20 million islands, which would take gigabytes. */
static void test_many_islands(void)
{
    const char *path = sample_path("islands.h5");
    sample_run run;
    sf_run_data data;
    struct rusage before, after;
    struct stat about;
    sample_init(&run, 1000, 20000, 0, false);
    getrusage(RUSAGE_SELF, &before);
    CU_ASSERT_EQUAL(sf_run_file_write(path, &run.record, &run.meta, NULL), 0);
    CU_ASSERT_EQUAL(sf_run_file_read(&data, path, NULL), 0);
    CU_ASSERT_TRUE(data.record.config.islands == 20000 && data.record.generation == -1);
    sf_run_data_free(&data);
    sample_free(&run);
    getrusage(RUSAGE_SELF, &after);
    CU_ASSERT_TRUE(stat(path, &about) == 0 && about.st_size < 1 << 20);
    long more = after.ru_maxrss - before.ru_maxrss;
    printf("%ld KB ... ", more);
#ifndef __SANITIZE_ADDRESS__ /* whose own notes on that memory take more */
    CU_ASSERT_TRUE(more < 64 << 10);
#endif
}

const test_case test_cases[] = {
    {"round trip", test_round_trip},
    {"checkpoints", test_checkpoints},
    {"counts that are not numbers", test_not_counted},
    {"live file", test_live},
    {"killed writer", test_killed},
    {"read while written", test_read_while_written},
    {"failures", test_failures},
    {"many islands", test_many_islands},
    {NULL, NULL},
};

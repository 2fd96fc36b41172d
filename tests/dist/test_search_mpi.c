/* The search over ranks against the plain search. Run alone and under mpirun; every rank runs every test and draws the
 * same random cases, so the ranks stay together. Evaluations are slow at random, stop or fail on purpose. */
#include "dist/search_mpi.h"

#include <unistd.h>

#include "core/plain_search.h"
#include "dist/shared_evaluation_mpi.h"
#include "starfold/problem.h"

static sf_comm comm;

/* A onemax whose evaluation does something else when its turn comes. */
static struct trouble {
    const sf_puzzle_kind *onemax;
    int64_t calls_left; /* evaluations until it happens; below 0: never */
    int code;           /* what the evaluation returns then; 0: it only asks for a stop */
    unsigned delay_us;  /* at most, of every evaluation */
    uint64_t state;
    volatile int stop;
} trouble;

static int evaluate(const void *instance, const sf_plan *plan, const uint8_t *genomes, size_t part, uint64_t *partial,
                    sf_error *err)
{
    if (trouble.delay_us)
        usleep((useconds_t)(test_random(&trouble.state) % trouble.delay_us));
    if (trouble.calls_left >= 0 && trouble.calls_left-- == 0) {
        if (trouble.code)
            return sf_fail(err, trouble.code, "trouble on rank %d", comm.rank);
        trouble.stop = 1;
    }
    return trouble.onemax->evaluate(instance, plan, genomes, part, partial, err);
}

static void open_puzzle(sf_puzzle *puzzle, int length)
{
    static sf_puzzle_kind kind;
    CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_onemax(puzzle, length, NULL), SF_OK);
    trouble.onemax = puzzle->kind;
    kind = *puzzle->kind;
    kind.evaluate = evaluate;
    puzzle->kind = &kind;
}

/* ---- the communicator ---- */

static void test_comm(void)
{
    sf_error err = {0};
    CU_ASSERT_EQUAL(sf_comm_agree(&comm, SF_OK, &err), SF_OK);
    for (int bad = 0; bad < comm.size; bad++) {
        /* `bad` and all above it fail: the lowest speaks; a stop of rank 0 gives way to a failure */
        int code = comm.rank >= bad ? sf_fail(&err, SF_EIO, "rank %d is bad", comm.rank) : SF_OK;
        if (bad > 0 && comm.rank == 0)
            code = sf_fail(&err, SF_ESTOPPED, "stopped");
        char expected[64];
        snprintf(expected, sizeof expected, "rank %d is bad", bad);
        CU_ASSERT_EQUAL(sf_comm_agree(&comm, code, &err), SF_EIO);
        CU_ASSERT_STRING_EQUAL(err.text, expected);
    }
    CU_ASSERT_EQUAL(sf_comm_agree(&comm, comm.rank == comm.size - 1 ? SF_ENOMEM : SF_OK, NULL), SF_ENOMEM);

    enum { N = 200000 };
    static uint64_t counts[N];
    uint64_t all = 0;
    for (int r = 1; r <= comm.size; r++)
        all += (uint64_t)r;
    for (uint64_t i = 0; i < N; i++)
        counts[i] = (i << 40) * (uint64_t)(comm.rank + 1) + UINT32_MAX;
    CU_ASSERT_EQUAL(sf_comm_sum(&comm, N, counts, &err), SF_OK);
    for (uint64_t i = 0; i < N; i++) {
        if (counts[i] != (i << 40) * all + UINT32_MAX * (uint64_t)comm.size)
            CU_FAIL_FATAL("a sum is wrong");
    }
    counts[0] = comm.rank == 0 ? UINT64_MAX : 0;
    counts[1] = 0;
    CU_ASSERT_EQUAL(sf_comm_sum(&comm, 2, counts, &err), SF_OK);
    CU_ASSERT(counts[0] == UINT64_MAX && counts[1] == 0);
    counts[0] = comm.rank == 0 ? SF_COUNT_UNKNOWN : 0;
    counts[1] = comm.rank == 0 ? SF_COUNT_UNKNOWN : 1;
    CU_ASSERT_EQUAL(sf_comm_sum(&comm, 2, counts, &err), SF_OK);
    CU_ASSERT_EQUAL(counts[0], SF_COUNT_UNKNOWN);
    CU_ASSERT_EQUAL(counts[1], comm.size > 1 ? SF_COUNT_SOME : SF_COUNT_UNKNOWN);
    counts[0] = 0;
    counts[1] = comm.rank == 0 ? UINT64_MAX - 5 : 4;
    CU_ASSERT_EQUAL(sf_comm_sum(&comm, 2, counts, &err), comm.size > 1 ? SF_EOVERFLOW : SF_OK);

    char text[100] = "";
    if (comm.rank == 0)
        strcpy(text, "from rank 0");
    CU_ASSERT_EQUAL(sf_comm_broadcast(&comm, sizeof text, text, &err), SF_OK);
    CU_ASSERT_STRING_EQUAL(text, "from rank 0");
    sf_comm_barrier(&comm);
}

/* ---- shared evaluation ---- */

/* Overlapping batches on the ranks, none on some: everybody gets the right histograms, each genome is counted once. */
static void test_shared(void)
{
    enum { LENGTH = 9, MOST = 60 };
    uint64_t state = test_seed() + 3;
    sf_puzzle puzzle;
    sf_shared_evaluation *shared;
    sf_error err = {0};
    static bool asked[1 << LENGTH];
    uint64_t n_asked = 0;
    open_puzzle(&puzzle, LENGTH);
    trouble = (struct trouble){.onemax = trouble.onemax, .calls_left = -1};
    CU_ASSERT_EQUAL_FATAL(sf_shared_evaluation_open(&shared, &comm, &puzzle, 1 + comm.rank % 2, NULL, NULL, &err),
                          SF_OK);
    sf_shared_evaluation_expect(shared, 100);
    memset(asked, 0, sizeof asked);
    for (int call = 0; call < 100; call++) {
        static uint8_t genomes[MOST][LENGTH];
        static uint64_t histograms[MOST][LENGTH + 1];
        size_t n = 0;
        for (int rank = 0; rank < comm.size; rank++) { /* every rank draws all, and keeps its own */
            const size_t count = test_random(&state) % 3 == 0 ? 0 : test_random(&state) % MOST;
            n = rank == comm.rank ? count : n;
            for (size_t i = 0; i < count; i++) {
                const size_t code = test_random(&state) % (size_t)(1 << (1 + call % LENGTH));
                n_asked += !asked[code];
                asked[code] = true;
                for (int j = 0; j < LENGTH && rank == comm.rank; j++)
                    genomes[i][j] = (uint8_t)(code >> j & 1);
            }
        }
        CU_ASSERT_EQUAL_FATAL(sf_shared_evaluation_run(shared, n, genomes[0], histograms[0], &err), SF_OK);
        for (size_t i = 0; i < n; i++) {
            uint64_t expected[LENGTH + 1];
            CU_ASSERT_EQUAL(puzzle.kind->verify(puzzle.instance, genomes[i], expected, &err), SF_OK);
            CU_ASSERT_EQUAL(memcmp(histograms[i], expected, sizeof expected), 0);
        }
        CU_ASSERT_EQUAL(sf_shared_evaluation_count(shared), n_asked);
    }
    sf_shared_evaluation_leave(shared, SF_EIO, &err); /* no call is left: nothing */

    /* a rank leaves, and one gives up because of it: the call fails on all with the reason */
    for (int bad = 0; bad < comm.size && comm.size > 1; bad++) {
        uint8_t genome[LENGTH] = {0};
        uint64_t histogram[LENGTH + 1];
        sf_shared_evaluation *other;
        CU_ASSERT_EQUAL(sf_shared_evaluation_open(&other, &comm, &puzzle, 1, NULL, NULL, &err), SF_OK);
        sf_shared_evaluation_expect(other, 1);
        if (comm.rank == bad) {
            sf_fail(&err, SF_ENOMEM, "no memory");
            sf_shared_evaluation_leave(other, SF_ENOMEM, &err);
            sf_shared_evaluation_leave(other, SF_ENOMEM, &err); /* once is enough */
        } else if (comm.rank == (bad + 1) % comm.size && comm.size > 2) {
            sf_shared_evaluation_leave(other, SF_OK, &err);
        } else {
            CU_ASSERT_EQUAL(sf_shared_evaluation_run(other, 1, genome, histogram, &err), SF_ENOMEM);
            char expected[64];
            snprintf(expected, sizeof expected, "rank %d: no memory", bad);
            CU_ASSERT_STRING_EQUAL(err.text, expected);
        }
        sf_shared_evaluation_close(other);
    }
    sf_shared_evaluation_close(shared);
    sf_puzzle_close(&puzzle);
}

/* ---- searches ---- */

typedef struct watch {
    int n_blocks, n_saves;
    int64_t generation, saved;
    uint64_t state;
    sf_search_wish wish; /* answered now and then */
    int64_t interval;
    size_t n_known;
} watch;

static int on_block(void *context, const sf_record *record, uint64_t evaluated, sf_search_wish *wish, sf_error *err)
{
    watch *w = context;
    (void)err;
    CU_ASSERT(record->generation > w->generation);
    CU_ASSERT(w->interval == 0 || record->generation / w->interval <= w->generation / w->interval + 1);
    w->generation = record->generation;
    w->n_blocks++;
    for (size_t i = w->n_known; i < record->known.n; i++)
        CU_ASSERT(record->known.changed[i]);
    w->n_known = record->known.n;
    CU_ASSERT(w->n_blocks > 1 || evaluated > 0 || record->generation > 0);
    if (test_random(&w->state) % 4 == 0)
        *wish = w->wish;
    return SF_OK;
}

static int on_save(void *context, const sf_record *record, sf_error *err)
{
    watch *w = context;
    (void)err;
    CU_ASSERT_EQUAL(record->generation, w->generation);
    w->saved = record->generation;
    w->n_saves++;
    return SF_OK;
}

static sf_search_config random_config(uint64_t *state)
{
    sf_search_config c;
    sf_search_config_init(&c);
    c.seed = test_random(state);
    c.population = 2 + (int32_t)(test_random(state) % 12);
    c.generations = (int64_t)(test_random(state) % 40);
    c.trials = 1 + (int32_t)(test_random(state) % 3);
    c.islands = 1 + (int32_t)(test_random(state) % 5);
    c.migration_interval = (int64_t)(test_random(state) % 5);
    c.migration_delay = 1 + (int64_t)(test_random(state) % 3);
    c.migrants = (int32_t)(test_random(state) % (uint64_t)c.population);
    c.keep_populations = (int32_t)(test_random(state) % 2);
    return c;
}

static sf_search_options random_options(uint64_t *state)
{
    return (sf_search_options){.n_threads = 1,
                               .share_evaluation = test_random(state) % 2,
                               .save_first = test_random(state) % 2,
                               .checkpoint_interval = (int64_t)(test_random(state) % 3) * 4,
                               .block_generations = (int64_t)(test_random(state) % 3) * 3};
}

/* Sets trouble up: on a random rank, after a random number of evaluations. */
static void make_trouble(uint64_t *state, int code)
{
    const uint64_t rank = test_random(state) % (uint64_t)comm.size,
                   calls = test_random(state) % (uint64_t)(300 / comm.size);
    trouble.calls_left = (uint64_t)comm.rank == rank ? (int64_t)calls : -1;
    trouble.code = code;
    trouble.delay_us = test_random(state) % 2 ? 50 : 0;
    trouble.state = test_random(state) + (uint64_t)comm.rank;
    trouble.stop = 0;
}

static int run(const sf_puzzle *puzzle, const sf_search_config *config, const sf_search_options *options,
               sf_record *record, watch *w, sf_error *err)
{
    const sf_search_hooks hooks = {.context = w, .block = on_block, .save = on_save, .stop = &trouble.stop};
    return sf_search_run(&comm, puzzle, config, options, comm.rank == 0 ? record : NULL, &hooks, err);
}

/* The same code and line everywhere. */
static void check_agreed(int code, const sf_error *err)
{
    struct {
        int code;
        char text[SF_ERROR_TEXT_SIZE];
    } said = {.code = code};
    memcpy(said.text, err->text, sizeof said.text);
    CU_ASSERT_EQUAL(sf_comm_broadcast(&comm, sizeof said, &said, NULL), SF_OK);
    CU_ASSERT_EQUAL(said.code, code);
    CU_ASSERT_STRING_EQUAL(said.text, err->text);
}

/* Runs a search, stopped again and again by `code` or by a wish, until it is complete; compares. Returns the stops. */
static int search_once(uint64_t *state, int code, sf_search_wish wish)
{
    const sf_search_config config = random_config(state);
    const int length = 2 + (int)(test_random(state) % 10);
    sf_puzzle puzzle;
    sf_record record;
    sf_error err = {0};
    watch w = {.generation = -1, .saved = -2, .state = test_random(state), .wish = wish};
    int stops = 0, result;
    open_puzzle(&puzzle, length);
    if (comm.rank == 0)
        CU_ASSERT_EQUAL_FATAL(sf_record_init(&record, &config, length, puzzle.n_scores, &err), SF_OK);
    do {
        const sf_search_options options = random_options(state);
        w.interval = options.checkpoint_interval;
        make_trouble(state, code);
        if (wish != SF_SEARCH_STOP && stops > 20)
            trouble.calls_left = -1; /* enough */
        result = run(&puzzle, &config, &options, &record, &w, &err);
        check_agreed(result, &err);
        CU_ASSERT(result == SF_OK || result == SF_ESTOPPED);
        stops += result == SF_ESTOPPED;
        if (comm.rank == 0 && result == SF_ESTOPPED) {
            CU_ASSERT_EQUAL(w.saved, w.generation);
            CU_ASSERT(w.generation < config.generations);
        }
    } while (result == SF_ESTOPPED);
    if (comm.rank == 0) {
        plain_search plain;
        plain_search_run(&plain, &config, length);
        plain_search_compare(&plain, &record);
        plain_search_free(&plain);
        sf_record_free(&record);
    }
    sf_puzzle_close(&puzzle);
    return stops;
}

static void test_undisturbed(void)
{
    uint64_t state = test_seed();
    for (int round = 0; round < 30; round++) {
        make_trouble(&state, 0);
        CU_ASSERT_EQUAL(search_once(&state, 0, SF_SEARCH_CHECKPOINT) >= 0, 1);
    }
}

static void test_stopped(void)
{
    uint64_t state = test_seed() + 1;
    int in_evaluation = 0, by_wish = 0, between = 0;
    for (int round = 0; round < 15; round++) {
        in_evaluation += search_once(&state, SF_ESTOPPED, SF_SEARCH_GO_ON);
        between += search_once(&state, 0, SF_SEARCH_GO_ON);
        by_wish += search_once(&state, 0, SF_SEARCH_STOP);
    }
    printf(" [stops: %d in evaluation, %d between, %d wished] ", in_evaluation, between, by_wish);
    CU_ASSERT(in_evaluation > 5 && between > 2 && by_wish > 5);
}

/* A failure on one rank ends the search on all, with its line; nothing is left over for the next search. */
static void test_failed(void)
{
    uint64_t state = test_seed() + 2;
    int failures = 0;
    for (int round = 0; round < 30; round++) {
        const sf_search_config config = random_config(&state);
        const sf_search_options options = random_options(&state);
        sf_puzzle puzzle;
        sf_record record;
        sf_error err = {0};
        watch w = {.generation = -1, .state = test_random(&state), .interval = options.checkpoint_interval};
        open_puzzle(&puzzle, 8);
        make_trouble(&state, SF_ECHECK);
        if (comm.rank == 0)
            CU_ASSERT_EQUAL_FATAL(sf_record_init(&record, &config, 8, puzzle.n_scores, &err), SF_OK);
        int code = run(&puzzle, &config, &options, &record, &w, &err);
        check_agreed(code, &err);
        CU_ASSERT(code == SF_OK || code == SF_ECHECK);
        failures += code == SF_ECHECK;
        if (code)
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "trouble on rank "));
        if (comm.rank == 0)
            sf_record_free(&record);
        sf_puzzle_close(&puzzle);
        search_once(&state, 0, SF_SEARCH_GO_ON);
    }
    printf(" [%d failures] ", failures);
    CU_ASSERT(failures > 3);
}

static int failing_block(void *context, const sf_record *record, uint64_t evaluated, sf_search_wish *wish,
                         sf_error *err)
{
    (void)context, (void)evaluated, (void)wish;
    return record->generation < 5 ? SF_OK : sf_fail(err, SF_EIO, "the disk is full");
}

static void test_failing_hook(void)
{
    sf_search_config config;
    sf_search_config_init(&config);
    config.islands = 5;
    const sf_search_options options = {.n_threads = 1, .block_generations = 3};
    const sf_search_hooks hooks = {.block = failing_block};
    sf_puzzle puzzle;
    sf_record record;
    sf_error err = {0};
    open_puzzle(&puzzle, 10);
    trouble.calls_left = -1;
    if (comm.rank == 0)
        CU_ASSERT_EQUAL_FATAL(sf_record_init(&record, &config, 10, puzzle.n_scores, &err), SF_OK);
    CU_ASSERT_EQUAL(sf_search_run(&comm, &puzzle, &config, &options, comm.rank == 0 ? &record : NULL, &hooks, &err),
                    SF_EIO);
    CU_ASSERT_STRING_EQUAL(err.text, "the disk is full");
    if (comm.rank == 0) {
        CU_ASSERT_EQUAL(record.generation, 6);
        sf_record_free(&record);
    }
    sf_puzzle_close(&puzzle);
}

static int n_fatal;

static void on_fatal(void *context, const sf_error *err)
{
    (void)context;
    n_fatal++;
    CU_ASSERT_STRING_EQUAL(err->text, "trouble on rank 1");
}

/* Rank 1 fails while rank 0 is inside a long evaluation: it is told that nobody listens. (Two ranks only: it takes
 * long.) */
static void test_fatal(void)
{
    if (comm.size != 2)
        return;
    sf_search_config config;
    sf_search_config_init(&config);
    config.islands = 2;
    const sf_search_options options = {.n_threads = 1};
    const sf_search_hooks hooks = {.fatal = on_fatal};
    sf_puzzle puzzle;
    sf_record record;
    sf_error err = {0};
    open_puzzle(&puzzle, 10);
    trouble = (struct trouble){.onemax = trouble.onemax,
                               .calls_left = comm.rank == 1 ? 0 : -1,
                               .code = SF_ECHECK,
                               .delay_us = comm.rank == 0 ? 400000 : 0};
    if (comm.rank == 0)
        CU_ASSERT_EQUAL_FATAL(sf_record_init(&record, &config, 10, puzzle.n_scores, &err), SF_OK);
    CU_ASSERT_EQUAL(sf_search_run(&comm, &puzzle, &config, &options, comm.rank == 0 ? &record : NULL, &hooks, &err),
                    SF_ECHECK);
    CU_ASSERT_EQUAL(n_fatal, comm.rank);
    trouble.delay_us = 0;
    if (comm.rank == 0)
        sf_record_free(&record);
    sf_puzzle_close(&puzzle);
}

static void test_open(void)
{
    sf_error err;
    const bool launched = getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_RANK");
    if (!launched) { /* as if srun had started four of us, each alone */
        setenv("SLURM_STEP_NUM_TASKS", "4", 1);
        CU_ASSERT_EQUAL(sf_comm_open(&comm, NULL, NULL, &err), SF_EINPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "srun --mpi=pmix"));
        setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    }
    CU_ASSERT_EQUAL_FATAL(sf_comm_open(&comm, NULL, NULL, &err), SF_OK);
    CU_ASSERT_EQUAL(comm.mpi, launched);
    const char *expected = getenv("STARFOLD_TEST_RANKS");
    CU_ASSERT_EQUAL(comm.size, expected ? atoi(expected) : 1);
}

static void test_close(void)
{
    sf_comm_close(&comm);
    CU_ASSERT_EQUAL(comm.size, 1);
}

const test_case test_cases[] = {{"open", test_open},
                                {"agree, sum, broadcast", test_comm},
                                {"shared evaluation", test_shared},
                                {"a search equals the plain one", test_undisturbed},
                                {"stopped and resumed equals the plain one", test_stopped},
                                {"a failing rank ends the search everywhere", test_failed},
                                {"a failing callback ends the search everywhere", test_failing_hook},
                                {"a failing rank that nobody hears", test_fatal},
                                {"close", test_close},
                                {NULL, NULL}};

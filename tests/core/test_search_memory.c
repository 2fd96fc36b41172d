/* The search without memory: the 1st, 2nd, 3rd ... allocation fails, until all succeed. Every failure is reported as
 * SF_ENOMEM, nothing leaks, and the call that failed can be made again: the search then ends as if nothing had
 * happened.
 *
 * The program's malloc is the test's own, in front of the C library's. */
#include <stdatomic.h>

#include "core/search/archipelago.h"
#include "plain_search.h"

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t width);
void *__libc_realloc(void *old, size_t n);
void __libc_free(void *old);

static long fail_in = -1; /* allocations until one fails; below 0: never */
static atomic_long n_live;
static bool failed_now;

static bool fails(void)
{
    failed_now = fail_in >= 0 && fail_in-- == 0;
    return failed_now;
}

void *malloc(size_t n)
{
    void *new = fails() ? NULL : __libc_malloc(n);
    n_live += new != NULL;
    return new;
}

void *calloc(size_t n, size_t width)
{
    void *new = fails() ? NULL : __libc_calloc(n, width);
    n_live += new != NULL;
    return new;
}

void *realloc(void *old, size_t n)
{
    if (fails())
        return NULL;
    void *new = __libc_realloc(old, n);
    n_live += new != NULL &&old == NULL;
    return new;
}

void free(void *old)
{
    n_live -= old != NULL;
    __libc_free(old);
}

/* ---- a search of two ranks, resumed once in the middle ---- */

typedef struct scene {
    sf_puzzle puzzle;
    sf_search_config config;
    sf_record record;
    sf_archipelago *rank[2];
    bool again; /* a call that fails for want of memory is made again */
    int n_failures;
} scene;

/* The code that ends the scene; a failure that is to be tried again is only counted. */
static bool try_again(scene *s, int code)
{
    if (code == SF_OK)
        return false;
    CU_ASSERT_EQUAL(code, SF_ENOMEM);
    s->n_failures++;
    return s->again;
}

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        int code_of_call;                                                                                              \
        while (try_again(s, code_of_call = (call)))                                                                    \
            ;                                                                                                          \
        if (code_of_call)                                                                                              \
            return code_of_call;                                                                                       \
    } while (0)

/* The answer in closed form, without the threads of sf_puzzle_evaluate: their library does not survive a failure. */
static int evaluate(void *context, size_t n, const uint8_t *genomes, uint64_t *histograms, sf_error *err)
{
    const sf_puzzle *puzzle = context;
    for (size_t i = 0; i < n; i++) {
        int code = puzzle->kind->verify(puzzle->instance, genomes + i * (size_t)puzzle->length,
                                        histograms + i * (size_t)puzzle->n_scores, err);
        if (code)
            return code;
    }
    return SF_OK;
}

static int open_ranks(scene *s, const sf_record *record)
{
    sf_error err;
    for (int r = 0; r < 2; r++) {
        const sf_archipelago_options options = {
            .first_island = r ? 2 : 0, .last_island = r ? 3 : 2, .evaluate = evaluate, .context = &s->puzzle};
        TRY(sf_archipelago_open(&s->rank[r], &s->puzzle, &s->config, &options, record, &err));
    }
    return SF_OK;
}

static void close_ranks(scene *s)
{
    for (int r = 0; r < 2; r++) {
        sf_archipelago_close(s->rank[r]);
        s->rank[r] = NULL;
    }
}

static int one_generation(scene *s)
{
    sf_error err;
    for (int r = 0; r < 2; r++)
        TRY(sf_archipelago_step(s->rank[r], &err));
    for (int64_t island = 0; island < 3; island++) {
        int64_t destination;
        size_t n_bytes;
        const uint8_t *message;
        if (!sf_archipelago_emigrants(s->rank[island / 2], island, &destination, &n_bytes, &message))
            continue;
        TRY(sf_archipelago_deliver(s->rank[destination / 2], destination, sf_archipelago_generation(s->rank[0]) + 1,
                                   n_bytes, message, &err));
    }
    for (int r = 0; r < 2; r++)
        TRY(sf_archipelago_immigrate(s->rank[r], &err));
    return SF_OK;
}

static int gather(scene *s)
{
    sf_error err;
    for (int r = 0; r < 2; r++) {
        uint8_t *packet = NULL;
        size_t n_bytes = 0;
        TRY(sf_archipelago_pack(s->rank[r], true, &n_bytes, &packet, &err));
        int code;
        do {
            code = sf_record_take(&s->record, n_bytes, packet, &err);
        } while (try_again(s, code));
        free(packet);
        if (code)
            return code;
    }
    sf_record_sort(&s->record);
    return SF_OK;
}

static int play(scene *s)
{
    sf_error err;
    TRY(sf_record_init(&s->record, &s->config, s->puzzle.length, s->puzzle.n_scores, &err));
    int code = open_ranks(s, NULL);
    for (int64_t g = 0; g <= s->config.generations && !code; g++) {
        code = one_generation(s);
        if (!code && g % 5 == 0)
            code = gather(s);
        if (!code && g == 15) {
            close_ranks(s);
            code = open_ranks(s, &s->record);
        }
    }
    return code ? code : gather(s);
}

static void run_scenes(bool again)
{
    plain_search plain;
    sf_search_config config;
    sf_search_config_init(&config);
    config.population = 8;
    config.generations = 24;
    config.islands = 3;
    config.migration_interval = 3;
    config.migrants = 2;
    config.keep_populations = 1;
    plain_search_run(&plain, &config, 10);
    int code = SF_ENOMEM;
    long n = 0;
    for (; code; n++) {
        scene s = {.config = config, .again = again};
        sf_error err;
        CU_ASSERT_EQUAL_FATAL(sf_puzzle_open_onemax(&s.puzzle, 10, &err), SF_OK);
        const long live = n_live;
        fail_in = n;
        code = play(&s);
        const bool untouched = fail_in >= 0;
        fail_in = -1;
        CU_ASSERT(code == (untouched || again ? SF_OK : SF_ENOMEM));
        CU_ASSERT_EQUAL(s.n_failures, untouched ? 0 : 1);
        if (!code)
            plain_search_compare(&plain, &s.record);
        close_ranks(&s);
        sf_record_free(&s.record);
        CU_ASSERT_EQUAL(n_live, live);
        sf_puzzle_close(&s.puzzle);
        if (again && !untouched)
            code = SF_ENOMEM; /* on with the next allocation */
    }
    printf(" [%ld allocations] ", n);
    CU_ASSERT(n > 50);
    plain_search_free(&plain);
}

static void test_fails(void)
{
    run_scenes(false);
}

static void test_again(void)
{
    run_scenes(true);
}

const test_case test_cases[] = {{"every allocation fails once", test_fails},
                                {"every allocation fails once and the call is made again", test_again},
                                {NULL, NULL}};

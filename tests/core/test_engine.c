/* The door to the engines: every engine against the plain enumeration, the choice, memory, failures, the stop flag. */
#include "starfold/engine.h"

#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/base/memory.h"
#include "core/engines/engine_ops.h"
#include "core/engines/parts_omp.h"
#include "core/walk/walk.h"

enum { BATCH = 5 };

static sf_problem make_problem(int dimension, int length)
{
    sf_problem problem;
    int status = sf_problem_init(&problem, sf_lattice_find(dimension == 2 ? "square" : "cubic"),
                                 sf_score_model_find("hp"), length, NULL);
    CU_ASSERT_EQUAL_FATAL(status, SF_OK);
    return problem;
}

static sf_engine_options make_options(const char *engine, int n_threads)
{
    sf_engine_options options;
    sf_engine_options_init(&options);
    options.engine = engine;
    options.n_threads = n_threads;
    return options;
}

static void random_batch(uint64_t *random, const sf_problem *problem, int n, uint8_t *sequences)
{
    for (int i = 0; i < n * problem->length; i++)
        sequences[i] = (uint8_t)(test_random(random) & 1);
}

static void check_engine(const char *name, int dimension, int length, int n_threads, uint64_t *random)
{
    sf_problem problem = make_problem(dimension, length);
    sf_engine_options options = make_options(name, n_threads);
    sf_engine *engine;
    sf_error err = {0};
    uint8_t sequences[BATCH * SF_LENGTH_MAX];
    uint64_t histograms[BATCH * SF_SCORES_MAX], plain[SF_SCORES_MAX];
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, BATCH, &err), SF_OK);
    CU_ASSERT_STRING_EQUAL(sf_engine_name(engine), name);
    CU_ASSERT(sf_engine_memory(engine) > 0);
    random_batch(random, &problem, BATCH, sequences);
    memset(histograms, 0xa5, sizeof histograms); /* overwritten, whatever it held */
    CU_ASSERT_EQUAL(sf_engine_histograms(engine, BATCH, sequences, histograms, &err), SF_OK);
    for (int i = 0; i < BATCH; i++) {
        const uint64_t *row = histograms + i * problem.n_scores;
        CU_ASSERT_EQUAL(sf_walk_histogram(&problem, sequences + i * length, NULL, plain, NULL), SF_OK);
        for (int s = 0; s < problem.n_scores; s++)
            CU_ASSERT(row[s] == plain[s] || (row[s] == SF_COUNT_SOME && plain[s] > 0));
    }
    CU_ASSERT_EQUAL(sf_engine_histograms(engine, 0, sequences, histograms, &err), SF_OK);
    sf_engine_close(engine);
}

static void test_against_plain(void)
{
    uint64_t random = test_seed();
    for (const char *const *name = sf_engine_names(); *name; name++) {
        for (int n_threads = 1; n_threads <= 3; n_threads++) {
            check_engine(*name, 2, 3, n_threads, &random);
            check_engine(*name, 2, 12, n_threads, &random);
            check_engine(*name, 3, 4, n_threads, &random);
            check_engine(*name, 3, 9, n_threads, &random);
        }
    }
}

static void test_names(void)
{
    int n = 0;
    for (const char *const *name = sf_engine_names(); *name; name++, n++)
        CU_ASSERT_STRING_NOT_EQUAL(*name, "auto");
    CU_ASSERT(n >= 1);

    sf_problem problem = make_problem(2, 10);
    sf_engine_options options = make_options("oracle", 1);
    sf_engine *engine = (sf_engine *)&problem;
    sf_engine_cost cost;
    sf_error err = {0};
    CU_ASSERT_EQUAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_EINPUT);
    CU_ASSERT_PTR_NULL(engine);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "there is no engine 'oracle'; engines are auto, "));
    CU_ASSERT_EQUAL(sf_engine_estimate("oracle", &problem, &options, &cost, &err), SF_EINPUT);
    options = make_options("auto", 0);
    CU_ASSERT_EQUAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_EINPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "0 threads are asked for; at least 1 is needed");
    sf_engine_close(NULL);
}

/* Sets of scores with top counts, by each engine that answers them: what the plain walk counts, but for what is not asked. */
static void check_sets(const char *name, int dimension, int length, const char *model, int top_counts, uint64_t *random)
{
    enum { N = 37 }; /* no multiple of a block */
    sf_problem problem;
    sf_engine_options options = make_options(name, 2);
    sf_engine *engine;
    static uint8_t sequences[N * SF_LENGTH_MAX];
    static uint64_t histograms[N * SF_SCORES_MAX], plain[SF_SCORES_MAX];
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find(dimension == 2 ? "square" : "cubic"),
                                          sf_score_model_find(model), length, NULL), SF_OK);
    options.sets = true;
    options.top_counts = top_counts;
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, N, NULL), SF_OK);
    random_batch(random, &problem, N, sequences);
    CU_ASSERT_EQUAL(sf_engine_histograms(engine, N, sequences, histograms, NULL), SF_OK);
    for (int i = 0; i < N; i++) {
        int left = top_counts;
        CU_ASSERT_EQUAL(sf_walk_histogram(&problem, sequences + i * length, NULL, plain, NULL), SF_OK);
        for (int s = problem.n_scores - 1; s >= 0; s--) {
            uint64_t wanted = plain[s] && left-- <= 0 ? SF_COUNT_SOME : plain[s];
            CU_ASSERT_EQUAL(histograms[i * problem.n_scores + s], wanted);
        }
    }
    sf_engine_close(engine);
}

static void test_sets(void)
{
    uint64_t random = test_seed();
    static const char *const names[] = {"table", "bound", "auto"};
    for (size_t e = 0; e < 3; e++) {
        for (int top_counts = 0; top_counts <= 2; top_counts++) {
            check_sets(names[e], 2, 11, "hp", top_counts, &random);
            check_sets(names[e], 3, 8, "hp", top_counts, &random);
            check_sets(names[e], 2, 8, "hpnx", top_counts, &random);
        }
    }
    sf_problem problem = make_problem(2, 12);
    sf_engine_options options = make_options("walk", 1);
    sf_engine *engine;
    sf_error err = {0};
    options.sets = true;
    CU_ASSERT_EQUAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_ELIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "not sets of scores; take table or bound"));
    options.engine = "table";
    options.node_limit = 1000;
    CU_ASSERT_EQUAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_ELIMIT);
    options.node_limit = 0;
    options.n_shards = 2;
    CU_ASSERT_EQUAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_ELIMIT);
}

/* auto takes what the estimates say: for one short chain, and for very many. */
static void test_auto(void)
{
    for (size_t n = 1; n <= 1000000; n *= 1000) {
        sf_problem problem = make_problem(2, 14);
        sf_engine_options options = make_options("auto", 1);
        sf_engine *engine;
        double best_s = -1;
        const char *best = "";
        CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, n, NULL), SF_OK);
        for (const char *const *name = sf_engine_names(); *name; name++) {
            sf_engine_cost cost;
            CU_ASSERT_EQUAL(sf_engine_estimate(*name, &problem, &options, &cost, NULL), SF_OK);
            double total_s = cost.open_s + (double)n * cost.sequence_s;
            if (strcmp(*name, "bound") != 0 && (best_s < 0 || total_s < best_s)) {
                best_s = total_s;
                best = *name;
            }
        }
        CU_ASSERT_STRING_EQUAL(sf_engine_name(engine), best);
        if (n == 1000000)
            CU_ASSERT_STRING_EQUAL(best, "table");
        sf_engine_close(engine);
    }
}

/* auto proves where counting takes longer than there is, or where nodes are limited; other engines have none. */
static void test_auto_limits(void)
{
    static const struct {
        int length;
        double within_s;
        uint64_t node_limit;
        bool sets, proves;
    } cases[] = {
        {30, 0, 0, false, false}, {30, 0.01, 0, false, true}, {30, 1e9, 0, false, false}, {8, 60, 0, false, false},
        {8, 0, 1000, false, true}, {8, 0, 1000, true, true},  {22, 1e-6, 0, true, true},
    };
    sf_engine_cost cost;
    sf_error err = {0};
    const char *name = "";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_problem problem = make_problem(2, cases[i].length);
        sf_engine_options options = make_options("auto", 1);
        options.within_s = cases[i].within_s;
        options.node_limit = cases[i].node_limit;
        options.sets = cases[i].sets;
        CU_ASSERT_EQUAL_FATAL(sf_engine_choose(&problem, &options, 1, &name, NULL), SF_OK);
        CU_ASSERT_EQUAL(strcmp(name, "bound") == 0, cases[i].proves);
        options.node_limit = 5;
        CU_ASSERT_EQUAL(sf_engine_estimate("walk", &problem, &options, &cost, &err), SF_ELIMIT);
        CU_ASSERT_EQUAL(sf_engine_estimate("bound", &problem, &options, &cost, &err), SF_OK);
    }
}

static bool has_engine(const char *wanted)
{
    for (const char *const *name = sf_engine_names(); *name; name++) {
        if (strcmp(*name, wanted) == 0)
            return true;
    }
    return false;
}

/* auto changes to proving where counting takes too long, by length alone; a model that no engine proves is counted. */
static void test_auto_long(void)
{
    static const struct {
        int dimension, length;
        bool proves;
    } cases[] = {{2, 32, false}, {2, 33, true}, {2, 64, true}, {3, 22, false}, {3, 23, true}};
    sf_score_model weights = {.name = "weights", .n_letters = 2, .letter = "HP", .weight = {{1, 1}, {1, 0}}};
    sf_engine *engine;
    for (size_t i = 0; has_engine("bound") && i < sizeof cases / sizeof cases[0]; i++) {
        sf_problem problem = make_problem(cases[i].dimension, cases[i].length);
        sf_engine_options options = make_options("auto", 1);
        CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 1, NULL), SF_OK);
        CU_ASSERT_EQUAL(strcmp(sf_engine_name(engine), "bound") == 0, cases[i].proves);
        sf_engine_close(engine);
        problem.model = &weights;
        if (sf_lattice_conformations(problem.lattice, problem.length) > 0) {
            CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 1, NULL), SF_OK);
            CU_ASSERT_STRING_EQUAL(sf_engine_name(engine), "walk");
            sf_engine_close(engine);
        }
    }
}

static void test_memory(void)
{
    sf_problem problem = make_problem(2, 12);
    sf_engine *engine;
    sf_error err = {0};
    CU_ASSERT(sf_memory_available() > 1 << 20);
    for (const char *const *name = sf_engine_names(); *name; name++) {
        sf_engine_options options = make_options(*name, 1);
        options.memory_limit = 1;
        CU_ASSERT_EQUAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_ELIMIT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "of memory at length 12 on the square lattice, 1 bytes are allowed"));
    }
    sf_engine_options options = make_options("auto", 1);
    options.memory_limit = 1;
    err.text[0] = '\0';
    CU_ASSERT_EQUAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_ELIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "1 bytes are allowed"));
}

static void test_limits(void)
{
    sf_problem problem = make_problem(2, 64);
    sf_engine_options options = make_options("walk", 1);
    sf_engine *engine;
    sf_error err = {0};
    CU_ASSERT_EQUAL(sf_engine_open(&engine, &problem, &options, 1, &err), SF_ELIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "64 residues"));
}

static void test_wrong_elements(void)
{
    sf_problem problem = make_problem(2, 5);
    sf_engine_options options = make_options("walk", 1);
    const uint8_t sequences[] = {0, 1, 0, 1, 0, 0, 1, 2, 1, 0};
    uint64_t histograms[2 * SF_SCORES_MAX];
    sf_engine *engine;
    sf_error err = {0};
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 1, NULL), SF_OK);
    CU_ASSERT_EQUAL(sf_engine_histograms(engine, 2, sequences, histograms, &err), SF_EINPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "element 3 of sequence 2 is 2; score model hp has elements 0 to 1");
    sf_engine_close(engine);
}

static void test_check(void)
{
    sf_problem problem = make_problem(2, 4);
    sf_engine_options options = make_options("walk", 1);
    sf_engine *engine;
    sf_error err = {0};
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 1, NULL), SF_OK);
    CU_ASSERT_EQUAL(sf_engine_check(engine, (const uint64_t[]){4, 1}, &err), SF_OK);
    CU_ASSERT_EQUAL(sf_engine_check(engine, (const uint64_t[]){4, SF_COUNT_SOME}, &err), SF_OK);
    CU_ASSERT_EQUAL(sf_engine_check(engine, (const uint64_t[]){4, 2}, &err), SF_ECHECK);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "counted 6 conformations"));
    sf_engine_close(engine);
}

/* A long enumeration gives up when the flag is set before it begins. */
static void test_stop(void)
{
    sf_problem problem = make_problem(2, 30);
    sf_engine_options options = make_options("walk", 2);
    const volatile int stop = 1;
    uint8_t sequence[SF_LENGTH_MAX] = {0};
    uint64_t histogram[SF_SCORES_MAX];
    sf_engine *engine;
    sf_error err = {0};
    options.stop = &stop;
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 1, NULL), SF_OK);
    CU_ASSERT_EQUAL(sf_engine_histograms(engine, 1, sequence, histogram, &err), SF_ESTOPPED);
    CU_ASSERT_EQUAL(err.code, SF_ESTOPPED);
    sf_engine_close(engine);
}

/* Sequences with much to prove come first; of equal ones, and where all parts are alike, the first. */
static void test_order(void)
{
    static const char *const text[] = {"PPPPPPPPPPPP", "HPHPPHHPHPPH", "HPPPPPPPPPPH", "HHHHHHHHHHHH", "HPHPPHHPHPPH"};
    static const size_t wanted[] = {1, 4, 3, 2, 0};
    enum { N = 5, LENGTH = 12 };
    sf_problem problem;
    sf_engine_options options;
    sf_error err = {0};
    uint8_t sequences[N * LENGTH];
    uint64_t together[N * SF_SCORES_MAX], alone[SF_SCORES_MAX];
    sf_engine_options_init(&options);
    options.n_threads = 2;
    sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), LENGTH, &err);
    for (int i = 0; i < N; i++)
        CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, text[i], sequences + i * LENGTH, &err), SF_OK);
    for (const char *const *name = sf_engine_names(); *name; name++) {
        sf_engine *engine;
        sf_plan plan;
        size_t *order;
        options.engine = *name;
        CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, N, &err), SF_OK);
        CU_ASSERT_EQUAL(sf_engine_plan(engine, N, sequences, &plan, &err), SF_OK);
        CU_ASSERT_EQUAL(sf_engine_order(engine, &plan, sequences, &order, &err), SF_OK);
        CU_ASSERT_EQUAL(order != NULL, strcmp(*name, "bound") == 0);
        for (int i = 0; i < N && order; i++)
            CU_ASSERT_EQUAL(order[i], wanted[i]);
        free(order);
        CU_ASSERT_EQUAL(sf_engine_histograms(engine, N, sequences, together, &err), SF_OK); /* as asked */
        for (int i = 0; i < N; i++) {
            const size_t n_scores = (size_t)problem.n_scores;
            CU_ASSERT_EQUAL(sf_engine_histograms(engine, 1, sequences + i * LENGTH, alone, &err), SF_OK);
            CU_ASSERT_EQUAL(memcmp(alone, together + (size_t)i * n_scores, n_scores * sizeof *alone), 0);
        }
        sf_engine_close(engine);
    }
}

/* ---- parts ---- */

enum { N_SEQUENCES = 7, N_SCORES = 3 };

typedef struct toy {
    size_t fail_at; /* parts from this one on fail */
    uint64_t each;  /* what a part adds */
} toy;

static int toy_evaluate(const void *context, const sf_plan *plan, size_t part, uint64_t *partial, sf_error *err)
{
    const toy *t = context;
    size_t first, count;
    sf_plan_part(plan, part, &first, &count);
    for (size_t i = 0; i < count; i++)
        partial[i * N_SCORES] += t->each + first + i;
    return part < t->fail_at ? SF_OK : sf_fail(err, SF_ECHECK, "part %zu is bad", part);
}

static void test_parts(void)
{
    uint64_t histograms[N_SEQUENCES * N_SCORES];
    for (size_t block = 1; block <= N_SEQUENCES + 1; block++) {
        for (size_t pieces = 1; pieces <= 4; pieces++) {
            sf_plan plan = {.block = block, .parts_per_block = pieces};
            const toy good = {.fail_at = SIZE_MAX, .each = 10};
            sf_error err = {0};
            CU_ASSERT_EQUAL(sf_plan_complete(&plan, N_SEQUENCES, &err), SF_OK);
            CU_ASSERT_EQUAL(plan.n_parts, (N_SEQUENCES + block - 1) / block * pieces);
            memset(histograms, 0xff, sizeof histograms);
            CU_ASSERT_EQUAL(sf_parts_run(&plan, NULL, N_SCORES, 3, NULL, toy_evaluate, &good, histograms, &err), SF_OK);
            for (size_t i = 0; i < N_SEQUENCES; i++) {
                CU_ASSERT_EQUAL(histograms[i * N_SCORES], pieces * (10 + i));
                CU_ASSERT_EQUAL(histograms[i * N_SCORES + 1], 0);
            }
            const toy bad = {.fail_at = 0};
            CU_ASSERT_EQUAL(sf_parts_run(&plan, NULL, N_SCORES, 1, NULL, toy_evaluate, &bad, histograms, &err),
                            SF_ECHECK);
            CU_ASSERT_STRING_EQUAL(err.text, "part 0 is bad");
            CU_ASSERT_EQUAL(sf_parts_run(&plan, NULL, N_SCORES, 3, NULL, toy_evaluate, &bad, histograms, NULL),
                            SF_ECHECK);
        }
    }
    sf_plan plan = {.block = 1, .parts_per_block = 2};
    const toy large = {.fail_at = SIZE_MAX, .each = UINT64_C(1) << 63};
    sf_error err = {0};
    CU_ASSERT_EQUAL(sf_plan_complete(&plan, N_SEQUENCES, &err), SF_OK);
    CU_ASSERT_EQUAL(sf_parts_run(&plan, NULL, N_SCORES, 2, NULL, toy_evaluate, &large, histograms, &err), SF_EOVERFLOW);
    plan.parts_per_block = SIZE_MAX;
    CU_ASSERT_EQUAL(sf_plan_complete(&plan, N_SEQUENCES, &err), SF_ELIMIT);
}

const test_case test_cases[] = {
    {"against_plain", test_against_plain},
    {"names", test_names},
    {"sets", test_sets},
    {"auto", test_auto},
    {"auto_limits", test_auto_limits},
    {"auto_long", test_auto_long},
    {"memory", test_memory},
    {"limits", test_limits},
    {"wrong_elements", test_wrong_elements},
    {"check", test_check},
    {"stop", test_stop},
    {"order", test_order},
    {"parts", test_parts},
    {NULL, NULL},
};

/* The bound engine against the plain enumeration, published numbers, itself on other layouts, and its limits. With
 * STARFOLD_TEST_LONG set, many more random sequences are compared. */
#include "core/engines/bound/bound.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "../test_main.h"
#include "core/base/isa.h"
#include "core/walk/walk.h"
#include "starfold/engine.h"

static sf_problem make_problem(const char *lattice, int length)
{
    sf_problem problem;
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, sf_lattice_find(lattice), sf_score_model_find("hp"), length, NULL),
                          SF_OK);
    return problem;
}

static sf_bound_result solve(const sf_problem *problem, const uint8_t *elements, int top_counts, uint64_t *histogram)
{
    const sf_bound_options options = {.top_counts = top_counts, .n_threads = 1};
    sf_bound_result result = {0};
    CU_ASSERT_EQUAL_FATAL(sf_bound_solve(problem, elements, &options, histogram, &result, NULL), SF_OK);
    return result;
}

static int best_score(const sf_problem *problem, const uint64_t *histogram)
{
    int best = problem->n_scores - 1;
    while (best > 0 && histogram[best] == 0)
        best--;
    return best;
}

/* True when what the engine says is the whole truth at the top two scores, and the set of scores below. */
static bool agrees(const sf_problem *problem, const uint8_t *elements)
{
    uint64_t plain[SF_SCORES_MAX], row[SF_SCORES_MAX];
    if (sf_walk_histogram(problem, elements, NULL, plain, NULL) != SF_OK)
        return false;
    const sf_bound_result result = solve(problem, elements, 2, row);
    const int best = best_score(problem, plain);
    bool same =
        result.exact && result.best_lower == best && result.best_upper == best && result.solutions == plain[best];
    int counted = 0;
    for (int s = problem->n_scores - 1; s >= 0; s--) {
        const bool reachable = plain[s] > 0;
        same &= row[s] == (reachable && counted >= 2 ? SF_COUNT_SOME : plain[s]);
        counted += reachable;
    }
    return same;
}

/* ---- against the plain enumeration ---- */

static void check_all_sequences(const char *lattice, int length)
{
    const sf_problem problem = make_problem(lattice, length);
    uint8_t elements[SF_LENGTH_MAX];
    int wrong = 0;
    for (unsigned code = 0; code < 1u << length; code++) {
        for (int i = 0; i < length; i++)
            elements[i] = (uint8_t)(code >> i & 1);
        wrong += !agrees(&problem, elements);
    }
    if (wrong)
        printf("%s, %d residues: %d sequences are wrong\n", lattice, length, wrong);
    CU_ASSERT_EQUAL(wrong, 0);
}

static void test_all_sequences(void)
{
    for (int length = SF_LENGTH_MIN; length <= 12; length++)
        check_all_sequences("square", length);
    for (int length = SF_LENGTH_MIN; length <= 10; length++)
        check_all_sequences("cubic", length);
}

static void check_random_sequences(const char *lattice, int length, int n, uint64_t *random)
{
    const sf_problem problem = make_problem(lattice, length);
    uint8_t elements[SF_LENGTH_MAX];
    for (int i = 0; i < n; i++) {
        const uint64_t percent_h = 20 + test_random(random) % 70;
        for (int k = 0; k < length; k++)
            elements[k] = test_random(random) % 100 >= percent_h;
        CU_ASSERT(agrees(&problem, elements));
    }
}

static void test_random_sequences(void)
{
    uint64_t random = test_seed();
    const int more = getenv("STARFOLD_TEST_LONG") ? 20 : 1;
    for (int length = 11; length <= 18; length++)
        check_random_sequences("square", length, more * (length <= 15 ? 20 : 3), &random);
    for (int length = 9; length <= 12; length++)
        check_random_sequences("cubic", length, more * (length <= 11 ? 10 : 4), &random);
}

/* A core with long tails of P, at most two H in them: most folds differ in the tails only. */
static void check_long_tails(const char *lattice, int length, int n, uint64_t *random)
{
    enum { CORE = 7 };
    const sf_problem problem = make_problem(lattice, length);
    for (int i = 0; i < n; i++) {
        const int first = (int)(test_random(random) % (uint64_t)(length - CORE + 1));
        uint8_t elements[SF_LENGTH_MAX];
        for (int k = 0; k < length; k++)
            elements[k] = k < first || k >= first + CORE || test_random(random) % 4 == 0;
        if (i % 2)
            elements[test_random(random) % (uint64_t)length] = 0;
        if (i % 3 == 2)
            elements[test_random(random) % (uint64_t)length] = 0;
        CU_ASSERT(agrees(&problem, elements));
    }
}

static void test_long_tails(void)
{
    uint64_t random = test_seed();
    const int more = getenv("STARFOLD_TEST_LONG") ? 20 : 1;
    for (int length = 12; length <= 19; length++)
        check_long_tails("square", length, more * 10, &random);
    check_long_tails("square", 20, more * 3, &random);
    check_long_tails("square", 22, more, &random);
    for (int length = 10; length <= 12; length++)
        check_long_tails("cubic", length, more * 6, &random);
    check_long_tails("cubic", 14, more, &random);
}

/* ---- known numbers ---- */

static void check_known(const char *lattice, const char *text, int best, uint64_t solutions)
{
    const sf_problem problem = make_problem(lattice, (int)strlen(text));
    uint8_t elements[SF_LENGTH_MAX];
    uint64_t row[SF_SCORES_MAX];
    CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, text, elements, NULL), SF_OK);
    const sf_bound_result result = solve(&problem, elements, solutions > 0, row);
    CU_ASSERT_EQUAL(result.best_lower, best);
    CU_ASSERT_EQUAL(result.best_upper, best);
    CU_ASSERT_EQUAL(result.solutions, solutions);
}

static void test_known_sequences(void)
{
    check_known("square", "HPHPHPPPPPHH", 3, 7); /* a chain end with four placed H beside it */
    check_known("square", "PPHPPHHPPPPHHPPPPHHPPPPHH", 8, 16);
    check_known("square", "HPHPPHHPHPPHPHHPPHPH", 9, 2);
    check_known("square", "PPPHHPPHHPPPPPHHHHHHHPPHHPPPPHHPPHPP", 14, 192); /* as engine walk counts, in an hour */
    check_known("square", "PPHPPHHPPHHPPPPPHHHHHHHHHHPPPPPPHHPPHHPPHPPHHHHH", 23, 0);
    check_known("square", "HHHHHHHHHHHHPHPHPPHHPPHHPPHPPHHPPHHPPHPPHHPPHHPPHPHPHHHHHHHHHHHH", 42, 0);
    check_known("cubic", "HPHPPHHPHPPHPHHPPHPH", 11, 1697);
    check_known("cubic", "PPPHHPPHHPPPPPHHHHHHHPPHHPPPPHHPPHPP", 18, 0);
}

/* Sequences of the data file whose scores have gaps. */
static void test_gaps(void)
{
    FILE *file = test_data_open("score_gap_sequences.csv");
    char line[256], text[128];
    int dimension, length, max_score, fitness, n = 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%d,%d,%127[HP],%d,%d", &dimension, &length, text, &max_score, &fitness) != 5)
            continue;
        const sf_problem problem = make_problem(dimension == 2 ? "square" : "cubic", length);
        uint8_t elements[SF_LENGTH_MAX];
        uint64_t row[SF_SCORES_MAX];
        sf_summary summary;
        CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, text, elements, NULL), SF_OK);
        solve(&problem, elements, 1, row);
        CU_ASSERT_EQUAL(sf_histogram_summary(&problem, row, &summary), SF_OK);
        CU_ASSERT_EQUAL(summary.best_score, max_score);
        CU_ASSERT_EQUAL(summary.distinct_scores, fitness);
        n++;
    }
    fclose(file);
    CU_ASSERT(n >= 10);
}

/* ---- solutions ---- */

/* An example of the score that is entry `at` of a histogram, asked for alone. */
static int witness(const sf_problem *problem, const uint8_t *elements, int at, const volatile int *stop, char *walk)
{
    static uint64_t wanted[SF_SCORES_MAX];
    static char walks[SF_SCORES_MAX][SF_LENGTH_MAX];
    memset(wanted, 0, sizeof wanted);
    if (at >= problem->n_scores)
        return SF_EINPUT;
    wanted[at] = 7;
    const int status = sf_bound_witnesses(problem, elements, wanted, stop, walks, NULL);
    memcpy(walk, walks[at], SF_LENGTH_MAX);
    return status;
}

/* In a long chain the scores in the middle are hard to meet by themselves; all at once they are those asked for alone. */
static void test_long_witnesses(void)
{
    static const char letters[] = "HHHHHHHHHHHHPHPHPPHHPPHHPPHPPHHPPHHPPHPPHHPPHHPPHPHPHHHHHHHHHHHH"; /* 2D-64, best 42 */
    const sf_problem problem = make_problem("square", 64);
    const int stop = 1, single[] = {0, 21, 42};
    uint8_t elements[SF_LENGTH_MAX];
    uint64_t wanted[SF_SCORES_MAX] = {0};
    static char walks[SF_SCORES_MAX][SF_LENGTH_MAX];
    char walk[SF_LENGTH_MAX];
    int score;
    CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, letters, elements, NULL), SF_OK);
    for (int s = 0; s <= 42; s++)
        wanted[s] = SF_COUNT_SOME;
    wanted[43] = SF_COUNT_UNKNOWN;
    CU_ASSERT_EQUAL(sf_bound_witnesses(&problem, elements, wanted, NULL, walks, NULL), SF_OK);
    for (int s = 0; s <= 42; s++)
        CU_ASSERT(sf_walk_score(&problem, elements, walks[s], &score, NULL) == SF_OK && score == s);
    CU_ASSERT_EQUAL(walks[43][0], '\0');
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        CU_ASSERT_EQUAL(witness(&problem, elements, single[i], NULL, walk), SF_OK);
        CU_ASSERT_STRING_EQUAL(walk, walks[single[i]]);
    }
    CU_ASSERT_EQUAL(witness(&problem, elements, 42, &stop, walk), SF_OK);
    CU_ASSERT_EQUAL(walk[0], '\0');
    CU_ASSERT_EQUAL(witness(&problem, elements, 0, &stop, walk), SF_OK);
    CU_ASSERT_EQUAL(strspn(walk, "R"), 63);
}

static void test_witnesses(void)
{
    uint64_t random = test_seed();
    for (int i = 0; i < 12; i++) {
        const sf_problem problem = make_problem(i % 2 ? "square" : "cubic", i % 2 ? 24 : 14);
        uint8_t elements[SF_LENGTH_MAX];
        uint64_t row[SF_SCORES_MAX];
        char walk[SF_LENGTH_MAX];
        int score;
        for (int k = 0; k < problem.length; k++)
            elements[k] = (uint8_t)(test_random(&random) & 1);
        const sf_bound_result result = solve(&problem, elements, 0, row);
        for (int s = 0; s <= result.best_upper + 1; s++) {
            const bool reachable = s <= result.best_upper && row[s] != 0;
            const int status = witness(&problem, elements, s, NULL, walk);
            CU_ASSERT_EQUAL(status, reachable ? SF_OK : SF_EINPUT);
            if (status == SF_OK) {
                CU_ASSERT_EQUAL(sf_walk_score(&problem, elements, walk, &score, NULL), SF_OK);
                CU_ASSERT_EQUAL(score, s);
                CU_ASSERT_EQUAL(walk[0], 'R');
            }
        }
    }
}

/* ---- other models ---- */

/* Letters and small weights of either sign, symmetric. */
static void random_model(sf_score_model *model, uint64_t *random)
{
    *model = (sf_score_model){.name = "random", .n_letters = 2 + (int)(test_random(random) % 3)};
    for (int i = 0; i < model->n_letters; i++) {
        model->letter[i] = (char)('A' + i);
        for (int j = 0; j <= i; j++)
            model->weight[i][j] = model->weight[j][i] = (int)(test_random(random) % 7) - 3;
    }
}

static bool agrees_for_model(const sf_problem *problem, const uint8_t *elements)
{
    uint64_t plain[SF_SCORES_MAX], row[SF_SCORES_MAX];
    int counted = 0;
    if (sf_walk_histogram(problem, elements, NULL, plain, NULL) != SF_OK)
        return false;
    const sf_bound_result result = solve(problem, elements, 2, row);
    const int best = problem->min_score + best_score(problem, plain);
    bool same = result.exact && result.best_lower == best && result.best_upper == best;
    for (int s = problem->n_scores - 1; s >= 0; s--) {
        const bool reachable = plain[s] > 0;
        same &= row[s] == (reachable && counted >= 2 ? SF_COUNT_SOME : plain[s]);
        counted += reachable;
    }
    return same;
}

static void test_models(void)
{
    uint64_t random = test_seed();
    for (int i = 0; i < 60; i++) {
        sf_score_model model;
        sf_problem problem;
        uint8_t elements[SF_LENGTH_MAX];
        const bool square = i % 3 != 0;
        const int length = square ? 4 + i % 10 : 4 + i % 6;
        random_model(&model, &random);
        CU_ASSERT_EQUAL_FATAL(
            sf_problem_init(&problem, sf_lattice_find(square ? "square" : "cubic"), &model, length, NULL), SF_OK);
        for (int k = 0; k < length; k++)
            elements[k] = (uint8_t)(test_random(&random) % (uint64_t)model.n_letters);
        CU_ASSERT(agrees_for_model(&problem, elements));
        const sf_bound_options options = {.node_limit = 40, .n_threads = 1};
        uint64_t plain[SF_SCORES_MAX], row[SF_SCORES_MAX];
        sf_bound_result result;
        CU_ASSERT_EQUAL(sf_walk_histogram(&problem, elements, NULL, plain, NULL), SF_OK);
        CU_ASSERT_EQUAL(sf_bound_solve(&problem, elements, &options, row, &result, NULL), SF_OK);
        CU_ASSERT(result.nodes <= 40);
        for (int s = 0; s < problem.n_scores; s++)
            CU_ASSERT(row[s] == SF_COUNT_UNKNOWN || (row[s] != 0) == (plain[s] != 0));
    }
}

/* ---- limits, threads, instruction sets ---- */

static bool same_result(const sf_bound_result *a, const sf_bound_result *b)
{
    return a->best_lower == b->best_lower && a->best_upper == b->best_upper && a->exact == b->exact &&
           a->nodes == b->nodes && a->solutions == b->solutions;
}

/* Whatever the limit, what is said is true, and the same for any number of threads and every instruction set. */
static void test_limits(void)
{
    static const uint64_t limits[] = {1, 50, 1000, 20000, 70000, 150000, 0};
    uint64_t random = test_seed(), whole[SF_SCORES_MAX], row[2][SF_SCORES_MAX];
    for (int i = 0; i < 4; i++) {
        const sf_problem problem = make_problem(i % 2 ? "square" : "cubic", i % 2 ? 30 : 16);
        uint8_t elements[SF_LENGTH_MAX];
        for (int k = 0; k < problem.length; k++)
            elements[k] = (uint8_t)(test_random(&random) & 1);
        const sf_bound_result exact = solve(&problem, elements, 0, whole);
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
            sf_bound_result result[2];
            for (int run = 0; run < 2; run++) {
                const sf_bound_options options = {.node_limit = limits[l], .n_threads = 1 + 2 * run};
                setenv("STARFOLD_ISA", run ? "portable" : "avx512", 1);
                CU_ASSERT_EQUAL(sf_bound_solve(&problem, elements, &options, row[run], &result[run], NULL), SF_OK);
            }
            unsetenv("STARFOLD_ISA");
            CU_ASSERT(same_result(&result[0], &result[1]));
            CU_ASSERT_EQUAL(memcmp(row[0], row[1], sizeof *whole * (size_t)problem.n_scores), 0);
            CU_ASSERT(result[0].best_lower <= exact.best_lower && exact.best_upper <= result[0].best_upper);
            CU_ASSERT(limits[l] == 0 || result[0].nodes <= limits[l]);
            CU_ASSERT(limits[l] > 0 || result[0].exact);
            for (int s = 0; s < problem.n_scores; s++)
                CU_ASSERT(row[0][s] == SF_COUNT_UNKNOWN || (row[0][s] != 0) == (whole[s] != 0));
        }
    }
}

/* The instruction sets differ in how they flood and count; a bound that is off by one in one of them shows in the nodes
 * long before it shows in an answer. */
static void test_instruction_sets(void)
{
    static const char *const isa[] = {"portable", "avx2", "avx512"};
    enum { SETS = sizeof isa / sizeof *isa };
    uint64_t random = test_seed();
    for (int i = 0; i < 100; i++) {
        const int length = 3 + (int)(test_random(&random) % (i < 80 ? 20 : 26)), h_of_8 = 2 + i % 6;
        const sf_problem problem = make_problem("square", length);
        uint8_t elements[SF_LENGTH_MAX];
        uint64_t row[SETS][SF_SCORES_MAX];
        sf_bound_result result[SETS];
        for (int k = 0; k < length; k++)
            elements[k] = test_random(&random) % 8 >= (uint64_t)h_of_8;
        for (int k = 0; k < SETS; k++) {
            const sf_bound_options options = {.top_counts = 1, .node_limit = 20000, .n_threads = 1};
            setenv("STARFOLD_ISA", isa[k], 1);
            CU_ASSERT_EQUAL(sf_bound_solve(&problem, elements, &options, row[k], &result[k], NULL), SF_OK);
            CU_ASSERT(same_result(&result[0], &result[k]));
            CU_ASSERT_EQUAL(memcmp(row[0], row[k], sizeof **row * (size_t)problem.n_scores), 0);
        }
        unsetenv("STARFOLD_ISA");
    }
}

static void test_stop(void)
{
    const sf_problem problem = make_problem("square", 50);
    const volatile int stop = 1;
    const sf_bound_options options = {.top_counts = 1, .n_threads = 2, .stop = &stop};
    uint8_t elements[SF_LENGTH_MAX] = {0};
    uint64_t row[SF_SCORES_MAX];
    sf_bound_result result;
    sf_error err = {0};
    for (int k = 0; k < 50; k += 3)
        elements[k] = 1;
    CU_ASSERT_EQUAL(sf_bound_solve(&problem, elements, &options, row, &result, &err), SF_ESTOPPED);
    CU_ASSERT_EQUAL(err.code, SF_ESTOPPED);
    CU_ASSERT_FALSE(result.exact);
    CU_ASSERT_EQUAL(result.best_lower, 0);
    CU_ASSERT_EQUAL(row[0], SF_COUNT_SOME);
    CU_ASSERT_EQUAL(row[result.best_upper], SF_COUNT_UNKNOWN);
    sf_engine_options kept;
    sf_engine *engine;
    sf_engine_options_init(&kept);
    kept.engine = "bound";
    kept.stop = &stop;
    for (int keep = 0; keep < 2; keep++) {
        uint64_t answer[SF_SCORES_MAX] = {0};
        sf_plan plan;
        kept.keep_stopped = keep;
        CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &kept, 1, NULL), SF_OK);
        CU_ASSERT_EQUAL(sf_engine_plan(engine, 1, elements, &plan, NULL), SF_OK);
        CU_ASSERT_EQUAL(sf_engine_evaluate(engine, &plan, elements, 0, answer, NULL), keep ? SF_OK : SF_ESTOPPED);
        CU_ASSERT_EQUAL(memcmp(answer, row, sizeof *row * (size_t)problem.n_scores) == 0, keep);
        sf_engine_close(engine);
    }
}

static volatile int alarm_stop;

static void on_alarm(int number)
{
    (void)number;
    alarm_stop = 1;
}

/* Stopped anywhere: in the proof of the best, of the set, in a count. What is said is true. */
static void test_stop_anywhere(void)
{
    static const char text[] = "HPHPPHHPHPPHPHHPPHPH";
    const sf_problem problem = make_problem("square", (int)strlen(text));
    const sf_bound_options options = {.top_counts = 3, .n_threads = 2, .stop = &alarm_stop};
    uint64_t row[SF_SCORES_MAX], whole[SF_SCORES_MAX];
    uint8_t elements[SF_LENGTH_MAX];
    CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, text, elements, NULL), SF_OK);
    const sf_bound_result exact = solve(&problem, elements, 3, whole);
    signal(SIGALRM, on_alarm);
    for (int us = 100; us < 200000; us *= 3) {
        sf_bound_result result;
        alarm_stop = 0;
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = us}}, NULL);
        const int status = sf_bound_solve(&problem, elements, &options, row, &result, NULL);
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0}}, NULL);
        CU_ASSERT(status == SF_OK || (status == SF_ESTOPPED && alarm_stop));
        CU_ASSERT(result.best_lower <= exact.best_lower && exact.best_upper <= result.best_upper);
        bool known = true;
        for (int s = 0; s < problem.n_scores; s++) {
            known &= row[s] != SF_COUNT_UNKNOWN;
            CU_ASSERT(row[s] == SF_COUNT_UNKNOWN || row[s] == whole[s] || (row[s] == SF_COUNT_SOME && whole[s] > 0));
        }
        CU_ASSERT_EQUAL(result.exact, known);
    }
    signal(SIGALRM, SIG_DFL);
}

static void test_engine(void)
{
    sf_problem problem = make_problem("square", 15);
    sf_engine_options options;
    sf_engine *engine;
    uint64_t random = test_seed(), rows[4 * SF_SCORES_MAX], plain[SF_SCORES_MAX];
    uint8_t sequences[4 * 15];
    for (size_t i = 0; i < sizeof sequences; i++)
        sequences[i] = (uint8_t)(test_random(&random) & 1);
    sf_engine_options_init(&options);
    options.engine = "bound";
    options.n_threads = 2;
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 4, NULL), SF_OK);
    CU_ASSERT_EQUAL(sf_engine_histograms(engine, 4, sequences, rows, NULL), SF_OK);
    for (int i = 0; i < 4; i++) {
        const uint64_t *row = rows + i * problem.n_scores;
        CU_ASSERT_EQUAL(sf_walk_histogram(&problem, sequences + i * 15, NULL, plain, NULL), SF_OK);
        for (int s = 0; s < problem.n_scores; s++)
            CU_ASSERT(row[s] == plain[s] || (row[s] == SF_COUNT_SOME && plain[s] > 0));
        const int best = best_score(&problem, plain);
        CU_ASSERT_EQUAL(row[best], plain[best]);
    }
    sf_engine_close(engine);
}

const test_case test_cases[] = {
    {"all sequences of short chains", test_all_sequences},
    {"random sequences", test_random_sequences},
    {"long tails", test_long_tails},
    {"known sequences", test_known_sequences},
    {"gaps", test_gaps},
    {"solutions", test_witnesses},
    {"solutions of a long chain", test_long_witnesses},
    {"other models", test_models},
    {"limits, threads and instruction sets", test_limits},
    {"nodes by instruction set", test_instruction_sets},
    {"stop", test_stop},
    {"stop anywhere", test_stop_anywhere},
    {"the engine", test_engine},
    {NULL, NULL},
};

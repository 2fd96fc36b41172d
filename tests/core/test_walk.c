/* The plain enumeration: against published counts and histograms, and against a count that knows nothing of prefixes,
 * boards or opened axes: all walks, each kept when no rotation or reflection of it comes earlier in the alphabet. */
#include "core/walk/walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../test_main.h"

static sf_problem make_problem(int dimension, const sf_score_model *model, int length)
{
    sf_problem problem;
    const char *name = dimension == 2 ? "square" : "cubic";
    int status = sf_problem_init(&problem, sf_lattice_find(name), model, length, NULL);
    CU_ASSERT_EQUAL_FATAL(status, SF_OK);
    return problem;
}

/* ---- the independent count ---- */

typedef struct brute {
    const sf_problem *problem;
    const uint8_t *elements;
    uint8_t steps[SF_LENGTH_MAX];
    char walk[SF_LENGTH_MAX + 1];
    uint64_t histogram[SF_SCORES_MAX];
} brute;

/* Is some image of the walk under a signed permutation of the axes less than the walk? */
static bool has_lesser_image(const brute *b)
{
    static const int permutations[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    const int dimension = b->problem->lattice->dimension;
    const int n_permutations = dimension == 2 ? 2 : 6;
    for (int p = 0; p < n_permutations; p++) {
        for (int signs = 0; signs < 1 << dimension; signs++) {
            for (int i = 0; i + 1 < b->problem->length; i++) {
                int axis = b->steps[i] / 2;
                int image = 2 * permutations[p][axis] + ((b->steps[i] & 1) ^ (signs >> axis & 1));
                if (image != b->steps[i]) {
                    if (image < b->steps[i])
                        return true;
                    break;
                }
            }
        }
    }
    return false;
}

static void brute_from(brute *b, int done)
{
    const sf_lattice *lattice = b->problem->lattice;
    if (done < b->problem->length - 1) {
        for (int step = 0; step < lattice->n_steps; step++) {
            b->steps[done] = (uint8_t)step;
            b->walk[done] = lattice->letter[step];
            brute_from(b, done + 1);
        }
        return;
    }
    int score;
    if (!has_lesser_image(b) && sf_walk_score(b->problem, b->elements, b->walk, &score, NULL) == SF_OK)
        b->histogram[score - b->problem->min_score]++;
}

static void check_brute(const sf_problem *problem, const uint8_t *elements)
{
    brute b = {.problem = problem, .elements = elements};
    uint64_t histogram[SF_SCORES_MAX];
    brute_from(&b, 0);
    CU_ASSERT_EQUAL(sf_walk_histogram(problem, elements, NULL, histogram, NULL), SF_OK);
    CU_ASSERT_EQUAL(memcmp(histogram, b.histogram, (size_t)problem->n_scores * sizeof *histogram), 0);
}

static void test_brute(void)
{
    uint64_t random = test_seed();
    const sf_score_model weights = {
        .name = "weights", .n_letters = 3, .letter = "ABC", .weight = {{2, -1, 3}, {-1, 0, -4}, {3, -4, 1}}};
    const struct {
        int dimension, longest;
    } cases[] = {{2, 10}, {3, 7}};
    for (size_t i = 0; i < 2; i++) {
        for (int length = 3; length <= cases[i].longest; length++) {
            const sf_score_model *models[] = {sf_score_model_find("hp"), &weights};
            for (size_t m = 0; m < 2; m++) {
                sf_problem problem = make_problem(cases[i].dimension, models[m], length);
                uint8_t elements[SF_LENGTH_MAX];
                for (int k = 0; k < length; k++)
                    elements[k] = (uint8_t)(test_random(&random) % (uint64_t)models[m]->n_letters);
                check_brute(&problem, elements);
            }
        }
    }
}

/* ---- published numbers ---- */

/* Reads up to n counts parted by blanks. */
static int read_counts(const char *text, uint64_t *counts, int n)
{
    char *end;
    int i = 0;
    for (; i < n; i++, text = end) {
        counts[i] = strtoull(text, &end, 10);
        if (end == text)
            break;
    }
    return i;
}

/* Counts of one prefix after the other sum to the histogram and to the known number of conformations. */
static void check_histogram(int dimension, const char *sequence, const char *expected)
{
    sf_problem problem = make_problem(dimension, sf_score_model_find("hp"), (int)strlen(sequence));
    uint8_t elements[SF_LENGTH_MAX];
    uint64_t histogram[SF_SCORES_MAX], known[SF_SCORES_MAX] = {0}, sum = 0;
    CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, sequence, elements, NULL), SF_OK);
    CU_ASSERT_EQUAL(sf_walk_histogram(&problem, elements, NULL, histogram, NULL), SF_OK);
    CU_ASSERT(read_counts(expected, known, problem.n_scores) > 0);
    for (int i = 0; i < problem.n_scores; i++) {
        CU_ASSERT_EQUAL(histogram[i], known[i]);
        sum += histogram[i];
    }
    CU_ASSERT_EQUAL(sum, sf_lattice_conformations(problem.lattice, problem.length));
}

static int longest_plain(int dimension)
{
    return dimension == 2 ? 19 : 14;
}

static void test_homopolymers(void)
{
    FILE *file = test_data_open("homopolymer_contacts.csv");
    char line[1024], counts[512], sequence[SF_LENGTH_MAX + 1];
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        int dimension, length;
        if (sscanf(line, "%d,%d,%*d,%*d,%*d,%511[0-9 ]", &dimension, &length, counts) != 3 || length < 3 ||
            length > longest_plain(dimension) - 2)
            continue;
        memset(sequence, 'H', (size_t)length);
        sequence[length] = '\0';
        check_histogram(dimension, sequence, counts);
        rows++;
    }
    fclose(file);
    CU_ASSERT_EQUAL(rows, 15 + 10);
}

static void test_hp_histograms(void)
{
    FILE *file = test_data_open("hp_histograms.csv");
    char line[1024], counts[512], sequence[SF_LENGTH_MAX + 1];
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        int dimension, length;
        if (sscanf(line, "%d,%d,%64[HP],%*d,%511[0-9 ]", &dimension, &length, sequence, counts) != 4 ||
            length > longest_plain(dimension))
            continue;
        check_histogram(dimension, sequence, counts);
        rows++;
    }
    fclose(file);
    CU_ASSERT_EQUAL(rows, 8);
}

static void test_gaps(void)
{
    FILE *file = test_data_open("score_gap_sequences.csv");
    char line[1024], sequence[SF_LENGTH_MAX + 1];
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        int dimension, length, best, fitness;
        uint8_t elements[SF_LENGTH_MAX];
        uint64_t histogram[SF_SCORES_MAX];
        sf_summary summary;
        if (sscanf(line, "%d,%d,%64[HP],%d,%d", &dimension, &length, sequence, &best, &fitness) != 5)
            continue;
        sf_problem problem = make_problem(dimension, sf_score_model_find("hp"), length);
        CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, sequence, elements, NULL), SF_OK);
        CU_ASSERT_EQUAL(sf_walk_histogram(&problem, elements, NULL, histogram, NULL), SF_OK);
        CU_ASSERT_EQUAL(sf_histogram_summary(&problem, histogram, &summary), SF_OK);
        CU_ASSERT_EQUAL(summary.best_score, best);
        CU_ASSERT_EQUAL(summary.distinct_scores, fitness);
        CU_ASSERT(summary.distinct_scores < summary.best_score + 1);
        rows++;
    }
    fclose(file);
    CU_ASSERT_EQUAL(rows, 11);
}

/* ---- properties ---- */

/* A chain and its reverse have the same histogram: every conformation can be read from either end. */
static void test_reversal(void)
{
    uint64_t random = test_seed();
    for (int i = 0; i < 6; i++) {
        int dimension = 2 + i % 2, length = dimension == 2 ? 14 : 10;
        sf_problem problem = make_problem(dimension, sf_score_model_find("hp"), length);
        uint8_t forward[SF_LENGTH_MAX], backward[SF_LENGTH_MAX];
        uint64_t a[SF_SCORES_MAX], b[SF_SCORES_MAX];
        for (int k = 0; k < length; k++)
            forward[k] = backward[length - 1 - k] = (uint8_t)(test_random(&random) & 1);
        CU_ASSERT_EQUAL(sf_walk_histogram(&problem, forward, NULL, a, NULL), SF_OK);
        CU_ASSERT_EQUAL(sf_walk_histogram(&problem, backward, NULL, b, NULL), SF_OK);
        CU_ASSERT_EQUAL(memcmp(a, b, (size_t)problem.n_scores * sizeof *a), 0);
    }
}

typedef struct visited {
    const sf_problem *problem;
    const uint8_t *elements;
    uint8_t last[SF_LENGTH_MAX];
    uint64_t n, n_disordered, n_wrong;
    uint64_t histogram[SF_SCORES_MAX];
    uint64_t stop_at;
} visited;

static int visit(void *context, const uint8_t *steps)
{
    visited *v = context;
    const sf_problem *problem = v->problem;
    const size_t n_steps = (size_t)problem->length - 1;
    char walk[SF_LENGTH_MAX + 1];
    uint8_t pairs[SF_LENGTH_MAX * 2][2];
    int score = -1, contacts_score = 0;
    v->n_disordered += v->n > 0 && memcmp(v->last, steps, n_steps) >= 0;
    memcpy(v->last, steps, n_steps);
    for (size_t i = 0; i < n_steps; i++)
        walk[i] = problem->lattice->letter[steps[i]];
    walk[n_steps] = '\0';
    v->n_wrong += sf_walk_score(problem, v->elements, walk, &score, NULL) != SF_OK;
    int n = sf_walk_contacts(problem->lattice, problem->length, steps, pairs);
    for (int i = 0; i < n; i++)
        contacts_score += problem->model->weight[v->elements[pairs[i][0]]][v->elements[pairs[i][1]]];
    v->n_wrong += contacts_score != score;
    v->histogram[score]++;
    return ++v->n == v->stop_at ? 77 : 0;
}

/* All prefixes in turn visit every conformation once, in order, with the scores that counting finds. */
static void test_visit(void)
{
    uint64_t random = test_seed();
    for (int dimension = 2; dimension <= 3; dimension++) {
        int length = dimension == 2 ? 13 : 9;
        sf_problem problem = make_problem(dimension, sf_score_model_find("hp"), length);
        uint8_t elements[SF_LENGTH_MAX];
        uint64_t histogram[SF_SCORES_MAX];
        sf_walk_prefixes prefixes;
        for (int k = 0; k < length; k++)
            elements[k] = (uint8_t)(test_random(&random) % 4 == 0);
        visited v = {.problem = &problem, .elements = elements};
        CU_ASSERT_EQUAL_FATAL(sf_walk_prefixes_init(&prefixes, problem.lattice, length, NULL), SF_OK);
        CU_ASSERT(prefixes.n >= 256);
        for (size_t i = 0; i < prefixes.n; i++)
            CU_ASSERT_EQUAL(sf_walk_visit(&prefixes, i, visit, &v, NULL), SF_OK);
        CU_ASSERT_EQUAL(v.n, sf_lattice_conformations(problem.lattice, length));
        CU_ASSERT_EQUAL(v.n_disordered, 0);
        CU_ASSERT_EQUAL(v.n_wrong, 0);
        CU_ASSERT_EQUAL(sf_walk_histogram(&problem, elements, NULL, histogram, NULL), SF_OK);
        CU_ASSERT_EQUAL(memcmp(histogram, v.histogram, (size_t)problem.n_scores * sizeof *histogram), 0);

        visited early = {.problem = &problem, .elements = elements, .stop_at = 3};
        CU_ASSERT_EQUAL(sf_walk_visit(&prefixes, 0, visit, &early, NULL), 77);
        CU_ASSERT_EQUAL(early.n, 3);
        sf_walk_prefixes_free(&prefixes);
        sf_walk_prefixes_free(&prefixes);
    }
}

static void test_stop(void)
{
    sf_problem problem = make_problem(2, sf_score_model_find("hp"), 30);
    uint8_t elements[SF_LENGTH_MAX] = {0};
    uint64_t histogram[SF_SCORES_MAX];
    const volatile int stop = 1;
    sf_error err;
    CU_ASSERT_EQUAL(sf_walk_histogram(&problem, elements, &stop, histogram, &err), SF_ESTOPPED);
    CU_ASSERT_EQUAL(err.code, SF_ESTOPPED);
}

static void test_lengths(void)
{
    sf_walk_prefixes prefixes;
    const sf_lattice *square = sf_lattice_find("square");
    sf_error err;
    CU_ASSERT_EQUAL(sf_walk_prefixes_init(&prefixes, square, 1, &err), SF_EINPUT);
    CU_ASSERT_EQUAL(sf_walk_prefixes_init(&prefixes, square, SF_LENGTH_MAX + 1, &err), SF_EINPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "walks of 65 residues cannot be enumerated; 2 to 64 are allowed");
    sf_walk_prefixes_free(&prefixes);
    CU_ASSERT_EQUAL(sf_walk_prefixes_init(&prefixes, square, 2, &err), SF_OK);
    CU_ASSERT_EQUAL(prefixes.n, 1);
    sf_walk_prefixes_free(&prefixes);
}

const test_case test_cases[] = {
    {"brute", test_brute}, {"homopolymers", test_homopolymers}, {"hp_histograms", test_hp_histograms},
    {"gaps", test_gaps},   {"reversal", test_reversal},         {"visit", test_visit},
    {"stop", test_stop},   {"lengths", test_lengths},           {NULL, NULL},
};

/* Problems, sequences, histograms, stars and the score of a walk; the lines for wrong input word by word. */
#include "starfold/problem.h"

#include <string.h>

#include "../test_main.h"

static sf_problem make_problem(const char *lattice, int length)
{
    sf_problem problem;
    sf_error err;
    int status = sf_problem_init(&problem, sf_lattice_find(lattice), sf_score_model_find("hp"), length, &err);
    CU_ASSERT_EQUAL_FATAL(status, SF_OK);
    return problem;
}

static void test_models(void)
{
    const sf_score_model *hp = sf_score_model_find("hp");
    CU_ASSERT_PTR_NOT_NULL_FATAL(hp);
    CU_ASSERT(sf_score_model_is_hp(hp));
    CU_ASSERT_STRING_EQUAL(hp->letter, "HP");
    CU_ASSERT_PTR_NULL(sf_score_model_find("HP"));
    CU_ASSERT_PTR_NULL(sf_score_model_find(NULL));
    sf_score_model other = *hp;
    other.weight[1][1] = -1;
    CU_ASSERT_FALSE(sf_score_model_is_hp(&other));
}

static void test_init(void)
{
    sf_problem problem = make_problem("square", 16);
    CU_ASSERT_EQUAL(problem.length, 16);
    CU_ASSERT_EQUAL(problem.min_score, 0);
    CU_ASSERT_EQUAL(problem.n_scores, 10);
    CU_ASSERT_EQUAL(make_problem("cubic", 64).n_scores, 82);
    CU_ASSERT_EQUAL(make_problem("square", 3).n_scores, 1);

    const int wrong[] = {-1, 0, 2, 65, 1000};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sf_error err = {0};
        char expected[SF_ERROR_TEXT_SIZE];
        CU_ASSERT_EQUAL(sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), wrong[i], &err),
                        SF_EINPUT);
        snprintf(expected, sizeof expected, "length %d is out of range; chains of 3 to 64 residues are allowed",
                 wrong[i]);
        CU_ASSERT_STRING_EQUAL(err.text, expected);
    }
}

static void test_init_weights(void)
{
    sf_score_model model = {.name = "charged", .n_letters = 2, .letter = "+-", .weight = {{-2, 3}, {3, -2}}};
    sf_problem problem;
    sf_error err = {0};
    CU_ASSERT_EQUAL(sf_problem_init(&problem, sf_lattice_find("square"), &model, 16, &err), SF_OK);
    CU_ASSERT_EQUAL(problem.min_score, -18);
    CU_ASSERT_EQUAL(problem.n_scores, 46);
    model.weight[0][0] = -100;
    CU_ASSERT_EQUAL(sf_problem_init(&problem, sf_lattice_find("square"), &model, 16, &err), SF_ELIMIT);
    CU_ASSERT_STRING_EQUAL(err.text,
                           "score model charged at length 16 on the square lattice spans 928 scores, at most 512 "
                           "are allowed; take a shorter chain or smaller weights");
}

static void test_parse(void)
{
    sf_problem problem = make_problem("square", 5);
    uint8_t elements[5];
    char text[6];
    sf_error err = {0};
    CU_ASSERT_EQUAL(sf_sequence_parse(&problem, "HPhpH", elements, &err), SF_OK);
    sf_sequence_write(&problem, elements, text);
    CU_ASSERT_STRING_EQUAL(text, "HPHPH");

    static const struct {
        const char *text, *line;
    } wrong[] = {
        {"", "the sequence is empty; give 5 letters of HP"},
        {"HPXPH", "letter 3 of the sequence is 'X'; score model hp allows the letters HP"},
        {"HP PH", "letter 3 of the sequence is ' '; score model hp allows the letters HP"},
        {"HPPH\n", "letter 5 of the sequence is byte 0x0a; score model hp allows the letters HP"},
        {"\xc3\xa9HPPH", "letter 1 of the sequence is byte 0xc3; score model hp allows the letters HP"},
        {"HPPH", "the sequence has 4 letters; length 5 is asked for"},
        {"HPPHHH", "the sequence has 6 letters; length 5 is asked for"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CU_ASSERT_EQUAL(sf_sequence_parse(&problem, wrong[i].text, elements, &err), SF_EINPUT);
        CU_ASSERT_EQUAL(err.code, SF_EINPUT);
        CU_ASSERT_STRING_EQUAL(err.text, wrong[i].line);
    }
    CU_ASSERT_EQUAL(sf_sequence_parse(&problem, "", elements, NULL), SF_EINPUT);
}

static void test_canonical(void)
{
    const uint8_t palindrome[] = {0, 1, 0, 1, 0}, lesser[] = {0, 0, 1, 0}, greater[] = {0, 1, 0, 0};
    uint8_t canonical[5];
    sf_sequence_canonical(5, palindrome, canonical);
    CU_ASSERT_EQUAL(memcmp(canonical, palindrome, 5), 0);
    sf_sequence_canonical(4, lesser, canonical);
    CU_ASSERT_EQUAL(memcmp(canonical, lesser, 4), 0);
    sf_sequence_canonical(4, greater, canonical);
    CU_ASSERT_EQUAL(memcmp(canonical, lesser, 4), 0);
}

static void test_count_add(void)
{
    const uint64_t some = SF_COUNT_SOME, unknown = SF_COUNT_UNKNOWN;
    const struct {
        uint64_t a, b, sum;
    } cases[] = {
        {0, 0, 0},
        {2, 3, 5},
        {0, some, some},
        {0, unknown, unknown},
        {7, some, some},
        {7, unknown, some},
        {some, some, some},
        {unknown, unknown, unknown},
        {some, unknown, some},
        {UINT64_MAX - 3, 1, UINT64_MAX - 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t forward = cases[i].a, backward = cases[i].b;
        CU_ASSERT_EQUAL(sf_count_add(&forward, cases[i].b), SF_OK);
        CU_ASSERT_EQUAL(forward, cases[i].sum);
        CU_ASSERT_EQUAL(sf_count_add(&backward, cases[i].a), SF_OK);
        CU_ASSERT_EQUAL(backward, cases[i].sum);
    }
    uint64_t full = UINT64_MAX - 3;
    CU_ASSERT_EQUAL(sf_count_add(&full, 2), SF_EOVERFLOW);
    CU_ASSERT_EQUAL(sf_count_add(&full, UINT64_MAX - 2), SF_EOVERFLOW);
    uint64_t into[2] = {1, 2};
    CU_ASSERT_EQUAL(sf_counts_add(2, into, (const uint64_t[]){10, 20}), SF_OK);
    CU_ASSERT_EQUAL(into[0], 11);
    CU_ASSERT_EQUAL(into[1], 22);
}

static void test_summary(void)
{
    sf_problem problem = make_problem("cubic", 8); /* HHHHHHHH: no conformation has 4 contacts */
    CU_ASSERT_EQUAL_FATAL(problem.n_scores, 6);
    const uint64_t gap[] = {854, 602, 270, 103, 0, 3};
    sf_summary summary;
    CU_ASSERT_EQUAL(sf_histogram_summary(&problem, gap, &summary), SF_OK);
    CU_ASSERT_EQUAL(summary.conformations, 1832);
    CU_ASSERT_EQUAL(summary.distinct_scores, 5);
    CU_ASSERT_EQUAL(summary.best_score, 5);
    CU_ASSERT(summary.exact && summary.counted);

    const uint64_t marked[] = {SF_COUNT_SOME, SF_COUNT_SOME, 0, 7, 0, 0};
    CU_ASSERT_EQUAL(sf_histogram_summary(&problem, marked, &summary), SF_OK);
    CU_ASSERT_EQUAL(summary.conformations, 7);
    CU_ASSERT_EQUAL(summary.distinct_scores, 3);
    CU_ASSERT_EQUAL(summary.best_score, 3);
    CU_ASSERT(summary.exact && !summary.counted);

    const uint64_t open[] = {SF_COUNT_SOME, 5, SF_COUNT_UNKNOWN, 0, 0, 0};
    CU_ASSERT_EQUAL(sf_histogram_summary(&problem, open, &summary), SF_OK);
    CU_ASSERT_EQUAL(summary.distinct_scores, 2);
    CU_ASSERT_EQUAL(summary.best_score, 1);
    CU_ASSERT(!summary.exact && !summary.counted);

    const uint64_t large[] = {UINT64_MAX - 5, 6, 0, 0, 0, 0};
    CU_ASSERT_EQUAL(sf_histogram_summary(&problem, large, &summary), SF_EOVERFLOW);
}

static void test_stars(void)
{
    int stars[3] = {-1, -1, -1};
    CU_ASSERT_FALSE(sf_stars(2, stars));
    CU_ASSERT_EQUAL(stars[0], -1);
    CU_ASSERT(sf_stars(3, stars));
    CU_ASSERT(stars[0] == 1 && stars[1] == 2 && stars[2] == 3);
    CU_ASSERT(sf_stars(9, stars));
    CU_ASSERT(stars[0] == 4 && stars[1] == 8 && stars[2] == 9);
}

static void test_walk_score(void)
{
    sf_problem problem = make_problem("cubic", 8);
    uint8_t elements[8] = {0};
    int score = -1;
    sf_error err = {0};
    CU_ASSERT_EQUAL(sf_walk_score(&problem, elements, "RULFRDL", &score, &err), SF_OK);
    CU_ASSERT_EQUAL(score, 5);
    CU_ASSERT_EQUAL(sf_walk_score(&problem, elements, "RRRRRRR", &score, &err), SF_OK);
    CU_ASSERT_EQUAL(score, 0);

    static const struct {
        const char *walk, *line;
    } wrong[] = {
        {"RULDRRR", "the walk meets itself: residues 1 and 5 share a site"},
        {"RLRRRRR", "the walk meets itself: residues 1 and 3 share a site"},
        {"RUXDRRR", "step 3 of the walk is 'X'; 7 letters of RLUDFB are needed"},
        {"RUL", "step 4 of the walk is missing; 7 letters of RLUDFB are needed"},
        {"RRRRRRRR", "the walk has 8 steps; a chain of 8 residues has 7"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CU_ASSERT_EQUAL(sf_walk_score(&problem, elements, wrong[i].walk, &score, &err), SF_EINPUT);
        CU_ASSERT_STRING_EQUAL(err.text, wrong[i].line);
    }
    sf_problem flat = make_problem("square", 4);
    CU_ASSERT_EQUAL(sf_walk_score(&flat, elements, "RUF", &score, &err), SF_EINPUT);
    CU_ASSERT_EQUAL(sf_walk_score(&flat, elements, "RUL", &score, &err), SF_OK);
    CU_ASSERT_EQUAL(score, 1);
}

const test_case test_cases[] = {
    {"models", test_models},
    {"init", test_init},
    {"init_weights", test_init_weights},
    {"parse", test_parse},
    {"canonical", test_canonical},
    {"count_add", test_count_add},
    {"summary", test_summary},
    {"stars", test_stars},
    {"walk_score", test_walk_score},
    {NULL, NULL},
};

/* Examples: the first walk in lexicographic order that has the score, found here again by visiting all. */
#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/walk/walk.h"

static sf_problem make_problem(int dimension, const sf_score_model *model, int length)
{
    sf_problem problem;
    int status = sf_problem_init(&problem, sf_lattice_find(dimension == 2 ? "square" : "cubic"), model, length, NULL);
    CU_ASSERT_EQUAL_FATAL(status, SF_OK);
    return problem;
}

typedef struct firsts {
    const sf_problem *problem;
    const uint8_t *elements;
    char walk[SF_SCORES_MAX][SF_LENGTH_MAX + 1]; /* "" where the score is not reached */
} firsts;

static int note_first(void *context, const uint8_t *steps)
{
    firsts *f = context;
    char walk[SF_LENGTH_MAX + 1] = {0};
    int score = 0;
    for (int i = 0; i + 1 < f->problem->length; i++)
        walk[i] = f->problem->lattice->letter[steps[i]];
    sf_walk_score(f->problem, f->elements, walk, &score, NULL);
    if (f->walk[score - f->problem->min_score][0] == '\0')
        strcpy(f->walk[score - f->problem->min_score], walk);
    return 0;
}

static void check_all_scores(const sf_problem *problem, const uint8_t *elements)
{
    static firsts f;
    sf_walk_prefixes prefixes;
    memset(&f, 0, sizeof f);
    f.problem = problem;
    f.elements = elements;
    CU_ASSERT_EQUAL_FATAL(sf_walk_prefixes_init(&prefixes, problem->lattice, problem->length, NULL), SF_OK);
    for (size_t i = 0; i < prefixes.n; i++)
        CU_ASSERT_EQUAL(sf_walk_visit(&prefixes, i, note_first, &f, NULL), SF_OK);
    sf_walk_prefixes_free(&prefixes);
    for (int i = -1; i <= problem->n_scores; i++) {
        char walk[SF_LENGTH_MAX + 1] = "";
        sf_error err;
        bool reached = i >= 0 && i < problem->n_scores && f.walk[i][0] != '\0';
        int status = sf_walk_witness(problem, elements, problem->min_score + i, walk, &err);
        CU_ASSERT_EQUAL(status, reached ? SF_OK : SF_EINPUT);
        if (reached)
            CU_ASSERT_STRING_EQUAL(walk, f.walk[i]);
    }
}

static void test_all_scores(void)
{
    const sf_score_model weights = {
        .name = "weights", .n_letters = 3, .letter = "ABC", .weight = {{2, -1, 3}, {-1, 0, -4}, {3, -4, 1}}};
    const sf_score_model *models[] = {sf_score_model_find("hp"), &weights};
    uint64_t random = test_seed();
    for (int i = 0; i < 40; i++) {
        const sf_score_model *model = models[i % 2];
        int dimension = 2 + i / 2 % 2;
        int length = (int)(3 + test_random(&random) % (dimension == 2 ? 10 : 6));
        uint8_t elements[SF_LENGTH_MAX];
        sf_problem problem = make_problem(dimension, model, length);
        for (int k = 0; k < length; k++)
            elements[k] = (uint8_t)(test_random(&random) % (uint64_t)model->n_letters);
        check_all_scores(&problem, elements);
    }
}

/* Every score that published sequences reach, and none of their gaps; the rare best ones of 20 residues too. */
static void test_published(void)
{
    FILE *file = test_data_open("hp_histograms.csv");
    char line[1024], counts[512], sequence[SF_LENGTH_MAX + 1];
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        int dimension, length;
        uint8_t elements[SF_LENGTH_MAX];
        if (sscanf(line, "%d,%d,%64[HP],%*d,%511[0-9 ]", &dimension, &length, sequence, counts) != 4 || length > 20)
            continue;
        sf_problem problem = make_problem(dimension, sf_score_model_find("hp"), length);
        CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, sequence, elements, NULL), SF_OK);
        char *text = counts;
        for (int score = 0; score < problem.n_scores; score++) {
            char walk[SF_LENGTH_MAX + 1];
            int checked = -1;
            uint64_t count = strtoull(text, &text, 10);
            CU_ASSERT_EQUAL(sf_walk_witness(&problem, elements, score, walk, NULL), count ? SF_OK : SF_EINPUT);
            if (count) {
                CU_ASSERT_EQUAL(sf_walk_score(&problem, elements, walk, &checked, NULL), SF_OK);
                CU_ASSERT_EQUAL(checked, score);
            }
        }
        rows++;
    }
    fclose(file);
    CU_ASSERT_EQUAL(rows, 9);
}

static void test_none(void)
{
    sf_problem problem = make_problem(2, sf_score_model_find("hp"), 4);
    const uint8_t elements[] = {0, 1, 1, 0};
    char walk[5] = "";
    sf_error err = {0};
    CU_ASSERT_EQUAL(sf_walk_witness(&problem, elements, 2, walk, &err), SF_EINPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "no conformation of this sequence has score 2");
    CU_ASSERT_EQUAL(sf_walk_witness(&problem, elements, 1, walk, &err), SF_OK);
    CU_ASSERT_STRING_EQUAL(walk, "RUL");
}

/* The last residue has one place for a contact more than an inner one: here it meets three H, and all depends on it. */
static void test_end(void)
{
    sf_problem problem = make_problem(2, sf_score_model_find("hp"), 12);
    uint8_t elements[12];
    char walk[12] = "";
    CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, "HPHPHPPPPPHH", elements, NULL), SF_OK);
    CU_ASSERT_EQUAL(sf_walk_witness(&problem, elements, 3, walk, NULL), SF_OK);
    check_all_scores(&problem, elements);
    CU_ASSERT_EQUAL_FATAL(sf_sequence_parse(&problem, "HHPPPPPHPHPH", elements, NULL), SF_OK);
    check_all_scores(&problem, elements);
}

const test_case test_cases[] = {
    {"all_scores", test_all_scores},
    {"published", test_published},
    {"none", test_none},
    {"end", test_end},
    {NULL, NULL},
};

/* Score models: the built-in ones, files good and bad, the stored line, and brute force with weights of either sign. */
#include <stdlib.h>
#include <string.h>

#include "starfold/engine.h"
#include "starfold/problem.h"
#include "starfold/score_model.h"
#include "test_main.h"

static int parse(sf_score_model *model, const char *text, sf_error *err)
{
    return sf_score_model_parse(model, "m.txt", strlen(text), text, err);
}

static void test_built_in(void)
{
    int n = 0;
    for (const char *const *name = sf_score_model_names(); *name; name++, n++) {
        const sf_score_model *model = sf_score_model_find(*name);
        CU_ASSERT_FATAL(model != NULL);
        CU_ASSERT_EQUAL((int)strlen(model->letter), model->n_letters);
        for (int i = 0; i < model->n_letters; i++) {
            for (int j = 0; j < model->n_letters; j++)
                CU_ASSERT_EQUAL(model->weight[i][j], model->weight[j][i]);
        }
        CU_ASSERT_EQUAL(sf_score_model_is_hp(model), strcmp(*name, "hp") == 0);
    }
    CU_ASSERT_EQUAL(n, 2);
    CU_ASSERT_PTR_NULL(sf_score_model_find("HP"));
    CU_ASSERT_PTR_NULL(sf_score_model_find(NULL));
}

static void test_good_text(void)
{
    sf_score_model model;
    sf_error err = {0};
    CU_ASSERT_EQUAL(parse(&model, "# remark\n\n  H  P # the letters\nH 1 0\r\nP 0 0", &err), 0);
    CU_ASSERT_STRING_EQUAL(model.name, "hp");
    CU_ASSERT(sf_score_model_is_hp(&model));
    CU_ASSERT_EQUAL(parse(&model, "A C\nA -100 +7\nC 7 100\n", &err), 0);
    CU_ASSERT_STRING_EQUAL(model.name, "custom");
    CU_ASSERT_EQUAL(model.weight[0][0], -100);
    CU_ASSERT_EQUAL(model.weight[1][0], 7);
    char line[SF_SCORE_MODEL_TEXT_SIZE];
    sf_score_model_write(&model, line);
    CU_ASSERT_STRING_EQUAL(line, "AC:-100,7;100");
}

static void test_bad_text(void)
{
    static const struct {
        const char *text, *expected;
    } bad[] = {
        {"", "m.txt is empty"},
        {"\xef\xbb\xbf", "m.txt is empty"},
        {"H \xef\xbb\xbfP\n", "is no letter"},
        {"# nothing", "an alphabet has 2 to 20 letters"},
        {"H\nH 1", "line 1: an alphabet has 2 to 20 letters"},
        {"A B C D E F G H I J K L M N O P Q R S T U\n", "an alphabet has 2 to 20 letters"},
        {"H H\nH 1 0\nH 0 0", "'H' is no letter of A to Z, or names a letter twice"},
        {"H p\n", "'p' is no letter"},
        {"HP X\n", "'HP' is no letter"},
        {"H P\nH 1 0\n", "the row of letter P is missing"},
        {"H P\nP 0 0\nH 1 0", "line 2: the row of letter H is expected, not 'P'"},
        {"H P\nH 1 0 0\nP 0 0", "line 2: the row of letter H has 3 weights, 2 are expected"},
        {"H P\nH 1\nP 0 0", "line 2: the row of letter H has 1 weights, 2 are expected"},
        {"H P\nH 1 x\nP 0 0", "'x' is no integer of -100 to 100"},
        {"H P\nH 1 0.5\nP 0 0", "'0.5' is no integer"},
        {"H P\nH 101 0\nP 0 0", "'101' is no integer"},
        {"H P\nH 99999999999999999999 0\nP 0 0", "is no integer"},
        {"H P\nH 1 2\nP 3 0", "line 3: the matrix is not symmetric: P H weighs 3, but H P 2"},
        {"H P\nH 1 0\nP 0 0\nX 0 0", "line 4: there are more rows than the 2 letters"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sf_score_model model;
        sf_error err = {0};
        int code = parse(&model, bad[i].text, &err);
        if (code != SF_EINPUT || !strstr(err.text, bad[i].expected))
            printf("\n%s\n-> %d %s\n", bad[i].text, code, err.text);
        CU_ASSERT_EQUAL(code, SF_EINPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, bad[i].expected));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "m.txt"));
    }
    sf_score_model model;
    sf_error err = {0};
    const char *const zeros[] = {"H P\nH 1 \0\nP 0 0\n", "H P\nH 1 0\0x\nP 0 0", "H P\nH 1 0 \nP 0 0\0"};
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
        CU_ASSERT_EQUAL(sf_score_model_parse(&model, "m.txt", 18, zeros[i], &err), SF_EINPUT);
        CU_ASSERT_STRING_EQUAL(err.text, "score model m.txt has a zero byte, so it is no text");
    }
    const char marked[] = "\xef\xbb\xbf" "H P\nH 1 0\nP 0 0";
    CU_ASSERT_EQUAL(sf_score_model_parse(&model, "m.txt", sizeof marked - 1, marked, &err), SF_OK);
    CU_ASSERT_STRING_EQUAL(model.name, "hp");
    CU_ASSERT_EQUAL(sf_score_model_read(&model, "/no/such/file", &err), SF_EINPUT);
    CU_ASSERT_EQUAL(sf_score_model_read(&model, "/", &err), SF_EINPUT);
}

/* Random bytes never make the parser do anything but answer. */
static void test_noise(void)
{
    static const char signs[] = "HPNX 10-,;:\n#\tab";
    uint64_t state = test_seed();
    for (int k = 0; k < 20000; k++) {
        char text[64];
        size_t n = test_random(&state) % (sizeof text - 1);
        for (size_t i = 0; i < n; i++)
            text[i] = signs[test_random(&state) % (sizeof signs - 1)];
        text[n] = '\0';
        sf_score_model model;
        sf_score_model_parse(&model, "noise", n, text, NULL);
        sf_score_model_from_line(&model, text, NULL);
    }
}

static void test_line(void)
{
    uint64_t state = test_seed();
    for (int k = 0; k < 200; k++) {
        sf_score_model model = {.n_letters = 2 + (int)(test_random(&state) % (SF_LETTERS_MAX - 1))}, back;
        for (int i = 0; i < model.n_letters; i++) {
            model.letter[i] = (char)('Z' - i);
            for (int j = 0; j <= i; j++)
                model.weight[i][j] = model.weight[j][i] = (int)(test_random(&state) % 201) - 100;
        }
        char line[SF_SCORE_MODEL_TEXT_SIZE], again[SF_SCORE_MODEL_TEXT_SIZE];
        sf_score_model_write(&model, line);
        CU_ASSERT_EQUAL_FATAL(sf_score_model_from_line(&back, line, NULL), 0);
        CU_ASSERT_EQUAL(memcmp(back.weight, model.weight, sizeof model.weight), 0);
        CU_ASSERT_STRING_EQUAL(back.letter, model.letter);
        sf_score_model_write(&back, again);
        CU_ASSERT_STRING_EQUAL(again, line);
    }
    static const char *const bad[] = {"",       "HP",          "HP:",        "HP:1,0",   "HP:1,0;",   "HP:1;0,0",
                                      "HP:1,0;0;", "HP:1,0;0,", "HH:1,0;0", "hp:1,0;0", "HP:1,0;x", "HP: 1,0;0",
                                      "H:1",    "HP:1,0;101"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sf_score_model model;
        CU_ASSERT_EQUAL(sf_score_model_from_line(&model, bad[i], NULL), SF_EINPUT);
    }
    sf_score_model model;
    CU_ASSERT_EQUAL(sf_score_model_from_line(&model, "HP:1,0;0", NULL), 0);
    CU_ASSERT_STRING_EQUAL(model.name, "hp");
}

/* All walks from a site, without symmetry and with a fresh count of the contacts at the end: 2^D D! times the reduced
 * ones, but for walks in a line or a plane, so only the set of scores is compared; sums are by test_walk. */
static void scores_of_all_walks(const sf_problem *problem, const uint8_t *elements, char *walk, int at, uint8_t *seen)
{
    int score;
    if (at == problem->length - 1) {
        walk[at] = '\0';
        if (sf_walk_score(problem, elements, walk, &score, NULL) == 0)
            seen[score - problem->min_score] = 1;
        return;
    }
    for (int step = 0; step < problem->lattice->n_steps; step++) {
        walk[at] = problem->lattice->letter[step];
        scores_of_all_walks(problem, elements, walk, at + 1, seen);
    }
}

static void test_against_all_walks(void)
{
    uint64_t state = test_seed();
    sf_score_model model;
    CU_ASSERT_EQUAL_FATAL(sf_score_model_from_line(&model, "ABC:-3,2,0;5,-1;1", NULL), 0);
    for (int k = 0; k < 12; k++) {
        const sf_lattice *lattice = sf_lattice_find(k % 2 ? "cubic" : "square");
        sf_problem problem;
        sf_engine *engine = NULL;
        sf_engine_options options;
        CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, lattice, &model, k % 2 ? 6 : 8, NULL), 0);
        uint8_t elements[8], seen[SF_SCORES_MAX] = {0};
        uint64_t histogram[SF_SCORES_MAX], sum = 0;
        char walk[9];
        for (int i = 0; i < problem.length; i++)
            elements[i] = (uint8_t)(test_random(&state) % 3);
        scores_of_all_walks(&problem, elements, walk, 0, seen);
        sf_engine_options_init(&options);
        CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 1, NULL), 0);
        CU_ASSERT_EQUAL(sf_engine_histograms(engine, 1, elements, histogram, NULL), 0);
        for (int s = 0; s < problem.n_scores; s++) {
            CU_ASSERT_EQUAL(histogram[s] != 0, seen[s] != 0);
            sum += histogram[s];
        }
        CU_ASSERT_EQUAL(sum, sf_lattice_conformations(lattice, problem.length));
        sf_engine_close(engine);
    }
}

const test_case test_cases[] = {
    {"built-in models", test_built_in},
    {"good texts", test_good_text},
    {"bad texts, each with its line", test_bad_text},
    {"noise", test_noise},
    {"the stored line and back", test_line},
    {"weights of either sign against all walks", test_against_all_walks},
    {NULL, NULL},
};

/* Histograms of score models other than plain HP from the table: every instruction set against the plain scan of all maps
 * and against a walk of all conformations; models that come down to plain HP; reversal; the widest scores; examples. */
#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/base/isa.h"
#include "core/engines/table/table.h"
#include "core/walk/walk.h"
#include "starfold/engine.h"

static void set_isa(int isa)
{
    setenv("STARFOLD_ISA", sf_isa_name((sf_isa)isa), 1);
}

static sf_map_table build(const char *lattice, int length)
{
    sf_map_table maps;
    sf_map_options options = {.n_threads = 2};
    if (sf_map_table_build(&maps, sf_lattice_find(lattice), length, &options, NULL) != 0)
        CU_FAIL_FATAL("a table could not be built");
    return maps;
}

static sf_score_model model_of(const char *line)
{
    sf_score_model model;
    CU_ASSERT_EQUAL_FATAL(sf_score_model_from_line(&model, line, NULL), 0);
    return model;
}

/* Weights of -most..most, less where scores would span too many. */
static sf_score_model random_model(uint64_t *state, int n_letters, const sf_lattice *lattice, int length)
{
    sf_score_model model = {.name = "custom", .n_letters = n_letters};
    sf_problem problem;
    for (int most = 1 + (int)(test_random(state) % SF_WEIGHT_MAX);; most = most / 2 + (most == 1)) {
        for (int a = 0; a < n_letters; a++) {
            model.letter[a] = (char)('A' + a);
            for (int b = 0; b <= a; b++)
                model.weight[a][b] = model.weight[b][a] = (int)(test_random(state) % (uint64_t)(2 * most + 1)) - most;
        }
        if (sf_problem_init(&problem, lattice, &model, length, NULL) == 0)
            return model;
    }
}

/* n sequences: with n = n_letters^length all of them, else random ones. */
static uint8_t *make_sequences(const sf_problem *problem, size_t n, uint64_t *state)
{
    size_t length = (size_t)problem->length, letters = (size_t)problem->model->n_letters, all = 1;
    uint8_t *elements = malloc(n * length);
    for (size_t k = 0; k < length && all <= n; k++)
        all *= letters;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0, rest = i; k < length; k++, rest /= letters)
            elements[i * length + k] = (uint8_t)(all == n ? rest % letters : test_random(state) % letters);
    }
    return elements;
}

static uint64_t *room_for(const sf_problem *problem, size_t n)
{
    return calloc(n * (size_t)problem->n_scores, sizeof(uint64_t));
}

/* n sequences of a model by every instruction set, in pieces and at once, as the plain scan. */
static void check_model(const sf_map_table *maps, const sf_score_model *model, size_t n, uint64_t *state)
{
    sf_problem problem;
    CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, maps->lattice, model, maps->layout.length, NULL), 0);
    uint8_t *elements = make_sequences(&problem, n, state);
    uint64_t *plain = room_for(&problem, n);
    size_t width = (size_t)problem.n_scores, length = (size_t)problem.length, bytes = n * width * sizeof *plain;
    for (size_t i = 0; i < n; i++)
        sf_table_plain_model_histogram(maps, &problem, elements + i * length, plain + i * width);
    for (int isa = SF_ISA_PORTABLE; isa <= SF_ISA_AVX512; isa++) {
        sf_table *table;
        set_isa(isa);
        CU_ASSERT_EQUAL_FATAL(sf_table_open_maps(&table, maps, SF_TABLE_HISTOGRAMS, NULL), 0);
        for (size_t n_pieces = 1; n_pieces <= 3; n_pieces += 2) {
            uint64_t *histograms = room_for(&problem, n);
            for (size_t piece = 0; piece < n_pieces; piece++)
                sf_table_model_histograms(table, &problem, piece, n_pieces, n, elements, histograms);
            CU_ASSERT_EQUAL(memcmp(histograms, plain, bytes), 0);
            if (memcmp(histograms, plain, bytes) != 0) {
                char line[SF_SCORE_MODEL_TEXT_SIZE];
                sf_score_model_write(model, line);
                printf("  %s %s, %d residues, %zu pieces\n", sf_isa_name((sf_isa)isa), line, problem.length, n_pieces);
            }
            free(histograms);
        }
        sf_table_close(table);
    }
    unsetenv("STARFOLD_ISA");
    free(plain);
    free(elements);
}

/* Plain HP in disguise, and not. */
static const char *const two_letters[] = {"HP:1,0;0", "HP:0,0;1", "HP:0,3;0", "HP:-2,0;-2", "HP:7,7;7", "HP:0,0;0",
                                          "HP:2,-1;1", "HP:-1,1;0", "HP:3,1;-4", "HP:12,-8;20"};

static void test_all_sequences(void)
{
    uint64_t state = test_seed();
    for (int r = 0; r < 2; r++) {
        for (int length = 3; length <= (r ? 10 : 14); length++) {
            sf_map_table maps = build(r ? "cubic" : "square", length);
            for (size_t i = 0; i < sizeof two_letters / sizeof *two_letters; i++) {
                sf_score_model model = model_of(two_letters[i]);
                if (length <= (r ? 8 : 11) || i == 6)
                    check_model(&maps, &model, (size_t)1 << length, &state);
            }
            sf_map_table_free(&maps);
        }
    }
}

static void test_random_models(void)
{
    static const struct {
        const char *lattice;
        int length, n_models;
        size_t n;
    } cases[] = {{"square", 8, 40, 20}, {"square", 13, 20, 40}, {"square", 16, 6, 40},  {"square", 18, 3, 20},
                 {"square", 19, 2, 8},  {"square", 20, 2, 4},   {"cubic", 9, 20, 40},   {"cubic", 12, 6, 40},
                 {"cubic", 14, 3, 10}};
    uint64_t state = test_seed();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sf_map_table maps = build(cases[i].lattice, cases[i].length);
        for (int k = 0; k < cases[i].n_models; k++) {
            int n_letters = k % 2 ? 2 : 2 + (int)(test_random(&state) % (SF_LETTERS_MAX - 1));
            sf_score_model model = random_model(&state, n_letters, maps.lattice, cases[i].length);
            check_model(&maps, &model, cases[i].n, &state);
        }
        check_model(&maps, sf_score_model_find("hpnx"), cases[i].n, &state);
        sf_map_table_free(&maps);
    }
}

/* The most scores that are allowed: weights of both signs and of the largest size. */
static void test_widest(void)
{
    static const char *const models[] = {"AB:100,-100;99", "AB:-100,100;-99", "ABC:100,1,2;4,-100;64"};
    uint64_t state = test_seed();
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        sf_score_model model = model_of(models[i]);
        for (int length = 3; length <= 7; length++) {
            sf_problem problem;
            sf_map_table maps = build("square", length);
            if (sf_problem_init(&problem, maps.lattice, &model, length, NULL) == 0)
                check_model(&maps, &model, (size_t)1 << length, &state);
            sf_map_table_free(&maps);
        }
    }
    sf_map_table maps = build("square", 15); /* 8 contacts of 63: 505 scores */
    sf_score_model model = model_of("AB:40,-23;39");
    check_model(&maps, &model, 100, &state);
    sf_map_table_free(&maps);
}

/* The engine's answers, in blocks and with threads, against the walk of all conformations; reversed ones the same; every
 * score that is there has an example, and no other. */
static void test_engine(void)
{
    uint64_t state = test_seed();
    for (int k = 0; k < 24; k++) {
        enum { N = 70 };
        const sf_lattice *lattice = sf_lattice_find(k % 2 ? "cubic" : "square");
        int length = (k % 2 ? 5 : 7) + (int)(test_random(&state) % 4), n_letters = k % 4 < 2 ? 2 : 2 + k % 5;
        sf_score_model model = random_model(&state, n_letters, lattice, length);
        sf_problem problem;
        sf_engine_options options;
        sf_engine *engine;
        CU_ASSERT_EQUAL_FATAL(sf_problem_init(&problem, lattice, &model, length, NULL), 0);
        sf_engine_options_init(&options);
        options.engine = "table";
        options.n_threads = 1 + k % 3;
        uint8_t *elements = make_sequences(&problem, N, &state);
        for (int j = 0; j < length; j++)
            elements[length + j] = elements[length - 1 - j];
        uint64_t *histograms = room_for(&problem, N), *plain = room_for(&problem, 1);
        size_t width = (size_t)problem.n_scores, row = width * sizeof *plain;
        CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, N, NULL), 0);
        CU_ASSERT_EQUAL(sf_engine_histograms(engine, N, elements, histograms, NULL), 0);
        for (size_t i = 0; i < N; i++) {
            CU_ASSERT_EQUAL(sf_walk_histogram(&problem, elements + i * (size_t)length, NULL, plain, NULL), 0);
            CU_ASSERT_EQUAL(memcmp(plain, histograms + i * width, row), 0);
        }
        CU_ASSERT_EQUAL(memcmp(histograms, histograms + width, row), 0);
        for (int s = 0; s < problem.n_scores; s++) {
            char walk[SF_LENGTH_MAX];
            int score = 0, code = sf_witness_find(&problem, elements, problem.min_score + s, walk, NULL);
            CU_ASSERT_EQUAL(code, histograms[s] ? 0 : SF_EINPUT);
            if (code == 0)
                CU_ASSERT_EQUAL(sf_walk_score(&problem, elements, walk, &score, NULL), 0);
            CU_ASSERT(code != 0 || score == problem.min_score + s);
        }
        sf_engine_close(engine);
        free(histograms);
        free(plain);
        free(elements);
    }
}

/* Limits that the layouts rest on, at the longest chains that have a table: contacts fit four bit slices, counts 32 bits,
 * maps two words; one residue more is refused. */
static void test_limits(void)
{
    for (int r = 0; r < 2; r++) {
        const sf_lattice *lattice = sf_lattice_find(r ? "cubic" : "square");
        int longest = sf_map_table_length_max(lattice);
        sf_contact_layout layout;
        sf_map_table maps;
        sf_map_options options = {.n_threads = 1};
        sf_error err = {0};
        CU_ASSERT_EQUAL(longest, r ? 17 : 24);
        sf_contact_layout_init(&layout, longest);
        CU_ASSERT(layout.n_bits <= 128);
        CU_ASSERT(sf_lattice_conformations(lattice, longest) <= UINT32_MAX);
        CU_ASSERT(sf_lattice_conformations(lattice, longest + 1) > UINT32_MAX);
        if (!r)
            CU_ASSERT(sf_lattice_max_contacts(lattice, longest) <= SF_TABLE_SCORE_MAX);
        CU_ASSERT_EQUAL(sf_map_table_build(&maps, lattice, longest + 1, &options, &err), SF_ELIMIT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, r ? "3 to 17 residues" : "3 to 24 residues"));
    }
    /* A table that claims more contacts than four slices count is refused before it is laid out. */
    sf_map_table maps = build("square", 12);
    sf_table *table;
    sf_error err = {0};
    maps.max_contacts = SF_TABLE_SCORE_MAX + 1;
    CU_ASSERT_EQUAL(sf_table_open_maps(&table, &maps, SF_TABLE_SETS | SF_TABLE_HISTOGRAMS, &err), SF_ELIMIT);
    CU_ASSERT_PTR_NULL(table);
    maps.max_contacts = SF_TABLE_SCORE_MAX;
    CU_ASSERT_EQUAL(sf_table_open_maps(&table, &maps, SF_TABLE_SETS | SF_TABLE_HISTOGRAMS, &err), 0);
    sf_table_close(table);
    sf_map_table_free(&maps);
}

const test_case test_cases[] = {
    {"all sequences of two letters, every instruction set as the plain scan", test_all_sequences},
    {"random models of 2 to 20 letters, every instruction set as the plain scan", test_random_models},
    {"the widest scores", test_widest},
    {"the engine against the walk, reversal, an example for every score", test_engine},
    {"limits", test_limits},
    {NULL, NULL},
};

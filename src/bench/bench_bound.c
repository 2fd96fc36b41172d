/* Best score with proof, set of scores and number of best conformations by engine bound: random sequences, half H, and
 * the benchmark chains of the field. The plain version is branch and bound from one end with the slots left as its
 * bound, and improves its fold step by step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "core/engines/bound.h"

enum { SEQUENCES = 50, PLAIN_SEQUENCES = 10, SEED = 1 };

/* ---- the plain version ---- */

enum { SIDE = 128 };

typedef struct plain_search {
    int length, n_steps, inner_slots;
    int move[SF_STEPS_MAX];
    uint8_t is_h[SF_LENGTH_MAX];
    int slots[2][SF_LENGTH_MAX + 1]; /* [q][k]: of H of parity q among residues k.. */
    uint8_t *site;                   /* 0 free, 1 P, 2 H */
    int best;
} plain_search;

static void plain_place(plain_search *p, int k, int at, int score)
{
    if (k == p->length) {
        p->best = score > p->best ? score : p->best;
        return;
    }
    for (int d = 0; d < p->n_steps; d++) {
        const int to = at + p->move[d];
        if (p->site[to])
            continue;
        int gained = p->is_h[k] && p->is_h[k - 1] ? -1 : 0;
        for (int e = 0; p->is_h[k] && e < p->n_steps; e++)
            gained += p->site[to + p->move[e]] == 2;
        /* every contact to come takes a slot of an H to come; of both parities when placed H have none left */
        if (score + gained + p->slots[0][k + 1] + p->slots[1][k + 1] <= p->best)
            continue;
        p->site[to] = p->is_h[k] ? 2 : 1;
        plain_place(p, k + 1, to, score + gained);
        p->site[to] = 0;
    }
}

/* Best score of a sequence. */
static int plain_best(const sf_problem *problem, const uint8_t *elements)
{
    const bool square = problem->lattice->dimension == 2;
    const int plane = SIDE * SIDE, n_sites = square ? plane : plane * SIDE;
    plain_search p = {.length = problem->length, .n_steps = problem->lattice->n_steps, .best = -1};
    const int by[SF_STEPS_MAX] = {1, -1, SIDE, -SIDE, plane, -plane};
    memcpy(p.move, by, sizeof by);
    for (int k = p.length - 1; k >= 0; k--) {
        p.is_h[k] = elements[k] == 0;
        for (int q = 0; q < 2; q++)
            p.slots[q][k] = p.slots[q][k + 1];
        if (p.is_h[k])
            p.slots[k & 1][k] += p.n_steps - 2 + (k == p.length - 1);
    }
    p.site = calloc((size_t)n_sites, 1);
    if (!p.site)
        return -1;
    const int origin = n_sites / 2 + (square ? SIDE / 2 : plane / 2 + SIDE / 2);
    p.site[origin] = p.is_h[0] ? 2 : 1;
    p.site[origin + 1] = p.is_h[1] ? 2 : 1;
    plain_place(&p, 2, origin + 1, 0);
    free(p.site);
    return p.best;
}

/* ---- random sequences ---- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct spread {
    double median, ninth; /* ninth: the 90th percentile */
} spread;

static spread spread_of(double *s, int n)
{
    qsort(s, (size_t)n, sizeof *s, by_size);
    return (spread){.median = (s[(n - 1) / 2] + s[n / 2]) / 2, .ninth = s[(9 * n - 1) / 10]};
}

static void random_sequences(int length, uint8_t (*elements)[SF_LENGTH_MAX])
{
    uint64_t state = SEED;
    for (int i = 0; i < SEQUENCES; i++) {
        for (int k = 0; k < length; k++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            elements[i][k] = (uint8_t)(state >> 63);
        }
    }
}

static int solve(const sf_problem *problem, const uint8_t *elements, const sf_bound_options *options, double *s,
                 sf_bound_result *result)
{
    uint64_t histogram[SF_SCORES_MAX];
    sf_error err = {0};
    const double start = sf_bench_now();
    const int status = sf_bound_solve(problem, elements, options, histogram, result, &err);
    *s = sf_bench_now() - start;
    if (status != SF_OK)
        fprintf(stderr, "%s\n", err.text);
    return status;
}

typedef struct bench_case {
    const char *lattice;
    int length;
    double target_median, target_ninth;
    bool plain, full;
} bench_case;

static int run_case(const bench_case *c)
{
    uint8_t elements[SEQUENCES][SF_LENGTH_MAX];
    double s[SEQUENCES], counted[SEQUENCES], plain[PLAIN_SEQUENCES];
    sf_problem problem;
    sf_bound_result result;
    spread plain_spread = {0, 0};
    char text[80];
    if (sf_problem_init(&problem, sf_lattice_find(c->lattice), sf_score_model_find("hp"), c->length, NULL) != SF_OK)
        return 1;
    random_sequences(c->length, elements);
    for (int i = 0; i < SEQUENCES; i++) {
        const sf_bound_options set = {.n_threads = 1}, count = {.n_threads = 1, .top_counts = 1};
        if (solve(&problem, elements[i], &set, &s[i], &result) != SF_OK ||
            solve(&problem, elements[i], &count, &counted[i], &result) != SF_OK)
            return 1;
        if (c->plain && i < PLAIN_SEQUENCES) {
            const double start = sf_bench_now();
            const int best = plain_best(&problem, elements[i]);
            plain[i] = sf_bench_now() - start;
            if (best != result.best_lower) {
                fprintf(stderr, "the plain search finds best score %d, engine bound %d\n", best, result.best_lower);
                return 1;
            }
        }
    }
    if (c->plain)
        plain_spread = spread_of(plain, PLAIN_SEQUENCES);
    const spread set = spread_of(s, SEQUENCES), count = spread_of(counted, SEQUENCES);
    snprintf(text, sizeof text, "%s %d: best and set, median", c->lattice, c->length);
    sf_bench_figure(text, set.median, plain_spread.median, c->target_median);
    snprintf(text, sizeof text, "%s %d: best and set, 90 %%", c->lattice, c->length);
    sf_bench_figure(text, set.ninth, plain_spread.ninth, c->target_ninth);
    snprintf(text, sizeof text, "%s %d: and count at best, median", c->lattice, c->length);
    sf_bench_figure(text, count.median, 0, 3 * c->target_median);
    snprintf(text, sizeof text, "%s %d: and count at best, 90 %%", c->lattice, c->length);
    sf_bench_figure(text, count.ninth, 0, 3 * c->target_ninth);
    return 0;
}

/* ---- benchmark chains ---- */

static const struct {
    const char *lattice, *letters;
    bool full;
} chains[] = {
    {"square", "PPPHHPPHHPPPPPHHHHHHHPPHHPPPPHHPPHPP", false},
    {"square", "PPHPPHHPPHHPPPPPHHHHHHHHHHPPPPPPHHPPHHPPHPPHHHHH", false},
    {"square", "HHPHPHPHPHHHHPHPPPHPPPHPPPPHPPPHPPPHPHHHHPHPHPHPHH", true},
    {"square", "PPHHHPHHHHHHHHPPPHHHHHHHHHHPHPPPHHHHHHHHHHHHPPPPHHHHHHPHHPHP", true},
    {"square", "HHHHHHHHHHHHPHPHPPHHPPHHPPHPPHHPPHHPPHPPHHPPHHPPHPHPHHHHHHHHHHHH", false},
    {"cubic", "PPPHHPPHHPPPPPHHHHHHHPPHHPPPPHHPPHPP", false},
    {"cubic", "HPHHPPHHHHPHHHPPHHPPHPHHHPHPHHPPHHPPPHPPPPPPPPHH", true},
    {"cubic", "PPHPPPHPHHHHPPHHHHPHHPHHHPPHPHPHPPHPPPPPPHHPHHPH", true},
};

enum { CHAIN_NODES = 100000000 }; /* for a chain that may not be proven in minutes */

static int run_chain(size_t i, int n_threads)
{
    sf_problem problem;
    sf_bound_result result;
    uint8_t elements[SF_LENGTH_MAX];
    double s;
    char text[80];
    const int length = (int)strlen(chains[i].letters);
    const sf_bound_options options = {.n_threads = n_threads, .node_limit = chains[i].full ? CHAIN_NODES : 0};
    if (sf_problem_init(&problem, sf_lattice_find(chains[i].lattice), sf_score_model_find("hp"), length, NULL) !=
            SF_OK ||
        sf_sequence_parse(&problem, chains[i].letters, elements, NULL) != SF_OK ||
        solve(&problem, elements, &options, &s, &result) != SF_OK)
        return 1;
    snprintf(text, sizeof text, "%s %d-mer: best %d..%d", chains[i].lattice, length, result.best_lower,
             result.best_upper);
    sf_bench_figure(text, s, 0, 0);
    return 0;
}

/* ---- threads ---- */

/* A hard chain by one thread and by several; the nodes must be the same. */
static int run_threads(int n_threads)
{
    static const char letters[] = "HPHPHPHHPPPPHPPHPPHPHHPHPPPPHHHPPPPHHPPHPH";
    sf_problem problem;
    sf_bound_result one, several;
    uint8_t elements[SF_LENGTH_MAX];
    double one_s, several_s;
    char text[80];
    const sf_bound_options single = {.n_threads = 1}, team = {.n_threads = n_threads};
    if (sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), (int)strlen(letters), NULL) !=
            SF_OK ||
        sf_sequence_parse(&problem, letters, elements, NULL) != SF_OK ||
        solve(&problem, elements, &single, &one_s, &one) != SF_OK ||
        solve(&problem, elements, &team, &several_s, &several) != SF_OK)
        return 1;
    snprintf(text, sizeof text, "one hard 42-mer, %d threads (plain: 1)", n_threads);
    sf_bench_figure(text, several_s, one_s, 0);
    if (one.nodes != several.nodes) {
        fprintf(stderr, "threads change the number of nodes\n");
        return 1;
    }
    return 0;
}

static int run(const sf_bench_options *options)
{
    static const bench_case cases[] = {
        {"square", 25, 1e-3, 5e-3, false, false},  {"square", 30, 15e-3, 59e-3, false, false},
        {"square", 36, 60e-3, 0.39, false, false}, {"square", 42, 0.56, 6.7, false, true},
        {"cubic", 20, 13e-3, 74e-3, false, false}, {"cubic", 24, 42e-3, 1.6, false, true},
        {"cubic", 27, 0, 0, false, true},          {"square", 18, 0, 0, true, false},
    };
    printf("\n%d random sequences each, half H, seed %d; %d of them plainly\n", SEQUENCES, SEED, PLAIN_SEQUENCES);
    sf_bench_title("engine bound", "branch and bound from one end by the slots left");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if ((options->full || !cases[i].full) && run_case(&cases[i]) != 0)
            return 1;
    }
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        if ((options->full || !chains[i].full) && run_chain(i, options->n_threads) != 0)
            return 1;
    }
    return options->n_threads > 1 ? run_threads(options->n_threads) : 0;
}

const sf_bench sf_bench_bound = {
    .name = "bound",
    .about = "best score with proof, set of scores, count at best",
    .run = run,
};

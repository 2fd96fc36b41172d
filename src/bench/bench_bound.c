/* Best score with proof, set of scores and number of best conformations by engine bound: random sequences, half H, and
 * the benchmark chains of the field, those that are not proven soon for five minutes each. Threads and ranks are compared
 * by --only threads and --only ranks. The plain version is branch and bound from one end with the slots left as its
 * bound, and improves its fold step by step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "core/engines/bound/bound.h"

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

const char sf_bench_hard_chain[] = "HPHPHPHHPPPPHPPHPPHPHHPHPPPPHHHPPPPHHPPHPH";

uint8_t *sf_bench_random_elements(int length, size_t n)
{
    uint64_t state = SEED;
    uint8_t *elements = malloc(n * (size_t)length);
    for (size_t k = 0; elements && k < n * (size_t)length; k++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        elements[k] = (uint8_t)(state >> 63);
    }
    return elements;
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
    uint64_t node_limit; /* of one sequence, 0: none; what it leaves open counts with the time until then */
    bool plain, full;
} bench_case;

enum { COUNT_SHARE = 3 }; /* best, set and count at best may take so many times what best and set may */

/* Times of one kind of solving over all sequences. */
static int time_all(const bench_case *c, const sf_problem *problem, const uint8_t *elements, int top_counts,
                    double *s, int *best)
{
    const sf_bound_options options = {.n_threads = 1, .top_counts = top_counts, .node_limit = c->node_limit};
    int n_solved = 0;
    for (int i = 0; i < SEQUENCES; i++) {
        sf_bound_result result;
        if (solve(problem, elements + i * problem->length, &options, &s[i], &result) != SF_OK)
            return 1;
        best[i] = result.best_lower;
        n_solved += result.exact && (top_counts == 0 || result.solutions > 0);
    }
    if (n_solved < SEQUENCES)
        printf("  %s %d%s: %d of %d solved within %g million nodes each\n", c->lattice, c->length,
               top_counts ? " and count at best" : "", n_solved, SEQUENCES, (double)c->node_limit / 1e6);
    return 0;
}

static int time_plain(const sf_problem *problem, const uint8_t *elements, const int *best, spread *plain)
{
    double s[PLAIN_SEQUENCES];
    for (int i = 0; i < PLAIN_SEQUENCES; i++) {
        const double start = sf_bench_now();
        const int plain_score = plain_best(problem, elements + i * problem->length);
        s[i] = sf_bench_now() - start;
        if (plain_score != best[i]) {
            fprintf(stderr, "the plain search finds best score %d, engine bound %d\n", plain_score, best[i]);
            return 1;
        }
    }
    *plain = spread_of(s, PLAIN_SEQUENCES);
    return 0;
}

static void print_spread(const bench_case *c, const char *what, spread here, spread plain, int share)
{
    char text[80];
    snprintf(text, sizeof text, "%s %d: %s, median", c->lattice, c->length, what);
    sf_bench_figure(text, here.median, plain.median, share * c->target_median);
    snprintf(text, sizeof text, "%s %d: %s, 90 %%", c->lattice, c->length, what);
    sf_bench_figure(text, here.ninth, plain.ninth, share * c->target_ninth);
}

static int run_case(const bench_case *c)
{
    double s[SEQUENCES];
    int best[SEQUENCES];
    sf_problem problem;
    spread plain = {0, 0};
    if (sf_problem_init(&problem, sf_lattice_find(c->lattice), sf_score_model_find("hp"), c->length, NULL) != SF_OK)
        return 1;
    uint8_t *elements = sf_bench_random_elements(c->length, SEQUENCES);
    int status = elements ? time_all(c, &problem, elements, 0, s, best) : 1;
    if (status == 0 && c->plain)
        status = time_plain(&problem, elements, best, &plain);
    if (status == 0) {
        print_spread(c, "best and set", spread_of(s, SEQUENCES), plain, 1);
        status = time_all(c, &problem, elements, 1, s, best);
    }
    free(elements);
    if (status != 0)
        return status;
    print_spread(c, "and count at best", spread_of(s, SEQUENCES), (spread){0, 0}, COUNT_SHARE);
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

enum { TRY_NODES = 2000000, CHAIN_SECONDS = 300 };

/* As far as CHAIN_SECONDS lead, in nodes by the speed of a short try. */
static int run_chain(size_t i, int n_threads)
{
    sf_problem problem;
    sf_bound_result result;
    uint8_t elements[SF_LENGTH_MAX];
    double s;
    char text[80];
    const int length = (int)strlen(chains[i].letters);
    sf_bound_options options = {.n_threads = n_threads, .node_limit = TRY_NODES};
    if (sf_problem_init(&problem, sf_lattice_find(chains[i].lattice), sf_score_model_find("hp"), length, NULL) !=
            SF_OK ||
        sf_sequence_parse(&problem, chains[i].letters, elements, NULL) != SF_OK ||
        solve(&problem, elements, &options, &s, &result) != SF_OK)
        return 1;
    if (!result.exact) {
        options.node_limit = (uint64_t)(CHAIN_SECONDS / s * TRY_NODES);
        if (solve(&problem, elements, &options, &s, &result) != SF_OK)
            return 1;
    }
    snprintf(text, sizeof text, "%s %d-mer: best %d..%d%s", chains[i].lattice, length, result.best_lower,
             result.best_upper, result.exact ? "" : ", open");
    sf_bench_figure(text, s, 0, 0);
    return 0;
}

static int run(const sf_bench_options *options)
{
    static const bench_case cases[] = {
        {"square", 25, 1e-3, 2.5e-3, 0, false, false},
        {"square", 30, 15e-3, 30e-3, 0, false, false},
        {"square", 36, 60e-3, 0.195, 30000000, false, false},
        {"square", 42, 0.56, 3.4, 30000000, false, true},
        {"cubic", 20, 13e-3, 37e-3, 0, false, false},
        {"cubic", 24, 42e-3, 0.8, 10000000, false, true},
        {"cubic", 27, 0, 0, 10000000, false, true},
        {"square", 18, 0, 0, 0, true, false},
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
    return 0;
}

const sf_bench sf_bench_bound = {
    .name = "bound",
    .about = "best score with proof, set of scores, count at best",
    .run = run,
};

/* Dealing: every part once, whatever the ranks and threads; failures and stops end it on all ranks. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "core/engines/aside.h"
#include "dist/share_mpi.h"
#include "dist/together_mpi.h"
#include "test_main.h"

static sf_comm comm;
static sf_deal *deal;

typedef struct bench {
    sf_plan plan;
    int n_taken; /* on this rank */
    size_t failing;
    int flag;
    int n_between;
    const size_t *order;
    size_t first; /* part that this rank took first; of one thread */
    size_t last;
} bench;

/* A part's histogram is its number + 1. */
static int evaluate(const void *context, const sf_plan *plan, size_t part, uint64_t *partial, sf_error *err)
{
    const bench *b = context;
    (void)plan;
    if (part == b->failing)
        return sf_fail(err, SF_ECHECK, "part %zu fails", part);
    partial[0] += part + 1;
    return 0;
}

static uint64_t sum;

static int take(void *taker, size_t part, size_t first, size_t count, const uint64_t *partial, sf_error *err)
{
    bench *b = taker;
    (void)err;
    if (partial[0] != part + 1 || count != 1 || first != part / b->plan.parts_per_block)
        return sf_fail(err, SF_ECHECK, "part %zu came as another", part);
#pragma omp critical(test_deal)
    {
        if (b->n_taken++ == 0)
            b->first = part;
        b->last = part;
        sum += partial[0];
    }
    return 0;
}

static int between(void *taker, sf_error *err)
{
    bench *b = taker;
    (void)err;
    b->n_between++;
    return 0;
}

static int deal_all(bench *b, size_t n_sequences, size_t pieces, int n_threads, const uint8_t *done, sf_error *err)
{
    b->plan =
        (sf_plan){.n_sequences = n_sequences, .block = 1, .parts_per_block = pieces, .n_parts = n_sequences * pieces};
    const sf_deal_work work = {.plan = &b->plan,
                               .order = b->order,
                               .n_scores = 1,
                               .n_threads = n_threads,
                               .done = done,
                               .stop = &b->flag,
                               .evaluate = evaluate,
                               .context = b,
                               .take = take,
                               .between = between,
                               .taker = b};
    sum = 0;
    return sf_comm_agree(&comm, sf_deal_run(deal, &work, 0, err), err);
}

static void test_each_once(void)
{
    static const size_t sizes[][2] = {{1, 1}, {1, 7}, {3, 5}, {1, 256}, {40, 16}, {1, 1000}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int n_threads = 1; n_threads <= 4; n_threads++) {
            bench b = {.failing = SIZE_MAX};
            sf_error err;
            const uint64_t n = sizes[i][0] * sizes[i][1];
            CU_ASSERT_EQUAL(deal_all(&b, sizes[i][0], sizes[i][1], n_threads, NULL, &err), 0);
            CU_ASSERT_EQUAL(sf_comm_sum(&comm, 1, &sum, &err), 0);
            CU_ASSERT_EQUAL(sum, n * (n + 1) / 2);
        }
    }
}

enum { N_ORDERED = 40 };

/* Hardest first: the first ones go to one rank each, and each rank goes down the list. */
static void test_order(void)
{
    size_t order[N_ORDERED], place[N_ORDERED];
    for (size_t i = 0; i < N_ORDERED; i++) {
        order[i] = (i * 7 + 11) % N_ORDERED;
        place[order[i]] = i;
    }
    for (int n_threads = 1; n_threads <= 3; n_threads++) {
        bench b = {.failing = SIZE_MAX, .order = order};
        sf_error err;
        CU_ASSERT_EQUAL(deal_all(&b, N_ORDERED, 1, n_threads, NULL, &err), 0);
        CU_ASSERT_EQUAL(sf_comm_sum(&comm, 1, &sum, &err), 0);
        CU_ASSERT_EQUAL(sum, N_ORDERED * (N_ORDERED + 1) / 2);
        if (n_threads > 1)
            continue;
        CU_ASSERT(b.n_taken > 0);
        CU_ASSERT_EQUAL(b.first, order[comm.rank]);
        CU_ASSERT(place[b.last] + 1 >= (size_t)b.n_taken);
        if (comm.size == 1)
            CU_ASSERT_EQUAL(b.last, order[N_ORDERED - 1]);
    }
}

static void test_done_are_passed_over(void)
{
    uint8_t done[13];
    uint64_t wanted = 0;
    memset(done, 0x5a, sizeof done); /* bits 1, 3, 4, 6 of each eight */
    for (size_t part = 0; part < 100; part++)
        wanted += done[part / 8] >> part % 8 & 1 ? 0 : part + 1;
    bench b = {.failing = SIZE_MAX};
    sf_error err;
    CU_ASSERT_EQUAL(deal_all(&b, 4, 25, 2, done, &err), 0);
    CU_ASSERT_EQUAL(sf_comm_sum(&comm, 1, &sum, &err), 0);
    CU_ASSERT_EQUAL(sum, wanted);
}

static void test_failure(void)
{
    bench b = {.failing = 300};
    sf_error err = {0};
    CU_ASSERT_EQUAL(deal_all(&b, 1, 1000, 2, NULL, &err), SF_ECHECK);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "part 300 fails"));
    b = (bench){.failing = SIZE_MAX}; /* and it deals again */
    CU_ASSERT_EQUAL(deal_all(&b, 1, 100, 2, NULL, &err), 0);
    CU_ASSERT_EQUAL(sf_comm_sum(&comm, 1, &sum, &err), 0);
    CU_ASSERT_EQUAL(sum, 5050);
}

static void test_stop(void)
{
    bench b = {.failing = SIZE_MAX, .flag = 1};
    sf_error err = {0};
    CU_ASSERT_EQUAL(deal_all(&b, 1, 1000, 2, NULL, &err), SF_ESTOPPED);
    CU_ASSERT_EQUAL(sum, 0);
}

static void test_different_plans(void)
{
    bench b = {.failing = SIZE_MAX};
    sf_error err = {0};
    const int code = deal_all(&b, 1, comm.rank == 0 ? 10 : 11, 1, NULL, &err);
    CU_ASSERT_EQUAL(code, comm.size > 1 ? SF_ECHECK : 0);
}

/* ---- parts given back, and parts that are not needed ---- */

enum { N_PARTS = 60, GIVEN_BACK = 7 };

static int evaluate_or_keep(const void *context, const sf_plan *plan, size_t part, uint64_t *partial, sf_error *err)
{
    const uint32_t mark = (uint32_t)part + 100;
    (void)context;
    if (plan->aside && part % GIVEN_BACK == 3) {
        (void)plan->aside->wanted(plan->aside->context);
        return sf_aside_keep(plan->aside, part, sizeof mark, &mark, err);
    }
    if (part % GIVEN_BACK == 3 && plan->begun &&
        (plan->begun->part != part || plan->begun->n_bytes != sizeof mark ||
         memcmp(plan->begun->bytes, &mark, sizeof mark) != 0))
        return sf_fail(err, SF_ECHECK, "part %zu is taken up as another", part);
    partial[0] += part + 1;
    return 0;
}

static void test_given_back(void)
{
    for (int n_threads = 1; n_threads <= 3; n_threads++) {
        bench b = {.failing = SIZE_MAX};
        sf_aside aside = {0};
        sf_error err = {0};
        b.plan = (sf_plan){.n_sequences = N_PARTS, .block = 1, .parts_per_block = 1, .n_parts = N_PARTS};
        const sf_deal_work work = {.plan = &b.plan,
                                   .n_scores = 1,
                                   .n_threads = n_threads,
                                   .evaluate = evaluate_or_keep,
                                   .take = take,
                                   .taker = &b,
                                   .aside = &aside};
        sum = 0;
        CU_ASSERT_EQUAL(sf_comm_agree(&comm, sf_deal_run(deal, &work, 0, &err), &err), 0);
        CU_ASSERT_EQUAL(sf_together_run(deal, &comm, &work, &aside, &err), 0);
        uint64_t n_kept = aside.n;
        CU_ASSERT_EQUAL(sf_comm_sum(&comm, 1, &n_kept, &err), 0);
        CU_ASSERT_EQUAL(n_kept, comm.size > 1 || n_threads > 1 ? (N_PARTS + GIVEN_BACK - 4) / GIVEN_BACK : 0);
        CU_ASSERT_EQUAL(sf_comm_sum(&comm, 1, &sum, &err), 0);
        CU_ASSERT_EQUAL(sum, N_PARTS * (N_PARTS + 1) / 2);
        sf_aside_free(&aside);
    }
}

typedef struct until {
    size_t success; /* the part that makes later ones needless */
    uint64_t limit; /* of parts that may be counted */
    uint64_t n_run;
    bool met;
    uint8_t ran[N_PARTS];
} until;

static int run_until(const void *context, const sf_plan *plan, size_t part, uint64_t *partial, sf_error *err)
{
    (void)context;
    (void)plan;
    (void)err;
    partial[0] = part + 1;
    return 0;
}

static int take_until(void *taker, size_t part, size_t first, size_t count, const uint64_t *partial, sf_error *err)
{
    until *u = taker;
    (void)first;
    (void)count;
    (void)partial;
    (void)err;
#pragma omp critical(test_until)
    {
        u->ran[part]++;
        u->n_run++;
        u->met = u->met || part >= u->success;
    }
    return 0;
}

static bool is_met(void *taker)
{
    const until *u = taker;
    bool met;
#pragma omp critical(test_until)
    met = u->met;
    return met;
}

static uint64_t n_run(void *taker)
{
    const until *u = taker;
    uint64_t n;
#pragma omp critical(test_until)
    n = u->n_run;
    return n;
}

/* Every part up to the one that is enough is counted once; the same for a limit of the cost. */
static void test_enough(void)
{
    size_t order[N_PARTS];
    const sf_plan plan = {.n_sequences = N_PARTS, .block = 1, .parts_per_block = 1, .n_parts = N_PARTS};
    for (size_t i = 0; i < N_PARTS; i++)
        order[i] = i;
    for (int i = 0; i < 6; i++) {
        until u = {.success = i % 2 ? 20 : SIZE_MAX, .limit = i % 2 ? UINT64_MAX : 30};
        const sf_deal_work work = {.plan = &plan,
                                   .order = order,
                                   .n_scores = 1,
                                   .n_threads = 1 + i / 2,
                                   .evaluate = run_until,
                                   .take = take_until,
                                   .enough = is_met,
                                   .cost = n_run,
                                   .cost_limit = u.limit,
                                   .taker = &u};
        sf_error err = {0};
        CU_ASSERT_EQUAL(sf_comm_agree(&comm, sf_deal_run(deal, &work, 0, &err), &err), 0);
        uint64_t ran[N_PARTS], n_all = 0;
        for (size_t part = 0; part < N_PARTS; part++)
            ran[part] = u.ran[part];
        CU_ASSERT_EQUAL(sf_comm_sum(&comm, N_PARTS, ran, &err), 0);
        for (size_t part = 0; part < N_PARTS; part++) {
            CU_ASSERT(part > 20 || ran[part] == 1);
            CU_ASSERT(ran[part] <= 1);
            n_all += ran[part];
        }
        CU_ASSERT(i % 2 || n_all > 30);
    }
}

/* ---- sharing: what rank 0 knows ---- */

static sf_problem problem;
static uint8_t elements[2 * 14];

static int count_looks(void *context, const sf_tally *tally, sf_error *err)
{
    (void)err;
    (void)tally;
    (*(int *)context)++;
    return 0;
}

static sf_engine *open_walk(void)
{
    sf_engine_options options;
    sf_engine *engine = NULL;
    sf_error err;
    sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), 14, &err);
    for (size_t i = 0; i < sizeof elements; i++)
        elements[i] = i % 3 == 1;
    sf_engine_options_init(&options);
    options.engine = "walk";
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, 2, &err), 0);
    return engine;
}

static void test_share(void)
{
    uint64_t wanted[2 * SF_SCORES_MAX], histograms[2 * SF_SCORES_MAX];
    sf_engine *engine = open_walk();
    sf_error err = {0};
    sf_tally tally;
    int n_looks = 0;
    const sf_share_work work = {
        .engine = engine, .sequences = elements, .n_threads = 2, .look = count_looks, .context = &n_looks};
    const size_t bytes = 2 * (size_t)problem.n_scores * sizeof *wanted;
    CU_ASSERT_EQUAL(sf_engine_histograms(engine, 2, elements, wanted, &err), 0);
    CU_ASSERT_EQUAL(sf_tally_init(&tally, engine, problem.n_scores, 2, elements, histograms, &err), 0);
    if (comm.rank == 0) { /* half of it is there already */
        for (size_t part = 0; part < tally.plan.n_parts; part += 2) {
            size_t first, count;
            sf_plan_part(&tally.plan, part, &first, &count);
            sf_engine_evaluate(engine, &tally.plan, elements, part, histograms + first * (size_t)problem.n_scores,
                               &err);
            tally.done[part / 8] |= (uint8_t)(1 << part % 8);
        }
        CU_ASSERT_EQUAL(sf_tally_recount(&tally, &err), 0);
        CU_ASSERT_EQUAL(tally.n_done, (tally.plan.n_parts + 1) / 2);
    }
    CU_ASSERT_EQUAL(sf_share_run(deal, &comm, &tally, &work, 0, &err), 0);
    CU_ASSERT_EQUAL(memcmp(histograms, wanted, bytes), 0);
    if (comm.rank == 0) {
        CU_ASSERT_EQUAL(tally.n_done, tally.plan.n_parts);
        CU_ASSERT(n_looks > 0);
        tally.done[tally.plan.n_parts / 8] |= 0x80;
        CU_ASSERT_EQUAL(sf_tally_recount(&tally, &err), SF_EFORMAT);
    }
    sf_tally_free(&tally);
    sf_engine_close(engine);
}

static int refuse_to_look(void *context, const sf_tally *tally, sf_error *err)
{
    (void)context;
    (void)tally;
    return sf_fail(err, SF_EIO, "cannot be written");
}

static void test_share_failures(void)
{
    uint64_t histograms[2 * SF_SCORES_MAX];
    sf_engine *engine = open_walk();
    sf_error err = {0};
    CU_ASSERT_EQUAL(
        sf_share_histograms(&comm, engine, problem.n_scores, 2, elements, 1, histograms, refuse_to_look, NULL, &err),
        SF_EIO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot be written"));
    sf_engine_close(engine);
}

/* Chains by engine bound, one of them long: dealt out, given back and shared, and each by all from the start. */
static void test_share_bound(void)
{
    enum { LENGTH = 36, N = 9 };
    static const char hard[] = "HHPPHPHHPHPHPHHHHPHHHHHPHHPHHHPHPPPH";
    uint8_t batch[N * LENGTH];
    uint64_t *wanted, *histograms, random = test_seed();
    sf_engine_options options;
    sf_engine *engine = NULL;
    sf_error err = {0};
    sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), LENGTH, &err);
    for (size_t i = 0; i < sizeof batch; i++)
        batch[i] = test_random(&random) % 3 > 0;
    CU_ASSERT_EQUAL(sf_sequence_parse(&problem, hard, batch + 7 * LENGTH, &err), 0);
    sf_engine_options_init(&options);
    options.engine = "bound";
    options.top_counts = 0;
    options.node_limit = 2000000;
    CU_ASSERT_EQUAL_FATAL(sf_engine_open(&engine, &problem, &options, N, &err), 0);
    const size_t n_scores = (size_t)problem.n_scores;
    wanted = calloc(N * n_scores, sizeof *wanted);
    histograms = calloc(N * n_scores, sizeof *histograms);
    CU_ASSERT_EQUAL(sf_engine_histograms(engine, N, batch, wanted, &err), 0);
    for (size_t first = 0; first < N; first += 7) { /* the last two are fewer than two for each of two ranks */
        CU_ASSERT_EQUAL(sf_share_histograms(&comm, engine, problem.n_scores, N - first, batch + first * LENGTH, 1,
                                            histograms, NULL, NULL, &err),
                        0);
        CU_ASSERT_EQUAL(memcmp(histograms, wanted + first * n_scores, (N - first) * n_scores * sizeof *wanted), 0);
    }
    free(wanted);
    free(histograms);
    sf_engine_close(engine);
}

static void test_open(void)
{
    sf_error err;
    CU_ASSERT_EQUAL_FATAL(sf_comm_open(&comm, NULL, NULL, &err), SF_OK);
    CU_ASSERT_EQUAL_FATAL(sf_deal_open(&deal, &comm, &err), SF_OK);
}

static void test_close(void)
{
    sf_deal_close(deal);
    sf_comm_close(&comm);
}

/* What is left is reckoned from shares: of parts, or of conformations, with what is under way as half done. */
static void test_share_left(void)
{
    uint64_t histograms[4] = {0}, conformations = 50;
    uint8_t done[2] = {0};
    sf_tally tally = {.plan = {.n_sequences = 2, .block = 1, .parts_per_block = 5, .n_parts = 10},
                      .n_scores = 2,
                      .histograms = histograms,
                      .done = done};
    double before[2] = {-1, -1};
    CU_ASSERT_EQUAL(sf_tally_share(&tally, 0, 0), 0);
    CU_ASSERT_DOUBLE_EQUAL(sf_tally_share(&tally, 0, 4), 0.2, 1e-12);
    for (size_t n = 0; n < 10; n++) { /* parts of 1, 3, 5, .. 19 conformations: 100 in all */
        tally.n_done = n;
        CU_ASSERT_DOUBLE_EQUAL(sf_tally_share(&tally, 0, 0), (double)n / 10, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(sf_tally_share(&tally, conformations, 0), (double)(n * n) / 100, 1e-12);
        const double share[2] = {sf_tally_share(&tally, 0, 3), sf_tally_share(&tally, conformations, 3)};
        for (int k = 0; k < 2; k++) {
            CU_ASSERT(share[k] > before[k] && share[k] <= 1);
            before[k] = share[k];
        }
        histograms[n % 4] += 2 * n + 1;
    }
    tally.n_done = 10;
    CU_ASSERT_EQUAL(sf_tally_share(&tally, 0, 3), 1);
    CU_ASSERT_EQUAL(sf_tally_share(&tally, conformations, 3), 1);
    CU_ASSERT_DOUBLE_EQUAL(sf_share_left_s(0, 0.25, 10), 30, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(sf_share_left_s(0.5, 0.75, 10), 10, 1e-12); /* half was done before */
    CU_ASSERT_EQUAL(sf_share_left_s(0.5, 1, 10), 0);
    CU_ASSERT(sf_share_left_s(0.5, 0.5, 10) < 0);
}

const test_case test_cases[] = {{"open", test_open},
                                {"every part once", test_each_once},
                                {"hardest first", test_order},
                                {"parts that are done are passed over", test_done_are_passed_over},
                                {"a failure ends it everywhere", test_failure},
                                {"a stop ends it everywhere", test_stop},
                                {"plans that differ", test_different_plans},
                                {"parts given back are shared", test_given_back},
                                {"no more than is needed", test_enough},
                                {"what is counted comes together on rank 0", test_share},
                                {"chains by engine bound", test_share_bound},
                                {"a failure on rank 0 ends the work", test_share_failures},
                                {"what is left", test_share_left},
                                {"close", test_close},
                                {NULL, NULL}};

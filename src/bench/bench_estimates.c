/* What the engines say they would take beside what they take, in processor time on one thread, after the machine was
 * measured; and what `auto` loses by going after it. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench.h"
#include "starfold/engine.h"

enum { MANY = 1000, LENGTH_MOST = 32, TOGETHER = 4 };
static const double LONGEST_S = 8, LONGEST_FULL_S = 60, WORTH_ONE_S = 2, WORTH_ALL_S = 0.02;

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of one and of MANY sequences with an engine; below 0 where it cannot, or would take too long. */
static int time_engine(const char *name, const sf_problem *problem, double longest_s, double said[2], double took[2])
{
    static uint8_t elements[MANY * LENGTH_MOST];
    static uint64_t histograms[MANY * SF_SCORES_MAX];
    sf_engine_options options;
    sf_engine_cost cost;
    sf_engine *engine;
    sf_error err;
    sf_engine_options_init(&options);
    options.engine = name;
    said[0] = said[1] = took[0] = took[1] = -1;
    if (sf_engine_estimate(name, problem, &options, &cost, &err) != SF_OK || cost.open_s + cost.sequence_s > longest_s)
        return SF_OK;
    for (size_t i = 0; i < sizeof elements; i++)
        elements[i] = (uint8_t)((i * 2654435761u >> 13 ^ i * i >> 3) & 1);
    const double start = cpu_s();
    int status = sf_engine_open(&engine, problem, &options, MANY, &err);
    if (status != SF_OK)
        return status;
    const double opened = cpu_s();
    status = sf_engine_histograms(engine, 1, elements, histograms, &err);
    const double one_s = cpu_s() - opened, again = cpu_s();
    const size_t n = one_s > WORTH_ONE_S ? 1 : one_s > WORTH_ALL_S ? TOGETHER : MANY;
    if (status == SF_OK)
        status = sf_engine_histograms(engine, n, elements, histograms, &err);
    sf_engine_close(engine);
    said[0] = cost.open_s + cost.sequence_s;
    said[1] = cost.open_s + MANY * cost.sequence_s;
    took[0] = opened - start + one_s;
    took[1] = opened - start + (cpu_s() - again) * MANY / (double)n;
    return status;
}

static int run_length(const char *lattice, int length, double longest_s)
{
    static const char *const names[2] = {"table", "walk"};
    double said[2][2], took[2][2];
    sf_problem problem;
    sf_error err;
    int status = sf_problem_init(&problem, sf_lattice_find(lattice), sf_score_model_find("hp"), length, &err);
    for (int e = 0; e < 2 && status == SF_OK; e++)
        status = time_engine(names[e], &problem, longest_s, said[e], took[e]);
    for (int n = 0; n < 2 && status == SF_OK; n++) {
        printf("  %-6s %2d, %4d sequence%c ", lattice, length, n ? MANY : 1, n ? 's' : ' ');
        for (int e = 0; e < 2; e++) {
            if (took[e][n] >= 0)
                printf("  %-5s %9.3g s said, %9.3g s, %.2f", names[e], said[e][n], took[e][n], took[e][n] / said[e][n]);
        }
        if (took[0][n] >= 0 && took[1][n] >= 0) {
            const int chosen = said[0][n] > said[1][n], best = took[0][n] > took[1][n];
            printf("  auto loses %.2f", took[chosen][n] / took[best][n]);
        }
        putchar('\n');
    }
    return status;
}

static int run(const sf_bench_options *options)
{
    const double longest_s = options->full ? LONGEST_FULL_S : LONGEST_S;
    int status = SF_OK;
    const sf_engine_speed speed = sf_engine_calibrate();
    printf("this machine: tables built in %.2f of the time, scanned in %.2f, walks in %.2f\n", speed.build, speed.scan,
           speed.walk);
    for (int length = 16; length <= 28 && status == SF_OK; length += 2)
        status = run_length("square", length, longest_s);
    for (int length = 12; length <= 20 && status == SF_OK; length++)
        status = run_length("cubic", length, longest_s);
    return status;
}

const sf_bench sf_bench_estimates = {
    .name = "estimates",
    .about = "what engines say they take, and what they take",
    .run = run,
};

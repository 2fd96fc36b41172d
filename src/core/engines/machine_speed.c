/* Obvious would be a speed for the processor; but building a table waits for memory, scanning it lives on vectors, and
 * merging on both, so there is one for each. Processor time is taken, for others may use the core too, and the least of
 * some tries. What cannot be measured (no memory) counts as on the machine the estimates are from: an Intel Xeon of
 * 2.8 GHz with AVX-512. */
#include "core/engines/machine_speed.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

#include "core/base/isa.h"
#include "core/engines/engine_ops.h"
#include "core/engines/parts_omp.h"

enum { TRIES = 3, TABLE_LENGTH = 14, WALK_LENGTH = 18, TABLE_SEQUENCES = 512, SEQUENCES_BYTES = TABLE_SEQUENCES * 18 };

/* Seconds on that machine. The estimate of a walk knows instruction sets, that of a scan does not. */
static const double BUILD_S = 1.2e-3, SCAN_S = 512 * 5e-7;
static const double WALK_S[] = {[SF_ISA_PORTABLE] = 1.97e-3, [SF_ISA_AVX2] = 8.7e-4, [SF_ISA_AVX512] = 4.5e-4};
static const double SPEED_LEAST = 0.02, SPEED_MOST = 50;

static sf_engine_speed speed = {1, 1, 1};
static bool known;

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Opens an engine and counts n sequences on this thread; takes the lesser of these times and those in *open_s,
 * *count_s.
 */
static void try_engine(const sf_engine_ops *ops, int length, size_t n, double *open_s, double *count_s)
{
    static uint8_t sequences[SEQUENCES_BYTES];
    static uint64_t histograms[TABLE_SEQUENCES * 64];
    const sf_engine_options options = {.engine = ops->name, .n_threads = 1, .memory_limit = UINT64_MAX};
    sf_plan plan = {.block = 1, .parts_per_block = 1};
    sf_problem problem;
    void *state = NULL;
    for (size_t i = 0; i < SEQUENCES_BYTES; i++)
        sequences[i] = (i * i / 3 + i) % 5 < 2;
    const double start = cpu_s();
    if (sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), length, NULL) != SF_OK ||
        n * (size_t)problem.n_scores > sizeof histograms / sizeof *histograms ||
        ops->open(&state, &problem, &options, NULL) != SF_OK)
        return;
    const double opened = cpu_s();
    int status = ops->plan(state, n, sequences, &plan, NULL);
    if (status == SF_OK)
        status = sf_plan_complete(&plan, n, NULL);
    *open_s = opened - start;
    for (int i = 0; i < TRIES && status == SF_OK; i++) { /* the first finds nothing in memory */
        const double began = cpu_s();
        for (size_t part = 0; status == SF_OK && part < plan.n_parts; part++) {
            size_t first, count;
            sf_plan_part(&plan, part, &first, &count);
            status = ops->evaluate(state, &plan, sequences, part, histograms + first * (size_t)problem.n_scores, NULL);
        }
        const double took = cpu_s() - began;
        *count_s = status == SF_OK && took < *count_s ? took : *count_s;
    }
    ops->close(state);
}

static double ratio(double here_s, double there_s)
{
    if (here_s >= 1e9) /* not measured */
        return 1;
    const double r = here_s / there_s;
    return r < SPEED_LEAST ? SPEED_LEAST : r > SPEED_MOST ? SPEED_MOST : r;
}

sf_engine_speed sf_machine_speed_measure(void)
{
    sf_engine_speed found;
#pragma omp critical(sf_machine_speed)
    {
        double build_s = 1e9, scan_s = 1e9, walk_s = 1e9, unused = 1e9;
        if (!known) {
            try_engine(&sf_engine_table, TABLE_LENGTH, TABLE_SEQUENCES, &build_s, &scan_s);
            try_engine(&sf_engine_walk, WALK_LENGTH, 1, &unused, &walk_s);
            speed = (sf_engine_speed){.build = ratio(build_s, BUILD_S),
                                      .scan = ratio(scan_s, SCAN_S),
                                      .walk = ratio(walk_s, WALK_S[sf_isa_get()])};
        }
        known = true;
        found = speed;
    }
    return found;
}

void sf_machine_speed_set(sf_engine_speed taken)
{
#pragma omp critical(sf_machine_speed)
    {
        speed = taken;
        known = true;
    }
}

sf_engine_speed sf_machine_speed_known(bool *measured)
{
    sf_engine_speed found;
#pragma omp critical(sf_machine_speed)
    {
        found = speed;
        *measured = known;
    }
    return found;
}

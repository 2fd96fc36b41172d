/* starfold-bench: every figure of speed beside a kept plain version of the same work, in the same run.
 *
 *   starfold-bench [--list] [--only NAME]... [--threads N] [--full] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "core/base/isa.h"
#include "core/base/memory.h"

static const sf_bench *const benches[] = {
    &sf_bench_build,  &sf_bench_sets,      &sf_bench_histograms, &sf_bench_models,  &sf_bench_memory,
    &sf_bench_census, &sf_bench_estimates, &sf_bench_walk,       &sf_bench_threads, &sf_bench_paper,
    &sf_bench_ranks,  &sf_bench_run_file,  &sf_bench_bound,
};

enum { N_BENCHES = sizeof benches / sizeof *benches };

double sf_bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double sf_bench_time(sf_bench_action action, void *context, double budget_s)
{
    enum { RUNS_MAX = 50 };
    double begin = sf_bench_now(), least = 0;
    for (int run = 0; run < RUNS_MAX; run++) {
        double start = sf_bench_now();
        action(context);
        double s = sf_bench_now() - start;
        least = run == 0 || s < least ? s : least;
        if (sf_bench_now() - begin > budget_s)
            break;
    }
    return least;
}

static const char *seconds_text(double s, char text[32])
{
    if (s <= 0)
        snprintf(text, 32, "-");
    else if (s < 1e-3)
        snprintf(text, 32, "%.3g us", s * 1e6);
    else if (s < 1)
        snprintf(text, 32, "%.3g ms", s * 1e3);
    else
        snprintf(text, 32, "%.3g s", s);
    return text;
}

void sf_bench_title(const char *title, const char *plain)
{
    printf("\n%-44s %12s %12s %10s %12s\n", title, "here", "plain", "ratio", "target");
    printf("  plain: %s\n", plain);
}

void sf_bench_figure(const char *what, double s, double plain_s, double target_s)
{
    char here[32], plain[32], target[32], ratio[32] = "-";
    if (plain_s > 0)
        snprintf(ratio, sizeof ratio, "%.1f", plain_s / s);
    printf("  %-42s %12s %12s %10s %12s%s\n", what, seconds_text(s, here), seconds_text(plain_s, plain), ratio,
           seconds_text(target_s, target), target_s > 0 && s > target_s ? "  over" : "");
    fflush(stdout);
}

sf_map_table sf_bench_maps(const char *lattice, int length, int n_threads)
{
    sf_map_table maps;
    sf_error err;
    sf_map_options options = {.n_threads = n_threads};
    if (sf_map_table_build(&maps, sf_lattice_find(lattice), length, &options, &err) != 0) {
        fprintf(stderr, "starfold-bench: %s\n", err.text);
        exit(sf_error_status(err.code));
    }
    return maps;
}

void sf_bench_sequences(int length, size_t n, uint32_t *sequences)
{
    uint64_t state = 20261129;
    for (size_t i = 0; i < n; i++) {
        uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 */
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        sequences[i] = (uint32_t)(z ^ (z >> 31)) & ((UINT32_C(1) << length) - 1);
    }
}

uint8_t *sf_bench_elements(int length, size_t n)
{
    uint32_t *sequences = malloc(n * sizeof *sequences);
    uint8_t *elements = malloc(n * (size_t)length);
    if (sequences && elements)
        sf_bench_sequences(length, n, sequences);
    for (size_t i = 0; sequences && elements && i < n; i++) {
        for (int k = 0; k < length; k++)
            elements[i * (size_t)length + (size_t)k] = !(sequences[i] >> k & 1);
    }
    free(sequences);
    return elements;
}

static int usage(FILE *file)
{
    fprintf(file, "usage: starfold-bench [--list] [--only NAME]... [--threads N] [--full]\n"
                  "  --list       names the benchmarks\n"
                  "  --only NAME  runs only this one; may be given again\n"
                  "  --threads N  threads where threads are compared with one (default 2)\n"
                  "  --full       with the cases that take minutes\n");
    return file == stderr ? 2 : 0;
}

static int list(void)
{
    for (int i = 0; i < N_BENCHES; i++)
        printf("%-12s %s\n", benches[i]->name, benches[i]->about);
    return 0;
}

static const sf_bench *find(const char *name)
{
    for (int i = 0; i < N_BENCHES; i++) {
        if (strcmp(benches[i]->name, name) == 0)
            return benches[i];
    }
    return NULL;
}

/* The command line, and what it asks for. Returns the exit status. */
static int run_words(int argc, char **argv, sf_bench_options *options)
{
    bool chosen[N_BENCHES] = {false}, some = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        const sf_bench *bench = find(value);
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout);
        if (strcmp(argv[i], "--list") == 0)
            return list();
        if (strcmp(argv[i], "--full") == 0) {
            options->full = true;
        } else if (strcmp(argv[i], "--threads") == 0 && atoi(value) >= 1) {
            options->n_threads = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--only") == 0 && bench) {
            for (int b = 0; b < N_BENCHES; b++)
                chosen[b] = chosen[b] || benches[b] == bench;
            some = true;
            i++;
        } else {
            fprintf(stderr, "starfold-bench: '%s %s' is not understood; --list names the benchmarks\n", argv[i], value);
            return usage(stderr);
        }
    }
    sf_error err;
    const bool speaks = options->comm->rank == 0;
    if (sf_isa_check(&err) != 0) {
        fprintf(stderr, "starfold-bench: %s\n", err.text);
        return sf_error_status(err.code);
    }
    if (speaks)
        printf("instruction set %s; the least of several runs; 'over' marks a figure above its target\n",
               sf_isa_name(sf_isa_get()));
    for (int i = 0; i < N_BENCHES; i++) {
        bool runs = (!some || chosen[i]) && (speaks || benches[i]->all_ranks);
        int status = runs ? benches[i]->run(options) : 0;
        if (status != 0)
            return sf_error_status(status);
    }
    return 0;
}

int main(int argc, char **argv)
{
    sf_comm comm;
    sf_error err;
    sf_memory_tune();
    if (sf_comm_open(&comm, &argc, &argv, &err) != 0) {
        fprintf(stderr, "starfold-bench: %s\n", err.text);
        return sf_error_status(err.code);
    }
    sf_bench_options options = {.n_threads = 2, .comm = &comm};
    int status = run_words(argc, argv, &options);
    sf_comm_close(&comm);
    return status;
}

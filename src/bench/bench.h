/* What the benchmarks share: a benchmark is one struct, a figure one printed line with the kept plain version beside it. */
#ifndef SF_BENCH_H
#define SF_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/contacts/map_table.h"
#include "dist/comm.h"

typedef struct sf_bench_options {
    int n_threads; /* of the benchmarks that compare threads */
    bool full;     /* with the cases that take long */
    const sf_comm *comm; /* the ranks; those beyond the first take part only in what compares ranks */
} sf_bench_options;

/* A benchmark; one line for it in main.c. run returns 0, or a code after it has said what went wrong. */
typedef struct sf_bench {
    const char *name;
    const char *about;
    int (*run)(const sf_bench_options *options);
    bool all_ranks; /* run on every rank; the others on the first alone */
} sf_bench;

extern const sf_bench sf_bench_build, sf_bench_sets, sf_bench_histograms, sf_bench_models, sf_bench_memory; /* bench_table.c */
extern const sf_bench sf_bench_census;                                                     /* bench_census.c */
extern const sf_bench sf_bench_threads;                                                    /* bench_threads.c */
extern const sf_bench sf_bench_run_file;                                                   /* bench_run_file.c */
extern const sf_bench sf_bench_walk;                                                       /* bench_walk.c */
extern const sf_bench sf_bench_estimates;                                                  /* bench_estimates.c */
extern const sf_bench sf_bench_bound;                                                      /* bench_bound.c */

extern const sf_bench sf_bench_paper, sf_bench_ranks;                                      /* bench_search.c */

/* Seconds on a clock that only goes forward. */
double sf_bench_now(void);

/* Seconds the action takes: the least of several runs, as many as fit `budget_s`, at least one, at most 50. */
typedef void (*sf_bench_action)(void *context);
double sf_bench_time(sf_bench_action action, void *context, double budget_s);

/* Prints a title line for the figures that follow. */
void sf_bench_title(const char *title, const char *plain);

/* Prints one figure in seconds; plain_s 0: not measured; target_s 0: none set. */
void sf_bench_figure(const char *what, double s, double plain_s, double target_s);

/* Builds a table or ends the program with a line that says why not. */
sf_map_table sf_bench_maps(const char *lattice, int length, int n_threads);

/* n sequences of `length` residues, each residue H or P alike, the same at every run. */
void sf_bench_sequences(int length, size_t n, uint32_t *sequences);

/* The same as elements[n][length] of hp (0: H); freed by the caller; NULL when memory is out. */
uint8_t *sf_bench_elements(int length, size_t n);

/* n sequences of any length as elements[n][length], each residue H or P alike, by a generator that begins at 1; freed by
 * the caller; NULL when memory is out. Those of bench_bound.c. */
uint8_t *sf_bench_random_elements(int length, size_t n);

/* A chain of 42 residues that takes engine bound some seconds, square lattice. */
extern const char sf_bench_hard_chain[];

#endif

/* A census as the files of the command share it: what is counted, told and written. */
#ifndef SF_APP_CENSUS_H
#define SF_APP_CENSUS_H

#include "app/app.h"
#include "core/engines/census/census.h"

enum { SF_CENSUS_SEQUENCES_MAX = 1 << 24 };

typedef struct sf_app_census {
    sf_problem problem;
    uint64_t total; /* sequences there are */
    bool together;  /* counted all together, not each by itself */
    int n_shards;   /* together: of the maps, one in each rank; 1: every rank has all maps */
    uint64_t limit; /* together: bytes that a rank may take */
    uint64_t n_sequences, n_unique, n_gaps;
    uint64_t fitness[SF_SCORES_MAX + 1]; /* index: distinct scores */
    uint64_t max_score[SF_SCORES_MAX];   /* index: best score - min_score */
    /* With --output, [total], by the number of the sequence; complete on rank 0. Else NULL. */
    uint8_t *each_fitness, *each_best; /* best score - min_score */
    /* With --histograms; settled, complete on rank 0. n_scores is 0 where it was not asked for. */
    sf_shapes shapes;
    sf_shapes_summary summary; /* rank 0 */
} sf_app_census;

void sf_app_census_free(sf_app_census *c);

/* letters^length, or 0 when that is above SF_CENSUS_SEQUENCES_MAX. */
uint64_t sf_census_sequences(int letters, int length);

/* ---- counting (census_together.c, census_each.c); collective ---- */

/* True when the table can answer all at once: the model has two letters, it can hold such chains, and no engine was asked
 * for. */
bool sf_census_can_together(const sf_app *app, const sf_problem *problem);

/* Settles c->n_shards and c->limit: shards where all maps, laid out, do not fit a rank but a part of them does; and
 * c->together: false for another model than hp where all maps do not fit. What a rank takes is mostly its own, codes that it
 * carries along while it counts; threads of a rank share all of it. Collective; the same on every rank. */
int sf_census_together_place(const sf_app *app, sf_app_census *c, sf_error *err);

/* What that takes: seconds, and bytes of the rank that takes most. */
double sf_census_together_seconds(const sf_app *app, const sf_app_census *c);
uint64_t sf_census_together_bytes(const sf_app *app, const sf_problem *problem, int n_shards);

/* SF_ELIMIT when that is more than c->limit. */
int sf_census_together_check(const sf_app *app, const sf_app_census *c, sf_error *err);

int sf_census_count_together(const sf_app *app, sf_app_census *c, sf_error *err);

/* Sequence by sequence with an engine. Of each chain and its reverse one is counted: n_counted. */
size_t sf_census_n_counted(const sf_problem *problem);
int sf_census_count_each(const sf_app *app, sf_app_census *c, sf_error *err);

/* Bytes that it takes on rank 0 beside the engine. SF_ELIMIT when they are more than may be taken. */
int sf_census_each_bytes(const sf_app *app, const sf_app_census *c, uint64_t *bytes, sf_error *err);

/* Bytes that the results take on rank 0: arrays of all sequences, and rows of the shapes of n_rows sequences. */
uint64_t sf_census_result_bytes(const sf_app *app, uint64_t total, uint64_t shapes_bytes);

/* ---- bringing the ranks' results together (census_gather.c) ---- */

/* Bytes that rank 0 takes for what is on its way. */
uint64_t sf_census_slabs_bytes(const sf_app *app);

/* What ranks wrote to their own arrays of zeros is put together on rank 0. Collective. */
int sf_census_gather_each(const sf_app *app, sf_app_census *c, sf_error *err);

/* The ranks' masks of all sequences (sf_census_each), put together on rank 0. Collective. */
int sf_census_gather_masks(const sf_app *app, uint64_t n, uint32_t *masks, sf_error *err);

/* All ranks' shapes, settled, on rank 0, and in short. Collective. */
int sf_census_gather_shapes(const sf_app *app, sf_app_census *c, sf_error *err);

/* ---- the answer (census_report.c); rank 0 ---- */

void sf_census_print_text(const sf_app_census *c);
int sf_census_print_json(const sf_app_census *c, sf_error *err);

/* Entries up to the last that is not zero, at least one. */
size_t sf_census_used(const uint64_t *counts, size_t n);

/* Writes --output. */
int sf_census_write(const sf_app *app, const sf_app_census *c, sf_error *err);

#endif

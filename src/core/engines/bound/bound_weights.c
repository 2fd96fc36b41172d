/* Branch and bound for any weights: a branch is cut when none of the scores still wanted can come of it.
 *
 * Of the bounds of HP chains one holds for all weights. Contacts join an even and an odd residue, so each contact to
 * come belongs to a residue of parity e: to one not placed yet, in one of its slots, or to a placed one, at one of its
 * free neighbours. With the greatest weight (not below 0) each can have there, this bounds what is gained, for e = 0
 * and e = 1; the lesser holds. With the least weights (not above 0) it bounds what is lost. Reach, runs and conflicts
 * count H's, all of one weight, and are left out. */
#include "core/engines/bound/bound_weights.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/engines/bound/bound_kernel.h"
#include "core/walk/board.h"

enum { LOSS, GAIN, SIGNS, POLL_NODES = 1024 };

typedef struct weights {
    const sf_problem *problem;
    bound_schedule schedule;
    sf_walk_board board; /* residue + 1 on a site */
    uint8_t *at[SF_LENGTH_MAX];
    bound_place fold[SF_LENGTH_MAX];
    int weight[SF_LENGTH_MAX][SF_LETTERS_MAX]; /* of a residue with a letter */
    uint8_t letter[SF_LENGTH_MAX];
    /* [sign][i][k]: extreme weight of residue i with residues of the other parity before k, or from k on */
    int before[SIGNS][SF_LENGTH_MAX][SF_LENGTH_MAX + 1], from[SIGNS][SF_LENGTH_MAX][SF_LENGTH_MAX + 1];
    /* [sign][q][k]: slots times extreme weight, summed over the residues of parity q before k */
    int sum_before[SIGNS][2][SF_LENGTH_MAX + 1];

    bool wanted[SF_SCORES_MAX];
    int wanted_before[SF_SCORES_MAX + 1]; /* how many below an index */
    bool count;                           /* count what is wanted; else each wanted score is wanted once */
    bool upwards;                         /* a score found leaves only higher ones wanted */
    uint64_t *histogram;                  /* marked as scores are found; NULL: no */
    uint64_t nodes, node_limit, found;
    const volatile int *stop;
    bool done;
    bound_outcome outcome;
} weights;

static int extreme(int sign, int a, int b)
{
    return (sign == GAIN) == (a > b) ? a : b;
}

/* ---- tables ---- */

static void tables_init(weights *w)
{
    const int n = w->problem->length, slots = w->problem->lattice->n_steps - 2;
    for (int sign = 0; sign < SIGNS; sign++) {
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < n; k++) {
                const bool can_touch = (i ^ k) & 1 && abs(i - k) >= 3;
                const int weight = can_touch ? w->weight[i][w->letter[k]] : 0;
                w->before[sign][i][k + 1] = extreme(sign, w->before[sign][i][k], weight);
            }
            for (int k = n - 1; k >= 0; k--) {
                const bool can_touch = (i ^ k) & 1 && abs(i - k) >= 3;
                const int weight = can_touch ? w->weight[i][w->letter[k]] : 0;
                w->from[sign][i][k] = extreme(sign, w->from[sign][i][k + 1], weight);
            }
        }
        for (int i = 0; i < n; i++) {
            const int own = (slots + (i == 0 || i == n - 1)) * w->before[sign][i][n];
            w->sum_before[sign][i & 1][i + 1] = w->sum_before[sign][i & 1][i] + own;
            w->sum_before[sign][!(i & 1)][i + 1] = w->sum_before[sign][!(i & 1)][i];
        }
    }
}

static int weights_init(weights **weights_out, const sf_problem *problem, const uint8_t *elements, sf_error *err)
{
    uint8_t neutral[SF_LENGTH_MAX];
    bound_chain chain;
    weights *w = calloc(1, sizeof *w);
    *weights_out = w;
    if (!w)
        return sf_fail(err, SF_ENOMEM, "out of memory for a tree search");
    w->problem = problem;
    w->node_limit = UINT64_MAX;
    for (int i = 0; i < problem->length; i++) {
        w->letter[i] = elements[i];
        memcpy(w->weight[i], problem->model->weight[elements[i]], sizeof w->weight[i]);
    }
    tables_init(w);
    for (int i = 0; i < problem->length; i++) /* the schedule grows towards what can gain, as towards H */
        neutral[i] = w->before[GAIN][i][problem->length] == 0;
    sf_bound_chain_init(&chain, problem->lattice, problem->length, neutral);
    sf_bound_schedule_init(&w->schedule, &chain, 0, problem->length - 1, problem->length / 2 - 1);
    return sf_walk_board_init(&w->board, problem->lattice, problem->length, err);
}

static void weights_free(weights *w)
{
    if (w)
        sf_walk_board_free(&w->board);
    free(w);
}

/* ---- what is wanted ---- */

static void wanted_changed(weights *w)
{
    for (int i = 0; i < w->problem->n_scores; i++)
        w->wanted_before[i + 1] = w->wanted_before[i] + w->wanted[i];
}

/* True when a wanted score is among low..high. */
static bool wants(const weights *w, int low, int high)
{
    const int first = low - w->problem->min_score, end = high - w->problem->min_score + 1;
    const int from = first < 0 ? 0 : first, to = end > w->problem->n_scores ? w->problem->n_scores : end;
    return from < to && w->wanted_before[to] > w->wanted_before[from];
}

static void found_score(weights *w, int score)
{
    const int at = score - w->problem->min_score;
    w->found++;
    if (w->count)
        return;
    if (w->histogram)
        w->histogram[at] = SF_COUNT_SOME;
    for (int i = w->upwards ? 0 : at; i <= at; i++)
        w->wanted[i] = false;
    wanted_changed(w);
    w->done = w->wanted_before[w->problem->n_scores] == 0;
}

/* ---- the tree ---- */

static int contacts_weight(const weights *w, int residue, const uint8_t *site)
{
    int sum = 0;
    for (int d = 0; d < w->board.n_steps; d++) {
        const int i = site[w->board.move[d]] - 1;
        if (i >= 0 && abs(i - residue) > 1)
            sum += w->weight[residue][w->letter[i]];
    }
    return sum;
}

/* What the contacts to come can add, at least or at most, with residues left..right placed. */
static int to_come(const weights *w, int sign, int left, int right)
{
    const int n = w->problem->length;
    int sum[2];
    for (int q = 0; q < 2; q++)
        sum[q] = w->sum_before[sign][q][left] + w->sum_before[sign][q][n] - w->sum_before[sign][q][right + 1];
    for (int i = left; i <= right; i++) {
        const int weight = extreme(sign, w->before[sign][i][left], w->from[sign][i][right + 1]);
        if (weight == 0)
            continue;
        int open = -(i == left && left > 0) - (i == right && right < n - 1); /* the bonds to come are no contacts */
        for (int d = 0; d < w->board.n_steps; d++)
            open += w->at[i][w->board.move[d]] == 0;
        sum[i & 1] += weight * (open > 0 ? open : 0);
    }
    return extreme(sign, sum[0], sum[1]) == sum[0] ? sum[1] : sum[0];
}

typedef struct branch {
    uint8_t *site;
    bound_place place;
    int score, n_open;
} branch;

static void take(weights *w, int residue, const branch *b)
{
    *b->site = (uint8_t)(residue + 1);
    w->at[residue] = b->site;
    w->fold[residue] = b->place;
}

/* The branches that may lead to a wanted score, highest score first. */
static int branches(weights *w, int n_placed, int score, int n_open, branch *list)
{
    const bound_step *step = &w->schedule.step[n_placed];
    const int end = step->to_right ? step->right : step->left, dimension = w->problem->lattice->dimension;
    const int choices = n_open < dimension ? 2 * n_open + 1 : w->board.n_steps;
    const int left = step->to_right ? step->left : step->residue, right = step->to_right ? step->residue : step->right;
    int n = 0;
    for (int d = 0; d < choices; d++) {
        const int8_t *by = w->problem->lattice->step[d];
        const bound_place p = w->fold[end];
        branch b = {.site = w->at[end] + w->board.move[d],
                    .place = {(int8_t)(p.x + by[0]), (int8_t)(p.y + by[1]), (int8_t)(p.z + by[2])},
                    .n_open = n_open + (d >= 2 * n_open)};
        if (*b.site)
            continue;
        b.score = score + contacts_weight(w, step->residue, b.site);
        take(w, step->residue, &b);
        const bool hope = wants(w, b.score + to_come(w, LOSS, left, right), b.score + to_come(w, GAIN, left, right));
        *b.site = 0;
        if (!hope)
            continue;
        int at = n++;
        for (; at > 0 && list[at - 1].score < b.score; at--)
            list[at] = list[at - 1];
        list[at] = b;
    }
    return n;
}

static void descend(weights *w, int n_placed, int score, int n_open)
{
    if (n_placed == w->problem->length) {
        found_score(w, score);
        return;
    }
    branch list[SF_STEPS_MAX];
    const int residue = w->schedule.step[n_placed].residue, n = branches(w, n_placed, score, n_open, list);
    for (int i = 0; i < n && !w->done; i++) {
        if (w->nodes == w->node_limit || (++w->nodes % POLL_NODES == 0 && w->stop && *w->stop)) {
            w->outcome = w->nodes == w->node_limit ? BOUND_LIMIT : BOUND_STOPPED;
            w->done = true;
            return;
        }
        take(w, residue, &list[i]);
        descend(w, n_placed + 1, list[i].score, list[i].n_open);
        *list[i].site = 0;
    }
}

/* Searches for what is wanted. BOUND_DONE: what is wanted still cannot be had. */
static bound_outcome search(weights *w)
{
    const int seed = w->schedule.seed;
    const branch first = {.site = w->board.site + w->board.origin};
    const branch second = {.site = first.site + w->board.move[0], .place = {1, 0, 0}};
    w->found = 0;
    w->outcome = BOUND_DONE;
    wanted_changed(w);
    w->done = w->wanted_before[w->problem->n_scores] == 0;
    take(w, seed, &first);
    take(w, seed + 1, &second);
    if (!w->done)
        descend(w, 2, 0, 1);
    *first.site = *second.site = 0;
    return w->outcome;
}

/* ---- the question ---- */

/* The best score: wants ever higher ones. Scores above that are out of reach become 0. */
static bound_outcome search_best(weights *w, int *lower, int *upper)
{
    const int n_scores = w->problem->n_scores, zero = -w->problem->min_score;
    for (int i = 0; i < n_scores; i++)
        w->wanted[i] = i > zero;
    w->upwards = true;
    const bound_outcome outcome = search(w);
    w->upwards = false;
    for (int i = zero; i < n_scores; i++)
        *lower = w->histogram[i] == SF_COUNT_SOME ? i : *lower;
    if (outcome == BOUND_DONE) {
        for (int i = *lower + 1; i < n_scores; i++)
            w->histogram[i] = 0;
        *upper = *lower;
    }
    return outcome;
}

static bound_outcome search_set(weights *w)
{
    const int n_scores = w->problem->n_scores;
    for (int i = 0; i < n_scores; i++)
        w->wanted[i] = w->histogram[i] == SF_COUNT_UNKNOWN;
    const bound_outcome outcome = search(w);
    for (int i = 0; outcome == BOUND_DONE && i < n_scores; i++) {
        if (w->histogram[i] == SF_COUNT_UNKNOWN)
            w->histogram[i] = 0;
    }
    return outcome;
}

static bound_outcome count_top(weights *w, int best, int top_counts)
{
    w->count = true;
    for (int i = best; i >= 0 && top_counts > 0; i--) {
        if (w->histogram[i] != SF_COUNT_SOME)
            continue;
        memset(w->wanted, 0, sizeof w->wanted);
        w->wanted[i] = true;
        const bound_outcome outcome = search(w);
        if (outcome != BOUND_DONE)
            return outcome;
        w->histogram[i] = w->found;
        top_counts--;
    }
    return BOUND_DONE;
}

int sf_bound_weights_solve(const sf_problem *problem, const uint8_t *elements, const sf_bound_options *options,
                           uint64_t *histogram, sf_bound_result *result, sf_error *err)
{
    weights *w;
    const int zero = -problem->min_score;
    int status = weights_init(&w, problem, elements, err), lower = zero, upper = problem->n_scores - 1;
    if (status == SF_OK) {
        w->histogram = histogram;
        w->stop = options->stop;
        w->node_limit = options->node_limit ? options->node_limit : UINT64_MAX;
        for (int i = 0; i < problem->n_scores; i++)
            histogram[i] = SF_COUNT_UNKNOWN;
        histogram[zero] = SF_COUNT_SOME; /* the straight chain */
        bound_outcome outcome = search_best(w, &lower, &upper);
        if (outcome == BOUND_DONE)
            outcome = search_set(w);
        const bool exact = outcome == BOUND_DONE;
        if (exact)
            outcome = count_top(w, lower, options->top_counts);
        *result = (sf_bound_result){.best_lower = lower + problem->min_score,
                                    .best_upper = upper + problem->min_score,
                                    .exact = exact,
                                    .nodes = w->nodes,
                                    .solutions = histogram[lower] == SF_COUNT_SOME ? 0 : histogram[lower]};
        if (outcome == BOUND_STOPPED)
            status = sf_fail(err, SF_ESTOPPED, "stopped while the scores of a sequence were searched");
    }
    weights_free(w);
    return status;
}

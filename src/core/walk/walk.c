/* Depth-first enumeration of all reduced conformations: the obvious way, and the oracle of the project.
 *
 * Residues are placed one after the other on a board of bytes. What a residue adds to the score is read off its
 * neighbours, so a conformation costs a few additions, not N^2 comparisons. Nothing is merged or cut: the time is
 * proportional to the number of conformations, which grows 2.64-fold a residue on the square lattice and 4.68-fold on
 * the cubic one. */
#include "core/walk/walk.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/walk/board.h"

enum { POLL_RESIDUES = 10 }; /* with so many residues to go, the stop flag is looked at */

/* ---- counting ---- */

typedef struct counter {
    sf_walk_board board; /* element + 1 of the residue on a site, 0 = free */
    int length;
    /* weight[k][b]: what residue k gains from a neighbouring byte b; [k][0] = 0 */
    int weight[SF_LENGTH_MAX][SF_LETTERS_MAX + 1];
    uint8_t byte[SF_LENGTH_MAX];
    int bonded[SF_LENGTH_MAX]; /* what residue k would gain from residue k - 1, which is no contact */
    int poll_at;
    const volatile int *stop;
    bool stopped;
    uint64_t histogram[SF_SCORES_MAX];
} counter;

/* Score that residue k gains on a site whose neighbours include residue k - 1. */
static inline int gain(const counter *c, int n_steps, int k, const uint8_t *site)
{
    int sum = -c->bonded[k];
    for (int step = 0; step < n_steps; step++)
        sum += c->weight[k][site[c->board.move[step]]];
    return sum;
}

/* Places residue k and all that follow in every way; head is the site of residue k - 1, score an index of histogram.
 * The number of steps comes as an argument so that the compiler can make a copy for each lattice. */
static void count_from(counter *c, int n_steps, int k, uint8_t *head, int n_open, int score)
{
    const int choices = 2 * n_open + 1 < n_steps ? 2 * n_open + 1 : n_steps;
    if (k == c->length - 1) {
        for (int step = 0; step < choices; step++) {
            const uint8_t *site = head + c->board.move[step];
            if (!*site)
                c->histogram[score + gain(c, n_steps, k, site)]++;
        }
        return;
    }
    if (k == c->poll_at && c->stop && *c->stop)
        c->stopped = true;
    if (c->stopped)
        return;
    for (int step = 0; step < choices; step++) {
        uint8_t *site = head + c->board.move[step];
        if (*site)
            continue;
        int next_score = score + gain(c, n_steps, k, site);
        *site = c->byte[k];
        count_from(c, n_steps, k + 1, site, n_open + (step >= 2 * n_open), next_score);
        *site = 0;
    }
}

static int counter_init(counter *c, const sf_problem *problem, const uint8_t *elements, const volatile int *stop,
                        sf_error *err)
{
    const sf_score_model *model = problem->model;
    memset(c, 0, sizeof *c);
    c->length = problem->length;
    c->stop = stop;
    for (int k = 0; k < problem->length; k++) {
        c->byte[k] = (uint8_t)(elements[k] + 1);
        for (int i = 0; i < model->n_letters; i++)
            c->weight[k][i + 1] = model->weight[elements[k]][i];
        c->bonded[k] = k == 0 ? 0 : model->weight[elements[k]][elements[k - 1]];
    }
    return sf_walk_board_init(&c->board, problem->lattice, problem->length, err);
}

int sf_walk_count(const sf_problem *problem, const sf_walk_prefixes *prefixes, size_t prefix, const uint8_t *elements,
                  const volatile int *stop, uint64_t *histogram, sf_error *err)
{
    const uint8_t *steps = prefixes->steps + prefix * (size_t)prefixes->n_steps;
    const int next = prefixes->n_steps + 1; /* first residue the prefix does not place */
    const int n_open = sf_walk_open_axes(steps, prefixes->n_steps);
    int status;
    counter *c = malloc(sizeof *c);
    if (!c)
        return sf_fail(err, SF_ENOMEM, "no memory to count walks");
    if ((status = counter_init(c, problem, elements, stop, err)) != SF_OK)
        goto out;

    uint8_t *head = c->board.site + c->board.origin;
    int score = -problem->min_score;
    *head = c->byte[0];
    for (int k = 1; k < next; k++) {
        head += c->board.move[steps[k - 1]];
        score += gain(c, c->board.n_steps, k, head);
        *head = c->byte[k];
    }
    c->poll_at = c->length - POLL_RESIDUES > next ? c->length - POLL_RESIDUES : next;
    if (next == c->length)
        c->histogram[score]++;
    else if (c->board.n_steps == 4)
        count_from(c, 4, next, head, n_open, score);
    else if (c->board.n_steps == 6)
        count_from(c, 6, next, head, n_open, score);
    else
        count_from(c, c->board.n_steps, next, head, n_open, score);
    if (c->stopped)
        status = sf_fail(err, SF_ESTOPPED, "stopped while counting walks");
    else if ((status = sf_counts_add((size_t)problem->n_scores, histogram, c->histogram)) != SF_OK)
        status = sf_fail(err, status, "more conformations than 64 bits can count");
    sf_walk_board_free(&c->board);
out:
    free(c);
    return status;
}

int sf_walk_histogram(const sf_problem *problem, const uint8_t *elements, const volatile int *stop, uint64_t *histogram,
                      sf_error *err)
{
    sf_walk_prefixes prefixes;
    int status = sf_walk_prefixes_init(&prefixes, problem->lattice, problem->length, err);
    memset(histogram, 0, (size_t)problem->n_scores * sizeof *histogram);
    for (size_t i = 0; status == SF_OK && i < prefixes.n; i++)
        status = sf_walk_count(problem, &prefixes, i, elements, stop, histogram, err);
    sf_walk_prefixes_free(&prefixes);
    return status;
}

/* ---- visiting ---- */

typedef struct visit {
    sf_walk_board board; /* 1 on occupied sites */
    const sf_lattice *lattice;
    int n_steps; /* of a whole walk */
    sf_walk_visitor visitor;
    void *context;
    uint8_t steps[SF_LENGTH_MAX];
} visit;

static int visit_from(visit *v, int done, uint8_t *head, int n_open)
{
    if (done == v->n_steps)
        return v->visitor(v->context, v->steps);
    int result = 0;
    const int choices = sf_walk_choices(v->lattice, n_open);
    for (int step = 0; step < choices && result == 0; step++) {
        uint8_t *site = head + v->board.move[step];
        if (*site)
            continue;
        *site = 1;
        v->steps[done] = (uint8_t)step;
        result = visit_from(v, done + 1, site, n_open + (step >= 2 * n_open));
        *site = 0;
    }
    return result;
}

int sf_walk_visit(const sf_walk_prefixes *prefixes, size_t prefix, sf_walk_visitor visitor, void *context,
                  sf_error *err)
{
    visit v = {.lattice = prefixes->lattice, .n_steps = prefixes->length - 1, .visitor = visitor, .context = context};
    int status = sf_walk_board_init(&v.board, prefixes->lattice, prefixes->length, err);
    if (status != SF_OK)
        return status;
    memcpy(v.steps, prefixes->steps + prefix * (size_t)prefixes->n_steps, (size_t)prefixes->n_steps);
    uint8_t *head = v.board.site + v.board.origin;
    *head = 1;
    for (int i = 0; i < prefixes->n_steps; i++) {
        head += v.board.move[v.steps[i]];
        *head = 1;
    }
    status = visit_from(&v, prefixes->n_steps, head, sf_walk_open_axes(v.steps, prefixes->n_steps));
    sf_walk_board_free(&v.board);
    return status;
}

int sf_walk_contacts(const sf_lattice *lattice, int length, const uint8_t *steps, uint8_t (*pairs)[2])
{
    int site[SF_LENGTH_MAX][3] = {{0}};
    int n = 0;
    for (int b = 1; b < length; b++) {
        for (int axis = 0; axis < 3; axis++)
            site[b][axis] = site[b - 1][axis] + lattice->step[steps[b - 1]][axis];
        for (int a = 0; a < b - 1; a++) {
            int distance = 0;
            for (int axis = 0; axis < 3; axis++)
                distance += abs(site[a][axis] - site[b][axis]);
            if (distance == 1) {
                pairs[n][0] = (uint8_t)a;
                pairs[n][1] = (uint8_t)b;
                n++;
            }
        }
    }
    return n;
}

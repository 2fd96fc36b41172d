/* An example conformation of a given score: the lexicographically first reduced one that has it.
 *
 * The obvious way, visiting all in order until one fits, takes minutes where the score is rare. Here a branch is cut
 * when the score cannot be met any more. What may still be gained: contacts join an even and an odd residue; each
 * unplaced residue has D places for them (the steps of the lattice, less its bonds), each placed one its free neighbour
 * sites, and none gains more a place than its best weight. So the contacts to come are a flow between even and odd
 * residues, those of placed residues going to unplaced ones of the other parity only; its maximum bounds the gain. The
 * same with the signs turned bounds what may be lost, for models with negative weights. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/walk/board.h"
#include "core/walk/walk.h"

/* Most that each residue can add, a contact: worth[k]; and what all unplaced ones have left: suffix sums by parity. */
typedef struct bound {
    int worth[SF_LENGTH_MAX];
    int unplaced[SF_LENGTH_MAX + 1][2]; /* [k][parity]: residues k.. of that parity, places times worth */
    int placed[2];                      /* free sites next to placed residues, times worth, by parity */
} bound;

typedef struct search {
    const sf_problem *problem;
    const uint8_t *elements;
    sf_walk_board board; /* residue + 1 on occupied sites */
    int target;
    bound gain, loss;
    uint8_t steps[SF_LENGTH_MAX];
} search;

static void bound_init(bound *b, const sf_problem *problem, const uint8_t *elements, int sign)
{
    const int length = problem->length;
    memset(b, 0, sizeof *b);
    for (int k = length - 1; k >= 0; k--) {
        for (int i = (k + 1) % 2; i < length; i += 2) {
            int weight = sign * problem->model->weight[elements[k]][elements[i]];
            if (abs(k - i) >= 3 && weight > b->worth[k])
                b->worth[k] = weight;
        }
        int places = problem->lattice->n_steps - (k == length - 1 ? 1 : 2);
        b->unplaced[k][0] = b->unplaced[k + 1][0];
        b->unplaced[k][1] = b->unplaced[k + 1][1];
        b->unplaced[k][k % 2] += places * b->worth[k];
    }
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Most that residues k.. can add. */
static int bound_value(const bound *b, int k)
{
    int even = b->unplaced[k][0], odd = b->unplaced[k][1];
    int even_to_placed = least(even, b->placed[1]), odd_to_placed = least(odd, b->placed[0]);
    return even_to_placed + odd_to_placed + least(even - even_to_placed, odd - odd_to_placed);
}

/* Puts residue k on a site (sign 1) or takes it off again (sign -1): the free sites next to placed residues change. A
 * bond to the next residue will need one of k's own. */
static void bound_move(search *s, int k, const uint8_t *site, int sign)
{
    int n_free = -1; /* the bond to residue k + 1 takes one */
    for (int step = 0; step < s->board.n_steps; step++) {
        int there = site[s->board.move[step]];
        if (!there) {
            n_free++;
        } else if (there != k) { /* residue k - 1 gave this site up when it was placed */
            s->gain.placed[(there - 1) % 2] -= sign * s->gain.worth[there - 1];
            s->loss.placed[(there - 1) % 2] -= sign * s->loss.worth[there - 1];
        }
    }
    s->gain.placed[k % 2] += sign * n_free * s->gain.worth[k];
    s->loss.placed[k % 2] += sign * n_free * s->loss.worth[k];
}

static int contact_gain(const search *s, int k, const uint8_t *site)
{
    int sum = 0;
    for (int step = 0; step < s->board.n_steps; step++) {
        int there = site[s->board.move[step]];
        if (there && there != k)
            sum += s->problem->model->weight[s->elements[k]][s->elements[there - 1]];
    }
    return sum;
}

/* Places residues k.. after head; true when the walk in steps has the score. */
static bool find_from(search *s, int k, uint8_t *head, int n_open, int score)
{
    if (k == s->problem->length)
        return score == s->target;
    if (score + bound_value(&s->gain, k) < s->target || score - bound_value(&s->loss, k) > s->target)
        return false;
    const int choices = sf_walk_choices(s->problem->lattice, n_open);
    for (int step = 0; step < choices; step++) {
        uint8_t *site = head + s->board.move[step];
        if (*site)
            continue;
        int next_score = score + contact_gain(s, k, site);
        s->steps[k - 1] = (uint8_t)step;
        bound_move(s, k, site, 1);
        *site = (uint8_t)(k + 1);
        bool found = find_from(s, k + 1, site, n_open + (step >= 2 * n_open), next_score);
        *site = 0;
        bound_move(s, k, site, -1);
        if (found)
            return true;
    }
    return false;
}

int sf_walk_witness(const sf_problem *problem, const uint8_t *elements, int score, char *walk, sf_error *err)
{
    search s = {.problem = problem, .elements = elements, .target = score};
    int status = sf_walk_board_init(&s.board, problem->lattice, problem->length, err);
    if (status != SF_OK)
        return status;
    bound_init(&s.gain, problem, elements, 1);
    bound_init(&s.loss, problem, elements, -1);
    uint8_t *first = s.board.site + s.board.origin;
    bound_move(&s, 0, first, 1);
    *first = 1;
    bool found = find_from(&s, 1, first, 0, 0);
    sf_walk_board_free(&s.board);
    if (!found)
        return sf_fail(err, SF_EINPUT, "no conformation of this sequence has score %d", score);

    int checked = 0;
    for (int i = 0; i < problem->length - 1; i++)
        walk[i] = problem->lattice->letter[s.steps[i]];
    walk[problem->length - 1] = '\0';
    status = sf_walk_score(problem, elements, walk, &checked, err);
    if (status == SF_OK && checked != score)
        status = sf_fail(err, SF_ECHECK, "the example %s has score %d where %d was meant", walk, checked, score);
    return status;
}

/* Completions without a further contact: a node that has the score counted, whose bounds have nothing more to say.
 *
 * The obvious way lays every residue. Here one tail is laid after the other, the shorter one first, and the last three
 * residues of the other are not laid at all: their ways are sums over the site of the middle one. Tails too far apart
 * to meet are counted apart. Short chains with long tails of P have a hundred million such folds. */
#ifndef SF_CORE_BOUND_REST_H
#define SF_CORE_BOUND_REST_H

#include "core/engines/bound/bound_board.h"
#include "core/engines/bound/bound_chain.h"

/* What is placed, as boards; no completion is wider than the board. */
typedef struct rest {
    board occupied, h;
} rest;

/* Residues to lay: n from `first` on, away from `head`, which is placed. */
typedef struct rest_tail {
    board head;
    int first, forward, n;
} rest_tail;

/* Sites for a residue that touches no placed H but `bound_to`. */
static inline board rest_sites(const rest *r, bool is_h, board bound_to)
{
    return is_h ? ~(r->occupied | board_neighbours(r->h & ~bound_to)) : ~r->occupied;
}

/* The sum over `sites` of how many neighbours each has in the one set times that in the other. */
static inline uint64_t rest_products(board sites, const board a[STEPS + 1], const board b[STEPS + 1])
{
    int sum = 0;
    for (int i = 1; i <= 2; i++) { /* a: of neighbours of one site no more are beside another */
        const board s = sites & a[i];
        if (!board_any(s))
            break;
        for (int k = 1; k <= STEPS; k += 2)
            sum += board_count(s & b[k]) + board_count(s & b[k + 1]);
    }
    return (uint64_t)sum;
}

/* Ways to lay the last three residues: the middle one has a place beside those of the first and of the third, less the
 * ways in which these two are one. The first and the third are never beside each other, nor is the middle one beside
 * the head. */
static inline uint64_t rest_last_three(const uint8_t *is_h, const rest *r, const rest_tail *t)
{
    const bool h[3] = {is_h[t->first], is_h[t->first + t->forward], is_h[t->first + 2 * t->forward]};
    const board first = board_neighbours(t->head) & rest_sites(r, h[0], t->head);
    const board middle = rest_sites(r, h[1], board_none()), third = rest_sites(r, h[2], board_none());
    board a[STEPS + 1], b[STEPS + 1], both[STEPS + 1];
    board_layers(first, a);
    board_layers(third, b);
    board_layers(first & third, both);
    return rest_products(middle, a, b) - (uint64_t)board_count(middle & both[1]) -
           (uint64_t)board_count(middle & both[2]);
}

/* Ways to lay tail t and then, unless it is NULL, the tail `after`, so that no H comes beside another but its bond;
 * *n_laid grows by the residues laid. */
static uint64_t rest_lay(const uint8_t *is_h, const rest *r, const rest_tail *t, const rest_tail *after,
                         uint64_t *n_laid)
{
    if (t->n == 0)
        return after ? rest_lay(is_h, r, after, NULL, n_laid) : 1;
    ++*n_laid;
    if (!after && t->n == 3)
        return rest_last_three(is_h, r, t);
    const bool h = is_h[t->first];
    const board sites = rest_sites(r, h, t->head);
    if (!after && t->n == 1)
        return (uint64_t)board_count(board_neighbours(t->head) & sites);
    uint64_t n = 0;
#pragma GCC unroll 3
    for (int axis = 0; axis < AXES; axis++) {
#pragma GCC unroll 2
        for (int way = 0; way < 2; way++) {
            const board site = (way ? board_backward(t->head, axis, 1) : board_forward(t->head, axis, 1)) & sites;
            if (!board_any(site))
                continue;
            const rest next = {.occupied = r->occupied | site, .h = h ? r->h | site : r->h};
            const rest_tail left = {site, t->first + t->forward, t->forward, t->n - 1};
            n += rest_lay(is_h, &next, &left, after, n_laid);
        }
    }
    return n;
}

/* Ways to lay both tails, whose heads are `distance` steps apart. */
static uint64_t rest_count(const uint8_t *is_h, const rest *r, const rest_tail tails[2], int distance, uint64_t *n_laid)
{
    const bool apart = distance > tails[0].n + tails[1].n + 1;
    const int shorter = tails[1].n < tails[0].n;
    if (apart)
        return rest_lay(is_h, r, &tails[0], NULL, n_laid) * rest_lay(is_h, r, &tails[1], NULL, n_laid);
    return rest_lay(is_h, r, &tails[shorter], &tails[!shorter], n_laid);
}

#endif

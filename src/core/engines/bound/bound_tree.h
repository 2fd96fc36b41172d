/* Depth-first branch and bound over the placements of a chain: the body of the kernels. A kernel file includes the
 * board of its lattice, then this; everything is static.
 *
 * Nodes are copied, not undone: a board is one register. Symmetric placements are searched once: the seed bond takes
 * the first step of the lattice, and each further axis is opened in its positive direction, in order. */
#ifndef SF_CORE_BOUND_TREE_H
#define SF_CORE_BOUND_TREE_H

#include <stdlib.h>
#include <string.h>

#include "core/base/stream.h"
#include "core/engines/bound/bound_conflict.h"
#include "core/engines/bound/bound_flood.h"
#include "core/engines/bound/bound_parity.h"
#include "core/engines/bound/bound_rest.h"
#include "core/engines/bound/bound_run.h"
#ifdef BOUND_CUBIC
#include "core/engines/bound/bound_short.h"
#include "core/engines/bound/bound_walk.h"
#endif

#define WHOLE (UINT64_C(1) << 60)

enum {
    WORTH_WAITING = 6000, /* nodes: what a comparison of schedules costs, twice */
    REST_STEPS = 64,      /* placements without a look at bounds that take as long as a node */
    POLL_NODES = 1024,
    FAR_SPARE = 20 /* with so many runs to spare, looking for splits of runs is not worth while */
};

typedef struct node {
    /* meaningful while in_window: what was placed, the H of it, where H to come can stand (bound_reach.h) */
    board occupied, h, h_sites;
    box box;
    bound_place left, right;
    bool in_window;   /* what was placed is narrower than the board */
    bool ring_shared; /* ... by one only: sites beside it at one face are those at the other */
    int score;
    int n_open; /* axes opened so far */
    int limit;  /* no completion scores more */
    int step;   /* lattice step that placed the last residue */
} node;

typedef struct tree {
    bound_search *search;
    const bound_chain *chain;
    const bound_schedule *schedule;
    int n_h, n_bonds; /* of the piece */
    int target;
    bool done;
    uint64_t share;            /* of the tree, in WHOLE-ths, that the subtrees done were expected to hold */
    uint64_t look_at, poll_at; /* nodes */
    uint64_t n_rest;           /* placements not counted as nodes yet */
    bound_place path[SF_LENGTH_MAX];
} tree;

static void tree_init(tree *t, bound_search *search)
{
    const bound_schedule *schedule = search->schedule;
    *t = (tree){.search = search, .chain = search->chain, .schedule = schedule, .target = search->target};
    for (int q = 0; q < 2; q++)
        t->n_h += bound_h_between(t->chain, q, schedule->first, schedule->last);
    t->n_bonds = bound_bonds_between(t->chain, schedule->first, schedule->last);
    t->poll_at = POLL_NODES;
    t->look_at = search->look_after ? search->look_after : UINT64_MAX;
    search->outcome = BOUND_DONE;
    search->nodes = search->found = 0;
    search->best = -1;
}

static void root_init(node *root, tree *t)
{
    const int seed = t->schedule->seed;
    *root = (node){.box = {.high = {1, 0, 0}}, .right = {1, 0, 0}, .in_window = true, .n_open = 1};
    t->path[seed] = root->left;
    t->path[seed + 1] = root->right;
    root->occupied = board_site(root->left) | board_site(root->right);
    root->h = board_none();
    root->h_sites = ~board_none();
    if (t->chain->is_h[seed])
        root->h |= board_site(root->left);
    if (t->chain->is_h[seed + 1])
        root->h |= board_site(root->right);
}

/* ---- bounds ---- */

/* Returns the widest extent of the box, in sites. */
static inline int box_grow(box *b, bound_place p)
{
    const int8_t at[3] = {p.x, p.y, p.z};
    int widest = 0;
    for (int axis = 0; axis < AXES; axis++) {
        b->low[axis] = at[axis] < b->low[axis] ? at[axis] : b->low[axis];
        b->high[axis] = at[axis] > b->high[axis] ? at[axis] : b->high[axis];
        const int extent = b->high[axis] - b->low[axis] + 1;
        widest = extent > widest ? extent : widest;
    }
    return widest;
}

/* Runs that a fold with the target score can afford. */
typedef struct runs {
    int most;    /* altogether */
    int line[3]; /* lines that hold H now, by axis */
} runs;

static inline runs runs_init(const tree *t, const node *n)
{
    return (runs){.most = AXES * t->n_h - t->n_bonds - t->target,
                  .line = {board_count_lines(n->h, 0), board_count_lines(n->h, 1),
                           AXES == 3 ? board_count_lines(n->h, AXES - 1) : 0}};
}

/* What is left of them for splits when n H's have got the lines they need; negative: no fold has the target score. */
static inline int runs_spare(const runs *r, int n)
{
    return r->most - lines_needed(n, r->line[0], r->line[1], r->line[2]);
}

/* With nothing to spare every gap is filled by the H to come, each parity on its own sites. */
static inline bool gaps_fillable(board gaps, const bound_schedule *schedule, const bound_step *step)
{
    const int q = schedule->seed & 1;
    return board_count(gaps & board_even) <= step->n_h[q] && board_count(gaps & ~board_even) <= step->n_h[!q];
}

/* Sites that open at most `slack` new lines. */
static inline board few_new_lines(board h, int slack)
{
    board lines[AXES];
    for (int axis = 0; axis < AXES; axis++)
        lines[axis] = board_lines(h, axis);
    return of_axes(lines, AXES - slack);
}

/* What the runs leave for the residues to come; they mask the flood. Negative spare: no fold has the target score. */
typedef struct run_room {
    int spare; /* more runs that a fold can afford, of any kind */
    int slack; /* ... when only lines that hold H now count; an H opens no more lines */
} run_room;

static inline run_room runs_room(const tree *t, const node *n, board can)
{
    const runs lines = runs_init(t, n);
    run_room room = {.spare = runs_spare(&lines, t->n_h),
                     .slack = lines.most - (lines.line[0] + lines.line[1] + lines.line[2])};
    if (room.spare < 0 || room.spare > FAR_SPARE)
        return room;
    if (AXES == 2) {
        const board crossings = board_lines(n->h, 0) & board_lines(n->h, 1);
        room.spare = runs_spare(&lines, t->n_h + board_count(crossings & ~(n->h | can)));
        if (room.spare < 0)
            return room;
    }
    for (int axis = 0; axis < AXES; axis++) {
        const int splits = run_groups(n->h, can, &n->box, axis) - lines.line[axis];
        room.slack -= splits;
        room.spare -= splits;
    }
    return room;
}

/* Masks of the flood by runs; false: a gap cannot be filled that must be. */
static inline bool runs_mask(sight *s, const tree *t, const node *n, const bound_step *step, board can, run_room room)
{
    if (room.slack < AXES)
        s->h_mask &= few_new_lines(n->h, room.slack);
    if (room.spare < AXES) {
        board gap[AXES];
        run_gaps(gap, n->h, can, &n->box);
        if (room.spare == 0 && !gaps_fillable(of_axes(gap, 1), t->schedule, step))
            return false;
        s->p_mask &= ~of_axes(gap, room.spare + 1);
    }
    return true;
}

/* The most that completions of a node inside the window can score, or less than the target when it cannot be reached.
 * n->h_sites, the parent's, become its own. */
static inline int node_limit(const tree *t, node *n, const bound_step *step)
{
    const int cut = t->target - 1;
    const bool conflicts = AXES == 2 && !n->ring_shared;
    const board can = n->ring_shared ? ~n->occupied : n->h_sites & ~n->occupied;
    sight s;
    board_layers(n->h, s.touch);
    s.free = ~n->occupied;
    s.live = s.free & board_two_neighbours(s.free);
    s.h_mask = can;
    s.p_mask = ~board_none();
    s.thrifty = false;
#ifdef BOUND_CUBIC
    uint8_t most[SF_LENGTH_MAX];
    s.most = most;
#endif
    if (conflicts && conflict_excludes(&s, can, t->chain, t->schedule, step, n->occupied, n->h, n->score, t->target))
        return cut;
    const run_room room = runs_room(t, n, can);
    if (room.spare < 0 || !runs_mask(&s, t, n, step, can, room))
        return cut;
    if (s.thrifty) {
        for (int k = 0; k < 3; k++)
            s.h_by_bonds[k] = thrifty_h(&s, k, 0);
        s.p_thrifty = thrifty_p(&s);
    }
    const bool masked = s.thrifty || room.slack < AXES || room.spare < AXES;
    flood f;
    if (!flood_init(&f, &s, t->chain, t->schedule, step, n->left, n->right, masked) ||
        (masked && !n->ring_shared && flood_lacks_sites(&f)))
        return cut;
    n->h_sites = can & f.h_sites;
    const int limit = parity_bound(step, n->score, flood_gain(&f, step, 0), flood_gain(&f, step, 1));
#ifdef BOUND_CUBIC
    if (limit > cut && !n->ring_shared) {
        walk w = {.s = &s, .chain = t->chain, .schedule = t->schedule, .step = step, .box = &n->box};
        w.left = n->left;
        w.right = n->right;
        if (walk_excludes(&w, &f, room.slack, t->target - n->score))
            return cut;
        n->h_sites &= w.h_sites | w.outside;
    }
#endif
    return limit;
}

/* The same outside the window. What the torus wraps around can only hide lines. */
static int far_limit(const tree *t, const node *n, const bound_step *step)
{
    const runs lines = runs_init(t, n);
    if (runs_spare(&lines, t->n_h) < 0)
        return t->target - 1;
    return parity_bound_far(t->chain, step, t->path, &n->occupied, n->score);
}

/* ---- children ---- */

/* Contacts with placed H of an H on p, less the bond with the residue before it. Where the ring is shared, a neighbour
 * of p may be wrapped around. */
static inline int contacts_at(const tree *t, const node *n, const bound_step *step, bound_place p, bool bonded)
{
    int contacts = -(int)bonded;
    if (n->in_window && !n->ring_shared) {
        for (int d = 0; d < STEPS; d++)
            contacts += board_has(&n->h, place_step(p, board_step[d]));
        return contacts;
    }
    for (int d = 0; d < STEPS; d++) {
        const bound_place beside = place_step(p, board_step[d]);
        const int i = board_has(&n->h, beside) ? place_find(t->path, step->left, step->right, beside) : -1;
        contacts += i >= 0 && t->chain->is_h[i];
    }
    return contacts;
}

static inline bool place_taken(const tree *t, const node *n, const bound_step *step, bound_place p)
{
    if (!board_has(&n->occupied, p))
        return false; /* true outside the window too: the board holds all that was placed, wrapped around */
    return n->in_window || place_find(t->path, step->left, step->right, p) >= 0;
}

/* Places the next residue by lattice step d; false when the site is taken, or out of reach of all H to come. */
static inline bool child_place(node *child, const tree *t, const node *parent, const bound_step *step, int d)
{
    const bound_place p = place_step(step->to_right ? parent->right : parent->left, board_step[d]);
    if (place_taken(t, parent, step, p))
        return false;
    const bool is_h = t->chain->is_h[step->residue];
    if (is_h && parent->in_window && !parent->ring_shared && !board_has(&parent->h_sites, p))
        return false;
    *child = *parent;
    if (is_h) {
        const bool bonded = t->chain->is_h[step->to_right ? step->residue - 1 : step->residue + 1];
        child->score += contacts_at(t, parent, step, p, bonded);
    }
    const board site = board_site(p);
    child->occupied |= site;
    if (is_h)
        child->h |= site;
    const int extent = box_grow(&child->box, p);
    child->in_window = extent < BOARD_SPAN;
    child->ring_shared = extent == BOARD_SPAN - 1;
    if (step->to_right)
        child->right = p;
    else
        child->left = p;
    child->n_open += d >= 2 * parent->n_open;
    child->step = d;
    return true;
}

/* Order of search: the highest score first, then the highest limit. But a node that has the score wanted and must not
 * get more does best where the least can be gained: outwards. */
static inline bool goes_before(const node *a, const node *b, int ceiling)
{
    if (a->score != b->score)
        return a->score > b->score;
    return a->score == ceiling ? a->limit < b->limit : a->limit > b->limit;
}

/* The children with no bound against them, to list[STEPS], in order of search; returns how many. */
static int node_children(tree *t, const node *parent, int n_placed, node *list)
{
    const bound_schedule *schedule = t->schedule;
    const bound_step *step = &schedule->step[n_placed], *next = &schedule->step[n_placed + 1];
    const int choices = parent->n_open < AXES ? 2 * parent->n_open + 1 : STEPS;
    int n = 0;
    for (int d = 0; d < choices; d++) {
        node *child = &list[n];
        if (!child_place(child, t, parent, step, d) || child->score > t->search->ceiling)
            continue;
        if (n_placed + 1 == schedule->n_residues) {
            child->limit = child->score;
        } else if (child->in_window) {
            child->limit = node_limit(t, child, next);
        } else {
            t->path[step->residue] = step->to_right ? child->right : child->left;
            child->limit = far_limit(t, child, next);
        }
        if (child->limit < t->target)
            continue;
        int at = n;
        while (at > 0 && goes_before(child, &list[at - 1], t->search->ceiling))
            at--;
        if (at < n) {
            const node moved = *child;
            for (int i = n; i > at; i--)
                list[i] = list[i - 1];
            list[at] = moved;
        }
        n++;
    }
    return n;
}

/* ---- search ---- */

static void leaf(tree *t, int score)
{
    bound_search *search = t->search;
    search->found++;
    search->best = score;
    for (int i = t->schedule->first; i <= t->schedule->last; i++)
        search->fold[i] = t->path[i];
    if (search->goal == BOUND_FIND)
        t->done = true;
    if (search->goal == BOUND_MAXIMISE) {
        t->target = score + 1;
        t->done = score >= search->ceiling;
    }
}

/* Asked to stop, or beaten by a task before this one. */
static bool given_up(tree *t)
{
    bound_search *search = t->search;
    t->poll_at = search->nodes + POLL_NODES;
    if (search->stop && *search->stop)
        search->outcome = BOUND_STOPPED;
    else if (search->first_success && *search->first_success < search->number)
        search->outcome = BOUND_BEATEN;
    return search->outcome != BOUND_DONE;
}

/* ---- completions counted as they are laid ---- */

/* True when the residues to come stay on the board, wherever they go, and no symmetry is open. */
static bool rest_fits(const tree *t, const node *n, const bound_step *step)
{
    const int n_left = step->left - t->schedule->first, n_right = t->schedule->last - step->right;
    const int8_t left[3] = {n->left.x, n->left.y, n->left.z}, right[3] = {n->right.x, n->right.y, n->right.z};
    if (n->n_open < AXES || !n->in_window)
        return false;
    for (int axis = 0; axis < AXES; axis++) {
        const int low = least(n->box.low[axis], least(left[axis] - n_left, right[axis] - n_right));
        const int minus_high = least(-n->box.high[axis], least(-left[axis] - n_left, -right[axis] - n_right));
        if (-minus_high - low + 1 >= BOARD_SPAN)
            return false;
    }
    return true;
}

/* True when the node has the score that is counted and the rest of the chain stays on the board: then the bounds have
 * nothing more to say, and completions are counted as they are laid. */
static bool rest_is_plain(const tree *t, const node *n, int n_placed)
{
    enum { REST_MAX = AXES == 2 ? 14 : 10 };
    return t->search->goal == BOUND_COUNT && n->score == t->search->ceiling &&
           t->schedule->n_residues - n_placed <= REST_MAX && rest_fits(t, n, &t->schedule->step[n_placed]);
}

static uint64_t count_rest(tree *t, const node *n, const bound_step *step)
{
    const rest r = {n->occupied, n->h};
    const rest_tail tails[2] = {{board_site(n->left), step->left - 1, -1, step->left - t->schedule->first},
                                {board_site(n->right), step->right + 1, 1, t->schedule->last - step->right}};
    const int distance = abs(n->left.x - n->right.x) + abs(n->left.y - n->right.y) + abs(n->left.z - n->right.z);
    return rest_count(t->chain->is_h, &r, tails, distance, &t->n_rest);
}

#ifdef BOUND_CUBIC
/* True when little enough is left to count it with no look at bounds. */
static bool rest_is_short(const tree *t, const node *n, int n_placed)
{
    enum { SHORT_MAX = 4 };
    return t->search->goal == BOUND_COUNT && t->target == t->search->ceiling &&
           t->schedule->n_residues - n_placed <= SHORT_MAX && rest_fits(t, n, &t->schedule->step[n_placed]);
}

static uint64_t count_short(tree *t, const node *n, int n_placed)
{
    const placed p = {n->occupied, n->h, {board_site(n->left), board_site(n->right)}};
    return short_count(t->chain, t->schedule, &p, n_placed, t->target - n->score, &t->n_rest);
}
#endif

/* What was counted so takes nodes too, as the time it took. */
static void rest_counted(tree *t, uint64_t found, uint64_t share)
{
    bound_search *search = t->search;
    search->found += found;
    t->share += share;
    search->nodes += t->n_rest / REST_STEPS;
    t->n_rest %= REST_STEPS;
    if (search->nodes > search->node_limit) {
        search->nodes = search->node_limit;
        search->outcome = BOUND_LIMIT;
        t->done = true;
    }
}

/* The tree is large when the nodes to come, if what is left is like what was done, are worth a comparison of schedules.
 */
static bool seems_large(tree *t)
{
    const uint64_t done = t->share >> 30, left = (WHOLE >> 30) - done, nodes = t->search->nodes;
    if (done == 0 || left / done > WORTH_WAITING || nodes * left / done > WORTH_WAITING)
        return true;
    t->look_at = nodes + 2 * (nodes * left / done) + 100;
    return false;
}

static void descend(tree *t, const node *parent, int n_placed, uint64_t share)
{
    if (n_placed == t->schedule->n_residues) {
        leaf(t, parent->score);
        t->share += share;
        return;
    }
    bound_search *search = t->search;
    if (rest_is_plain(t, parent, n_placed)) {
        rest_counted(t, count_rest(t, parent, &t->schedule->step[n_placed]), share);
        return;
    }
#ifdef BOUND_CUBIC
    if (rest_is_short(t, parent, n_placed)) {
        rest_counted(t, count_short(t, parent, n_placed), share);
        return;
    }
#endif
    const bound_step *step = &t->schedule->step[n_placed];
    node list[STEPS];
    const int n = node_children(t, parent, n_placed, list);
    const uint64_t child_share = n ? share / (unsigned)n : 0;
    for (int i = 0; i < n && !t->done; i++) {
        if (list[i].limit < t->target)
            continue; /* the target rose meanwhile */
        if (search->nodes >= search->node_limit) {
            search->outcome = BOUND_LIMIT;
            t->done = true;
            return;
        }
        if (search->nodes >= t->look_at && seems_large(t)) {
            search->outcome = BOUND_LARGE;
            t->done = true;
            return;
        }
        if (++search->nodes >= t->poll_at && given_up(t)) {
            t->done = true;
            return;
        }
        t->path[step->residue] = step->to_right ? list[i].right : list[i].left;
        descend(t, &list[i], n_placed + 1, child_share);
    }
    if (n == 0)
        t->share += share;
}

/* Places what the task says, without looking at bounds. */
static void task_place(tree *t, const bound_task *task, node *last)
{
    root_init(last, t);
    for (int n = 2; n < task->n_placed; n++) {
        const bound_step *step = &t->schedule->step[n];
        const node parent = *last;
        (void)child_place(last, t, &parent, step, task->step[n]);
        t->path[step->residue] = step->to_right ? last->right : last->left;
    }
}

static void tree_run(bound_search *search, const bound_task *task)
{
    tree t;
    node start;
    tree_init(&t, search);
    task_place(&t, task, &start);
    descend(&t, &start, task->n_placed, WHOLE);
}

static int tree_expand(bound_search *search, const bound_task *task, bound_task *children)
{
    tree t;
    node start, list[STEPS];
    tree_init(&t, search);
    task_place(&t, task, &start);
    const int n = node_children(&t, &start, task->n_placed, list);
    for (int i = 0; i < n; i++) {
        children[i] = *task;
        children[i].step[children[i].n_placed++] = (uint8_t)list[i].step;
    }
    return n;
}

static uint64_t saturating_product(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* One path to the ground: 1 + n(1) + n(1) n(2) + ... with n(i) children at depth i. */
static uint64_t probe_path(tree *t, sf_stream *random, uint64_t *n_visited)
{
    uint64_t width = 1, sum = 0;
    node at, list[STEPS];
    root_init(&at, t);
    for (int n_placed = 2; n_placed < t->schedule->n_residues; n_placed++) {
        const bound_step *step = &t->schedule->step[n_placed];
        const int n = node_children(t, &at, n_placed, list);
        ++*n_visited;
        if (n == 0)
            break;
        width = saturating_product(width, (uint64_t)n);
        if (__builtin_add_overflow(sum, width, &sum))
            return UINT64_MAX;
        at = list[sf_stream_below(random, (uint64_t)n)];
        t->path[step->residue] = step->to_right ? at.right : at.left;
    }
    return sum;
}

static uint64_t tree_probe(bound_search *search, int first, int n_probes, uint64_t *n_visited)
{
    tree t;
    uint64_t sum = 0;
    tree_init(&t, search);
    for (int i = first; i < first + n_probes; i++) {
        sf_stream random;
        sf_stream_init(&random, 0, 0, 0, (uint64_t)i, (uint64_t)search->schedule->seed, SF_PURPOSE_PROBE);
        if (__builtin_add_overflow(sum, probe_path(&t, &random, n_visited), &sum))
            return UINT64_MAX;
    }
    return sum;
}

#endif

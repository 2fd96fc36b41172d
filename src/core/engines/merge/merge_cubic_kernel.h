/* The kernel of tail merging on the cubic lattice, compiled once for each instruction set: the including file defines
 * CUBIC_COUNT, the name of the function. Everything else is static. What is merged and why is told in
 * merge_square_kernel.h; here is the prefix, backwards from the head, in _batch.h the tails of many prefixes at a time,
 * in _tail.h their keys, in _five.h the last five steps.
 *
 * The last residues of a prefix, its far end, often touch nothing that the tail sees. So they are collected: as long as
 * the key stays, only the contacts of the prefixes are counted, and the tails are looked up once for all of them.
 *
 * Symmetry: a prefix that fills space stands for all its 48 images. One in a plane has the tails on both sides twice,
 * but for those in the plane: half of all tails and of the flat ones, which are walked plainly. The straight prefix is
 * walked plainly by the rule of walk.h. */
#ifndef SF_CORE_MERGE_CUBIC_KERNEL_H
#define SF_CORE_MERGE_CUBIC_KERNEL_H

#include "core/engines/merge/merge_cubic_batch.h"

enum { COLLECT_FROM = 2, GRID_HEAD = CUBIC_GRID_SITES / 2 + CUBIC_GRID * CUBIC_GRID / 2 + CUBIC_GRID / 2 };

/* How much of space a walk has opened: the steps it may take are those of its line and one side of the next axis. */
typedef enum span { LINE = 1, PLANE, SPACE } span;

static const int grid_step[6] = {1, CUBIC_GRID, CUBIC_GRID *CUBIC_GRID, -1, -CUBIC_GRID, -CUBIC_GRID *CUBIC_GRID};
static const int choice_of[4][6] = {{0}, {0, 1}, {0, 1, 3, 4, 2}, {0, 1, 2, 3, 4, 5}};
static const int n_choices[4] = {0, 2, 5, 6};

/* Prefixes that see the same. */
typedef struct collector {
    board board;
    tail_key key;
    sight sees;
    int contacts; /* of times[0] */
    uint32_t times[COLLECTED];
    bool used;
} collector;

typedef struct grid_site {
    uint8_t occupied, h; /* H beside it */
} grid_site;

typedef struct prefix_walk {
    kernel kernel;
    grid_site grid[CUBIC_GRID_SITES];
    size_t first, last, next; /* pieces */
    const volatile int *stop;
    bool stopped;
    uint64_t space[CUBIC_CONTACTS + N_COUNTS], plane_all[CUBIC_CONTACTS + N_COUNTS]; /* by span of the prefix */
    uint64_t plane_flat[CUBIC_CONTACTS + N_COUNTS], line[CUBIC_CONTACTS + N_COUNTS];
    tail_batch batch; /* last: all before it is set to 0 for every run of pieces */
} prefix_walk;

/* ---- leaves ---- */

static void queue_flush(prefix_walk *walk)
{
    tail_batch_count(&walk->kernel, &walk->batch);
    if (walk->stop && *walk->stop)
        walk->stopped = true;
}

/* The next place in the queue, its entry on its way once the key is in. */
static queued *queue_next(prefix_walk *walk)
{
    if (walk->batch.n_queued == QUEUE)
        queue_flush(walk);
    return &walk->batch.queue[walk->batch.n_queued++];
}

static void queue_fetch(const prefix_walk *walk, queued *q)
{
    const int tail = walk->kernel.job->tail;
    walk->kernel.workspace->stats.leaves++;
    q->entry = tail == 5 ? tail_slot(&walk->kernel, 5, &q->key) : tail_slot(&walk->kernel, 6, &q->key);
    tail_prefetch(tail, q->entry);
}

CUBIC_INLINE void key_at_tail(const kernel *k, const board *b, tail_key *key, sight *sees)
{
    if (k->job->tail == 5)
        tail_key_make(k, 5, b, key, sees);
    else
        tail_key_make(k, 6, b, key, sees);
}

static void leaf(prefix_walk *walk, const board *b, uint64_t *contacts)
{
    sight sees;
    queued *q = queue_next(walk);
    q->board = *b;
    q->contacts = contacts;
    q->n = 1;
    q->times[0] = 1;
    key_at_tail(&walk->kernel, b, &q->key, &sees);
    queue_fetch(walk, q);
}

/* ---- places ---- */

CUBIC_INLINE void place(prefix_walk *walk, int site, bool h)
{
    walk->grid[site].occupied = 1;
    for (int d = 0; d < 6 && h; d++)
        walk->grid[site + grid_step[d]].h++;
}

CUBIC_INLINE void take_back(prefix_walk *walk, int site, bool h)
{
    walk->grid[site].occupied = 0;
    for (int d = 0; d < 6 && h; d++)
        walk->grid[site + grid_step[d]].h--;
}

/* What residue k gains on a site beside residue `bonded`. */
CUBIC_INLINE int gain_at(const prefix_walk *walk, int site, int k, int bonded)
{
    const uint8_t *h = walk->kernel.job->h;
    return h[k] ? walk->grid[site].h - h[bonded] : 0;
}

CUBIC_INLINE void board_place(const prefix_walk *walk, const board *from, int site, bool h, board *to)
{
    const cubic_geometry *geometry = walk->kernel.job->geometry;
    const int mask = geometry->mask[site];
    *to = *from;
    to->occupied |= load_plane(geometry->cell[mask]);
    if (h)
        board_count_h(to, load_plane(geometry->beside[mask]));
}

/* ---- flat and straight ---- */

/* Walks the tail of the straight prefix plainly from residue k. */
static void straight_tail(prefix_walk *walk, int k, int from, int contacts, span reach)
{
    for (int i = 0; i < n_choices[reach]; i++) {
        int d = choice_of[reach][i];
        if (reach == LINE && d == 0)
            d = 3; /* the prefix lies along +x; straight on is -x */
        const int site = from + grid_step[d];
        if (walk->grid[site].occupied)
            continue;
        const int gain = gain_at(walk, site, k, k - 1);
        if (k == walk->kernel.job->length - 1) {
            walk->line[contacts + gain]++;
            continue;
        }
        const bool opens = (reach == LINE && d == 1) || (reach == PLANE && d == 2);
        place(walk, site, walk->kernel.job->h[k]);
        straight_tail(walk, k + 1, site, contacts + gain, opens ? reach + 1 : reach);
        take_back(walk, site, walk->kernel.job->h[k]);
    }
}

enum { FLAT_STEPS = 4 };
static const int flat_step[FLAT_STEPS] = {1, CUBIC_GRID, -1, -CUBIC_GRID};

/* Flat tails of the last two residues, a byte for each number of contacts, at most 2 + 3. The last but one is not
 * placed, only looked around: the last would not count it. */
CUBIC_INLINE uint64_t flat_last_two(const prefix_walk *walk, int from)
{
    const int last = walk->kernel.job->length - 1;
    const bool h = walk->kernel.job->h[last];
    uint64_t sum = 0;
    for (int i = 0; i < FLAT_STEPS; i++) {
        const int site = from + flat_step[i];
        uint64_t tails = 0;
        if (walk->grid[site].occupied)
            continue;
        for (int j = 0; j < FLAT_STEPS; j++) {
            const grid_site next = walk->grid[site + flat_step[j]];
            tails += (uint64_t)!next.occupied << (h && !next.occupied ? 8 * next.h : 0);
        }
        sum += tails << 8 * gain_at(walk, site, last - 1, last - 2);
    }
    return sum;
}

/* Walks the tail from residue k, at least three of it, in the plane. */
static void flat_tail(prefix_walk *walk, int k, int from, int contacts)
{
    const cubic_job *job = walk->kernel.job;
    uint64_t sum = 0;
    for (int i = 0; i < FLAT_STEPS; i++) {
        const int site = from + flat_step[i];
        if (walk->grid[site].occupied)
            continue;
        const int gain = gain_at(walk, site, k, k - 1);
        walk->grid[site].occupied = 1;
        for (int j = 0; j < FLAT_STEPS && job->h[k]; j++)
            walk->grid[site + flat_step[j]].h++;
        if (k == job->length - 3)
            sum += flat_last_two(walk, site) << 8 * gain; /* at most 2 + 2 + 3 contacts */
        else
            flat_tail(walk, k + 1, site, contacts + gain);
        for (int j = 0; j < FLAT_STEPS && job->h[k]; j++)
            walk->grid[site + flat_step[j]].h--;
        walk->grid[site].occupied = 0;
    }
    for (int i = 0; i < 8 && k == job->length - 3; i++)
        walk->plane_flat[contacts + i] += sum >> 8 * i & 0xff;
}

/* ---- the prefix, backwards ---- */

static void collector_begin(const prefix_walk *walk, collector *c, int contacts)
{
    key_at_tail(&walk->kernel, &c->board, &c->key, &c->sees);
    memset(c->times, 0, sizeof c->times);
    c->contacts = contacts;
    c->used = false;
}

static void collector_end(prefix_walk *walk, const collector *c)
{
    if (!c->used)
        return;
    queued *q = queue_next(walk);
    q->board = c->board;
    q->key = c->key;
    q->contacts = walk->space + c->contacts;
    q->n = COLLECTED;
    memcpy(q->times, c->times, sizeof q->times);
    while (q->times[q->n - 1] == 0)
        q->n--;
    queue_fetch(walk, q);
}

/* Places residue j, one of the last, and those before it, in space. */
static void collect_from(prefix_walk *walk, int j, int from, int contacts, collector *c)
{
    const cubic_geometry *geometry = walk->kernel.job->geometry;
    const bool h = walk->kernel.job->h[j];
    for (int d = 0; d < 6; d++) {
        const int site = from + grid_step[d];
        if (walk->grid[site].occupied)
            continue;
        const int with = contacts + gain_at(walk, site, j, j + 1), mask = geometry->mask[site];
        plane touched = load_plane(geometry->cell[mask]) & c->sees.reached;
        if (h)
            touched |= load_plane(geometry->beside[mask]) & c->sees.relevant;
        const bool seen = mask != 0 && any(touched);
        if (j == 0 && !seen) {
            c->times[with - c->contacts]++;
            c->used = true;
            continue;
        }
        collector changed;
        if (seen) {
            board_place(walk, &c->board, site, h, &changed.board);
            if (j == 0) {
                leaf(walk, &changed.board, walk->space + with);
                continue;
            }
            collector_begin(walk, &changed, with);
        }
        place(walk, site, h);
        collect_from(walk, j - 1, site, with, seen ? &changed : c);
        take_back(walk, site, h);
        if (seen)
            collector_end(walk, &changed);
    }
}

static void prefix_end(prefix_walk *walk, int contacts, span reach, const board *b)
{
    const cubic_job *job = walk->kernel.job;
    if (reach == LINE)
        straight_tail(walk, job->length - job->tail, GRID_HEAD, contacts, LINE);
    else if (reach == PLANE) {
        flat_tail(walk, job->length - job->tail, GRID_HEAD, contacts);
        leaf(walk, b, walk->plane_all + contacts);
    } else
        leaf(walk, b, walk->space + contacts);
}

/* Places residue j and those before it in every way, residue j + 1 being on `from`. */
static void prefix_from(prefix_walk *walk, int j, int from, int contacts, span reach, const board *b)
{
    const cubic_job *job = walk->kernel.job;
    const int steps = job->length - job->tail - 2 - j; /* taken so far */
    if (steps == job->piece_steps) {
        const size_t piece = walk->next++;
        if (piece < walk->first || piece >= walk->last)
            return;
    }
    if (walk->stopped)
        return;
    if (j < 0) {
        prefix_end(walk, contacts, reach, b);
        return;
    }
    if (j <= COLLECT_FROM && reach == SPACE && steps >= job->piece_steps) {
        collector c = {.board = *b};
        collector_begin(walk, &c, contacts);
        collect_from(walk, j, from, contacts, &c);
        collector_end(walk, &c);
        return;
    }
    for (int i = 0; i < n_choices[reach]; i++) {
        const int d = choice_of[reach][i], site = from + grid_step[d];
        if (walk->grid[site].occupied)
            continue;
        const int gain = gain_at(walk, site, j, j + 1);
        const bool opens = (reach == LINE && d == 1) || (reach == PLANE && d == 2);
        board next;
        board_place(walk, b, site, job->h[j], &next);
        place(walk, site, job->h[j]);
        prefix_from(walk, j - 1, site, contacts + gain, opens ? reach + 1 : reach, &next);
        take_back(walk, site, job->h[j]);
    }
}

/* Planar prefixes count half of all their tails and half of the flat ones. */
static void add_up(const prefix_walk *walk, uint64_t *contacts)
{
    for (int i = 0; i < CUBIC_CONTACTS; i++)
        contacts[i] += walk->space[i] + (walk->plane_all[i] + walk->plane_flat[i]) / 2 + walk->line[i];
}

int CUBIC_COUNT(const cubic_job *job, merge_workspace *workspace, size_t first, size_t last, const volatile int *stop,
                uint64_t *contacts, sf_error *err)
{
    prefix_walk *walk = sf_merge_workspace_scratch(workspace, sizeof *walk);
    if (!walk)
        return sf_fail(err, SF_ENOMEM, "no memory for a walk on the cubic lattice");
    memset(walk, 0, offsetof(prefix_walk, batch));
    walk->batch.n_queued = 0;
    for (int i = 0; i < WORDS; i++)
        walk->batch.lanes[i].n = 0;
    walk->kernel = (kernel){.job = job, .workspace = workspace};
    walk->first = first;
    walk->last = last;
    walk->stop = stop;

    const int head = job->length - job->tail - 1, site = GRID_HEAD + 1;
    const board empty = {.occupied = {0}};
    board b;
    place(walk, GRID_HEAD, job->h[head]); /* on the grid, not on the board */
    board_place(walk, &empty, site, job->h[head - 1], &b);
    place(walk, site, job->h[head - 1]);
    prefix_from(walk, head - 2, site, 0, LINE, &b);
    queue_flush(walk);
    const bool stopped = walk->stopped;
    if (!stopped)
        add_up(walk, contacts);
    return stopped ? sf_fail(err, SF_ESTOPPED, "stopped while counting walks") : SF_OK;
}

#endif

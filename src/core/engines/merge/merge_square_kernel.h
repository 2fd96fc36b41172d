/* The kernel of tail merging on the square lattice, compiled once for each instruction set: the including file defines
 * SQUARE_COUNT, the name of the function, and is compiled for its instruction set. Everything else is static. Vectors
 * are those of the compiler (merge_square_vec.h). Its parts: the prefix (here), long tails (_wide.h), short tails
 * (_narrow.h), and the last five steps (_direct.h).
 *
 * The completions of a prefix depend only on what the head can still see. So the prefix is enumerated *backwards*, from
 * the head to residue 0: the surroundings of the head then change slowest, and a small table of tails, looked up by
 * those surroundings, answers most questions. The obvious way, depth first to the last residue, visits every
 * conformation; this visits one in some ten thousand at N = 28.
 *
 * Surroundings. For every site the board knows whether it is occupied and how many placed H (the head aside) it
 * touches: two bits, `ones` and `twos`. A tail of r residues sees of this
 *   - the free sites it can reach in r steps, less the dead ones: a site whose parity is that of r - 1 cannot be the
 *     last, so it needs two free neighbours, one to come from and one to go on to;
 *   - the numbers of H at those of them that an H of the tail can take, that is, which are first reached no later than
 * the last H of their parity. The key keeps the sites next to reached ones that are blocked (occupied or dead), and the
 * relevant numbers. From the blocked sites alone the free ones that matter can be grown again from the head, so equal
 * keys have equal tails. A site has 1, 2 or 3 H beside it; 3, which is rare, is written down apart (`code`), and boards
 * with more than two such sites are not kept. Keys are compared in full. */
#ifndef SF_CORE_MERGE_SQUARE_KERNEL_H
#define SF_CORE_MERGE_SQUARE_KERNEL_H

#include "core/engines/merge/merge_square_wide.h"

enum { GRID = 2 * SQUARE_LENGTH_MAX + 2, GRID_HEAD = SQUARE_LENGTH_MAX * (GRID + 1) + GRID + 1, QUEUE = 8 };

typedef struct queued {
    wide_board board;
    wide_key key;
    uint8_t *slot;
    uint64_t *contacts;
} queued;

typedef struct prefix_walk {
    kernel kernel;
    _Alignas(64) uint16_t occupied[3][16]; /* rows of the boards around the head, the head itself left out; */
    uint16_t hydrophobic[3][16];           /* [2] is what lies outside */
    queued queue[QUEUE];                   /* leaves whose table entries are on their way */
    int n_queued;
    size_t first, last, next; /* pieces */
    const volatile int *stop;
    bool stopped;
    uint64_t turned[SQUARE_CONTACTS + LONG], straight[SQUARE_CONTACTS + LONG]; /* contacts by kind of prefix */
    uint8_t grid_occupied[GRID * GRID], grid_h[GRID * GRID];                   /* occupied; H beside it */
    uint16_t bit[GRID * GRID];                                                 /* where a site lies on the boards: */
    uint8_t row[GRID * GRID];                                                  /* 16 * parity + a + 8 */
} prefix_walk;

static const int grid_step[4] = {1, GRID, -1, -GRID};

SQUARE_INLINE void leaf_key(const kernel *k, queued *leaf)
{
    const square_job *job = k->job;
    const square_level *level = &job->level[job->tail];
#define LEAF(r)                                                                                                        \
    case r:                                                                                                            \
        wide_key_make(r, level, &leaf->board, &leaf->key);                                                             \
        leaf->slot = wide_slot(k, r, &leaf->key);                                                                      \
        break;
    switch (job->tail) {
        LEAF(8) LEAF(9) LEAF(10) LEAF(11) LEAF(12) LEAF(13) default : LEAF(14)
    }
#undef LEAF
}

static void leaf_add(const kernel *k, const queued *leaf)
{
    uint32_t sum[LONG + 2] = {0};
    if (k->job->tail <= SQUARE_MEDIUM)
        switch (k->job->tail) {
        case 8:
            wide_add(k, 8, &leaf->board, &leaf->key, leaf->slot, 0, sum);
            break;
        case 9:
            wide_add(k, 9, &leaf->board, &leaf->key, leaf->slot, 0, sum);
            break;
        default:
            wide_add(k, 10, &leaf->board, &leaf->key, leaf->slot, 0, sum);
        }
    else
        wide_add(k, k->job->tail, &leaf->board, &leaf->key, leaf->slot, 0, sum);
    for (int i = 0; i < LONG; i++)
        leaf->contacts[i] += sum[i];
}

static void queue_flush(prefix_walk *walk)
{
    for (int i = 0; i < walk->n_queued; i++)
        leaf_add(&walk->kernel, &walk->queue[i]);
    walk->n_queued = 0;
    if (walk->stop && *walk->stop)
        walk->stopped = true;
}

/* H beside each site of one sublattice: the sum of four sites of the other. */
SQUARE_INLINE void count_beside(rows a, rows b, rows c, rows d, rows *ones, rows *twos)
{
    rows ab = a ^ b, cd = c ^ d;
    *ones = ab ^ cd;
    *twos = (a & b) ^ (c & d) ^ (ab & cd);
}

static void leaf(prefix_walk *walk, uint64_t *contacts)
{
    queued *q = &walk->queue[walk->n_queued++];
    wide_board *board = &q->board;
    rows h_even, h_odd;
    memcpy(board->occupied, walk->occupied, sizeof board->occupied);
    memcpy(&h_even, walk->hydrophobic[EVEN], sizeof h_even);
    memcpy(&h_odd, walk->hydrophobic[ODD], sizeof h_odd);
    rows x = h_odd << 1;
    count_beside(h_odd, x, raise(h_odd), raise(x), &board->ones[EVEN], &board->twos[EVEN]);
    x = h_even >> 1;
    count_beside(h_even, x, lower(h_even), lower(x), &board->ones[ODD], &board->twos[ODD]);
    q->contacts = contacts;
    walk->kernel.workspace->stats.leaves++;
    leaf_key(&walk->kernel, q);
    for (size_t line = 0; line < square_entry_bytes(walk->kernel.job->tail); line += 64)
        __builtin_prefetch(q->slot + line);
    if (walk->n_queued == QUEUE)
        queue_flush(walk);
}

static void place(prefix_walk *walk, int site, bool h, int by)
{
    walk->grid_occupied[site] ^= 1;
    walk->occupied[walk->row[site] / 16][walk->row[site] % 16] ^= walk->bit[site];
    if (!h)
        return;
    walk->hydrophobic[walk->row[site] / 16][walk->row[site] % 16] ^= walk->bit[site];
    for (int d = 0; d < 4; d++)
        walk->grid_h[site + grid_step[d]] = (uint8_t)(walk->grid_h[site + grid_step[d]] + by);
}

/* Places residue j and those before it in every way, residue j + 1 being on `from`. The first residues went along a
 * straight line; a walk may leave it to one side only. */
static void prefix_from(prefix_walk *walk, int j, int from, int contacts, bool turned)
{
    const square_job *job = walk->kernel.job;
    const int steps = job->length - job->tail - 2 - j; /* taken so far */
    if (steps == job->piece_steps) {
        size_t piece = walk->next++;
        if (piece < walk->first || piece >= walk->last)
            return;
    }
    if (walk->stopped)
        return;
    if (j < 0) {
        leaf(walk, (turned ? walk->turned : walk->straight) + contacts);
        return;
    }
    const bool h = job->h[j];
    for (int d = 0; d < 4; d++) {
        if (!turned && d != 2 && d != 1)
            continue;
        int site = from + grid_step[d];
        if (walk->grid_occupied[site])
            continue;
        int gain = h ? walk->grid_h[site] - job->h[j + 1] : 0;
        place(walk, site, h, 1);
        prefix_from(walk, j - 1, site, contacts + gain, turned || d != 2);
        place(walk, site, h, -1);
    }
}

static void prefix_walk_init(prefix_walk *walk)
{
    memset(walk->occupied, 0, sizeof walk->occupied);
    memset(walk->hydrophobic, 0, sizeof walk->hydrophobic);
    memset(walk->turned, 0, sizeof walk->turned);
    memset(walk->straight, 0, sizeof walk->straight);
    memset(walk->grid_occupied, 0, sizeof walk->grid_occupied);
    memset(walk->grid_h, 0, sizeof walk->grid_h);
    for (int site = 0; site < GRID * GRID; site++) {
        int x = site % GRID - GRID_HEAD % GRID, y = site / GRID - GRID_HEAD / GRID;
        int parity = (x + y) & 1, a = (x + y - parity) / 2 + 8, b = (x - y - parity) / 2 + 8;
        bool inside = a >= 0 && a < 16 && b >= 0 && b < 16;
        walk->row[site] = inside ? (uint8_t)(16 * parity + a) : 32;
        walk->bit[site] = inside ? (uint16_t)(1u << b) : 0;
    }
}

/* The straight prefix sees every tail and its mirror image, but for the straight tail, which has no contact. */
static void add_up(const prefix_walk *walk, uint64_t *contacts)
{
    bool straight = false;
    for (int i = 0; i < SQUARE_CONTACTS; i++)
        straight = straight || walk->straight[i] != 0;
    for (int i = 0; i < SQUARE_CONTACTS; i++)
        contacts[i] += walk->turned[i] + (walk->straight[i] + (i == 0 && straight)) / 2;
}

int SQUARE_COUNT(const square_job *job, merge_workspace *workspace, size_t first, size_t last, const volatile int *stop,
                 uint64_t *contacts, sf_error *err)
{
    prefix_walk *walk = sf_merge_workspace_scratch(workspace, sizeof *walk);
    if (!walk)
        return sf_fail(err, SF_ENOMEM, "no memory for a walk on the square lattice");
    walk->kernel = (kernel){.job = job, .workspace = workspace};
    walk->n_queued = 0;
    walk->first = first;
    walk->last = last;
    walk->next = 0;
    walk->stop = stop;
    walk->stopped = false;
    prefix_walk_init(walk);

    const int head = job->length - job->tail - 1, site = GRID_HEAD - 1;
    walk->grid_occupied[GRID_HEAD] = 1;
    if (job->h[head]) {
        for (int d = 0; d < 4; d++)
            walk->grid_h[GRID_HEAD + grid_step[d]]++;
    }
    place(walk, site, job->h[head - 1], 1);
    prefix_from(walk, head - 2, site, 0, false);
    queue_flush(walk);
    if (walk->stopped)
        return sf_fail(err, SF_ESTOPPED, "stopped while counting walks");
    add_up(walk, contacts);
    return SF_OK;
}

#endif

/* Tail merging for any score model: the prefix, backwards from its head, and the tails.
 *
 * Symmetry, for any number of axes: a prefix that opens all axes stands for all its images. One that leaves a single
 * axis unopened has its tails twice, but for those that stay in its own space: half of all and of these. What opens
 * less is walked plainly by the rule of walk.h: on the cubic lattice, the straight prefix alone. */
#include <stdlib.h>
#include <string.h>

#include "core/engines/merge/merge_any.h"

enum { SIDE = 2 * ANY_LENGTH_MAX + 4, SITES = SIDE * SIDE * SIDE, SEEN_MAX = 400, FREE = SF_LETTERS_MAX };

typedef struct any_walk {
    const any_job *job;
    merge_workspace *workspace;
    int n_steps, dimension;
    int move[SF_STEPS_MAX];
    bool wide_gains;                                /* a gain needs two bytes */
    int weight[SF_LETTERS_MAX][SF_LETTERS_MAX + 1]; /* [letter][what is on a site]; 0 with FREE */
    size_t first, last, next;                       /* pieces */
    const volatile int *stop;
    bool stopped;
    uint32_t stamp;
    uint64_t whole[SF_SCORES_MAX], halved[SF_SCORES_MAX]; /* by score; halved: twice what counts */
    uint8_t grid[SITES];
    uint32_t seen[SITES]; /* stamp of the search that saw the site */
} any_walk;

typedef struct any_key {
    int n;
    uint64_t hash;
    uint8_t text[ANY_KEY_BYTES];
} any_key;

typedef struct any_entry {
    uint16_t epoch, n;
    uint32_t unused;
    uint8_t text[ANY_KEY_BYTES];
    uint32_t count[];
} any_entry;

/* What a letter gains on a site from all its neighbours. */
static int gain_of(const any_walk *w, int letter, int site)
{
    int sum = 0;
    for (int d = 0; d < w->n_steps; d++)
        sum += w->weight[letter][w->grid[site + w->move[d]]];
    return sum;
}

/* What residue k gains on a site beside residue `bonded`, which is no contact. */
static int gain_at(const any_walk *w, int k, int bonded, int site)
{
    const uint8_t *e = w->job->elements;
    return gain_of(w, e[k], site) - w->weight[e[k]][e[bonded]];
}

/* ---- keys ---- */

static void key_add(any_key *key, uint8_t byte)
{
    if (key->n < ANY_KEY_BYTES)
        key->text[key->n] = byte;
    key->n++;
}

static void key_add_gains(const any_walk *w, any_key *key, const any_letters *letters, int site)
{
    for (int i = 0; i < letters->n; i++) {
        const int gain = gain_of(w, letters->letter[i], site);
        key_add(key, (uint8_t)gain);
        if (w->wide_gains)
            key_add(key, (uint8_t)(gain >> 8));
    }
}

static void key_finish(any_key *key)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    const int n = key->n < ANY_KEY_BYTES ? key->n : ANY_KEY_BYTES;
    for (int i = n; i < n + 7 && i < ANY_KEY_BYTES; i++)
        key->text[i] = 0; /* whole words below */
    for (int i = 0; i < n; i += 8) {
        uint64_t word;
        memcpy(&word, key->text + i, sizeof word);
        hash = (hash ^ word) * 0xd6e8feb86659fd93u;
        hash ^= hash >> 32;
    }
    key->hash = hash;
}

/* Writes down what a tail of r residues sees from the site `head`. */
static void key_make(any_walk *w, int r, int head, any_key *key)
{
    int queue[SEEN_MAX], n = 1, begin = 0;
    const any_level *level = &w->job->level[r];
    key->n = 0;
    w->seen[head] = ++w->stamp;
    queue[0] = head;
    for (int distance = 1; distance <= r; distance++) {
        const int end = n;
        for (; begin < end; begin++) {
            uint8_t open = 0;
            for (int d = 0; d < w->n_steps; d++) {
                const int site = queue[begin] + w->move[d];
                if (w->grid[site] != FREE)
                    continue;
                open |= (uint8_t)(1u << d);
                if (w->seen[site] == w->stamp)
                    continue;
                w->seen[site] = w->stamp;
                queue[n++] = site;
            }
            key_add(key, open);
        }
        for (int i = end; i < n; i++)
            key_add_gains(w, key, &level->at[distance], queue[i]);
    }
    key_finish(key);
}

/* ---- tails ---- */

/* Walks a tail from residue k on n_steps directions; count[0] is score 0 of what remains. */
static void tail_plainly(any_walk *w, int k, int head, int n_steps, int score, uint32_t *count)
{
    for (int d = 0; d < n_steps; d++) {
        const int site = head + w->move[d];
        if (w->grid[site] != FREE)
            continue;
        const int with = score + gain_at(w, k, k - 1, site);
        if (k == w->job->length - 1) {
            count[with]++;
            continue;
        }
        w->grid[site] = w->job->elements[k];
        tail_plainly(w, k + 1, site, n_steps, with, count);
        w->grid[site] = FREE;
    }
}

static void tail_add(any_walk *w, int r, int head, uint32_t *sum);

/* Counts of the tails of r residues: count[width], from the level's lowest score. */
static void tail_count(any_walk *w, int r, int head, uint32_t *count)
{
    const any_level *level = &w->job->level[r], *below = &w->job->level[r - 1];
    const int k = w->job->length - r;
    const int least = level->low - below->low, greatest = least + level->width - below->width;
    memset(count, 0, (size_t)level->width * sizeof *count);
    if (r <= ANY_DIRECT) {
        tail_plainly(w, k, head, w->n_steps, -level->low, count);
        return;
    }
    for (int d = 0; d < w->n_steps; d++) {
        const int site = head + w->move[d];
        if (w->grid[site] != FREE)
            continue;
        const int gain = gain_at(w, k, k - 1, site);
        if (gain < least || gain > greatest) /* more neighbours than a residue has that goes on */
            continue;
        w->grid[site] = w->job->elements[k];
        tail_add(w, r - 1, site, count + gain + below->low - level->low);
        w->grid[site] = FREE;
    }
}

/* Adds the tails of r residues to sum, whose first entry is the level's lowest score. */
static void tail_add(any_walk *w, int r, int head, uint32_t *sum)
{
    const any_level *level = &w->job->level[r];
    uint32_t count[SF_SCORES_MAX];
    if (r <= ANY_DIRECT) {
        tail_plainly(w, w->job->length - r, head, w->n_steps, -level->low, sum);
        return;
    }
    any_key key;
    key_make(w, r, head, &key);
    const merge_table *table = &w->workspace->table[r];
    any_entry *entry = (any_entry *)(void *)(table->entries + (key.hash & table->mask) * table->entry_bytes);
    w->workspace->stats.look_ups[r]++;
    if (entry->epoch == w->workspace->epoch && entry->n == key.n && memcmp(entry->text, key.text, (size_t)key.n) == 0) {
        for (int i = 0; i < level->width; i++)
            sum[i] += entry->count[i];
        return;
    }
    w->workspace->stats.misses[r]++;
    tail_count(w, r, head, count);
    for (int i = 0; i < level->width; i++)
        sum[i] += count[i];
    if (key.n > ANY_KEY_BYTES)
        return;
    entry->epoch = w->workspace->epoch;
    entry->n = (uint16_t)key.n;
    memcpy(entry->text, key.text, (size_t)key.n);
    memcpy(entry->count, count, (size_t)level->width * sizeof *count);
}

/* Walks a tail plainly by the rule of walk.h, backwards along the first axis as straight on. */
static void reduced_tail(any_walk *w, int k, int head, int n_open, int score)
{
    const int choices = n_open < w->dimension ? 2 * n_open + 1 : w->n_steps;
    for (int d = 0; d < choices; d++) {
        const int site = head + w->move[d];
        if (w->grid[site] != FREE)
            continue;
        const int with = score + gain_at(w, k, k - 1, site);
        if (k == w->job->length - 1) {
            w->whole[with]++;
            continue;
        }
        w->grid[site] = w->job->elements[k];
        reduced_tail(w, k + 1, site, n_open + (d >= 2 * n_open), with);
        w->grid[site] = FREE;
    }
}

/* ---- the prefix, backwards ---- */

static int origin_site(const any_walk *w)
{
    const int middle = SIDE / 2;
    return (w->dimension == 3 ? middle * SIDE * SIDE : SIDE * SIDE) + middle * SIDE + middle;
}

static void prefix_end(any_walk *w, int n_open, int score)
{
    const any_level *level = &w->job->level[w->job->tail];
    const int head = origin_site(w), k = w->job->length - w->job->tail;
    uint32_t count[SF_SCORES_MAX] = {0};
    uint64_t *to = n_open == w->dimension ? w->whole : w->halved;
    if (n_open < w->dimension - 1) {
        reduced_tail(w, k, head, n_open, score);
        return;
    }
    tail_add(w, w->job->tail, head, count);
    if (n_open < w->dimension)
        tail_plainly(w, k, head, 2 * n_open, -level->low, count);
    for (int i = 0; i < level->width; i++) {
        if (count[i] > 0)
            to[score + level->low + i] += count[i];
    }
}

/* Places residue j and those before it in every way, residue j + 1 being on `from`. */
static void prefix_from(any_walk *w, int j, int from, int n_open, int score)
{
    const int steps = w->job->length - w->job->tail - 2 - j; /* taken so far */
    const int choices = n_open < w->dimension ? 2 * n_open + 1 : w->n_steps;
    if (steps == w->job->piece_steps) {
        const size_t piece = w->next++;
        if (piece < w->first || piece >= w->last)
            return;
    }
    if (w->stopped)
        return;
    if (j < 0) {
        w->workspace->stats.leaves++;
        w->stopped = w->stop && *w->stop;
        prefix_end(w, n_open, score);
        return;
    }
    for (int d = 0; d < choices; d++) {
        const int site = from + w->move[d];
        if (w->grid[site] != FREE)
            continue;
        const int with = score + gain_at(w, j, j + 1, site);
        w->grid[site] = w->job->elements[j];
        prefix_from(w, j - 1, site, n_open + (d >= 2 * n_open), with);
        w->grid[site] = FREE;
    }
}

static void walk_init(any_walk *w, const any_job *job)
{
    const sf_lattice *lattice = job->problem->lattice;
    const sf_score_model *model = job->problem->model;
    memset(w, 0, sizeof *w);
    memset(w->grid, FREE, sizeof w->grid);
    w->job = job;
    w->n_steps = lattice->n_steps;
    w->dimension = lattice->dimension;
    for (int d = 0; d < lattice->n_steps; d++)
        w->move[d] = lattice->step[d][0] + SIDE * lattice->step[d][1] + SIDE * SIDE * lattice->step[d][2];
    for (int a = 0; a < model->n_letters; a++) {
        for (int b = 0; b < model->n_letters; b++) {
            w->weight[a][b] = model->weight[a][b];
            w->wide_gains = w->wide_gains || abs(model->weight[a][b]) * lattice->n_steps > INT8_MAX;
        }
    }
}

int sf_any_count(const any_job *job, merge_workspace *workspace, size_t first, size_t last, const volatile int *stop,
                 uint64_t *histogram, sf_error *err)
{
    any_walk *w = sf_merge_workspace_scratch(workspace, sizeof *w);
    if (!w)
        return sf_fail(err, SF_ENOMEM, "no memory for a walk of engine walk");
    walk_init(w, job);
    w->workspace = workspace;
    w->first = first;
    w->last = last;
    w->stop = stop;
    const int head = job->length - job->tail - 1, origin = origin_site(w), site = origin + w->move[0];
    w->grid[origin] = job->elements[head];
    w->grid[site] = job->elements[head - 1];
    prefix_from(w, head - 2, site, 1, -job->problem->min_score);
    if (w->stopped)
        return sf_fail(err, SF_ESTOPPED, "stopped while counting walks");
    for (int i = 0; i < job->problem->n_scores; i++) {
        const uint64_t counted = w->whole[i] + w->halved[i] / 2;
        if (__builtin_add_overflow(histogram[i], counted, &histogram[i]))
            return sf_fail(err, SF_EOVERFLOW, "more conformations than 64 bits can count");
    }
    return SF_OK;
}

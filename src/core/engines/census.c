/* The collapsing census: decide the residues of one class one after the other, P or H, and carry along, for each node of the
 * trie, the distinct codes of the maps below it. With every decision codes meet and become one, so the further down, the
 * less there is to carry; with all decided, the dense half answers all sequences that share the decisions at once.
 *
 * The obvious way, one scan of the table for each of the 2^N sequences, is census_plain.c: a hundred times slower at 16
 * residues. Threads take the branches of the first decisions as tasks, parts of the work are sets of such branches. */
#include "core/engines/census.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/engines/census_trie.h"

struct sf_census_plan {
    sf_census_trie trie;
    const sf_census_kernel *kernel;
};

/* What the nodes of a level carry: the entries of node i are entry[start[i]] .. entry[start[i + 1] - 1]. */
typedef struct entries {
    uint32_t *entry;
    uint32_t *start;
    size_t n;
    size_t room;
} entries;

/* What a thread works with. */
typedef struct worker {
    sf_census_dense dense;
    entries level[SF_CENSUS_LEVELS][2]; /* what is below the present entries, once the residue is P and H */
    uint8_t *met[2];                    /* met[h][codes]: 0 but while a node is folded */
    sf_census census;
    int status;
} worker;

typedef struct job {
    const sf_census_plan *plan;
    const sf_census_each *each;
    const volatile int *stop;
    worker *workers;
    int task_depth;  /* levels above this are tasks */
    int unit_depth;  /* the first decisions that make a unit of work */
    uint8_t *wanted; /* wanted[2^level + decisions]: is some unit below wanted? levels 0..unit_depth */
} job;

/* A set of entries that the tasks of both its branches read; the last one frees it. */
typedef struct shared {
    entries e;
    int level;
    uint32_t decisions;
    atomic_int readers;
} shared;

/* ---- folding ---- */

/* `times` is 1 for a code of one conformation, 3 for one of several. */
static inline uint8_t once_more(uint8_t seen, uint32_t times)
{
    return (uint8_t)((uint32_t)seen << 1 | times);
}

static inline uint32_t times_of(uint32_t entry)
{
    return entry >> 31 << 1 | 1;
}

/* Counts a code once more; a code that is new goes to the end of out[]. Both are bytes of a few bits: 1 once, more twice. */
static inline size_t meet(uint8_t *restrict met, uint32_t *restrict out, size_t n, uint32_t code, uint32_t times)
{
    uint8_t seen = met[code];
    out[n] = code;
    met[code] = once_more(seen, times);
    return n + (seen == 0);
}

/* Turns the n codes of out[] into entries of a node whose row, in its place, is `row`; met[] is as before. */
static inline void settle(uint8_t *restrict met, uint32_t *restrict out, size_t n, uint32_t row)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t code = out[i], seen = met[code];
        met[code] = 0;
        out[i] = code | row | (uint32_t)(seen > 1) << 31;
    }
}

/* Folds n entries, those of one node's children, once the residue of the children's level is P (row_code NULL) or H, to
 * out[]; codes that meet become one. `row` is the node's own row, in its place. Returns how many there are. (restrict
 * matters: bytes may alias everything.) */
static inline __attribute__((always_inline)) size_t fold_node(const uint32_t *restrict entry, size_t n,
                                                              const uint32_t *restrict row_code, int code_bits, uint32_t row,
                                                              uint8_t *restrict met, uint32_t *restrict out)
{
    const uint32_t mask = (UINT32_C(1) << code_bits) - 1;
    size_t n_out = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t e = entry[i], code = e & mask;
        if (row_code)
            code += row_code[(e & ~SF_CENSUS_TWICE) >> code_bits];
        n_out = meet(met, out, n_out, code, times_of(e));
    }
    settle(met, out, n_out, row);
    return n_out;
}

/* The same on level 0, where every node is one map. The rows of one residue differ, and so do their codes: when it is H
 * nothing meets, when it is P everything does. */
static inline size_t fold_maps(const uint16_t *map_row, size_t n, const uint32_t *row_code, uint32_t row, uint32_t *out)
{
    if (!row_code) {
        out[0] = row | (n > 1 || (map_row[0] & SF_CENSUS_MAP_TWICE) ? SF_CENSUS_TWICE : 0);
        return 1;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = row_code[map_row[i] & ~SF_CENSUS_MAP_TWICE] | row | (uint32_t)(map_row[i] >> 15) << 31;
    return n;
}

static int make_room(entries *e, size_t n, size_t n_nodes)
{
    if (n > e->room) {
        free(e->entry);
        e->room = n + n / 4;
        e->entry = sf_array_alloc(e->room, sizeof *e->entry);
    }
    if (!e->start)
        e->start = sf_array_alloc(n_nodes + 1, sizeof *e->start);
    if (e->entry && e->start)
        return 0;
    e->room = e->entry ? e->room : 0;
    return SF_ENOMEM;
}

static void free_entries(entries *e)
{
    free(e->entry);
    free(e->start);
}

static size_t fold_level(const sf_census_trie *t, int l, const uint32_t *row_code, const entries *from, entries *to,
                         uint8_t *met)
{
    const uint32_t *child = t->child[l];
    size_t n = 0;
    for (size_t i = 0; i < t->n_nodes[l + 1]; i++) {
        uint32_t row = (uint32_t)t->row[l + 1][i] << t->code_bits, first = child[i], last = child[i + 1];
        to->start[i] = (uint32_t)n;
        if (l == 0) {
            n += fold_maps(t->row[0] + first, last - first, row_code, row, to->entry + n);
            continue;
        }
        const uint32_t *entry = from->entry + from->start[first];
        size_t n_from = from->start[last] - from->start[first];
        if (row_code)
            n += fold_node(entry, n_from, row_code, t->code_bits, row, met, to->entry + n);
        else
            n += fold_node(entry, n_from, NULL, t->code_bits, row, met, to->entry + n);
    }
    return n;
}

/* Entries of level l + 1 from those of level l (of the maps, when l is 0), once the residue of level l is P (h = 0) or H.
 * Not for the last level. */
static int fold(const sf_census_trie *t, int l, uint32_t h, const entries *from, entries *to, uint8_t *met)
{
    if (make_room(to, l == 0 ? t->n_nodes[0] : from->n, t->n_nodes[l + 1]) != 0)
        return SF_ENOMEM;
    to->n = fold_level(t, l, h ? t->row_code[l] : NULL, from, to, met);
    to->start[t->n_nodes[l + 1]] = (uint32_t)to->n;
    return 0;
}

/* Both of fold at once, for levels above 0: two chains of look-ups that do not wait for each other. */
static int fold_both(const sf_census_trie *t, int l, const entries *from, entries to[2], uint8_t *const met[2])
{
    size_t n_nodes = t->n_nodes[l + 1], n_p = 0, n_h = 0;
    if (make_room(&to[0], from->n, n_nodes) != 0 || make_room(&to[1], from->n, n_nodes) != 0)
        return SF_ENOMEM;
    const uint32_t mask = (UINT32_C(1) << t->code_bits) - 1, *restrict child = t->child[l];
    const uint32_t *restrict row_code = t->row_code[l], *restrict entry = from->entry, *restrict start = from->start;
    uint8_t *restrict met_p = met[0], *restrict met_h = met[1];
    const int code_bits = t->code_bits;
    for (size_t node = 0; node < n_nodes; node++) {
        uint32_t row = (uint32_t)t->row[l + 1][node] << code_bits;
        uint32_t *restrict out_p = to[0].entry + n_p, *restrict out_h = to[1].entry + n_h;
        size_t here_p = 0, here_h = 0;
        for (size_t i = start[child[node]], end = start[child[node + 1]]; i < end; i++) {
            uint32_t e = entry[i], code = e & mask, times = times_of(e);
            here_p = meet(met_p, out_p, here_p, code, times);
            here_h = meet(met_h, out_h, here_h, code + row_code[(e & ~SF_CENSUS_TWICE) >> code_bits], times);
        }
        settle(met_p, out_p, here_p, row);
        settle(met_h, out_h, here_h, row);
        to[0].start[node] = (uint32_t)n_p;
        to[1].start[node] = (uint32_t)n_h;
        n_p += here_p;
        n_h += here_h;
    }
    to[0].start[n_nodes] = (uint32_t)n_p;
    to[1].start[n_nodes] = (uint32_t)n_h;
    to[0].n = n_p;
    to[1].n = n_h;
    return 0;
}

/* The maps as entries, for chains so short that nothing is folded before the tail. */
static int entries_of_maps(const sf_census_trie *t, entries *to)
{
    size_t n = t->n_nodes[0];
    if (make_room(to, n, n) != 0)
        return SF_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        to->entry[i] = t->row[0][i] & SF_CENSUS_MAP_TWICE ? SF_CENSUS_TWICE : 0;
        to->start[i] = (uint32_t)i;
    }
    to->start[n] = (uint32_t)(to->n = n);
    return 0;
}

/* All decisions of the tail at once, the last one both ways: the entries' codes, with what their node's undecided rows
 * add, are counted in two arrays. Folding would save a part of them and cost more than that. */
static void mark_codes(const sf_census_trie *t, const entries *from, uint32_t choices, uint8_t *restrict mark_p,
                       uint8_t *restrict mark_h)
{
    const uint32_t mask = (UINT32_C(1) << t->code_bits) - 1, *restrict entry = from->entry;
    const uint32_t *restrict add_p = t->tail_code[choices], *restrict add_h = t->tail_code[choices | 1];
    for (size_t node = 0; node < t->n_nodes[t->tail_level]; node++) {
        uint8_t *restrict to_p = mark_p + add_p[node], *restrict to_h = mark_h + add_h[node];
        for (size_t i = from->start[node], end = from->start[node + 1]; i < end; i++) {
            uint32_t code = entry[i] & mask, times = times_of(entry[i]);
            to_p[code] = once_more(to_p[code], times);
            to_h[code] = once_more(to_h[code], times);
        }
    }
}

/* ---- branches ---- */

static bool is_wanted(const job *j, int level, uint32_t decisions)
{
    int below = level - j->unit_depth;
    if (below > 0)
        return j->wanted[(UINT32_C(1) << j->unit_depth) + (decisions >> below)];
    return j->wanted[(UINT32_C(1) << level) + decisions];
}

/* Whether the reverses of these sequences are counted elsewhere, for both. */
static bool is_answered_elsewhere(const sf_census_trie *t, uint32_t decisions)
{
    uint32_t residues = t->spread_decided[decisions];
    return !t->mirror && sf_contact_residues_reverse(t->length, residues) < residues;
}

/* The decisions of the tail, and the answers for the dense residues. */
static void finish(const job *j, worker *w, const entries *from, uint32_t decisions)
{
    const sf_census_trie *t = &j->plan->trie;
    uint32_t n_choices = UINT32_C(1) << (t->n_decided - t->tail_level);
    for (uint32_t choices = 0; choices < n_choices; choices += 2) {
        bool answered[2];
        for (uint32_t h = 0; h < 2; h++) {
            uint32_t longer = decisions * n_choices + choices + h;
            answered[h] = is_wanted(j, t->n_decided, longer) && !is_answered_elsewhere(t, longer);
            memset(w->dense.mark[h], 0, t->size[0]);
        }
        if (answered[0] || answered[1])
            mark_codes(t, from, choices, w->dense.mark[0], w->dense.mark[1]);
        for (uint32_t h = 0; h < 2; h++) {
            if (answered[h])
                j->plan->kernel->answer(t, &w->dense, decisions * n_choices + choices + h, j->each, &w->census);
        }
    }
}

/* Both branches below the entries of level l, and all below them. */
static int descend(const job *j, worker *w, int l, const entries *from, uint32_t decisions)
{
    const sf_census_trie *t = &j->plan->trie;
    if (j->stop && *j->stop)
        return SF_ESTOPPED;
    if (l == t->tail_level) {
        int status = from ? 0 : entries_of_maps(t, &w->level[0][0]);
        if (status == 0)
            finish(j, w, from ? from : &w->level[0][0], decisions);
        return status;
    }
    entries *below = w->level[l + 1];
    bool wanted[2] = {is_wanted(j, l + 1, decisions << 1), is_wanted(j, l + 1, decisions << 1 | 1)};
    bool both = l > 0 && wanted[0] && wanted[1];
    int status = both ? fold_both(t, l, from, below, w->met) : 0;
    for (uint32_t h = 0; h < 2 && status == 0; h++) {
        if (!wanted[h])
            continue;
        if (!both)
            status = fold(t, l, h, from, &below[h], w->met[h]);
        if (status == 0)
            status = descend(j, w, l + 1, &below[h], decisions << 1 | h);
    }
    return status;
}

/* ---- tasks ---- */

static void release(shared *s)
{
    if (s && atomic_fetch_sub(&s->readers, 1) == 1) {
        free_entries(&s->e);
        free(s);
    }
}

static void branch_task(const job *j, shared *parent, uint32_t h);

static void spawn(const job *j, shared *s)
{
    for (uint32_t h = 2; h-- > 0;) { /* H first: it is the larger half */
        if (is_wanted(j, s->level + 1, s->decisions << 1 | h)) {
#pragma omp task firstprivate(j, s, h)
            branch_task(j, s, h);
        } else {
            release(s);
        }
    }
}

static shared *shared_new(int level, uint32_t decisions)
{
    shared *s = calloc(1, sizeof *s);
    if (s) {
        s->level = level;
        s->decisions = decisions;
        atomic_init(&s->readers, 2);
    }
    return s;
}

static void branch_task(const job *j, shared *parent, uint32_t h)
{
    const sf_census_trie *t = &j->plan->trie;
    worker *w = &j->workers[omp_get_thread_num()];
    int status = w->status != 0 ? w->status : j->stop && *j->stop ? SF_ESTOPPED : 0;
    shared *s = status == 0 ? shared_new(parent->level + 1, parent->decisions << 1 | h) : NULL;
    if (status == 0)
        status = s ? fold(t, parent->level, h, &parent->e, &s->e, w->met[h]) : SF_ENOMEM;
    release(parent);
    if (status == 0 && s->level >= j->task_depth)
        status = descend(j, w, s->level, &s->e, s->decisions);
    w->status = status;
    if (status == 0 && s->level < j->task_depth) {
        spawn(j, s);
    } else if (s) {
        free_entries(&s->e);
        free(s);
    }
}

static void count_tasks(const job *j, int n_threads)
{
#pragma omp parallel num_threads(n_threads)
#pragma omp single
    {
        shared *root = shared_new(0, 0);
        if (root)
            spawn(j, root);
        else
            j->workers[omp_get_thread_num()].status = SF_ENOMEM;
    }
}

/* ---- the work ---- */

/* Deals the units to n_parts hands: sorted by how many H they hold, as the cost goes, forth and back. */
static int deal_units(job *j, size_t part, size_t n_parts)
{
    int depth = 0;
    while (n_parts > 1 && depth < j->plan->trie.n_decided && (size_t)1 << depth < 8 * n_parts)
        depth++;
    j->unit_depth = depth;
    uint32_t n_units = UINT32_C(1) << depth;
    j->wanted = calloc(2 * (size_t)n_units, 1);
    if (!j->wanted)
        return SF_ENOMEM;
    size_t dealt = 0;
    for (int n_h = depth; n_h >= 0; n_h--) {
        for (uint32_t unit = 0; unit < n_units; unit++) {
            if (__builtin_popcount(unit) != n_h)
                continue;
            size_t round = dealt / n_parts, hand = dealt % n_parts;
            j->wanted[n_units + unit] = part == (round % 2 ? n_parts - 1 - hand : hand);
            dealt++;
        }
    }
    for (uint32_t i = n_units; i-- > 1;)
        j->wanted[i] = j->wanted[2 * i] | j->wanted[2 * i + 1];
    return 0;
}

static int open_workers(job *j, int n_threads, sf_error *err)
{
    const sf_census_trie *t = &j->plan->trie;
    j->workers = calloc((size_t)n_threads, sizeof *j->workers);
    int status = j->workers ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %d threads", n_threads);
    for (int i = 0; status == 0 && i < n_threads; i++) {
        status = sf_census_dense_init(&j->workers[i].dense, t, err);
        for (int h = 0; h < 2; h++)
            j->workers[i].met[h] = sf_array_zeroed(t->size[0], sizeof *j->workers[i].met[h]);
        if (status == 0 && (!j->workers[i].met[0] || !j->workers[i].met[1]))
            status = sf_fail(err, SF_ENOMEM, "out of memory for the census: %u codes", t->size[0]);
    }
    return status;
}

static void close_workers(job *j, int n_threads)
{
    for (int i = 0; j->workers && i < n_threads; i++) {
        sf_census_dense_free(&j->workers[i].dense);
        for (int l = 0; l < SF_CENSUS_LEVELS; l++) {
            free_entries(&j->workers[i].level[l][0]);
            free_entries(&j->workers[i].level[l][1]);
        }
        free(j->workers[i].met[0]);
        free(j->workers[i].met[1]);
    }
    free(j->workers);
}

int sf_census_count(const sf_census_plan *plan, size_t part, size_t n_parts, int n_threads, const volatile int *stop,
                    const sf_census_each *each, sf_census *census, sf_error *err)
{
    job j = {.plan = plan, .each = each, .stop = stop};
    int status = open_workers(&j, n_threads, err);
    if (status == 0 && deal_units(&j, part, n_parts) != 0)
        status = sf_fail(err, SF_ENOMEM, "out of memory for %zu parts", n_parts);
    while (n_threads > 1 && 1 << j.task_depth < 8 * n_threads && j.task_depth < plan->trie.tail_level)
        j.task_depth++;
    if (status == 0 && j.wanted[1]) {
        if (j.task_depth > 0)
            count_tasks(&j, n_threads);
        else
            j.workers[0].status = descend(&j, &j.workers[0], 0, NULL, 0);
        for (int i = 0; i < n_threads; i++)
            status = j.workers[i].status < status ? j.workers[i].status : status;
        if (status != 0)
            sf_fail(err, status, status == SF_ESTOPPED ? "stopped during the census" : "out of memory during the census");
    }
    for (int i = 0; status == 0 && i < n_threads; i++)
        sf_census_add(census, &j.workers[i].census);
    close_workers(&j, n_threads);
    free(j.wanted);
    return status;
}

static const sf_census_kernel *kernel_of(sf_isa isa)
{
#if defined __x86_64__
    if (isa == SF_ISA_AVX512)
        return &sf_census_kernel_avx512;
    if (isa == SF_ISA_AVX2)
        return &sf_census_kernel_avx2;
#endif
    (void)isa;
    return &sf_census_kernel_portable;
}

int sf_census_open(sf_census_plan **plan, const sf_map_table *maps, sf_error *err)
{
    *plan = NULL;
    if (maps->max_contacts > SF_TABLE_SCORE_MAX)
        return sf_fail(err, SF_ELIMIT, "a census counts scores up to %d, and chains of %d residues reach %d",
                       SF_TABLE_SCORE_MAX, maps->layout.length, maps->max_contacts);
    sf_census_plan *p = calloc(1, sizeof *p);
    if (!p)
        return sf_fail(err, SF_ENOMEM, "out of memory for a census");
    p->kernel = kernel_of(sf_isa_get());
    int status = sf_census_trie_init(&p->trie, maps, err);
    if (status == 0)
        *plan = p;
    else
        free(p);
    return status;
}

void sf_census_close(sf_census_plan *plan)
{
    if (plan)
        sf_census_trie_free(&plan->trie);
    free(plan);
}

uint64_t sf_census_memory(const sf_census_plan *plan)
{
    return sizeof *plan + plan->trie.bytes;
}

uint64_t sf_census_bytes(const sf_lattice *lattice, int length, int n_threads)
{
    /* sorting: two keys of 16 bytes a map, and later less than that for the trie; counting: entries of 4 bytes a map on
     * each level, of which some five are long, a thread */
    uint64_t maps = sf_map_table_expected(lattice, length);
    return maps * 32 + maps * (uint64_t)(n_threads > 0 ? n_threads : 1) * 22;
}

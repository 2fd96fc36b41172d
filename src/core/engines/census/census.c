/* The collapsing census: decide the residues of one class one after the other, P or H, and carry along, for each node of the
 * trie, the distinct codes of the maps below it. With every decision codes meet and become one, so the further down, the
 * less there is to carry; with all decided, the dense half answers all sequences that share the decisions at once.
 *
 * The obvious way, one scan of the table for each of the 2^N sequences, is census_plain.c: a hundred times slower at 16
 * residues. Threads take the branches of the first decisions as tasks, parts of the work are sets of such branches. */
#include "core/engines/census/census.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/engines/census/census_fold.h"
#include "core/engines/census/census_trie.h"

struct sf_census_plan {
    sf_census_trie trie;
    const sf_census_kernel *kernel;
};

/* What a thread works with. */
typedef struct worker {
    sf_census_dense dense; /* for sets */
    sf_census_sums sums;   /* for histograms */
    sf_census_entries level[SF_CENSUS_LEVELS][2]; /* what is below the present entries, once the residue is P and H */
    uint8_t *met[2];                              /* for sets, met[h][codes]: 0 but while a node is folded */
    uint32_t *met_sum;                            /* the same for histograms */
    sf_census census;
    int status;
} worker;

typedef struct job {
    const sf_census_plan *plan;
    const sf_census_each *each;
    sf_shapes *shapes; /* for histograms; rows are taken by atomic addition to n, there is room for all */
    const volatile int *stop;
    worker *workers;
    int task_depth;  /* levels above this are tasks */
    int unit_depth;  /* the first decisions that make a unit of work */
    uint8_t *wanted; /* wanted[2^level + decisions]: is some unit below wanted? levels 0..unit_depth */
} job;

/* A set of entries that the tasks of both its branches read; the last one frees it. */
typedef struct shared {
    sf_census_entries e;
    int level;
    uint32_t decisions;
    atomic_int readers;
} shared;

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

static bool is_answered_here(const job *j, uint32_t decisions)
{
    return is_wanted(j, j->plan->trie.n_decided, decisions) && !is_answered_elsewhere(&j->plan->trie, decisions);
}

/* How many answers these decisions give: what the reversed chain does not. */
static size_t n_answers(const sf_census_trie *t, uint32_t decisions)
{
    return ((size_t)1 << t->n_dense) - (t->mirror ? decisions : 0);
}

/* The decisions of the tail, the last one both ways at once, and the answers for the dense residues. */
static void finish(const job *j, worker *w, const sf_census_entries *from, uint32_t decisions)
{
    const sf_census_trie *t = &j->plan->trie;
    uint32_t n_choices = UINT32_C(1) << (t->n_decided - t->tail_level), first = decisions * n_choices;
    for (uint32_t choices = 0; choices < n_choices; choices += 2) {
        bool answered[2] = {is_answered_here(j, first + choices), is_answered_here(j, first + choices + 1)};
        if (!answered[0] && !answered[1])
            continue;
        for (uint32_t h = 0; h < 2; h++)
            memset(w->dense.mark[h], 0, t->size[0]);
        sf_census_mark(t, from, choices, w->dense.mark[0], w->dense.mark[1]);
        for (uint32_t h = 0; h < 2; h++) {
            if (answered[h])
                j->plan->kernel->answer(t, &w->dense, first + choices + h, j->each, &w->census);
        }
    }
}

/* The same for histograms. */
static void finish_counts(const job *j, worker *w, const sf_census_entries *from, uint32_t decisions)
{
    const sf_census_trie *t = &j->plan->trie;
    uint32_t n_choices = UINT32_C(1) << (t->n_decided - t->tail_level), first = decisions * n_choices;
    for (uint32_t choices = 0; choices < n_choices; choices++) {
        if (!is_answered_here(j, first + choices))
            continue;
        size_t row = __atomic_fetch_add(&j->shapes->n, n_answers(t, first + choices), __ATOMIC_RELAXED);
        memset(w->sums.sum, 0, t->size[0] * sizeof *w->sums.sum);
        sf_census_sum(t, from, choices, w->sums.sum);
        j->plan->kernel->answer_counts(t, &w->sums, first + choices, j->each, &w->census, j->shapes->n_scores,
                                       sf_shapes_row(j->shapes, row));
    }
}

static int fold(const job *j, worker *w, int l, uint32_t h, const sf_census_entries *from, sf_census_entries *to)
{
    const sf_census_trie *t = &j->plan->trie;
    return j->shapes ? sf_census_fold_counts(t, l, h, from, to, w->met_sum) : sf_census_fold(t, l, h, from, to, w->met[h]);
}

/* Both branches below the entries of level l, and all below them. */
static int descend(const job *j, worker *w, int l, const sf_census_entries *from, uint32_t decisions)
{
    const sf_census_trie *t = &j->plan->trie;
    if (j->stop && *j->stop)
        return SF_ESTOPPED;
    if (l == t->tail_level) {
        int status = from ? 0 : sf_census_entries_of_maps(t, &w->level[0][0]);
        if (status == 0)
            (j->shapes ? finish_counts : finish)(j, w, from ? from : &w->level[0][0], decisions);
        return status;
    }
    sf_census_entries *below = w->level[l + 1];
    bool wanted[2] = {is_wanted(j, l + 1, decisions << 1), is_wanted(j, l + 1, decisions << 1 | 1)};
    bool both = !j->shapes && l > 0 && wanted[0] && wanted[1];
    int status = both ? sf_census_fold_both(t, l, from, below, w->met) : 0;
    for (uint32_t h = 0; h < 2 && status == 0; h++) {
        if (!wanted[h])
            continue;
        if (!both)
            status = fold(j, w, l, h, from, &below[h]);
        if (status == 0)
            status = descend(j, w, l + 1, &below[h], decisions << 1 | h);
    }
    return status;
}

/* ---- tasks ---- */

static void release(shared *s)
{
    if (s && atomic_fetch_sub(&s->readers, 1) == 1) {
        sf_census_entries_free(&s->e);
        free(s);
    }
}

static void branch_task(const job *j, shared *parent, uint32_t h);

/* Nothing else stands here: ThreadSanitizer is told to pass over this function (tests/suppressions/tsan.supp). */
static void start_task(const job *j, shared *s, uint32_t h)
{
#pragma omp task firstprivate(j, s, h)
    branch_task(j, s, h);
}

static void spawn(const job *j, shared *s)
{
    for (uint32_t h = 2; h-- > 0;) { /* H first: it is the larger half */
        if (is_wanted(j, s->level + 1, s->decisions << 1 | h)) {
            start_task(j, s, h);
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
    worker *w = &j->workers[omp_get_thread_num()];
    int status = w->status != 0 ? w->status : j->stop && *j->stop ? SF_ESTOPPED : 0;
    shared *s = status == 0 ? shared_new(parent->level + 1, parent->decisions << 1 | h) : NULL;
    if (status == 0)
        status = s ? fold(j, w, parent->level, h, &parent->e, &s->e) : SF_ENOMEM;
    release(parent);
    if (status == 0 && s->level >= j->task_depth)
        status = descend(j, w, s->level, &s->e, s->decisions);
    w->status = status;
    if (status == 0 && s->level < j->task_depth) {
        spawn(j, s);
    } else if (s) {
        sf_census_entries_free(&s->e);
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

static int open_worker(const job *j, worker *w, sf_error *err)
{
    const sf_census_trie *t = &j->plan->trie;
    if (j->shapes) {
        w->met_sum = sf_array_zeroed(t->size[0], sizeof *w->met_sum);
        if (w->met_sum)
            return sf_census_sums_init(&w->sums, t, err);
    } else {
        for (int h = 0; h < 2; h++)
            w->met[h] = sf_array_zeroed(t->size[0], sizeof *w->met[h]);
        if (w->met[0] && w->met[1])
            return sf_census_dense_init(&w->dense, t, err);
    }
    return sf_fail(err, SF_ENOMEM, "out of memory for the census: %u codes", t->size[0]);
}

static int open_workers(job *j, int n_threads, sf_error *err)
{
    j->workers = calloc((size_t)n_threads, sizeof *j->workers);
    int status = j->workers ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %d threads", n_threads);
    for (int i = 0; status == 0 && i < n_threads; i++)
        status = open_worker(j, &j->workers[i], err);
    return status;
}

static void close_workers(job *j, int n_threads)
{
    for (int i = 0; j->workers && i < n_threads; i++) {
        worker *w = &j->workers[i];
        sf_census_dense_free(&w->dense);
        sf_census_sums_free(&w->sums);
        for (int l = 0; l < SF_CENSUS_LEVELS; l++) {
            sf_census_entries_free(&w->level[l][0]);
            sf_census_entries_free(&w->level[l][1]);
        }
        free(w->met[0]);
        free(w->met[1]);
        free(w->met_sum);
    }
    free(j->workers);
}

static int make_room_for_rows(const job *j, sf_error *err)
{
    const sf_census_trie *t = &j->plan->trie;
    size_t n = 0;
    for (uint32_t decisions = 0; decisions < UINT32_C(1) << t->n_decided; decisions++)
        n += is_answered_here(j, decisions) ? n_answers(t, decisions) : 0;
    return sf_shapes_reserve(j->shapes, n, err);
}

static int run(job *j, int n_threads, sf_error *err)
{
    int status = 0;
    while (n_threads > 1 && 1 << j->task_depth < 8 * n_threads && j->task_depth < j->plan->trie.tail_level)
        j->task_depth++;
    if (j->task_depth > 0)
        count_tasks(j, n_threads);
    else
        j->workers[0].status = descend(j, &j->workers[0], 0, NULL, 0);
    for (int i = 0; i < n_threads; i++)
        status = j->workers[i].status < status ? j->workers[i].status : status;
    if (status != 0)
        sf_fail(err, status, status == SF_ESTOPPED ? "stopped during the census" : "out of memory during the census");
    return status;
}

int sf_census_count_shapes(const sf_census_plan *plan, size_t part, size_t n_parts, int n_threads, const volatile int *stop,
                           const sf_census_each *each, sf_census *census, sf_shapes *shapes, sf_error *err)
{
    job j = {.plan = plan, .each = each, .shapes = shapes, .stop = stop};
    int status = open_workers(&j, n_threads, err);
    if (status == 0 && deal_units(&j, part, n_parts) != 0)
        status = sf_fail(err, SF_ENOMEM, "out of memory for %zu parts", n_parts);
    if (status == 0 && shapes)
        status = make_room_for_rows(&j, err);
    if (status == 0 && j.wanted[1])
        status = run(&j, n_threads, err);
    for (int i = 0; status == 0 && i < n_threads; i++)
        sf_census_add(census, &j.workers[i].census);
    close_workers(&j, n_threads);
    free(j.wanted);
    return status;
}

int sf_census_count(const sf_census_plan *plan, size_t part, size_t n_parts, int n_threads, const volatile int *stop,
                    const sf_census_each *each, sf_census *census, sf_error *err)
{
    return sf_census_count_shapes(plan, part, n_parts, n_threads, stop, each, census, NULL, err);
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

int sf_census_open(sf_census_plan **plan, const sf_map_table *maps, sf_census_kind kind, int n_threads,
                   const sf_census_team *team, sf_error *err)
{
    *plan = NULL;
    if (maps->max_contacts > SF_TABLE_SCORE_MAX)
        return sf_fail(err, SF_ELIMIT, "a census counts scores up to %d, and chains of %d residues reach %d",
                       SF_TABLE_SCORE_MAX, maps->layout.length, maps->max_contacts);
    sf_census_plan *p = calloc(1, sizeof *p);
    if (!p)
        return sf_fail(err, SF_ENOMEM, "out of memory for a census");
    p->kernel = kernel_of(sf_isa_get());
    int status = sf_census_trie_init(&p->trie, maps, kind, n_threads, team, err);
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

uint64_t sf_census_open_bytes(const sf_lattice *lattice, int length, sf_census_kind kind)
{
    /* a key of 16 bytes a map, and nodes of 8; counts of 4 bytes with both; what one piece is sorted in */
    uint64_t maps = sf_map_table_expected(lattice, length);
    return maps * (kind == SF_CENSUS_HISTOGRAMS ? 32 : 24) + maps / 2 + sf_map_table_slack_bytes(maps, 1);
}

uint64_t sf_census_count_bytes(const sf_lattice *lattice, int length, sf_census_kind kind, int n_threads)
{
    /* measured: the trie takes 5 to 8 bytes a map; the entries of all levels 35, and 50 where a map has two words, however
     * many threads share the work; for histograms counts of 4 bytes beside all of these, for each thread */
    uint64_t maps = sf_map_table_expected(lattice, length), threads = (uint64_t)(n_threads > 0 ? n_threads : 1);
    uint64_t map_bytes = maps ? sf_map_table_bytes(lattice, length) / maps : 0;
    uint64_t sets = maps * (map_bytes > 12 ? 58 : 40) + sf_map_table_slack_bytes(maps, 1) + (threads << 20);
    /* on the cubic lattice 37 bytes a map more at 15 residues, 12 at 16 and 17 */
    const uint64_t more = lattice->dimension == 3 ? 22 : 0;
    return kind == SF_CENSUS_HISTOGRAMS ? sets + maps * (4 + 18 * threads + more) : sets;
}

uint64_t sf_census_shapes_bytes(int length, int n_scores)
{
    /* odd length: decisions that are their own reverse are answered for each sequence */
    int n_decided = length / 2, own = length % 2 ? (length - n_decided) + (n_decided + 1) / 2 : n_decided;
    uint64_t rows = (UINT64_C(1) << (length - 1)) + (UINT64_C(1) << (own - 1));
    return rows * (uint64_t)(n_scores + 2) * sizeof(uint64_t);
}

/* Counts a census with another model. For every way to decide the residues of one class, the codes of all maps; these meet
 * in cells, which fold as the dense residues are decided too. Threads take decisions from each other. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/engines/census/census_model_plan.h"

typedef struct job {
    const sf_census_model *m;
    const sf_census_each *each;
    sf_shapes *shapes;
    const volatile int *stop;
    sf_model_worker *workers;
} job;

/* One way to decide, being answered. */
typedef struct answer {
    const job *j;
    sf_model_worker *w;
    uint32_t decisions, least; /* dense choices below `least` are answered by the reversed chain */
    int first_vector;          /* lanes before this vector are all below */
    uint64_t *row;             /* of the shapes, where the next sequence's goes; or NULL */
} answer;

/* ---- room ---- */

/* Room for `room` cells; the masks of the first n_used are kept. */
static int grow_level(const sf_census_model *m, sf_model_worker *w, sf_model_level *level, size_t n_used, size_t room)
{
    if (room <= level->room)
        return 0;
    level->room = 0;
    free(level->digit);
    free(level->first);
    free(level->count); /* holds nothing while it grows */
    level->count = m->counts ? sf_array_alloc(room * w->width, sizeof *level->count) : NULL;
    level->digit = sf_array_alloc(room, sizeof *level->digit);
    level->first = sf_array_alloc(room + 1, sizeof *level->first);
    if (!level->digit || !level->first || (m->counts && !level->count))
        return SF_ENOMEM;
    if (!m->counts) {
        const size_t cell = (size_t)2 * SF_MODEL_LANES;
        uint64_t *mask = sf_array_grow(level->mask, n_used * cell, room * cell, sizeof *mask);
        if (!mask)
            return SF_ENOMEM;
        level->mask = mask;
    }
    level->room = room;
    return 0;
}

/* Room for n more cells of the first level; with counts, for their numbers. */
static int grow_cells(const sf_census_model *m, sf_model_worker *w, size_t n)
{
    sf_model_level *level = &w->level[m->n_head];
    size_t least = level->n + n < m->size[2] ? level->n + n : m->size[2], room = least + level->n / 2;
    if (least <= w->order_room)
        return 0;
    free(w->rest);
    free(w->order);
    w->rest = sf_array_alloc(room, sizeof *w->rest);
    w->order = sf_array_alloc(room, sizeof *w->order);
    w->order_room = w->rest && w->order ? room : 0;
    if (w->order_room == 0)
        return SF_ENOMEM;
    return m->counts ? 0 : grow_level(m, w, level, level->n, room);
}

static int open_worker(const sf_census_model *m, sf_model_worker *w)
{
    w->outer_code = sf_array_alloc(m->n_outer, sizeof *w->outer_code);
    w->inner_code = sf_array_alloc(m->n_inner, sizeof *w->inner_code);
    w->cell_of = sf_array_zeroed(m->size[2], sizeof *w->cell_of);
    w->packed = m->counts ? sf_array_alloc(m->n_maps, sizeof *w->packed) : NULL;
    w->width = ((size_t)m->n_values + SF_MODEL_ROW_UNIT - 1) / SF_MODEL_ROW_UNIT * SF_MODEL_ROW_UNIT;
    w->outer_decided = w->inner_decided = UINT64_MAX;
    return w->outer_code && w->inner_code && w->cell_of && (w->packed || !m->counts) ? 0 : SF_ENOMEM;
}

static void close_worker(sf_model_worker *w)
{
    for (int l = 0; l <= SF_CENSUS_LEVELS; l++) {
        free(w->level[l].mask);
        free(w->level[l].count);
        free(w->level[l].digit);
        free(w->level[l].first);
    }
    free(w->outer_code);
    free(w->inner_code);
    free(w->cell_of);
    free(w->rest);
    free(w->order);
    free(w->packed);
}

/* ---- answers ---- */

static void tell(answer *a, uint32_t choices, int fitness, int bottom, int best, bool unique)
{
    const sf_census_trie *t = &a->j->m->classes;
    const sf_census_each *each = a->j->each;
    const int unit = a->j->m->unit;
    const uint32_t decided = t->spread_decided[a->decisions], sequence = decided | t->spread_dense[choices];
    const uint32_t reverse = sf_contact_residues_reverse(t->length, sequence), all = (UINT32_C(1) << t->length) - 1;
    /* the reverse is counted by itself, or is the same */
    const bool alone = t->mirror ? choices == a->decisions : sf_contact_residues_reverse(t->length, decided) == decided;
    const uint64_t weight = alone ? 1 : 2;
    sf_census *census = &a->w->census;
    census->sequences += weight;
    census->fitness[fitness] += weight;
    census->best[best * unit] += weight;
    census->sequences_with_gaps += fitness < (best - bottom) * unit + 1 ? weight : 0;
    census->unique_best += unique ? weight : 0;
    if (each && each->fitness)
        each->fitness[sequence] = each->fitness[reverse] = (uint8_t)fitness;
    if (each && each->best)
        each->best[sequence] = each->best[reverse] = (uint8_t)(best * unit);
    if (a->row) {
        a->row[a->j->shapes->n_scores] = weight;
        a->row[a->j->shapes->n_scores + 1] = (sequence > reverse ? sequence : reverse) ^ all;
    }
}

static void tell_masks(answer *a, uint32_t low)
{
    const sf_census_model *m = a->j->m;
    const uint64_t *any = a->w->level[m->classes.n_dense].mask, *two = any + SF_MODEL_LANES;
    const int n_low = m->classes.n_dense - m->n_head;
    for (uint32_t lane = a->least >> n_low; lane < UINT32_C(1) << m->n_head; lane++) {
        const uint32_t choices = lane << n_low | low;
        const int best = 63 - __builtin_clzll(any[lane]);
        if (choices >= a->least)
            tell(a, choices, __builtin_popcountll(any[lane]), __builtin_ctzll(any[lane]), best, !(two[lane] >> best & 1));
    }
}

static void tell_counts(answer *a, uint32_t choices)
{
    const sf_census_model *m = a->j->m;
    const uint32_t *count = a->w->level[m->classes.n_dense].count;
    int fitness = 0, bottom = 0, best = 0;
    for (int v = m->n_values - 1; v >= 0; v--) {
        best = count[v] && fitness == 0 ? v : best;
        bottom = count[v] ? v : bottom;
        fitness += count[v] > 0;
    }
    if (a->row) {
        memset(a->row, 0, (size_t)m->n_scores * sizeof *a->row);
        for (int v = 0; v < m->n_values; v++)
            a->row[v * m->unit] = count[v];
    }
    tell(a, choices, fitness, bottom, best, count[best] == 1);
    if (a->row)
        a->row += sf_shapes_width(a->j->shapes);
}

/* The dense residues from the l-th on, P or H; `choices` so far, with masks of the residues after the lanes' alone. */
static void decide(answer *a, int l, uint32_t choices)
{
    const sf_census_model *m = a->j->m;
    sf_model_worker *w = a->w;
    if (l == m->classes.n_dense) {
        if (m->counts)
            tell_counts(a, choices);
        else
            tell_masks(a, choices);
        return;
    }
    const uint32_t *order = l == m->n_head ? w->order : NULL;
    for (uint32_t h = 0; h < 2; h++) {
        const uint32_t longer = choices << 1 | h;
        if (m->counts && longer < a->least >> (m->classes.n_dense - l - 1))
            continue;
        if (m->counts)
            m->kernel->fold_counts(&w->level[l], order, m->digit[l].gain[h], w->width, &w->level[l + 1]);
        else
            m->kernel->fold_masks(&w->level[l], order, m->digit[l].gain[h], a->first_vector, &w->level[l + 1]);
        decide(a, l + 1, longer);
    }
}

/* ---- one way to decide ---- */

static void make_codes(const sf_census_model *m, size_t n, const sf_contact_map *key, uint32_t decisions, uint64_t *code)
{
    uint64_t weight[128];
    for (int bit = 0; bit < 128; bit++)
        weight[bit] = m->weight[decisions >> m->decision[bit] & 1][bit];
    for (size_t i = 0; i < n; i++) {
        uint64_t sum = 0;
        for (uint64_t bits = (uint64_t)key[i]; bits; bits &= bits - 1)
            sum += weight[__builtin_ctzll(bits)];
        for (uint64_t bits = (uint64_t)(key[i] >> 64); bits; bits &= bits - 1)
            sum += weight[64 + __builtin_ctzll(bits)];
        code[i] = sum;
    }
}

static void find_codes(const sf_census_model *m, sf_model_worker *w, uint32_t decisions)
{
    const int n_inner = m->classes.n_decided - m->classes.n_decided / 2;
    const uint32_t outer = decisions >> n_inner, inner = decisions & ((UINT32_C(1) << n_inner) - 1);
    if (w->outer_decided != outer)
        make_codes(m, m->n_outer, m->outer_key, decisions, w->outer_code);
    if (w->inner_decided != inner)
        make_codes(m, m->n_inner, m->inner_key, decisions, w->inner_code);
    w->outer_decided = outer;
    w->inner_decided = inner;
}

/* The cells of the first level in order, and from them those of the others. */
static int make_levels(const sf_census_model *m, sf_model_worker *w)
{
    sf_model_level *level = &w->level[m->n_head];
    size_t n = 0;
    for (uint32_t rest = 0; rest < m->size[2]; rest++) {
        if (w->cell_of[rest]) {
            w->order[n] = w->cell_of[rest] - 1;
            w->rest[n++] = rest;
            w->cell_of[rest] = 0;
        }
    }
    int code = m->counts ? grow_level(m, w, level, 0, n) : 0;
    for (int l = m->n_head; !code && l < m->classes.n_dense; l++, level++) {
        const uint32_t radix = m->digit[l].radix;
        size_t n_next = 0;
        for (size_t i = 0; i < level->n; i++) {
            const uint32_t next = w->rest[i] / radix;
            level->digit[i] = (uint8_t)(w->rest[i] % radix);
            if (n_next == 0 || w->rest[n_next - 1] != next) {
                level->first[n_next] = (uint32_t)i;
                w->rest[n_next++] = next;
            }
        }
        level->first[n_next] = (uint32_t)level->n;
        code = grow_level(m, w, level + 1, 0, n_next);
        level[1].n = n_next;
    }
    return code;
}

static int answer_masks(answer *a)
{
    const sf_census_model *m = a->j->m;
    a->first_vector = (int)(a->least >> (m->classes.n_dense - m->n_head)) / 8;
    int code = 0;
    for (size_t outer = 0; !code && outer < m->n_outer; outer++) {
        code = grow_cells(m, a->w, m->start[outer + 1] - m->start[outer]);
        if (!code)
            m->kernel->mark(m, a->w, outer, a->first_vector);
    }
    if (!code)
        code = make_levels(m, a->w);
    if (!code)
        decide(a, m->n_head, 0);
    return code;
}

static int answer_counts(answer *a)
{
    const sf_census_model *m = a->j->m;
    sf_model_level *level = &a->w->level[m->n_head];
    const uint32_t n_choices = UINT32_C(1) << m->n_head;
    int code = 0;
    for (size_t outer = 0; !code && outer < m->n_outer; outer++) {
        code = grow_cells(m, a->w, m->start[outer + 1] - m->start[outer]);
        if (!code)
            m->kernel->pack(m, a->w, outer);
    }
    if (!code)
        code = make_levels(m, a->w);
    for (uint32_t choice = a->least >> (m->classes.n_dense - m->n_head); !code && choice < n_choices; choice++) {
        memset(level->count, 0, level->n * a->w->width * sizeof *level->count);
        m->kernel->count(m, a->w, choice);
        decide(a, m->n_head, choice);
    }
    return code;
}

/* How many answers these decisions give: what the reversed chain does not. */
static size_t n_answers(const sf_census_trie *t, uint32_t decisions)
{
    const uint32_t residues = t->spread_decided[decisions];
    if (!t->mirror && sf_contact_residues_reverse(t->length, residues) < residues)
        return 0;
    return ((size_t)1 << t->n_dense) - (t->mirror ? decisions : 0);
}

static int answer_decisions(const job *j, sf_model_worker *w, uint32_t decisions)
{
    const sf_census_model *m = j->m;
    answer a = {.j = j, .w = w, .decisions = decisions, .least = m->classes.mirror ? decisions : 0};
    w->level[m->n_head].n = 0;
    if (j->shapes)
        a.row = sf_shapes_row(j->shapes,
                              __atomic_fetch_add(&j->shapes->n, n_answers(&m->classes, decisions), __ATOMIC_RELAXED));
    find_codes(m, w, decisions);
    return m->counts ? answer_counts(&a) : answer_masks(&a);
}

/* ---- the work ---- */

/* Every n_parts-th of the decisions that have answers: they cost less and less, so that is about even. Returns how many. */
static size_t deal(const sf_census_model *m, size_t part, size_t n_parts, uint32_t *mine)
{
    size_t n = 0, dealt = 0;
    for (uint32_t decisions = 0; decisions < UINT32_C(1) << m->classes.n_decided; decisions++) {
        if (n_answers(&m->classes, decisions) > 0 && dealt++ % n_parts == part)
            mine[n++] = decisions;
    }
    return n;
}

static int answer_next(const job *j, int thread, uint32_t decisions)
{
    sf_model_worker *w = &j->workers[thread];
    if (w->status == 0)
        w->status = j->stop && *j->stop ? SF_ESTOPPED : answer_decisions(j, w, decisions);
    return w->status;
}

/* A thread alone does without OpenMP, which ends the program where it finds no memory. */
static int run(const job *j, const uint32_t *mine, size_t n, int n_threads)
{
    int status = 0;
    for (size_t i = 0; n_threads == 1 && status == 0 && i < n; i++)
        status = answer_next(j, 0, mine[i]);
    if (n_threads == 1)
        return status;
#pragma omp parallel for num_threads(n_threads) schedule(dynamic) reduction(min : status)
    for (size_t i = 0; i < n; i++)
        status = answer_next(j, omp_get_thread_num(), mine[i]);
    return status;
}

int sf_census_model_count(const sf_census_model *m, size_t part, size_t n_parts, int n_threads, const volatile int *stop,
                          const sf_census_each *each, sf_census *census, sf_shapes *shapes, sf_error *err)
{
    job j = {.m = m, .each = each, .shapes = shapes, .stop = stop};
    uint32_t *mine = sf_array_alloc((size_t)1 << m->classes.n_decided, sizeof *mine);
    j.workers = calloc((size_t)n_threads, sizeof *j.workers);
    int status = mine && j.workers ? 0 : SF_ENOMEM;
    for (int i = 0; status == 0 && i < n_threads; i++)
        status = open_worker(m, &j.workers[i]);
    size_t n = status == 0 ? deal(m, part, n_parts, mine) : 0, n_rows = 0;
    for (size_t i = 0; shapes && i < n; i++)
        n_rows += n_answers(&m->classes, mine[i]);
    if (status == 0 && shapes)
        status = sf_shapes_reserve(shapes, n_rows, err);
    if (status == 0)
        status = run(&j, mine, n, n_threads);
    if (status != 0)
        sf_fail(err, status, status == SF_ESTOPPED ? "stopped during the census" : "out of memory during the census");
    for (int i = 0; j.workers && i < n_threads; i++) {
        if (status == 0)
            sf_census_add(census, &j.workers[i].census);
        close_worker(&j.workers[i]);
    }
    free(j.workers);
    free(mine);
    return status;
}

/* ---- what it takes ---- */

static bool counts_are_needed(const sf_problem *problem, sf_census_kind kind)
{
    return kind == SF_CENSUS_HISTOGRAMS || problem->n_scores > SF_MODEL_MASK_BITS;
}

uint64_t sf_census_model_open_bytes(const sf_problem *problem, sf_census_kind kind)
{
    const uint64_t maps = sf_map_table_expected(problem->lattice, problem->length);
    return maps * (counts_are_needed(problem, kind) ? 20 : 16) + sf_map_table_slack_bytes(maps, 1);
}

uint64_t sf_census_model_count_bytes(const sf_problem *problem, sf_census_kind kind, int n_threads)
{
    /* measured: codes take up to 1 byte a map, cells 2 and with counts a sixth of a byte for each score */
    const uint64_t maps = sf_map_table_expected(problem->lattice, problem->length), threads = (uint64_t)n_threads;
    if (counts_are_needed(problem, kind))
        return maps * (10 + threads * (12 + (uint64_t)problem->n_scores / 6)) + (threads << 23);
    return maps * (6 + threads * 4) + sf_map_table_slack_bytes(maps, 1) + (threads << 21);
}

double sf_census_model_seconds(const sf_problem *problem, sf_census_kind kind)
{
    const double maps = (double)sf_map_table_expected(problem->lattice, problem->length);
    const double each = counts_are_needed(problem, kind) ? 28e-9 + 0.3e-9 * problem->n_scores : 8e-9;
    return maps * each * (double)(UINT64_C(1) << problem->length / 2);
}

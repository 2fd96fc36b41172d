/* The grouped build: enumerate the prefixes, sort them by map, finish the groups of equal map one by one, in tasks that
 * threads take. The tails of a group, sorted, behind its map, are a piece of the final table; the pieces in the order of
 * the groups are the table. A large group (a quarter of all prefixes touch nothing) is several tasks, whose tails are
 * merged; how many tasks there are, and who does them, does not show in the result. */
#include "core/contacts/map_build.h"

#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/contacts/map_finish.h"

enum {
    TAIL_LENGTH = 6,
    TASKS_PER_THREAD = 24,
    GROUP_COST = 5 /* what a group costs beside its prefixes, in prefixes */
};

int sf_map_build_prefix_length(const sf_lattice *lattice, int length)
{
    (void)lattice;
    return length - TAIL_LENGTH > 2 ? length - TAIL_LENGTH : 2;
}

/* A task: prefixes first..last-1, all of one group; its tails are chunk[offset .. offset + n - 1] of a thread. */
typedef struct task {
    size_t first, last;
    size_t group;
    int thread;
    size_t offset;
    size_t n;
} task;

/* What a thread has found. */
typedef struct found {
    uint64_t *map;
    uint32_t *count;
    size_t n;
    size_t room;
    size_t expected;  /* maps it is going to find, about: what is not needed of the room is never touched */
    sf_tail *tails;   /* two arrays for sorting */
    size_t tail_room;
    int status;
} found;

typedef struct build {
    const sf_lattice *lattice;
    sf_contact_layout layout;
    const sf_map_options *options;
    sf_map_prefix *prefixes;
    size_t n_prefixes;
    task *tasks;
    size_t n_tasks;
    found *threads;
    int tail_bits;
} build;

/* Least significant digit first, 11 bits a pass, stable; digits in which all are equal are passed over. */
static int sort_prefixes(build *b, int n_bits)
{
    enum { DIGIT = 11 };
    sf_map_prefix *to = sf_array_alloc(b->n_prefixes, sizeof *to);
    size_t *start = malloc(sizeof *start << DIGIT);
    if (!to || !start) {
        free(to);
        free(start);
        return SF_ENOMEM;
    }
    for (int low = 0; low < n_bits; low += DIGIT) {
        memset(start, 0, sizeof *start << DIGIT);
        for (size_t i = 0; i < b->n_prefixes; i++)
            start[b->prefixes[i].map >> low & ((1 << DIGIT) - 1)]++;
        size_t sum = 0;
        for (size_t d = 0; d < (size_t)1 << DIGIT; d++) {
            size_t n = start[d];
            start[d] = sum;
            sum += n;
        }
        for (size_t i = 0; i < b->n_prefixes; i++)
            to[start[b->prefixes[i].map >> low & ((1 << DIGIT) - 1)]++] = b->prefixes[i];
        sf_map_prefix *swap = b->prefixes;
        b->prefixes = to;
        to = swap;
    }
    free(to);
    free(start);
    return 0;
}

static int enumerate_prefixes(build *b, sf_error *err)
{
    sf_map_finisher finisher;
    uint64_t known = sf_lattice_conformations(b->lattice, sf_map_build_prefix_length(b->lattice, b->layout.length));
    int status = sf_map_finisher_init(&finisher, b->lattice, b->layout.length, err);
    if (status == 0) {
        b->prefixes = sf_array_alloc((size_t)known, sizeof *b->prefixes);
        if (!b->prefixes)
            status = sf_fail(err, SF_ENOMEM, "out of memory for %" PRIu64 " prefixes", known);
    }
    if (status == 0) {
        b->n_prefixes = sf_map_finisher_prefixes(&finisher, b->prefixes, (size_t)known);
        if (b->n_prefixes != known)
            status = sf_fail(err, SF_ECHECK, "%zu prefixes were found; there are %" PRIu64, b->n_prefixes, known);
    }
    if (status == 0 && sort_prefixes(b, b->layout.n_bits - b->tail_bits) != 0)
        status = sf_fail(err, SF_ENOMEM, "out of memory for sorting %zu prefixes", b->n_prefixes);
    sf_map_finisher_free(&finisher);
    return status;
}

/* Cuts the prefixes into tasks, and of n_parts nearly equal shares of whole groups keeps share `part`. */
static int cut_tasks(build *b, size_t part, size_t n_parts, sf_error *err)
{
    size_t n = b->n_prefixes, limit = n;
    if (b->options->n_threads > 1)
        limit = n / n_parts / ((size_t)b->options->n_threads * TASKS_PER_THREAD) + 1;
    size_t n_groups = 0, room = 0, cost = 0;
    for (size_t i = 0; i < n; i++)
        n_groups += i == 0 || b->prefixes[i].map != b->prefixes[i - 1].map;
    room = n_groups + n / limit + 1;
    b->tasks = sf_array_alloc(room, sizeof *b->tasks);
    if (!b->tasks)
        return sf_fail(err, SF_ENOMEM, "out of memory for %zu groups of prefixes", n_groups);
    size_t total = n + n_groups * GROUP_COST;
    for (size_t i = 0, group = 0; i < n; group++) {
        size_t end = i + 1;
        while (end < n && b->prefixes[end].map == b->prefixes[i].map)
            end++;
        /* a group belongs to the share in which its middle lies */
        size_t here = end - i + GROUP_COST, owner = (cost + here / 2) * n_parts / total;
        cost += here;
        for (size_t first = i; owner == part && first < end; first += limit)
            b->tasks[b->n_tasks++] =
                (task){.first = first, .last = end - first < limit ? end : first + limit, .group = group};
        i = end;
    }
    return 0;
}

static int store(found *t, const sf_tail *tails, size_t n)
{
    if (t->n + n > t->room) {
        size_t room = t->room + t->room / 4 + n + t->expected;
        uint64_t *map = sf_array_grow(t->map, t->n, room, sizeof *map);
        t->map = map ? map : t->map;
        uint32_t *count = map ? sf_array_grow(t->count, t->n, room, sizeof *count) : NULL;
        t->count = count ? count : t->count;
        if (!map || !count)
            return SF_ENOMEM;
        t->room = room;
    }
    for (size_t i = 0; i < n; i++) {
        t->map[t->n + i] = tails[i].map;
        t->count[t->n + i] = tails[i].count;
    }
    t->n += n;
    return 0;
}

static int do_task(const build *b, task *k, sf_map_finisher *finisher, found *t)
{
    sf_map_finisher_begin(finisher);
    for (size_t i = k->first; i < k->last; i++)
        sf_map_finisher_add(finisher, &b->prefixes[i]);
    size_t n = finisher->n_used;
    if (n > t->tail_room) {
        free(t->tails);
        t->tail_room = 2 * n;
        t->tails = sf_array_alloc(2 * t->tail_room, sizeof *t->tails);
        if (!t->tails) {
            t->tail_room = 0;
            return SF_ENOMEM;
        }
    }
    int status = sf_map_finisher_tails(finisher, t->tails, t->tails + t->tail_room);
    k->offset = t->n;
    k->n = n;
    return status != 0 ? status : store(t, t->tails, n);
}

/* Takes tasks, *next being the first that nobody has, until there are none. */
static void take_tasks(build *b, size_t *next, int thread)
{
    sf_map_finisher finisher;
    found *t = &b->threads[thread];
    int status = sf_map_finisher_init(&finisher, b->lattice, b->layout.length, NULL);
    while (status == 0) {
        size_t i;
#pragma omp atomic capture
        i = (*next)++;
        if (i >= b->n_tasks)
            break;
        if (b->options->stop && *b->options->stop)
            status = SF_ESTOPPED;
        else
            status = do_task(b, &b->tasks[i], &finisher, t);
        b->tasks[i].thread = thread;
    }
    sf_map_finisher_free(&finisher);
    t->status = status;
    if (status != 0) {
#pragma omp atomic write
        *next = b->n_tasks;
    }
}

/* Returns 0 or the least code of the threads. One thread does without OpenMP, which ends the program when memory is out. */
static int do_tasks(build *b)
{
    size_t next = 0;
    int least = 0;
    if (b->options->n_threads == 1) {
        take_tasks(b, &next, 0);
    } else {
#pragma omp parallel num_threads(b->options->n_threads)
        take_tasks(b, &next, omp_get_thread_num());
    }
    for (int i = 0; i < b->options->n_threads; i++)
        least = b->threads[i].status < least ? b->threads[i].status : least;
    return least;
}

/* Adds the tails of a group's later tasks to its first one's, which takes them over; the others are emptied. */
static int merge_group(build *b, task *first, task *end)
{
    size_t total = 0;
    for (task *k = first; k < end; k++)
        total += k->n;
    sf_tail *a = sf_array_alloc(total, sizeof *a), *c = sf_array_alloc(total, sizeof *c);
    size_t n = 0;
    for (task *k = first; a && c && k < end; k++) {
        const found *t = &b->threads[k->thread];
        size_t i = 0, j = 0, m = 0;
        while (i < n || j < k->n) {
            uint64_t map = j < k->n ? t->map[k->offset + j] : UINT64_MAX;
            uint32_t count = j < k->n ? t->count[k->offset + j] : 0;
            if (j == k->n || (i < n && a[i].map < map)) {
                c[m++] = a[i++];
            } else if (i < n && a[i].map == map) {
                c[m++] = (sf_tail){map, a[i++].count + count, 0};
                j++;
            } else {
                c[m++] = (sf_tail){map, count, 0};
                j++;
            }
        }
        sf_tail *swap = a;
        a = c;
        c = swap;
        n = m;
        k->n = 0;
    }
    int status = SF_ENOMEM;
    if (a && c) {
        first->offset = b->threads[first->thread].n;
        first->n = n;
        status = store(&b->threads[first->thread], a, n);
    }
    free(a);
    free(c);
    return status;
}

static int merge_groups(build *b, sf_error *err)
{
    int status = 0;
    for (size_t i = 0; i < b->n_tasks && status == 0;) {
        size_t end = i + 1;
        while (end < b->n_tasks && b->tasks[end].group == b->tasks[i].group)
            end++;
        if (end > i + 1)
            status = merge_group(b, &b->tasks[i], &b->tasks[end]);
        i = end;
    }
    return status == 0 ? 0 : sf_fail(err, status, "out of memory for merging groups of contact maps");
}

/* Room for n maps. What a single thread has found lies in the right order already and is taken over. */
static int take_room(build *b, sf_map_table *table, size_t n, sf_error *err)
{
    found *t = &b->threads[0];
    if (b->options->n_threads > 1)
        return sf_map_table_alloc(table, b->lattice, b->layout.length, n, err);
    table->lattice = b->lattice;
    table->layout = b->layout;
    table->n_maps = n;
    table->low = t->map;
    table->count = t->count;
    t->map = NULL;
    t->count = NULL;
    if (table->layout.n_words > 1)
        table->high = sf_array_alloc(n, sizeof *table->high);
    if (table->layout.n_words == 1 || table->high)
        return 0;
    return sf_fail(err, SF_ENOMEM, "out of memory for a table of %zu contact maps of %d residues", n, b->layout.length);
}

/* Writes the tails of a task, behind their prefix, to their place; returns the most contacts. */
static int write_piece(const build *b, const task *k, const found *t, sf_map_table *table, uint64_t *conformations)
{
    sf_contact_map prefix = (sf_contact_map)b->prefixes[k->first].map << b->tail_bits;
    int most = 0;
    for (size_t j = 0; j < k->n; j++) {
        sf_contact_map map = prefix | t->map[k->offset + j];
        uint32_t count = t->count[k->offset + j];
        int contacts = sf_contact_count(map);
        table->low[k->last + j] = (uint64_t)map;
        if (table->high)
            table->high[k->last + j] = (uint64_t)(map >> 64);
        table->count[k->last + j] = count;
        *conformations += count;
        most = contacts > most ? contacts : most;
    }
    return most;
}

/* Writes the pieces, in the order of the groups, to the table. */
static int assemble(build *b, sf_map_table *table, sf_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n_tasks; i++) {
        size_t here = b->tasks[i].n;
        b->tasks[i].last = n; /* from here on: where the piece goes */
        n += here;
    }
    found alone = {.map = b->threads[0].map, .count = b->threads[0].count};
    int status = take_room(b, table, n, err), most = 0;
    uint64_t conformations = 0;
    if (status != 0)
        return status;
    if (b->options->n_threads == 1) {
        for (size_t i = 0; i < b->n_tasks; i++) { /* read and written in place */
            int here = write_piece(b, &b->tasks[i], &alone, table, &conformations);
            most = here > most ? here : most;
        }
    } else {
#pragma omp parallel for num_threads(b->options->n_threads) schedule(dynamic, 64) reduction(+ : conformations)         \
    reduction(max : most)
        for (size_t i = 0; i < b->n_tasks; i++) {
            int here = write_piece(b, &b->tasks[i], &b->threads[b->tasks[i].thread], table, &conformations);
            most = here > most ? here : most;
        }
    }
    table->conformations = conformations;
    table->max_contacts = most;
    return 0;
}

static void release(build *b)
{
    for (int i = 0; b->threads && i < b->options->n_threads; i++) {
        free(b->threads[i].map);
        free(b->threads[i].count);
        free(b->threads[i].tails);
    }
    free(b->threads);
    free(b->tasks);
    free(b->prefixes);
}

int sf_map_table_build_part(sf_map_table *table, const sf_lattice *lattice, int length, size_t part, size_t n_parts,
                            const sf_map_options *options, sf_error *err)
{
    memset(table, 0, sizeof *table);
    int status = sf_map_table_length_check(lattice, length, err);
    if (status == 0)
        status = sf_map_table_memory_check(lattice, length, n_parts, options, err);
    if (status != 0)
        return status;
    build b = {.lattice = lattice, .options = options};
    sf_contact_layout_init(&b.layout, length);
    b.tail_bits = sf_contact_tail_bits(&b.layout, sf_map_build_prefix_length(lattice, length));
    b.threads = calloc((size_t)options->n_threads, sizeof *b.threads);
    if (!b.threads)
        status = sf_fail(err, SF_ENOMEM, "out of memory for %d threads", options->n_threads);
    for (int i = 0; status == 0 && i < options->n_threads; i++)
        b.threads[i].expected =
            (size_t)sf_map_table_expected(lattice, length) / n_parts / (size_t)options->n_threads * 17 / 16 + 64;
    if (status == 0)
        status = enumerate_prefixes(&b, err);
    if (status == 0)
        status = cut_tasks(&b, part, n_parts, err);
    if (status == 0) {
        status = do_tasks(&b);
        if (status != 0)
            sf_fail(err, status, status == SF_ESTOPPED ? "stopped while the table of contact maps was built"
                                                       : "out of memory while the table of contact maps was built");
    }
    if (status == 0)
        status = merge_groups(&b, err);
    if (status == 0)
        status = assemble(&b, table, err);
    release(&b);
    if (status != 0)
        sf_map_table_free(table);
    return status;
}

int sf_map_table_build(sf_map_table *table, const sf_lattice *lattice, int length, const sf_map_options *options,
                       sf_error *err)
{
    int status = sf_map_table_build_part(table, lattice, length, 0, 1, options, err);
    if (status == 0 && (status = sf_map_table_check(table, err)) != 0)
        sf_map_table_free(table);
    return status;
}

/* The textbook way to the table: walk all reduced conformations depth-first, look each one's contact map up in one hash
 * table, count, sort at the end. Kept as the oracle of the grouped build and as what benchmarks compare with: nearly every
 * conformation costs a cache miss once the hash table outgrows the cache. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/contacts/map_build.h"

int sf_map_board_init(sf_map_board *board, const sf_lattice *lattice, int length, sf_error *err)
{
    int side = 2 * length + 3, middle = length + 1;
    size_t cells = 1;
    memset(board, 0, sizeof *board);
    for (int axis = 0, stride = 1; axis < lattice->dimension; axis++, stride *= side) {
        board->origin += middle * stride;
        for (int i = 0; i < lattice->n_steps; i++)
            board->offset[i] += lattice->step[i][axis] * stride;
        cells *= (size_t)side;
    }
    board->n_steps = lattice->n_steps;
    board->cell = sf_array_zeroed(cells, sizeof *board->cell);
    return board->cell ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for a board of %zu cells", cells);
}

void sf_map_board_free(sf_map_board *board)
{
    free(board->cell);
    memset(board, 0, sizeof *board);
}

typedef struct entry {
    sf_contact_map map;
    uint64_t count; /* 0: free */
} entry;

typedef struct walker {
    sf_map_board board;
    sf_contact_layout layout;
    const volatile int *stop;
    entry *entries;
    size_t capacity; /* a power of two */
    size_t used;
    int status;
} walker;

static size_t slot_of(const entry *entries, size_t capacity, sf_contact_map map)
{
    uint64_t hash = ((uint64_t)map ^ (uint64_t)(map >> 64) * UINT64_C(0xd6e8feb86659fd93)) * UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(hash ^ hash >> 32) & (capacity - 1);
    while (entries[slot].count != 0 && entries[slot].map != map)
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

static void widen(walker *w)
{
    entry *wider = sf_array_zeroed(2 * w->capacity, sizeof *wider);
    if (!wider) {
        w->status = SF_ENOMEM;
        return;
    }
    for (size_t i = 0; i < w->capacity; i++) {
        if (w->entries[i].count != 0)
            wider[slot_of(wider, 2 * w->capacity, w->entries[i].map)] = w->entries[i];
    }
    free(w->entries);
    w->entries = wider;
    w->capacity *= 2;
}

static void add(walker *w, sf_contact_map map)
{
    entry *e = &w->entries[slot_of(w->entries, w->capacity, map)];
    e->map = map;
    if (e->count++ == 0 && ++w->used > w->capacity / 2)
        widen(w);
}

/* What a cell holds when the residue is there. */
static uint32_t label(int residue)
{
    return SF_MAP_BOARD_TAKEN | sf_map_board_place(residue);
}

/* Places residues k.. in every way, the site of residue k - 1 and the map so far given. */
static void walk(walker *w, int k, int position, int axes, sf_contact_map map)
{
    if (k == w->layout.length) {
        add(w, map);
        return;
    }
    if (k == w->layout.length / 2 && w->stop && *w->stop)
        w->status = SF_ESTOPPED;
    int choices = sf_map_board_choices(&w->board, axes);
    for (int i = 0; i < choices && w->status == 0; i++) {
        int next = position + w->board.offset[i];
        if (w->board.cell[next])
            continue;
        uint32_t row = 0;
        for (int j = 0; j < w->board.n_steps; j++)
            row |= w->board.cell[next + w->board.offset[j]];
        row &= ~label(k - 1);
        w->board.cell[next] = label(k);
        walk(w, k + 1, next, i == 2 * axes ? axes + 1 : axes, map | (sf_contact_map)row << w->layout.first[k]);
        w->board.cell[next] = 0;
    }
}

static int ascending(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->map < y->map ? -1 : x->map > y->map;
}

static int gather(walker *w, sf_map_table *table, const sf_lattice *lattice, sf_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < w->capacity; i++) {
        if (w->entries[i].count != 0)
            w->entries[n++] = w->entries[i];
    }
    qsort(w->entries, n, sizeof *w->entries, ascending);
    int status = sf_map_table_alloc(table, lattice, w->layout.length, n, err);
    for (size_t i = 0; status == 0 && i < n; i++) {
        const entry *e = &w->entries[i];
        int contacts = sf_contact_count(e->map);
        table->low[i] = (uint64_t)e->map;
        if (table->high)
            table->high[i] = (uint64_t)(e->map >> 64);
        table->count[i] = (uint32_t)e->count;
        table->conformations += e->count;
        table->max_contacts = contacts > table->max_contacts ? contacts : table->max_contacts;
    }
    return status;
}

int sf_map_table_build_plain(sf_map_table *table, const sf_lattice *lattice, int length, const sf_map_options *options,
                             sf_error *err)
{
    memset(table, 0, sizeof *table);
    int status = sf_map_table_length_check(lattice, length, err);
    if (status != 0)
        return status;
    walker w = {.stop = options->stop, .capacity = 1 << 16};
    sf_contact_layout_init(&w.layout, length);
    w.entries = sf_array_zeroed(w.capacity, sizeof *w.entries);
    if (!w.entries)
        status = sf_fail(err, SF_ENOMEM, "out of memory for a table of contact maps");
    if (status == 0)
        status = sf_map_board_init(&w.board, lattice, length, err);
    if (status != 0)
        goto out;
    int second = w.board.origin + w.board.offset[0];
    w.board.cell[w.board.origin] = label(0);
    w.board.cell[second] = label(1);
    walk(&w, 2, second, 1, 0);
    status = w.status;
    if (status == SF_ENOMEM)
        sf_fail(err, status, "out of memory: %zu contact maps found so far", w.used);
    else if (status == SF_ESTOPPED)
        sf_fail(err, status, "stopped while the table of contact maps was built");
    else
        status = gather(&w, table, lattice, err);
    if (status == 0)
        status = sf_map_table_check(table, err);
out:
    sf_map_board_free(&w.board);
    free(w.entries);
    if (status != 0)
        sf_map_table_free(table);
    return status;
}

/* The inner loop of the grouped build.
 *
 * The obvious way looks every conformation up in one hash table of whole maps. Here all prefixes with one map are finished
 * together, so the hash holds only that group's tails: it stays in the cache, and its keys are one word. The last two
 * residues, nearly all of the work, are placed without recursion and without marking the board, and endings in which the
 * last residues touch nothing are added once for all. */
#include "core/contacts/map_finish.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

enum { FIRST_LOG2 = 9, GROWTH_LOG2 = 2 };

int sf_map_finisher_init(sf_map_finisher *f, const sf_lattice *lattice, int length, sf_error *err)
{
    memset(f, 0, sizeof *f);
    sf_contact_layout_init(&f->layout, length);
    f->prefix_length = sf_map_build_prefix_length(lattice, length);
    f->room = (size_t)1 << FIRST_LOG2;
    f->table = sf_array_zeroed(f->room, sizeof *f->table);
    f->used = sf_array_alloc(f->room / 2 + 1, sizeof *f->used);
    if (!f->table || !f->used)
        return sf_fail(err, SF_ENOMEM, "out of memory for building a table of contact maps");
    return sf_map_board_init(&f->board, lattice, length, err);
}

void sf_map_finisher_free(sf_map_finisher *f)
{
    sf_map_board_free(&f->board);
    free(f->table);
    free(f->used);
    memset(f, 0, sizeof *f);
}

static void next_epoch(sf_map_finisher *f)
{
    if (++f->epoch == 0) { /* after 2^32 groups the old marks would count again */
        memset(f->table, 0, f->room * sizeof *f->table);
        f->epoch = 1;
    }
}

void sf_map_finisher_begin(sf_map_finisher *f)
{
    next_epoch(f);
    f->capacity = (size_t)1 << FIRST_LOG2;
    f->shift = 64 - FIRST_LOG2;
    f->n_used = 0;
    f->failed = false;
}

static inline size_t slot_of(const sf_map_finisher *f, uint64_t map)
{
    return (size_t)(map * UINT64_C(0x9e3779b97f4a7c15) >> f->shift);
}

/* Makes the table four times as large; its entries keep their order. Without memory the group is given up. */
static __attribute__((noinline)) void widen(sf_map_finisher *f)
{
    size_t capacity = f->capacity << GROWTH_LOG2;
    sf_tail *old = sf_array_alloc(f->n_used, sizeof *old);
    if (old && capacity > f->room) {
        sf_tail *table = sf_array_zeroed(capacity, sizeof *table);
        uint32_t *used = sf_array_grow(f->used, f->n_used, capacity / 2 + 1, sizeof *used);
        f->used = used ? used : f->used;
        if (table && used) {
            for (size_t i = 0; i < f->n_used; i++)
                old[i] = f->table[used[i]];
            free(f->table);
            f->table = table;
            f->room = capacity;
            f->epoch = 0;
        } else {
            free(table);
            free(old);
            old = NULL;
        }
    } else if (old) {
        for (size_t i = 0; i < f->n_used; i++)
            old[i] = f->table[f->used[i]];
    }
    if (!old) {
        f->failed = true;
        f->n_used = 0;
        next_epoch(f);
        return;
    }
    next_epoch(f);
    f->capacity = capacity;
    f->shift -= GROWTH_LOG2;
    for (size_t i = 0; i < f->n_used; i++) {
        size_t slot = slot_of(f, old[i].map);
        while (f->table[slot].epoch == f->epoch)
            slot = (slot + 1) & (capacity - 1);
        f->table[slot] = (sf_tail){old[i].map, old[i].count, f->epoch};
        f->used[i] = (uint32_t)slot;
    }
    free(old);
}

static inline void add(sf_map_finisher *f, uint64_t map, uint32_t count)
{
    size_t slot = slot_of(f, map);
    for (;;) {
        sf_tail *entry = &f->table[slot];
        if (entry->epoch != f->epoch) {
            *entry = (sf_tail){map, count, f->epoch};
            f->used[f->n_used++] = (uint32_t)slot;
            if (f->n_used > f->capacity / 2)
                widen(f);
            return;
        }
        if (entry->map == map) {
            entry->count += count;
            return;
        }
        slot = (slot + 1) & (f->capacity - 1);
    }
}

/* The last two residues when every direction is open to both, residue length - 3 being at `position`. */
static inline __attribute__((always_inline)) void last_two(sf_map_finisher *f, int n_steps, int position, uint64_t map)
{
    const uint32_t *cell = f->board.cell;
    const int *offset = f->board.offset;
    int length = f->layout.length, shift = f->layout.first[length - 2];
    uint32_t own = ~sf_map_board_label(length - 3);
    uint32_t n_apart = 0; /* endings in which neither touches anything */
    for (int i = 0; i < n_steps; i++) {
        int p = position + offset[i];
        if (cell[p])
            continue;
        uint32_t row = 0, n_last_apart = 0;
        for (int j = 0; j < n_steps; j++)
            row |= cell[p + offset[j]];
        row &= own;
        uint64_t both = map | (uint64_t)row << shift;
        for (int j = 0; j < n_steps; j++) {
            int q = p + offset[j];
            if (cell[q])
                continue;
            uint32_t last = 0;
            for (int k = 0; k < n_steps; k++)
                last |= cell[q + offset[k]];
            last &= ~SF_MAP_BOARD_TAKEN; /* p is not marked, so the predecessor is not in it */
            if (last)
                add(f, both | last, 1);
            else
                n_last_apart++;
        }
        if (n_last_apart && row)
            add(f, both, n_last_apart);
        else
            n_apart += n_last_apart;
    }
    if (n_apart)
        add(f, map, n_apart);
}

static void place(sf_map_finisher *f, int k, int position, int axes, uint64_t map)
{
    int length = f->layout.length;
    if (k == length) {
        add(f, map, 1);
        return;
    }
    int choices = sf_map_board_choices(&f->board, axes);
    if (k == length - 2 && choices == f->board.n_steps) {
        if (choices == 4)
            last_two(f, 4, position, map);
        else
            last_two(f, 6, position, map);
        return;
    }
    for (int i = 0; i < choices; i++) {
        int next = position + f->board.offset[i];
        if (f->board.cell[next])
            continue;
        uint32_t row = sf_map_board_touched(&f->board, next) & ~sf_map_board_label(k - 1);
        f->board.cell[next] = sf_map_board_label(k);
        place(f, k + 1, next, i == 2 * axes ? axes + 1 : axes, map | (uint64_t)row << f->layout.first[k]);
        f->board.cell[next] = 0;
    }
}

void sf_map_finisher_add(sf_map_finisher *f, const sf_map_prefix *prefix)
{
    int path[SF_CONTACT_LENGTH_MAX];
    int axes = 1;
    path[0] = f->board.origin;
    path[1] = path[0] + f->board.offset[0];
    for (int k = 2; k < f->prefix_length; k++) {
        int step = (int)(prefix->steps >> 3 * (k - 2) & 7);
        path[k] = path[k - 1] + f->board.offset[step];
        axes += step == 2 * axes;
    }
    for (int k = 0; k < f->prefix_length; k++)
        f->board.cell[path[k]] = sf_map_board_label(k);
    place(f, f->prefix_length, path[f->prefix_length - 1], axes, 0);
    for (int k = 0; k < f->prefix_length; k++)
        f->board.cell[path[k]] = 0;
}

enum { RUN = 12 };

static void insertion_sort(sf_tail *tails, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        sf_tail tail = tails[i];
        size_t j = i;
        for (; j > 0 && tails[j - 1].map > tail.map; j--)
            tails[j] = tails[j - 1];
        tails[j] = tail;
    }
}

static void merge(const sf_tail *a, size_t n_a, const sf_tail *b, size_t n_b, sf_tail *out)
{
    size_t i = 0, j = 0;
    while (i < n_a && j < n_b) {
        bool first = a[i].map < b[j].map;
        *out++ = first ? a[i] : b[j];
        i += first;
        j += !first;
    }
    memcpy(out, a + i, (n_a - i) * sizeof *out);
    memcpy(out + (n_a - i), b + j, (n_b - j) * sizeof *out);
}

int sf_map_finisher_tails(const sf_map_finisher *f, sf_tail *tails, sf_tail *scratch)
{
    if (f->failed)
        return SF_ENOMEM;
    size_t n = f->n_used;
    for (size_t i = 0; i < n; i++)
        tails[i] = f->table[f->used[i]];
    for (size_t i = 0; i < n; i += RUN)
        insertion_sort(tails + i, n - i < RUN ? n - i : RUN);
    sf_tail *from = tails, *to = scratch;
    for (size_t width = RUN; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t n_a = n - i < width ? n - i : width;
            size_t n_b = n - i - n_a < width ? n - i - n_a : width;
            merge(from + i, n_a, from + i + n_a, n_b, to + i);
        }
        sf_tail *swap = from;
        from = to;
        to = swap;
    }
    if (from != tails)
        memcpy(tails, from, n * sizeof *tails);
    return 0;
}

typedef struct prefix_list {
    sf_map_prefix *prefixes;
    size_t n;
    size_t room;
    int tail_bits;
} prefix_list;

static void list(sf_map_finisher *f, prefix_list *l, int k, int position, int axes, sf_map_prefix prefix)
{
    if (k == f->prefix_length) {
        if (l->n < l->room)
            l->prefixes[l->n] = prefix;
        l->n++;
        return;
    }
    int choices = sf_map_board_choices(&f->board, axes);
    for (int i = 0; i < choices; i++) {
        int next = position + f->board.offset[i];
        if (f->board.cell[next])
            continue;
        uint64_t row = sf_map_board_touched(&f->board, next) & ~sf_map_board_label(k - 1);
        sf_map_prefix longer = prefix;
        if (f->layout.width[k] > 0)
            longer.map |= row << (f->layout.first[k] - l->tail_bits);
        longer.steps |= (uint64_t)i << 3 * (k - 2);
        f->board.cell[next] = sf_map_board_label(k);
        list(f, l, k + 1, next, i == 2 * axes ? axes + 1 : axes, longer);
        f->board.cell[next] = 0;
    }
}

size_t sf_map_finisher_prefixes(sf_map_finisher *f, sf_map_prefix *prefixes, size_t room)
{
    prefix_list l = {.prefixes = prefixes, .room = room};
    l.tail_bits = sf_contact_tail_bits(&f->layout, f->prefix_length);
    int second = f->board.origin + f->board.offset[0];
    f->board.cell[f->board.origin] = sf_map_board_label(0);
    f->board.cell[second] = sf_map_board_label(1);
    list(f, &l, 2, second, 1, (sf_map_prefix){0});
    f->board.cell[f->board.origin] = 0;
    f->board.cell[second] = 0;
    return l.n;
}

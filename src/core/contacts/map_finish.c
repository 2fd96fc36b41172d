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

/* Puts a residue on its site, or takes it away: its place bit in all cells around, so that every cell holds the row of
 * contacts that a residue there would own. */
static inline void toggle(sf_map_board *board, int position, int residue)
{
    uint32_t place = sf_map_board_place(residue);
    board->cell[position] ^= SF_MAP_BOARD_TAKEN;
    for (int i = 0; i < board->n_steps; i++)
        board->cell[position + board->offset[i]] ^= place;
}

static __attribute__((noinline)) void add_each(sf_map_finisher *f, const uint64_t *maps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(f, maps[i], 1);
}

/* Adds 1 to each of the maps, most of which are there already. */
static inline void add_known(sf_map_finisher *f, const uint64_t *maps, size_t n)
{
    sf_tail *table = f->table;
    const uint32_t epoch = f->epoch;
    for (size_t i = 0; i < n; i++) {
        sf_tail *entry = &table[slot_of(f, maps[i])];
        if (entry->map == maps[i] && entry->epoch == epoch) {
            entry->count++;
            continue;
        }
        add(f, maps[i], 1);
        if (f->table != table || f->epoch != epoch) { /* it was widened */
            add_each(f, maps + i + 1, n - i - 1);
            return;
        }
    }
}

/* The last two residues when every direction is open to both, residue length - 3 being at `position`. Which neighbours are
 * free is hard to foresee, so every ending is written down and those that do not count are written over. */
static inline __attribute__((always_inline)) void last_two(sf_map_finisher *f, int n_steps, int position, uint64_t map)
{
    const uint32_t *cell = f->board.cell + position;
    const int shift = f->layout.first[f->layout.length - 2];
    const uint32_t own = ~sf_map_board_place(f->layout.length - 3);
    uint64_t ending[SF_STEPS_MAX * SF_STEPS_MAX];
    ptrdiff_t offset[SF_STEPS_MAX];
    size_t n = 0;
    uint32_t n_apart = 0; /* endings in which neither touches anything */
    for (int i = 0; i < n_steps; i++)
        offset[i] = f->board.offset[i];
#pragma GCC unroll 6
    for (int i = 0; i < n_steps; i++) {
        const uint32_t *p = cell + offset[i];
        if (*p & SF_MAP_BOARD_TAKEN)
            continue;
        uint32_t row = *p & own, n_last_apart = 0;
        uint64_t both = map | (uint64_t)row << shift;
#pragma GCC unroll 6
        for (int j = 0; j < n_steps; j++) {
            if (j == (i ^ 1)) /* back to residue length - 3 */
                continue;
            uint32_t last = p[offset[j]]; /* residue length - 2 is not marked, so it is not in it */
            ending[n] = both | last;
            n += (int32_t)last > 0; /* free, and it touches something */
            n_last_apart += last == 0;
        }
        if (n_last_apart && row)
            add(f, both, n_last_apart);
        else
            n_apart += n_last_apart;
    }
    if (n_apart)
        add(f, map, n_apart);
    add_known(f, ending, n);
}

static inline __attribute__((always_inline)) void toggle_open(sf_map_board *board, int n_steps, int position, uint32_t place)
{
    uint32_t *cell = board->cell + position;
    *cell ^= SF_MAP_BOARD_TAKEN;
#pragma GCC unroll 3
    for (int i = 0; i < n_steps; i += 2) {
        cell[board->offset[i]] ^= place;
        cell[-board->offset[i]] ^= place;
    }
}

/* Residues k .. when every direction is open to them, k <= length - 2. `self` is the function that calls this, for its
 * n_steps: one copy of all loops for each lattice. */
typedef void (*place_function)(sf_map_finisher *f, int k, int position, uint64_t map);

static inline __attribute__((always_inline)) void place_open(sf_map_finisher *f, int n_steps, int k, int position, uint64_t map,
                                                             place_function self)
{
    if (k == f->layout.length - 2) {
        last_two(f, n_steps, position, map);
        return;
    }
    const uint32_t own = ~sf_map_board_place(k - 1), place = sf_map_board_place(k);
    const int shift = f->layout.first[k];
    for (int i = 0; i < n_steps; i++) {
        int next = position + f->board.offset[i];
        uint32_t here = f->board.cell[next];
        if (here & SF_MAP_BOARD_TAKEN)
            continue;
        toggle_open(&f->board, n_steps, next, place);
        self(f, k + 1, next, map | (uint64_t)(here & own) << shift);
        toggle_open(&f->board, n_steps, next, place);
    }
}

static void place_open4(sf_map_finisher *f, int k, int position, uint64_t map)
{
    place_open(f, 4, k, position, map, place_open4);
}

static void place_open6(sf_map_finisher *f, int k, int position, uint64_t map)
{
    place_open(f, 6, k, position, map, place_open6);
}

/* Residues k .., also where axes are still to be opened, or fewer than two residues are left. */
static void place(sf_map_finisher *f, int k, int position, int axes, uint64_t map)
{
    int length = f->layout.length, choices = sf_map_board_choices(&f->board, axes);
    if (k == length) {
        add(f, map, 1);
        return;
    }
    if (k <= length - 2 && choices == f->board.n_steps) {
        if (choices == 4)
            place_open4(f, k, position, map);
        else
            place_open6(f, k, position, map);
        return;
    }
    for (int i = 0; i < choices; i++) {
        int next = position + f->board.offset[i];
        uint64_t here = f->board.cell[next];
        if (here & SF_MAP_BOARD_TAKEN)
            continue;
        here &= ~sf_map_board_place(k - 1);
        toggle(&f->board, next, k);
        place(f, k + 1, next, i == 2 * axes ? axes + 1 : axes, map | here << f->layout.first[k]);
        toggle(&f->board, next, k);
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
        toggle(&f->board, path[k], k);
    place(f, f->prefix_length, path[f->prefix_length - 1], axes, 0);
    for (int k = 0; k < f->prefix_length; k++)
        toggle(&f->board, path[k], k);
}

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

enum { DIGIT = 8, N_DIGITS = 1 << DIGIT, PASSES_MAX = 64 / DIGIT, FEW_TAILS = 24 };

/* Least significant digit first; digits in which all are equal are passed over. */
static void radix_sort(sf_tail *tails, sf_tail *scratch, size_t n, int n_passes)
{
    uint32_t start[PASSES_MAX][N_DIGITS];
    memset(start, 0, (size_t)n_passes * sizeof start[0]);
    for (size_t i = 0; i < n; i++) {
        for (int pass = 0; pass < n_passes; pass++)
            start[pass][tails[i].map >> DIGIT * pass & (N_DIGITS - 1)]++;
    }
    sf_tail *from = tails, *to = scratch;
    for (int pass = 0; pass < n_passes; pass++) {
        if (start[pass][from[0].map >> DIGIT * pass & (N_DIGITS - 1)] == n)
            continue;
        uint32_t sum = 0;
        for (int d = 0; d < N_DIGITS; d++) {
            uint32_t here = start[pass][d];
            start[pass][d] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            to[start[pass][from[i].map >> DIGIT * pass & (N_DIGITS - 1)]++] = from[i];
        sf_tail *swap = from;
        from = to;
        to = swap;
    }
    if (from != tails)
        memcpy(tails, from, n * sizeof *tails);
}

int sf_map_finisher_tails(const sf_map_finisher *f, sf_tail *tails, sf_tail *scratch)
{
    if (f->failed)
        return SF_ENOMEM;
    int bits = sf_contact_tail_bits(&f->layout, f->prefix_length);
    for (size_t i = 0; i < f->n_used; i++)
        tails[i] = f->table[f->used[i]];
    if (f->n_used <= FEW_TAILS)
        insertion_sort(tails, f->n_used);
    else
        radix_sort(tails, scratch, f->n_used, (bits + DIGIT - 1) / DIGIT);
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
        uint64_t here = f->board.cell[next];
        if (here & SF_MAP_BOARD_TAKEN)
            continue;
        here &= ~sf_map_board_place(k - 1);
        sf_map_prefix longer = prefix;
        if (f->layout.width[k] > 0)
            longer.map |= here << (f->layout.first[k] - l->tail_bits);
        longer.steps |= (uint64_t)i << 3 * (k - 2);
        toggle(&f->board, next, k);
        list(f, l, k + 1, next, i == 2 * axes ? axes + 1 : axes, longer);
        toggle(&f->board, next, k);
    }
}

size_t sf_map_finisher_prefixes(sf_map_finisher *f, sf_map_prefix *prefixes, size_t room)
{
    prefix_list l = {.prefixes = prefixes, .room = room};
    l.tail_bits = sf_contact_tail_bits(&f->layout, f->prefix_length);
    int second = f->board.origin + f->board.offset[0];
    toggle(&f->board, f->board.origin, 0);
    toggle(&f->board, second, 1);
    list(f, &l, 2, second, 1, (sf_map_prefix){0});
    toggle(&f->board, f->board.origin, 0);
    toggle(&f->board, second, 1);
    return l.n;
}

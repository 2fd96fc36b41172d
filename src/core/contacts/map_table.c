/* The table of contact maps: room, check, and how large it will be. */
#include "core/contacts/map_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/memory.h"
#include "core/contacts/map_build.h"
#include "starfold/problem.h"

/* Distinct contact maps by length, from 3 residues up, as far as tables go: counted by the builders here, whose totals are
 * checked, and up to 18 (square) and 14 (cubic) by separate programs (tests/data/contact_maps.csv). */
static const uint32_t known_square[] = {1,     2,     3,     8,      14,     41,     78,      212,     424,      1113,    2309,
                                        5953,  12495, 31940, 67389,  170670, 363010, 910972,  1953847, 4868343, 10513774,
                                        26042911};
static const uint32_t known_cubic[] = {1, 2, 3, 9, 20, 66, 188, 699, 2180, 8738, 29779, 121872, 434313, 1806495, 6601370};

int sf_map_table_length_max(const sf_lattice *lattice)
{
    int length = SF_LENGTH_MIN;
    while (length < SF_CONTACT_LENGTH_MAX && sf_lattice_conformations(lattice, length + 1) != 0 &&
           sf_lattice_conformations(lattice, length + 1) <= UINT32_MAX)
        length++;
    return length;
}

int sf_map_table_length_check(const sf_lattice *lattice, int length, sf_error *err)
{
    int longest = sf_map_table_length_max(lattice);
    if (length >= SF_LENGTH_MIN && length <= longest)
        return 0;
    return sf_fail(err, SF_ELIMIT, "a table of contact maps holds chains of %d to %d residues on the %s lattice, not %d",
                   SF_LENGTH_MIN, longest, lattice->name, length);
}

uint64_t sf_map_table_expected(const sf_lattice *lattice, int length)
{
    const uint32_t *known = lattice->dimension == 2 ? known_square : known_cubic;
    size_t n = lattice->dimension == 2 ? sizeof known_square / sizeof *known : sizeof known_cubic / sizeof *known;
    size_t i = (size_t)length - SF_LENGTH_MIN;
    return length >= SF_LENGTH_MIN && i < n ? known[i] : 0;
}

/* Measured: on the square lattice 1.4 times the share at 2 and 3 parts, 1.5 at 6, 1.8 at 16; 1.5, 1.6 and 2.3 on the cubic. */
uint64_t sf_map_table_part_expected(const sf_lattice *lattice, int length, int n_parts)
{
    const uint64_t all = sf_map_table_expected(lattice, length), n = n_parts > 1 ? (uint64_t)n_parts : 1;
    const bool square = lattice->dimension == 2;
    uint64_t percent = (square ? 130 : 140) + 5 * n, most = square ? 180 : 230;
    uint64_t part = all / n * (percent < most ? percent : most) / 100 + 1;
    return n == 1 || part > all ? all : part;
}

static uint64_t map_bytes(int length)
{
    sf_contact_layout layout;
    sf_contact_layout_init(&layout, length);
    return (uint64_t)layout.n_words * sizeof(uint64_t) + sizeof(uint32_t);
}

uint64_t sf_map_table_bytes(const sf_lattice *lattice, int length)
{
    return sf_map_table_expected(lattice, length) * map_bytes(length);
}

uint64_t sf_map_table_slack_bytes(uint64_t n_maps, int n_threads)
{
    uint64_t most = (UINT64_C(4) + 3 * (uint64_t)n_threads) << 20;
    return n_maps * 15 < most ? n_maps * 15 : most;
}

/* Tails of the largest group, about: 13 to 16 times the root of the number of maps on the square lattice, 55 to 80 times on
 * the cubic. */
static uint64_t largest_group(const sf_lattice *lattice, uint64_t n_maps)
{
    uint64_t root = 1;
    while (root * root < n_maps)
        root++;
    return root * (lattice->dimension == 2 ? 16 : 80);
}

/* Measured, and what it is made of: the prefixes, the tasks, what the threads find, with several threads the table beside
 * it and what several of them find of a group that was cut; and the hash and the sorting of the largest group. */
uint64_t sf_map_table_build_bytes(const sf_lattice *lattice, int length, int n_threads, int n_parts)
{
    enum { TASK = 48, GROUP_WORK = 140, CUT_GROUP = 60 };
    int prefix = sf_map_build_prefix_length(lattice, length);
    uint64_t all = sf_map_table_expected(lattice, length), maps = sf_map_table_part_expected(lattice, length, n_parts);
    uint64_t prefixes = sf_lattice_conformations(lattice, prefix) * sizeof(sf_map_prefix);
    uint64_t tasks = sf_map_table_expected(lattice, prefix) * TASK, group = largest_group(lattice, all);
    uint64_t found = maps * (sizeof(uint64_t) + sizeof(uint32_t)), table = maps * map_bytes(length);
    uint64_t threads = (uint64_t)n_threads, highest;
    if (n_threads == 1)
        highest = table + group * GROUP_WORK;
    else
        highest = found + table + group * CUT_GROUP * threads / 2 + group * GROUP_WORK * threads / 4;
    highest += prefixes + tasks + sf_map_table_slack_bytes(maps, n_threads) / (n_threads == 1 ? 2 : 1);
    return highest > 2 * prefixes ? highest : 2 * prefixes; /* while they are sorted */
}

int sf_map_table_memory_check(const sf_lattice *lattice, int length, size_t n_parts, const sf_map_options *options,
                              sf_error *err)
{
    uint64_t limit = options->memory_limit ? options->memory_limit : sf_memory_available();
    uint64_t need = sf_map_table_build_bytes(lattice, length, options->n_threads, (int)n_parts);
    if (need <= limit)
        return 0;
    return sf_fail(err, SF_ELIMIT,
                   "the table of contact maps of %d residues on the %s lattice needs about %" PRIu64
                   " MiB while it is built, and %" PRIu64 " MiB may be used: allow more memory or take a shorter chain",
                   length, lattice->name, (need >> 20) + 1, limit >> 20);
}

int sf_map_table_alloc(sf_map_table *table, const sf_lattice *lattice, int length, size_t n_maps, sf_error *err)
{
    memset(table, 0, sizeof *table);
    table->lattice = lattice;
    sf_contact_layout_init(&table->layout, length);
    table->low = sf_array_alloc(n_maps, sizeof *table->low);
    table->count = sf_array_alloc(n_maps, sizeof *table->count);
    if (table->layout.n_words > 1)
        table->high = sf_array_alloc(n_maps, sizeof *table->high);
    if (!table->low || !table->count || (table->layout.n_words > 1 && !table->high)) {
        sf_map_table_free(table);
        return sf_fail(err, SF_ENOMEM, "out of memory for a table of %zu contact maps of %d residues", n_maps, length);
    }
    table->n_maps = n_maps;
    return 0;
}

void sf_map_table_free(sf_map_table *table)
{
    free(table->low);
    free(table->high);
    free(table->count);
    memset(table, 0, sizeof *table);
}

/* All but whether *conformations, their sum, is right. */
static int check_maps(const sf_map_table *table, uint64_t *conformations, sf_error *err)
{
    uint64_t total = 0;
    int most = 0;
    sf_contact_map previous = 0;
    for (size_t i = 0; i < table->n_maps; i++) {
        sf_contact_map map = sf_map_table_map(table, i);
        if (i > 0 && map <= previous)
            return sf_fail(err, SF_ECHECK, "contact map %zu of %zu is not above the one before it", i, table->n_maps);
        if (table->count[i] == 0)
            return sf_fail(err, SF_ECHECK, "contact map %zu of %zu has no conformation", i, table->n_maps);
        int contacts = sf_contact_count(map);
        most = contacts > most ? contacts : most;
        total += table->count[i];
        previous = map;
    }
    if (table->layout.n_bits < 128 && previous >> table->layout.n_bits != 0)
        return sf_fail(err, SF_ECHECK, "a contact map has bits beyond the %d of its length", table->layout.n_bits);
    if (most != table->max_contacts)
        return sf_fail(err, SF_ECHECK, "the most contacts of a map are %d, not %d", most, table->max_contacts);
    *conformations = total;
    return 0;
}

int sf_map_table_check_part(const sf_map_table *table, sf_error *err)
{
    uint64_t total;
    int code = check_maps(table, &total, err);
    if (!code && total != table->conformations)
        return sf_fail(err, SF_ECHECK, "contact maps hold %" PRIu64 " conformations, not %" PRIu64, total,
                       table->conformations);
    return code;
}

int sf_map_table_check(const sf_map_table *table, sf_error *err)
{
    uint64_t total, known = sf_lattice_conformations(table->lattice, table->layout.length);
    int code = check_maps(table, &total, err);
    if (!code && total == known && table->conformations != known)
        return sf_fail(err, SF_ECHECK, "the table says that it holds %" PRIu64 " conformations; its maps hold %" PRIu64,
                       table->conformations, total);
    if (!code && total != known)
        return sf_fail(err, SF_ECHECK,
                       "the table of %d residues on the %s lattice holds %" PRIu64 " conformations; there are %" PRIu64,
                       table->layout.length, table->lattice->name, total, known);
    return code;
}

/* The tables of contact maps: known numbers, builders against each other and against plain walks, threads, parts, limits. */
#include "core/contacts/map_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../test_main.h"
#include "core/walk/walk.h"
#include "csv.h"

static const sf_map_options one_thread = {.n_threads = 1};

static sf_map_table build(const char *lattice, int length, int n_threads)
{
    sf_map_table table;
    sf_error err = {0};
    sf_map_options options = {.n_threads = n_threads};
    if (sf_map_table_build(&table, sf_lattice_find(lattice), length, &options, &err) != 0)
        CU_FAIL_FATAL("a table could not be built");
    return table;
}

static bool same(const sf_map_table *a, const sf_map_table *b)
{
    size_t n = a->n_maps;
    return n == b->n_maps && a->conformations == b->conformations && a->max_contacts == b->max_contacts &&
           memcmp(a->low, b->low, n * sizeof *a->low) == 0 && memcmp(a->count, b->count, n * sizeof *a->count) == 0 &&
           !a->high == !b->high && (!a->high || memcmp(a->high, b->high, n * sizeof *a->high) == 0);
}

static void test_known_numbers(void)
{
    csv c;
    int rows = 0;
    csv_open(&c, "contact_maps.csv");
    while (csv_next(&c)) {
        int length = (int)csv_number(&c, 1);
        uint64_t by_contacts[32], known[32], n_single = 0;
        sf_map_table table = build(csv_lattice(&c), length, 2);
        CU_ASSERT_EQUAL(table.conformations, csv_number(&c, 2));
        CU_ASSERT_EQUAL(table.n_maps, csv_number(&c, 3));
        CU_ASSERT_EQUAL((uint64_t)table.max_contacts, csv_number(&c, 5));
        memset(by_contacts, 0, sizeof by_contacts);
        for (size_t i = 0; i < table.n_maps; i++) {
            by_contacts[sf_contact_count(sf_map_table_map(&table, i))]++;
            n_single += table.count[i] == 1;
        }
        CU_ASSERT_EQUAL(n_single, csv_number(&c, 4));
        CU_ASSERT_EQUAL(csv_numbers(&c, 6, known, 32), table.max_contacts + 1);
        CU_ASSERT_EQUAL(memcmp(known, by_contacts, sizeof known), 0);
        CU_ASSERT_EQUAL(sf_map_table_expected(table.lattice, length), table.n_maps);
        sf_map_table_free(&table);
        rows++;
    }
    CU_ASSERT_EQUAL(rows, 26);
}

static void test_builders_agree(void)
{
    static const struct {
        const char *lattice;
        int last;
    } ranges[] = {{"square", 16}, {"cubic", 12}};
    for (size_t r = 0; r < 2; r++) {
        for (int length = 3; length <= ranges[r].last; length++) {
            sf_map_table grouped = build(ranges[r].lattice, length, 1), plain;
            CU_ASSERT_EQUAL(sf_map_table_build_plain(&plain, grouped.lattice, length, &one_thread, NULL), 0);
            CU_ASSERT(same(&grouped, &plain));
            sf_map_table_free(&plain);
            sf_map_table_free(&grouped);
        }
    }
}

/* Two words a map. */
static void test_two_words(void)
{
    sf_map_table grouped = build("square", 19, 2), plain;
    CU_ASSERT_PTR_NOT_NULL(grouped.high);
    CU_ASSERT_EQUAL(sf_map_table_build_plain(&plain, grouped.lattice, 19, &one_thread, NULL), 0);
    CU_ASSERT(same(&grouped, &plain));
    sf_map_table_free(&plain);
    sf_map_table_free(&grouped);
}

static void test_threads_agree(void)
{
    for (int r = 0; r < 2; r++) {
        for (int length = 3; length <= (r ? 12 : 16); length++) {
            sf_map_table one = build(r ? "cubic" : "square", length, 1);
            for (int n_threads = 2; n_threads <= 3; n_threads++) {
                sf_map_table more = build(r ? "cubic" : "square", length, n_threads);
                CU_ASSERT(same(&one, &more));
                sf_map_table_free(&more);
            }
            sf_map_table_free(&one);
        }
    }
}

static void test_parts_make_the_whole(void)
{
    static const size_t n_parts[] = {1, 2, 3, 7, 500};
    for (int length = 4; length <= 14; length += 5) {
        sf_map_table whole = build("square", length, 1);
        for (size_t i = 0; i < sizeof n_parts / sizeof *n_parts; i++) {
            size_t at = 0;
            uint64_t conformations = 0;
            for (size_t part = 0; part < n_parts[i]; part++) {
                sf_map_table piece;
                sf_map_options options = {.n_threads = part % 2 ? 2 : 1};
                CU_ASSERT_EQUAL_FATAL(sf_map_table_build_part(&piece, whole.lattice, length, part, n_parts[i], &options, NULL),
                                      0);
                CU_ASSERT_FATAL(at + piece.n_maps <= whole.n_maps);
                for (size_t i_map = 0; i_map < piece.n_maps; i_map++) { /* a part may be empty */
                    CU_ASSERT_EQUAL(piece.low[i_map], whole.low[at + i_map]);
                    CU_ASSERT_EQUAL(piece.count[i_map], whole.count[at + i_map]);
                }
                at += piece.n_maps;
                conformations += piece.conformations;
                sf_map_table_free(&piece);
            }
            CU_ASSERT_EQUAL(at, whole.n_maps);
            CU_ASSERT_EQUAL(conformations, whole.conformations);
        }
        sf_map_table_free(&whole);
    }
}

/* What is told of the largest part, for limits on memory. */
static void test_largest_part(void)
{
    const sf_map_options options = {.n_threads = 1};
    for (int r = 0; r < 2; r++) {
        const sf_lattice *lattice = sf_lattice_find(r ? "cubic" : "square");
        const int length = r ? 14 : 20;
        for (int n_parts = 1; n_parts <= 4; n_parts++) {
            size_t most = 0;
            for (int part = 0; part < n_parts; part++) {
                sf_map_table piece;
                CU_ASSERT_EQUAL_FATAL(
                    sf_map_table_build_part(&piece, lattice, length, (size_t)part, (size_t)n_parts, &options, NULL), 0);
                most = piece.n_maps > most ? piece.n_maps : most;
                sf_map_table_free(&piece);
            }
            uint64_t told = sf_map_table_part_expected(lattice, length, n_parts);
            CU_ASSERT(told >= most * 9 / 10 && told <= most * 12 / 10);
        }
    }
}

/* Takes each conformation of the plain walk out of the table again. */
typedef struct taker {
    sf_map_table table;
    bool missing;
} taker;

static int take(void *context, const uint8_t *steps)
{
    taker *t = context;
    uint8_t pairs[64][2];
    int n = sf_walk_contacts(t->table.lattice, t->table.layout.length, steps, pairs);
    sf_contact_map map = 0;
    for (int i = 0; i < n; i++)
        map |= (sf_contact_map)1 << sf_contact_bit(&t->table.layout, pairs[i][0], pairs[i][1]);
    size_t low = 0, high = t->table.n_maps;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (sf_map_table_map(&t->table, middle) <= map)
            low = middle;
        else
            high = middle;
    }
    if (sf_map_table_map(&t->table, low) != map || t->table.count[low]-- == 0)
        t->missing = true;
    return 0;
}

static void test_against_walks(void)
{
    for (int r = 0; r < 2; r++) {
        for (int length = 3; length <= (r ? 9 : 12); length++) {
            taker t = {.table = build(r ? "cubic" : "square", length, 1)};
            sf_walk_prefixes prefixes;
            CU_ASSERT_EQUAL_FATAL(sf_walk_prefixes_init(&prefixes, t.table.lattice, length, NULL), 0);
            for (size_t i = 0; i < prefixes.n; i++)
                sf_walk_visit(&prefixes, i, take, &t, NULL);
            sf_walk_prefixes_free(&prefixes);
            CU_ASSERT(!t.missing);
            for (size_t i = 0; i < t.table.n_maps; i++)
                CU_ASSERT_EQUAL(t.table.count[i], 0);
            sf_map_table_free(&t.table);
        }
    }
}

static void expect_limit(const char *lattice, int length, uint64_t memory, const char *word)
{
    sf_error err = {0};
    sf_map_table table;
    sf_map_options options = {.n_threads = 1, .memory_limit = memory};
    CU_ASSERT_EQUAL(sf_map_table_build(&table, sf_lattice_find(lattice), length, &options, &err), SF_ELIMIT);
    CU_ASSERT_EQUAL(err.code, SF_ELIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, word));
    CU_ASSERT_PTR_NULL(table.low);
    sf_map_table_free(&table);
}

static void test_limits(void)
{
    expect_limit("square", 2, 0, "3 to 24");
    expect_limit("square", 25, 0, "3 to 24");
    expect_limit("cubic", 18, 0, "3 to 17");
    expect_limit("square", -1, 0, "3 to 24");
    expect_limit("square", 24, UINT64_C(100) << 20, "MiB");
    expect_limit("cubic", 17, UINT64_C(100) << 20, "MiB");
    CU_ASSERT_EQUAL(sf_map_table_length_max(sf_lattice_find("square")), 24);
    CU_ASSERT_EQUAL(sf_map_table_length_max(sf_lattice_find("cubic")), 17);
}

static void test_expected_size(void)
{
    sf_map_table table = build("square", 19, 2);
    CU_ASSERT_EQUAL(sf_map_table_expected(table.lattice, 19), table.n_maps);
    sf_map_table_free(&table);
    CU_ASSERT_EQUAL(sf_map_table_expected(sf_lattice_find("square"), 20), 910972);
    CU_ASSERT_EQUAL(sf_map_table_expected(sf_lattice_find("cubic"), 16), 1806495);
    const sf_lattice *square = sf_lattice_find("square");
    CU_ASSERT_EQUAL(sf_map_table_bytes(square, 18), UINT64_C(12) * 170670);
    CU_ASSERT(sf_map_table_bytes(square, 24) <= 24 * sf_map_table_expected(square, 24));
    for (int length = 4; length <= 24; length++)
        CU_ASSERT(sf_map_table_build_bytes(square, length, 1, 1) > sf_map_table_build_bytes(square, length - 1, 1, 1));
}

static void test_stop(void)
{
    volatile int stop = 1;
    sf_error err = {0};
    sf_map_table table;
    for (int n_threads = 1; n_threads <= 2; n_threads++) {
        sf_map_options options = {.n_threads = n_threads, .stop = &stop};
        CU_ASSERT_EQUAL(sf_map_table_build(&table, sf_lattice_find("square"), 16, &options, &err), SF_ESTOPPED);
        CU_ASSERT_PTR_NULL(table.low);
        CU_ASSERT_EQUAL(sf_map_table_build_plain(&table, sf_lattice_find("square"), 16, &options, &err), SF_ESTOPPED);
        CU_ASSERT_PTR_NULL(table.low);
    }
}

static void test_check_finds_damage(void)
{
    sf_map_table t = build("square", 12, 1);
    sf_error err = {0};
    CU_ASSERT_EQUAL(sf_map_table_check(&t, &err), 0);
    t.count[7]++;
    CU_ASSERT_EQUAL(sf_map_table_check(&t, &err), SF_ECHECK);
    t.conformations++;
    CU_ASSERT_EQUAL(sf_map_table_check(&t, &err), SF_ECHECK);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "15037"));
    t.conformations--;
    t.count[7]--;
    t.count[8] += t.count[9];
    uint32_t kept = t.count[9];
    t.count[9] = 0;
    CU_ASSERT_EQUAL(sf_map_table_check(&t, &err), SF_ECHECK);
    t.count[9] = kept;
    t.count[8] -= kept;
    uint64_t map = t.low[100];
    t.low[100] = t.low[99];
    CU_ASSERT_EQUAL(sf_map_table_check(&t, &err), SF_ECHECK);
    t.low[100] = map;
    t.low[t.n_maps - 1] |= UINT64_C(1) << t.layout.n_bits;
    CU_ASSERT_EQUAL(sf_map_table_check(&t, &err), SF_ECHECK);
    t.low[t.n_maps - 1] &= ~(UINT64_C(1) << t.layout.n_bits);
    t.max_contacts++;
    CU_ASSERT_EQUAL(sf_map_table_check(&t, &err), SF_ECHECK);
    t.max_contacts--;
    CU_ASSERT_EQUAL(sf_map_table_check(&t, &err), 0);
    sf_map_table_free(&t);
}

const test_case test_cases[] = {
    {"numbers of maps are the known ones", test_known_numbers},
    {"the grouped build is the plain build", test_builders_agree},
    {"maps of two words", test_two_words},
    {"any number of threads, the same bytes", test_threads_agree},
    {"parts make the whole", test_parts_make_the_whole},
    {"the largest part", test_largest_part},
    {"every walk's map is in the table, as often", test_against_walks},
    {"lengths and memory beyond the limits are refused", test_limits},
    {"expected sizes", test_expected_size},
    {"a build can be stopped", test_stop},
    {"the check finds damage", test_check_finds_damage},
    {NULL, NULL},
};

/* The layout of the census equals one made plainly, whatever the threads, pieces and parts of a team. */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/engines/census/census_trie.h"
#include "test_main.h"

/* ---- the plain layout ---- */

/* A map's rows, that of the residue decided last first, and its count. */
typedef struct plain_map {
    uint16_t row[SF_CENSUS_LEVELS];
    uint32_t count;
} plain_map;

static int compare(const void *a, const void *b)
{
    const plain_map *x = a, *y = b;
    for (int i = 0; i < SF_CENSUS_LEVELS; i++) {
        if (x->row[i] != y->row[i])
            return x->row[i] < y->row[i] ? -1 : 1;
    }
    return 0;
}

/* A row's bits are the dense residues that its own can touch, in ascending order. */
static plain_map *plain_maps(const sf_census_trie *t, const sf_map_table *maps)
{
    plain_map *plain = calloc(maps->n_maps, sizeof *plain);
    for (size_t i = 0; plain && i < maps->n_maps; i++) {
        const sf_contact_map map = sf_map_table_map(maps, i);
        plain[i].count = maps->count[i];
        for (int l = 0; l < t->n_decided; l++) {
            int place = 0;
            for (int d = t->n_dense - 1; d >= 0; d--) {
                const int bit = sf_contact_bit(&maps->layout, t->decided[l], t->dense[d]);
                if (bit >= 0)
                    plain[i].row[t->n_decided - 1 - l] |= (uint16_t)((map >> bit & 1) << place++);
            }
        }
    }
    if (plain)
        qsort(plain, maps->n_maps, sizeof *plain, compare);
    return plain;
}

static bool same_rows(const plain_map *a, const plain_map *b, int n)
{
    return memcmp(a->row, b->row, (size_t)n * sizeof a->row[0]) == 0;
}

/* Goes through the plain maps and the nodes side by side: how many places differ. */
static size_t n_wrong(const sf_census_trie *t, const plain_map *plain, size_t n)
{
    size_t node[SF_CENSUS_LEVELS + 1] = {0}, wrong = 0;
    for (size_t i = 0; i < n; i++) {
        for (int l = t->n_decided; l >= 0; l--) {
            const int n_rows = t->n_decided - l; /* that a node of this level has decided */
            if (l > 0 && i > 0 && same_rows(&plain[i - 1], &plain[i], n_rows))
                continue;
            uint32_t row = l < t->n_decided ? plain[i].row[t->n_decided - 1 - l] : 0;
            row |= l == 0 && plain[i].count > 1 ? SF_CENSUS_MAP_TWICE : 0;
            wrong += l < t->n_decided && t->row[l][node[l]] != row;
            wrong += l > 0 && t->child[l - 1][node[l]] != node[l - 1];
            wrong += l == 0 && t->map_count && t->map_count[i] != plain[i].count;
            node[l]++;
        }
    }
    for (int l = 0; l <= t->n_decided; l++) {
        wrong += t->n_nodes[l] != node[l];
        wrong += l > 0 && t->child[l - 1][node[l]] != node[l - 1];
    }
    return wrong;
}

/* ---- a team of one ---- */

typedef struct alone {
    size_t n_agreed, bad; /* the call of agree that says no; 0: none */
    bool has_room;
    void *memory;
} alone;

static bool agree(void *context, bool well)
{
    alone *a = context;
    return ++a->n_agreed != a->bad && well;
}

static void sum(void *context, size_t n, uint64_t *counts)
{
    (void)context;
    (void)n;
    (void)counts;
}

static void *room(void *context, uint64_t bytes)
{
    alone *a = context;
    if (a->has_room)
        a->memory = sf_array_alloc((size_t)bytes, 1);
    return a->memory;
}

static void settle(void *context)
{
    (void)context;
}

static sf_census_team team_of(alone *a)
{
    return (sf_census_team){.n_parts = 1, .context = a, .agree = agree, .sum = sum, .room = room, .settle = settle};
}

/* ---- the tests ---- */

static sf_map_table build(const char *lattice, int length)
{
    sf_map_table maps;
    const sf_map_options options = {.n_threads = 2};
    CU_ASSERT_EQUAL_FATAL(sf_map_table_build(&maps, sf_lattice_find(lattice), length, &options, NULL), 0);
    return maps;
}

static void check(const char *lattice, int length)
{
    sf_map_table maps = build(lattice, length);
    sf_census_trie t;
    sf_census_trie_classes(&t, maps.lattice, length);
    plain_map *plain = plain_maps(&t, &maps);
    CU_ASSERT_PTR_NOT_NULL_FATAL(plain);
    for (int n_threads = 1; n_threads <= 5; n_threads += 2) {
        for (int kind = 0; kind < 2; kind++) {
            CU_ASSERT_EQUAL_FATAL(
                sf_census_trie_init(&t, &maps, kind ? SF_CENSUS_HISTOGRAMS : SF_CENSUS_SETS, n_threads, NULL, NULL), 0);
            CU_ASSERT_EQUAL(n_wrong(&t, plain, maps.n_maps), 0);
            CU_ASSERT_EQUAL(t.map_count != NULL, kind == 1);
            sf_census_trie_free(&t);
        }
    }
    free(plain);
    sf_map_table_free(&maps);
}

static void test_against_plain(void)
{
    for (int length = 3; length <= 16; length++)
        check("square", length);
    check("square", 17); /* several pieces */
    check("square", 19); /* maps of two words */
    for (int length = 3; length <= 12; length++)
        check("cubic", length);
    check("cubic", 14);
}

static void test_team(void)
{
    sf_map_table maps = build("square", 17);
    sf_census_trie t;
    for (int has_room = 0; has_room < 2; has_room++) {
        alone a = {.has_room = has_room};
        const sf_census_team team = team_of(&a);
        CU_ASSERT_EQUAL_FATAL(sf_census_trie_init(&t, &maps, SF_CENSUS_SETS, 2, &team, NULL), 0);
        CU_ASSERT_EQUAL(t.memory == NULL, has_room);
        CU_ASSERT_EQUAL((void *)t.child[0] == a.memory, has_room);
        plain_map *plain = plain_maps(&t, &maps);
        CU_ASSERT_EQUAL(n_wrong(&t, plain, maps.n_maps), 0);
        free(plain);
        sf_census_trie_free(&t);
        free(a.memory);
        for (size_t bad = 1; bad <= a.n_agreed; bad++) { /* what fails in another fails here */
            alone b = {.bad = bad, .has_room = has_room};
            const sf_census_team failing = team_of(&b);
            sf_error err = {0};
            CU_ASSERT_EQUAL(sf_census_trie_init(&t, &maps, SF_CENSUS_SETS, 2, &failing, &err), SF_ENOMEM);
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "out of memory for the census"));
            free(b.memory);
        }
    }
    sf_map_table_free(&maps);
}

const test_case test_cases[] = {
    {"as laid out plainly, with several threads", test_against_plain},
    {"a team's memory, and what fails in it", test_team},
    {NULL, NULL},
};

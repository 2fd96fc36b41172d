/* A table written to memory as an image and opened there: the plain scan's answers from every instruction set to every
 * other; images that are cut or not images; tables of a part of the maps, whose answers add up. */
#include "core/engines/table/table_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../test_main.h"
#include "core/base/isa.h"
#include "core/engines/table/table.h"

enum { WIDTH = SF_TABLE_SCORES, N = 40 };

static const struct {
    const char *lattice;
    int length;
} cases[] = {{"square", 3}, {"square", 9}, {"square", 16}, {"square", 19}, {"cubic", 6}, {"cubic", 13}};

enum { N_CASES = sizeof cases / sizeof cases[0] };

static sf_map_table build(size_t i)
{
    sf_map_table maps;
    sf_map_options options = {.n_threads = 1};
    if (sf_map_table_build(&maps, sf_lattice_find(cases[i].lattice), cases[i].length, &options, NULL) != 0)
        CU_FAIL_FATAL("a table could not be built");
    return maps;
}

static void random_sequences(int length, uint32_t sequence[N])
{
    uint64_t state = test_seed() + (uint64_t)length;
    uint32_t all = (UINT32_C(1) << length) - 1;
    for (int i = 0; i < N; i++)
        sequence[i] = i < 2 ? (i ? all : 0) : (uint32_t)test_random(&state) & all;
}

static void set_isa(int isa)
{
    setenv("STARFOLD_ISA", sf_isa_name((sf_isa)isa), 1);
}

/* Answers by the plain scan. */
static void check_answers(const sf_table *table, const sf_map_table *maps, unsigned kinds)
{
    sf_table_work *work = NULL;
    uint32_t sequence[N];
    size_t wrong = 0;
    random_sequences(maps->layout.length, sequence);
    if (kinds & SF_TABLE_SETS)
        CU_ASSERT_EQUAL_FATAL(sf_table_work_open(&work, table, NULL), 0);
    for (int i = 0; i < N; i++) {
        uint64_t known[WIDTH] = {0}, found[WIDTH] = {0};
        if (kinds & SF_TABLE_SETS)
            wrong += sf_table_scores(table, work, sequence[i]) != sf_table_plain_scores(maps, sequence[i]);
        if (!(kinds & SF_TABLE_HISTOGRAMS))
            continue;
        sf_table_plain_histogram(maps, sequence[i], known);
        sf_table_histograms(table, 0, 1, 1, &sequence[i], WIDTH, found);
        wrong += memcmp(known, found, sizeof known) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    sf_table_work_close(work);
}

/* A page of its own, so that it can be made read-only, as another rank may have it. */
static void *map_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        CU_FAIL_FATAL("no memory for an image");
    return memory;
}

static void check_image(const sf_map_table *maps, unsigned kinds, int from, int to)
{
    sf_table *table, *opened;
    set_isa(from);
    CU_ASSERT_EQUAL_FATAL(sf_table_open_maps(&table, maps, kinds, NULL), 0);
    size_t bytes = (size_t)sf_table_image_bytes(table);
    uint64_t held = sf_table_memory(table);
    CU_ASSERT(bytes >= held && bytes <= held + 65536);
    void *first = map_memory(bytes), *second = map_memory(bytes);
    sf_table_image_write(table, first);
    sf_table_close(table);
    memcpy(second, first, bytes); /* elsewhere: nothing in it may point to where it was */
    memset(first, 0xff, bytes);
    munmap(first, bytes);
    mprotect(second, bytes, PROT_READ);
    set_isa(to);
    CU_ASSERT_EQUAL_FATAL(sf_table_image_open(&opened, second, bytes, NULL), 0);
    CU_ASSERT_EQUAL(sf_table_maps(opened), maps->n_maps);
    CU_ASSERT_EQUAL(sf_table_image_bytes(opened), bytes);
    check_answers(opened, maps, kinds);
    sf_table_close(opened);
    munmap(second, bytes);
}

static void test_round_trip(void)
{
    for (size_t i = 0; i < N_CASES; i++) {
        sf_map_table maps = build(i);
        for (int from = 0; from < SF_ISA_COUNT; from++) {
            for (int to = 0; to < SF_ISA_COUNT; to++)
                check_image(&maps, SF_TABLE_SETS | SF_TABLE_HISTOGRAMS, from, to);
        }
        check_image(&maps, SF_TABLE_SETS, 0, SF_ISA_COUNT - 1);
        check_image(&maps, SF_TABLE_HISTOGRAMS, SF_ISA_COUNT - 1, 0);
        sf_map_table_free(&maps);
    }
    unsetenv("STARFOLD_ISA");
}

static void test_no_image(void)
{
    sf_map_table maps = build(1);
    sf_table *table, *opened;
    sf_error err = {0};
    CU_ASSERT_EQUAL_FATAL(sf_table_open_maps(&table, &maps, SF_TABLE_HISTOGRAMS, NULL), 0);
    size_t bytes = (size_t)sf_table_image_bytes(table);
    uint8_t *memory = map_memory(bytes + SF_TABLE_IMAGE_ALIGNMENT);
    CU_ASSERT_EQUAL(sf_table_image_open(&opened, memory, bytes, &err), SF_ECHECK); /* zeros */
    CU_ASSERT_PTR_NULL(opened);
    sf_table_image_write(table, memory);
    CU_ASSERT_EQUAL(sf_table_image_open(&opened, memory, bytes - 1, &err), SF_ECHECK);
    CU_ASSERT_EQUAL(sf_table_image_open(&opened, memory, 10, &err), SF_ECHECK);
    memmove(memory + 8, memory, bytes);
    CU_ASSERT_EQUAL(sf_table_image_open(&opened, memory + 8, bytes, &err), SF_ECHECK); /* not aligned */
    memmove(memory, memory + 8, bytes);
    CU_ASSERT_EQUAL_FATAL(sf_table_image_open(&opened, memory, bytes, &err), 0);
    check_answers(opened, &maps, SF_TABLE_HISTOGRAMS);
    sf_table_close(opened);
    memory[24]++; /* written by a build whose head is longer */
    CU_ASSERT_EQUAL(sf_table_image_open(&opened, memory, bytes, &err), SF_ECHECK);
    munmap(memory, bytes + SF_TABLE_IMAGE_ALIGNMENT);
    sf_table_close(table);
    sf_map_table_free(&maps);
}

const test_case test_cases[] = {
    {"an image opens elsewhere, by any instruction set", test_round_trip},
    {"what is no image is refused", test_no_image},
    {NULL, NULL},
};

/* The numbering of residue pairs, masks and reversal. */
#include "core/contacts/contact.h"

#include "../test_main.h"

enum { RANDOM_MAPS = 200 };

static uint32_t random_residues(uint64_t *state, int length)
{
    return (uint32_t)(test_random(state) & ((UINT64_C(1) << length) - 1));
}

static sf_contact_map random_map(uint64_t *state, const sf_contact_layout *layout)
{
    sf_contact_map bits = (sf_contact_map)test_random(state) << 64 | test_random(state);
    return bits & (((sf_contact_map)1 << layout->n_bits) - 1);
}

static void test_every_pair_has_its_bit(void)
{
    for (int length = 3; length <= SF_CONTACT_LENGTH_MAX; length++) {
        sf_contact_layout layout;
        sf_contact_map seen = 0;
        int n = 0;
        sf_contact_layout_init(&layout, length);
        for (int a = 0; a < length; a++) {
            for (int b = 0; b < length; b++) {
                int bit = sf_contact_bit(&layout, a, b), apart = a < b ? b - a : a - b;
                CU_ASSERT_EQUAL(bit, sf_contact_bit(&layout, b, a));
                if (apart < 3 || apart % 2 == 0) {
                    CU_ASSERT_EQUAL(bit, -1);
                    continue;
                }
                CU_ASSERT(bit >= 0 && bit < layout.n_bits);
                if (a < b) {
                    CU_ASSERT(!(seen >> bit & 1));
                    CU_ASSERT(bit >= layout.first[b] && bit < layout.first[b] + layout.width[b]);
                    seen |= (sf_contact_map)1 << bit;
                    n++;
                }
            }
        }
        CU_ASSERT_EQUAL(n, layout.n_bits);
        CU_ASSERT_EQUAL(sf_contact_count(seen), layout.n_bits);
        CU_ASSERT_EQUAL(layout.n_words, layout.n_bits > 64 ? 2 : 1);
    }
}

static void test_known_sizes(void)
{
    static const int sizes[][2] = {{3, 0}, {4, 1}, {5, 2}, {16, 49}, {18, 64}, {19, 72}, {20, 81}, {24, 121}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sf_contact_layout layout;
        sf_contact_layout_init(&layout, sizes[i][0]);
        CU_ASSERT_EQUAL(layout.n_bits, sizes[i][1]);
    }
}

/* Maps that agree on a prefix of the chain must lie together when they are sorted. */
static void test_early_residues_are_high(void)
{
    sf_contact_layout layout;
    sf_contact_layout_init(&layout, 20);
    for (int k = 4; k < 20; k++) {
        CU_ASSERT(layout.first[k - 1] >= layout.first[k] + layout.width[k]);
        CU_ASSERT_EQUAL(sf_contact_tail_bits(&layout, k), layout.first[k - 1]);
    }
    CU_ASSERT_EQUAL(sf_contact_tail_bits(&layout, 0), layout.n_bits);
    CU_ASSERT_EQUAL(sf_contact_tail_bits(&layout, 20), 0);
}

static void test_masks(void)
{
    static sf_contact_masks masks;
    uint64_t state = test_seed();
    for (int length = 3; length <= SF_CONTACT_LENGTH_MAX; length++) {
        sf_contact_layout layout;
        sf_contact_layout_init(&layout, length);
        sf_contact_masks_init(&masks, &layout);
        uint32_t all = (UINT32_C(1) << length) - 1;
        CU_ASSERT_EQUAL(sf_contact_count(sf_contact_mask(&layout, all)), layout.n_bits);
        CU_ASSERT(sf_contact_mask(&layout, 0) == 0);
        for (int i = 0; i < RANDOM_MAPS; i++) {
            uint32_t residues = random_residues(&state, length);
            sf_contact_map mask = sf_contact_mask(&layout, residues);
            CU_ASSERT(mask == sf_contact_masks_get(&masks, residues));
            for (int b = 3; b < length; b++) {
                for (int a = b - 3; a >= 0; a -= 2)
                    CU_ASSERT_EQUAL((int)(mask >> sf_contact_bit(&layout, a, b) & 1), (residues >> a & residues >> b & 1));
            }
        }
    }
}

static void test_reversal(void)
{
    uint64_t state = test_seed() + 1;
    for (int length = 3; length <= SF_CONTACT_LENGTH_MAX; length++) {
        sf_contact_layout layout;
        sf_contact_layout_init(&layout, length);
        for (int i = 0; i < RANDOM_MAPS; i++) {
            uint32_t residues = random_residues(&state, length);
            uint32_t reverse = sf_contact_residues_reverse(length, residues);
            sf_contact_map map = random_map(&state, &layout), back = sf_contact_reverse(&layout, map);
            CU_ASSERT_EQUAL(sf_contact_residues_reverse(length, reverse), residues);
            CU_ASSERT_EQUAL(residues & 1, reverse >> (length - 1));
            CU_ASSERT(sf_contact_reverse(&layout, back) == map);
            CU_ASSERT(sf_contact_reverse(&layout, sf_contact_mask(&layout, residues)) == sf_contact_mask(&layout, reverse));
            CU_ASSERT_EQUAL(sf_contact_count(map & sf_contact_mask(&layout, residues)),
                            sf_contact_count(back & sf_contact_mask(&layout, reverse)));
        }
    }
}

const test_case test_cases[] = {
    {"every pair that can touch has a bit of its own", test_every_pair_has_its_bit},
    {"bits of known lengths", test_known_sizes},
    {"early residues own the high bits", test_early_residues_are_high},
    {"masks, plainly and by look-up", test_masks},
    {"reversal of maps and residues", test_reversal},
    {NULL, NULL},
};

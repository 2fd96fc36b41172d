/* Opens a census with another model: digits and codes, and maps as two numbers. */
#include "core/engines/census/census_model.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/isa.h"
#include "core/engines/census/census_model_plan.h"

bool sf_census_model_can(const sf_problem *problem)
{
    return problem->model->n_letters == 2;
}

/* ---- digits ---- */

static int greatest_divisor(int a, int b)
{
    return b ? greatest_divisor(b, a % b) : abs(a);
}

/* What the contacts of a dense residue, at most `most`, add. Where contacts with P add the same whoever the residue is, or
 * contacts with H do, only the others are counted, beside the number of all contacts. */
static void make_digit(sf_model_digit *digit, int most, int hh, int hp, int pp)
{
    const bool only_h = hp == pp, only_p = !only_h && hp == hh;
    const int base = most + 1;
    digit->step[1] = only_p ? 0 : 1;
    digit->step[0] = only_h ? 0 : only_p ? 1 : (uint32_t)base;
    digit->radix = (uint32_t)(only_h || only_p ? base : most * base + 1);
    for (int value = 0; value < (int)digit->radix; value++) {
        const int h = value % base, p = value / base;
        digit->gain[0][value] = (int16_t)(only_h ? 0 : only_p ? value * (pp - hp) : h * hp + p * pp);
        digit->gain[1][value] = (int16_t)(only_h ? value * (hh - hp) : only_p ? 0 : h * hh + p * hp);
    }
}

static void make_digits(sf_census_model *m, const sf_problem *problem, int max_contacts)
{
    const int (*weight)[SF_LETTERS_MAX] = problem->model->weight;
    int hh = weight[0][0], hp = weight[0][1], pp = weight[1][1];
    m->unit = greatest_divisor(greatest_divisor(hh, hp), pp);
    m->unit = m->unit ? m->unit : 1;
    hh /= m->unit;
    hp /= m->unit;
    pp /= m->unit;
    m->zero = -problem->min_score / m->unit;
    m->n_scores = problem->n_scores;
    m->n_values = (problem->n_scores - 1) / m->unit + 1;
    m->common_gain = hp == pp || hp == hh ? hp : 0;
    m->common_radix = m->common_gain ? (uint32_t)max_contacts + 1 : 1;
    for (int d = 0; d < m->classes.n_dense; d++)
        make_digit(&m->digit[d], m->classes.radix[d] - 1, hh, hp, pp);
}

static int bits_for(uint32_t n)
{
    int bits = 0;
    while (bits < 32 && UINT64_C(1) << bits < n)
        bits++;
    return bits;
}

/* Digits of the first two fields: with masks as many as lanes can choose; with counts, where each choice is a pass over all
 * maps, few, but so many that the rest is a short array. */
static int n_head_digits(const sf_census_model *m)
{
    const int n_dense = m->classes.n_dense;
    int n = 5;
    for (; m->counts && n > 3; n--) {
        uint64_t rest = 1;
        for (int d = n - 1; d < n_dense; d++)
            rest *= m->digit[d].radix;
        if (rest > UINT64_C(1) << 20)
            break;
    }
    return n < n_dense ? n : n_dense;
}

/* Where each digit stands in a code, and so what each contact adds to it. */
static void make_fields(sf_census_model *m, const sf_contact_layout *layout)
{
    const sf_census_trie *t = &m->classes;
    uint64_t place[SF_CENSUS_LEVELS];
    int field_of[SF_CENSUS_LEVELS];
    m->n_head = n_head_digits(m);
    m->n_first = m->n_head < 3 ? m->n_head : 3;
    for (int field = 0; field < 3; field++)
        m->size[field] = 1;
    for (int d = 0; d < t->n_dense; d++) {
        field_of[d] = d < m->n_first ? 0 : d < m->n_head ? 1 : 2;
        place[d] = m->size[field_of[d]];
        m->size[field_of[d]] *= m->digit[d].radix;
    }
    uint64_t common = m->size[1];
    m->size[1] *= m->common_radix;
    m->shift[1] = bits_for(m->size[0]);
    m->shift[2] = m->shift[1] + bits_for(m->size[1]);
    common = m->common_radix > 1 ? common << m->shift[1] : 0;
    for (int l = 0; l < t->n_decided; l++) {
        for (int d = 0; d < t->n_dense; d++) {
            int bit = sf_contact_bit(layout, t->decided[l], t->dense[d]);
            if (bit < 0)
                continue;
            m->decision[bit] = (uint8_t)(t->n_decided - 1 - l);
            for (int h = 0; h < 2; h++)
                m->weight[h][bit] = (m->digit[d].step[h] * place[d] << m->shift[field_of[d]]) + common;
        }
    }
}

/* What the digits of a field add, and whoever is H, for a choice of the first residues. */
static int gain_of_field(const sf_census_model *m, int field, uint32_t value, uint32_t choice)
{
    int gain = field == 0 ? m->zero : 0;
    for (int d = field == 0 ? 0 : m->n_first; d < (field == 0 ? m->n_first : m->n_head); d++) {
        gain += m->digit[d].gain[choice >> (m->n_head - 1 - d) & 1][value % m->digit[d].radix];
        value /= m->digit[d].radix;
    }
    return field == 0 ? gain : gain + (int)value * m->common_gain;
}

static int make_gains(sf_census_model *m)
{
    const uint32_t n_choices = UINT32_C(1) << m->n_head;
    for (int field = 0; field < 2; field++) {
        if (m->counts)
            m->gain_of[field] = sf_array_zeroed((size_t)m->size[field] * n_choices, sizeof *m->gain_of[field]);
        else
            m->gain[field] = sf_array_zeroed(m->size[field], SF_MODEL_LANES);
        if (!m->gain[field] && !m->gain_of[field])
            return SF_ENOMEM;
        for (uint32_t value = 0; value < m->size[field]; value++) {
            for (uint32_t choice = 0; choice < n_choices; choice++) {
                int gain = gain_of_field(m, field, value, choice);
                if (m->counts)
                    m->gain_of[field][choice * m->size[field] + value] = (int16_t)gain;
                else
                    m->gain[field][value * SF_MODEL_LANES + choice] = (uint8_t)gain;
            }
        }
    }
    return 0;
}

/* ---- maps as two numbers ---- */

typedef struct numbering {
    sf_contact_map *key; /* key[room] */
    uint32_t *slot;      /* slot[2 * room]: 1 + the number of a key, or 0 */
    size_t n, room;      /* room is a power of two */
} numbering;

static size_t slot_of(const numbering *numbers, sf_contact_map key)
{
    const uint64_t high = (uint64_t)(key >> 64) * UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t mixed = ((uint64_t)key ^ high) * UINT64_C(0xd6e8feb86659fd93);
    size_t mask = 2 * numbers->room - 1, slot = (mixed >> 32) & mask;
    while (numbers->slot[slot] && numbers->key[numbers->slot[slot] - 1] != key)
        slot = (slot + 1) & mask;
    return slot;
}

static int numbering_grow(numbering *numbers)
{
    size_t room = numbers->room ? 2 * numbers->room : 1 << 12;
    sf_contact_map *key = sf_array_grow(numbers->key, numbers->n, room, sizeof *key);
    uint32_t *slot = sf_array_zeroed(2 * room, sizeof *slot);
    if (key)
        numbers->key = key;
    if (!key || !slot) {
        free(slot);
        return SF_ENOMEM;
    }
    free(numbers->slot);
    numbers->slot = slot;
    numbers->room = room;
    for (size_t i = 0; i < numbers->n; i++)
        slot[slot_of(numbers, key[i])] = (uint32_t)i + 1;
    return 0;
}

/* Numbers the contacts that maps have among `pairs`: number[i] for map i. */
static int number_parts(const sf_map_table *maps, sf_contact_map pairs, uint32_t *number, sf_contact_map **keys, size_t *n_keys)
{
    numbering numbers = {0};
    int code = numbering_grow(&numbers);
    for (size_t i = 0; !code && i < maps->n_maps; i++) {
        if (numbers.n == numbers.room)
            code = numbering_grow(&numbers);
        if (code)
            break;
        const sf_contact_map key = sf_map_table_map(maps, i) & pairs;
        const size_t slot = slot_of(&numbers, key);
        if (numbers.slot[slot] == 0) {
            numbers.key[numbers.n++] = key;
            numbers.slot[slot] = (uint32_t)numbers.n;
        }
        number[i] = numbers.slot[slot] - 1;
    }
    free(numbers.slot);
    *keys = numbers.key;
    *n_keys = numbers.n;
    return code;
}

/* Cuts outer parts of many maps; end[n_outer]: where each ends. */
static int cut_parts(sf_census_model *m, const uint32_t *end)
{
    size_t n = 0;
    for (size_t k = 0, from = 0; k < m->n_outer; from = end[k++])
        n += (end[k] - from + SF_MODEL_PART_MAPS - 1) / SF_MODEL_PART_MAPS;
    sf_contact_map *key = sf_array_alloc(n, sizeof *key);
    m->start = sf_array_alloc(n + 1, sizeof *m->start);
    if (!key || !m->start) {
        free(key);
        return SF_ENOMEM;
    }
    size_t part = 0;
    uint32_t at = 0;
    for (size_t k = 0; k < m->n_outer; k++) {
        for (; at < end[k]; at = end[k] - at < SF_MODEL_PART_MAPS ? end[k] : at + SF_MODEL_PART_MAPS) {
            key[part] = m->outer_key[k];
            m->start[part++] = at;
        }
    }
    m->start[n] = at;
    m->n_outer = n;
    free(m->outer_key);
    m->outer_key = key;
    return 0;
}

/* Maps in the order of their outer parts. */
static int sort_maps(sf_census_model *m, const sf_map_table *maps, const uint32_t *outer, const uint32_t *inner)
{
    uint32_t *to = sf_array_zeroed(m->n_outer + 1, sizeof *to); /* where the next map of an outer part goes */
    m->inner = sf_array_alloc(m->n_maps, sizeof *m->inner);
    m->count = m->counts ? sf_array_alloc(m->n_maps, sizeof *m->count) : NULL;
    int code = to && m->inner && (m->count || !m->counts) ? 0 : SF_ENOMEM;
    for (size_t i = 0; !code && i < m->n_maps; i++)
        to[outer[i] + 1]++;
    for (size_t k = 0; !code && k < m->n_outer; k++)
        to[k + 1] += to[k];
    for (size_t i = 0; !code && i < m->n_maps; i++) {
        const uint32_t at = to[outer[i]]++;
        m->inner[at] = inner[i] | (!m->counts && maps->count[i] > 1 ? SF_MODEL_TWICE : 0);
        if (m->counts)
            m->count[at] = maps->count[i];
    }
    if (!code)
        code = cut_parts(m, to);
    free(to);
    return code;
}

static int make_parts(sf_census_model *m, const sf_map_table *maps)
{
    sf_contact_map pairs[2] = {0, 0};
    const int n_inner = m->classes.n_decided - m->classes.n_decided / 2;
    for (int bit = 0; bit < maps->layout.n_bits; bit++)
        pairs[m->decision[bit] < n_inner] |= (sf_contact_map)1 << bit;
    m->n_maps = maps->n_maps;
    uint32_t *outer = sf_array_alloc(m->n_maps, sizeof *outer), *inner = sf_array_alloc(m->n_maps, sizeof *inner);
    int code = outer && inner ? 0 : SF_ENOMEM;
    if (!code)
        code = number_parts(maps, pairs[0], outer, &m->outer_key, &m->n_outer);
    if (!code)
        code = number_parts(maps, pairs[1], inner, &m->inner_key, &m->n_inner);
    if (!code)
        code = sort_maps(m, maps, outer, inner);
    free(outer);
    free(inner);
    return code;
}

/* ---- the plan ---- */

static const sf_census_model_kernel *kernel_of(sf_isa isa)
{
#if defined __x86_64__
    if (isa == SF_ISA_AVX512)
        return &sf_census_model_kernel_avx512;
    if (isa == SF_ISA_AVX2)
        return &sf_census_model_kernel_avx2;
#endif
    (void)isa;
    return &sf_census_model_kernel_portable;
}

int sf_census_model_open(sf_census_model **plan, const sf_map_table *maps, const sf_problem *problem, sf_census_kind kind,
                         sf_error *err)
{
    *plan = NULL;
    sf_census_model *m = calloc(1, sizeof *m);
    if (!m)
        return sf_fail(err, SF_ENOMEM, "out of memory for a census");
    m->kernel = kernel_of(sf_isa_get());
    sf_census_trie_classes(&m->classes, maps->lattice, maps->layout.length);
    make_digits(m, problem, maps->max_contacts);
    m->counts = kind == SF_CENSUS_HISTOGRAMS || m->n_values > SF_MODEL_MASK_BITS;
    make_fields(m, &maps->layout);
    int code = make_gains(m);
    if (!code)
        code = make_parts(m, maps);
    if (code) {
        sf_census_model_close(m);
        return sf_fail(err, code, "out of memory for the census of %d residues: %zu contact maps", problem->length,
                       maps->n_maps);
    }
    *plan = m;
    return 0;
}

void sf_census_model_close(sf_census_model *m)
{
    if (!m)
        return;
    for (int field = 0; field < 2; field++) {
        free(m->gain[field]);
        free(m->gain_of[field]);
    }
    free(m->outer_key);
    free(m->inner_key);
    free(m->start);
    free(m->inner);
    free(m->count);
    free(m);
}

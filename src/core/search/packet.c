/* The layout of a packet and of its rows. Structs with padding are not copied whole, so that no byte of a packet is
 * undefined (valgrind and a comparison of packets would both trip over that). */
#include "core/search/packet.h"

#include <stdlib.h>
#include <string.h>

enum { PLACE_WIDTH = 4 + 8 + 4 + 4, MIGRANT_WIDTH = 4 * 4 + 8 + 8 + 4 };

size_t sf_packet_known_width(int64_t length, int64_t n_scores)
{
    return (size_t)length + (size_t)n_scores * sizeof(uint64_t) + 4 + 4 + 1 + PLACE_WIDTH;
}

size_t sf_packet_migrant_width(int64_t length)
{
    return (size_t)length + MIGRANT_WIDTH;
}

/* *at += a * b * c, false on overflow. */
static bool advance(size_t *at, size_t a, size_t b, size_t c)
{
    size_t product;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_mul_overflow(product, c, &product) &&
           !__builtin_add_overflow(*at, product, at);
}

int sf_packet_layout_of(const sf_packet_header *header, sf_packet_layout *layout)
{
    const size_t islands = (size_t)(header->last_island - header->first_island);
    const size_t generations = (size_t)(header->last_generation - header->first_generation);
    size_t population, at = sizeof *header;
    if (__builtin_mul_overflow((size_t)header->population, (size_t)header->length, &population))
        return SF_EFORMAT;

    layout->stats = at;
    if (!advance(&at, generations, islands, sizeof(sf_generation_stats)))
        return SF_EFORMAT;
    layout->kept = at;
    if (header->has_kept && !advance(&at, generations, islands, population))
        return SF_EFORMAT;
    layout->populations = at;
    if (header->has_populations && !advance(&at, islands, population, 1))
        return SF_EFORMAT;
    layout->known = at;
    if (!advance(&at, (size_t)header->n_known, sf_packet_known_width(header->length, header->n_scores), 1))
        return SF_EFORMAT;
    layout->migrants = at;
    if (!advance(&at, (size_t)header->n_migrants, sf_packet_migrant_width(header->length), 1))
        return SF_EFORMAT;
    layout->end = at;
    return SF_OK;
}

static uint8_t *put(uint8_t *at, const void *value, size_t n)
{
    memcpy(at, value, n);
    return at + n;
}

static const uint8_t *get(const uint8_t *at, void *value, size_t n)
{
    memcpy(value, at, n);
    return at + n;
}

void sf_packet_write_known(uint8_t *bytes, const sf_known *known, size_t row)
{
    const size_t length = (size_t)known->length, n_scores = (size_t)known->n_scores;
    const sf_place *first = &known->first[row];
    bytes = put(bytes, known->genome + row * length, length);
    bytes = put(bytes, known->histogram + row * n_scores, n_scores * sizeof *known->histogram);
    bytes = put(bytes, &known->fitness[row], 4);
    bytes = put(bytes, &known->best_score[row], 4);
    bytes = put(bytes, &known->exact[row], 1);
    bytes = put(bytes, &first->trial, 4);
    bytes = put(bytes, &first->generation, 8);
    bytes = put(bytes, &first->island, 4);
    put(bytes, &first->individual, 4);
}

void sf_packet_read_known(const uint8_t *bytes, int64_t length, int64_t n_scores, sf_packet_known_row *row)
{
    row->genome = bytes;
    row->histogram = bytes + length;
    bytes = row->histogram + (size_t)n_scores * sizeof(uint64_t);
    bytes = get(bytes, &row->fitness, 4);
    bytes = get(bytes, &row->best_score, 4);
    bytes = get(bytes, &row->exact, 1);
    bytes = get(bytes, &row->first.trial, 4);
    bytes = get(bytes, &row->first.generation, 8);
    bytes = get(bytes, &row->first.island, 4);
    get(bytes, &row->first.individual, 4);
}

void sf_packet_write_migrant(uint8_t *bytes, const sf_migrant *migrant, const uint8_t *genome, int64_t length)
{
    bytes = put(bytes, &migrant->trial, 4);
    bytes = put(bytes, &migrant->from, 4);
    bytes = put(bytes, &migrant->to, 4);
    bytes = put(bytes, &migrant->index, 4);
    bytes = put(bytes, &migrant->sent, 8);
    bytes = put(bytes, &migrant->taken, 8);
    bytes = put(bytes, &migrant->fate, 4);
    put(bytes, genome, (size_t)length);
}

const uint8_t *sf_packet_read_migrant(const uint8_t *bytes, sf_migrant *migrant)
{
    bytes = get(bytes, &migrant->trial, 4);
    bytes = get(bytes, &migrant->from, 4);
    bytes = get(bytes, &migrant->to, 4);
    bytes = get(bytes, &migrant->index, 4);
    bytes = get(bytes, &migrant->sent, 8);
    bytes = get(bytes, &migrant->taken, 8);
    return get(bytes, &migrant->fate, 4);
}

int sf_rows_reserve(sf_rows *rows, size_t n_more)
{
    size_t needed, bytes;
    if (__builtin_add_overflow(rows->n, n_more, &needed))
        return SF_ENOMEM;
    if (needed <= rows->capacity)
        return SF_OK;
    size_t capacity = rows->capacity > needed / 2 ? 2 * rows->capacity : needed;
    if (__builtin_mul_overflow(capacity, rows->width, &bytes))
        return SF_ENOMEM;
    uint8_t *grown = realloc(rows->bytes, bytes);
    if (!grown)
        return SF_ENOMEM;
    rows->bytes = grown;
    rows->capacity = capacity;
    return SF_OK;
}

uint8_t *sf_rows_push(sf_rows *rows)
{
    return rows->bytes + rows->width * rows->n++;
}

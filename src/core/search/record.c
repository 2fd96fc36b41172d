/* The record of a search: rank 0's arrays by trial, generation and island, filled from packets.
 *
 * A packet is checked whole before anything is changed, and memory is taken before anything is changed: a record is
 * always that of some complete set of packets. */
#include "core/search/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/search/packet.h"

static size_t n_islands(const sf_record *record)
{
    return (size_t)record->config.trials * (size_t)record->config.islands;
}

static size_t population_bytes(const sf_record *record)
{
    return (size_t)record->config.population * (size_t)record->length;
}

size_t sf_record_stats_index(const sf_record *record, int32_t trial, int64_t generation, int32_t island)
{
    const size_t islands = (size_t)record->config.islands;
    const size_t generations = (size_t)record->config.generations + 1;
    return ((size_t)trial * generations + (size_t)generation) * islands + (size_t)island;
}

/* a * b * c bytes, cleared; NULL also when the product overflows. */
static void *allocate(size_t a, size_t b, size_t c)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product))
        return NULL;
    return calloc(product, 1);
}

int sf_record_init(sf_record *record, const sf_search_config *config, int length, int n_scores, sf_error *err)
{
    *record = (sf_record){.config = *config, .length = length, .n_scores = n_scores, .generation = -1};
    int code = sf_search_config_check(config, err);
    if (code)
        return code;
    const size_t islands = n_islands(record), generations = (size_t)config->generations + 1;
    record->stats = allocate(islands, generations, sizeof *record->stats);
    record->population = allocate(islands, population_bytes(record), 1);
    record->arrived = allocate(islands, sizeof *record->arrived, 1);
    if (config->keep_populations)
        record->populations = allocate(islands, generations, population_bytes(record));
    if (!record->stats || !record->population || !record->arrived ||
        (config->keep_populations && !record->populations) || sf_known_init(&record->known, length, n_scores)) {
        sf_record_free(record);
        return sf_fail(err, SF_ENOMEM,
                       "out of memory for the record of %zu islands over %" PRId64 " generations%s: lower --trials, "
                       "--islands or --generations",
                       islands, config->generations, config->keep_populations ? " with all populations" : "");
    }
    return SF_OK;
}

void sf_record_free(sf_record *record)
{
    free(record->stats);
    free(record->population);
    free(record->populations);
    sf_known_free(&record->known);
    free(record->migrant);
    free(record->migrant_genome);
    free(record->arrived);
    free(record->migrant_slot);
    *record = (sf_record){.generation = -1};
}

/* ---- the migration log, found by its key ---- */

static int compare_migrants(const sf_migrant *a, const sf_migrant *b)
{
    if (a->trial != b->trial)
        return a->trial < b->trial ? -1 : 1;
    if (a->sent != b->sent)
        return a->sent < b->sent ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static size_t find_migrant_slot(const sf_record *record, const sf_migrant *migrant)
{
    const size_t mask = record->n_migrant_slots - 1;
    uint64_t h = (uint64_t)migrant->sent * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (uint64_t)(uint32_t)migrant->trial) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (uint64_t)(uint32_t)migrant->from) * UINT64_C(0x94d049bb133111eb);
    h = (h ^ (uint64_t)(uint32_t)migrant->index) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(h ^ (h >> 32)) & mask;
    while (record->migrant_slot[at] && compare_migrants(&record->migrant[record->migrant_slot[at] - 1], migrant) != 0)
        at = (at + 1) & mask;
    return at;
}

/* Brings the index up to date with the log, with room for `capacity` entries. */
static int index_migrants(sf_record *record, size_t capacity)
{
    if (record->n_migrants_indexed == record->n_migrants && record->n_migrant_slots / 2 >= capacity)
        return SF_OK;
    size_t n_slots = 64;
    while (n_slots / 2 < capacity) {
        if (__builtin_mul_overflow(n_slots, (size_t)2, &n_slots))
            return SF_ENOMEM;
    }
    size_t *slot = calloc(n_slots, sizeof *slot);
    if (!slot)
        return SF_ENOMEM;
    free(record->migrant_slot);
    record->migrant_slot = slot;
    record->n_migrant_slots = n_slots;
    for (size_t i = 0; i < record->n_migrants; i++)
        slot[find_migrant_slot(record, &record->migrant[i])] = i + 1;
    record->n_migrants_indexed = record->n_migrants;
    return SF_OK;
}

int sf_record_reserve_migrants(sf_record *record, size_t n_more)
{
    size_t needed, genome_bytes, row_bytes;
    if (__builtin_add_overflow(record->n_migrants, n_more, &needed))
        return SF_ENOMEM;
    if (needed > record->migrant_capacity) {
        size_t capacity = record->migrant_capacity > needed / 2 ? 2 * record->migrant_capacity : needed;
        if (__builtin_mul_overflow(capacity, (size_t)record->length, &genome_bytes) ||
            __builtin_mul_overflow(capacity, sizeof *record->migrant, &row_bytes))
            return SF_ENOMEM;
        sf_migrant *migrant = realloc(record->migrant, row_bytes);
        if (!migrant)
            return SF_ENOMEM;
        record->migrant = migrant;
        uint8_t *genome = realloc(record->migrant_genome, genome_bytes);
        if (!genome)
            return SF_ENOMEM;
        record->migrant_genome = genome;
        record->migrant_capacity = capacity;
    }
    return index_migrants(record, record->migrant_capacity);
}

int sf_record_log_migrant(sf_record *record, const sf_migrant *migrant, const uint8_t *genome)
{
    int code = sf_record_reserve_migrants(record, 1);
    if (code)
        return code;
    size_t at = find_migrant_slot(record, migrant);
    if (record->migrant_slot[at]) {
        if (migrant->fate != SF_MIGRANT_IN_FLIGHT)
            record->migrant[record->migrant_slot[at] - 1].fate = migrant->fate;
        return SF_OK;
    }
    size_t row = record->n_migrants++;
    record->migrant[row] = *migrant;
    memcpy(record->migrant_genome + row * (size_t)record->length, genome, (size_t)record->length);
    record->migrant_slot[at] = row + 1;
    record->n_migrants_indexed = record->n_migrants;
    return SF_OK;
}

/* ---- taking packets in ---- */

typedef struct view {
    sf_packet_header header;
    sf_packet_layout layout;
    const uint8_t *bytes;
} view;

static bool header_fits(const sf_record *record, const sf_packet_header *h)
{
    return h->magic == SF_PACKET_MAGIC && h->length == record->length && h->n_scores == record->n_scores &&
           h->population == record->config.population && 0 <= h->first_island && h->first_island <= h->last_island &&
           h->last_island <= (int64_t)n_islands(record) && 0 <= h->first_generation &&
           h->first_generation <= h->last_generation && h->last_generation <= record->config.generations + 1 &&
           (h->has_kept == 0 || h->has_kept == 1) && (h->has_populations == 0 || h->has_populations == 1) &&
           h->n_known >= 0 && h->n_migrants >= 0 && (h->has_kept || !record->config.keep_populations);
}

static bool place_fits(const sf_record *record, const sf_place *place)
{
    const sf_search_config *c = &record->config;
    return 0 <= place->trial && place->trial < c->trials && 0 <= place->island && place->island < c->islands &&
           0 <= place->generation && place->generation <= c->generations && 0 <= place->individual &&
           place->individual < c->population;
}

static bool migrant_fits(const sf_record *record, const sf_migrant *m)
{
    const sf_search_config *c = &record->config;
    return 0 <= m->trial && m->trial < c->trials && 0 <= m->from && m->from < c->islands && 0 <= m->to &&
           m->to < c->islands && 0 <= m->index && m->index < c->migrants && 0 <= m->sent && m->sent <= c->generations &&
           m->sent < m->taken && SF_MIGRANT_IN_FLIGHT <= m->fate && m->fate <= SF_MIGRANT_REFUSED;
}

static int check_rows(const sf_record *record, const view *v, sf_error *err)
{
    const size_t known_width = sf_packet_known_width(record->length, record->n_scores);
    const size_t migrant_width = sf_packet_migrant_width(record->length);
    for (size_t i = 0; i < (size_t)v->header.n_known; i++) {
        sf_packet_known_row row;
        sf_packet_read_known(v->bytes + v->layout.known + i * known_width, record->length, record->n_scores, &row);
        if (!place_fits(record, &row.first))
            return sf_fail(err, SF_EFORMAT, "packet: known genome %zu was first seen outside the search", i);
        size_t have = sf_known_find(&record->known, row.genome);
        if (have != SIZE_MAX && memcmp(record->known.histogram + have * (size_t)record->n_scores, row.histogram,
                                       (size_t)record->n_scores * sizeof(uint64_t)) != 0)
            return sf_fail(err, SF_ECHECK, "packet: two ranks count known genome %zu differently", i);
    }
    for (size_t i = 0; i < (size_t)v->header.n_migrants; i++) {
        sf_migrant migrant;
        sf_packet_read_migrant(v->bytes + v->layout.migrants + i * migrant_width, &migrant);
        if (!migrant_fits(record, &migrant))
            return sf_fail(err, SF_EFORMAT, "packet: migrant %zu is not of this search", i);
    }
    return SF_OK;
}

static int open_packet(const sf_record *record, size_t n_bytes, const uint8_t *bytes, view *v, sf_error *err)
{
    v->bytes = bytes;
    if (n_bytes < sizeof v->header)
        return sf_fail(err, SF_EFORMAT, "packet: %zu bytes are less than a header", n_bytes);
    memcpy(&v->header, bytes, sizeof v->header);
    if (!header_fits(record, &v->header))
        return sf_fail(err, SF_EFORMAT, "packet: the header is not of this search");
    if (sf_packet_layout_of(&v->header, &v->layout) || v->layout.end != n_bytes)
        return sf_fail(err, SF_EFORMAT, "packet: %zu bytes are not what its header announces", n_bytes);
    for (int64_t i = v->header.first_island; i < v->header.last_island; i++) {
        int64_t reached = record->arrived[i] > record->generation ? record->arrived[i] - 1 : record->generation;
        if (v->header.first_generation > reached + 1)
            return sf_fail(err, SF_EFORMAT,
                           "packet: island %" PRId64 " begins at generation %" PRId64 " after %" PRId64, i,
                           v->header.first_generation, reached);
    }
    return check_rows(record, v, err);
}

static void take_generations(sf_record *record, const view *v)
{
    const sf_packet_header *h = &v->header;
    const int32_t islands = record->config.islands;
    const size_t width = population_bytes(record);
    const uint8_t *stats = v->bytes + v->layout.stats, *kept = v->bytes + v->layout.kept;
    for (int64_t g = h->first_generation; g < h->last_generation; g++) {
        for (int64_t i = h->first_island; i < h->last_island; i++) {
            size_t at = sf_record_stats_index(record, (int32_t)(i / islands), g, (int32_t)(i % islands));
            memcpy(&record->stats[at], stats, sizeof *record->stats);
            stats += sizeof *record->stats;
            if (record->populations)
                memcpy(record->populations + at * width, kept, width);
            kept += width;
        }
    }
    for (int64_t i = h->first_island; i < h->last_island; i++) {
        if (h->last_generation < record->arrived[i])
            continue;
        record->arrived[i] = h->last_generation;
        if (h->has_populations)
            memcpy(record->population + (size_t)i * width,
                   v->bytes + v->layout.populations + (size_t)(i - h->first_island) * width, width);
    }
}

static void take_rows(sf_record *record, const view *v)
{
    const size_t known_width = sf_packet_known_width(record->length, record->n_scores);
    const size_t migrant_width = sf_packet_migrant_width(record->length);
    const size_t n_scores = (size_t)record->n_scores;
    for (size_t i = 0; i < (size_t)v->header.n_known; i++) {
        sf_packet_known_row from;
        size_t row;
        bool is_new;
        sf_packet_read_known(v->bytes + v->layout.known + i * known_width, record->length, record->n_scores, &from);
        if (sf_known_add(&record->known, from.genome, &from.first, &row, &is_new) || !is_new)
            continue; /* room was made before, so it cannot fail */
        memcpy(record->known.histogram + row * n_scores, from.histogram, n_scores * sizeof(uint64_t));
        record->known.fitness[row] = from.fitness;
        record->known.best_score[row] = from.best_score;
        record->known.exact[row] = from.exact;
    }
    for (size_t i = 0; i < (size_t)v->header.n_migrants; i++) {
        sf_migrant migrant;
        const uint8_t *genome = sf_packet_read_migrant(v->bytes + v->layout.migrants + i * migrant_width, &migrant);
        (void)!sf_record_log_migrant(record, &migrant, genome); /* likewise */
    }
}

int sf_record_take(sf_record *record, size_t n_bytes, const uint8_t *packet, sf_error *err)
{
    view v;
    int code = open_packet(record, n_bytes, packet, &v, err);
    if (code)
        return code;
    if (sf_known_reserve(&record->known, (size_t)v.header.n_known) ||
        sf_record_reserve_migrants(record, (size_t)v.header.n_migrants))
        return sf_fail(err, SF_ENOMEM, "out of memory for the record of the search: %zu known genomes",
                       record->known.n + (size_t)v.header.n_known);
    take_generations(record, &v);
    take_rows(record, &v);
    int64_t least = record->config.generations;
    for (size_t i = 0; i < n_islands(record); i++)
        least = record->arrived[i] - 1 < least ? record->arrived[i] - 1 : least;
    if (least > record->generation)
        record->generation = least;
    return SF_OK;
}

int sf_record_pack(const sf_record *record, size_t *n_bytes, uint8_t **packet, sf_error *err)
{
    sf_packet_header h = {.magic = SF_PACKET_MAGIC,
                          .length = record->length,
                          .n_scores = record->n_scores,
                          .population = record->config.population,
                          .last_island = (int64_t)n_islands(record),
                          .first_generation = record->generation,
                          .last_generation = record->generation + 1,
                          .has_kept = record->populations != NULL,
                          .has_populations = 1,
                          .n_known = (int64_t)record->known.n};
    for (size_t i = 0; i < record->n_migrants; i++)
        h.n_migrants += record->migrant[i].taken > record->generation;
    sf_packet_layout layout;
    uint8_t *bytes = sf_packet_layout_of(&h, &layout) ? NULL : malloc(layout.end);
    if (!bytes)
        return sf_fail(err, SF_ENOMEM, "out of memory for handing %zu known genomes to the ranks", record->known.n);
    memcpy(bytes, &h, sizeof h);

    const size_t width = population_bytes(record), length = (size_t)record->length;
    const int32_t islands = record->config.islands;
    for (int64_t i = 0; i < h.last_island; i++) {
        size_t at = sf_record_stats_index(record, (int32_t)(i / islands), record->generation, (int32_t)(i % islands));
        memcpy(bytes + layout.stats + (size_t)i * sizeof *record->stats, &record->stats[at], sizeof *record->stats);
        if (record->populations)
            memcpy(bytes + layout.kept + (size_t)i * width, record->populations + at * width, width);
    }
    memcpy(bytes + layout.populations, record->population, n_islands(record) * width);
    for (size_t row = 0; row < record->known.n; row++)
        sf_packet_write_known(bytes + layout.known + row * sf_packet_known_width(h.length, h.n_scores), &record->known,
                              row);
    uint8_t *at = bytes + layout.migrants;
    for (size_t i = 0; i < record->n_migrants; i++) {
        if (record->migrant[i].taken <= record->generation)
            continue;
        sf_packet_write_migrant(at, &record->migrant[i], record->migrant_genome + i * length, h.length);
        at += sf_packet_migrant_width(h.length);
    }
    *n_bytes = layout.end;
    *packet = bytes;
    return SF_OK;
}

/* ---- canonical order ---- */

static void swap_migrants(sf_record *record, size_t a, size_t b)
{
    sf_migrant migrant = record->migrant[a];
    record->migrant[a] = record->migrant[b];
    record->migrant[b] = migrant;
    uint8_t *left = record->migrant_genome + a * (size_t)record->length;
    uint8_t *right = record->migrant_genome + b * (size_t)record->length;
    for (int i = 0; i < record->length; i++) {
        uint8_t element = left[i];
        left[i] = right[i];
        right[i] = element;
    }
}

static void sift_down(sf_record *record, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && compare_migrants(&record->migrant[child], &record->migrant[child + 1]) < 0)
            child++;
        if (compare_migrants(&record->migrant[root], &record->migrant[child]) >= 0)
            return;
        swap_migrants(record, root, child);
    }
}

/* Heapsort, because it moves both arrays together and cannot fail: qsort would need memory for an order. */
void sf_record_sort(sf_record *record)
{
    for (size_t root = record->n_migrants / 2; root-- > 0;)
        sift_down(record, root, record->n_migrants);
    for (size_t n = record->n_migrants; n-- > 1;) {
        swap_migrants(record, 0, n);
        sift_down(record, 0, n);
    }
    record->n_migrants_indexed = SIZE_MAX; /* the index is built anew when it is needed next */
}

int32_t sf_record_best_fitness(const sf_record *record)
{
    int32_t best = 0;
    for (size_t row = 0; row < record->known.n; row++)
        best = record->known.fitness[row] > best ? record->known.fitness[row] : best;
    return best;
}

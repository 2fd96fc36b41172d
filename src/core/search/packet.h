/* Packets: how a stretch of generations of some islands travels to the record. A header, then five sections of
 * fixed-width rows. Packets live between ranks of one job only (same machine type), so numbers are in native form. */
#ifndef SF_CORE_SEARCH_PACKET_H
#define SF_CORE_SEARCH_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "core/search/record.h"

typedef struct sf_packet_header {
    uint64_t magic;
    int64_t length, n_scores, population;
    int64_t first_island, last_island;         /* global numbers, half-open */
    int64_t first_generation, last_generation; /* half-open */
    int64_t has_kept, has_populations;         /* 0 or 1 */
    int64_t n_known, n_migrants;
} sf_packet_header;

/* Sections, in this order:
 *   stats        [generations][islands] sf_generation_stats
 *   kept         [generations][islands][population][length], when has_kept
 *   populations  [islands][population][length] of the last generation, when has_populations
 *   known        [n_known] sf_packet_known_width bytes
 *   migrants     [n_migrants] sf_packet_migrant_width bytes */
typedef struct sf_packet_layout {
    size_t stats, kept, populations, known, migrants, end; /* offsets of the sections */
} sf_packet_layout;

/* A packet's magic number. */
#define SF_PACKET_MAGIC UINT64_C(0x73662d7061636b31)

/* Bytes of a row of the known and of the migrants section. */
size_t sf_packet_known_width(int64_t length, int64_t n_scores);
size_t sf_packet_migrant_width(int64_t length);

/* Where the sections begin. Every count of the header must be >= 0. SF_EFORMAT when a size overflows. */
int sf_packet_layout_of(const sf_packet_header *header, sf_packet_layout *layout);

/* One row of the known section. The reader gets pointers into the packet; histogram is not aligned. */
typedef struct sf_packet_known_row {
    const uint8_t *genome, *histogram;
    int32_t fitness, best_score;
    uint8_t exact;
    sf_place first;
} sf_packet_known_row;
void sf_packet_write_known(uint8_t *bytes, const sf_known *known, size_t row);
void sf_packet_read_known(const uint8_t *bytes, int64_t length, int64_t n_scores, sf_packet_known_row *row);

/* One row of the migrants section; returns where its genome is. */
void sf_packet_write_migrant(uint8_t *bytes, const sf_migrant *migrant, const uint8_t *genome, int64_t length);
const uint8_t *sf_packet_read_migrant(const uint8_t *bytes, sf_migrant *migrant);

/* Rows of one width that grow at the end: what an island did since the last packet. */
typedef struct sf_rows {
    size_t width, n, capacity;
    uint8_t *bytes;
} sf_rows;

/* Makes room for n_more rows; SF_ENOMEM leaves them as they were. */
int sf_rows_reserve(sf_rows *rows, size_t n_more);

/* A new row at the end, room for which was made before. */
uint8_t *sf_rows_push(sf_rows *rows);

#endif

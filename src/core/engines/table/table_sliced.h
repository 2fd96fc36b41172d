/* The layout for histograms: bit planes across maps, one a pair of residues, so that a word holds that pair for 64 maps.
 *
 * Maps are sorted by multiplicity, then as integers. A run of one multiplicity is cut into blocks of up to SF_SLICED_ROWS
 * rows of 512 maps; what is left of short runs goes to mixed blocks of one row, which hold the multiplicities, less the
 * block's least, as planes too. A block stores only the pairs that vary in it. */
#ifndef SF_CORE_TABLE_SLICED_H
#define SF_CORE_TABLE_SLICED_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/isa.h"
#include "core/contacts/map_table.h"
#include "core/engines/table/table_image.h"

enum { SF_SLICED_ROW = 512, SF_SLICED_ROW_WORDS = SF_SLICED_ROW / 64, SF_SLICED_ROWS = 8, SF_SLICED_BATCH = 64 };

/* Four bit slices count up to 15 contacts. */
enum { SF_SLICED_SCORES = 16 };

struct sf_weighted_query; /* table_weighted.h */

typedef struct sf_sliced_block {
    uint64_t vary[2];   /* pairs that some of the block's maps have and some do not: these have planes, low bit first */
    uint64_t all[2];    /* pairs that all have */
    size_t plane;       /* the planes: plane[n_planes][n_rows][SF_SLICED_ROW_WORDS] from this word on, then the weights */
    uint32_t n_maps;
    uint32_t factor;    /* multiplicity of all maps; of a mixed block the least */
    uint16_t n_rows;
    uint16_t n_weights; /* planes of multiplicity less factor; 0 unless mixed */
} sf_sliced_block;

typedef struct sf_sliced_table {
    sf_contact_layout layout;
    sf_contact_masks masks;
    int max_contacts;
    size_t n_blocks;
    sf_sliced_block *block;
    uint64_t *plane; /* begins with SF_SLICED_ROWS rows that are zero */
    size_t n_words;
    const struct sf_sliced_kernel *kernel;
} sf_sliced_table;

/* One for each instruction set, over blocks first_block..last_block-1. `histograms` (table_sliced_kernel.h) adds to
 * histograms[n][width], n <= SF_SLICED_BATCH, how many pairs of a mask the maps have; `weighted` (table_weighted_kernel.h)
 * adds to counts[query->n_values]. */
typedef struct sf_sliced_kernel {
    void (*histograms)(const sf_sliced_table *table, size_t first_block, size_t last_block, size_t n,
                       const sf_contact_map *masks, size_t width, uint64_t *histograms);
    void (*weighted)(const sf_sliced_table *table, size_t first_block, size_t last_block,
                     const struct sf_weighted_query *query, uint64_t *counts);
} sf_sliced_kernel;

extern const sf_sliced_kernel sf_sliced_kernel_portable;
extern const sf_sliced_kernel sf_sliced_kernel_avx2;   /* table_avx2.c, x86-64 only */
extern const sf_sliced_kernel sf_sliced_kernel_avx512; /* table_avx512.c, x86-64 only */

/* Lays maps out for the instruction set of sf_isa_get; they are not kept. SF_ENOMEM. Freed with sf_sliced_table_free; a
 * zeroed table is allowed there. */
int sf_sliced_table_init(sf_sliced_table *sliced, const sf_map_table *maps, sf_error *err);
void sf_sliced_table_free(sf_sliced_table *sliced);

/* Lists the arrays of a table whose numbers are set; returns how many. */
size_t sf_sliced_table_arrays(sf_sliced_table *sliced, sf_table_array arrays[SF_TABLE_ARRAYS]);

/* Takes the kernel for the instruction set of sf_isa_get. */
void sf_sliced_table_dispatch(sf_sliced_table *sliced);

/* Adds the conformations of each of n sequences, by score, to histograms[n][width], width > max_contacts. Looks only at
 * piece `piece` of `n_pieces` of the table. */
void sf_sliced_histograms(const sf_sliced_table *sliced, size_t piece, size_t n_pieces, size_t n,
                          const uint32_t *sequences, size_t width, uint64_t *histograms);

uint64_t sf_sliced_table_bytes(const sf_sliced_table *sliced);

#endif

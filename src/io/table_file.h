/* The table file: the distinct contact maps of a length with their multiplicities, in HDF5, described in
 * analysis/README.md. No MPI: whoever has the maps packs chunks (shuffled, gzipped, summed) in memory, on any rank; one
 * process writes them, in order, to a file that is written aside, sealed, synced and renamed.
 *
 * Obvious would be a collective write through parallel HDF5. It was tried: its bytes do repeat over ranks, but when a
 * write fails on one rank (a full disk) HDF5 1.10 over Open MPI's OMPIO or ROMIO leaves the others waiting for ever inside
 * H5Dwrite or H5Fclose, or dies. Packing is what takes time, and is shared here all the same. */
#ifndef SF_IO_TABLE_FILE_H
#define SF_IO_TABLE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/contacts/map_table.h"
#include "starfold/error.h"
#include "starfold/problem.h"

enum {
    SF_TABLE_SCHEMA_VERSION = 1,
    SF_TABLE_CHUNK = 32768,                            /* maps a chunk */
    SF_TABLE_PACKED_MAX = SF_TABLE_CHUNK * 8 * 2 + 4096 /* bytes a packed chunk may take */
};

#define SF_TABLE_TITLE "Starfold table of contact maps"

/* ---- writing ---- */

/* Chunks that the file of these maps has: those of the low words, of the high words where there are any, of the counts. */
size_t sf_table_file_chunks(const sf_map_table *maps);

/* Packs chunks of maps that outlive it, in memory. One thread at a time (HDF5). */
typedef struct sf_table_packer sf_table_packer;
int sf_table_packer_open(sf_table_packer **packer, const sf_map_table *maps, sf_error *err);
/* Chunk 0..sf_table_file_chunks - 1 to bytes[SF_TABLE_PACKED_MAX]; *n tells how many it took. */
int sf_table_packer_pack(sf_table_packer *packer, size_t chunk, uint8_t *bytes, size_t *n, sf_error *err);
void sf_table_packer_close(sf_table_packer *packer); /* NULL is allowed */

/* The file under its name aside. maps: as the packers' (only its numbers are read); letters: the alphabet of
 * the sequences it is for. */
typedef struct sf_table_writer sf_table_writer;
int sf_table_writer_open(sf_table_writer **writer, const char *path, const sf_map_table *maps, const char *letters,
                         sf_error *err);
/* The next chunk, from 0 on, as it was packed. */
int sf_table_writer_put(sf_table_writer *writer, const uint8_t *bytes, size_t n, sf_error *err);
/* Closes, seals, syncs and renames to `path`; an existing file is replaced. On failure nothing new is under `path`. */
int sf_table_writer_commit(sf_table_writer *writer, sf_error *err);
/* Frees; what was not committed is removed. NULL is allowed. */
void sf_table_writer_close(sf_table_writer *writer);

/* ---- reading ---- */

/* What a table file says of itself. */
typedef struct sf_table_about {
    char program[32], version[32], revision[64];
    int32_t schema;
    char lattice[16];
    int32_t length;
    char letters[SF_LETTERS_MAX + 1];
    uint64_t n_maps, conformations;
    int32_t max_contacts;
    uint64_t file_bytes;
} sf_table_about;

/* The whole table, checked: seal, types, sizes before memory is taken, then the maps against each other and against the
 * known number of walks (sf_map_table_check). problem: what the table must be of, or NULL for any. SF_EINPUT when there is
 * no such file, SF_EFORMAT when it is damaged, of another kind or version, SF_EMISMATCH when it is of another lattice,
 * length or alphabet. `maps` is empty on failure; `about` (may be NULL) is filled on success. */
int sf_table_file_read(sf_map_table *maps, sf_table_about *about, const char *path, const sf_problem *problem,
                       sf_error *err);

#endif

/* The run file: a record of a search in HDF5, described in analysis/README.md. Rank 0 alone calls this; no MPI.
 *
 * Two ways to write the same groups: `sf_run_file_write` writes a whole record in canonical form (the finished file,
 * and every checkpoint); `sf_live_file_*` appends blocks to the file of a run that goes on, flushed so that a kill at
 * any instant leaves a file that opens. */
#ifndef SF_IO_RUN_FILE_H
#define SF_IO_RUN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/puzzle/puzzle.h"
#include "core/search/record.h"
#include "starfold/error.h"
#include "starfold/score_model.h"

enum { SF_SCHEMA_VERSION = 1 };

#define SF_RUN_TITLE "Starfold run"
#define SF_PERF_TITLE "Starfold run: timings and layout"

/* One option that can change results, as it is stored in /config: the value as text in its canonical spelling. */
typedef struct sf_config_entry {
    char name[48];
    char value[SF_SCORE_MODEL_TEXT_SIZE]; /* the longest is a score model's line */
    char origin[16]; /* default, file, command line, preset */
} sf_config_entry;

/* A level: one of the best sequences with its stars and an example solution a star. */
typedef struct sf_level {
    size_t row;     /* in record->known */
    bool has_stars; /* false: the rule gives none (best score below 3) */
    int stars[3];
    char *solution[3]; /* owned; NULL where has_stars is false */
} sf_level;

/* What a run file holds beside the record. All pointers are the caller's. */
typedef struct sf_run_meta {
    size_t n_config;
    const sf_config_entry *config;
    const char *state;   /* "running", "stopped", "finished" */
    const char *lattice; /* name */
    const char *letters; /* alphabet */
    int min_score;
    int witness_size;
    size_t n_levels;
    const sf_level *levels; /* best first */
} sf_run_meta;

/* Writes record and meta to `path`, aside and renamed, synced with its folder. An existing file is replaced: whether it
 * may be is the caller's to know. On failure nothing is left under `path` that was not there before. */
int sf_run_file_write(const char *path, const sf_record *record, const sf_run_meta *meta, sf_error *err);

typedef struct sf_live_file sf_live_file;

/* Bytes for which a new file has room along each growing axis, at least; tests make it small. */
extern size_t sf_live_room;

/* Creates the file of a running search (aside, then renamed). What `meta` points to must stay until the file is closed.
 */
int sf_live_file_create(sf_live_file **file, const char *path, const sf_record *record, const sf_run_meta *meta,
                        sf_error *err);
/* Appends what the record holds beyond what was appended before, and flushes. When that needs more room than the file
 * has, writes it anew with twice as much, aside and renamed. On failure the file is as it was. */
int sf_live_file_append(sf_live_file *file, const sf_record *record, sf_error *err);
void sf_live_file_close(sf_live_file *file);

/* A run file read back, checked: every dataset's type, rank and size is verified before memory is taken. Everything is
 * owned by the struct. */
typedef struct sf_run_data {
    sf_record record; /* populations as far as the file has them */
    sf_run_meta meta;
    sf_config_entry *config; /* what meta points to */
    sf_level *levels;
    char *text, *solutions; /* storage of meta's strings and of the levels' solutions */
    bool live;              /* the file of a running or killed search: no last population, no levels */
    char program[32], version[32], revision[64];
    int schema;
} sf_run_data;

/* SF_EINPUT when there is no such file; SF_EFORMAT, naming the dataset, when it is damaged, another kind or another
 * version. */
int sf_run_file_read(sf_run_data *data, const char *path, sf_error *err);
void sf_run_data_free(sf_run_data *data);

/* RUN.perf.h5: timings, layout, host, engine; never needed to read the run. Names and values are written as given. */
typedef struct sf_perf_entry {
    const char *name;
    const char *units;       /* "" for text */
    const char *description; /* a sentence */
    double value;            /* when text is NULL */
    const char *text;
} sf_perf_entry;
int sf_perf_file_write(const char *path, size_t n, const sf_perf_entry *entries, sf_error *err);

#endif

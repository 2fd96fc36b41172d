/* A table file read back. Unlike a run file, which may be one that is being written, a table is whole or it is nothing:
 * one without a seal is refused before HDF5, which does not survive every damage, sees it.
 *
 * As all files it is read in a process of its own first. Reading the maps again here would unpack all of them twice, so that
 * process leaves them in memory that it shares with us, and HDF5 never sees them here. */
#define _DEFAULT_SOURCE /* madvise */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "io/apart.h"
#include "io/file_kind.h"
#include "io/table_header.h"
#include "io/tried.h"

/* The scalars against each other and against what tables are; *lattice is found. */
static int check_about(sf_h5 *h5, const sf_table_about *about, const sf_lattice **lattice)
{
    int code = sf_file_check_schema(h5, about->schema, SF_TABLE_SCHEMA_VERSION);
    if (code)
        return code;
    *lattice = sf_lattice_find(about->lattice);
    if (!*lattice)
        return sf_h5_fail(h5, "/table/lattice", "names a lattice that this program does not know");
    if (about->length < SF_LENGTH_MIN || about->length > sf_map_table_length_max(*lattice))
        return sf_h5_fail(h5, "/table/length", "is out of its range");
    if (strlen(about->letters) < 2)
        return sf_h5_fail(h5, "/table/letters", "has fewer than two letters");
    if (about->n_maps != sf_map_table_expected(*lattice, about->length))
        return sf_fail(h5->err, SF_EFORMAT, "%s: /table/maps: is %" PRIu64 "; %d residues on the %s lattice have %" PRIu64,
                       h5->path, about->n_maps, about->length, about->lattice,
                       sf_map_table_expected(*lattice, about->length));
    return 0;
}

static int check_fits(const sf_h5 *h5, const sf_table_about *about, const sf_problem *problem)
{
    if (strcmp(about->lattice, problem->lattice->name) == 0 && about->length == problem->length &&
        strcmp(about->letters, problem->model->letter) == 0)
        return 0;
    return sf_fail(h5->err, SF_EMISMATCH,
                   "%s: holds the contact maps of %d residues on the %s lattice, letters %s; asked for are %d residues on "
                   "the %s lattice, letters %s",
                   h5->path, about->length, about->lattice, about->letters, problem->length, problem->lattice->name,
                   problem->model->letter);
}

static int read_array(sf_h5 *h5, int array, size_t n_maps, void *values)
{
    const char *name = sf_table_arrays[array].name;
    const sf_h5_demand demand = {
        .type = sf_table_array_stored(array), .rank = 1, .size = {n_maps}, .growing = -1};
    const hsize_t start = 0, count = n_maps;
    hid_t dataset;
    int code = sf_h5_dataset_open(h5, name, &demand, &dataset);
    if (!code && values)
        code = sf_h5_block_read(h5, name, dataset, sf_table_array_native(array), 1, &start, &count, values);
    if (dataset >= 0)
        H5Dclose(dataset);
    return code;
}

/* What is read, and what it must be of (NULL: anything). */
typedef struct target {
    const char *path;
    const sf_problem *problem;
    sf_table_about about;
    const sf_lattice *lattice;
    sf_contact_layout layout;
    uint8_t *shared; /* the arrays, one after the other */
} target;

static bool has_array(const target *t, int array)
{
    return array != SF_TABLE_HIGH || t->layout.n_words > 1;
}

/* All but the maps. */
static int read_head(sf_h5 *h5, void *context)
{
    target *t = context;
    int code = sf_file_check_title(h5, SF_FILE_TABLE);
    if (!code)
        code = sf_table_header_read(h5, &t->about);
    if (!code)
        code = check_about(h5, &t->about, &t->lattice);
    if (!code && t->problem)
        code = check_fits(h5, &t->about, t->problem);
    if (code)
        return code;
    sf_contact_layout_init(&t->layout, t->about.length);
    code = sf_table_layout_check(h5, &t->layout);
    for (int array = 0; array < SF_TABLE_ARRAYS && !code; array++) {
        if (has_array(t, array))
            code = read_array(h5, array, (size_t)t->about.n_maps, NULL);
    }
    return code;
}

static size_t array_bytes(const target *t, int array)
{
    return (size_t)t->about.n_maps * (array == SF_TABLE_COUNT ? sizeof(uint32_t) : sizeof(uint64_t));
}

/* The maps, to shared memory; in a process of its own. */
static int read_shared(void *context, sf_error *err)
{
    const target *t = context;
    sf_h5 h5 = {.file = H5I_INVALID_HID};
    uint8_t *at = t->shared;
    int code = sf_h5_open(&h5, t->path, err);
    for (int array = 0; array < SF_TABLE_ARRAYS && !code; array++) {
        if (!has_array(t, array))
            continue;
        code = read_array(&h5, array, (size_t)t->about.n_maps, at);
        at += array_bytes(t, array);
    }
    h5.err = NULL;
    sf_h5_close(&h5);
    return code;
}

/* From shared memory, which is given back bit by bit. */
static void take_array(void *values, uint8_t *from, size_t n)
{
    enum { STEP = 1 << 22 };
    for (size_t at = 0; at < n; at += STEP) {
        const size_t here = n - at < STEP ? n - at : STEP;
        const uintptr_t page = 4096, first = ((uintptr_t)from + at + page - 1) / page * page;
        const uintptr_t end = ((uintptr_t)from + at + here) / page * page;
        memcpy((uint8_t *)values + at, from + at, here);
        if (end > first)
            (void)madvise((void *)first, end - first, MADV_REMOVE); /* a wish */
    }
}

static int read_maps(target *t, sf_map_table *maps, sf_error *err)
{
    size_t bytes = 0;
    int code = sf_map_table_alloc(maps, t->lattice, t->about.length, (size_t)t->about.n_maps, err);
    if (code)
        return code;
    for (int array = 0; array < SF_TABLE_ARRAYS; array++)
        bytes += has_array(t, array) ? array_bytes(t, array) : 0;
    t->shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t->shared == MAP_FAILED)
        return sf_fail(err, SF_ENOMEM, "%s: out of memory for %" PRIu64 " contact maps", t->path, t->about.n_maps);
    code = sf_apart_do(t->path, read_shared, t, err);
    uint8_t *at = t->shared;
    for (int array = 0; array < SF_TABLE_ARRAYS && !code; array++) {
        if (!has_array(t, array))
            continue;
        take_array(sf_table_array_values(maps, array), at, array_bytes(t, array));
        at += array_bytes(t, array);
    }
    munmap(t->shared, bytes);
    maps->conformations = t->about.conformations;
    maps->max_contacts = t->about.max_contacts;
    return code;
}

int sf_table_file_read(sf_map_table *maps, sf_table_about *about, const char *path, const sf_problem *problem,
                       sf_error *err)
{
    target t = {.path = path, .problem = problem};
    sf_error wrong = {0};
    struct stat info;
    *maps = (sf_map_table){0};
    int code = sf_tried_read(path, "a table of contact maps", read_head, &t, err);
    if (!code)
        code = read_maps(&t, maps, err);
    if (!code && sf_map_table_check(maps, &wrong) != 0)
        code = sf_fail(err, SF_EFORMAT, "%s: %s", path, wrong.text);
    if (!code && stat(path, &info) == 0)
        t.about.file_bytes = (uint64_t)info.st_size;
    if (code)
        sf_map_table_free(maps);
    else if (about)
        *about = t.about;
    return code;
}

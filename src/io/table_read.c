/* A table file read back. Unlike a run file, which may be one that is being written, a table is whole or it is nothing:
 * one without a seal is refused before HDF5, which does not survive every damage, sees it. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

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

static int read_maps(sf_h5 *h5, const sf_table_about *about, const sf_lattice *lattice, sf_map_table *maps)
{
    sf_contact_layout layout;
    size_t n = (size_t)about->n_maps;
    sf_contact_layout_init(&layout, about->length);
    int code = sf_table_layout_check(h5, &layout);
    for (int array = 0; array < SF_TABLE_ARRAYS && !code; array++) { /* before memory is taken */
        if (array != SF_TABLE_HIGH || layout.n_words > 1)
            code = read_array(h5, array, n, NULL);
    }
    if (!code)
        code = sf_map_table_alloc(maps, lattice, about->length, n, h5->err);
    for (int array = 0; array < SF_TABLE_ARRAYS && !code; array++) {
        if (sf_table_array_values(maps, array))
            code = read_array(h5, array, n, sf_table_array_values(maps, array));
    }
    if (code)
        return code;
    maps->conformations = about->conformations;
    maps->max_contacts = about->max_contacts;
    return 0;
}

/* What is read, and what it must be of (NULL: anything). */
typedef struct target {
    sf_map_table *maps;
    sf_table_about about;
    const sf_problem *problem;
} target;

static int read_open(sf_h5 *h5, void *context)
{
    target *t = context;
    const sf_lattice *lattice = NULL;
    int code = sf_file_check_title(h5, SF_FILE_TABLE);
    if (!code)
        code = sf_table_header_read(h5, &t->about);
    if (!code)
        code = check_about(h5, &t->about, &lattice);
    if (!code && t->problem)
        code = check_fits(h5, &t->about, t->problem);
    return code ? code : read_maps(h5, &t->about, lattice, t->maps);
}

int sf_table_file_read(sf_map_table *maps, sf_table_about *about, const char *path, const sf_problem *problem,
                       sf_error *err)
{
    target t = {.maps = maps, .problem = problem};
    sf_error wrong = {0};
    struct stat info;
    *maps = (sf_map_table){0};
    int code = sf_tried_read(path, "a table of contact maps", read_open, &t, err);
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

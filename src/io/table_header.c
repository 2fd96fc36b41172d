/* One list of scalars serves the writer and the reader, as io/schema.c does for run files. */
#include "io/table_header.h"

#include <stddef.h>
#include <string.h>

typedef enum kind { TEXT, INT32, UINT64 } kind;

typedef struct scalar {
    const char *name, *units, *description;
    kind kind;
    size_t offset, size;
} scalar;

#define FIELD(member) offsetof(sf_table_about, member), sizeof((sf_table_about *)NULL)->member

static const scalar scalars[] = {
    {"/provenance/program", "", "program that wrote the file", TEXT, FIELD(program)},
    {"/provenance/version", "", "version of the program", TEXT, FIELD(version)},
    {"/provenance/revision", "", "revision of the program's source", TEXT, FIELD(revision)},
    {"/provenance/schema", "", "version of this layout of tables", INT32, FIELD(schema)},
    {"/table/lattice", "", "lattice on which chains fold", TEXT, FIELD(lattice)},
    {"/table/length", "residue", "residues of a chain", INT32, FIELD(length)},
    {"/table/letters", "", "alphabet of the sequences that the table is for", TEXT, FIELD(letters)},
    {"/table/maps", "map", "distinct contact maps", UINT64, FIELD(n_maps)},
    {"/table/conformations", "conformation", "conformations of a chain, up to rotation and reflection: the sum of /maps/count",
     UINT64, FIELD(conformations)},
    {"/table/max_contacts", "contact", "most contacts of a map", INT32, FIELD(max_contacts)},
};
enum { N_SCALARS = sizeof scalars / sizeof scalars[0] };

static const char pairs[] = "/layout/pairs";

const sf_table_array sf_table_arrays[SF_TABLE_ARRAYS] = {
    {"/maps/low", "", "bits 0 to 63 of each contact map; maps ascend as integers", 8},
    {"/maps/high", "", "bits 64 and up of each contact map", 8},
    {"/maps/count", "conformation", "conformations that have just these contacts", 4},
};

hid_t sf_table_array_stored(int array)
{
    return array == SF_TABLE_COUNT ? H5T_STD_U32LE : H5T_STD_U64LE;
}

hid_t sf_table_array_native(int array)
{
    return array == SF_TABLE_COUNT ? H5T_NATIVE_UINT32 : H5T_NATIVE_UINT64;
}

void *sf_table_array_values(const sf_map_table *maps, int array)
{
    return array == SF_TABLE_LOW ? (void *)maps->low : array == SF_TABLE_HIGH ? (void *)maps->high : (void *)maps->count;
}

static int describe(sf_h5 *h5, hid_t dataset, const char *units, const char *description)
{
    int code = sf_h5_attr_text(h5, dataset, "units", units);
    return code ? code : sf_h5_attr_text(h5, dataset, "description", description);
}

int sf_table_array_create(sf_h5 *h5, int array, size_t n_maps, hid_t *dataset)
{
    const sf_table_array *a = &sf_table_arrays[array];
    const char *axis = "map";
    const sf_h5_layout layout = {.rank = 1,
                                 .size = {n_maps},
                                 .growing = -1,
                                 .chunk = {n_maps < SF_TABLE_CHUNK ? n_maps : SF_TABLE_CHUNK},
                                 .packed = true};
    int code = sf_h5_dataset_create(h5, a->name, sf_table_array_stored(array), &layout, dataset);
    if (!code)
        code = describe(h5, *dataset, a->units, a->description);
    return code ? code : sf_h5_axes_name(h5, *dataset, 1, &axis);
}

/* Only closing a small dataset writes its values. */
static int close_written(sf_h5 *h5, const char *name, hid_t dataset, int code)
{
    if (dataset >= 0 && H5Dclose(dataset) < 0 && !code)
        code = sf_h5_fail(h5, name, "cannot be written");
    return code;
}

/* ---- scalars ---- */

static hid_t stored_type(const scalar *s, const char *text)
{
    size_t n = s->kind == TEXT ? strlen(text) : 0;
    return s->kind == TEXT ? sf_h5_text_type(n ? n : 1) : H5Tcopy(s->kind == INT32 ? H5T_STD_I32LE : H5T_STD_U64LE);
}

static hid_t native_type(const scalar *s)
{
    return s->kind == INT32 ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT64;
}

static int write_scalar(sf_h5 *h5, const scalar *s, const void *value)
{
    const sf_h5_layout layout = {.rank = 0, .growing = -1};
    hid_t type = stored_type(s, value), dataset = H5I_INVALID_HID;
    int code = type < 0 ? sf_h5_fail(h5, s->name, "the type cannot be made")
                        : sf_h5_dataset_create(h5, s->name, type, &layout, &dataset);
    if (!code)
        code = describe(h5, dataset, s->units, s->description);
    if (!code)
        code = sf_h5_block_write(h5, s->name, dataset, s->kind == TEXT ? type : native_type(s), 0, NULL, NULL, value);
    code = close_written(h5, s->name, dataset, code);
    if (type >= 0)
        H5Tclose(type);
    return code;
}

static int read_scalar(sf_h5 *h5, const scalar *s, void *value)
{
    if (s->kind == TEXT)
        return sf_h5_text_read(h5, s->name, s->size, value);
    const sf_h5_demand demand = {.type = s->kind == INT32 ? H5T_STD_I32LE : H5T_STD_U64LE, .growing = -1};
    hid_t dataset;
    int code = sf_h5_dataset_open(h5, s->name, &demand, &dataset);
    if (!code)
        code = sf_h5_block_read(h5, s->name, dataset, native_type(s), 0, NULL, NULL, value);
    if (dataset >= 0)
        H5Dclose(dataset);
    return code;
}

/* ---- the layout of the bits ---- */

typedef uint8_t pair_list[128][2];

static void list_pairs(const sf_contact_layout *layout, pair_list list)
{
    for (int b = 1; b < layout->length; b++) {
        for (int a = 0; a < b; a++) {
            int bit = sf_contact_bit(layout, a, b);
            if (bit >= 0) {
                list[bit][0] = (uint8_t)a;
                list[bit][1] = (uint8_t)b;
            }
        }
    }
}

static int write_pairs(sf_h5 *h5, const sf_contact_layout *layout)
{
    const char *axes[] = {"bit", "end"};
    const hsize_t start[2] = {0, 0}, count[2] = {(hsize_t)layout->n_bits, 2};
    const sf_h5_layout place = {.rank = 2, .size = {count[0], 2}, .growing = -1};
    hid_t dataset;
    pair_list list = {{0}};
    list_pairs(layout, list);
    int code = sf_h5_dataset_create(h5, pairs, H5T_STD_U8LE, &place, &dataset);
    if (!code)
        code = describe(h5, dataset, "residue", "the two residues, from 0, whose contact each bit of a map is");
    if (!code)
        code = sf_h5_axes_name(h5, dataset, 2, axes);
    if (!code)
        code = sf_h5_block_write(h5, pairs, dataset, H5T_NATIVE_UINT8, 2, start, count, list);
    return close_written(h5, pairs, dataset, code);
}

int sf_table_layout_check(sf_h5 *h5, const sf_contact_layout *layout)
{
    const hsize_t start[2] = {0, 0}, count[2] = {(hsize_t)layout->n_bits, 2};
    const sf_h5_demand demand = {.type = H5T_STD_U8LE, .rank = 2, .size = {count[0], 2}, .growing = -1};
    hid_t dataset;
    pair_list list = {{0}}, stored = {{0}};
    list_pairs(layout, list);
    int code = sf_h5_dataset_open(h5, pairs, &demand, &dataset);
    if (!code)
        code = sf_h5_block_read(h5, pairs, dataset, H5T_NATIVE_UINT8, 2, start, count, stored);
    if (!code && memcmp(list, stored, sizeof list) != 0)
        code = sf_h5_fail(h5, pairs, "gives the bits other residues than this program does");
    if (dataset >= 0)
        H5Dclose(dataset);
    return code;
}

/* ---- all of it ---- */

int sf_table_header_write(sf_h5 *h5, const sf_table_about *about, const sf_contact_layout *layout)
{
    static const char *const groups[] = {"/provenance", "/table", "/layout", "/maps"};
    int code = sf_h5_attr_text(h5, h5->file, "title", SF_TABLE_TITLE);
    for (size_t k = 0; k < sizeof groups / sizeof groups[0] && !code; k++)
        code = sf_h5_group_create(h5, groups[k]);
    for (size_t k = 0; k < N_SCALARS && !code; k++)
        code = write_scalar(h5, &scalars[k], (const char *)about + scalars[k].offset);
    return code ? code : write_pairs(h5, layout);
}

int sf_table_header_read(sf_h5 *h5, sf_table_about *about)
{
    int code = 0;
    for (size_t k = 0; k < N_SCALARS && !code; k++)
        code = read_scalar(h5, &scalars[k], (char *)about + scalars[k].offset);
    return code;
}

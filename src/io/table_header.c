/* One list of scalars serves the writer and the reader, as io/schema.c does for run files. */
#include "io/table_header.h"

#include <stddef.h>
#include <string.h>

#include "io/h5_scalars.h"

#define FIELD(member) SF_H5_FIELD(sf_table_about, member)

static const sf_h5_scalar scalars[] = {
    SF_H5_PROVENANCE(sf_table_about),
    {"/table/lattice", "", "lattice on which chains fold", SF_H5_TEXT, FIELD(lattice)},
    {"/table/length", "residue", "residues of a chain", SF_H5_INT32, FIELD(length)},
    {"/table/letters", "", "alphabet of the sequences that the table is for", SF_H5_TEXT, FIELD(letters)},
    {"/table/maps", "map", "distinct contact maps", SF_H5_UINT64, FIELD(n_maps)},
    {"/table/conformations", "conformation", "conformations of a chain, up to rotation and reflection: the sum of /maps/count",
     SF_H5_UINT64, FIELD(conformations)},
    {"/table/max_contacts", "contact", "most contacts of a map", SF_H5_INT32, FIELD(max_contacts)},
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
        code = sf_h5_describe(h5, *dataset, a->units, a->description);
    return code ? code : sf_h5_axes_name(h5, *dataset, 1, &axis);
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
        code = sf_h5_describe(h5, dataset, "residue", "the two residues, from 0, whose contact each bit of a map is");
    if (!code)
        code = sf_h5_axes_name(h5, dataset, 2, axes);
    if (!code)
        code = sf_h5_block_write(h5, pairs, dataset, H5T_NATIVE_UINT8, 2, start, count, list);
    return sf_h5_close_written(h5, pairs, dataset, code);
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
    if (!code)
        code = sf_h5_scalars_write(h5, N_SCALARS, scalars, about);
    return code ? code : write_pairs(h5, layout);
}

int sf_table_header_read(sf_h5 *h5, sf_table_about *about)
{
    return sf_h5_scalars_read(h5, N_SCALARS, scalars, about);
}

/* RUN.perf.h5: what depends on time, host and layout, kept out of the run file so that that one repeats. One value an
 * entry; a name with slashes makes groups. */
#include <string.h>

#include "io/h5.h"
#include "io/run_file.h"
#include "io/sealed.h"

static int make_groups(sf_h5 *h5, const char *name)
{
    char part[256];
    size_t n = strlen(name);
    if (n >= sizeof part)
        return sf_fail(h5->err, SF_EINPUT, "%s: the name %s is too long", h5->path, name);
    for (size_t k = 1; k < n; k++) {
        if (name[k] != '/')
            continue;
        memcpy(part, name, k);
        part[k] = '\0';
        htri_t exists = H5Lexists(h5->file, part, H5P_DEFAULT);
        if (exists < 0)
            return sf_h5_fail(h5, part, "cannot be looked up");
        int code = exists ? 0 : sf_h5_group_create(h5, part);
        if (code)
            return code;
    }
    return 0;
}

static int write_entry(sf_h5 *h5, const sf_perf_entry *entry)
{
    const sf_h5_layout layout = {.rank = 0, .growing = -1};
    size_t n = entry->text ? strlen(entry->text) : 0;
    hid_t type = entry->text ? sf_h5_text_type(n ? n : 1) : H5Tcopy(H5T_IEEE_F64LE), dataset = H5I_INVALID_HID;
    hid_t memory = entry->text ? type : H5T_NATIVE_DOUBLE;
    int code = type < 0 ? sf_h5_fail(h5, entry->name, "the type cannot be made") : make_groups(h5, entry->name);
    if (!code)
        code = sf_h5_dataset_create(h5, entry->name, type, &layout, &dataset);
    if (!code)
        code = sf_h5_attr_text(h5, dataset, "units", entry->units);
    if (!code)
        code = sf_h5_attr_text(h5, dataset, "description", entry->description);
    if (!code)
        code = sf_h5_block_write(h5, entry->name, dataset, memory, 0, NULL, NULL,
                                 entry->text ? (const void *)entry->text : &entry->value);
    if (dataset >= 0 && H5Dclose(dataset) < 0 && !code) /* only closing it writes a small dataset */
        code = sf_h5_fail(h5, entry->name, "cannot be written");
    if (type >= 0)
        H5Tclose(type);
    return code;
}

typedef struct perf_entries {
    size_t n;
    const sf_perf_entry *entry;
} perf_entries;

static int fill(sf_h5 *h5, const void *context)
{
    const perf_entries *entries = context;
    int code = sf_h5_attr_text(h5, h5->file, "title", SF_PERF_TITLE);
    for (size_t k = 0; k < entries->n && !code; k++)
        code = write_entry(h5, &entries->entry[k]);
    return code;
}

int sf_perf_file_write(const char *path, size_t n, const sf_perf_entry *entries, sf_error *err)
{
    const perf_entries all = {n, entries};
    return sf_unsealed_write(path, fill, &all, err);
}

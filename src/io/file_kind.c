/* The title alone: whether the rest is what the title says, the reader of that kind finds out. */
#include "io/file_kind.h"

#include <string.h>

#include "io/census_file.h"
#include "io/enumeration_file.h"
#include "io/run_file.h"
#include "io/table_file.h"
#include "io/tried.h"
#include "io/version.h"

enum { TITLE_SIZE = 64 };

static const struct {
    const char *title, *what;
    int wrong; /* code for a file that is another kind */
} kinds[] = {[SF_FILE_UNKNOWN] = {"", "", SF_EINPUT},
             [SF_FILE_RUN] = {SF_RUN_TITLE, "a run file of starfold", SF_EFORMAT},
             [SF_FILE_ENUMERATION] = {SF_ENUMERATION_TITLE, "an enumeration of starfold", SF_EFORMAT},
             [SF_FILE_TABLE] = {SF_TABLE_TITLE, "a table of contact maps", SF_EINPUT},
             [SF_FILE_CENSUS] = {SF_CENSUS_TITLE, "a census", SF_EINPUT}};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* What stands beside these, or is made from them, and no command reads. */
static const struct {
    const char *title, *what;
} others[] = {{SF_PERF_TITLE, "the timings and layout of a run or command; h5dump and h5py read them"},
              {"Starfold scaling study", "a scaling study; analysis/scaling.py draws it"}};
enum { N_OTHERS = sizeof others / sizeof others[0] };

sf_file_kind sf_file_kind_titled(const char *title)
{
    for (int kind = SF_FILE_UNKNOWN + 1; kind < N_KINDS; kind++) {
        if (strcmp(title, kinds[kind].title) == 0)
            return (sf_file_kind)kind;
    }
    return SF_FILE_UNKNOWN;
}

/* Empty where there is none. */
static int read_title(sf_h5 *h5, void *title)
{
    sf_error *err = h5->err, unheard = {0};
    h5->err = &unheard;
    if (sf_h5_attr_read_text(h5, h5->file, "title", TITLE_SIZE, title) != 0)
        *(char *)title = '\0';
    h5->err = err;
    return 0;
}

/* Empty for what cannot be read. */
static void find_title(const char *path, char title[TITLE_SIZE])
{
    sf_error unheard = {0};
    title[0] = '\0';
    if (sf_tried_read(path, NULL, read_title, title, &unheard) != 0)
        title[0] = '\0';
}

bool sf_file_has_title(const char *path, const char *title)
{
    char there[TITLE_SIZE];
    find_title(path, there);
    return strcmp(there, title) == 0;
}

sf_file_kind sf_file_kind_of(const char *path)
{
    char title[TITLE_SIZE];
    find_title(path, title);
    return sf_file_kind_titled(title);
}

int sf_file_check_title(sf_h5 *h5, sf_file_kind kind)
{
    char title[TITLE_SIZE];
    (void)read_title(h5, title);
    const sf_file_kind there = sf_file_kind_titled(title);
    if (there == kind)
        return 0;
    const char *what = kinds[there].what, *then = there == SF_FILE_UNKNOWN ? "" : "; starfold info tells of it";
    for (int i = 0; i < N_OTHERS; i++) {
        if (strcmp(title, others[i].title) == 0)
            what = others[i].what;
    }
    return sf_fail(h5->err, kinds[kind].wrong, "%s: is not %s%s%s%s", h5->path, kinds[kind].what, what[0] ? " but " : "",
                   what, then);
}

int sf_file_check_schema(sf_h5 *h5, int32_t schema, int32_t readable)
{
    if (schema == readable)
        return 0;
    return sf_fail(h5->err, SF_EFORMAT, "%s: has schema version %d; this starfold (%s) reads version %d", h5->path,
                   (int)schema, sf_version, (int)readable);
}

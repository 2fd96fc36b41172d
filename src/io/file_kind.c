/* The title alone: whether the rest is what the title says, the reader of that kind finds out. */
#include "io/file_kind.h"

#include <string.h>

#include "io/census_file.h"
#include "io/enumeration_file.h"
#include "io/run_file.h"
#include "io/table_file.h"
#include "io/tried.h"

enum { TITLE_SIZE = 64 };

static int read_title(sf_h5 *h5, void *title)
{
    return sf_h5_attr_read_text(h5, h5->file, "title", TITLE_SIZE, title);
}

sf_file_kind sf_file_kind_of(const char *path)
{
    static const struct {
        const char *title;
        sf_file_kind kind;
    } known[] = {{SF_RUN_TITLE, SF_FILE_RUN},
                 {SF_ENUMERATION_TITLE, SF_FILE_ENUMERATION},
                 {SF_TABLE_TITLE, SF_FILE_TABLE},
                 {SF_CENSUS_TITLE, SF_FILE_CENSUS}};
    char title[TITLE_SIZE] = "";
    sf_error unheard = {0};
    if (sf_tried_read(path, NULL, read_title, title, &unheard) != 0)
        return SF_FILE_UNKNOWN;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        if (strcmp(title, known[k].title) == 0)
            return known[k].kind;
    }
    return SF_FILE_UNKNOWN;
}

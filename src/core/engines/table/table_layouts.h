/* What a table consists of; for table.c and table_image.c alone. */
#ifndef SF_CORE_TABLE_LAYOUTS_H
#define SF_CORE_TABLE_LAYOUTS_H

#include <stdbool.h>

#include "core/engines/table/table.h"
#include "core/engines/table/table_set.h"
#include "core/engines/table/table_sliced.h"

struct sf_table {
    unsigned kinds;
    size_t n_maps;
    int max_contacts;
    bool borrowed; /* the arrays belong to an image */
    sf_set_table set;
    sf_sliced_table sliced;
};

#endif

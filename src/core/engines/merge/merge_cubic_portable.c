/* Tail merging on the cubic lattice in plain C. */
#define CUBIC_COUNT sf_cubic_count_portable
#include "core/engines/merge/merge_cubic_kernel.h"

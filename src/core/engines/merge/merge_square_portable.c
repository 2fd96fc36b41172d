/* Tail merging on the square lattice in plain C. */
#define SQUARE_COUNT sf_square_count_portable
#include "core/engines/merge/merge_square_kernel.h"

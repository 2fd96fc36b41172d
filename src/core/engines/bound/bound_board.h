/* The board of the lattice that a kernel file is compiled for: BOUND_CUBIC says cubic, otherwise square. */
#ifndef SF_CORE_BOUND_BOARD_H
#define SF_CORE_BOUND_BOARD_H

#ifdef BOUND_CUBIC
#include "core/engines/bound/bound_board_cubic.h"
#else
#include "core/engines/bound/bound_board_square.h"
#endif

#endif

/* How fast this machine is beside the one that the engines' estimates were measured on. */
#ifndef SF_CORE_MACHINE_SPEED_H
#define SF_CORE_MACHINE_SPEED_H

#include <stdbool.h>

#include "starfold/engine.h"

/* Times a small table, its scan and a walk, each on this thread and once a process: some 5 ms the first time. Nothing
 * that an engine answers depends on it. Thread-safe. */
sf_engine_speed sf_machine_speed_measure(void);

/* Takes these instead of measuring. */
void sf_machine_speed_set(sf_engine_speed taken);

/* What was measured, or ones; *measured tells which. */
sf_engine_speed sf_machine_speed_known(bool *measured);

#endif

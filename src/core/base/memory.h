/* How much memory this process may still take. */
#ifndef SF_CORE_MEMORY_H
#define SF_CORE_MEMORY_H

#include <stdint.h>

/* Bytes free for this process: what the machine has available, and no more than its control groups (v1 or v2) and its
 * address-space limit leave. At least 1; when nothing can be read, 1 GiB. */
uint64_t sf_memory_available(void);

/* Sets malloc up for a whole program, for its main to call first: on virtual machines memory that is given back and faulted
 * in again is dear, so small pieces are kept; large ones go back at once, so that the need told before work is kept. */
void sf_memory_tune(void);

#endif

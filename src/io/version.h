/* Which starfold this is: what /provenance and --version say. */
#ifndef SF_IO_VERSION_H
#define SF_IO_VERSION_H

#include <stdbool.h>

extern const char sf_version[];  /* as 0.1.0 */
extern const char sf_revision[]; /* git revision it was built from, or "unknown" */

/* Version of the HDF5 library at run time, as 1.10.8. text has room for 32. */
const char *sf_hdf5_version(char *text);

/* True when HDF5 was built to be called from several threads at a time. (Starfold calls it from one.) */
bool sf_hdf5_threads(void);

/* Makes HDF5 ready, before MPI_Init: otherwise it hangs its end on MPI_Finalize, tries to write there once more what a
 * full disk refused, and crashes. */
void sf_hdf5_open(void);

#endif

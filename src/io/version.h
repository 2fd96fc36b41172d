/* Which starfold this is: what /provenance and --version say. */
#ifndef SF_IO_VERSION_H
#define SF_IO_VERSION_H

extern const char sf_version[];  /* as 0.1.0 */
extern const char sf_revision[]; /* git revision it was built from, or "unknown" */

/* Version of the HDF5 library at run time, as 1.10.8. text has room for 32. */
const char *sf_hdf5_version(char *text);

#endif

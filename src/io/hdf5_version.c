/* Which HDF5 is at work: files of different libraries may differ in bytes, so reports name it. */
#include <hdf5.h>
#include <stdio.h>

#include "io/version.h"

const char *sf_hdf5_version(char *text)
{
    unsigned major = 0, minor = 0, release = 0;
    if (H5get_libversion(&major, &minor, &release) < 0)
        return "unknown";
    snprintf(text, 32, "%u.%u.%u", major % 1000, minor % 1000, release % 1000);
    return text;
}

bool sf_hdf5_threads(void)
{
    hbool_t safe = 0;
    return H5is_library_threadsafe(&safe) >= 0 && safe;
}

void sf_hdf5_open(void)
{
    H5dont_atexit();
    H5open();
}

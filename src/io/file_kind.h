/* What kind of Starfold file a file is, by its title, for commands that take several. */
#ifndef SF_IO_FILE_KIND_H
#define SF_IO_FILE_KIND_H

typedef enum sf_file_kind { SF_FILE_UNKNOWN, SF_FILE_RUN, SF_FILE_ENUMERATION, SF_FILE_TABLE, SF_FILE_CENSUS } sf_file_kind;

/* SF_FILE_UNKNOWN also for one that is damaged or cannot be read: the reader of what was expected says why. */
sf_file_kind sf_file_kind_of(const char *path);

#endif

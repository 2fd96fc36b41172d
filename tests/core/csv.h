/* Reading the tables of known numbers. */
#ifndef SF_TEST_CSV_H
#define SF_TEST_CSV_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test_main.h"

enum { CSV_COLUMNS = 16, CSV_LINE = 8192 };

typedef struct csv {
    FILE *file;
    char line[CSV_LINE];
    char *column[CSV_COLUMNS]; /* of the present row; "" where there is none */
} csv;

static inline void csv_open(csv *c, const char *name)
{
    c->file = test_data_open(name);
    if (!fgets(c->line, sizeof c->line, c->file)) /* the header */
        exit(1);
}

/* The next row, without quoted fields; 0 at the end, and the file is closed. */
static inline int csv_next(csv *c)
{
    if (!fgets(c->line, sizeof c->line, c->file)) {
        fclose(c->file);
        return 0;
    }
    char *at = c->line;
    at[strcspn(at, "\r\n")] = '\0';
    for (int i = 0; i < CSV_COLUMNS; i++) {
        c->column[i] = at;
        at += strcspn(at, ",");
        if (*at)
            *at++ = '\0';
    }
    return 1;
}

static inline uint64_t csv_number(const csv *c, int column)
{
    return strtoull(c->column[column], NULL, 10);
}

/* The numbers of a column, separated by blanks, to list[room], the rest 0; returns how many. */
static inline int csv_numbers(const csv *c, int column, uint64_t *list, int room)
{
    int n = 0;
    memset(list, 0, (size_t)room * sizeof *list);
    for (char *at = c->column[column], *end; n < room; at = end) {
        uint64_t value = strtoull(at, &end, 10);
        if (end == at)
            break;
        list[n++] = value;
    }
    return n;
}

static inline const char *csv_lattice(const csv *c)
{
    return csv_number(c, 0) == 2 ? "square" : "cubic";
}

#endif

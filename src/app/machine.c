/* Three numbers with their names, a line each, to be read and corrected by people. */
#include "app/machine.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_SIZE = 256, N_SPEEDS = 3 };

/* Beyond these it is a slip, or a damaged file. */
static const double LEAST = 0.001, MOST = 1000;

static const struct speed_name {
    const char *name;
    size_t offset;
} speeds[N_SPEEDS] = {{"build", offsetof(sf_engine_speed, build)},
                      {"scan", offsetof(sf_engine_speed, scan)},
                      {"walk", offsetof(sf_engine_speed, walk)}};

static double *value_of(sf_engine_speed *speed, int i)
{
    return (double *)((char *)speed + speeds[i].offset);
}

static int read_line(const char *path, int number, const char *line, sf_engine_speed *speed, sf_error *err)
{
    char name[32] = "", end = '\0';
    double value = 0;
    if (line[0] == '#' || line[strspn(line, " \t\r\n")] == '\0')
        return 0;
    const int n = sscanf(line, "%31s %lf %c", name, &value, &end);
    for (int i = 0; i < N_SPEEDS && n == 2; i++) {
        if (strcmp(name, speeds[i].name) != 0)
            continue;
        if (!(value >= LEAST && value <= MOST))
            break;
        *value_of(speed, i) = value;
        return 0;
    }
    return sf_fail(err, SF_EINPUT,
                   "%.200s line %d is none of build, scan, walk with a number of %g to %g; remove the file to have it "
                   "measured anew",
                   path, number, LEAST, MOST);
}

static int read_speed(const char *path, FILE *file, sf_engine_speed *speed, sf_error *err)
{
    char line[LINE_SIZE];
    int code = 0;
    *speed = (sf_engine_speed){0, 0, 0};
    for (int number = 1; !code && fgets(line, sizeof line, file); number++)
        code = read_line(path, number, line, speed, err);
    if (!code && ferror(file))
        code = sf_fail(err, SF_EIO, "cannot read '%.200s': %s", path, strerror(errno));
    for (int i = 0; !code && i < N_SPEEDS; i++) {
        if (*value_of(speed, i) == 0)
            code = sf_fail(err, SF_EINPUT, "%.200s does not tell '%s'; remove it to have it measured anew", path,
                           speeds[i].name);
    }
    return code;
}

/* Under a name of its own first: several jobs may do this at a time. */
static int write_speed(const char *path, sf_engine_speed speed, sf_error *err)
{
    char aside[SF_TEXT_SIZE + 16];
    snprintf(aside, sizeof aside, "%s.XXXXXX", path);
    const int fd = mkstemp(aside);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        const int why = errno;
        if (fd >= 0) {
            close(fd);
            unlink(aside);
        }
        return sf_fail(err, SF_EIO, "cannot write '%.200s': %s", path, strerror(why));
    }
    fprintf(file, "# starfold, how fast this machine is: times here over those of the machine that estimates are from\n");
    for (int i = 0; i < N_SPEEDS; i++)
        fprintf(file, "%s %.3f\n", speeds[i].name, *value_of(&speed, i));
    const bool failed = fflush(file) != 0 || fchmod(fd, 0644) != 0 || fsync(fd) != 0;
    const int why = errno;
    if ((fclose(file) != 0 || failed) || rename(aside, path) != 0) {
        unlink(aside);
        return sf_fail(err, SF_EIO, "cannot write '%.200s': %s", path, strerror(failed ? why : errno));
    }
    return 0;
}

/* Rank 0. What was written is read again: the next job has no more digits either. */
static int find_speed(const char *path, sf_engine_speed *speed, sf_error *err)
{
    FILE *file = NULL;
    struct stat about;
    int code = 0;
    const bool there = stat(path, &about) == 0;
    if (there && !S_ISREG(about.st_mode)) /* a pipe would be waited for */
        return sf_fail(err, SF_EINPUT, "--machine '%.200s' is not a file; name one, or one to be made", path);
    if (!there && errno == ENOENT)
        code = write_speed(path, sf_engine_calibrate(), err);
    if (!code && !(file = fopen(path, "r")))
        code = sf_fail(err, SF_EINPUT, "cannot read '%.200s': %s", path, strerror(errno));
    if (!code)
        code = read_speed(path, file, speed, err);
    if (file)
        fclose(file);
    return code;
}

int sf_machine_take(const sf_app *app, sf_error *err)
{
    const char *path = app->options.settings.machine;
    sf_engine_speed speed = {1, 1, 1};
    if (!path[0])
        return 0;
    int code = sf_comm_agree(&app->comm, sf_app_speaks(app) ? find_speed(path, &speed, err) : 0, err);
    if (!code)
        code = sf_comm_broadcast(&app->comm, sizeof speed, &speed, err);
    if (!code)
        sf_engine_set_speed(speed);
    return code;
}

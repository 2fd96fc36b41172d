/* Ranks are brought together with the one collective that adds numbers: each fills its own row of a table of zeros. 32
 * bits a number, since the highest 64-bit values have a meaning of their own there. */
#include "app/launch.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"

enum {
    GROUP_SIZE = 4096,
    MEMORY_SHIFT = 16,
    HOST_WORDS = SF_HOST_SIZE / 4,
    CPU_WORDS = SF_CPUS_MAX / 32,
    ROW_WORDS = HOST_WORDS + CPU_WORDS + 3
};

static void fill_row(const sf_app *app, uint64_t *row)
{
    char host[SF_HOST_SIZE] = "";
    cpu_set_t set;
    gethostname(host, sizeof host - 1);
    for (int i = 0; i < SF_HOST_SIZE; i++)
        row[i / 4] |= (uint64_t)(unsigned char)host[i] << 8 * (i % 4);
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        for (int i = 0; i < SF_CPUS_MAX && i < CPU_SETSIZE; i++)
            row[HOST_WORDS + i / 32] |= (uint64_t)(CPU_ISSET((size_t)i, &set) != 0) << i % 32;
    }
    row[ROW_WORDS - 3] = (uint64_t)getpid();
    row[ROW_WORDS - 2] = sf_memory_available() >> MEMORY_SHIFT;
    row[ROW_WORDS - 1] = (uint64_t)sf_app_threads(app);
}

static void read_row(const uint64_t *row, sf_launch_rank *rank)
{
    memset(rank, 0, sizeof *rank);
    for (int i = 0; i < SF_HOST_SIZE - 1; i++)
        rank->host[i] = (char)(row[i / 4] >> 8 * (i % 4) & 255);
    for (int i = 0; i < CPU_WORDS; i++) {
        rank->cpus[i] = (uint32_t)row[HOST_WORDS + i];
        rank->n_cpus += __builtin_popcount(rank->cpus[i]);
    }
    rank->pid = (pid_t)row[ROW_WORDS - 3];
    rank->memory = row[ROW_WORDS - 2] << MEMORY_SHIFT;
    rank->threads = (int)row[ROW_WORDS - 1];
}

int sf_launch_gather(const sf_app *app, sf_launch_rank **ranks, sf_error *err)
{
    size_t size = (size_t)app->comm.size;
    uint64_t *table = calloc(size * ROW_WORDS, sizeof *table);
    *ranks = calloc(size, sizeof **ranks);
    int code = table && *ranks ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %zu ranks", size);
    if (!code)
        fill_row(app, table + (size_t)app->comm.rank * ROW_WORDS);
    code = sf_comm_agree(&app->comm, code, err);
    if (!code)
        code = sf_comm_sum(&app->comm, size * ROW_WORDS, table, err);
    for (size_t i = 0; !code && i < size; i++)
        read_row(table + i * ROW_WORDS, &(*ranks)[i]);
    free(table);
    if (code) {
        free(*ranks);
        *ranks = NULL;
    }
    return code;
}

int sf_launch_memory(const sf_app *app, uint64_t *bytes, sf_error *err)
{
    sf_launch_rank *ranks;
    int code = sf_launch_gather(app, &ranks, err);
    *bytes = UINT64_MAX;
    for (int r = 0; !code && r < app->comm.size; r++) {
        uint64_t sharing = 0, each;
        for (int other = 0; other < app->comm.size; other++)
            sharing += strcmp(ranks[other].host, ranks[r].host) == 0;
        each = ranks[r].memory / sharing;
        *bytes = each < *bytes ? each : *bytes;
    }
    free(ranks);
    *bytes += *bytes == 0;
    return code;
}

/* ---- control groups ---- */

/* Reads up to two numbers of a file of a group; returns how many there were ("max" is none). */
static int read_numbers(const char *folder, const char *name, long long *a, long long *b)
{
    char path[GROUP_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    int n = file ? fscanf(file, "%lld %lld", a, b) : 0;
    if (file)
        fclose(file);
    return n;
}

/* Cores, in hundredths, that a group allows; INT64_MAX for no limit. */
static int64_t group_cpus(const char *folder, bool version_2)
{
    long long quota = 0, period = 0, unused;
    bool found = version_2 ? read_numbers(folder, "cpu.max", &quota, &period) == 2
                           : read_numbers(folder, "cpu.cfs_quota_us", &quota, &unused) >= 1 &&
                                 read_numbers(folder, "cpu.cfs_period_us", &period, &unused) >= 1;
    return found && quota > 0 && period > 0 ? quota * 100 / period : INT64_MAX;
}

/* The least that a group and those above it allow: a job's group is a few steps below the root. */
static int64_t tree_cpus(const char *mount, const char *group, bool version_2)
{
    char folder[GROUP_SIZE];
    int64_t least = INT64_MAX;
    size_t root = strlen(mount);
    if ((size_t)snprintf(folder, sizeof folder, "%s%s", mount, group) >= sizeof folder)
        return least;
    for (;;) {
        int64_t here = group_cpus(folder, version_2);
        least = here < least ? here : least;
        char *slash = strrchr(folder + root, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

int64_t sf_launch_cpu_limit(void)
{
    char line[GROUP_SIZE];
    int64_t least = INT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) { /* "0::/path" (version 2), "N:controller,...:/path" (version 1) */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        int64_t here = INT64_MAX;
        if (controllers[1] == '\0')
            here = tree_cpus("/sys/fs/cgroup", group, true);
        else if (strncmp(controllers + 1, "cpu", 3) == 0 && (controllers[4] == '\0' || controllers[4] == ','))
            here = tree_cpus("/sys/fs/cgroup/cpu", group, false);
        least = here < least ? here : least;
    }
    if (file)
        fclose(file);
    return least == INT64_MAX ? 0 : least;
}

void sf_launch_cpus_text(const sf_launch_rank *rank, size_t size, char *text)
{
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < SF_CPUS_MAX && at + 16 < size; i++) {
        if (!(rank->cpus[i / 32] >> i % 32 & 1))
            continue;
        int last = i;
        while (last + 1 < SF_CPUS_MAX && rank->cpus[(last + 1) / 32] >> (last + 1) % 32 & 1)
            last++;
        at += (size_t)snprintf(text + at, size - at, last > i ? "%s%d-%d" : "%s%d", at ? "," : "", i, last);
        i = last;
    }
}

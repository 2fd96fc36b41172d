/* How much memory is left. The obvious way, asking the machine, is wrong on a cluster: a job lives in a control group
 * that is smaller than its node, and is killed, without a word, when it takes more. So the groups are asked too, from
 * the process's own up to the root: version 2 (one tree, memory.max) and version 1 (the memory controller's tree). A
 * group's usage counts the page cache, which gives way; what the kernel calls inactive file pages is not held against
 * us. */
#include "core/base/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { PATH_SIZE = 4096, LINE_SIZE = 4096 };

static const uint64_t FALLBACK = UINT64_C(1) << 30;

/* Number in a file that holds one; false when there is none ("max" in version 2). */
static bool read_number(const char *folder, const char *name, uint64_t *value)
{
    char path[PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool found = fscanf(file, "%" SCNu64, value) == 1;
    fclose(file);
    return found;
}

/* Value of the line "key NUMBER" of a file, as in memory.stat and /proc/meminfo; 0 when it is not there. */
static uint64_t read_key(const char *path, const char *key)
{
    char line[LINE_SIZE], name[64];
    uint64_t value = 0, found = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%63s %" SCNu64, name, &value) == 2 && strcmp(name, key) == 0) {
            found = value;
            break;
        }
    }
    if (file)
        fclose(file);
    return found;
}

/* What a group leaves, or UINT64_MAX when it sets no limit. */
static uint64_t group_left(const char *folder, const char *limit_name, const char *usage_name, const char *cache_key)
{
    char path[PATH_SIZE + 64];
    uint64_t limit, usage;
    if (!read_number(folder, limit_name, &limit) || !read_number(folder, usage_name, &usage))
        return UINT64_MAX;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    uint64_t cache = read_key(path, cache_key);
    usage -= cache < usage ? cache : usage;
    return limit > usage ? limit - usage : 0;
}

/* Least that a group and its ancestors leave. A container may see its own group as the root: what does not exist under
 * the mount is passed over. */
static uint64_t tree_left(const char *mount, const char *group, bool version_2)
{
    char folder[PATH_SIZE];
    uint64_t left = UINT64_MAX;
    size_t root = strlen(mount);
    if ((size_t)snprintf(folder, sizeof folder, "%s%s", mount, group) >= sizeof folder)
        return left;
    for (;;) {
        uint64_t here =
            version_2 ? group_left(folder, "memory.max", "memory.current", "inactive_file")
                      : group_left(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
        left = here < left ? here : left;
        char *slash = strrchr(folder + root, '/');
        if (!slash)
            return left;
        *slash = '\0';
    }
}

/* Lines of /proc/self/cgroup: "0::/path" (version 2), "N:controller,controller:/path" (version 1). */
static uint64_t groups_left(void)
{
    char line[LINE_SIZE];
    uint64_t left = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        uint64_t here = UINT64_MAX;
        if (controllers[1] == '\0') {
            uint64_t unified = tree_left("/sys/fs/cgroup/unified", group, true);
            here = tree_left("/sys/fs/cgroup", group, true);
            here = unified < here ? unified : here;
        } else if (strstr(controllers + 1, "memory")) {
            here = tree_left("/sys/fs/cgroup/memory", group, false);
        }
        left = here < left ? here : left;
    }
    if (file)
        fclose(file);
    return left;
}

/* What the limit on the address space leaves; what is mapped now counts against it. */
static uint64_t address_space_left(void)
{
    struct rlimit limit;
    uint64_t mapped = read_key("/proc/self/status", "VmSize:") * 1024;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
}

uint64_t sf_memory_available(void)
{
    uint64_t left = read_key("/proc/meminfo", "MemAvailable:") * 1024;
    uint64_t groups = groups_left();
    uint64_t space = address_space_left();
    if (left == 0)
        left = FALLBACK;
    left = groups < left ? groups : left;
    left = space < left ? space : left;
    return left > 0 ? left : 1;
}

void sf_memory_tune(void)
{
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
    mallopt(M_MMAP_THRESHOLD, 2 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
    mallopt(M_ARENA_MAX, 1); /* what one thread gave back another can take */
}

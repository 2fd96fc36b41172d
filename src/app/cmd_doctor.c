/* starfold doctor: what this machine and this launch look like, and the traps that are seen. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "app/json.h"
#include "app/launch.h"
#include "app/run_paths.h"
#include "app/session.h"
#include "core/base/isa.h"
#include "core/base/memory.h"
#include "io/version.h"

enum { WARNINGS_MAX = 16 };

typedef struct diagnosis {
    const sf_app *app;
    sf_launch_rank *ranks;
    bool hdf5_threads;
    uint64_t memory_each; /* bytes, when all ranks take the same */
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING], hdf5[32];
    const char *thread_level;
    char folder[SF_TEXT_SIZE];
    const char *locking;                  /* of the output folder */
    uint64_t disk_free, expected, memory; /* bytes */
    int64_t cpu_limit;                    /* hundredths of a core; 0: none */
    int n_warnings;
    char warning[WARNINGS_MAX][256];
} diagnosis;

static void warn(diagnosis *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void warn(diagnosis *d, const char *format, ...)
{
    va_list arguments;
    if (d->n_warnings == WARNINGS_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(d->warning[d->n_warnings], sizeof d->warning[0], format, arguments);
    va_end(arguments);
    d->n_warnings++;
}

/* ---- cores ---- */

/* Threads and distinct cores of all ranks on the host of rank `first`; false when an earlier rank is on it too. */
static bool count_host(const diagnosis *d, int first, int *threads, int *cpus)
{
    uint32_t together[SF_CPUS_MAX / 32] = {0};
    *threads = *cpus = 0;
    for (int r = 0; r < d->app->comm.size; r++) {
        if (strcmp(d->ranks[r].host, d->ranks[first].host) != 0)
            continue;
        if (r < first)
            return false;
        *threads += d->ranks[r].threads;
        for (int i = 0; i < SF_CPUS_MAX / 32; i++)
            together[i] |= d->ranks[r].cpus[i];
    }
    for (int i = 0; i < SF_CPUS_MAX / 32; i++)
        *cpus += __builtin_popcount(together[i]);
    return true;
}

/* Threads of all ranks that may run on no other cores than those of rank `r`; false when an earlier rank of its host
 * may use the same ones. */
static bool count_within(const diagnosis *d, int r, int *threads)
{
    *threads = 0;
    for (int other = 0; other < d->app->comm.size; other++) {
        bool within = strcmp(d->ranks[other].host, d->ranks[r].host) == 0;
        for (int i = 0; i < SF_CPUS_MAX / 32; i++)
            within = within && (d->ranks[other].cpus[i] & ~d->ranks[r].cpus[i]) == 0;
        if (within && other < r && d->ranks[other].n_cpus == d->ranks[r].n_cpus)
            return false;
        *threads += within ? d->ranks[other].threads : 0;
    }
    return true;
}

static void look_at_cores(diagnosis *d)
{
    for (int r = 0; r < d->app->comm.size; r++) {
        const sf_launch_rank *rank = &d->ranks[r];
        int threads, cpus, within;
        if (rank->threads > rank->n_cpus)
            warn(
                d,
                "rank %d on %s has %d threads but may use %d cores: launch with --bind-to none, or --map-by slot:PE=%d "
                "--bind-to core",
                r, rank->host, rank->threads, rank->n_cpus, rank->threads);
        char list[64];
        sf_launch_cpus_text(rank, sizeof list, list);
        bool first = count_host(d, r, &threads, &cpus);
        if (count_within(d, r, &within) && within > rank->n_cpus && within > rank->threads && rank->n_cpus < cpus)
            warn(d, "ranks on %s share cores: %d threads in all have cores %s alone; launch with --bind-to none",
                 rank->host, within, list);
        if (first && threads > cpus)
            warn(d, "%s has %d threads in all on %d cores: fewer ranks or threads would be as fast", rank->host,
                 threads, cpus);
    }
    int here, unused;
    (void)count_host(d, 0, &here, &unused);
    if (d->cpu_limit && d->cpu_limit < 100 * (int64_t)here)
        warn(d, "the control group allows %.2f cores, the ranks on this host have %d threads",
             (double)d->cpu_limit / 100, here);
}

/* ---- the output folder ---- */

static const char *try_lock(const char *folder)
{
    char path[SF_TEXT_SIZE + 32];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    snprintf(path, sizeof path, "%s/.starfold-doctor-XXXXXX", folder);
    int fd = mkstemp(path);
    if (fd < 0)
        return "cannot be written";
    const char *answer = fcntl(fd, F_SETLK, &lock) == 0 ? "works" : "does not work";
    close(fd);
    unlink(path);
    return answer;
}

/* About what a run with these options writes: rows of sequences and of trajectories. */
static uint64_t expected_bytes(sf_app *app)
{
    static sf_session session;
    sf_error ignored;
    if (sf_session_configure(&session, app, &ignored) != 0)
        return 0;
    const sf_search_config *c = &session.config;
    double row = 8.0 * session.problem.n_scores + session.problem.length + 40;
    double cells = (double)c->trials * c->islands * ((double)c->generations + 1);
    double kept = c->keep_populations ? cells * c->population * session.problem.length : 0;
    double bytes = row * (double)sf_session_genomes(&session, -1) + 28 * cells + kept;
    return bytes < 1e18 ? (uint64_t)bytes : (uint64_t)1e18;
}

static void look_at_folder(diagnosis *d, sf_app *app)
{
    char copy[SF_TEXT_SIZE];
    struct statvfs disk;
    const char *output = app->options.settings.output;
    snprintf(copy, sizeof copy, "%s", output[0] ? output : "./x");
    snprintf(d->folder, sizeof d->folder, "%s", dirname(copy));
    d->locking = try_lock(d->folder);
    d->expected = expected_bytes(app);
    if (statvfs(d->folder, &disk) == 0)
        d->disk_free = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (strcmp(d->locking, "cannot be written") == 0)
        warn(d, "the folder '%.150s' cannot be written; choose another for --output", d->folder);
    else if (strcmp(d->locking, "works") != 0)
        warn(d, "the folder '%.150s' has no file locks: do not start two jobs with one output", d->folder);
    char expected[32], room[32];
    if (d->disk_free && d->disk_free / 4 < d->expected) /* the file, two checkpoints, the finished file beside them */
        warn(d, "a run with these options may reach %s four times over, the disk has %s free",
             sf_bytes_text(d->expected, expected), sf_bytes_text(d->disk_free, room));
}

/* ---- libraries ---- */

static void look_at_libraries(diagnosis *d)
{
    static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
    int n = 0, level = MPI_THREAD_SINGLE;
    MPI_Get_library_version(d->mpi, &n); /* allowed before MPI_Init */
    d->mpi[strcspn(d->mpi, ",\n")] = '\0';
    if (sf_hdf5_version(d->hdf5) != d->hdf5)
        snprintf(d->hdf5, sizeof d->hdf5, "unknown");
    d->hdf5_threads = sf_hdf5_threads();
    d->thread_level = "not initialised";
    if (d->app->comm.mpi && MPI_Query_thread(&level) == MPI_SUCCESS)
        d->thread_level = level == MPI_THREAD_SINGLE       ? levels[0]
                          : level == MPI_THREAD_FUNNELED   ? levels[1]
                          : level == MPI_THREAD_SERIALIZED ? levels[2]
                                                           : levels[3];
    if (d->app->comm.mpi && level < MPI_THREAD_FUNNELED)
        warn(d, "MPI was built without threads; run with --threads 1");
    const char *world = getenv("SLURM_NTASKS");
    if (d->app->comm.size == 1 && world && strtol(world, NULL, 10) > 1)
        warn(d, "the job has %.10s tasks but this is one process: launch with 'srun --mpi=pmix' or mpirun", world);
}

/* ---- telling ---- */

static void print_text(const diagnosis *d)
{
    char text[32], more[32];
    printf("starfold %s (%s), instruction set %s\n", sf_version, sf_revision, sf_isa_name(sf_isa_get()));
    printf("  MPI             %s, threads %s\n", d->mpi, d->thread_level);
    printf("  HDF5            %s, %s (one thread calls it)\n", d->hdf5,
           d->hdf5_threads ? "thread-safe" : "not thread-safe");
    printf("  ranks           %d\n", d->app->comm.size);
    for (int r = 0; r < d->app->comm.size; r++) {
        const sf_launch_rank *rank = &d->ranks[r];
        char list[64];
        sf_launch_cpus_text(rank, sizeof list, list);
        printf("    rank %-5d    %s, %d thread%s on %d core%s (%s)\n", r, rank->host, rank->threads,
               rank->threads == 1 ? "" : "s", rank->n_cpus, rank->n_cpus == 1 ? "" : "s", list);
    }
    printf("  memory free     %s within all limits, %s for each rank\n", sf_bytes_text(d->memory, text),
           sf_bytes_text(d->memory_each, more));
    if (d->cpu_limit)
        printf("  core limit      %.2f (control group)\n", (double)d->cpu_limit / 100);
    printf("  output folder   %s: locking %s, %s free\n", d->folder, d->locking, sf_bytes_text(d->disk_free, text));
    printf("  expected run    at most %s for these options\n", sf_bytes_text(d->expected, more));
    for (int i = 0; i < d->n_warnings; i++)
        printf("  WARNING  %s\n", d->warning[i]);
    if (d->n_warnings == 0)
        printf("  no traps seen\n");
}

static int print_json(const diagnosis *d, sf_error *err)
{
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "version", sf_version);
    cJSON_AddStringToObject(document, "revision", sf_revision);
    cJSON_AddStringToObject(document, "instruction_set", sf_isa_name(sf_isa_get()));
    cJSON_AddStringToObject(document, "mpi", d->mpi);
    cJSON_AddStringToObject(document, "mpi_threads", d->thread_level);
    cJSON_AddStringToObject(document, "hdf5", d->hdf5);
    cJSON_AddBoolToObject(document, "hdf5_thread_safe", d->hdf5_threads);
    cJSON *ranks = cJSON_AddArrayToObject(document, "ranks");
    for (int r = 0; r < d->app->comm.size; r++) {
        cJSON *rank = cJSON_CreateObject();
        cJSON_AddStringToObject(rank, "host", d->ranks[r].host);
        sf_json_add_integer(rank, "threads", d->ranks[r].threads);
        sf_json_add_integer(rank, "cores", d->ranks[r].n_cpus);
        char list[256];
        sf_launch_cpus_text(&d->ranks[r], sizeof list, list);
        cJSON_AddStringToObject(rank, "affinity", list);
        sf_json_add_count(rank, "memory_free_bytes", d->ranks[r].memory);
        cJSON_AddItemToArray(ranks, rank);
    }
    sf_json_add_count(document, "memory_free_bytes", d->memory);
    sf_json_add_count(document, "memory_each_bytes", d->memory_each);
    cJSON_AddNumberToObject(document, "core_limit", (double)d->cpu_limit / 100);
    cJSON_AddStringToObject(document, "folder", d->folder);
    cJSON_AddStringToObject(document, "locking", d->locking);
    sf_json_add_count(document, "disk_free_bytes", d->disk_free);
    sf_json_add_count(document, "expected_bytes", d->expected);
    cJSON *warnings = cJSON_AddArrayToObject(document, "warnings");
    for (int i = 0; i < d->n_warnings; i++)
        cJSON_AddItemToArray(warnings, cJSON_CreateString(d->warning[i]));
    return sf_json_print(document, err);
}

static int doctor(sf_app *app, sf_error *err)
{
    static diagnosis d;
    d.app = app;
    int code = sf_launch_memory(app, &d.memory_each, err);
    if (!code)
        code = sf_launch_gather(app, &d.ranks, err);
    if (code || !sf_app_speaks(app))
        goto out;
    d.memory = sf_memory_available();
    d.cpu_limit = sf_launch_cpu_limit();
    look_at_libraries(&d);
    look_at_cores(&d);
    look_at_folder(&d, app);
    if (app->options.settings.format)
        code = print_json(&d, err);
    else
        print_text(&d);
out:
    free(d.ranks);
    return code;
}

static const sf_option_group *const groups[] = {&sf_group_common, &sf_group_run, &sf_group_search, &sf_group_problem,
                                                NULL};

const sf_command sf_command_doctor = {
    .name = "doctor",
    .words = "",
    .summary = "what this machine and launch look like, and the traps seen",
    .text = "Tells ranks, threads and cores of this very launch, memory, MPI and HDF5, and whether the output folder "
            "is fit "
            "for a run; warns of what slows or breaks runs. Launch it as the run will be launched; give it the run's "
            "options "
            "to compare the size it may reach with the disk.",
    .groups = groups,
    .run = doctor,
};

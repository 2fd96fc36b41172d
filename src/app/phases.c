/* Measured at the places where a command passes from one kind of work to the next, not by a profiler: that costs
 * nothing and gives the same phases for every command and engine. */
#include "app/phases.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "app/progress.h"
#include "core/base/isa.h"
#include "io/run_file.h"

static struct {
    sf_phase phase;
    double begin_s; /* 0: the clock does not run yet */
    double spent_s[SF_PHASES];
} clock_of = {.phase = SF_PHASE_START};

sf_phase sf_phase_begin(sf_phase phase)
{
    sf_phase before = clock_of.phase;
    double now = sf_now();
    if (clock_of.begin_s > 0)
        clock_of.spent_s[before] += now - clock_of.begin_s;
    clock_of.begin_s = now;
    clock_of.phase = phase;
    return before;
}

double sf_phase_seconds(sf_phase phase)
{
    double running = phase == clock_of.phase && clock_of.begin_s > 0 ? sf_now() - clock_of.begin_s : 0;
    return clock_of.spent_s[phase] + running;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int sf_phases_write(const sf_app *app, const char *command, sf_error *err)
{
    struct rusage usage;
    char host[256] = "";
    if (!app->options.settings.perf[0])
        return 0;
    getrusage(RUSAGE_SELF, &usage);
    gethostname(host, sizeof host - 1);
    const double start = sf_phase_seconds(SF_PHASE_START), open = sf_phase_seconds(SF_PHASE_OPEN),
                 count = sf_phase_seconds(SF_PHASE_COUNT), write = sf_phase_seconds(SF_PHASE_WRITE);
    const sf_perf_entry entries[] = {
        {"command", "", "command of the program", 0, command},
        {"host", "", "name of the host of rank 0", 0, host},
        {"instruction_set", "", "instruction set that was used", 0, sf_isa_name(sf_isa_get())},
        {"ranks", "1", "MPI ranks", app->comm.size, NULL},
        {"threads", "1", "threads of each rank", sf_app_threads(app), NULL},
        {"resident_memory_max", "bytes", "most memory of rank 0", (double)usage.ru_maxrss * 1024, NULL},
        {"time_processor", "s", "processor time of rank 0, over its threads",
         seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), NULL},
        {"phase/start", "s", "wall time of rank 0 to read options and begin MPI", start, NULL},
        {"phase/open", "s", "wall time to build or read tables and open engines", open, NULL},
        {"phase/count", "s", "wall time to count conformations; of a search, all but its checkpoints", count, NULL},
        {"phase/write", "s", "wall time to write checkpoints, files and what is printed", write, NULL},
        {"time_total", "s", "wall time of the program so far", start + open + count + write, NULL},
    };
    return sf_perf_file_write(app->options.settings.perf, sizeof entries / sizeof entries[0], entries, err);
}

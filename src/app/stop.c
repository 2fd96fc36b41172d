/* The search may be deep inside one long generation, so file and clock are watched by a thread of their own. It calls
 * no MPI and touches nothing but the flag. */
#include "app/stop.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/peers.h"
#include "app/progress.h"
#include "app/run_paths.h"
#include "app/slurm_end.h"

volatile int sf_stop_flag = SF_STOP_NONE;

static const double SECOND_SIGNAL_S = 1; /* launchers may deliver one wish twice, at once */
static const double WATCH_S = 0.1, WATCH_OTHERS_S = 1;
static const double SLURM_SLACK_S = 10; /* a job's end is enforced coarsely */

static struct {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool running, ending;
    const char *path;
    double pace_s;
    double deadline_s; /* monotonic; 0: none */
    double save_s;
    sf_slurm_question slurm;
} watch = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static volatile sig_atomic_t seen_signal;
static struct timespec first_signal;
static double start_s; /* of the process, nearly */
static char farewell[SF_TEXT_SIZE + 128] = "starfold: left at a second signal, before there was a checkpoint\n";
static volatile sig_atomic_t farewell_size; /* 0: this rank says nothing */

const char *sf_stop_text(int reason)
{
    static const char *const texts[] = {"a signal to another rank", "a signal", "the stop file", "the time limit"};
    return texts[reason >= 0 && reason <= SF_STOP_TIME ? reason : 0];
}

static void on_signal(int number)
{
    struct timespec now;
    if (number == SIGTERM)
        sf_peers_tell_gone();
    clock_gettime(CLOCK_MONOTONIC, &now);
    double since = (double)(now.tv_sec - first_signal.tv_sec) + 1e-9 * (double)(now.tv_nsec - first_signal.tv_nsec);
    if (seen_signal && since > SECOND_SIGNAL_S) {
        static int leaving; /* signals may come to two threads at once */
        if (__atomic_exchange_n(&leaving, 1, __ATOMIC_SEQ_CST))
            return;
        sf_peers_hush();
        ssize_t told = write(STDERR_FILENO, farewell, (size_t)farewell_size);
        _exit(told < 0 ? 1 : sf_error_status(SF_ESTOPPED)); /* the last checkpoint holds */
    }
    if (!seen_signal)
        first_signal = now;
    seen_signal = 1;
    sf_stop_flag = SF_STOP_SIGNAL;
}

void sf_stop_catch_signals(void)
{
    struct sigaction action;
    start_s = sf_now();
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

void sf_stop_say_at_once(const char *command)
{
    farewell_size = 0;
    if (command)
        snprintf(farewell, sizeof farewell, "starfold: left at a second signal; go on with: %s\n", command);
    farewell_size = (sig_atomic_t)strlen(farewell);
}

void sf_stop_hush(void)
{
    farewell_size = 0;
}

/* The job ends in so many seconds; 0: it is over, and not ours. */
static void end_before(double left_s)
{
    double until_s = sf_now() + (left_s > SLURM_SLACK_S ? left_s - SLURM_SLACK_S : 1e-3);
    if (left_s > 0 && (watch.deadline_s <= 0 || until_s < watch.deadline_s))
        watch.deadline_s = until_s;
}

static void *watch_loop(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&watch.mutex);
    while (!watch.ending) {
        double slack = 2 * watch.save_s, left;
        if (sf_slurm_answered(&watch.slurm, &left))
            end_before(left);
        if (!sf_stop_flag && access(watch.path, F_OK) == 0)
            sf_stop_flag = SF_STOP_FILE;
        if (!sf_stop_flag && watch.deadline_s > 0 && sf_now() + slack >= watch.deadline_s)
            sf_stop_flag = SF_STOP_TIME;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        int64_t ns = until.tv_nsec + (int64_t)(watch.pace_s * 1e9);
        until.tv_sec += ns / 1000000000;
        until.tv_nsec = ns % 1000000000;
        pthread_cond_timedwait(&watch.wake, &watch.mutex, &until);
    }
    pthread_mutex_unlock(&watch.mutex);
    return NULL;
}

/* Seconds that are left of the SLURM job, 0 when there is none. A time in the past is of a job that is over, whose
 * environment a shell has kept, or of one that may run longer than it asked for. */
static double slurm_left(const char *end)
{
    double left = (double)(strtoll(end, NULL, 10) - (long long)time(NULL));
    return left > 0 ? left : 0;
}

int sf_stop_watch(const char *stop_path, uint64_t time_limit_ms, bool speaks, sf_error *err)
{
    const char *end = getenv("SLURM_JOB_END_TIME");
    watch.path = stop_path;
    watch.ending = false;
    watch.pace_s = speaks ? WATCH_S : WATCH_OTHERS_S;
    watch.deadline_s = time_limit_ms ? (start_s > 0 ? start_s : sf_now()) + (double)time_limit_ms / 1e3 : 0;
    if (end)
        end_before(slurm_left(end));
    sf_slurm_ask(&watch.slurm, speaks && !end ? getenv("SLURM_JOB_ID") : NULL);
    if (pthread_create(&watch.thread, NULL, watch_loop, NULL) != 0)
        return sf_slurm_forget(&watch.slurm),
               sf_fail(err, SF_ENOMEM, "cannot start the thread that watches the time limit");
    watch.running = true;
    return 0;
}

void sf_stop_note_save(double seconds)
{
    pthread_mutex_lock(&watch.mutex);
    watch.save_s = seconds;
    pthread_mutex_unlock(&watch.mutex);
}

void sf_stop_end(void)
{
    if (!watch.running)
        return;
    pthread_mutex_lock(&watch.mutex);
    watch.ending = true;
    pthread_cond_signal(&watch.wake);
    pthread_mutex_unlock(&watch.mutex);
    pthread_join(watch.thread, NULL);
    sf_slurm_forget(&watch.slurm);
    watch.running = false;
}

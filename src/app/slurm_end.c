/* libslurm would tell too, but it is a library of one version of SLURM. No shell and no fork() of ours: MPI libraries
 * dislike that. A control daemon that is down lets squeue wait for minutes, so its answer is picked up when it comes.
 */
#include "app/slurm_end.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool start(sf_slurm_question *question, char *const *words, int output)
{
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    bool good = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
                posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO) == 0 &&
                posix_spawnp(&question->pid, words[0], &files, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    return good;
}

void sf_slurm_ask(sf_slurm_question *question, const char *job)
{
    int ends[2];
    *question = (sf_slurm_question){.fd = -1};
    if (!job || !job[0] || job[strspn(job, "0123456789")] || pipe2(ends, O_CLOEXEC) != 0)
        return;
    char number[24] = "";
    strncat(number, job, sizeof number - 1);
    char *words[] = {"squeue", "--noheader", "--jobs", number, "--format", "%L", NULL};
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && start(question, words, ends[1])) {
        question->fd = ends[0];
    } else {
        question->pid = 0;
        close(ends[0]);
    }
    close(ends[1]);
}

/* Seconds of "[D-][[H:]M:]S"; negative for anything else, as UNLIMITED. */
static double read_time(const char *text)
{
    double seconds = 0;
    for (bool days = strchr(text, '-') != NULL;; text++) {
        char *end;
        if (*text < '0' || *text > '9')
            return -1;
        seconds += (double)strtoul(text, &end, 10);
        text = end;
        if (*text == '\n' || *text == '\0')
            return seconds;
        if (*text != (days ? '-' : ':'))
            return -1;
        seconds *= days ? 24 : 60; /* the hours come next, or minutes, or seconds */
        days = false;
    }
}

bool sf_slurm_answered(sf_slurm_question *question, double *left_s)
{
    if (question->pid == 0)
        return false;
    ssize_t got = read(question->fd, question->text + question->n, sizeof question->text - 1 - question->n);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got > 0) {
        question->n += (size_t)got;
        if (question->n < sizeof question->text - 1)
            return false; /* until its end */
    }
    sf_slurm_forget(question);
    *left_s = read_time(question->text);
    return *left_s >= 0;
}

void sf_slurm_forget(sf_slurm_question *question)
{
    if (question->pid == 0)
        return;
    close(question->fd);
    kill(question->pid, SIGKILL); /* what has ended already does not mind */
    while (waitpid(question->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    question->pid = 0;
}

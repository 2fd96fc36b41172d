/* Each rank looks at processes of its own host only; what happened on another one is for the launcher to tell (mpirun
 * without -q, srun). A message between ranks is no way: the one that would answer is dead, and MPI is not for signal
 * handlers. */
#include "app/peers.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/launch.h"

enum { PEERS_MAX = 1024 };

static struct {
    volatile sig_atomic_t n; /* 0: nobody is watched */
    int own;                 /* rank */
    int rank[PEERS_MAX];     /* in their order */
    pid_t pid[PEERS_MAX];
    char after[SF_TEXT_SIZE + 256]; /* of the line, after the rank */
} peers;

static void on_hush(int number)
{
    (void)number;
    peers.n = 0;
}

static int watch(const sf_app *app, const char *advice, const char *output, sf_error *err)
{
    sf_launch_rank *ranks = NULL;
    peers.n = 0;
    if (app->comm.size == 1)
        return 0;
    int code = sf_launch_gather(app, &ranks, err), n = 0;
    for (int r = 0; !code && r < app->comm.size && n < PEERS_MAX; r++) {
        /* a process that cannot be seen although it lives (another name space) would look gone for ever */
        if (r == app->comm.rank || strcmp(ranks[r].host, ranks[app->comm.rank].host) != 0 || kill(ranks[r].pid, 0) != 0)
            continue;
        peers.rank[n] = r;
        peers.pid[n++] = ranks[r].pid;
    }
    if (!code) {
        peers.own = app->comm.rank;
        struct sigaction action = {.sa_handler = on_hush, .sa_flags = SA_RESTART};
        sigaction(SIGUSR2, &action, NULL);
        snprintf(peers.after, sizeof peers.after,
                 " on %.64s is gone: killed, perhaps for want of memory, or crashed; %s%s\n", ranks[peers.own].host,
                 advice, output);
    }
    free(ranks);
    code = sf_comm_agree(&app->comm, code, err); /* all have looked */
    peers.n = code ? 0 : n;
    return code;
}

int sf_peers_watch(const sf_app *app, const char *output, sf_error *err)
{
    return watch(app, output ? "go on with: starfold resume " : "there was no checkpoint yet", output ? output : "", err);
}

/* A wish to end reaches all ranks; those that still live when the first is gone are not to call that a death. */
static void on_term(int number)
{
    sf_peers_tell_gone();
    sf_peers_hush();
    signal(number, SIG_DFL);
    raise(number);
}

int sf_peers_watch_command(const sf_app *app, sf_error *err)
{
    if (app->comm.size > 1) {
        struct sigaction action = {.sa_handler = on_term, .sa_flags = SA_RESTART};
        struct sigaction now;
        if (sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(SIGTERM, &action, NULL);
    }
    return watch(app, "give the same command again", "", err);
}

void sf_peers_forget(void)
{
    peers.n = 0;
}

/* Async-signal-safe, as snprintf is not. */
static size_t add_number(char *text, int number)
{
    char digits[16];
    size_t n = 0, at = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n > 0)
        text[at++] = digits[--n];
    return at;
}

void sf_peers_tell_gone(void)
{
    static const char before[] = "starfold: rank ";
    char line[sizeof before + sizeof peers.after + 16];
    const int n = (int)peers.n, kept = errno;
    int gone = -1;
    bool first = true;
    for (int i = 0; i < n; i++) {
        bool alive = kill(peers.pid[i], 0) == 0 || errno != ESRCH;
        if (!alive && gone < 0)
            gone = peers.rank[i];
        if (alive && peers.rank[i] < peers.own)
            first = false;
    }
    if (gone >= 0 && first) {
        size_t size = sizeof before - 1, more = strlen(peers.after);
        memcpy(line, before, size);
        size += add_number(line + size, gone);
        memcpy(line + size, peers.after, more);
        peers.n = write(STDERR_FILENO, line, size + more) < 0 ? n : 0; /* once */
    }
    errno = kept;
}

void sf_peers_hush(void)
{
    const int n = (int)peers.n;
    peers.n = 0;
    for (int i = 0; i < n; i++)
        kill(peers.pid[i], SIGUSR2);
}

/* Each rank looks at processes of its own host only; what happened on another one is for the launcher to tell (mpirun
 * without -q, srun). A message between ranks is no way: the one that would answer is dead, and MPI is not for signal
 * handlers.
 *
 * mpirun sends SIGCONT, a second later SIGTERM, and SIGKILL close behind that, too close for a rank that waits for its
 * core. So SIGCONT is the time to look, and SIGTERM (srun) the second one.
 *
 * A rank that leaves by itself hushes the others before. But that signal and the launcher's may be taken by two threads at
 * once, in no order: so who sees a peer gone waits for a moment before it tells. */
#include "app/peers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/launch.h"

enum { PEERS_MAX = 1024, HUSH_MS = 200 };

static struct {
    volatile sig_atomic_t n; /* 0: nobody is watched */
    volatile sig_atomic_t told, waited;
    int own;                 /* rank */
    int rank[PEERS_MAX];     /* in their order */
    pid_t pid[PEERS_MAX];
    char host[64];
    char after[SF_TEXT_SIZE + 256]; /* of the line, after the rank */
} peers;

static void on_hush(int number)
{
    (void)number;
    peers.n = 0;
}

static void on_cont(int number)
{
    (void)number;
    sf_peers_tell_gone();
}

/* Where nobody else answers SIGTERM: tells, and ends as without a handler. It is not to be taken for one that was killed
 * by those that the signal reaches later; unless one was, of whom a lower rank has yet to tell. */
static void on_term(int number)
{
    if (sf_peers_tell_gone() < 0)
        sf_peers_hush();
    signal(number, SIG_DFL);
    raise(number); /* comes when this returns */
}

static void catch_signal(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, there;
    sigemptyset(&action.sa_mask);
    if (number == SIGUSR2) { /* of those that wait this one comes first, and ends before the next */
        sigaddset(&action.sa_mask, SIGTERM);
        sigaddset(&action.sa_mask, SIGCONT);
    }
    if (number != SIGTERM || (sigaction(number, NULL, &there) == 0 && there.sa_handler == SIG_DFL))
        sigaction(number, &action, NULL);
}

int sf_peers_watch(const sf_app *app, sf_error *err)
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
        snprintf(peers.host, sizeof peers.host, "%.63s", ranks[peers.own].host);
        sf_peers_advise("give the same command again");
        catch_signal(SIGUSR2, on_hush);
    }
    free(ranks);
    code = sf_comm_agree(&app->comm, code, err); /* all have looked */
    peers.n = code ? 0 : n;
    if (!code) {
        catch_signal(SIGCONT, on_cont);
        catch_signal(SIGTERM, on_term);
    }
    return code;
}

void sf_peers_advise(const char *advice)
{
    const int n = (int)peers.n;
    peers.n = 0; /* a handler that comes now is to see no half of a line */
    snprintf(peers.after, sizeof peers.after, " on %s is gone: killed, perhaps for want of memory, or crashed; %s\n",
             peers.host, advice);
    peers.n = n;
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

int sf_peers_tell_gone(void)
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
    if (gone >= 0 && first && !peers.waited) {
        peers.waited = 1; /* SIGTERM may come meanwhile, with SIGKILL close behind: that is told of at once */
        poll(NULL, 0, HUSH_MS);
    }
    if (gone >= 0 && first && peers.n > 0) {
        size_t size = sizeof before - 1, more = strlen(peers.after);
        memcpy(line, before, size);
        size += add_number(line + size, gone);
        memcpy(line + size, peers.after, more);
        peers.told = 1;
        if (write(STDERR_FILENO, line, size + more) >= 0)
            sf_peers_hush(); /* once, also when this one is gone before the next looks */
    }
    errno = kept;
    return gone;
}

void sf_peers_hush(void)
{
    const int n = (int)peers.n;
    peers.n = 0;
    for (int i = 0; i < n; i++)
        kill(peers.pid[i], SIGUSR2);
}

bool sf_peers_told(void)
{
    return peers.told;
}

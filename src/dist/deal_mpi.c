/* The obvious dealer is a master rank that hands out parts; it idles, or, when it counts too, lets the others wait.
 * Here the plan is cut into the same runs of parts on every rank, long ones first (guided self-scheduling;
 * Polychronopoulos and Kuck, 1987), and a rank takes the next run by adding one to a counter in rank 0's memory,
 * one-sided. Parts of which some are much harder than others come in an order, hardest first, and are runs of one: a
 * rank that took several of the hardest at once would be the last. Where the MPI cannot make such a counter (Open MPI
 * between some kinds of nodes), runs are dealt in turn.
 *
 * A rank that has nothing left to do says so by a great number added to the counter; then others give back what is long
 * (aside.h). In the same way it ends the dealing where no further part is needed.
 *
 * Inside a rank the threads take parts from a small pool, where each goes on in a run of its own. Only the first thread may
 * call MPI: it fills the pool up to a part for each thread before it turns to a part of its own, so that the others do not
 * wait for it. */
#include "dist/deal_mpi.h"

#include <mpi.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/engines/aside.h"
#include "dist/node_mpi.h"
#include "dist/wait_mpi.h"

#define IDLE    (INT64_C(1) << 40) /* added to the counter: this rank knows that no part is left, or none is needed */
#define NO_MORE (INT64_C(1) << 60) /* added to the counter: this rank has failed */

enum { NAP_NS = 50000 };
static const double LOOK_S = 0.05;

/* The number of the next run, and what parts have cost. */
enum { NEXT, COST, NUMBERS };

struct sf_deal {
    const sf_comm *comm;
    MPI_Win window;   /* rank 0's numbers; MPI_WIN_NULL alone, and where runs are dealt in turn */
    int64_t *counter; /* [NUMBERS], the window's memory there; alone: of our own */
    int64_t alone[NUMBERS];
};

typedef struct dealing {
    sf_deal *deal;
    const sf_deal_work *work;
    sf_plan plan; /* the work's, and where parts may be given back */
    /* the list of runs, as far as it was followed; of the first thread */
    size_t left;      /* parts in later runs */
    int64_t n_passed; /* runs before them */
    int64_t mine;     /* number of the run this rank takes next */
    double look_s;    /* when the counter is to be looked at next */
    bool told;        /* that this rank has failed */
    bool told_idle;   /* that this rank is idle */
    int64_t told_cost;
    /* the pool and what became of it; guarded by the critical section sf_deal */
    sf_part_pool pool;
    int n_busy;
    bool over; /* no run will come */
    bool idle; /* a thread or another rank has nothing to do */
    bool failed;
    size_t failed_part;
    sf_error failure;
} dealing;

/* ---- the counter ---- */

/* Makes the counter, on every rank or on none. */
static void open_counter(sf_deal *deal)
{
    enum { WINDOW_ROOM = 1 << 20 }; /* bytes; more than the pages of a small window */
    MPI_Errhandler handler;
    if (sf_comm_max(deal->comm, sf_node_window_free() < WINDOW_ROOM)) {
        deal->counter = deal->alone;
        return;
    }
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* the default one would end the job */
    int failed = MPI_Win_allocate(deal->comm->rank == 0 ? sizeof deal->alone : 0, sizeof *deal->counter, MPI_INFO_NULL,
                                  MPI_COMM_WORLD, &deal->counter, &deal->window) != MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    if (sf_comm_max(deal->comm, failed)) { /* freeing is collective, so what some ranks may have stays */
        deal->window = MPI_WIN_NULL;
        deal->counter = deal->alone;
        return;
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, deal->window);
}

int sf_deal_open(sf_deal **deal, const sf_comm *comm, sf_error *err)
{
    sf_deal *d = malloc(sizeof *d);
    int code = sf_comm_agree(comm, d ? SF_OK : sf_fail(err, SF_ENOMEM, "out of memory for dealing work"), err);
    *deal = NULL;
    if (code) {
        free(d);
        return code;
    }
    *d = (sf_deal){
        .comm = comm,
        .window = MPI_WIN_NULL,
    };
    d->counter = d->alone;
    if (comm->size > 1)
        open_counter(d);
    *deal = d;
    return SF_OK;
}

void sf_deal_close(sf_deal *deal)
{
    if (!deal)
        return;
    if (deal->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(deal->window);
        MPI_Win_free(&deal->window);
    }
    free(deal);
}

/* Adds to a number and returns what it was; replaces it when `operation` is MPI_REPLACE. */
static int64_t update(sf_deal *deal, int which, MPI_Op operation, int64_t value)
{
    int64_t before = 0;
    if (deal->window == MPI_WIN_NULL) {
        before = deal->counter[which];
        deal->counter[which] = operation == MPI_REPLACE ? value : before + value;
        return before;
    }
    MPI_Fetch_and_op(&value, &before, MPI_INT64_T, 0, which, operation, deal->window);
    MPI_Win_flush(0, deal->window);
    return before;
}

/* ---- the first thread ---- */

static void note_failure(dealing *d, size_t part, int code, const sf_error *failure)
{
#pragma omp critical(sf_deal)
    {
        if (!d->failed || part < d->failed_part) {
            d->failed_part = part;
            d->failure = *failure;
            d->failure.code = code;
        }
        d->failed = true;
    }
}

/* Follows the list to this rank's next run; false when there is none. */
static bool next_run(dealing *d, size_t *next, size_t *end)
{
    const size_t size = (size_t)d->deal->comm->size;
    while (d->left > 0) {
        const size_t guided = d->left / (2 * size), n = guided > 1 && !d->work->order ? guided : 1;
        *next = d->work->plan->n_parts - d->left; /* places in the order */
        *end = *next + n;
        d->left -= n;
        if (d->n_passed++ != d->mine)
            continue;
        if (size > 1 && d->deal->window == MPI_WIN_NULL)
            d->mine += (int64_t)size;
        else if (d->left > 0)
            d->mine = update(d->deal, NEXT, MPI_SUM, 1);
        return true;
    }
    return false;
}

/* Fills the pool up to a part for every thread. */
static void fill_pool(dealing *d)
{
    for (;;) {
        size_t n, next, end;
        bool over;
#pragma omp critical(sf_deal)
        {
            n = sf_part_pool_left(&d->pool);
            over = d->over || d->failed;
        }
        if (over || n >= (size_t)d->work->n_threads)
            return;
        const bool more = next_run(d, &next, &end);
#pragma omp critical(sf_deal)
        {
            if (more)
                sf_part_pool_add(&d->pool, next, end);
            else
                d->over = true;
        }
    }
}

static void set_idle(dealing *d)
{
#pragma omp critical(sf_deal)
    d->idle = true;
}

static void tell_idle(dealing *d)
{
    if (!d->told_idle && d->deal->window != MPI_WIN_NULL)
        update(d->deal, NEXT, MPI_SUM, IDLE);
    d->told_idle = true;
}

/* Has another rank ended the dealing, or nothing left? Asking also lets MPI answer those who ask for the counter. */
static void look(dealing *d)
{
    int flag;
    sf_error why;
    if (d->deal->window == MPI_WIN_NULL)
        return;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (d->told || sf_now_s() < d->look_s)
        return;
    d->look_s = sf_now_s() + LOOK_S;
    const int64_t next = update(d->deal, NEXT, MPI_NO_OP, 0);
    if (next >= IDLE)
        set_idle(d);
    if (next < NO_MORE)
        return;
    d->told = true;
    note_failure(d, SIZE_MAX, SF_ESTOPPED, (sf_fail(&why, SF_ESTOPPED, "stopped because another rank was"), &why));
}

/* Ends the dealing, on all ranks, when no later part is needed. */
static void look_at_cost(dealing *d)
{
    const sf_deal_work *w = d->work;
    int64_t cost = w->cost ? (int64_t)w->cost(w->taker) : 0;
    const int64_t more = cost - d->told_cost;
    if (more > 0)
        cost = update(d->deal, COST, MPI_SUM, more) + more;
    d->told_cost += more;
    if ((w->enough && w->enough(w->taker)) || (w->cost && (uint64_t)cost > w->cost_limit))
        tell_idle(d);
}

static void tend(dealing *d)
{
    sf_error err = {0};
    const int code = d->work->between ? d->work->between(d->work->taker, &err) : SF_OK;
    bool failed, idle;
    look_at_cost(d);
    if (code)
        note_failure(d, 0, code, &err);
    look(d);
    fill_pool(d);
#pragma omp critical(sf_deal)
    {
        failed = d->failed;
        idle = d->idle;
    }
    if (failed && !d->told && d->deal->window != MPI_WIN_NULL)
        update(d->deal, NEXT, MPI_SUM, NO_MORE);
    d->told = d->told || failed;
    if (idle)
        tell_idle(d);
}

/* ---- every thread ---- */

typedef enum pick { PICK_PART, PICK_WAIT, PICK_END } pick;

/* For a thread that was at *place of the order, or SIZE_MAX. */
static pick take(dealing *d, size_t *place)
{
    pick picked = PICK_WAIT;
#pragma omp critical(sf_deal)
    {
        if (d->failed) {
            picked = PICK_END;
        } else if (sf_part_pool_take(&d->pool, d->work->order != NULL, *place, place)) {
            d->n_busy++;
            picked = PICK_PART;
        } else if (d->over) {
            picked = PICK_END;
            d->idle = true;
        }
    }
    return picked;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

static void count_part(dealing *d, size_t part, uint64_t *partial)
{
    const sf_deal_work *w = d->work;
    size_t first, count;
    sf_error err = {0};
    int code = SF_OK;
    if (!w->done || !(w->done[part / 8] >> part % 8 & 1)) {
        sf_plan_part(w->plan, part, &first, &count);
        memset(partial, 0, count * (size_t)w->n_scores * sizeof *partial);
        if (w->stop && *w->stop)
            code = sf_fail(&err, SF_ESTOPPED, "stopped while conformations were counted");
        if (!code)
            code = w->evaluate(w->context, &d->plan, part, partial, &err);
        if (!code && !sf_aside_has(w->aside, part))
            code = w->take(w->taker, part, first, count, partial, &err);
    }
    if (code)
        note_failure(d, part, code, &err);
#pragma omp critical(sf_deal)
    d->n_busy--;
}

static bool others_busy(dealing *d)
{
    bool busy;
#pragma omp critical(sf_deal)
    busy = d->n_busy > 0;
    return busy;
}

static void work_on(dealing *d, size_t partial_bytes)
{
    const bool first = omp_get_thread_num() == 0;
    uint64_t *partial = malloc(partial_bytes);
    size_t place = SIZE_MAX;
    if (!partial) {
        sf_error err;
        const int code =
            sf_fail(&err, SF_ENOMEM, "no memory for the histograms of a thread (%zu bytes)", partial_bytes);
        note_failure(d, 0, code, &err);
    }
    for (;;) {
        if (first)
            tend(d);
        const pick picked = take(d, &place);
        if (picked == PICK_END)
            break;
        if (picked == PICK_PART)
            count_part(d, d->work->order ? d->work->order[place] : place, partial);
        else
            nap();
    }
    while (first && others_busy(d)) { /* and meanwhile serve those who ask */
        nap();
        tend(d);
    }
    if (first)
        tell_idle(d);
    free(partial);
}

/* Asked by any thread from inside its part. */
static bool somebody_idle(void *context)
{
    dealing *d = context;
    bool idle;
    if (omp_get_thread_num() == 0)
        tend(d); /* the other threads may need parts meanwhile */
#pragma omp critical(sf_deal)
    idle = d->idle;
    return idle;
}

/* ---- the whole ---- */

static int begin(sf_deal *deal, const sf_deal_work *work, int code, sf_error *err)
{
    const sf_comm *comm = deal->comm;
    if (comm->rank == 0) {
        update(deal, NEXT, MPI_REPLACE, comm->size);
        update(deal, COST, MPI_REPLACE, 0);
    }
    code = sf_comm_agree(comm, code, err); /* and nobody asks for the counter before it is set */
    if (code || comm->size == 1)
        return code;
    const int64_t n = (int64_t)work->plan->n_parts;
    if (sf_comm_max(comm, n) != -sf_comm_max(comm, -n))
        return sf_fail(err, SF_ECHECK, "the ranks would cut the work differently: their engines or threads differ");
    return SF_OK;
}

int sf_deal_run(sf_deal *deal, const sf_deal_work *work, int code, sf_error *err)
{
    size_t partial_bytes = 0;
    dealing d = {.deal = deal, .work = work, .plan = *work->plan, .mine = deal->comm->rank};
    if (!code) {
        const size_t rows = work->plan->block < work->plan->n_sequences ? work->plan->block : work->plan->n_sequences;
        code = sf_part_pool_init(&d.pool, work->n_threads, err);
        if (!code && __builtin_mul_overflow(rows + 1, (size_t)work->n_scores * sizeof(uint64_t), &partial_bytes))
            code = sf_fail(err, SF_ENOMEM, "out of memory for dealing work");
    }
    code = begin(deal, work, code, err);
    if (code || work->plan->n_parts == 0) {
        sf_part_pool_free(&d.pool);
        return code;
    }
    d.left = work->plan->n_parts;
    /* No more threads than parts: a part alone may have threads of its own, and inside a team it would not get them. */
    const int team = d.left < (size_t)work->n_threads ? (int)d.left : work->n_threads;
    d.idle = team < work->n_threads;
    if (work->aside && (work->n_threads > 1 || deal->comm->size > 1)) {
        work->aside->wanted = somebody_idle;
        work->aside->context = &d;
        d.plan.aside = work->aside;
    }
#pragma omp parallel num_threads(team)
    work_on(&d, partial_bytes);
    sf_part_pool_free(&d.pool);
    if (d.failed && err)
        *err = d.failure;
    return d.failed ? d.failure.code : SF_OK;
}

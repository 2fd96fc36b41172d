/* One tree search by several threads and ranks, with the answer and node count of one.
 *
 * The obvious way, threads that steal branches from each other and share a node counter, spends a different number of
 * nodes each time, and what a limit leaves open would depend on timing. Here the tree is cut, breadth first, into a
 * list of tasks that depends on the question alone. Tasks are taken in any order; the report is read off the list in
 * order. A task may end early only when the reading cannot come to it, or is certain to end at it. */
#include <stdlib.h>
#include <string.h>

#include "core/engines/bound/bound_solver.h"

enum { CHILDREN_MAX = 6 };

typedef struct task_list {
    bound_task *tasks;
    int n;
    uint64_t nodes; /* entered while expanding */
} task_list;

/* Replaces the list by the children of its tasks, in order. */
static int expand_once(const bound_solver *solver, bound_search *scratch, task_list *list)
{
    bound_task *children = malloc(sizeof *children * CHILDREN_MAX * (size_t)(list->n ? list->n : 1));
    if (!children)
        return SF_ENOMEM;
    int n = 0;
    for (int i = 0; i < list->n; i++)
        n += solver->kernel->expand(scratch, &list->tasks[i], children + n);
    free(list->tasks);
    list->tasks = children;
    list->n = n;
    list->nodes += (uint64_t)n;
    return SF_OK;
}

static int list_init(task_list *list, const bound_solver *solver, const bound_search *question, int n_wanted)
{
    bound_search scratch = *question;
    *list = (task_list){.tasks = malloc(sizeof *list->tasks), .n = 1};
    if (!list->tasks)
        return SF_ENOMEM;
    list->tasks[0] = (bound_task){.n_placed = 2};
    int status = SF_OK;
    for (int depth = 2; status == SF_OK && depth < solver->schedule.n_residues && list->n > 0 && list->n < n_wanted;
         depth++)
        status = expand_once(solver, &scratch, list);
    return status;
}

/* What the tasks before `number` that are done leave of the limit. */
static uint64_t limit_left(const uint64_t *spent, int number, uint64_t limit)
{
    for (int i = 0; i < number; i++) {
        const uint64_t nodes = __atomic_load_n(&spent[i], __ATOMIC_RELAXED);
        if (nodes >= limit)
            return 0;
        limit -= nodes;
    }
    return limit;
}

/* Reads the results in order. */
static void report(const bound_search *results, int first, int n, uint64_t spent, bound_search *answer)
{
    const uint64_t limit = answer->node_limit;
    answer->outcome = BOUND_DONE;
    answer->found = 0;
    answer->best = -1;
    answer->nodes = spent;
    for (int i = first; i < n; i++) {
        const bound_search *r = &results[i];
        if (r->outcome == BOUND_STOPPED) {
            answer->outcome = BOUND_STOPPED;
            return;
        }
        if (r->outcome == BOUND_LIMIT || answer->nodes + r->nodes > limit) {
            answer->outcome = BOUND_LIMIT;
            answer->nodes = limit;
            return;
        }
        answer->nodes += r->nodes;
        answer->found += r->found;
        if (r->found && answer->best < 0) {
            answer->best = r->best;
            memcpy(answer->fold, r->fold, sizeof answer->fold);
        }
        answer->number = i;
        if (r->found && answer->goal == BOUND_FIND)
            return;
    }
}

static void lower_to(int *least, int value)
{
    int seen = __atomic_load_n(least, __ATOMIC_RELAXED);
    while (value < seen &&
           !__atomic_compare_exchange_n(least, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* A list at work. */
typedef struct running {
    const bound_solver *solver;
    const bound_search *question;
    const task_list *list;
    uint64_t limit;  /* for the tasks together */
    int first;       /* the tasks before it are left out */
    int n_list;      /* number of the list */
    bool given_back; /* what is not begun is left for later */
    int first_success;
    bound_search *results; /* outcome BOUND_BEATEN where a task was not searched */
    uint64_t *spent;       /* nodes of each task that is done, and one more where the limit ended it */
} running;

/* Shall what is not begun be left to all? Only a search on one thread may be given back. */
static bool give_back(running *r)
{
    const bound_journal *journal = r->solver->journal;
    if (!r->given_back && journal && journal->wanted)
        r->given_back = journal->wanted(journal->context) && r->limit > journal->least_nodes;
    return r->given_back;
}

static void run_task(void *context, size_t at)
{
    running *r = context;
    const int i = r->first + (int)at;
    bound_search *search = &r->results[i];
    const bound_note *known = sf_bound_journal_find(r->solver->journal, (uint32_t)r->n_list, (uint32_t)i);
    *search = *r->question;
    search->stop = r->solver->stop;
    search->outcome = BOUND_BEATEN;
    search->number = i;
    search->first_success = &r->first_success;
    search->node_limit = limit_left(r->spent, i, r->limit);
    if (known) {
        search->outcome = BOUND_DONE;
        search->nodes = known->nodes;
        search->found = known->found;
    } else if (give_back(r)) {
        search->outcome = BOUND_STOPPED;
    } else if (__atomic_load_n(&r->first_success, __ATOMIC_RELAXED) > i) {
        r->solver->kernel->run(search, &r->list->tasks[i]);
    }
    if (search->goal == BOUND_FIND && search->outcome == BOUND_DONE && search->found)
        lower_to(&r->first_success, i);
    __atomic_store_n(&r->spent[i], search->nodes + (search->outcome == BOUND_LIMIT), __ATOMIC_RELAXED);
}

/* ---- a team ---- */

/* What a rank tells of a task. */
typedef struct told {
    uint64_t nodes, found;
    int32_t ran, outcome, best;
    bound_place fold[SF_LENGTH_MAX];
} told;

static bool found_one(void *context)
{
    const running *r = context;
    return __atomic_load_n(&r->first_success, __ATOMIC_RELAXED) < r->list->n;
}

static uint64_t nodes_spent(void *context)
{
    const running *r = context;
    uint64_t sum = 0;
    for (int i = r->first; i < r->list->n; i++) {
        if (__builtin_add_overflow(sum, __atomic_load_n(&r->spent[i], __ATOMIC_RELAXED), &sum))
            return UINT64_MAX;
    }
    return sum;
}

/* The results of the whole team, on every rank. */
static int join_results(running *r, sf_error *err)
{
    const sf_team *team = r->solver->team;
    const int n = r->list->n;
    told *all = calloc((size_t)n + 1, sizeof *all);
    int status = team->agree(team->context, all ? SF_OK : SF_ENOMEM, err);
    for (int i = 0; status == SF_OK && i < n; i++) {
        const bound_search *s = &r->results[i];
        if (!s->chain)
            continue;
        all[i] =
            (told){.nodes = s->nodes, .found = s->found, .ran = 1, .outcome = (int32_t)s->outcome, .best = s->best};
        if (s->found)
            memcpy(all[i].fold, s->fold, sizeof s->fold);
    }
    if (status == SF_OK)
        status = team->join(team->context, (size_t)n * sizeof *all, all, err);
    for (int i = r->first; status == SF_OK && i < n; i++) {
        r->results[i].nodes = all[i].nodes;
        r->results[i].found = all[i].found;
        r->results[i].outcome = all[i].ran ? (bound_outcome)all[i].outcome : BOUND_BEATEN;
        r->results[i].best = all[i].best;
        memcpy(r->results[i].fold, all[i].fold, sizeof all[i].fold);
    }
    free(all);
    return status;
}

/* The ranks take tasks in ascending order as they come free. So when one has met the goal, or the limit is spent, all
 * tasks before those not yet taken are taken, and the reading cannot come to the others. */
static int run_by_team(running *r, sf_error *err)
{
    const sf_team *team = r->solver->team;
    const sf_team_work work = {
        .n = (size_t)(r->list->n > r->first ? r->list->n - r->first : 0),
        .run = run_task,
        .enough = r->question->goal == BOUND_FIND ? found_one : NULL,
        .cost = nodes_spent,
        .limit = r->limit,
        .context = r,
        .n_threads = r->solver->n_threads,
    };
    int status = team->share(team->context, &work, err);
    return status == SF_OK ? join_results(r, err) : status;
}

/* ---- the list ---- */

static int run_list(running *r, sf_error *err)
{
    if (r->solver->team)
        return run_by_team(r, err);
#pragma omp parallel for schedule(dynamic, 1) num_threads(r->solver->n_threads) if (r->solver->n_threads > 1)
    for (int i = 0; i < r->list->n - r->first; i++)
        run_task(r, (size_t)i);
    return SF_OK;
}

/* Writes down what was searched to its end; a task with a fold is searched again. */
static int keep_notes(const running *r, sf_error *err)
{
    bound_journal *journal = r->solver->journal;
    int status = SF_OK;
    if (!journal || !journal->wanted)
        return SF_OK;
    for (int i = r->first; status == SF_OK && i < r->list->n; i++) {
        const bound_search *s = &r->results[i];
        if (s->chain && s->outcome == BOUND_DONE && (s->goal == BOUND_COUNT || !s->found))
            status =
                sf_bound_journal_add(journal, (bound_note){(uint32_t)r->n_list, (uint32_t)i, s->nodes, s->found}, err);
    }
    return status;
}

int sf_bound_tasks_run(bound_solver *solver, const bound_search *question, int n_tasks, int first, bound_search *answer,
                       sf_error *err)
{
    task_list list;
    bound_search *results = NULL;
    uint64_t *spent = NULL;
    int status = list_init(&list, solver, question, n_tasks);
    *answer = *question;
    if (status == SF_OK) {
        results = calloc((size_t)list.n + 1, sizeof *results);
        spent = calloc((size_t)list.n + 1, sizeof *spent);
        status = results && spent ? SF_OK : SF_ENOMEM;
    }
    if (status != SF_OK)
        sf_fail(err, SF_ENOMEM, "out of memory for the tasks of a tree search");
    if (solver->team)
        status = solver->team->agree(solver->team->context, status, err);
    if (status != SF_OK) {
        answer->outcome = BOUND_STOPPED;
    } else if (list.nodes > question->node_limit) {
        answer->outcome = BOUND_LIMIT;
        answer->nodes = question->node_limit;
        answer->found = 0;
        answer->best = -1;
    } else {
        running r = {.solver = solver,
                     .question = question,
                     .list = &list,
                     .limit = question->node_limit - list.nodes,
                     .first = first,
                     .n_list = (int)solver->n_lists++,
                     .first_success = list.n,
                     .results = results,
                     .spent = spent};
        status = run_list(&r, err);
        if (status == SF_OK)
            status = keep_notes(&r, err);
        report(results, first, list.n, list.nodes, answer);
        if (answer->outcome == BOUND_STOPPED && r.given_back)
            solver->journal->given_back = true;
    }
    free(spent);
    free(results);
    free(list.tasks);
    return status;
}

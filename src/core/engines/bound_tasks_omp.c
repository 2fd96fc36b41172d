/* One tree search by several threads and ranks, with the answer and node count of one.
 *
 * The obvious way, threads that steal branches from each other and share a node counter, spends a different number of
 * nodes each time, and what a limit leaves open would depend on timing. Here the tree is cut, breadth first, into a
 * list of tasks that depends on the question alone. Tasks are taken in any order; the report is read off the list in
 * order. A task may end early only when the reading cannot come to it, or is certain to end at it. */
#include <stdlib.h>
#include <string.h>

#include "core/engines/bound_solver.h"

enum { TASKS_WANTED = 192, CHILDREN_MAX = 6 };

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

static int list_init(task_list *list, const bound_solver *solver, const bound_search *question)
{
    bound_search scratch = *question;
    *list = (task_list){.tasks = malloc(sizeof *list->tasks), .n = 1};
    if (!list->tasks)
        return SF_ENOMEM;
    list->tasks[0] = (bound_task){.n_placed = 2};
    int status = SF_OK;
    for (int depth = 2; status == SF_OK && depth < solver->schedule.n_residues && list->n > 0 && list->n < TASKS_WANTED;
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

/* The tasks from..to-1, of a team those of this rank. */
static void run_tasks(const bound_solver *solver, const bound_search *question, const task_list *list, int from, int to,
                      bound_search *results, uint64_t *spent)
{
    const sf_team *team = solver->team;
    int first_success = list->n;
    const uint64_t limit = question->node_limit - list->nodes;
#pragma omp parallel for schedule(dynamic, 1) num_threads(solver->n_threads) if (solver->n_threads > 1)
    for (int i = from; i < to; i++) {
        bound_search *search = &results[i];
        if (team && i % team->size != team->rank)
            continue;
        *search = *question;
        search->stop = solver->stop;
        search->outcome = BOUND_BEATEN;
        search->number = i;
        search->first_success = &first_success;
        search->node_limit = limit_left(spent, i, limit);
        if (__atomic_load_n(&first_success, __ATOMIC_RELAXED) > i)
            solver->kernel->run(search, &list->tasks[i]);
        if (search->goal == BOUND_FIND && search->outcome == BOUND_DONE && search->found)
            lower_to(&first_success, i);
        __atomic_store_n(&spent[i], search->nodes, __ATOMIC_RELAXED);
    }
}

/* What a rank tells of a task. */
typedef struct told {
    uint64_t nodes, found;
    int32_t outcome, best;
    bound_place fold[SF_LENGTH_MAX];
} told;

/* The results of the whole team, on every rank. */
static int join_results(const sf_team *team, int n, bound_search *results, uint64_t *spent, sf_error *err)
{
    told *all = calloc((size_t)n + 1, sizeof *all);
    int status = team->agree(team->context, all ? SF_OK : SF_ENOMEM, err);
    for (int i = 0; status == SF_OK && i < n; i++) {
        const bound_search *r = &results[i];
        if (r->number % team->size != team->rank || !r->chain)
            continue;
        all[i] = (told){.nodes = r->nodes, .found = r->found, .outcome = (int32_t)r->outcome, .best = r->best};
        memcpy(all[i].fold, r->fold, sizeof r->fold);
    }
    if (status == SF_OK)
        status = team->join(team->context, (size_t)n * sizeof *all, all, err);
    for (int i = 0; status == SF_OK && i < n; i++) {
        results[i].nodes = spent[i] = all[i].nodes;
        results[i].found = all[i].found;
        results[i].outcome = (bound_outcome)all[i].outcome;
        results[i].best = all[i].best;
        memcpy(results[i].fold, all[i].fold, sizeof all[i].fold);
    }
    free(all);
    return status;
}

static bool reading_ends(const bound_search *results, int from, int to, bound_goal goal)
{
    for (int i = from; i < to; i++) {
        if ((goal == BOUND_FIND && results[i].found) || results[i].outcome == BOUND_STOPPED ||
            results[i].outcome == BOUND_LIMIT)
            return true;
    }
    return false;
}

/* Alone all tasks at once. The ranks of a team hear of each other after each round only: when one may end the search,
 * there are several. */
static int run_rounds(const bound_solver *solver, const bound_search *question, const task_list *list, int first,
                      bound_search *results, uint64_t *spent, sf_error *err)
{
    enum { ROUNDS = 5 };
    const bool rounds = solver->team && question->goal == BOUND_FIND;
    const int size = rounds ? list->n / ROUNDS + 1 : list->n + 1;
    int status = SF_OK;
    for (int from = first; status == SF_OK && from < list->n; from += size) {
        const int to = list->n - from < size ? list->n : from + size;
        run_tasks(solver, question, list, from, to, results, spent);
        if (solver->team)
            status = join_results(solver->team, to - from, results + from, spent + from, err);
        if (reading_ends(results, from, to, question->goal))
            break;
    }
    return status;
}

int sf_bound_tasks_run(const bound_solver *solver, const bound_search *question, int first, bound_search *answer,
                       sf_error *err)
{
    task_list list;
    bound_search *results = NULL;
    uint64_t *spent = NULL;
    int status = list_init(&list, solver, question);
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
        status = run_rounds(solver, question, &list, first, results, spent, err);
        report(results, first, list.n, list.nodes, answer);
    }
    free(spent);
    free(results);
    free(list.tasks);
    return status;
}

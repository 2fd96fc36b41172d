/* Answers one question about a chain: quickly with the schedule at hand, or else with the schedule that promises the
 * smallest tree.
 *
 * No rule tells which seed bond is best; trees differ a hundredfold. So a small budget is tried first. On overrun every
 * schedule's tree is estimated by random paths (always the same ones), those that look small by more of them, the
 * smallest is taken and the budget raised. The estimates choose the order of work, never an answer; they are integers,
 * so they choose alike on every machine. */
#include <string.h>

#include "core/engines/bound/bound_solver.h"

enum {
    QUICK_NODES = 1000,
    BUDGET_FACTOR = 4,  /* a budget is so many times the last one, and at least so many times the estimate */
    ROUND_SHARE = 3,    /* of the schedules compared one in so many is looked at again, with so many times the paths */
    FINALISTS = 2,      /* ... until so few are left */
    WORTH_MORE = 60000, /* nodes of a tree for which schedules are compared once more ... */
    MORE_PROBES = 4,    /* ... with so many times the paths */
    TASKS_LEAST = 192,  /* into which a tree is cut ... */
    TASKS_MOST = 2048,  /* ... a large one into more: of a few, one may be a good part of the whole */
    TASK_NODES = 16384, /* of the budget, for a task */
    PIECE_NODES = 4000  /* for the best score of a piece of the chain */
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

bound_search sf_bound_question(const bound_solver *solver, bound_goal goal, int target, int ceiling,
                               uint64_t node_limit)
{
    const uint64_t left = solver->nodes < solver->node_limit ? solver->node_limit - solver->nodes : 0;
    return (bound_search){.chain = &solver->chain,
                          .schedule = &solver->schedule,
                          .goal = goal,
                          .target = target,
                          .ceiling = ceiling,
                          .node_limit = node_limit < left ? node_limit : left,
                          .stop = solver->team ? NULL : solver->stop, /* what each does alone ends alike */
                          .best = -1};
}

/* ---- the choice of a schedule ---- */

typedef struct candidate {
    int seed;
    uint64_t estimate; /* sum over the paths walked */
    uint64_t visited;  /* nodes looked at */
} candidate;

/* Adds the paths first..first+n_probes-1 to the candidate's. */
static void probe(const bound_solver *solver, const bound_search *question, candidate *c, int first, int n_probes)
{
    bound_schedule schedule;
    bound_search search = *question;
    search.schedule = &schedule;
    sf_bound_schedule_init(&schedule, &solver->chain, 0, solver->chain.length - 1, c->seed);
    c->estimate = plus(c->estimate, solver->kernel->probe(&search, first, n_probes, &c->visited));
}

/* The same for n candidates; each rank of a team takes its share of them. */
static int probe_all(const bound_solver *solver, const bound_search *question, candidate *list, int n, int first,
                     int n_probes, sf_error *err)
{
    const sf_team *team = solver->team;
#pragma omp parallel for schedule(dynamic, 1) num_threads(solver->n_threads) if (solver->n_threads > 1)
    for (int i = 0; i < n; i++) {
        if (team && i % team->size != team->rank)
            list[i] = (candidate){0};
        else
            probe(solver, question, &list[i], first, n_probes);
    }
    return team ? team->join(team->context, (size_t)n * sizeof *list, list, err) : SF_OK;
}

/* By estimate, then by seed. */
static void sort(candidate *c, int n)
{
    for (int i = 1; i < n; i++) {
        const candidate moved = c[i];
        int at = i;
        for (; at > 0 && (c[at - 1].estimate > moved.estimate ||
                          (c[at - 1].estimate == moved.estimate && c[at - 1].seed > moved.seed));
             at--)
            c[at] = c[at - 1];
        c[at] = moved;
    }
}

/* Leaves the most promising schedule in the solver; *estimate: the nodes its tree may have. In each round all that are
 * left walk as many paths; the better ones go on to the next. */
static int choose_schedule(bound_solver *solver, const bound_search *question, int n_probes, uint64_t *estimate,
                           sf_error *err)
{
    candidate list[SF_LENGTH_MAX];
    const int n_all = solver->chain.length - 1;
    int n = n_all, n_walked = 0;
    for (int seed = 0; seed < n; seed++)
        list[seed] = (candidate){.seed = seed};
    for (;; n_probes *= ROUND_SHARE) {
        int status = probe_all(solver, question, list, n, n_walked, n_probes, err);
        if (status != SF_OK)
            return status;
        n_walked += n_probes;
        sort(list, n);
        if (n <= FINALISTS)
            break;
        n = n / ROUND_SHARE > FINALISTS ? n / ROUND_SHARE : FINALISTS;
    }
    sf_bound_schedule_init(&solver->schedule, &solver->chain, 0, solver->chain.length - 1, list[0].seed);
    for (int i = 0; i < n_all; i++)
        solver->nodes = plus(solver->nodes, list[i].visited);
    *estimate = list[0].estimate / (uint64_t)n_walked;
    return SF_OK;
}

/* ---- the question ---- */

static int tasks_wanted(uint64_t budget)
{
    if (budget / TASK_NODES >= TASKS_MOST)
        return TASKS_MOST;
    return budget / TASK_NODES <= TASKS_LEAST ? TASKS_LEAST : (int)(budget / TASK_NODES);
}

/* Counts what was found by tasks: from the task that found it on. */
static int count_on(bound_solver *solver, bound_search *answer, sf_error *err)
{
    const bound_success *s = &solver->success;
    const bound_search question = sf_bound_question(solver, BOUND_COUNT, s->target, s->ceiling, UINT64_MAX);
    sf_bound_schedule_init(&solver->schedule, &solver->chain, 0, solver->chain.length - 1, s->seed);
    int status = sf_bound_tasks_run(solver, &question, s->n_tasks, s->task, answer, err);
    solver->nodes += answer->nodes;
    return status;
}

int sf_bound_decide(bound_solver *solver, bound_goal goal, int target, int ceiling, bound_search *answer, sf_error *err)
{
    const bound_task whole = {.n_placed = 2};
    const bound_success *success = &solver->success;
    uint64_t budget = QUICK_NODES;
    int status = SF_OK;
    if (goal == BOUND_COUNT && success->known && success->target == target && success->ceiling == ceiling)
        return count_on(solver, answer, err);
    *answer = sf_bound_question(solver, goal, target, ceiling, UINT64_MAX);
    answer->look_after = QUICK_NODES;
    solver->kernel->run(answer, &whole);
    for (int n_probes = 1; status == SF_OK; n_probes *= 2) {
        solver->nodes += answer->nodes;
        if ((answer->outcome != BOUND_LIMIT && answer->outcome != BOUND_LARGE) || solver->nodes >= solver->node_limit)
            break;
        bound_search question = sf_bound_question(solver, goal, target, ceiling, 0);
        uint64_t estimate;
        status = choose_schedule(solver, &question, n_probes, &estimate, err);
        if (status == SF_OK && estimate > WORTH_MORE) {
            n_probes *= MORE_PROBES;
            status = choose_schedule(solver, &question, n_probes, &estimate, err);
        }
        if (status != SF_OK)
            break;
        budget = times(budget > estimate ? budget : estimate, BUDGET_FACTOR);
        question = sf_bound_question(solver, goal, target, ceiling, budget);
        const int n_tasks = tasks_wanted(budget);
        status = sf_bound_tasks_run(solver, &question, n_tasks, 0, answer, err);
        if (goal == BOUND_FIND && answer->outcome == BOUND_DONE && answer->found)
            solver->success = (bound_success){true, solver->schedule.seed, target, ceiling, n_tasks, answer->number};
    }
    if (answer->outcome == BOUND_LARGE)
        answer->outcome = BOUND_LIMIT;
    return status;
}

/* ---- pieces ---- */

/* Lowers a limit on the score of residues first..last alone to the best score, if few nodes prove it; seed: which end
 * is placed first. */
static int piece_best(bound_solver *solver, int first, int last, int seed, int limit)
{
    const bound_task whole = {.n_placed = 2};
    bound_search search = sf_bound_question(solver, BOUND_MAXIMISE, 0, limit, PIECE_NODES);
    sf_bound_schedule_init(&solver->schedule, &solver->chain, first, last, seed);
    solver->kernel->run(&search, &whole);
    solver->nodes += search.nodes;
    return search.outcome == BOUND_DONE ? search.best : limit;
}

static void search_pieces(bound_solver *solver)
{
    bound_chain *chain = &solver->chain;
    const int n = chain->length, longest = n / 2, more = 2 * chain->dimension - 1;
    for (int size = 1; size <= n; size++) {
        const int i = n - size, j = size - 1;
        if (size < 3) {
            chain->suffix_limit[i] = chain->prefix_limit[j] = 0;
            continue;
        }
        int limit = chain->suffix_limit[i + 1];
        if (chain->is_h[i]) {
            limit = least(limit + more, sf_bound_piece_limit(chain, i, n - 1));
            if (size <= longest)
                limit = piece_best(solver, i, n - 1, i, limit);
        }
        chain->suffix_limit[i] = (int16_t)limit;
        limit = chain->prefix_limit[j - 1];
        if (chain->is_h[j]) {
            limit = least(limit + more, sf_bound_piece_limit(chain, 0, j));
            if (size <= longest)
                limit = piece_best(solver, 0, j, j - 1, limit);
        }
        chain->prefix_limit[j] = (int16_t)limit;
    }
}

void sf_bound_solver_init(bound_solver *solver, const sf_lattice *lattice, int length, const uint8_t *elements,
                          uint64_t node_limit, int n_threads, const volatile int *stop, const sf_team *team)
{
    memset(solver, 0, sizeof *solver);
    solver->kernel = sf_bound_kernel_choose(lattice->dimension);
    solver->n_threads = n_threads;
    solver->node_limit = node_limit;
    solver->stop = stop;
    solver->team = team && team->size > 1 ? team : NULL;
    sf_bound_chain_init(&solver->chain, lattice, length, elements);
    search_pieces(solver);
    sf_bound_schedule_init(&solver->schedule, &solver->chain, 0, length - 1, length / 2 - 1);
}

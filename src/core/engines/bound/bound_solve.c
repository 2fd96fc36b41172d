/* What is proven of one sequence, in three stages: the best score, downwards from a ceiling; which scores below it are
 * reachable; how many conformations the top scores have.
 *
 * Going up from a first fold looks natural, and fails for long chains: good folds are rare, and a search that improves
 * its fold step by step spends most of its time where the bounds are still weak. Asking "is T reachable?" from the
 * ceiling downwards lets every bound work against T from the first node on, and the last question yields the fold. */
#include <string.h>

#include "core/engines/bound/bound.h"
#include "core/engines/bound/bound_fold.h"
#include "core/engines/bound/bound_solver.h"
#include "core/engines/bound/bound_weights.h"

/* Conformations that are looked for, of the scores that `histogram` says are reachable: walk[score], "" where none was
 * found yet. */
typedef struct examples {
    const sf_problem *problem;
    const uint8_t *elements;
    const uint64_t *histogram;
    char (*walk)[SF_LENGTH_MAX];
    int n_missing;
} examples;

typedef struct solution {
    bound_solver *solver;
    examples *examples; /* NULL: the scores are asked for, not the folds */
    uint64_t *histogram;
    int ceiling;
    int lower, upper;
    bound_place fold[SF_LENGTH_MAX]; /* the one found last */
    sf_error *err;
} solution;

enum { NO, YES, OPEN }; /* is there a conformation with a score in target..ceiling? */

static bool is_missing(const examples *e, int score)
{
    return e->histogram[score] != 0 && e->histogram[score] != SF_COUNT_UNKNOWN && !e->walk[score][0];
}

static void take_example(examples *e, const bound_search *search)
{
    if (!is_missing(e, search->best))
        return;
    sf_bound_fold_walk(e->problem->lattice, e->problem->length, search->fold, e->walk[search->best]);
    e->n_missing--;
}

static void note_fold(solution *s, const bound_search *search)
{
    if (s->examples)
        take_example(s->examples, search);
    s->histogram[search->best] = SF_COUNT_SOME;
    if (search->best > s->lower)
        s->lower = search->best;
    memcpy(s->fold, search->fold, sizeof s->fold);
}

static int ask(solution *s, int target, int ceiling, int *answer)
{
    bound_search search;
    int status = sf_bound_decide(s->solver, BOUND_FIND, target, ceiling, &search, s->err);
    if (status != SF_OK)
        return status;
    if (search.outcome == BOUND_STOPPED)
        return sf_fail(s->err, SF_ESTOPPED, "stopped while the best score was searched");
    *answer = search.outcome == BOUND_LIMIT ? OPEN : search.found ? YES : NO;
    if (*answer == YES)
        note_fold(s, &search);
    return SF_OK;
}

/* Downwards from the ceiling to the best score. With a limit, a quarter of it is kept to find good folds by going up,
 * so that a hard proof does not leave us without any. */
static int search_best(solution *s, uint64_t node_limit)
{
    int answer = NO, status = SF_OK;
    s->solver->node_limit = node_limit - node_limit / 4;
    while (status == SF_OK && answer == NO && s->upper > 0) {
        status = ask(s, s->upper, s->upper, &answer);
        if (status == SF_OK && answer == NO)
            s->histogram[s->upper--] = 0;
    }
    s->solver->node_limit = node_limit;
    while (status == SF_OK && answer != NO && s->lower < s->upper) {
        status = ask(s, s->lower + 1, s->upper, &answer);
        if (status == SF_OK && answer == OPEN)
            break;
        if (status == SF_OK && answer == NO) {
            memset(s->histogram + s->lower + 1, 0, sizeof *s->histogram * (size_t)(s->upper - s->lower));
            s->upper = s->lower;
        }
    }
    return status;
}

/* Looks for a score near the fold found last: its core stays, the ends are laid anew by the present schedule, more of
 * them each time. */
static bool unfold(solution *s, int score, uint64_t try_nodes)
{
    enum { MORE_RESIDUES = 2 };
    bound_solver *solver = s->solver;
    for (int n = solver->schedule.n_residues - MORE_RESIDUES; n >= 2; n -= MORE_RESIDUES) {
        bound_task task;
        bound_search search = sf_bound_question(solver, BOUND_FIND, score, score, try_nodes);
        sf_bound_fold_task(&solver->schedule, s->fold, n, &task);
        solver->kernel->run(&search, &task);
        solver->nodes += search.nodes;
        if (search.found)
            note_fold(s, &search);
        if (search.found || search.outcome == BOUND_STOPPED)
            return search.found;
    }
    return false;
}

/* The same with other cores too, and then with more nodes. Nearly always finds what there is, so that the search proper
 * is left with the gaps. */
static bool unfold_all(solution *s, int score)
{
    static const uint64_t effort[] = {500, 5000};
    enum { CORES = 4 };
    bound_solver *solver = s->solver;
    const int n = solver->chain.length;
    for (size_t e = 0; e < sizeof effort / sizeof *effort; e++) {
        for (int core = 0; core <= CORES; core++) {
            if (core > 0)
                sf_bound_schedule_init(&solver->schedule, &solver->chain, 0, n - 1,
                                       (2 * core - 1) * (n - 1) / (2 * CORES));
            if (unfold(s, score, effort[e]))
                return true;
            if (solver->nodes >= solver->node_limit)
                return false;
        }
    }
    return false;
}

/* Every score below the best: reachable or not. */
static int search_set(solution *s)
{
    for (int score = s->lower - 1; score > 0 && (!s->examples || s->examples->n_missing > 0); score--) {
        int answer = YES;
        if (s->histogram[score] != SF_COUNT_UNKNOWN || unfold_all(s, score))
            continue;
        int status = ask(s, score, score, &answer);
        if (status != SF_OK)
            return status;
        if (answer == NO)
            s->histogram[score] = 0;
    }
    return SF_OK;
}

static bool is_exact(const solution *s)
{
    bool exact = s->lower == s->upper;
    for (int score = 0; score <= s->lower; score++)
        exact &= s->histogram[score] != SF_COUNT_UNKNOWN;
    return exact;
}

/* Counts the top scores, while the limit lasts. */
static int count_top(solution *s, int top_counts)
{
    for (int score = s->lower; score >= 0 && top_counts > 0; score--) {
        if (s->histogram[score] != SF_COUNT_SOME)
            continue;
        bound_search search;
        int status = sf_bound_decide(s->solver, BOUND_COUNT, score, score, &search, s->err);
        if (status != SF_OK)
            return status;
        if (search.outcome == BOUND_STOPPED)
            return sf_fail(s->err, SF_ESTOPPED, "stopped while the conformations of score %d were counted", score);
        if (search.outcome == BOUND_LIMIT)
            return SF_OK;
        s->histogram[score] = search.found;
        top_counts--;
    }
    return SF_OK;
}

/* Nothing is known but a ceiling, and the straight chain. */
static void begin(solution *s, const sf_problem *problem)
{
    s->ceiling = sf_bound_piece_limit(&s->solver->chain, 0, problem->length - 1);
    if (s->ceiling >= problem->n_scores)
        s->ceiling = problem->n_scores - 1;
    s->upper = s->ceiling;
    memset(s->histogram, 0, sizeof *s->histogram * (size_t)problem->n_scores);
    for (int score = 0; score <= s->ceiling; score++)
        s->histogram[score] = SF_COUNT_UNKNOWN;
    s->histogram[0] = SF_COUNT_SOME;
}

int sf_bound_solve(const sf_problem *problem, const uint8_t *elements, const sf_bound_options *options,
                   uint64_t *histogram, sf_bound_result *result, sf_error *err)
{
    const uint64_t node_limit = options->node_limit ? options->node_limit : UINT64_MAX;
    bound_solver solver;
    solution s = {.solver = &solver, .histogram = histogram, .err = err};
    if (!sf_score_model_is_hp(problem->model))
        return sf_bound_weights_solve(problem, elements, options, histogram, result, err);
    sf_bound_solver_init(&solver, problem->lattice, problem->length, elements, node_limit, options->n_threads,
                         options->stop, options->team);
    solver.journal = options->journal;
    begin(&s, problem);
    int status = search_best(&s, node_limit);
    if (status == SF_OK)
        status = search_set(&s);
    if (status == SF_OK && s.lower == s.upper)
        status = count_top(&s, options->top_counts);
    if (status != SF_OK && status != SF_ESTOPPED)
        return status;
    const bool counted = histogram[s.lower] != SF_COUNT_SOME;
    *result = (sf_bound_result){.best_lower = s.lower,
                                .best_upper = s.upper,
                                .exact = is_exact(&s),
                                .nodes = solver.nodes < node_limit ? solver.nodes : node_limit,
                                .solutions = counted ? histogram[s.lower] : 0};
    return status;
}

/* ---- examples ---- */

/* Looks for one score alone. */
static int look_for(examples *e, int score, uint64_t node_limit, const volatile int *stop, sf_error *err)
{
    bound_solver solver;
    bound_search search = {.outcome = BOUND_DONE};
    int status = SF_OK;
    sf_bound_solver_init(&solver, e->problem->lattice, e->problem->length, e->elements, node_limit, 1, stop, NULL);
    if (score <= sf_bound_piece_limit(&solver.chain, 0, e->problem->length - 1))
        status = sf_bound_decide(&solver, BOUND_FIND, score, score, &search, err);
    if (status == SF_OK && search.found)
        take_example(e, &search);
    else if (status == SF_OK && search.outcome == BOUND_DONE)
        status = sf_fail(err, SF_EINPUT, "no conformation of the sequence has score %d", score);
    return status;
}

static int look_for_all(examples *e, uint64_t node_limit, const volatile int *stop, sf_error *err)
{
    for (int score = e->problem->n_scores - 1; score >= 0 && !(stop && *stop); score--) {
        int status = is_missing(e, score) ? look_for(e, score, node_limit, stop, err) : SF_OK;
        if (status != SF_OK)
            return status;
    }
    return SF_OK;
}

/* All at once, as the set of scores is found: from the best fold downwards, the next one near the last. */
static int unfold_from_best(examples *e, uint64_t node_limit, const volatile int *stop, sf_error *err)
{
    uint64_t histogram[SF_SCORES_MAX];
    bound_solver solver;
    solution s = {.solver = &solver, .examples = e, .histogram = histogram, .err = err};
    sf_bound_solver_init(&solver, e->problem->lattice, e->problem->length, e->elements, node_limit, 1, stop, NULL);
    begin(&s, e->problem);
    int status = search_best(&s, node_limit);
    if (status == SF_OK)
        status = search_set(&s);
    return status == SF_ESTOPPED ? SF_OK : status;
}

/* Each score by itself finds high and low ones soon, and may look for ages for those between in a long chain; unfolding
 * finds these, but wants the best fold first, which may be hard. So both take turns, with more nodes each time. What is found
 * for a score does not depend on which others are looked for. */
int sf_bound_witnesses(const sf_problem *problem, const uint8_t *elements, const uint64_t *histogram,
                       const volatile int *stop, char (*walk)[SF_LENGTH_MAX], sf_error *err)
{
    static const struct {
        int (*look)(examples *e, uint64_t node_limit, const volatile int *stop, sf_error *err);
        uint64_t nodes;
    } stages[] = {{look_for_all, 50000},
                  {unfold_from_best, 4000000},
                  {look_for_all, 2000000},
                  {unfold_from_best, 256000000},
                  {look_for_all, UINT64_MAX}};
    examples e = {.problem = problem, .elements = elements, .histogram = histogram, .walk = walk};
    int status = SF_OK;
    for (int score = 0; score < problem->n_scores; score++) {
        walk[score][0] = '\0';
        e.n_missing += is_missing(&e, score);
    }
    if (is_missing(&e, 0)) { /* the straight one, however little time there is */
        memset(walk[0], problem->lattice->letter[0], (size_t)problem->length - 1);
        walk[0][problem->length - 1] = '\0';
        e.n_missing--;
    }
    for (size_t i = 0; status == SF_OK && e.n_missing > 0 && i < sizeof stages / sizeof *stages; i++) {
        if (stop && *stop)
            return SF_OK;
        status = stages[i].look(&e, stages[i].nodes, stop, err);
    }
    for (int s = 0; status == SF_OK && s < problem->n_scores; s++) {
        int score = problem->min_score + s, found = score;
        if (walk[s][0])
            status = sf_walk_score(problem, elements, walk[s], &found, err);
        if (status == SF_OK && found != score)
            status = sf_fail(err, SF_ECHECK, "a fold found for score %d has score %d", score, found);
    }
    return status;
}

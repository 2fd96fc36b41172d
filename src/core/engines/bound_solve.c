/* What is proven of one sequence, in three stages: the best score, downwards from a ceiling; which scores below it are
 * reachable; how many conformations the top scores have.
 *
 * Going up from a first fold looks natural, and fails for long chains: good folds are rare, and a search that improves
 * its fold step by step spends most of its time where the bounds are still weak. Asking "is T reachable?" from the
 * ceiling downwards lets every bound work against T from the first node on, and the last question yields the fold. */
#include <string.h>

#include "core/engines/bound.h"
#include "core/engines/bound_fold.h"
#include "core/engines/bound_solver.h"
#include "core/engines/bound_weights.h"

typedef struct solution {
    bound_solver *solver;
    uint64_t *histogram;
    int ceiling;
    int lower, upper;
    bound_place fold[SF_LENGTH_MAX]; /* the one found last */
    sf_error *err;
} solution;

enum { NO, YES, OPEN }; /* is there a conformation with a score in target..ceiling? */

static void note_fold(solution *s, const bound_search *search)
{
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
    for (int score = s->lower - 1; score > 0; score--) {
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
    s.ceiling = sf_bound_piece_limit(&solver.chain, 0, problem->length - 1);
    if (s.ceiling >= problem->n_scores)
        s.ceiling = problem->n_scores - 1;
    s.upper = s.ceiling;
    memset(histogram, 0, sizeof *histogram * (size_t)problem->n_scores);
    for (int score = 0; score <= s.ceiling; score++)
        histogram[score] = SF_COUNT_UNKNOWN;
    histogram[0] = SF_COUNT_SOME; /* the straight chain */
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

/* ---- witness ---- */

/* sf_bound_weights_find for the model hp. */
static int find_hp(const sf_problem *problem, const uint8_t *elements, int score, bound_place *fold, bool *found,
                   sf_error *err)
{
    bound_solver solver;
    bound_search search = {.found = 0};
    int status = SF_OK;
    sf_bound_solver_init(&solver, problem->lattice, problem->length, elements, UINT64_MAX, 1, NULL, NULL);
    if (score >= 0 && score <= sf_bound_piece_limit(&solver.chain, 0, problem->length - 1))
        status = sf_bound_decide(&solver, BOUND_FIND, score, score, &search, err);
    *found = search.found > 0;
    memcpy(fold, search.fold, sizeof search.fold);
    return status;
}

int sf_bound_witness(const sf_problem *problem, const uint8_t *elements, int score, char *walk, sf_error *err)
{
    bound_place fold[SF_LENGTH_MAX];
    bool found;
    int found_score = score;
    int status = sf_score_model_is_hp(problem->model)
                     ? find_hp(problem, elements, score, fold, &found, err)
                     : sf_bound_weights_find(problem, elements, score, fold, &found, err);
    if (status != SF_OK)
        return status;
    if (!found)
        return sf_fail(err, SF_EINPUT, "no conformation of the sequence has score %d", score);
    sf_bound_fold_walk(problem->lattice, problem->length, fold, walk);
    status = sf_walk_score(problem, elements, walk, &found_score, err);
    if (status == SF_OK && found_score != score)
        return sf_fail(err, SF_ECHECK, "a fold found for score %d has score %d", score, found_score);
    return status;
}

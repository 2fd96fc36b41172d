/* Engine "bound": one sequence a part. */
#include "core/engines/bound/bound.h"

#include <stdlib.h>

#include "core/engines/aside.h"
#include "core/engines/bound/bound_journal.h"
#include "core/engines/engine_ops.h"

/* Budget of a tree that is worth being given back: some 0.1 s. To take a sequence up again costs a tenth of that. */
enum { GIVE_BACK_NODES = 200000 };

typedef struct bound_state {
    const sf_problem *problem;
    const sf_engine_options *options;
} bound_state;

/* Typical seconds for random sequences, half H, on one core; single ones take a hundredth or a hundred times that.
 * Other models have one bound only. */
static double typical_s(const sf_problem *problem)
{
    const bool square = problem->lattice->dimension == 2, hp = sf_score_model_is_hp(problem->model);
    const double growth = hp ? (square ? 1.45 : 1.55) : (square ? 2.2 : 3.5);
    double s = 1e-3;
    for (int n = hp ? (square ? 25 : 15) : (square ? 12 : 9); n < problem->length; n++)
        s *= growth;
    return s;
}

static int estimate(const sf_problem *problem, const sf_engine_options *options, sf_engine_cost *cost, sf_error *err)
{
    (void)err;
    *cost = (sf_engine_cost){
        .memory_bytes = (uint64_t)options->n_threads << 20,
        .open_s = 0,
        .sequence_s = typical_s(problem),
        .parts = 1,
        .guess = true,
    };
    return SF_OK;
}

static int open_bound(void **state, const sf_problem *problem, const sf_engine_options *options, sf_error *err)
{
    bound_state *b = malloc(sizeof *b);
    *state = b;
    if (!b)
        return sf_fail(err, SF_ENOMEM, "no memory to open engine bound");
    *b = (bound_state){.problem = problem, .options = options};
    return SF_OK;
}

static int evaluate(const void *state, const sf_plan *plan, const uint8_t *sequences, size_t part, uint64_t *partial,
                    sf_error *err)
{
    const bound_state *b = state;
    const size_t n_scores = (size_t)b->problem->n_scores;
    size_t first, count;
    uint64_t histogram[SF_SCORES_MAX];
    sf_bound_result result;
    bound_journal journal = {0};
    const sf_bound_options options = {
        .node_limit = b->options->node_limit,
        .top_counts = b->options->top_counts,
        .n_threads = plan->n_parts == 1 || plan->team || plan->begun ? b->options->n_threads : 1,
        .stop = b->options->stop,
        .team = plan->team,
        .journal = plan->aside || plan->begun ? &journal : NULL,
    };
    if (plan->begun) {
        journal.begun = (const bound_note *)(const void *)plan->begun->bytes;
        journal.n_begun = plan->begun->n_bytes / sizeof(bound_note);
    } else if (plan->aside) {
        journal.wanted = plan->aside->wanted;
        journal.context = plan->aside->context;
        journal.least_nodes = GIVE_BACK_NODES;
    }
    sf_plan_part(plan, part, &first, &count);
    sf_error why = {0};
    int status =
        sf_bound_solve(b->problem, sequences + first * (size_t)b->problem->length, &options, histogram, &result, &why);
    if (journal.given_back) {
        status = sf_aside_keep(plan->aside, part, journal.n * sizeof *journal.note, journal.note, err);
        sf_bound_journal_free(&journal);
        return status;
    }
    sf_bound_journal_free(&journal);
    if (status == SF_ESTOPPED && b->options->keep_stopped)
        status = SF_OK;
    else if (status != SF_OK && err)
        *err = why;
    if (status == SF_OK)
        status = sf_counts_add(n_scores, partial, histogram);
    return status;
}

/* A weak guess: of random chains, the number of H times the number of runs of them goes along with the nodes a proof
 * takes by a rank correlation of 0.25, 0.5, 0.65 (square, 25, 29, 32 residues) and 0.2, 0.4 (cubic, 16, 17), better
 * than the number of H or the parity ceiling alone. Of other models nothing is known. */
static uint64_t hardness(const sf_problem *problem, const uint8_t *sequence)
{
    uint64_t n_h = 0, n_runs = 0;
    if (!sf_score_model_is_hp(problem->model))
        return 0;
    for (int k = 0; k < problem->length; k++) {
        n_h += sequence[k] == 0;
        n_runs += sequence[k] == 0 && (k == 0 || sequence[k - 1] != 0);
    }
    return n_h * n_runs;
}

static uint64_t memory(const void *state)
{
    (void)state;
    return sizeof(bound_state);
}

const sf_engine_ops sf_engine_bound = {
    .name = "bound",
    .counts_everything = false,
    .answers_sets = true,
    .estimate = estimate,
    .open = open_bound,
    .evaluate = evaluate,
    .hardness = hardness,
    .memory = memory,
    .close = free,
};

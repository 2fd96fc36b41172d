/* Example conformations, by one fixed method: what is chosen depends on the problem alone, never on the engine that counted.
 * Going through the walks finds them where a table could hold the chains; beyond, the highest scores are too rare for
 * that, and branch and bound looks for them. */
#include <string.h>

#include "core/contacts/map_table.h"
#include "core/engines/bound/bound.h"
#include "core/walk/walk.h"
#include "starfold/engine.h"

static bool is_long(const sf_problem *problem)
{
    return sf_score_model_is_hp(problem->model) &&
           sf_map_table_length_check(problem->lattice, problem->length, NULL) != SF_OK;
}

int sf_witness_find(const sf_problem *problem, const uint8_t *elements, int score, char *walk, sf_error *err)
{
    uint64_t wanted[SF_SCORES_MAX] = {0};
    char found[SF_SCORES_MAX][SF_LENGTH_MAX];
    const int at = score - problem->min_score;
    if (!is_long(problem))
        return sf_walk_witness(problem, elements, score, walk, err);
    if (at < 0 || at >= problem->n_scores)
        return sf_fail(err, SF_EINPUT, "no conformation of the sequence has score %d", score);
    wanted[at] = SF_COUNT_SOME;
    const int status = sf_bound_witnesses(problem, elements, wanted, NULL, found, err);
    if (status == SF_OK)
        memcpy(walk, found[at], (size_t)problem->length);
    return status;
}

int sf_witnesses_find(const sf_problem *problem, const uint8_t *elements, const uint64_t *histogram,
                      const volatile int *stop, char (*walk)[SF_LENGTH_MAX], sf_error *err)
{
    int status = SF_OK;
    if (is_long(problem))
        return sf_bound_witnesses(problem, elements, histogram, stop, walk, err);
    for (int s = 0; s < problem->n_scores; s++) {
        walk[s][0] = '\0';
        const bool wanted = histogram[s] != 0 && histogram[s] != SF_COUNT_UNKNOWN && !(stop && *stop);
        if (status == SF_OK && wanted)
            status = sf_walk_witness(problem, elements, problem->min_score + s, walk[s], err);
    }
    return status;
}

/* One example conformation of a score, by one fixed method: what is chosen depends on the problem alone, never on the
 * engine that counted. Going through the walks finds it where a table could hold the chains; beyond, the highest scores
 * are too rare for that, and branch and bound looks for them. */
#include "core/contacts/map_table.h"
#include "core/engines/bound.h"
#include "core/walk/walk.h"
#include "starfold/engine.h"

int sf_witness_find(const sf_problem *problem, const uint8_t *elements, int score, char *walk, sf_error *err)
{
    if (sf_score_model_is_hp(problem->model) &&
        sf_map_table_length_check(problem->lattice, problem->length, NULL) != SF_OK)
        return sf_bound_witness(problem, elements, score, walk, err);
    return sf_walk_witness(problem, elements, score, walk, err);
}

/* One example conformation of a score, by one fixed method: what is chosen depends on the problem alone, never on the
 * engine that counted. */
#include "core/walk/walk.h"
#include "starfold/engine.h"

int sf_witness_find(const sf_problem *problem, const uint8_t *elements, int score, char *walk, sf_error *err)
{
    return sf_walk_witness(problem, elements, score, walk, err);
}

/* What the sequences of a batch share, and how wide their histograms are. */
#include "starfold/problem.h"

int sf_problem_init(sf_problem *problem, const sf_lattice *lattice, const sf_score_model *model, int length,
                    sf_error *err)
{
    *problem = (sf_problem){0};
    if (length < SF_LENGTH_MIN || length > SF_LENGTH_MAX)
        return sf_fail(err, SF_EINPUT, "length %d is out of range; chains of %d to %d residues are allowed", length,
                       SF_LENGTH_MIN, SF_LENGTH_MAX);
    int least = 0, most = 0; /* weight of a contact; 0 is always possible: there may be no contact */
    for (int i = 0; i < model->n_letters; i++) {
        for (int j = 0; j < model->n_letters; j++) {
            int weight = model->weight[i][j];
            least = weight < least ? weight : least;
            most = weight > most ? weight : most;
        }
    }
    int contacts = sf_lattice_max_contacts(lattice, length);
    int n_scores = (most - least) * contacts + 1;
    if (n_scores > SF_SCORES_MAX)
        return sf_fail(err, SF_ELIMIT,
                       "score model %s at length %d on the %s lattice spans %d scores, at most %d are allowed; take a "
                       "shorter chain or smaller weights",
                       model->name, length, lattice->name, n_scores, SF_SCORES_MAX);
    *problem = (sf_problem){
        .lattice = lattice,
        .model = model,
        .length = length,
        .min_score = least * contacts,
        .n_scores = n_scores,
    };
    return SF_OK;
}

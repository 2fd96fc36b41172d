/* What the sequences of a batch share, and how wide their histograms are. */
#include "starfold/problem.h"

#include <stdio.h>
#include <stdlib.h>

static int greatest_divisor(int a, int b)
{
    return b ? greatest_divisor(b, a % b) : a;
}

/* Scores are kept one by one from the least to the greatest that the lattice allows, in rows that every engine has many of;
 * weights with a common divisor take room for scores that no conformation has. */
static int refuse_span(const sf_lattice *lattice, const sf_score_model *model, int length, int n_scores, sf_error *err)
{
    int divisor = 0;
    char advice[128] = "take a shorter chain or smaller weights";
    for (int i = 0; i < model->n_letters; i++) {
        for (int j = 0; j < model->n_letters; j++)
            divisor = greatest_divisor(divisor, abs(model->weight[i][j]));
    }
    if (divisor > 1)
        snprintf(advice, sizeof advice, "divide the weights by %d, which changes nothing but the scale of the scores", divisor);
    return sf_fail(err, SF_ELIMIT,
                   "score model %s at length %d on the %s lattice spans %d scores, at most %d are allowed; %s", model->name,
                   length, lattice->name, n_scores, SF_SCORES_MAX, advice);
}

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
        return refuse_span(lattice, model, length, n_scores, err);
    *problem = (sf_problem){
        .lattice = lattice,
        .model = model,
        .length = length,
        .min_score = least * contacts,
        .n_scores = n_scores,
    };
    return SF_OK;
}

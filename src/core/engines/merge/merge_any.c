/* Tail merging for any score model: the sequence's part. The walking is in merge_any_count.c. */
#include "core/engines/merge/merge_any.h"

#include <string.h>

enum { PIECES_2D = 9, PIECES_3D = 6 }; /* steps: 2,034 and 402 pieces */

static int tail_of(const sf_problem *problem)
{
    const int longest = problem->length - 2, wanted = problem->lattice->dimension == 2 ? 8 : 5;
    return wanted < longest ? wanted : longest;
}

/* Least and greatest weight a letter has with any other, 0 included. */
static void weight_range(const sf_score_model *model, int letter, int *least, int *greatest)
{
    *least = *greatest = 0;
    for (int other = 0; other < model->n_letters; other++) {
        const int w = model->weight[letter][other];
        *least = w < *least ? w : *least;
        *greatest = w > *greatest ? w : *greatest;
    }
}

/* Range of scores of the last r residues of any chain (elements NULL) or of this one. */
static void score_range(const sf_problem *problem, const uint8_t *elements, int r, int *low, int *width)
{
    int high = 0;
    *low = 0;
    for (int k = problem->length - r; k < problem->length; k++) {
        const int neighbours = problem->lattice->n_steps - (k == problem->length - 1 ? 1 : 2);
        int least = 0, greatest = 0;
        for (int letter = 0; letter < problem->model->n_letters; letter++) {
            int a, b;
            if (elements && elements[k] != letter)
                continue;
            weight_range(problem->model, letter, &a, &b);
            least = a < least ? a : least;
            greatest = b > greatest ? b : greatest;
        }
        *low += neighbours * least;
        high += neighbours * greatest;
    }
    *width = high - *low + 1;
}

bool sf_any_can(const sf_problem *problem)
{
    int low, width;
    if (problem->length < ANY_DIRECT + 3 || problem->length > ANY_LENGTH_MAX)
        return false;
    score_range(problem, NULL, tail_of(problem), &low, &width);
    return width <= SF_SCORES_MAX && sf_lattice_conformations(problem->lattice, problem->length) > 0;
}

bool sf_any_pays(const sf_problem *problem)
{
    return problem->length >= (problem->lattice->dimension == 2 ? 20 : 13) && sf_any_can(problem);
}

static bool like(const sf_score_model *model, int a, int b)
{
    return memcmp(model->weight[a], model->weight[b], sizeof model->weight[a]) == 0;
}

static bool matters(const sf_score_model *model, int letter)
{
    int least, greatest;
    weight_range(model, letter, &least, &greatest);
    return least != 0 || greatest != 0;
}

/* Letters of residues that can be on a site first reached in `distance` steps, one of those that are alike. */
static void letters_at(const any_job *job, int r, int distance, any_letters *letters)
{
    const sf_score_model *model = job->problem->model;
    letters->n = 0;
    for (int step = distance; step <= r; step += 2) {
        const uint8_t letter = job->elements[job->length - r - 1 + step];
        bool known = !matters(model, letter);
        for (int i = 0; i < letters->n; i++)
            known = known || like(model, letters->letter[i], letter);
        if (!known)
            letters->letter[letters->n++] = letter;
    }
}

/* Reduced walks, by the rule of walk.h, of n_steps more steps from the end of a path of sites. */
static size_t pieces(const sf_lattice *lattice, int8_t (*site)[3], int n_sites, int n_steps, int n_open)
{
    size_t n = 0;
    const int choices = n_open < lattice->dimension ? 2 * n_open + 1 : lattice->n_steps;
    if (n_steps == 0)
        return 1;
    for (int step = 0; step < choices; step++) {
        bool free_site = true;
        for (int axis = 0; axis < 3; axis++)
            site[n_sites][axis] = (int8_t)(site[n_sites - 1][axis] + lattice->step[step][axis]);
        for (int i = 0; i < n_sites && free_site; i++)
            free_site = memcmp(site[i], site[n_sites], sizeof site[i]) != 0;
        if (free_site)
            n += pieces(lattice, site, n_sites + 1, n_steps - 1, n_open + (step >= 2 * n_open));
    }
    return n;
}

void sf_any_job_init(any_job *job, const sf_problem *problem, const uint8_t *elements, bool reversed)
{
    int8_t site[SF_LENGTH_MAX][3] = {{0}, {1}};
    const int steps = problem->lattice->dimension == 2 ? PIECES_2D : PIECES_3D;
    memset(job, 0, sizeof *job);
    job->problem = problem;
    job->length = problem->length;
    job->tail = tail_of(problem);
    job->piece_steps = steps < job->length - job->tail - 1 ? steps : job->length - job->tail - 1;
    job->n_pieces = pieces(problem->lattice, site, 2, job->piece_steps - 1, 1);
    for (int k = 0; k < job->length; k++)
        job->elements[k] = elements[reversed ? job->length - 1 - k : k];
    for (int r = 1; r <= job->tail; r++) {
        score_range(problem, job->elements, r, &job->level[r].low, &job->level[r].width);
        for (int distance = 1; distance <= r; distance++)
            letters_at(job, r, distance, &job->level[r].at[distance]);
    }
}

void sf_any_sizes(const sf_problem *problem, merge_sizes *sizes)
{
    *sizes = (merge_sizes){0};
    for (int r = ANY_DIRECT + 1; r <= tail_of(problem); r++) {
        int low, width;
        score_range(problem, NULL, r, &low, &width);
        sizes->entry_bytes[r] = ((size_t)width * sizeof(uint32_t) + ANY_KEY_BYTES + 8 + 63) / 64 * 64;
        sizes->log2_entries[r] = 13;
    }
}

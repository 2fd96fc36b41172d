/* A kind with an answer in closed form, so that the search can be tested without trusting an engine. A solution picks
 * some of the genome's ones and scores how many it picked: k ones have C(k, s) solutions of score s. The even and the
 * odd scores are parts of their own, so that sums of partials are tried too. */
#include <stdlib.h>
#include <string.h>

#include "core/engines/parts_omp.h"
#include "core/puzzle/puzzle.h"

enum { LENGTH_MAX = 60, N_PARTS = 2 }; /* C(60, 30) < 2^57 and 2^60 fits a sum */

typedef struct onemax {
    int length;
} onemax;

static int count_ones(const onemax *o, const uint8_t *genome)
{
    int ones = 0;
    for (int i = 0; i < o->length; i++)
        ones += genome[i];
    return ones;
}

static int plan_onemax(const void *instance, size_t n, const uint8_t *genomes, sf_plan *plan, sf_error *err)
{
    const onemax *o = instance;
    for (size_t i = 0; i < n * (size_t)o->length; i++) {
        if (genomes[i] > 1)
            return sf_fail(err, SF_EINPUT, "element %zu of genome %zu is %d; elements are 0 and 1",
                           i % (size_t)o->length + 1, i / (size_t)o->length + 1, genomes[i]);
    }
    *plan = (sf_plan){.block = 1, .parts_per_block = N_PARTS};
    return sf_plan_complete(plan, n, err);
}

static int evaluate(const void *instance, const sf_plan *plan, const uint8_t *genomes, size_t part, uint64_t *partial,
                    sf_error *err)
{
    const onemax *o = instance;
    size_t first, count;
    (void)err;
    sf_plan_part(plan, part, &first, &count);
    int ones = count_ones(o, genomes + first * (size_t)o->length);
    uint64_t binomial = 1;
    for (int s = 0; s <= ones; s++) {
        if ((size_t)s % N_PARTS == part % N_PARTS)
            partial[s] += binomial;
        /* C(k, s + 1) = C(k, s) (k - s) / (s + 1), exact; the product stays below 2^63 */
        binomial = binomial * (uint64_t)(ones - s) / (uint64_t)(s + 1);
    }
    return SF_OK;
}

static int witness(const void *instance, const uint8_t *genome, int score, char *text, sf_error *err)
{
    const onemax *o = instance;
    int ones = count_ones(o, genome);
    if (score < 0 || score > ones)
        return sf_fail(err, SF_EINPUT, "no solution of this genome has score %d; it has scores 0 to %d", score, ones);
    for (int i = 0; i < o->length; i++) {
        int picked = genome[i] == 1 && score > 0;
        text[i] = picked ? '1' : '0';
        score -= picked;
    }
    text[o->length] = '\0';
    return SF_OK;
}

static void canonical(const void *instance, const uint8_t *genome, uint8_t *result)
{
    const onemax *o = instance;
    sf_sequence_canonical(o->length, genome, result);
}

/* One 1 after the other: each is picked or not (Pascal's rule). */
static int verify(const void *instance, const uint8_t *genome, uint64_t *histogram, sf_error *err)
{
    const onemax *o = instance;
    (void)err;
    memset(histogram, 0, (size_t)(o->length + 1) * sizeof *histogram);
    histogram[0] = 1;
    for (int i = 0; i < o->length; i++) {
        for (int s = o->length; genome[i] == 1 && s > 0; s--)
            histogram[s] += histogram[s - 1];
    }
    return SF_OK;
}

static void close_onemax(void *instance)
{
    free(instance);
}

static const sf_puzzle_kind onemax_kind = {
    .name = "onemax",
    .plan = plan_onemax,
    .evaluate = evaluate,
    .witness = witness,
    .canonical = canonical,
    .verify = verify,
    .close = close_onemax,
};

int sf_puzzle_open_onemax(sf_puzzle *puzzle, int length, sf_error *err)
{
    *puzzle = (sf_puzzle){0};
    if (length < 1 || length > LENGTH_MAX)
        return sf_fail(err, SF_EINPUT, "length %d is out of range; onemax genomes have 1 to %d elements", length,
                       LENGTH_MAX);
    onemax *o = malloc(sizeof *o);
    if (!o)
        return sf_fail(err, SF_ENOMEM, "no memory to open a puzzle");
    o->length = length;
    *puzzle = (sf_puzzle){
        .kind = &onemax_kind,
        .instance = o,
        .length = length,
        .n_letters = 2,
        .letters = "01",
        .n_scores = length + 1,
        .witness_size = length + 1,
    };
    return SF_OK;
}

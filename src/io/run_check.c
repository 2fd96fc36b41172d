/* The checks of a run file's values. A file that was damaged by chance is mostly caught by its seal or its check sums;
 * these are for files that someone made, and for our own mistakes. */
#include "io/run_check.h"

#include <inttypes.h>
#include <string.h>

/* Bytes that the arrays of a run may take: more is not a run but a wrong number. */
#define BYTES_MAX (UINT64_C(1) << 37)

enum { LENGTH_MAX = 1024, WITNESS_MAX = 1024, MIN_SCORE_MAX = 1000000 };

static int wrong(sf_h5 *h5, const char *object, const char *what, int64_t value)
{
    return sf_fail(h5->err, SF_EFORMAT, "%s: %s: %s: %" PRId64, h5->path, object, what, value);
}

static int check_alphabet(sf_h5 *h5, const sf_view *view)
{
    size_t n = strlen(view->letters);
    if (n < 2)
        return sf_h5_fail(h5, "/search/letters", "has fewer than two letters");
    for (size_t k = 0; k < n; k++) {
        if (strchr(view->letters + k + 1, view->letters[k]))
            return sf_h5_fail(h5, "/search/letters", "has a letter twice");
    }
    return 0;
}

/* True when the product of the five factors is at most BYTES_MAX; all are at least 0. */
static bool fits(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e)
{
    uint64_t n = (uint64_t)a;
    return !__builtin_mul_overflow(n, (uint64_t)b, &n) && !__builtin_mul_overflow(n, (uint64_t)c, &n) &&
           !__builtin_mul_overflow(n, (uint64_t)d, &n) && !__builtin_mul_overflow(n, (uint64_t)e, &n) && n <= BYTES_MAX;
}

static int check_ranges(sf_h5 *h5, const sf_view *view)
{
    const int64_t any = INT64_C(1) << 40;
    const struct {
        const char *name;
        int64_t value, low, high;
    } range[] = {
        {"/provenance/schema", view->schema, SF_SCHEMA_VERSION, SF_SCHEMA_VERSION},
        {"/search/length", view->length, 1, LENGTH_MAX},
        {"/search/n_scores", view->n_scores, 1, SF_SCORES_MAX},
        {"/search/min_score", view->min_score, -MIN_SCORE_MAX, MIN_SCORE_MAX},
        {"/search/witness_size", view->witness_size, 1, WITNESS_MAX},
        {"/progress/generation", view->generation, -1, view->config.generations},
        {"/progress/sequences", view->n_sequences, 0, any},
        {"/progress/migrants", view->n_migrants, 0, any},
        {"/progress/levels", view->n_levels, 0, view->live ? 0 : view->n_sequences},
    };
    for (size_t k = 0; k < sizeof range / sizeof range[0]; k++) {
        if (range[k].value < range[k].low || range[k].value > range[k].high)
            return wrong(h5, range[k].name, "is out of its range", range[k].value);
    }
    return 0;
}

int sf_run_check_scalars(sf_h5 *h5, sf_view *view)
{
    const sf_search_config *c = &view->config;
    sf_error reason = {0};
    if (sf_search_config_check(c, &reason) != 0)
        return sf_fail(h5->err, SF_EFORMAT, "%s: /search: %s", h5->path, reason.text);
    int code = check_ranges(h5, view);
    if (!code)
        code = check_alphabet(h5, view);
    if (code)
        return code;
    int64_t kept = c->keep_populations ? c->generations + 1 : 1;
    if (!fits(c->trials, c->generations + 1, c->islands, sizeof(sf_generation_stats), 1) ||
        !fits(c->trials, kept, c->islands, c->population, view->length))
        return sf_h5_fail(h5, "/search", "asks for more memory than a run can take");
    if (!fits(view->n_sequences, view->n_scores, 8, 1, 1) || !fits(view->n_sequences, view->length, 1, 1, 1) ||
        !fits(view->n_migrants, view->length + 64, 1, 1, 1) || !fits(view->n_levels, view->witness_size, 3, 1, 1))
        return sf_h5_fail(h5, "/progress", "asks for more memory than a run can take");
    return 0;
}

static int check_stats(sf_h5 *h5, const sf_view *view)
{
    const sf_search_config *c = &view->config;
    const sf_record *record = view->record;
    for (int32_t trial = 0; trial < c->trials; trial++) {
        for (int64_t g = 0; g <= view->generation; g++) {
            for (int32_t island = 0; island < c->islands; island++) {
                const sf_generation_stats *s = &record->stats[sf_record_stats_index(record, trial, g, island)];
                int64_t n = c->population;
                if (s->worst < 0 || s->best < s->worst || s->best > view->n_scores)
                    return wrong(h5, "/trajectory/best", "and worst do not fit each other in generation", g);
                if (s->sum < n * s->worst || s->sum > n * s->best)
                    return wrong(h5, "/trajectory/sum", "does not fit best and worst in generation", g);
                if (s->n_at_best < 1 || s->n_at_best > n)
                    return wrong(h5, "/trajectory/n_at_best", "is out of its range in generation", g);
                if (s->n_distinct < 1 || s->n_distinct > n)
                    return wrong(h5, "/trajectory/n_distinct", "is out of its range in generation", g);
            }
        }
    }
    return 0;
}

/* What a histogram says must be what the row says of it. */
static int check_histogram(sf_h5 *h5, const sf_view *view, size_t row)
{
    const sf_known *known = &view->record->known;
    const uint64_t *count = known->histogram + row * (size_t)view->n_scores;
    int32_t distinct = 0, best = 0;
    bool exact = true;
    for (int32_t k = 0; k < view->n_scores; k++) {
        exact = exact && count[k] != SF_COUNT_UNKNOWN;
        if (count[k] != 0 && count[k] != SF_COUNT_UNKNOWN) {
            distinct++;
            best = view->min_score + k;
        }
    }
    if (known->fitness[row] != distinct)
        return wrong(h5, "/sequences/distinct_scores", "does not fit the histogram in row", (int64_t)row);
    if (distinct > 0 && known->best_score[row] != best)
        return wrong(h5, "/sequences/best_score", "does not fit the histogram in row", (int64_t)row);
    if (known->exact[row] != exact)
        return wrong(h5, "/sequences/exact", "does not fit the histogram in row", (int64_t)row);
    return 0;
}

static int check_sequences(sf_h5 *h5, sf_view *view)
{
    const sf_search_config *c = &view->config;
    const sf_known *known = &view->record->known;
    size_t length = (size_t)view->length;
    for (size_t row = 0; row < known->n; row++) {
        int code = check_histogram(h5, view, row);
        if (code)
            return code;
        const sf_place *p = &known->first[row];
        if (p->trial < 0 || p->trial >= c->trials || p->generation < 0 || p->generation > c->generations ||
            p->island < 0 || p->island >= c->islands || p->individual < 0 || p->individual >= c->population)
            return wrong(h5, "/sequences/first_generation", "names a place outside the search in row", (int64_t)row);
        const uint8_t *genome = known->genome + row * length;
        if (!view->live && row > 0 && memcmp(genome - length, genome, length) >= 0)
            return wrong(h5, "/sequences/letters", "is not sorted at row", (int64_t)row);
    }
    view->best_fitness = sf_record_best_fitness(view->record);
    return 0;
}

static int64_t order(const sf_migrant *a, const sf_migrant *b)
{
    if (a->trial != b->trial)
        return (int64_t)a->trial - b->trial;
    if (a->sent != b->sent)
        return a->sent < b->sent ? -1 : 1;
    return a->from != b->from ? (int64_t)a->from - b->from : (int64_t)a->index - b->index;
}

static int check_migrants(sf_h5 *h5, const sf_view *view)
{
    const sf_search_config *c = &view->config;
    for (size_t row = 0; row < (size_t)view->n_migrants; row++) {
        const sf_migrant *m = &view->record->migrant[row];
        if (m->trial < 0 || m->trial >= c->trials || m->from < 0 || m->from >= c->islands || m->to < 0 ||
            m->to >= c->islands || m->index < 0 || m->index >= c->migrants)
            return wrong(h5, "/migration", "names a place outside the search in row", (int64_t)row);
        if (m->sent < 0 || m->sent > c->generations || m->taken <= m->sent)
            return wrong(h5, "/migration/sent", "and taken do not fit each other in row", (int64_t)row);
        if (m->fate < SF_MIGRANT_IN_FLIGHT || m->fate > SF_MIGRANT_REFUSED)
            return wrong(h5, "/migration/fate", "is none of 0, 1, 2 in row", (int64_t)row);
        if (!view->live && row > 0 && order(m - 1, m) >= 0)
            return wrong(h5, "/migration", "is not sorted at row", (int64_t)row);
    }
    return 0;
}

static int check_levels(sf_h5 *h5, const sf_view *view)
{
    for (size_t k = 0; k < (size_t)view->n_levels; k++) {
        const int32_t *star = view->level_star + k * 3;
        if (view->level_row[k] < 0 || view->level_row[k] >= view->n_sequences)
            return wrong(h5, "/levels/sequence", "is no row of /sequences in row", (int64_t)k);
        bool none = star[0] == -1 && star[1] == -1 && star[2] == -1;
        if (!none && (star[0] < 0 || star[1] < star[0] || star[2] < star[1]))
            return wrong(h5, "/levels/stars", "are not ascending in row", (int64_t)k);
    }
    return 0;
}

int sf_run_check_values(sf_h5 *h5, sf_view *view)
{
    int code = check_sequences(h5, view);
    if (!code)
        code = check_stats(h5, view);
    if (!code)
        code = check_migrants(h5, view);
    return code ? code : check_levels(h5, view);
}

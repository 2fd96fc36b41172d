/* The hosted islands, generation after generation: breed all, evaluate what is not known as one batch, take over.
 *
 * The obvious way evaluates an individual where it is bred. But all genomes of a length share their solutions, so a
 * batch of all islands' unknown genomes costs little more than one. A step keeps the old generation until the new one
 * is evaluated and all memory is at hand, so a step that fails has changed nothing. */
#include "core/search/archipelago.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/search/archipelago_state.h"
#include "core/search/operators.h"

static int no_memory(const sf_archipelago *a, sf_error *err)
{
    return sf_fail(err, SF_ENOMEM, "out of memory for %zu islands of %zu individuals with %zu known genomes",
                   a->n_islands, a->population, a->known.n);
}

static int allocate(sf_archipelago *a, sf_error *err)
{
    size_t individuals, bytes;
    if (__builtin_mul_overflow(a->n_islands, a->population, &individuals) ||
        __builtin_mul_overflow(individuals, a->length, &bytes))
        return no_memory(a, err);
    /* one more than needed: a rank without islands is no failure, and calloc of nothing may be NULL */
    a->genome = calloc(bytes + 1, 1);
    a->next = calloc(bytes + 1, 1);
    a->name = calloc(bytes + 1, 1);
    a->row = calloc(individuals + 1, sizeof *a->row);
    a->found = calloc(individuals + 1, sizeof *a->found);
    a->fitness = calloc(individuals + 1, sizeof *a->fitness);
    a->cumulative = calloc(a->population, sizeof *a->cumulative);
    a->order = calloc(a->population, sizeof *a->order);
    a->sorted = calloc(a->population, sizeof *a->sorted);
    a->outbox = __builtin_mul_overflow(a->n_islands, a->message_size, &bytes) ? NULL : calloc(bytes + 1, 1);
    a->inbox = calloc(a->n_islands + 1, sizeof *a->inbox);
    if (!a->genome || !a->next || !a->name || !a->row || !a->found || !a->fitness || !a->cumulative || !a->order ||
        !a->sorted || !a->outbox || !a->inbox || sf_known_init(&a->known, (int)a->length, (int)a->n_scores) ||
        sf_known_init(&a->pending, (int)a->length, (int)a->n_scores))
        return no_memory(a, err);
    return SF_OK;
}

size_t sf_archipelago_lookup(const sf_archipelago *a, const uint8_t *genome)
{
    for (size_t i = 0; i < a->length; i++) {
        if (genome[i] >= a->puzzle->n_letters)
            return SIZE_MAX;
    }
    uint8_t *name = a->name; /* scratch between generations */
    a->puzzle->kind->canonical(a->puzzle->instance, genome, name);
    return sf_known_find(&a->known, name);
}

static int copy_known(sf_archipelago *a, const sf_known *from)
{
    int code = sf_known_reserve(&a->known, from->n);
    for (size_t i = 0; i < from->n && !code; i++) {
        size_t row;
        bool is_new;
        code = sf_known_add(&a->known, from->genome + i * a->length, &from->first[i], &row, &is_new);
        if (code)
            break;
        memcpy(a->known.histogram + row * a->n_scores, from->histogram + i * a->n_scores,
               a->n_scores * sizeof *from->histogram);
        a->known.fitness[row] = from->fitness[i];
        a->known.best_score[row] = from->best_score[i];
        a->known.exact[row] = from->exact[i];
    }
    sf_known_clear_changed(&a->known);
    return code;
}

/* The islands as they were after the record's generation. */
static int restore(sf_archipelago *a, const sf_record *record, sf_error *err)
{
    if (record->length != (int)a->length || record->n_scores != (int)a->n_scores ||
        record->config.population != a->config->population || record->config.trials != a->config->trials ||
        record->config.islands != a->config->islands)
        return sf_fail(err, SF_EMISMATCH, "the record to go on from is of another search");
    if (copy_known(a, &record->known))
        return no_memory(a, err);
    const size_t first = (size_t)a->options.first_island * a->population;
    if (a->n_islands)
        memcpy(a->genome, record->population + first * a->length, a->n_islands * a->population * a->length);
    for (size_t i = 0; i < a->n_islands * a->population; i++) {
        a->row[i] = sf_archipelago_lookup(a, a->genome + i * a->length);
        if (a->row[i] == SIZE_MAX)
            return sf_fail(err, SF_EFORMAT, "individual %zu of the populations to go on from is not a known sequence",
                           first + i);
        a->fitness[i] = a->known.fitness[a->row[i]];
        a->best = a->fitness[i] > a->best ? a->fitness[i] : a->best;
    }
    a->generation = a->complete = a->packed = record->generation;
    return sf_migration_restore(a, record, err);
}

int sf_archipelago_open(sf_archipelago **archipelago, const sf_puzzle *puzzle, const sf_search_config *config,
                        const sf_archipelago_options *options, const sf_record *record, sf_error *err)
{
    *archipelago = NULL;
    int code = sf_search_config_check(config, err);
    if (code)
        return code;
    if (options->first_island < 0 || options->last_island < options->first_island ||
        options->last_island > (int64_t)config->trials * config->islands)
        return sf_fail(err, SF_EINPUT, "islands %" PRId64 " to %" PRId64 " are not of this search",
                       options->first_island, options->last_island);
    sf_archipelago *a = calloc(1, sizeof *a);
    if (!a)
        return sf_fail(err, SF_ENOMEM, "out of memory for an archipelago");
    a->puzzle = puzzle;
    a->config = config;
    a->options = *options;
    a->n_islands = (size_t)(options->last_island - options->first_island);
    a->population = (size_t)config->population;
    a->length = (size_t)puzzle->length;
    a->n_scores = (size_t)puzzle->n_scores;
    a->generation = a->complete = a->packed = -1;
    a->message_size = sf_migration_message_size(config, a->length, a->n_scores);
    a->stats.width = sizeof(sf_generation_stats);
    a->kept.width = a->population * a->length;
    a->migrants.width = sf_packet_migrant_width(puzzle->length);
    code = allocate(a, err);
    if (!code && record && record->generation >= 0)
        code = restore(a, record, err);
    if (code)
        sf_archipelago_close(a);
    else
        *archipelago = a;
    return code;
}

void sf_archipelago_close(sf_archipelago *archipelago)
{
    sf_archipelago *a = archipelago;
    if (!a)
        return;
    sf_migration_free_inbox(a);
    sf_known_free(&a->known);
    sf_known_free(&a->pending);
    void *const all[] = {a->genome,     a->next,           a->name,   a->row,    a->found, a->fitness,
                         a->cumulative, a->order,          a->sorted, a->outbox, a->inbox, a->stats.bytes,
                         a->kept.bytes, a->migrants.bytes, a};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

int64_t sf_archipelago_generation(const sf_archipelago *archipelago)
{
    return archipelago->complete;
}

static sf_place place_of(const sf_archipelago *a, size_t island, size_t individual)
{
    const int64_t number = a->options.first_island + (int64_t)island;
    return (sf_place){.trial = (int32_t)(number / a->config->islands),
                      .generation = a->generation + 1,
                      .island = (int32_t)(number % a->config->islands),
                      .individual = (int32_t)individual};
}

static void breed_all(sf_archipelago *a)
{
    for (size_t k = 0; k < a->n_islands; k++) {
        const sf_place place = place_of(a, k, 0);
        const size_t at = sf_archipelago_at(a, k, 0);
        if (a->generation >= 0) {
            sf_breed(a->config, place.trial, place.island, place.generation, (int)a->length, a->puzzle->n_letters,
                     a->genome + at, a->fitness + k * a->population, a->next + at, a->cumulative, a->order);
            continue;
        }
        for (size_t i = 0; i < a->population; i++)
            sf_initial_genome(a->config, place.trial, place.island, (int32_t)i, (int)a->length, a->puzzle->n_letters,
                              a->next + sf_archipelago_at(a, k, i));
    }
}

/* Names all individuals bred and collects those not known, each once. */
static int collect_unknown(sf_archipelago *a)
{
    sf_known_clear(&a->pending);
    for (size_t k = 0; k < a->n_islands; k++) {
        for (size_t i = 0; i < a->population; i++) {
            const size_t at = sf_archipelago_at(a, k, i);
            size_t row;
            bool is_new;
            a->puzzle->kind->canonical(a->puzzle->instance, a->next + at, a->name + at);
            size_t *found = &a->found[k * a->population + i];
            *found = sf_known_find(&a->known, a->name + at);
            if (*found != SIZE_MAX)
                continue;
            const sf_place place = place_of(a, k, i);
            int code = sf_known_add(&a->pending, a->name + at, &place, &row, &is_new);
            if (code)
                return code;
        }
    }
    return SF_OK;
}

static int evaluate_unknown(sf_archipelago *a, sf_error *err)
{
    if (a->options.evaluate)
        return a->options.evaluate(a->options.context, a->pending.n, a->pending.genome, a->pending.histogram, err);
    if (a->pending.n == 0)
        return SF_OK;
    return sf_puzzle_evaluate(a->puzzle, a->pending.n, a->pending.genome, a->options.n_threads, a->pending.histogram,
                              err);
}

/* All memory that taking the generation over, and its migrants in, will need for the logs. */
static int reserve(sf_archipelago *a)
{
    const size_t most_migrants = a->message_size ? 2 * a->n_islands * (size_t)a->config->migrants : 0;
    int code = sf_known_reserve(&a->known, a->pending.n);
    if (!code)
        code = sf_rows_reserve(&a->stats, a->n_islands);
    if (!code && a->config->keep_populations)
        code = sf_rows_reserve(&a->kept, a->n_islands);
    if (!code)
        code = sf_rows_reserve(&a->migrants, most_migrants);
    return code;
}

/* The row of an individual bred; it and its histogram are entered where they were not known. Room was made. */
static size_t enter(sf_archipelago *a, size_t found, const uint8_t *name, const sf_place *place)
{
    size_t row = found;
    bool is_new = false;
    if (found != SIZE_MAX)
        sf_known_ask(&a->known, row, place);
    else
        (void)sf_known_add(&a->known, name, place, &row, &is_new);
    if (is_new)
        sf_known_fill(&a->known, row, a->pending.histogram + sf_known_find(&a->pending, name) * a->n_scores,
                      a->puzzle->min_score);
    return row;
}

/* The bred generation becomes the present one. Nothing here can fail. */
static void take_over(sf_archipelago *a)
{
    for (size_t k = 0; k < a->n_islands; k++) {
        for (size_t i = 0; i < a->population; i++) {
            const sf_place place = place_of(a, k, i);
            const size_t individual = k * a->population + i;
            const size_t row = enter(a, a->found[individual], a->name + sf_archipelago_at(a, k, i), &place);
            a->row[individual] = row;
            a->fitness[individual] = a->known.fitness[row];
        }
    }
    uint8_t *genome = a->genome;
    a->genome = a->next;
    a->next = genome;
    a->evaluated += a->pending.n;
    a->generation++;
}

int sf_archipelago_step(sf_archipelago *archipelago, sf_error *err)
{
    sf_archipelago *a = archipelago;
    if (a->complete != a->generation)
        return sf_fail(err, SF_ECHECK, "generation %" PRId64 " was not completed", a->generation);
    breed_all(a);
    if (collect_unknown(a))
        return no_memory(a, err);
    int code = evaluate_unknown(a, err);
    if (code)
        return code;
    if (reserve(a))
        return no_memory(a, err);
    take_over(a);
    if (sf_archipelago_sends_at(a->config, a->generation))
        sf_migration_fill_outbox(a);
    return SF_OK;
}

int sf_archipelago_pack(sf_archipelago *archipelago, bool with_populations, size_t *n_bytes, uint8_t **packet,
                        sf_error *err)
{
    sf_archipelago *a = archipelago;
    sf_packet_header h = {.magic = SF_PACKET_MAGIC,
                          .length = (int64_t)a->length,
                          .n_scores = (int64_t)a->n_scores,
                          .population = (int64_t)a->population,
                          .first_island = a->options.first_island,
                          .last_island = a->options.last_island,
                          .first_generation = a->packed + 1,
                          .last_generation = a->complete + 1,
                          .has_kept = a->config->keep_populations,
                          .has_populations = with_populations,
                          .n_migrants = (int64_t)a->migrants.n};
    if (a->complete != a->generation)
        return sf_fail(err, SF_ECHECK, "generation %" PRId64 " was not completed", a->generation);
    for (size_t row = 0; row < a->known.n; row++)
        h.n_known += a->known.changed[row];
    sf_packet_layout layout;
    uint8_t *bytes = sf_packet_layout_of(&h, &layout) ? NULL : malloc(layout.end);
    if (!bytes)
        return no_memory(a, err);

    memcpy(bytes, &h, sizeof h);
    const struct {
        sf_rows *rows;
        size_t at;
    } logs[] = {{&a->stats, layout.stats}, {&a->kept, layout.kept}, {&a->migrants, layout.migrants}};
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        if (logs[i].rows->n)
            memcpy(bytes + logs[i].at, logs[i].rows->bytes, logs[i].rows->n * logs[i].rows->width);
        logs[i].rows->n = 0;
    }
    if (with_populations && a->n_islands)
        memcpy(bytes + layout.populations, a->genome, a->n_islands * a->population * a->length);
    uint8_t *at = bytes + layout.known;
    for (size_t row = 0; row < a->known.n; row++) {
        if (!a->known.changed[row])
            continue;
        sf_packet_write_known(at, &a->known, row);
        at += sf_packet_known_width(h.length, h.n_scores);
    }
    sf_known_clear_changed(&a->known);
    a->packed = a->complete;
    *n_bytes = layout.end;
    *packet = bytes;
    return SF_OK;
}

int32_t sf_archipelago_best(const sf_archipelago *archipelago)
{
    return archipelago->best;
}

uint64_t sf_archipelago_evaluated(const sf_archipelago *archipelago)
{
    return archipelago->evaluated;
}

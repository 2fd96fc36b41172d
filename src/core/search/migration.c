/* Migration: copies of the best go to the next island of the ring and are taken in some epochs later.
 *
 * The obvious way, an exchange between all islands at every epoch, makes everybody wait for the slowest. Here a message
 * is sent at epoch e and needed only at epoch e + delay, and what is taken in depends on these numbers alone, never on
 * when it arrived. A message carries the migrants' histograms, so that the receiving rank need not evaluate them again.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/search/archipelago_state.h"
#include "core/search/operators.h"

/* The message: int64 source, destination, sent; then a row for each migrant: its genome and what is known of its
 * puzzle. */
enum { HEADER = 3 * sizeof(int64_t) };

static bool migrates(const sf_search_config *config)
{
    return config->islands > 1 && config->migration_interval > 0 && config->migrants > 0;
}

static size_t row_width(size_t length, size_t n_scores)
{
    return length + sf_packet_known_width((int64_t)length, (int64_t)n_scores);
}

size_t sf_migration_message_size(const sf_search_config *config, size_t length, size_t n_scores)
{
    return migrates(config) ? HEADER + (size_t)config->migrants * row_width(length, n_scores) : 0;
}

size_t sf_archipelago_message_size(const sf_archipelago *archipelago)
{
    return archipelago->message_size;
}

int64_t sf_archipelago_destination(const sf_search_config *config, int64_t island)
{
    int64_t within = island % config->islands;
    return island - within + (within + 1) % config->islands;
}

int64_t sf_archipelago_source(const sf_search_config *config, int64_t island)
{
    int64_t within = island % config->islands;
    return island - within + (within + config->islands - 1) % config->islands;
}

bool sf_archipelago_sends_at(const sf_search_config *config, int64_t generation)
{
    return migrates(config) && generation > 0 && generation % config->migration_interval == 0;
}

/* The generation whose messages are taken in at `generation`, or 0. */
static int64_t sent_generation(const sf_search_config *config, int64_t generation)
{
    if (!sf_archipelago_sends_at(config, generation))
        return 0;
    int64_t sent = generation - config->migration_delay * config->migration_interval;
    return sent > 0 ? sent : 0;
}

static bool hosts(const sf_archipelago *a, int64_t island)
{
    return a->options.first_island <= island && island < a->options.last_island;
}

static sf_migrant describe(const sf_search_config *config, int64_t source, int64_t sent, int32_t index)
{
    return (sf_migrant){.trial = (int32_t)(source / config->islands),
                        .from = (int32_t)(source % config->islands),
                        .to = (int32_t)(sf_archipelago_destination(config, source) % config->islands),
                        .index = index,
                        .sent = sent,
                        .taken = sent + config->migration_delay * config->migration_interval,
                        .fate = SF_MIGRANT_IN_FLIGHT};
}

static void write_header(uint8_t *message, int64_t source, int64_t destination, int64_t sent)
{
    const int64_t header[3] = {source, destination, sent};
    memcpy(message, header, HEADER);
}

void sf_migration_fill_outbox(sf_archipelago *a)
{
    const size_t width = row_width(a->length, a->n_scores);
    for (size_t k = 0; k < a->n_islands; k++) {
        const int64_t island = a->options.first_island + (int64_t)k;
        uint8_t *message = a->outbox + k * a->message_size;
        write_header(message, island, sf_archipelago_destination(a->config, island), a->generation);
        sf_rank(a->config->population, a->fitness + k * a->population, a->config->migrants, a->order);
        for (int32_t m = 0; m < a->config->migrants; m++) {
            const size_t individual = (size_t)a->order[m];
            const uint8_t *genome = a->genome + sf_archipelago_at(a, k, individual);
            uint8_t *row = message + HEADER + (size_t)m * width;
            memcpy(row, genome, a->length);
            sf_packet_write_known(row + a->length, &a->known, a->row[k * a->population + individual]);
            sf_migrant migrant = describe(a->config, island, a->generation, m);
            sf_packet_write_migrant(sf_rows_push(&a->migrants), &migrant, genome, (int64_t)a->length);
        }
    }
}

bool sf_archipelago_emigrants(const sf_archipelago *archipelago, int64_t island, int64_t *destination, size_t *n_bytes,
                              const uint8_t **message)
{
    if (!hosts(archipelago, island) || !sf_archipelago_sends_at(archipelago->config, archipelago->generation))
        return false;
    *destination = sf_archipelago_destination(archipelago->config, island);
    *n_bytes = archipelago->message_size;
    *message = archipelago->outbox + (size_t)(island - archipelago->options.first_island) * archipelago->message_size;
    return true;
}

/* The link that points to the letter of that generation, or to the end of the list. */
static sf_letter **find_letter(sf_archipelago *a, size_t k, int64_t sent)
{
    sf_letter **link = &a->inbox[k];
    while (*link && (*link)->sent != sent)
        link = &(*link)->next;
    return link;
}

bool sf_archipelago_expects(const sf_archipelago *archipelago, int64_t island, int64_t *source, int64_t *sent)
{
    int64_t generation = sent_generation(archipelago->config, archipelago->generation);
    if (!hosts(archipelago, island) || generation == 0 || archipelago->complete == archipelago->generation)
        return false;
    for (const sf_letter *l = archipelago->inbox[island - archipelago->options.first_island]; l; l = l->next) {
        if (l->sent == generation)
            return false;
    }
    *source = sf_archipelago_source(archipelago->config, island);
    *sent = generation;
    return true;
}

static sf_letter *new_letter(const sf_archipelago *a, int64_t sent)
{
    sf_letter *letter = malloc(sizeof *letter + a->message_size);
    if (letter)
        *letter = (sf_letter){.sent = sent};
    return letter;
}

int sf_archipelago_deliver(sf_archipelago *archipelago, int64_t island, int64_t sent, size_t n_bytes,
                           const uint8_t *message, sf_error *err)
{
    sf_archipelago *a = archipelago;
    int64_t header[3] = {-1, -1, -1};
    if (n_bytes == a->message_size && n_bytes >= HEADER)
        memcpy(header, message, HEADER);
    if (!hosts(a, island) || header[0] != sf_archipelago_source(a->config, island) || header[1] != island ||
        header[2] != sent)
        return sf_fail(err, SF_ECHECK,
                       "migrants for island %" PRId64 " of generation %" PRId64
                       " are not what was expected: got island %" PRId64 ", generation %" PRId64,
                       island, sent, header[1], header[2]);
    sf_letter **link = find_letter(a, (size_t)(island - a->options.first_island), sent);
    if (*link)
        return SF_OK; /* it is here already */
    sf_letter *letter = new_letter(a, sent);
    if (!letter)
        return sf_fail(err, SF_ENOMEM, "out of memory for migrants of island %" PRId64, island);
    memcpy(letter->bytes, message, n_bytes);
    *link = letter;
    return SF_OK;
}

void sf_migration_free_inbox(sf_archipelago *a)
{
    for (size_t k = 0; a->inbox && k < a->n_islands; k++) {
        for (sf_letter *letter = a->inbox[k], *next; letter; letter = next) {
            next = letter->next;
            free(letter);
        }
        a->inbox[k] = NULL;
    }
}

int sf_migration_restore(sf_archipelago *a, const sf_record *record, sf_error *err)
{
    const size_t width = row_width(a->length, a->n_scores);
    for (size_t i = 0; a->message_size && i < record->n_migrants; i++) {
        const sf_migrant *m = &record->migrant[i];
        const int64_t destination = (int64_t)m->trial * a->config->islands + m->to;
        if (m->taken <= record->generation || !hosts(a, destination))
            continue;
        const uint8_t *genome = record->migrant_genome + i * a->length;
        const size_t known = sf_archipelago_lookup(a, genome);
        if (known == SIZE_MAX || m->index < 0 || m->index >= a->config->migrants)
            return sf_fail(err, SF_EFORMAT, "the run's migrant %zu in flight is damaged: its sequence is not known", i);
        const size_t k = (size_t)(destination - a->options.first_island);
        sf_letter **link = find_letter(a, k, m->sent);
        if (!*link) {
            *link = new_letter(a, m->sent);
            if (!*link)
                return sf_fail(err, SF_ENOMEM, "out of memory for migrants in flight");
            memset((*link)->bytes, UINT8_MAX, a->message_size); /* no genome: a missing one is seen below */
            write_header((*link)->bytes, (int64_t)m->trial * a->config->islands + m->from, destination, m->sent);
        }
        uint8_t *row = (*link)->bytes + HEADER + (size_t)m->index * width;
        memcpy(row, genome, a->length);
        sf_packet_write_known(row + a->length, &a->known, known);
    }
    for (size_t k = 0; k < a->n_islands; k++) {
        for (const sf_letter *l = a->inbox[k]; l; l = l->next) {
            for (size_t m = 0; m < (size_t)a->config->migrants; m++) {
                if (l->bytes[HEADER + m * width] == UINT8_MAX)
                    return sf_fail(err, SF_EFORMAT,
                                   "the run's migrants in flight of generation %" PRId64 " are not complete", l->sent);
            }
        }
    }
    return SF_OK;
}

/* The known row of a migrant's puzzle, entered with what its message says. Room was made. It is not marked as changed:
 * its source reports it. */
static size_t learn(sf_archipelago *a, const uint8_t *bytes)
{
    sf_packet_known_row from;
    size_t row;
    bool is_new;
    sf_packet_read_known(bytes, (int64_t)a->length, (int64_t)a->n_scores, &from);
    if (sf_known_add(&a->known, from.genome, &from.first, &row, &is_new) || !is_new)
        return row;
    memcpy(a->known.histogram + row * a->n_scores, from.histogram, a->n_scores * sizeof(uint64_t));
    a->known.fitness[row] = from.fitness;
    a->known.best_score[row] = from.best_score;
    a->known.exact[row] = from.exact;
    a->known.changed[row] = 0;
    return row;
}

/* Takes one migrant into hosted island k, or refuses it. */
static int32_t settle(sf_archipelago *a, size_t k, const uint8_t *genome, size_t row)
{
    size_t *rows = a->row + k * a->population;
    int32_t *fitness = a->fitness + k * a->population;
    for (size_t i = 0; i < a->population; i++) {
        if (rows[i] == row)
            return SF_MIGRANT_REFUSED;
    }
    const int32_t worst = sf_rank_worst(a->config->population, fitness);
    if (a->known.fitness[row] < fitness[worst])
        return SF_MIGRANT_REFUSED;
    memcpy(a->genome + sf_archipelago_at(a, k, (size_t)worst), genome, a->length);
    rows[worst] = row;
    fitness[worst] = a->known.fitness[row];
    return SF_MIGRANT_TAKEN;
}

static void take_letter(sf_archipelago *a, size_t k, const sf_letter *letter)
{
    const size_t width = row_width(a->length, a->n_scores);
    const int64_t island = a->options.first_island + (int64_t)k;
    for (int32_t m = 0; m < a->config->migrants; m++) {
        const uint8_t *genome = letter->bytes + HEADER + (size_t)m * width;
        sf_migrant migrant = describe(a->config, sf_archipelago_source(a->config, island), letter->sent, m);
        migrant.fate = settle(a, k, genome, learn(a, genome + a->length));
        sf_packet_write_migrant(sf_rows_push(&a->migrants), &migrant, genome, (int64_t)a->length);
    }
}

static int by_number(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

static void record_stats(sf_archipelago *a, size_t k)
{
    const int32_t *fitness = a->fitness + k * a->population;
    sf_generation_stats stats = {.best = fitness[0], .worst = fitness[0]};
    for (size_t i = 0; i < a->population; i++) {
        if (fitness[i] > stats.best) {
            stats.best = fitness[i];
            stats.n_at_best = 0;
        }
        stats.n_at_best += fitness[i] == stats.best;
        stats.worst = fitness[i] < stats.worst ? fitness[i] : stats.worst;
        stats.sum += fitness[i];
    }
    memcpy(a->sorted, a->row + k * a->population, a->population * sizeof *a->sorted);
    qsort(a->sorted, a->population, sizeof *a->sorted, by_number);
    for (size_t i = 0; i < a->population; i++)
        stats.n_distinct += i == 0 || a->sorted[i] != a->sorted[i - 1];
    a->best = stats.best > a->best ? stats.best : a->best;
    memcpy(sf_rows_push(&a->stats), &stats, sizeof stats);
}

int sf_archipelago_immigrate(sf_archipelago *archipelago, sf_error *err)
{
    sf_archipelago *a = archipelago;
    const int64_t sent = sent_generation(a->config, a->generation);
    if (a->complete == a->generation)
        return SF_OK;
    for (size_t k = 0; sent && k < a->n_islands; k++) {
        if (!*find_letter(a, k, sent))
            return sf_fail(err, SF_ECHECK,
                           "migrants of generation %" PRId64 " for island %" PRId64 " were not delivered", sent,
                           a->options.first_island + (int64_t)k);
    }
    if (sent && sf_known_reserve(&a->known, a->n_islands * (size_t)a->config->migrants))
        return sf_fail(err, SF_ENOMEM, "out of memory for migrants of generation %" PRId64, sent);
    for (size_t k = 0; k < a->n_islands; k++) {
        if (sent) {
            sf_letter **link = find_letter(a, k, sent), *letter = *link;
            take_letter(a, k, letter);
            *link = letter->next;
            free(letter);
        }
        record_stats(a, k);
        if (a->config->keep_populations)
            memcpy(sf_rows_push(&a->kept), a->genome + sf_archipelago_at(a, k, 0), a->population * a->length);
    }
    a->complete = a->generation;
    return SF_OK;
}

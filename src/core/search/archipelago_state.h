/* What an archipelago is made of; shared by archipelago.c (generations) and migration.c (messages), nobody else. */
#ifndef SF_CORE_SEARCH_ARCHIPELAGO_STATE_H
#define SF_CORE_SEARCH_ARCHIPELAGO_STATE_H

#include "core/search/archipelago.h"
#include "core/search/packet.h"

/* A message that waits for the generation it is taken in. */
typedef struct sf_letter {
    struct sf_letter *next;
    int64_t sent;
    uint8_t bytes[];
} sf_letter;

struct sf_archipelago {
    const sf_puzzle *puzzle;
    const sf_search_config *config;
    sf_archipelago_options options;
    size_t n_islands, population, length, n_scores;

    int64_t generation; /* the last one bred */
    int64_t complete;   /* the last one whose migrants were taken in: generation, or one less */
    int64_t packed;     /* the last one in a packet */

    sf_known known;   /* everything this rank was asked for or was sent */
    sf_known pending; /* the unknown genomes of the generation being bred */
    uint8_t *genome;  /* [n_islands][population][length] */
    size_t *row;      /* [n_islands][population] in known */
    int32_t *fitness; /* [n_islands][population] */
    uint8_t *next;    /* the generation being bred, like genome */
    uint8_t *name;    /* canonical genomes of the generation being bred, like genome */
    size_t *found;    /* their rows in known, SIZE_MAX where it has none, like row */

    uint64_t *cumulative; /* scratch, [population] */
    int32_t *order;       /* scratch, [population] */
    size_t *sorted;       /* scratch, [population] */

    size_t message_size; /* 0: nothing migrates */
    uint8_t *outbox;     /* [n_islands][message_size] */
    sf_letter **inbox;   /* [n_islands] lists */

    sf_rows stats, kept, migrants; /* since the last packet, in the packet's form */
    int32_t best;
    uint64_t evaluated;
};

/* Where individual i of hosted island k is in an array like `genome`. */
static inline size_t sf_archipelago_at(const sf_archipelago *a, size_t island, size_t individual)
{
    return (island * a->population + individual) * a->length;
}

/* Bytes of a message: a header and `migrants` rows. 0 when nothing migrates. */
size_t sf_migration_message_size(const sf_search_config *config, size_t length, size_t n_scores);

/* Writes the messages of all hosted islands for the generation just bred; logs them. Room in `migrants` was made. */
void sf_migration_fill_outbox(sf_archipelago *archipelago);

/* Puts the record's migrants in flight to hosted islands into the inboxes. */
int sf_migration_restore(sf_archipelago *archipelago, const sf_record *record, sf_error *err);

void sf_migration_free_inbox(sf_archipelago *archipelago);

/* Row of a genome in the known store, SIZE_MAX when it is no genome of this puzzle or not known. */
size_t sf_archipelago_lookup(const sf_archipelago *archipelago, const uint8_t *genome);

#endif

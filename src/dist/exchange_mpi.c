/* Migrants between ranks, by MPI_Isend and MPI_Irecv. Only the links that cross ranks matter: as ranks host contiguous
 * ranges of islands and every trial is a ring, at most two lead into a rank (to its first island, and to the first
 * island of its last trial) and at most two out of it. Memory for a block's messages is taken once, at the start: a
 * rank that cannot post a receive in mid-run would leave its neighbour hanging. */
#include "dist/exchange_mpi.h"

#include <stdlib.h>
#include <string.h>

enum { LINKS_MAX = 2, EPOCHS_MAX = 256, MEMORY_BYTES = 4 << 20, TAGS = 16384 };

typedef struct link {
    int64_t island; /* the one here */
    int rank;       /* of the other end */
} link;

typedef struct parcel {
    MPI_Request request;
    uint8_t *bytes;
    bool done, empty; /* of a receive */
} parcel;

struct sf_exchange {
    const sf_comm *comm;
    const sf_search_config *config;
    sf_archipelago *archipelago;
    MPI_Comm world; /* of its own, so that no other message is mistaken for a migrant */
    int64_t first_island, last_island;
    size_t message_size;
    int n_in, n_out;
    link in[LINKS_MAX], out[LINKS_MAX];
    int64_t epochs_max, first_epoch, n_epochs, n_sent; /* of the block; sent on every link out */
    parcel *receive, *send;                            /* [LINKS_MAX][epochs_max] */
    uint8_t *memory;
    bool given_up;
};

void sf_exchange_range(const sf_search_config *config, int rank, int size, int64_t *first, int64_t *last)
{
    const int64_t islands = (int64_t)config->trials * config->islands;
    *first = islands * rank / size;
    *last = islands * (rank + 1) / size;
}

static int host_of(const sf_exchange *x, int64_t island)
{
    const int64_t islands = (int64_t)x->config->trials * x->config->islands;
    return (int)(((island + 1) * x->comm->size - 1) / islands);
}

static bool is_here(const sf_exchange *x, int64_t island)
{
    return x->first_island <= island && island < x->last_island;
}

static void find_links(sf_exchange *x)
{
    for (int64_t island = x->first_island; x->message_size && island < x->last_island; island++) {
        const int64_t from = sf_archipelago_source(x->config, island);
        const int64_t to = sf_archipelago_destination(x->config, island);
        if (!is_here(x, from))
            x->in[x->n_in++] = (link){island, host_of(x, from)};
        if (!is_here(x, to))
            x->out[x->n_out++] = (link){island, host_of(x, to)};
    }
}

static int take_memory(sf_exchange *x)
{
    if (!x->message_size)
        return SF_OK;
    const size_t fit = MEMORY_BYTES / x->message_size;
    x->epochs_max = fit < 1 ? 1 : fit > EPOCHS_MAX ? EPOCHS_MAX : (int64_t)fit;
    const size_t n = LINKS_MAX * (size_t)x->epochs_max;
    size_t bytes;
    if (__builtin_mul_overflow(2 * n, x->message_size, &bytes) || x->message_size > INT32_MAX)
        return SF_ENOMEM;
    x->receive = calloc(n, sizeof *x->receive);
    x->send = calloc(n, sizeof *x->send);
    x->memory = malloc(bytes);
    if (!x->receive || !x->send || !x->memory)
        return SF_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        x->receive[i].bytes = x->memory + i * x->message_size;
        x->send[i].bytes = x->memory + (n + i) * x->message_size;
    }
    return SF_OK;
}

int sf_exchange_open(sf_exchange **exchange, const sf_comm *comm, const sf_search_config *config,
                     sf_archipelago *archipelago, sf_error *err)
{
    sf_exchange *x = calloc(1, sizeof *x);
    int code = SF_ENOMEM;
    if (x) {
        *x = (sf_exchange){.comm = comm,
                           .config = config,
                           .archipelago = archipelago,
                           .world = MPI_COMM_NULL,
                           .message_size = sf_archipelago_message_size(archipelago)};
        sf_exchange_range(config, comm->rank, comm->size, &x->first_island, &x->last_island);
        find_links(x);
        code = take_memory(x);
    }
    if (code)
        sf_fail(err, code, "out of memory for the messages of migrants: lower --migrants");
    code = sf_comm_agree(comm, code, err);
    if (code) {
        sf_exchange_close(x);
        x = NULL;
    } else if (comm->mpi) {
        MPI_Comm_dup(MPI_COMM_WORLD, &x->world);
    }
    *exchange = x;
    return code;
}

void sf_exchange_close(sf_exchange *exchange)
{
    if (!exchange)
        return;
    if (exchange->world != MPI_COMM_NULL)
        MPI_Comm_free(&exchange->world);
    free(exchange->receive);
    free(exchange->send);
    free(exchange->memory);
    free(exchange);
}

int64_t sf_exchange_limit(const sf_exchange *exchange, int64_t generation)
{
    const sf_exchange *x = exchange;
    if (!x->message_size)
        return INT64_MAX;
    const int64_t epoch = generation < 0 ? 0 : generation / x->config->migration_interval;
    return (epoch + x->epochs_max + 1) * x->config->migration_interval - 1;
}

static parcel *parcel_of(const sf_exchange *x, parcel *parcels, int l, int64_t epoch)
{
    return &parcels[l * x->epochs_max + epoch - x->first_epoch];
}

static int tag_of(int64_t epoch)
{
    return (int)(epoch % TAGS);
}

void sf_exchange_begin(sf_exchange *exchange, int64_t from, int64_t to)
{
    sf_exchange *x = exchange;
    if (!x->message_size)
        return;
    const int64_t interval = x->config->migration_interval, before = from < 0 ? 0 : from / interval;
    x->first_epoch = before + 1;
    x->n_epochs = to / interval - before;
    x->n_sent = 0;
    x->given_up = false;
    for (int l = 0; l < x->n_in; l++) {
        for (int64_t e = 0; e < x->n_epochs; e++) {
            parcel *p = parcel_of(x, x->receive, l, x->first_epoch + e);
            p->done = p->empty = false;
            MPI_Irecv(p->bytes, (int)x->message_size, MPI_BYTE, x->in[l].rank, tag_of(x->first_epoch + e), x->world,
                      &p->request);
        }
    }
}

int sf_exchange_send(sf_exchange *exchange, int64_t generation, sf_error *err)
{
    sf_exchange *x = exchange;
    const uint8_t *message;
    int64_t destination;
    size_t n_bytes;
    int code = SF_OK;
    if (!x->message_size || !sf_archipelago_sends_at(x->config, generation))
        return SF_OK;
    const int64_t epoch = generation / x->config->migration_interval;
    for (int l = 0; l < x->n_out; l++) {
        parcel *p = parcel_of(x, x->send, l, epoch);
        (void)sf_archipelago_emigrants(x->archipelago, x->out[l].island, &destination, &n_bytes, &message);
        memcpy(p->bytes, message, n_bytes);
        MPI_Isend(p->bytes, (int)n_bytes, MPI_BYTE, x->out[l].rank, tag_of(epoch), x->world, &p->request);
    }
    x->n_sent++;
    for (int64_t island = x->first_island; island < x->last_island && !code; island++) {
        (void)sf_archipelago_emigrants(x->archipelago, island, &destination, &n_bytes, &message);
        if (is_here(x, destination))
            code = sf_archipelago_deliver(x->archipelago, destination, generation, n_bytes, message, err);
    }
    return code;
}

/* Waits for a receive and hands it over, once. */
static int take_parcel(sf_exchange *x, int l, int64_t epoch, bool hand_over, sf_deadline *deadline, sf_error *err)
{
    parcel *p = parcel_of(x, x->receive, l, epoch);
    int code = SF_OK;
    if (p->done)
        return SF_OK;
    MPI_Status status;
    int n_bytes;
    sf_wait(&p->request, &status, deadline);
    MPI_Get_count(&status, MPI_BYTE, &n_bytes);
    p->done = true;
    p->empty = n_bytes == 0;
    if (hand_over && !p->empty)
        code = sf_archipelago_deliver(x->archipelago, x->in[l].island, epoch * x->config->migration_interval,
                                      (size_t)n_bytes, p->bytes, err);
    return code;
}

int sf_exchange_receive(sf_exchange *exchange, bool *given_up, sf_error *err)
{
    sf_exchange *x = exchange;
    *given_up = false;
    for (int l = 0; l < x->n_in; l++) {
        int64_t source, sent;
        if (!sf_archipelago_expects(x->archipelago, x->in[l].island, &source, &sent))
            continue;
        const int64_t epoch = sent / x->config->migration_interval;
        int code = take_parcel(x, l, epoch, true, NULL, err);
        if (code)
            return code;
        if (parcel_of(x, x->receive, l, epoch)->empty)
            *given_up = true;
    }
    return SF_OK;
}

void sf_exchange_give_up(sf_exchange *exchange)
{
    sf_exchange *x = exchange;
    x->given_up = true;
    for (; x->n_sent < x->n_epochs; x->n_sent++) {
        for (int l = 0; l < x->n_out; l++) {
            const int64_t epoch = x->first_epoch + x->n_sent;
            parcel *p = parcel_of(x, x->send, l, epoch);
            MPI_Isend(p->bytes, 0, MPI_BYTE, x->out[l].rank, tag_of(epoch), x->world, &p->request);
        }
    }
}

int sf_exchange_end(sf_exchange *exchange, sf_deadline *deadline, sf_error *err)
{
    sf_exchange *x = exchange;
    int code = SF_OK;
    for (int64_t epoch = x->first_epoch; epoch < x->first_epoch + x->n_epochs; epoch++) {
        for (int l = 0; l < x->n_in; l++) {
            int one = take_parcel(x, l, epoch, !x->given_up && !code, deadline, err);
            code = code ? code : one;
        }
        for (int l = 0; l < x->n_out; l++)
            sf_wait(&parcel_of(x, x->send, l, epoch)->request, NULL, deadline);
    }
    x->n_epochs = 0;
    return code;
}

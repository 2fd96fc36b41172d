/* The ranks' parts of a census are brought to rank 0 in slabs of a fixed size, so that what is on its way takes little
 * memory whatever the number of ranks. */
#include <stdlib.h>
#include <string.h>

#include "app/census.h"

enum { SLABS_BYTES = 64 << 20, SLAB_LEAST = 4096, SLAB_MOST = 1 << 20 };

typedef struct slabs {
    size_t room;     /* bytes that a rank sends at a time */
    uint8_t *all;    /* rank 0: [ranks][room] */
    uint64_t *sizes; /* rank 0: what each rank sent */
} slabs;

uint64_t sf_census_slabs_bytes(const sf_app *app)
{
    const uint64_t most = (uint64_t)app->comm.size * SLAB_MOST;
    return most < SLABS_BYTES ? most : SLABS_BYTES;
}

static void close_slabs(slabs *s)
{
    free(s->all);
    free(s->sizes);
}

/* Collective. */
static int open_slabs(const sf_app *app, slabs *s, sf_error *err)
{
    size_t n = (size_t)app->comm.size, room = SLABS_BYTES / n;
    int code = 0;
    *s = (slabs){.room = room < SLAB_LEAST ? SLAB_LEAST : room > SLAB_MOST ? SLAB_MOST : room};
    if (app->comm.rank == 0) {
        s->all = malloc(n * s->room);
        s->sizes = calloc(n, sizeof *s->sizes);
        if (!s->all || !s->sizes)
            code = sf_fail(err, SF_ENOMEM, "out of memory for what %zu ranks send", n);
    }
    return sf_comm_agree(&app->comm, code, err);
}

/* Puts what another rank has of the same n bytes to one's own. */
typedef void put_together(size_t n, void *bytes, const void *other);

static void put_bytes(size_t n, void *bytes, const void *other)
{
    uint8_t *to = bytes;
    const uint8_t *from = other;
    for (size_t i = 0; i < n; i++)
        to[i] |= from[i];
}

static void put_masks(size_t n, void *bytes, const void *other)
{
    sf_census_masks_add(n / sizeof(uint32_t), bytes, other);
}

static void gather_bytes(const sf_app *app, const slabs *s, size_t n, void *bytes, put_together *put)
{
    const size_t room = s->room / sizeof(uint32_t) * sizeof(uint32_t);
    for (size_t at = 0; at < n; at += room) {
        size_t here = n - at < room ? n - at : room;
        uint8_t *mine = (uint8_t *)bytes + at;
        sf_comm_gather(&app->comm, here, mine, room, s->sizes, s->all);
        for (int rank = 1; app->comm.rank == 0 && rank < app->comm.size; rank++)
            put(here, mine, s->all + (size_t)rank * room);
    }
}

int sf_census_gather_each(const sf_app *app, sf_app_census *c, sf_error *err)
{
    slabs s;
    if (app->comm.size == 1)
        return 0;
    int code = open_slabs(app, &s, err);
    if (!code) {
        gather_bytes(app, &s, (size_t)c->total, c->each_fitness, put_bytes);
        gather_bytes(app, &s, (size_t)c->total, c->each_best, put_bytes);
    }
    close_slabs(&s);
    return code;
}

int sf_census_gather_masks(const sf_app *app, uint64_t n, uint32_t *masks, sf_error *err)
{
    slabs s;
    int code = open_slabs(app, &s, err);
    if (!code)
        gather_bytes(app, &s, (size_t)n * sizeof *masks, masks, put_masks);
    close_slabs(&s);
    return code;
}

/* Rank 0 appends what the others send. n_rows[ranks]: rows of each. */
static void gather_rows(const sf_app *app, const slabs *s, sf_shapes *shapes, const uint64_t *n_rows)
{
    size_t row_bytes = sf_shapes_width(shapes) * sizeof *shapes->row, step = s->room / row_bytes, most = 0;
    size_t own = app->comm.rank == 0 ? 0 : shapes->n; /* rank 0 has its own already */
    for (int rank = 1; rank < app->comm.size; rank++)
        most = n_rows[rank] > most ? (size_t)n_rows[rank] : most;
    for (size_t at = 0; at < most; at += step) {
        size_t here = at >= own ? 0 : own - at < step ? own - at : step;
        sf_comm_gather(&app->comm, here * row_bytes, sf_shapes_row(shapes, at < own ? at : 0), s->room, s->sizes, s->all);
        for (int rank = 1; app->comm.rank == 0 && rank < app->comm.size; rank++) {
            memcpy(sf_shapes_row(shapes, shapes->n), s->all + (size_t)rank * s->room, s->sizes[rank]);
            shapes->n += s->sizes[rank] / row_bytes;
        }
    }
}

static int bring_shapes(const sf_app *app, sf_shapes *shapes, sf_error *err)
{
    slabs s = {0};
    size_t n_ranks = (size_t)app->comm.size, more = 0;
    uint64_t *n_rows = calloc(n_ranks, sizeof *n_rows);
    int code = n_rows ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for the shapes of %zu ranks", n_ranks);
    code = sf_comm_agree(&app->comm, code, err);
    if (!code) {
        n_rows[app->comm.rank] = shapes->n;
        code = sf_comm_sum(&app->comm, n_ranks, n_rows, err);
    }
    for (size_t rank = 1; !code && rank < n_ranks; rank++)
        more += (size_t)n_rows[rank];
    if (!code)
        code = sf_comm_agree(&app->comm, app->comm.rank == 0 ? sf_shapes_reserve(shapes, more, err) : 0, err);
    if (!code)
        code = open_slabs(app, &s, err);
    if (!code)
        gather_rows(app, &s, shapes, n_rows);
    close_slabs(&s);
    free(n_rows);
    return code;
}

int sf_census_gather_shapes(const sf_app *app, sf_app_census *c, sf_error *err)
{
    int code = 0;
    sf_shapes_settle(&c->shapes);
    if (app->comm.size > 1) {
        code = bring_shapes(app, &c->shapes, err);
        if (!code && app->comm.rank == 0)
            sf_shapes_settle(&c->shapes);
    }
    if (!code && app->comm.rank == 0)
        code = sf_shapes_summarise(&c->shapes, &c->summary, err);
    return sf_comm_agree(&app->comm, code, err);
}

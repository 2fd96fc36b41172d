/* Packing (gzip) is what takes time when a table is written, so all ranks do it, chunk by chunk in turn; rank 0 writes the
 * chunks in their order, so the file's bytes are the same for any number of ranks. */
#include <stdlib.h>

#include "app/table_source.h"
#include "io/table_file.h"

typedef struct writing {
    const sf_app *app;
    sf_table_packer *packer; /* of the first PACKERS_MAX ranks */
    sf_table_writer *writer; /* rank 0 */
    uint8_t *mine, *all;
    uint64_t *sizes;
} writing;

enum { PACKERS_MAX = 64 }; /* rank 0 has room for a chunk of each, and has enough to write by then */

static int begin_writing(writing *w, int n_packers, const char *path, const sf_map_table *maps, const char *letters,
                         sf_error *err)
{
    int code = 0;
    if (sf_app_speaks(w->app)) {
        w->all = malloc((size_t)n_packers * SF_TABLE_PACKED_MAX);
        w->sizes = calloc((size_t)w->app->comm.size, sizeof *w->sizes);
    }
    w->mine = malloc(SF_TABLE_PACKED_MAX);
    if (!w->mine || (sf_app_speaks(w->app) && (!w->all || !w->sizes)))
        return sf_fail(err, SF_ENOMEM, "%.300s: out of memory for writing it", path);
    if (w->app->comm.rank < n_packers)
        code = sf_table_packer_open(&w->packer, maps, err);
    if (!code && sf_app_speaks(w->app))
        code = sf_table_writer_open(&w->writer, path, maps, letters, err);
    return code;
}

/* Each packer packs a chunk; rank 0 writes them in order. Collective. */
static int write_round(writing *w, size_t first, size_t last, sf_error *err)
{
    size_t n = 0, chunk = first + (size_t)w->app->comm.rank;
    int code = 0;
    if (w->packer && chunk < last)
        code = sf_table_packer_pack(w->packer, chunk, w->mine, &n, err);
    code = sf_comm_agree(&w->app->comm, code, err);
    if (code)
        return code;
    sf_comm_gather(&w->app->comm, n, w->mine, SF_TABLE_PACKED_MAX, w->sizes, w->all);
    for (size_t r = 0; w->writer && !code && first + r < last; r++)
        code = sf_table_writer_put(w->writer, w->all + r * SF_TABLE_PACKED_MAX, (size_t)w->sizes[r], err);
    return sf_comm_agree(&w->app->comm, code, err);
}

int sf_app_table_write(const sf_app *app, const char *path, const sf_map_table *maps, const char *letters, sf_error *err)
{
    writing w = {.app = app};
    int n_packers = app->comm.size < PACKERS_MAX ? app->comm.size : PACKERS_MAX;
    size_t n = sf_table_file_chunks(maps), step = (size_t)n_packers;
    int code = sf_comm_agree(&app->comm, begin_writing(&w, n_packers, path, maps, letters, err), err);
    for (size_t first = 0; first < n && !code; first += step)
        code = write_round(&w, first, first + step < n ? first + step : n, err);
    if (!code)
        code = sf_comm_agree(&app->comm, w.writer ? sf_table_writer_commit(w.writer, err) : 0, err);
    sf_table_writer_close(w.writer);
    sf_table_packer_close(w.packer);
    free(w.mine);
    free(w.all);
    free(w.sizes);
    return code;
}

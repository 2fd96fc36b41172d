/* Tail merging on the square lattice: what is made once, a sequence: its levels, its walks of five steps. The work is
 * in merge_square_kernel.h. */
#include "core/engines/merge/merge_square.h"

#include <stdlib.h>
#include <string.h>

/* ---- the sequence ---- */

static const int step_x[4] = {1, 0, -1, 0}, step_y[4] = {0, 1, 0, -1};

/* Bit of a site within 5 steps of the head, as square_direct has them. */
static int direct_bit(int x, int y)
{
    const int u = x + y, v = x - y;
    if ((u & 1) == 0)
        return (u / 2 + 2) * 5 + v / 2 + 2;
    return 25 + ((u - 1) / 2 + 3) * 6 + (v - 1) / 2 + 3;
}

typedef struct direct_walk {
    uint64_t stem, site, h;
    uint64_t own;
} direct_walk;

/* Reads the steps off `code`, two bits each; false when the walk meets itself. */
static bool direct_walk_init(direct_walk *walk, int code, const uint8_t *head_h)
{
    int x[SQUARE_DIRECT + 1] = {0}, y[SQUARE_DIRECT + 1] = {0};
    *walk = (direct_walk){0};
    for (int i = 1; i <= SQUARE_DIRECT; i++) {
        const int step = code >> 2 * (SQUARE_DIRECT - i) & 3;
        x[i] = x[i - 1] + step_x[step];
        y[i] = y[i - 1] + step_y[step];
        for (int j = 0; j < i; j++) {
            if (x[i] == x[j] && y[i] == y[j])
                return false;
            const bool beside = abs(x[i] - x[j]) + abs(y[i] - y[j]) == 1;
            walk->own += beside && j < i - 1 && head_h[i] && head_h[j];
        }
        const uint64_t bit = (uint64_t)1 << direct_bit(x[i], y[i]);
        walk->site |= bit;
        walk->h |= head_h[i] ? bit : 0;
        if (i <= 3)
            walk->stem |= bit;
    }
    return true;
}

/* head_h[0] is the head, then the last five residues. */
static void direct_init(square_direct *direct, const uint8_t *head_h)
{
    const uint64_t never = (uint64_t)1 << 63;
    memset(direct, 0, sizeof *direct);
    for (size_t i = 0; i < sizeof direct->stem / sizeof *direct->stem; i++)
        direct->stem[i] = never;
    for (int i = 0; i < DIRECT_STEMS * DIRECT_FANS; i++)
        direct->site[i / DIRECT_FANS][i % DIRECT_FANS] = never;
    for (int i = 0; i < DIRECT_REST_MAX; i++)
        direct->rest_site[i] = never;

    int stem = -1, fan = 0, n_rest = 0, last_stem_code = -1;
    for (int code = 0; code < 1 << 2 * SQUARE_DIRECT; code++) {
        direct_walk walk;
        if (!direct_walk_init(&walk, code, head_h))
            continue;
        if (code >> 4 != last_stem_code) {
            last_stem_code = code >> 4;
            fan = 0;
            direct->stem[++stem] = walk.stem;
        }
        if (fan < DIRECT_FANS) {
            direct->site[stem][fan] = walk.site;
            direct->h[stem][fan] = walk.h;
            direct->own[stem][fan++] = walk.own;
        } else {
            direct->rest_site[n_rest] = walk.site;
            direct->rest_h[n_rest] = walk.h;
            direct->rest_own[n_rest++] = walk.own;
        }
    }
    direct->n_rest = (n_rest + 7) / 8 * 8;
}

enum { PIECE_GRID = 64 };

static size_t count_pieces(uint8_t *site, int steps, bool turned)
{
    static const int move[4] = {1, PIECE_GRID, -1, -PIECE_GRID};
    if (steps == 0)
        return 1;
    size_t n = 0;
    *site = 1;
    for (int d = 0; d < 4; d++) {
        if ((turned || d == 2 || d == 1) && !site[move[d]])
            n += count_pieces(site + move[d], steps - 1, turned || d != 2);
    }
    *site = 0;
    return n;
}

static size_t pieces(int n_steps)
{
    uint8_t grid[PIECE_GRID * PIECE_GRID] = {0};
    uint8_t *head = grid + PIECE_GRID / 2 * (PIECE_GRID + 1);
    *head = 1;
    return count_pieces(head - 1, n_steps - 1, false);
}

void sf_square_job_init(square_job *job, int length, const uint8_t *h, int tail, int piece_steps)
{
    memset(job, 0, sizeof *job);
    job->length = length;
    job->tail = tail;
    job->piece_steps = piece_steps < length - tail - 1 ? piece_steps : length - tail - 1;
    job->n_pieces = pieces(job->piece_steps);
    memcpy(job->h, h, (size_t)length);
    for (int r = SQUARE_DIRECT; r <= tail; r++) {
        square_level *level = &job->level[r];
        const int head = length - r - 1;
        level->head_h = h[head];
        level->next_h = h[head + 1];
        for (int step = 1; step <= r; step++) {
            if (h[head + step])
                level->last[step & 1] = (uint8_t)step;
        }
    }
    direct_init(&job->direct, h + length - SQUARE_DIRECT - 1);
}

/* ---- the tables ---- */

size_t sf_square_entry_bytes(int r)
{
    return r <= SQUARE_DIRECT || r > SQUARE_TAIL_MAX ? 0 : square_entry_bytes(r);
}

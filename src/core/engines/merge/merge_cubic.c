/* Tail merging on the cubic lattice: what is made once, the geometry and a sequence. The work is in
 * merge_cubic_kernel.h. */
#include "core/engines/merge/merge_cubic.h"

#include <stdlib.h>
#include <string.h>

const int sf_cubic_step[6][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
const int sf_cubic_turn[6] = {1, 13, 72, -1, -13, -72};

/* ---- the geometry ---- */

enum { RADIUS = CUBIC_TAIL_MAX };

static int distance(int x, int y, int z)
{
    return abs(x) + abs(y) + abs(z);
}

static int torus(int x, int y, int z)
{
    return (x + 13 * y + 72 * z) & (CUBIC_TORUS - 1);
}

static void add_site(uint64_t set[8], int x, int y, int z)
{
    const int site = torus(x, y, z);
    set[site >> 6] |= (uint64_t)1 << (site & 63);
}

typedef void site_visit(cubic_geometry *geometry, int n, int x, int y, int z);

/* Calls `visit` with the sites at that distance, in a fixed order: those beside the head as the steps have them. */
static void for_sphere(cubic_geometry *geometry, int radius, site_visit *visit, int *n)
{
    for (int d = 0; d < 6 && radius == 1; d++)
        visit(geometry, (*n)++, sf_cubic_step[d][0], sf_cubic_step[d][1], sf_cubic_step[d][2]);
    for (int x = -radius; x <= radius && radius > 1; x++) {
        for (int y = -radius; y <= radius; y++) {
            for (int z = -radius; z <= radius; z++) {
                if (distance(x, y, z) == radius)
                    visit(geometry, (*n)++, x, y, z);
            }
        }
    }
}

static void set_place(uint8_t *byte, uint8_t *bit, int n, int site)
{
    byte[n] = (uint8_t)(site >> 3);
    bit[n] = (uint8_t)(8 * (n & 7) + (site & 7));
}

static void visit_packed(cubic_geometry *geometry, int n, int x, int y, int z)
{
    const int radius = distance(x, y, z);
    if (radius <= 5) {
        geometry->local[n] = (int16_t)(CUBIC_LOCAL_X * x + CUBIC_LOCAL_Y * y + CUBIC_LOCAL * z);
        geometry->packed[torus(x, y, z)] = (uint8_t)n;
    }
    for (int d = 0; d < 6 && radius == 2; d++) {
        const int i = x + sf_cubic_step[d][0], j = y + sf_cubic_step[d][1], k = z + sf_cubic_step[d][2];
        geometry->first_step[n][d] = -1;
        for (int first = 0; first < 6; first++) {
            if (i == sf_cubic_step[first][0] && j == sf_cubic_step[first][1] && k == sf_cubic_step[first][2])
                geometry->first_step[n][d] = (int8_t)first;
        }
    }
    set_place(geometry->pack_byte[n / 64], geometry->pack_bit[n / 64], n % 64, torus(x, y, z));
    if (radius % 2 == 0)
        add_site(geometry->even, x, y, z);
    if (radius == 1)
        add_site(geometry->head_beside, x, y, z);
}

static void visit_mask(cubic_geometry *geometry, int n, int x, int y, int z)
{
    const int middle = CUBIC_GRID / 2;
    geometry->mask[((z + middle) * CUBIC_GRID + y + middle) * CUBIC_GRID + x + middle] = (uint16_t)n;
    if (distance(x, y, z) <= RADIUS)
        add_site(geometry->cell[n], x, y, z);
    for (int d = 0; d < 6; d++) {
        const int i = x + sf_cubic_step[d][0], j = y + sf_cubic_step[d][1], k = z + sf_cubic_step[d][2];
        if (distance(i, j, k) <= RADIUS && distance(i, j, k) > 0)
            add_site(geometry->beside[n], i, j, k);
    }
}

void sf_cubic_geometry_init(cubic_geometry *geometry)
{
    int n = 0;
    memset(geometry, 0, sizeof *geometry);
    for (int n_packed = 0; n_packed < 64 * CUBIC_WORDS; n_packed++) /* where no site is packed, the head: never set */
        set_place(geometry->pack_byte[n_packed / 64], geometry->pack_bit[n_packed / 64], n_packed % 64, 0);
    for (int i = 0; i < CUBIC_BALL; i++)
        geometry->local[i] = CUBIC_LOCAL_NONE;
    for (int radius = 1; radius <= RADIUS; radius++) {
        if (radius == 4 || radius == 5)
            n = (n + 7) / 8 * 8;
        for_sphere(geometry, radius, visit_packed, &n);
    }
    n = 1;
    for (int radius = 1; radius <= RADIUS + 1; radius++)
        for_sphere(geometry, radius, visit_mask, &n);
}

/* ---- the sequence ---- */

void sf_cubic_job_init(cubic_job *job, const cubic_geometry *geometry, int length, const uint8_t *h, int tail,
                       int piece_steps)
{
    static const size_t known[] = {1, 1, 2, 6, 22, 92, 402, 1832, 8453, 39640}; /* reduced walks by steps */
    memset(job, 0, sizeof *job);
    job->geometry = geometry;
    job->length = length;
    job->tail = tail;
    job->piece_steps = piece_steps < length - tail - 1 ? piece_steps : length - tail - 1;
    job->n_pieces = known[job->piece_steps];
    memcpy(job->h, h, (size_t)length);
    for (int r = CUBIC_TAIL_MIN; r <= tail; r++) {
        cubic_level *level = &job->level[r];
        const int head = length - r - 1;
        level->head_h = h[head];
        level->next_h = h[head + 1];
        for (int step = 1; step <= r; step++) {
            if (h[head + step])
                level->last[step & 1] = (uint8_t)step;
        }
    }
}

size_t sf_cubic_entry_bytes(int r)
{
    return r >= CUBIC_TAIL_MIN && r <= CUBIC_TAIL_MAX ? 192 : 0;
}

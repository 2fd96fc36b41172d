/* Tail merging on the cubic lattice: what is made once, the geometry and a sequence. The work is in
 * merge_cubic_kernel.h. */
#include "core/engines/merge_cubic.h"

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
    set_place(geometry->pack_byte[n / 64], geometry->pack_bit[n / 64], n % 64, torus(x, y, z));
    if (distance(x, y, z) % 2 == 0)
        add_site(geometry->even, x, y, z);
    if (distance(x, y, z) == 1)
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

/* Number of a near site, -1 for the head. */
static int near_number(int x, int y, int z)
{
    int n = 0;
    for (int k = -3; k <= 3; k++) {
        for (int j = -3; j <= 3; j++) {
            const int most = 3 - abs(j) - abs(k);
            if (j == y && k == z)
                return x == 0 && y == 0 && z == 0 ? -1 : n + x + most;
            n += most >= 0 ? 2 * most + 1 : 0;
        }
    }
    return -1;
}

static void near_row(cubic_geometry *geometry, int row, int first, int y, int z)
{
    const int most = 3 - abs(y) - abs(z);
    geometry->row_mask[row] = (uint8_t)((1u << (2 * most + 1)) - 1);
    geometry->row_bit[row] = (uint8_t)first;
    for (int x = -most; x <= most; x++) {
        const int n = first + x + most;
        for (int d = 0; d < 6; d++)
            set_place(geometry->near_byte[d], geometry->near_bit[d], n,
                      torus(x + sf_cubic_step[d][0], y + sf_cubic_step[d][1], z + sf_cubic_step[d][2]));
        if (distance(x, y, z) == 1)
            geometry->near_first |= (uint64_t)1 << n;
        if (distance(x, y, z) == 2)
            geometry->near_second |= (uint64_t)1 << n;
    }
    for (int d = 0; d < 6; d++)
        geometry->row_site[d][row] =
            (uint16_t)torus(sf_cubic_step[d][0] - most, y + sf_cubic_step[d][1], z + sf_cubic_step[d][2]);
}

static void near_init(cubic_geometry *geometry)
{
    int row = 0, first = 0;
    for (int z = -3; z <= 3; z++) {
        for (int y = -3; y <= 3; y++) {
            const int most = 3 - abs(y) - abs(z);
            if (most < 0)
                continue;
            near_row(geometry, row++, first, y, z);
            first += 2 * most + 1;
        }
    }
}

static void pair_init(cubic_geometry *geometry, int n, const int *s, const int *t)
{
    const uint64_t nowhere = 0x3f3f3f3f3f3f3f00u;
    const int x = s[0] + t[0], y = s[1] + t[1], z = s[2] + t[2];
    const int a = near_number(s[0], s[1], s[2]), b = near_number(x, y, z);
    geometry->pair[n] = (uint64_t)1 << a | (uint64_t)1 << b;
    geometry->pair_first[n] = nowhere | (uint64_t)a;
    geometry->pair_second[n] = nowhere | (uint64_t)b;
    for (int third = 0; third < 6; third++) {
        const int *u = sf_cubic_step[third];
        const int c = near_number(x + u[0], y + u[1], z + u[2]);
        if (c >= 0 && c != a)
            geometry->pair_next[n] |= (uint64_t)1 << c;
    }
}

static void pairs_init(cubic_geometry *geometry)
{
    int n = 0;
    for (int i = 0; i < 36; i++) {
        if (i / 6 % 3 != i % 3 || i / 6 == i % 6) /* not back again */
            pair_init(geometry, n++, sf_cubic_step[i / 6], sf_cubic_step[i % 6]);
    }
    for (; n < CUBIC_PAIRS; n++) {
        geometry->pair[n] = (uint64_t)1 << 63;
        geometry->pair_first[n] = geometry->pair_second[n] = 0x3f3f3f3f3f3f3f3fu;
    }
}

void sf_cubic_geometry_init(cubic_geometry *geometry)
{
    int n = 0;
    memset(geometry, 0, sizeof *geometry);
    for (int radius = 1; radius <= RADIUS; radius++)
        for_sphere(geometry, radius, visit_packed, &n);
    n = 1;
    for (int radius = 1; radius <= RADIUS + 1; radius++)
        for_sphere(geometry, radius, visit_mask, &n);
    near_init(geometry);
    pairs_init(geometry);
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

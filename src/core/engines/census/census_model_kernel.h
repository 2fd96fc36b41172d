/* The census with other models, in the instruction set of the file that includes this.
 *
 * The obvious way decides the dense residues one after the other, from the codes of the maps on. But there are nearly as many
 * codes as maps, and each is seen once: here the first five are decided all ways at once, in the lanes of vectors, and maps
 * that agree on the rest of the digits meet in one cell. From there on the cells fold, digit by digit. */
#ifndef SF_CORE_CENSUS_MODEL_KERNEL_H
#define SF_CORE_CENSUS_MODEL_KERNEL_H

#include <string.h>

#include "core/engines/census/census_model_plan.h"

typedef uint64_t model_vec __attribute__((vector_size(64)));
typedef uint8_t model_bytes __attribute__((vector_size(8), aligned(8), may_alias));

enum { MODEL_VECTOR = 8, MODEL_CELL = 2 * SF_MODEL_LANES };

static inline uint32_t model_cell(sf_model_worker *w, sf_model_level *level, uint32_t rest)
{
    uint32_t cell = w->cell_of[rest];
    if (cell == 0) {
        cell = w->cell_of[rest] = (uint32_t)++level->n;
        if (level->mask)
            memset(level->mask + (size_t)(cell - 1) * MODEL_CELL, 0, MODEL_CELL * sizeof *level->mask);
    }
    return cell - 1;
}

static inline __attribute__((always_inline)) void model_mark_from(const sf_census_model *m, sf_model_worker *w, size_t outer,
                                                                  int first_vector)
{
    enum { VECTORS = SF_MODEL_LANES / MODEL_VECTOR };
    sf_model_level *level = &w->level[m->n_head];
    const uint64_t a_mask = (UINT64_C(1) << m->shift[1]) - 1, b_mask = (UINT64_C(1) << (m->shift[2] - m->shift[1])) - 1;
    const uint64_t outer_code = w->outer_code[outer], *inner_code = w->inner_code;
    const model_vec one = {1, 1, 1, 1, 1, 1, 1, 1};
    for (uint32_t i = m->start[outer], end = m->start[outer + 1]; i < end; i++) {
        const uint32_t inner = m->inner[i];
        const uint64_t code = outer_code + inner_code[inner & ~SF_MODEL_TWICE];
        const uint8_t *a = m->gain[0] + (code & a_mask) * SF_MODEL_LANES;
        const uint8_t *b = m->gain[1] + (code >> m->shift[1] & b_mask) * SF_MODEL_LANES;
        const size_t cell = model_cell(w, level, (uint32_t)(code >> m->shift[2]));
        model_vec *any = (model_vec *)(level->mask + cell * MODEL_CELL), *two = any + VECTORS;
        const uint64_t twice = inner & SF_MODEL_TWICE ? ~UINT64_C(0) : 0;
        for (int v = first_vector; v < VECTORS; v++) {
            const model_bytes *more_a = (const model_bytes *)a + v, *more_b = (const model_bytes *)b + v;
            const model_bytes value = (*more_a + *more_b) & (SF_MODEL_MASK_BITS - 1);
            const model_vec mark = one << __builtin_convertvector(value, model_vec);
            two[v] |= mark & (any[v] | twice);
            any[v] |= mark;
        }
    }
}

static void model_mark(const sf_census_model *m, sf_model_worker *w, size_t outer, int first_vector)
{
    if (first_vector == 0)
        model_mark_from(m, w, outer, 0);
    else if (first_vector == 1)
        model_mark_from(m, w, outer, 1);
    else if (first_vector == 2)
        model_mark_from(m, w, outer, 2);
    else
        model_mark_from(m, w, outer, 3);
}

static void model_pack(const sf_census_model *m, sf_model_worker *w, size_t outer)
{
    sf_model_level *level = &w->level[m->n_head];
    const uint64_t head = (UINT64_C(1) << m->shift[2]) - 1, outer_code = w->outer_code[outer];
    for (uint32_t i = m->start[outer], end = m->start[outer + 1]; i < end; i++) {
        const uint64_t code = outer_code + w->inner_code[m->inner[i]];
        w->packed[i] = (uint64_t)model_cell(w, level, (uint32_t)(code >> m->shift[2])) << 32 | (code & head);
    }
}

static void model_count(const sf_census_model *m, sf_model_worker *w, uint32_t choice)
{
    const uint32_t a_mask = (UINT32_C(1) << m->shift[1]) - 1;
    const int16_t *a = m->gain_of[0] + choice * m->size[0], *b = m->gain_of[1] + choice * m->size[1];
    uint32_t *restrict row = w->level[m->n_head].count;
    const size_t width = w->width;
    for (size_t i = 0; i < m->n_maps; i++) {
        const uint64_t packed = w->packed[i];
        const uint32_t head = (uint32_t)packed;
        row[(packed >> 32) * width + (size_t)(a[head & a_mask] + b[head >> m->shift[1]])] += m->count[i];
    }
}

/* Shifted to higher scores, or to lower ones: these are scores of fewer contacts, so none leaves the mask. (A function would
 * return a vector, which each instruction set does its own way.) */
#define MODEL_SHIFT(mask, by) ((by) >= 0 ? (mask) << (uint64_t)(by) : (mask) >> (uint64_t) - (by))

static void model_fold_masks(const sf_model_level *from, const uint32_t *order, const int16_t *gain, int first_vector,
                             sf_model_level *to)
{
    enum { VECTORS = SF_MODEL_LANES / MODEL_VECTOR };
    for (size_t cell = 0; cell < to->n; cell++) {
        model_vec any[VECTORS] = {{0}}, two[VECTORS] = {{0}};
        for (size_t i = from->first[cell]; i < from->first[cell + 1]; i++) {
            const model_vec *more = (const model_vec *)(from->mask + (order ? order[i] : i) * MODEL_CELL);
            const int by = gain[from->digit[i]];
            for (int v = first_vector; v < VECTORS; v++) {
                const model_vec here = MODEL_SHIFT(more[v], by);
                two[v] |= MODEL_SHIFT(more[VECTORS + v], by) | (any[v] & here);
                any[v] |= here;
            }
        }
        model_vec *out = (model_vec *)(to->mask + cell * MODEL_CELL);
        for (int v = first_vector; v < VECTORS; v++) {
            out[v] = any[v];
            out[VECTORS + v] = two[v];
        }
    }
}

static void model_fold_counts(const sf_model_level *from, const uint32_t *order, const int16_t *gain, size_t width,
                              sf_model_level *to)
{
    for (size_t cell = 0; cell < to->n; cell++) {
        uint32_t *restrict sum = to->count + cell * width;
        memset(sum, 0, width * sizeof *sum);
        for (size_t i = from->first[cell]; i < from->first[cell + 1]; i++) {
            const uint32_t *restrict row = from->count + (order ? order[i] : i) * width;
            const int by = gain[from->digit[i]];
            const size_t up = by > 0 ? (size_t)by : 0, down = by < 0 ? (size_t)-by : 0;
            for (size_t s = 0; s < width - up - down; s++)
                sum[s + up] += row[s + down];
        }
    }
}

#define MODEL_KERNEL                                                                                                        \
    {                                                                                                                       \
        .mark = model_mark, .pack = model_pack, .count = model_count, .fold_masks = model_fold_masks,                       \
        .fold_counts = model_fold_counts                                                                                    \
    }

#endif

/* How a problem is counted: the kernel, the sizes of its tables, the parts. */
#include <stdlib.h>
#include <string.h>

#include "core/base/isa.h"
#include "core/engines/merge/merge_worker.h"

/* Models in which one class of letters has contacts among itself, all of one weight, and no others count. */
static bool one_class(const sf_score_model *model, bool *class_h, int *weight)
{
    *weight = 0;
    for (int a = 0; a < model->n_letters; a++) {
        class_h[a] = model->weight[a][a] != 0;
        if (class_h[a] && *weight == 0)
            *weight = model->weight[a][a];
    }
    for (int a = 0; a < model->n_letters; a++) {
        for (int b = 0; b < model->n_letters; b++) {
            if (model->weight[a][b] != (class_h[a] && class_h[b] ? *weight : 0))
                return false;
        }
    }
    return true;
}

merge_kind sf_merge_kind(const sf_problem *problem)
{
    bool class_h[SF_LETTERS_MAX];
    int weight;
    const int dimension = problem->lattice->dimension;
    if (sf_merge_can(dimension, problem->length) && one_class(problem->model, class_h, &weight))
        return dimension == 2 ? MERGE_SQUARE : MERGE_CUBIC;
    return sf_any_pays(problem) ? MERGE_ANY : MERGE_NOT;
}

static merge_sizes sizes_of(const sf_problem *problem, merge_kind kind)
{
    merge_sizes sizes;
    if (kind == MERGE_ANY)
        sf_any_sizes(problem, &sizes);
    else
        sf_merge_sizes(problem->lattice->dimension, problem->length, &sizes);
    return sizes;
}

static void choose_kernels(merge_setup *setup, sf_isa isa)
{
    setup->square_count = sf_square_count_portable;
    setup->cubic_count = sf_cubic_count_portable;
#if defined __x86_64__
    if (isa == SF_ISA_AVX512) {
        setup->square_count = sf_square_count_avx512;
        setup->cubic_count = sf_cubic_count_avx512;
    } else if (isa == SF_ISA_AVX2) {
        setup->square_count = sf_square_count_avx2;
        setup->cubic_count = sf_cubic_count_avx2;
    }
#endif
    (void)isa;
}

int sf_merge_setup_init(merge_setup *setup, const sf_problem *problem, const volatile int *stop, sf_error *err)
{
    int status = sf_isa_check(err);
    *setup = (merge_setup){.problem = problem, .stop = stop, .kind = sf_merge_kind(problem)};
    if (status != SF_OK)
        return status;
    one_class(problem->model, setup->class_h, &setup->weight);
    setup->n_parts = sf_merge_parts(problem->lattice->dimension, problem->length);
    setup->sizes = sizes_of(problem, setup->kind);
    choose_kernels(setup, sf_isa_get());
    if (setup->kind != MERGE_CUBIC)
        return SF_OK;
    setup->geometry = aligned_alloc(64, (sizeof *setup->geometry + 63) / 64 * 64);
    if (!setup->geometry)
        return sf_fail(err, SF_ENOMEM, "no memory to open engine walk");
    sf_cubic_geometry_init(setup->geometry);
    return SF_OK;
}

void sf_merge_setup_free(merge_setup *setup)
{
    free(setup->geometry);
    *setup = (merge_setup){.kind = MERGE_NOT};
}

uint64_t sf_merge_worker_bytes(const sf_problem *problem, merge_kind kind)
{
    const merge_sizes sizes = sizes_of(problem, kind);
    const uint64_t scratch = 2 << 20; /* more than any kernel's, and than the worker */
    return sf_merge_workspace_bytes(&sizes) + scratch;
}

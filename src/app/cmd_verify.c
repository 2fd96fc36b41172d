/* starfold verify: recomputes what a run file claims.
 *
 * Histograms are counted again, by default by plain depth-first enumeration, which shares nothing with the engines but
 * the lattice; trajectories are taken again from the populations the file has; levels are found again, and their
 * solutions scored by the plain scorer. The first difference ends it. */
#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "app/best_levels.h"
#include "app/explain.h"
#include "app/json.h"
#include "app/progress.h"
#include "app/run_view.h"
#include "app/verify.h"
#include "core/walk/walk.h"
#include "dist/share_mpi.h"
#include "io/digest.h"

enum { BATCH = 4096 };

/* ---- histograms: rank 0 has the file, all ranks count ---- */

typedef struct recount {
    const sf_app *app;
    const sf_problem *problem;
    sf_engine *engine; /* NULL: plainly */
    sf_progress progress;
} recount;

/* Plainly: rank r takes the sequences r, r + size, ... of the batch; sums put the rows together. Collective. */
static int count_plainly(const recount *r, size_t n, const uint8_t *sequences, uint64_t *histograms, sf_error *err)
{
    size_t length = (size_t)r->problem->length, n_scores = (size_t)r->problem->n_scores;
    size_t first = (size_t)r->app->comm.rank, step = (size_t)r->app->comm.size;
    int code = 0;
    memset(histograms, 0, n * n_scores * sizeof *histograms);
#pragma omp parallel for schedule(dynamic, 1) num_threads(sf_app_threads(r->app))
    for (size_t i = first; i < n; i += step) {
        sf_error own = {0, ""};
        int failed = sf_walk_histogram(r->problem, sequences + i * length, NULL, histograms + i * n_scores, &own);
        if (failed) {
#pragma omp critical(sf_verify_error)
            {
                code = failed;
                if (err)
                    *err = own;
            }
        }
    }
    code = sf_comm_agree(&r->app->comm, code, err);
    return code ? code : sf_comm_sum(&r->app->comm, n * n_scores, histograms, err);
}

static int count_batch(const recount *r, size_t n, const uint8_t *sequences, uint64_t *histograms, sf_error *err)
{
    if (!r->engine)
        return count_plainly(r, n, sequences, histograms, err);
    return sf_share_histograms(&r->app->comm, r->engine, r->problem->n_scores, n, sequences, sf_app_threads(r->app),
                               histograms, NULL, NULL, err);
}

/* A number must be equal; a mark must not be contradicted. */
static bool agrees(uint64_t stored, uint64_t counted)
{
    if (stored == SF_COUNT_UNKNOWN || counted == SF_COUNT_UNKNOWN)
        return true;
    if (stored == SF_COUNT_SOME || counted == SF_COUNT_SOME)
        return stored != 0 && counted != 0;
    return stored == counted;
}

static int compare_rows(const recount *r, const sf_known *known, const size_t *row, size_t n, const uint64_t *counted,
                        sf_error *err)
{
    size_t n_scores = (size_t)known->n_scores;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *stored = known->histogram + row[i] * n_scores;
        for (size_t s = 0; s < n_scores; s++) {
            if (agrees(stored[s], counted[i * n_scores + s]))
                continue;
            char text[SF_LENGTH_MAX + 1];
            sf_sequence_write(r->problem, known->genome + row[i] * (size_t)known->length, text);
            return sf_fail(err, SF_ECHECK,
                           "/sequences/histogram row %zu (%s): score %d has %" PRIu64
                           " conformations in the file, %" PRIu64 " when counted again",
                           row[i], text, r->problem->min_score + (int)s, stored[s], counted[i * n_scores + s]);
        }
    }
    return 0;
}

static void show(recount *r, size_t done, size_t total)
{
    char left[32];
    double elapsed = sf_progress_elapsed(&r->progress);
    if (done < total && done > 0 && sf_progress_due(&r->progress))
        sf_progress_show(&r->progress, "%zu of %zu sequences, %s left", done, total,
                         sf_seconds_text(elapsed / (double)done * (double)(total - done), left));
}

/* Counts n of the sequences again, evenly spread. `known` is rank 0's. Collective. */
static int verify_sequences(recount *r, const sf_known *known, size_t n, sf_error *err)
{
    size_t length = (size_t)r->problem->length, n_scores = (size_t)r->problem->n_scores, row[BATCH];
    uint64_t *counted = malloc(BATCH * n_scores * sizeof *counted);
    uint8_t *sequences = malloc(BATCH * length);
    int code = counted && sequences ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for verifying");
    code = sf_comm_agree(&r->app->comm, code, err);
    sf_progress_start(&r->progress, r->app);
    for (size_t done = 0; !code && done < n; done += BATCH) {
        size_t batch = n - done < BATCH ? n - done : BATCH;
        for (size_t i = 0; known && i < batch; i++) {
            row[i] = (size_t)((double)(done + i) * (double)known->n / (double)n);
            memcpy(sequences + i * length, known->genome + row[i] * length, length);
        }
        code = sf_comm_broadcast(&r->app->comm, batch * length, sequences, err);
        if (!code)
            code = count_batch(r, batch, sequences, counted, err);
        if (!code)
            code = known ? compare_rows(r, known, row, batch, counted, err) : 0;
        code = sf_comm_agree(&r->app->comm, code, err);
        show(r, done + batch, n);
    }
    sf_progress_end(&r->progress);
    free(counted);
    free(sequences);
    return code;
}

/* ---- the command ---- */

/* What rank 0 tells the others of the file. */
typedef struct task {
    int64_t lattice, length;
    sf_score_model model;
    uint64_t n;
} task;

static int open_file(const sf_app *app, sf_run_view *view, sf_problem *problem, task *t, sf_error *err)
{
    int code = sf_run_view_open(view, app->options.words[0], err);
    if (!code && view->from_checkpoint)
        code = sf_fail(err, SF_EFORMAT, "%.300s is damaged; its checkpoint is not, and 'starfold resume' goes on from it",
                       view->paths.output);
    if (!code)
        code = sf_run_view_problem(view, problem, err);
    if (code)
        return code;
    for (t->lattice = 0; strcmp(sf_lattice_names()[t->lattice], problem->lattice->name) != 0;)
        t->lattice++;
    t->length = problem->length;
    t->model = view->model;
    t->n = view->data.record.known.n;
    uint64_t sample = (uint64_t)app->options.settings.sample;
    if (sample && sample < t->n)
        t->n = sample;
    return 0;
}

/* ---- the time it takes ---- */

static const double CONFORMATION_S = 8e-9; /* of the plain walk, where estimates were measured */
static const double WORTH_TELLING_S = 10;

/* Wall clock of counting again, plainly. A sequence is one thread's; beyond 64 bits of conformations it is too little. */
static double plain_seconds(const sf_app *app, const sf_problem *problem, uint64_t n)
{
    const uint64_t workers = (uint64_t)sf_app_threads(app) * (uint64_t)app->comm.size;
    const uint64_t known = sf_lattice_conformations(problem->lattice, problem->length);
    return CONFORMATION_S * sf_engine_calibrate().walk * (double)(known ? known : UINT64_MAX) *
           (double)((n + workers - 1) / workers);
}

static double engine_seconds(const sf_app *app, const sf_problem *problem, const char *name, uint64_t n)
{
    sf_engine_options options;
    sf_engine_cost cost;
    sf_app_engine_options(app, &options);
    (void)sf_engine_calibrate();
    if (sf_engine_estimate(name, problem, &options, &cost, NULL) != 0)
        return 0; /* opening it says why */
    return (cost.open_s + cost.sequence_s * (double)n / app->comm.size) / sf_app_threads(app);
}

/* Rank 0: says what takes long before it begins, or refuses it. */
static int tell_time(const sf_app *app, const sf_problem *problem, uint64_t n, sf_error *err)
{
    const int64_t by = app->options.settings.recount;
    const char *name = by ? sf_engine_names()[by - 1] : "plain";
    const double seconds = by ? engine_seconds(app, problem, name, n) : plain_seconds(app, problem, n);
    char what[96], count[32], time[32];
    snprintf(what, sizeof what, "counting %s sequence%s of %d residues again (--recount %s)", sf_count_text(n, count),
             n == 1 ? "" : "s", problem->length, name);
    const int code = sf_refuse_seconds(app, what, seconds, err);
    if (!code && seconds > WORTH_TELLING_S && !app->options.settings.quiet)
        fprintf(stderr, "%s takes about %s; --sample K takes fewer%s\n", what, sf_seconds_text(seconds, time),
                by ? "" : ", --recount walk or bound take less for each");
    return code;
}

/* Counts again, on all ranks. */
static int verify_histograms(const sf_app *app, const sf_run_view *view, const task *t, sf_error *err)
{
    sf_problem problem;
    sf_engine_options options;
    recount r = {.app = app, .problem = &problem};
    bool plain = app->options.settings.recount == 0;
    int code = sf_problem_init(&problem, sf_lattice_find(sf_lattice_names()[t->lattice]), &t->model,
                               (int)t->length, err);
    if (!code && !plain) {
        sf_app_engine_options(app, &options);
        options.engine = sf_engine_names()[app->options.settings.recount - 1];
        code = sf_engine_open(&r.engine, &problem, &options, (size_t)t->n, err);
    }
    if (!code && sf_app_speaks(app))
        code = tell_time(app, &problem, t->n, err);
    code = sf_comm_agree(&app->comm, code, err);
    if (!code)
        code = verify_sequences(&r, sf_app_speaks(app) ? &view->data.record.known : NULL, (size_t)t->n, err);
    sf_engine_close(r.engine);
    return code;
}

static int report(const sf_app *app, const sf_run_view *view, const sf_verified *v, sf_error *err)
{
    char hex[SF_DIGEST_SIZE], count[32], total[32];
    int code = sf_digest_file(view->paths.output, hex, err);
    if (code)
        return code;
    size_t n = view->data.record.known.n;
    if (app->options.settings.format) {
        cJSON *document = cJSON_CreateObject();
        cJSON_AddStringToObject(document, "file", view->paths.output);
        cJSON_AddBoolToObject(document, "verified", true);
        sf_json_add_count(document, "sequences", n);
        sf_json_add_count(document, "sequences_checked", v->n_sequences);
        sf_json_add_count(document, "populations_checked", v->n_populations);
        sf_json_add_count(document, "levels_checked", v->n_levels);
        cJSON_AddStringToObject(document, "digest", hex);
        return sf_json_print(document, err);
    }
    printf("%s holds what it claims\n", view->paths.output);
    printf("  histograms counted again   %s of %s\n", sf_count_text(v->n_sequences, count), sf_count_text(n, total));
    printf("  populations checked        %s\n", sf_count_text(v->n_populations, count));
    printf("  levels found again         %s\n", sf_count_text(v->n_levels, count));
    printf("  digest                     %s\n", hex);
    return 0;
}

static int verify(sf_app *app, sf_error *err)
{
    sf_run_view view;
    sf_problem problem;
    sf_verified verified = {0, 0, 0};
    task t = {0};
    memset(&view, 0, sizeof view);
    int code = sf_app_speaks(app) ? open_file(app, &view, &problem, &t, err) : 0;
    code = sf_comm_agree(&app->comm, code, err);
    if (!code && sf_app_speaks(app))
        code = sf_verify_populations(&view.data, &verified, err);
    if (!code && sf_app_speaks(app))
        code = sf_verify_levels(&problem, &view.data, &verified, err);
    code = sf_comm_agree(&app->comm, code, err);
    if (!code)
        code = sf_comm_broadcast(&app->comm, sizeof t, &t, err);
    if (!code)
        code = verify_histograms(app, &view, &t, err);
    verified.n_sequences = t.n;
    if (!code && sf_app_speaks(app))
        code = report(app, &view, &verified, err);
    sf_run_view_close(&view);
    if (code == SF_ECHECK && sf_app_speaks(app)) {
        char line[SF_ERROR_TEXT_SIZE];
        snprintf(line, sizeof line, "%s", err->text);
        return sf_fail(err, code, "%.150s is wrong: %.350s", app->options.words[0], line);
    }
    return code;
}

static const sf_option_group *const groups[] = {&sf_group_verify, &sf_group_common, NULL};

const sf_command sf_command_verify = {
    .name = "verify",
    .words = "RUN.h5",
    .summary = "recompute what a run file claims, plainly and independently",
    .text =
        "Counts the histograms of a run file again, takes its trajectories again from the populations it holds, finds "
        "its levels again and scores their solutions. Status 0 when all is as the file says; status 1 and the first "
        "difference by name otherwise. Works under mpirun. What will take more than some seconds is told first; long chains "
        "are counted again by another engine than the plain walk (--recount walk, or bound for sets of scores).",
    .min_words = 1,
    .max_words = 1,
    .groups = groups,
    .run = verify,
};

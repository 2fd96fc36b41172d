/* What keeping a run costs: the live file, written to after every generation, which a real run does about twice a
 * second only; and a checkpoint, written and synced whole. The search around them is a real one, in this process alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "dist/search_mpi.h"
#include "io/run_file.h"

enum { LENGTH = 14, ISLANDS = 64, GENERATIONS = 2000, PATH_SIZE = 64, SAVES = 3 };
static const double LIVE_TARGET_S = 1e-3, SAVE_TARGET_S = 0.6; /* 1,000 generations a second; 1 percent of a minute */

typedef struct keeping {
    sf_run_meta meta;
    char live[PATH_SIZE], whole[PATH_SIZE];
    sf_live_file *file;
    double append_s, save_s;
    int n_appends;
} keeping;

static int on_block(void *context, const sf_record *record, uint64_t evaluated, sf_search_wish *wish, sf_error *err)
{
    keeping *k = context;
    (void)evaluated;
    (void)wish;
    double start = sf_bench_now();
    int code = k->file ? sf_live_file_append(k->file, record, err)
                       : sf_live_file_create(&k->file, k->live, record, &k->meta, err);
    if (record->generation > 0) { /* the first is the making of the file */
        k->append_s += sf_bench_now() - start;
        k->n_appends++;
    }
    for (int i = 0; !code && record->generation == GENERATIONS && i < SAVES; i++) {
        start = sf_bench_now();
        code = sf_run_file_write(k->whole, record, &k->meta, err);
        double s = sf_bench_now() - start;
        k->save_s = i == 0 || s < k->save_s ? s : k->save_s;
    }
    return code;
}

static int search(keeping *k, sf_error *err)
{
    const sf_comm alone = {.size = 1};
    const sf_search_options options = {.n_threads = 1, .block_generations = 1};
    const sf_search_hooks hooks = {.context = k, .block = on_block};
    sf_engine_options engine;
    sf_search_config config;
    sf_problem problem;
    sf_puzzle puzzle = {0};
    sf_record record = {0};
    sf_search_config_init(&config);
    config.islands = ISLANDS;
    config.generations = GENERATIONS;
    sf_engine_options_init(&engine);
    int code = sf_problem_init(&problem, sf_lattice_find("square"), sf_score_model_find("hp"), LENGTH, err);
    if (code)
        return code;
    k->meta = (sf_run_meta){.state = "running", .lattice = "square", .letters = "HP", .witness_size = LENGTH};
    code = sf_puzzle_open_chain(&puzzle, &problem, &engine, 1 << LENGTH, err);
    if (!code)
        code = sf_record_init(&record, &config, LENGTH, puzzle.n_scores, err);
    if (!code)
        code = sf_search_run(&alone, &puzzle, &config, &options, &record, &hooks, err);
    sf_record_free(&record);
    sf_puzzle_close(&puzzle);
    return code;
}

static int run(const sf_bench_options *options)
{
    char folder[] = "/tmp/starfold-bench-XXXXXX";
    keeping k = {.file = NULL};
    sf_error err = {0, ""};
    (void)options;
    if (!mkdtemp(folder))
        return SF_EIO;
    snprintf(k.live, sizeof k.live, "%s/live.h5", folder);
    snprintf(k.whole, sizeof k.whole, "%s/whole.h5", folder);
    int code = search(&k, &err);
    sf_live_file_close(k.file);
    unlink(k.live);
    unlink(k.whole);
    rmdir(folder);
    if (code) {
        fprintf(stderr, "starfold-bench: %s\n", err.text);
        return code;
    }
    sf_bench_title("a run kept safe, 64 islands, 2,000 generations", "the whole file written and synced each time");
    sf_bench_figure("live file, one generation", k.append_s / k.n_appends, k.save_s, LIVE_TARGET_S);
    sf_bench_figure("checkpoint (target: 1 percent of 60 s)", k.save_s, 0, SAVE_TARGET_S);
    return 0;
}

const sf_bench sf_bench_run_file = {"run-file", "what the live file and checkpoints cost", run, false};

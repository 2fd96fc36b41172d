/* `starfold info` of the file of an enumeration, or of its checkpoint. */
#include <stdio.h>

#include "app/app.h"
#include "app/info.h"
#include "app/json.h"
#include "io/enumeration_file.h"
#include "starfold/problem.h"

/* Parts that are counted. */
static size_t count_done(const sf_enumeration *e)
{
    size_t n = 0;
    for (size_t part = 0; e->unfinished && part < e->n_parts; part++)
        n += e->done[part / 8] >> (part % 8) & 1;
    return n;
}

/* Scores that conformations of a puzzle are known to have. */
static int count_scores(const sf_enumeration *e, size_t row)
{
    const uint64_t *histogram = e->histogram + row * (size_t)e->n_scores;
    int n = 0;
    for (int s = 0; s < e->n_scores; s++)
        n += histogram[s] != 0 && histogram[s] != SF_COUNT_UNKNOWN;
    return n;
}

/* The best fitness, and how many puzzles have it. */
static int find_best(const sf_enumeration *e, size_t *n_best)
{
    int best = 0;
    *n_best = 0;
    for (size_t row = 0; row < e->n; row++) {
        const int fitness = count_scores(e, row);
        if (fitness > best) {
            best = fitness;
            *n_best = 0;
        }
        *n_best += fitness == best;
    }
    return best;
}

static int print_json(const char *path, const sf_enumeration *e, sf_error *err)
{
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "file", path);
    cJSON_AddStringToObject(document, "kind", "enumeration");
    cJSON_AddStringToObject(document, "state", e->unfinished ? "checkpoint" : "finished");
    sf_json_add_integer(document, "length", e->length);
    cJSON_AddStringToObject(document, "lattice", e->lattice);
    cJSON_AddStringToObject(document, "score_model", e->score_model);
    sf_json_add_count(document, "asked", e->n_asked);
    sf_json_add_count(document, "sequences", e->n);
    if (e->unfinished) {
        cJSON_AddStringToObject(document, "engine", e->engine);
        sf_json_add_count(document, "parts", e->n_parts);
        sf_json_add_count(document, "parts_done", count_done(e));
    } else {
        size_t n_best;
        sf_json_add_integer(document, "best_fitness", find_best(e, &n_best));
        sf_json_add_count(document, "sequences_at_best", n_best);
    }
    return sf_json_print(document, err);
}

static void print_text(const char *path, const sf_enumeration *e)
{
    char text[32], other[32];
    printf("%s\n", path);
    printf("  enumeration    of %d residues, %s lattice, score model %s\n", e->length, e->lattice, e->score_model);
    printf("  sequences      %s asked for, %s of them distinct puzzles\n", sf_count_text(e->n_asked, text),
           sf_count_text(e->n, other));
    if (e->unfinished) {
        printf("  state          a checkpoint; go on with the command that wrote it\n");
        printf("  parts          %s of %s counted, by engine %s\n", sf_count_text(count_done(e), text),
               sf_count_text(e->n_parts, other), e->engine);
        return;
    }
    size_t n_best;
    const int best = find_best(e, &n_best);
    printf("  state          finished\n");
    printf("  holds          %s\n", e->proven ? "scores that are reached, counts of the highest" : "whole histograms");
    printf("  best fitness   %d distinct scores, %s sequences\n", best, sf_count_text(n_best, text));
}

int sf_enumeration_info(const char *path, bool json, sf_error *err)
{
    sf_enumeration e;
    int code = sf_enumeration_read(path, &e, err);
    if (!code && json)
        code = print_json(path, &e, err);
    else if (!code)
        print_text(path, &e);
    sf_enumeration_free(&e);
    return code;
}

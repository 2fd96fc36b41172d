/* starfold levels: the best levels of a run, with stars and an example solution for each. */
#include <inttypes.h>

#include "app/best_levels.h"
#include "app/json.h"
#include "app/run_view.h"

typedef struct level_list {
    sf_problem problem;
    const sf_known *known;
    sf_level *level;
    size_t n;
} level_list;

static const uint64_t *histogram_of(const level_list *list, size_t row)
{
    return list->known->histogram + row * (size_t)list->known->n_scores;
}

/* Score of a star's example, by the plain scorer. */
static int example_score(const level_list *list, const sf_level *level, int star, int *score, sf_error *err)
{
    const uint8_t *genome = list->known->genome + level->row * (size_t)list->known->length;
    return sf_walk_score(&list->problem, genome, level->solution[star], score, err);
}

static void level_text(const level_list *list, size_t row, char *text)
{
    sf_sequence_write(&list->problem, list->known->genome + row * (size_t)list->known->length, text);
}

static int print_text(const level_list *list, sf_error *err)
{
    static const char *const names[] = {"*", "**", "***"};
    char text[SF_LENGTH_MAX + 1], count[32];
    for (size_t i = 0; i < list->n; i++) {
        const sf_level *level = &list->level[i];
        level_text(list, level->row, text);
        printf("%s%3zu. %s   fitness %d, best score %d\n", i ? "\n" : "", i + 1, text, list->known->fitness[level->row],
               list->known->best_score[level->row]);
        if (!level->has_stars)
            printf("     no stars (the best score is below 3)\n");
        for (int star = 0; level->has_stars && star < 3; star++) {
            int score, code = example_score(list, level, star, &score, err);
            if (code)
                return code;
            uint64_t n = histogram_of(list, level->row)[score - list->problem.min_score];
            printf("     %-3s from %2d   %s   score %d, one of %s\n", names[star], level->stars[star],
                   level->solution[star], score, n >= SF_COUNT_UNKNOWN ? "many" : sf_count_text(n, count));
        }
    }
    return 0;
}

static int add_level(cJSON *levels, const level_list *list, size_t i, sf_error *err)
{
    const sf_level *level = &list->level[i];
    char text[SF_LENGTH_MAX + 1];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(levels, object);
    level_text(list, level->row, text);
    cJSON_AddStringToObject(object, "sequence", text);
    cJSON_AddStringToObject(object, "lattice", list->problem.lattice->name);
    sf_json_add_integer(object, "length", list->problem.length);
    sf_json_add_integer(object, "distinct_scores", list->known->fitness[level->row]);
    sf_json_add_integer(object, "max_score", list->known->best_score[level->row]);
    sf_json_add_integer(object, "min_score", list->problem.min_score);
    size_t n_entries = (size_t)list->known->n_scores;
    while (n_entries > 1 && histogram_of(list, level->row)[n_entries - 1] == 0)
        n_entries--;
    sf_json_add_counts(object, "histogram", n_entries, histogram_of(list, level->row));
    cJSON *stars = cJSON_AddArrayToObject(object, "stars");
    for (int star = 0; star < 3; star++)
        cJSON_AddItemToArray(stars, level->has_stars ? sf_json_integer(level->stars[star]) : cJSON_CreateNull());
    cJSON *solutions = cJSON_AddArrayToObject(object, "solutions");
    for (int star = 0; level->has_stars && star < 3; star++) {
        int score, code = example_score(list, level, star, &score, err);
        if (code)
            return code;
        cJSON *solution = cJSON_CreateObject();
        sf_json_add_integer(solution, "stars", star + 1);
        sf_json_add_integer(solution, "score", score);
        cJSON_AddStringToObject(solution, "walk", level->solution[star]);
        cJSON_AddItemToArray(solutions, solution);
    }
    return 0;
}

static int print_json(const level_list *list, sf_error *err)
{
    cJSON *document = cJSON_CreateObject();
    cJSON *levels = cJSON_AddArrayToObject(document, "levels");
    int code = 0;
    for (size_t i = 0; !code && i < list->n; i++)
        code = add_level(levels, list, i, err);
    if (code) {
        cJSON_Delete(document);
        return code;
    }
    return sf_json_print(document, err);
}

static int levels(sf_app *app, sf_error *err)
{
    sf_run_view view;
    level_list list = {.level = NULL};
    if (!sf_app_speaks(app))
        return 0;
    int code = sf_run_view_open(&view, app->options.words[0], err);
    if (!code)
        code = sf_run_view_problem(&view, &list.problem, err);
    if (!code) {
        list.known = &view.data.record.known;
        code =
            sf_best_levels(&list.problem, list.known, (size_t)app->options.settings.count, &list.level, &list.n, err);
    }
    if (!code)
        code = app->options.settings.format ? print_json(&list, err) : print_text(&list, err);
    sf_best_levels_free(list.level, list.n);
    sf_run_view_close(&view);
    return code;
}

static const sf_option_group *const groups[] = {&sf_group_levels, &sf_group_common, NULL};

const sf_command sf_command_levels = {
    .name = "levels",
    .words = "RUN.h5",
    .summary = "the best levels of a run, with stars and example solutions",
    .text =
        "Lists the best sequences of a run as levels: most distinct scores first, then the highest best score, then by "
        "letters, each with its stars and an example solution for every star.",
    .min_words = 1,
    .max_words = 1,
    .groups = groups,
    .run = levels,
};

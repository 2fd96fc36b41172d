/* Sequences: the first byte chooses lattice and score model and whether the rest are words of a command line or a file. What
 * is read must be grouped by length, canonical, each puzzle once, and point where it should. */
#include <stdlib.h>
#include <string.h>

#include "app/sequences.h"
#include "fuzz_app.h"

static void check_list(const sf_sequence_list *list)
{
    uint8_t elements[SF_LENGTH_MAX], canonical[SF_LENGTH_MAX];
    FUZZ_REQUIRE(list->n > 0 && list->n_groups > 0);
    for (size_t i = 0; i < list->n; i++) {
        const sf_sequence_asked *asked = &list->asked[i];
        FUZZ_REQUIRE(asked->group < list->n_groups);
        const sf_sequence_group *group = &list->group[asked->group];
        const size_t length = (size_t)group->problem.length;
        FUZZ_REQUIRE(asked->row < group->n && strlen(asked->text) == length);
        FUZZ_REQUIRE(sf_sequence_parse(&group->problem, asked->text, elements, NULL) == 0);
        sf_sequence_canonical((int)length, elements, canonical);
        FUZZ_REQUIRE(memcmp(canonical, group->elements + asked->row * length, length) == 0);
    }
    for (size_t g = 0; g < list->n_groups; g++) {
        const sf_sequence_group *group = &list->group[g];
        const size_t length = (size_t)group->problem.length;
        for (size_t i = 1; i < group->n; i++)
            FUZZ_REQUIRE(memcmp(group->elements + (i - 1) * length, group->elements + i * length, length) < 0);
    }
}

/* Lines as words, in place. */
static int split(char *text, char **words)
{
    int n = 0;
    for (char *at = text; *at && n < FUZZ_WORDS_MAX; n++) {
        words[n] = at;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = '\0';
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static sf_app app;
    sf_sequence_list list;
    sf_error err = {0};
    char *words[FUZZ_WORDS_MAX];
    const unsigned choice = n > 0 ? bytes[0] : 0;
    char *text = calloc(n + 1, 1);
    FUZZ_REQUIRE(text != NULL);
    if (n > 0)
        memcpy(text, bytes + 1, n - 1);
    app.comm = (sf_comm){.rank = 0, .size = 1};
    FUZZ_REQUIRE(sf_options_init(&app.options, &sf_command_enumerate, &err) == 0);
    app.options.settings.lattice = choice & 1;
    app.options.settings.score_model = *sf_score_model_find(choice & 2 ? "hpnx" : "hp");
    app.options.settings.length = choice & 8 ? choice >> 4 : 0;
    if (choice & 4) {
        strcpy(app.options.settings.file, fuzz_path("sequences"));
        fuzz_write(app.options.settings.file, n > 0 ? n - 1 : 0, text);
    } else {
        app.options.n_words = split(text, words);
        app.options.words = words;
    }
    int code = sf_sequence_list_read(&list, &app, &err);
    fuzz_check_error(code, &err);
    if (code == 0)
        check_list(&list);
    sf_sequence_list_free(&list);
    free(text);
    return 0;
}

/* Score models as text: the file a user writes, and the one line that is stored with a run. The text is hostile until
 * read: nothing is taken on trust, and every message says which line. */
#include "starfold/score_model.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_SIZE = 12, WORDS_MAX = SF_LETTERS_MAX + 1 };

/* What is left of a text. */
typedef struct reader {
    const char *source, *at, *end;
    int line; /* of the line last taken, from 1 */
} reader;

/* The words of the next line that has any; 0 at the end of the text. A word that is too long is cut (and so is wrong
 * as a weight); one word more than fits counts, so that a row that is too long is seen. */
static int next_words(reader *r, char words[WORDS_MAX + 1][WORD_SIZE])
{
    int n = 0;
    while (n == 0 && r->at < r->end) {
        r->line++;
        while (r->at < r->end && *r->at != '\n' && *r->at != '#') {
            if (isspace((unsigned char)*r->at)) {
                r->at++;
                continue;
            }
            size_t length = 0;
            for (; r->at < r->end && !isspace((unsigned char)*r->at) && *r->at != '#'; r->at++) {
                if (n <= WORDS_MAX && length < WORD_SIZE - 1)
                    words[n][length++] = *r->at;
            }
            if (n <= WORDS_MAX)
                words[n++][length] = '\0';
        }
        while (r->at < r->end && *r->at++ != '\n')
            ;
    }
    return n;
}

static int read_weight(const char *word, int *weight)
{
    char *end;
    errno = 0;
    long value = strtol(word, &end, 10);
    if (end == word || *end || errno || value < -SF_WEIGHT_MAX || value > SF_WEIGHT_MAX ||
        isspace((unsigned char)word[0]))
        return SF_EINPUT;
    *weight = (int)value;
    return 0;
}

static int add_letter(sf_score_model *model, char letter)
{
    if (letter < 'A' || letter > 'Z' || model->n_letters == SF_LETTERS_MAX || strchr(model->letter, letter))
        return SF_EINPUT;
    model->letter[model->n_letters++] = letter;
    model->letter[model->n_letters] = '\0';
    return 0;
}

/* A model is called what it is, however it was written. The name goes in once: equal models are equal bytes. */
static void name_model(sf_score_model *model)
{
    const char *found = "custom";
    for (const char *const *name = sf_score_model_names(); *name; name++) {
        const sf_score_model *known = sf_score_model_find(*name);
        if (model->n_letters == known->n_letters && strcmp(model->letter, known->letter) == 0 &&
            memcmp(model->weight, known->weight, sizeof model->weight) == 0)
            found = known->name;
    }
    snprintf(model->name, sizeof model->name, "%s", found);
}

static int read_alphabet(reader *r, sf_score_model *model, sf_error *err)
{
    char words[WORDS_MAX + 1][WORD_SIZE];
    int n = next_words(r, words);
    if (n < 2 || n > SF_LETTERS_MAX)
        return sf_fail(err, SF_EINPUT, "score model %.200s, line %d: an alphabet has 2 to %d letters", r->source, r->line,
                       SF_LETTERS_MAX);
    for (int i = 0; i < n; i++) {
        if (words[i][1] || add_letter(model, words[i][0]) != 0)
            return sf_fail(err, SF_EINPUT,
                           "score model %.200s, line %d: '%s' is no letter of A to Z, or names a letter twice", r->source,
                           r->line, words[i]);
    }
    return 0;
}

static int read_row(reader *r, sf_score_model *model, int i, sf_error *err)
{
    char words[WORDS_MAX + 1][WORD_SIZE];
    int n = next_words(r, words);
    if (n == 0)
        return sf_fail(err, SF_EINPUT, "score model %.200s: the row of letter %c is missing; it has one for each of %s",
                       r->source, model->letter[i], model->letter);
    if (words[0][0] != model->letter[i] || words[0][1])
        return sf_fail(err, SF_EINPUT, "score model %.200s, line %d: the row of letter %c is expected, not '%s'", r->source,
                       r->line, model->letter[i], words[0]);
    if (n != model->n_letters + 1)
        return sf_fail(err, SF_EINPUT, "score model %.200s, line %d: the row of letter %c has %d weights, %d are expected",
                       r->source, r->line, model->letter[i], n - 1, model->n_letters);
    for (int j = 0; j < model->n_letters; j++) {
        if (read_weight(words[j + 1], &model->weight[i][j]) != 0)
            return sf_fail(err, SF_EINPUT, "score model %.200s, line %d: '%s' is no integer of %d to %d", r->source,
                           r->line, words[j + 1], -SF_WEIGHT_MAX, SF_WEIGHT_MAX);
        if (j < i && model->weight[i][j] != model->weight[j][i])
            return sf_fail(err, SF_EINPUT,
                           "score model %.200s, line %d: the matrix is not symmetric: %c %c weighs %d, but %c %c %d",
                           r->source, r->line, model->letter[i], model->letter[j], model->weight[i][j],
                           model->letter[j], model->letter[i], model->weight[j][i]);
    }
    return 0;
}

int sf_score_model_parse(sf_score_model *model, const char *source, size_t n, const char *text, sf_error *err)
{
    char words[WORDS_MAX + 1][WORD_SIZE];
    reader r = {.source = source, .at = text, .end = text + n};
    memset(model, 0, sizeof *model);
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* the mark that some editors put before UTF-8 */
        r.at += 3;
    if (memchr(text, '\0', n))
        return sf_fail(err, SF_EINPUT, "score model %.200s has a zero byte, so it is no text", source);
    if (r.at == r.end)
        return sf_fail(err, SF_EINPUT, "score model %.200s is empty; an alphabet and a row for each letter are expected",
                       source);
    int code = read_alphabet(&r, model, err);
    for (int i = 0; !code && i < model->n_letters; i++)
        code = read_row(&r, model, i, err);
    if (!code && next_words(&r, words) > 0)
        code = sf_fail(err, SF_EINPUT, "score model %.200s, line %d: there are more rows than the %d letters", source, r.line,
                       model->n_letters);
    if (!code)
        name_model(model);
    return code;
}

int sf_score_model_read(sf_score_model *model, const char *path, sf_error *err)
{
    memset(model, 0, sizeof *model);
    FILE *file = fopen(path, "rb");
    if (!file)
        return sf_fail(err, SF_EINPUT, "score model %.200s cannot be read: %s", path, strerror(errno));
    char *text = malloc(SF_SCORE_MODEL_FILE_MAX + 1);
    int code = 0;
    if (!text) {
        code = sf_fail(err, SF_ENOMEM, "out of memory reading score model %.200s", path);
        goto out;
    }
    size_t n = fread(text, 1, SF_SCORE_MODEL_FILE_MAX + 1, file);
    if (ferror(file))
        code = sf_fail(err, SF_EINPUT, "score model %.200s cannot be read: %s", path, strerror(errno));
    else if (n > SF_SCORE_MODEL_FILE_MAX)
        code = sf_fail(err, SF_EINPUT, "score model %.200s is too long; at most %d bytes", path, SF_SCORE_MODEL_FILE_MAX);
    else
        code = sf_score_model_parse(model, path, n, text, err);
out:
    free(text);
    fclose(file);
    return code;
}

void sf_score_model_write(const sf_score_model *model, char *text)
{
    if (sf_score_model_find(model->name)) {
        snprintf(text, SF_SCORE_MODEL_TEXT_SIZE, "%s", model->name);
        return;
    }
    /* 20 letters, a colon and 210 weights of at most 4 characters with what parts them: it fits. */
    int at = snprintf(text, SF_SCORE_MODEL_TEXT_SIZE, "%s:", model->letter);
    for (int i = 0; i < model->n_letters; i++) {
        for (int j = i; j < model->n_letters; j++) {
            const char *mark = j + 1 < model->n_letters ? "," : i + 1 < model->n_letters ? ";" : "";
            at += snprintf(text + at, (size_t)(SF_SCORE_MODEL_TEXT_SIZE - at), "%d%s", model->weight[i][j], mark);
        }
    }
}

int sf_score_model_from_line(sf_score_model *model, const char *line, sf_error *err)
{
    const sf_score_model *known = sf_score_model_find(line);
    if (known) {
        *model = *known;
        return 0;
    }
    memset(model, 0, sizeof *model);
    const char *at = line;
    int code = 0;
    while (!code && *at && *at != ':')
        code = add_letter(model, *at++);
    if (code || *at != ':' || model->n_letters < 2)
        goto wrong;
    for (int i = 0; i < model->n_letters; i++) {
        for (int j = i; j < model->n_letters; j++) {
            char word[WORD_SIZE] = "";
            size_t n = strcspn(++at, ",;");
            char mark = j + 1 < model->n_letters ? ',' : i + 1 < model->n_letters ? ';' : '\0';
            if (n < sizeof word)
                memcpy(word, at, n);
            at += n;
            if (read_weight(word, &model->weight[i][j]) != 0 || *at != mark)
                goto wrong;
            model->weight[j][i] = model->weight[i][j];
        }
    }
    name_model(model);
    return 0;
wrong:
    return sf_fail(err, SF_EINPUT, "'%.80s' is no score model; a line reads as HP:1,0;0 (alphabet, upper triangle)", line);
}

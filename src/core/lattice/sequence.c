/* Sequences as text and as elements, and the score of one walk, from its definition. */
#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "starfold/problem.h"

enum { QUOTE_SIZE = 16 };

/* A letter as an error line may show it: 'x', or byte 0xNN when it does not print. */
static const char *quote(char c, char text[QUOTE_SIZE])
{
    unsigned char byte = (unsigned char)c;
    if (byte >= 0x20 && byte < 0x7f)
        snprintf(text, QUOTE_SIZE, "'%c'", c);
    else
        snprintf(text, QUOTE_SIZE, "byte 0x%02x", byte);
    return text;
}

/* Element that a letter stands for, or -1. A model may tell cases apart, so the letter as it is goes first. */
static int element_of(const sf_score_model *model, char c)
{
    const char other = (char)(islower((unsigned char)c) ? toupper((unsigned char)c) : tolower((unsigned char)c));
    for (int i = 0; i < model->n_letters; i++) {
        if (model->letter[i] == c)
            return i;
    }
    for (int i = 0; i < model->n_letters; i++) {
        if (model->letter[i] == other)
            return i;
    }
    return -1;
}

int sf_sequence_parse(const sf_problem *problem, const char *text, uint8_t *elements, sf_error *err)
{
    const sf_score_model *model = problem->model;
    size_t n = strlen(text);
    for (size_t i = 0; i < n && i < (size_t)problem->length; i++) {
        int element = element_of(model, text[i]);
        char shown[QUOTE_SIZE];
        if (element < 0)
            return sf_fail(err, SF_EINPUT, "letter %zu of the sequence is %s; score model %s allows the letters %s",
                           i + 1, quote(text[i], shown), model->name, model->letter);
        elements[i] = (uint8_t)element;
    }
    if (n == 0)
        return sf_fail(err, SF_EINPUT, "the sequence is empty; give %d letters of %s", problem->length, model->letter);
    if (n != (size_t)problem->length)
        return sf_fail(err, SF_EINPUT, "the sequence has %zu letters; length %d is asked for", n, problem->length);
    return SF_OK;
}

void sf_sequence_write(const sf_problem *problem, const uint8_t *elements, char *text)
{
    for (int i = 0; i < problem->length; i++)
        text[i] = problem->model->letter[elements[i]];
    text[problem->length] = '\0';
}

void sf_sequence_canonical(int length, const uint8_t *elements, uint8_t *canonical)
{
    bool reverse = false;
    for (int i = 0; i < length; i++) {
        int difference = (int)elements[length - 1 - i] - (int)elements[i];
        if (difference != 0) {
            reverse = difference < 0;
            break;
        }
    }
    assert(canonical + length <= elements || elements + length <= canonical);
    for (int i = 0; i < length; i++)
        canonical[i] = elements[reverse ? length - 1 - i : i];
}

/* Sites of the residues, the first at the origin. */
static int walk_sites(const sf_problem *problem, const char *walk, int site[][3], sf_error *err)
{
    const sf_lattice *lattice = problem->lattice;
    memset(site[0], 0, sizeof site[0]);
    for (int i = 0; i + 1 < problem->length; i++) {
        const char *letter = memchr(lattice->letter, walk[i], (size_t)lattice->n_steps);
        char shown[QUOTE_SIZE];
        if (walk[i] == '\0' || !letter)
            return sf_fail(err, SF_EINPUT, "step %d of the walk is %s; %d letters of %.*s are needed", i + 1,
                           walk[i] == '\0' ? "missing" : quote(walk[i], shown), problem->length - 1, lattice->n_steps,
                           lattice->letter);
        for (int axis = 0; axis < 3; axis++)
            site[i + 1][axis] = site[i][axis] + lattice->step[letter - lattice->letter][axis];
    }
    if (walk[problem->length - 1] != '\0')
        return sf_fail(err, SF_EINPUT, "the walk has %zu steps; a chain of %d residues has %d", strlen(walk),
                       problem->length, problem->length - 1);
    return SF_OK;
}

static int distance(const int a[3], const int b[3])
{
    int sum = 0;
    for (int axis = 0; axis < 3; axis++)
        sum += a[axis] > b[axis] ? a[axis] - b[axis] : b[axis] - a[axis];
    return sum;
}

int sf_walk_score(const sf_problem *problem, const uint8_t *elements, const char *walk, int *score, sf_error *err)
{
    int site[SF_LENGTH_MAX][3];
    int status = walk_sites(problem, walk, site, err);
    if (status != SF_OK)
        return status;
    int sum = 0;
    for (int i = 0; i < problem->length; i++) {
        for (int j = 0; j < i; j++) {
            int d = distance(site[i], site[j]);
            if (d == 0)
                return sf_fail(err, SF_EINPUT, "the walk meets itself: residues %d and %d share a site", j + 1, i + 1);
            if (d == 1 && j < i - 1)
                sum += problem->model->weight[elements[i]][elements[j]];
        }
    }
    *score = sum;
    return SF_OK;
}

/* Words or lines become groups of distinct puzzles. The table of a length is worth opening once for all its sequences,
 * and an answer once for all that fold alike, hence groups by length and one row for a chain and its reverse. */
#include "app/sequences.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 1 << 30 };

/* ---- the text: words, or lines of a file, one after the other with '\0' between them ---- */

typedef struct text_list {
    char *bytes;
    size_t n_bytes, n;
} text_list;

static int read_words(const sf_options *options, text_list *text, sf_error *err)
{
    size_t size = 1;
    for (int i = 0; i < options->n_words; i++)
        size += strlen(options->words[i]) + 1;
    text->bytes = malloc(size);
    if (!text->bytes)
        return sf_fail(err, SF_ENOMEM, "out of memory for the sequences");
    for (int i = 0; i < options->n_words; i++) {
        size_t n = strlen(options->words[i]) + 1;
        memcpy(text->bytes + text->n_bytes, options->words[i], n);
        text->n_bytes += n;
    }
    text->n = (size_t)options->n_words;
    return 0;
}

/* As messages name it. */
static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* The whole file; *bytes gets one byte more than n_bytes. */
static int read_bytes(const char *path, text_list *text, sf_error *err)
{
    struct stat about;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    path = name_of(path);
    if (!file)
        return sf_fail(err, SF_EINPUT, "cannot read the sequences '%.300s': %s", path, strerror(errno));
    int code = 0;
    size_t capacity = 0;
    if (fstat(fileno(file), &about) == 0 && S_ISDIR(about.st_mode))
        code = sf_fail(err, SF_EINPUT, "'%.300s' is a folder; give a file with one sequence a line", path);
    while (!code && !feof(file)) {
        if (text->n_bytes + 1 >= capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            bool large = capacity > FILE_BYTES_MAX;
            char *more = large ? NULL : realloc(text->bytes, capacity);
            if (large)
                code = sf_fail(err, SF_ELIMIT, "'%.300s' is too large; at most %d MiB of sequences", path,
                               FILE_BYTES_MAX / 2 >> 20);
            else if (!more)
                code = sf_fail(err, SF_ENOMEM, "out of memory for the sequences of '%.300s'", path);
            if (!more)
                break;
            text->bytes = more;
        }
        text->n_bytes += fread(text->bytes + text->n_bytes, 1, capacity - 1 - text->n_bytes, file);
        if (ferror(file))
            code = sf_fail(err, SF_EINPUT, "cannot read the sequences '%.300s': %s", path, strerror(errno));
    }
    if (file != stdin)
        fclose(file);
    return code;
}

/* Rank 0 reads, all get the bytes: a file that differs between nodes cannot set the ranks apart. */
static int read_file(const sf_app *app, const char *path, text_list *text, sf_error *err)
{
    int code = sf_app_speaks(app) ? read_bytes(path, text, err) : 0;
    code = sf_comm_agree(&app->comm, code, err);
    if (!code)
        code = sf_comm_broadcast(&app->comm, sizeof text->n_bytes, &text->n_bytes, err);
    if (code)
        return code;
    if (!sf_app_speaks(app))
        text->bytes = malloc(text->n_bytes + 1);
    code = text->bytes ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %zu bytes of sequences", text->n_bytes);
    code = sf_comm_agree(&app->comm, code, err);
    return code ? code : sf_comm_broadcast(&app->comm, text->n_bytes, text->bytes, err);
}

/* Ends each line with '\0' and cuts spaces from both its ends. An empty line is refused: it is more often a damaged file than
 * a wish. So are headers, as FASTA has them: the sequences there go over several lines. */
static int split_lines(const char *path, text_list *text, sf_error *err)
{
    if (memchr(text->bytes, '\0', text->n_bytes))
        return sf_fail(err, SF_EINPUT, "'%.300s' is not a text file; give one sequence a line", path);
    if (text->n_bytes > 0 && text->bytes[text->n_bytes - 1] != '\n')
        text->bytes[text->n_bytes++] = '\n';
    size_t at = 0;
    for (size_t start = 0; start < text->n_bytes; text->n++) {
        size_t end = (size_t)((char *)memchr(text->bytes + start, '\n', text->n_bytes - start) - text->bytes);
        while (start < end && isspace((unsigned char)text->bytes[start]))
            start++;
        size_t n = end - start;
        while (n > 0 && isspace((unsigned char)text->bytes[start + n - 1]))
            n--;
        if (n == 0)
            return sf_fail(err, SF_EINPUT, "%.300s line %zu is empty; give one sequence a line", path, text->n + 1);
        if (strchr(">;#", text->bytes[start]))
            return sf_fail(err, SF_EINPUT,
                           "%.300s line %zu begins with '%c'; give one sequence a line, without headers or remarks",
                           path, text->n + 1, text->bytes[start]);
        memmove(text->bytes + at, text->bytes + start, n);
        text->bytes[at + n] = '\0';
        at += n + 1;
        start = end + 1;
    }
    text->n_bytes = at;
    if (text->n == 0)
        return sf_fail(err, SF_EINPUT, "'%.300s' holds no sequence; give one a line", path);
    return 0;
}

/* ---- grouping ---- */

/* The group of that length, made when it is new. */
static int find_group(sf_sequence_list *list, const sf_app *app, int length, size_t *idx, sf_error *err)
{
    for (*idx = 0; *idx < list->n_groups; (*idx)++) {
        if (list->group[*idx].problem.length == length)
            return 0;
    }
    sf_sequence_group *more = realloc(list->group, (list->n_groups + 1) * sizeof *more);
    if (!more)
        return sf_fail(err, SF_ENOMEM, "out of memory for the sequences");
    list->group = more;
    memset(&more[list->n_groups], 0, sizeof *more);
    int code = sf_app_problem(app, length, &more[list->n_groups].problem, err);
    if (!code)
        list->n_groups++;
    return code;
}

/* Names the word or the line in front of what is wrong with it. */
static int name_place(const sf_app *app, size_t number, const char *text, sf_error *err)
{
    char line[SF_ERROR_TEXT_SIZE];
    snprintf(line, sizeof line, "%s", err->text);
    if (app->options.settings.file[0])
        return sf_fail(err, err->code, "%.200s line %zu: %s", name_of(app->options.settings.file), number, line);
    return sf_fail(err, err->code, "sequence %zu ('%.*s%s'): %s", number, 70, text, strlen(text) > 70 ? "..." : "",
                   line);
}

/* Checks the length of one sequence and finds its group. */
static int place_sequence(sf_sequence_list *list, const sf_app *app, size_t number, const char *text, sf_error *err)
{
    sf_sequence_asked *asked = &list->asked[number];
    size_t length = strlen(text);
    int code = 0;
    asked->text = text;
    if (length < SF_LENGTH_MIN || length > SF_LENGTH_MAX)
        code = sf_fail(err, SF_EINPUT, "it has %zu residues; allowed are %d to %d%s", length, SF_LENGTH_MIN, SF_LENGTH_MAX,
                       length > SF_LENGTH_MAX ? SF_LENGTH_WHY : "");
    if (!code && app->options.settings.length && length != (size_t)app->options.settings.length)
        code = sf_fail(err, SF_EINPUT, "it has %zu residues but --length is %d", length,
                       (int)app->options.settings.length);
    if (!code && app->options.settings.file[0] && number > 0 && length != strlen(list->asked[0].text))
        code = sf_fail(err, SF_EINPUT, "it has %zu residues but the first line has %zu; a file holds one length",
                       length, strlen(list->asked[0].text));
    if (!code)
        code = find_group(list, app, (int)length, &asked->group, err);
    if (!code)
        asked->row = list->group[asked->group].n++;
    return code ? name_place(app, number + 1, text, err) : 0;
}

static __thread size_t compare_length; /* qsort has no context */

static int compare_elements(const void *a, const void *b)
{
    return memcmp(*(uint8_t *const *)a, *(uint8_t *const *)b, compare_length);
}

/* Keeps one of equal puzzles in each group, and points asked[].row there. */
static int drop_copies(sf_sequence_list *list, size_t idx, sf_error *err)
{
    sf_sequence_group *group = &list->group[idx];
    size_t length = (size_t)group->problem.length, n_distinct = 0;
    uint8_t **order = malloc(group->n * sizeof *order), *distinct = malloc(group->n * length);
    size_t *row = malloc(group->n * sizeof *row);
    int code = order && distinct && row ? 0 : sf_fail(err, SF_ENOMEM, "out of memory for %zu sequences", group->n);
    if (code)
        goto out;
    for (size_t i = 0; i < group->n; i++)
        order[i] = group->elements + i * length;
    compare_length = length;
    qsort(order, group->n, sizeof *order, compare_elements);
    for (size_t i = 0; i < group->n; i++) {
        if (i == 0 || memcmp(order[i], order[i - 1], length) != 0)
            memcpy(distinct + length * n_distinct++, order[i], length);
        row[(size_t)(order[i] - group->elements) / length] = n_distinct - 1;
    }
    for (size_t i = 0; i < list->n; i++) {
        if (list->asked[i].group == idx)
            list->asked[i].row = row[list->asked[i].row];
    }
    free(group->elements);
    group->elements = distinct;
    group->n = n_distinct;
    distinct = NULL;
out:
    free(order);
    free(distinct);
    free(row);
    return code;
}

static int fill_groups(sf_sequence_list *list, const sf_app *app, sf_error *err)
{
    uint8_t elements[SF_LENGTH_MAX];
    for (size_t g = 0; g < list->n_groups; g++) {
        list->group[g].elements = malloc(list->group[g].n * (size_t)list->group[g].problem.length);
        if (!list->group[g].elements)
            return sf_fail(err, SF_ENOMEM, "out of memory for %zu sequences", list->group[g].n);
    }
    for (size_t i = 0; i < list->n; i++) {
        sf_sequence_group *group = &list->group[list->asked[i].group];
        size_t length = (size_t)group->problem.length;
        int code = sf_sequence_parse(&group->problem, list->asked[i].text, elements, err);
        if (code)
            return name_place(app, i + 1, list->asked[i].text, err);
        sf_sequence_canonical((int)length, elements, group->elements + list->asked[i].row * length);
    }
    for (size_t g = 0; g < list->n_groups; g++) {
        int code = drop_copies(list, g, err);
        sf_sequence_group *group = &list->group[g];
        if (!code)
            group->histogram = calloc(group->n * (size_t)group->problem.n_scores, sizeof *group->histogram);
        if (!code && !group->histogram)
            code = sf_fail(err, SF_ENOMEM, "out of memory for %zu histograms", group->n);
        if (code)
            return code;
    }
    return 0;
}

static int place_all(sf_sequence_list *list, const sf_app *app, text_list *text, sf_error *err)
{
    const char *file = app->options.settings.file;
    int code = file[0] ? split_lines(name_of(file), text, err) : 0;
    if (code)
        return code;
    for (size_t i = 0; i < text->n_bytes; i++)
        text->bytes[i] = (char)toupper((unsigned char)text->bytes[i]);
    list->n = text->n;
    list->asked = calloc(list->n, sizeof *list->asked);
    if (!list->asked)
        return sf_fail(err, SF_ENOMEM, "out of memory for %zu sequences", list->n);
    const char *at = text->bytes;
    for (size_t i = 0; !code && i < list->n; i++, at += strlen(at) + 1)
        code = place_sequence(list, app, i, at, err);
    return code ? code : fill_groups(list, app, err);
}

int sf_sequence_list_read(sf_sequence_list *list, const sf_app *app, sf_error *err)
{
    const char *file = app->options.settings.file;
    text_list text = {NULL, 0, 0};
    int code;
    memset(list, 0, sizeof *list);
    if (file[0] && app->options.n_words > 0)
        return sf_fail(err, SF_EINPUT, "give sequences or --file, not both");
    if (!file[0] && app->options.n_words == 0)
        return sf_fail(err, SF_EINPUT, "give one or more sequences, or --file FILE");
    code = file[0] ? read_file(app, file, &text, err) : read_words(&app->options, &text, err);
    list->text = text.bytes;
    if (!code)
        code = place_all(list, app, &text, err);
    return sf_comm_agree(&app->comm, code, err);
}

void sf_sequence_list_free(sf_sequence_list *list)
{
    for (size_t g = 0; g < list->n_groups; g++) {
        free(list->group[g].elements);
        free(list->group[g].histogram);
    }
    free(list->group);
    free(list->asked);
    free(list->text);
    memset(list, 0, sizeof *list);
}

/* The list of the run file's datasets. Obvious would be a write and a read function a dataset; they drift apart. Here a
 * field says where its value lives (`at`), and one writer and one reader do the rest. The model is SWIFT's list of
 * output fields. */
#include "io/schema.h"

#include <string.h>

static void *at_view(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)i;
    return (char *)v + f->offset;
}

static void *put_i32(sf_view *v, int64_t value)
{
    v->scratch_i32 = (int32_t)value;
    return &v->scratch_i32;
}

static void *put_i64(sf_view *v, int64_t value)
{
    v->scratch_i64 = value;
    return &v->scratch_i64;
}

static void *at_index(sf_view *v, const sf_field *f, const size_t *i)
{
    return put_i64(v, (int64_t)(i[0] + f->offset));
}

static void *at_score(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    return put_i64(v, v->min_score + (int64_t)i[0]);
}

static sf_generation_stats *stats_at(const sf_view *v, const size_t *i)
{
    size_t row = i[0] * ((size_t)v->config.generations + 1) + i[1];
    return &v->record->stats[row * (size_t)v->config.islands + i[2]];
}

static void *at_stats(sf_view *v, const sf_field *f, const size_t *i)
{
    return (char *)stats_at(v, i) + f->offset;
}

static void *at_best_known(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    const sf_generation_stats *s = stats_at(v, i);
    return put_i32(v, s->best == v->best_fitness ? s->n_at_best : 0);
}

static size_t sequence_row(const sf_view *v, size_t i)
{
    return v->sequence_order ? v->sequence_order[i] : i;
}

static void *at_sequence(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    size_t length = (size_t)v->length;
    return v->incoming ? v->incoming + i[0] * length : v->record->known.genome + sequence_row(v, i[0]) * length;
}

static void *at_histogram(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    return &v->record->known.histogram[sequence_row(v, i[0]) * (size_t)v->n_scores + i[1]];
}

static void *at_fitness(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    return &v->record->known.fitness[sequence_row(v, i[0])];
}

static void *at_best_score(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    return &v->record->known.best_score[sequence_row(v, i[0])];
}

static void *at_exact(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    return &v->record->known.exact[sequence_row(v, i[0])];
}

static void *at_first(sf_view *v, const sf_field *f, const size_t *i)
{
    return (char *)&v->record->known.first[sequence_row(v, i[0])] + f->offset;
}

static void *at_last_population(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    size_t row = (i[0] * (size_t)v->config.islands + i[1]) * (size_t)v->config.population + i[2];
    return v->record->population + row * (size_t)v->length;
}

static void *at_population(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    size_t row = i[0] * ((size_t)v->config.generations + 1) + i[1];
    row = (row * (size_t)v->config.islands + i[2]) * (size_t)v->config.population + i[3];
    return v->record->populations + row * (size_t)v->length;
}

static size_t migrant_row(const sf_view *v, size_t i)
{
    return v->migrant_order ? v->migrant_order[i] : i;
}

static void *at_migrant(sf_view *v, const sf_field *f, const size_t *i)
{
    return (char *)&v->record->migrant[migrant_row(v, i[0])] + f->offset;
}

static void *at_migrant_letters(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    return v->record->migrant_genome + migrant_row(v, i[0]) * (size_t)v->length;
}

static void *at_level_row(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    return &v->level_row[i[0]];
}

/* What a level repeats of its sequence: `offset` picks the function of the sequence. */
static void *at_level_sequence(sf_view *v, const sf_field *f, const size_t *i)
{
    size_t row = (size_t)v->level_row[i[0]];
    switch (f->offset) {
    case 0:
        return at_sequence(v, f, &row);
    case 1:
        return at_fitness(v, f, &row);
    default:
        return at_best_score(v, f, &row);
    }
}

static void *at_star(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    return &v->level_star[i[0] * 3 + i[1]];
}

static void *at_solution(sf_view *v, const sf_field *f, const size_t *i)
{
    (void)f;
    return v->level_solution + (i[0] * 3 + i[1]) * (size_t)v->witness_size;
}

const char *const sf_groups[] = {"/provenance", "/config",     "/search",    "/progress", "/dimensions", "/trajectory",
                                 "/sequences",  "/population", "/migration", "/levels",   NULL};

#define IN_VIEW(member)    .at = at_view, .offset = offsetof(sf_view, member)
#define IN_STATS(member)   .at = at_stats, .offset = offsetof(sf_generation_stats, member)
#define IN_PLACE(member)   .at = at_first, .offset = offsetof(sf_place, member)
#define IN_MIGRANT(member) .at = at_migrant, .offset = offsetof(sf_migrant, member)
#define TEXT_IN_VIEW(member)                                                                                           \
    .type = SF_TYPE_TEXT, .capacity = sizeof((sf_view *)0)->member, .at = at_view, .offset = offsetof(sf_view, member)
#define AXES(n, ...) .rank = (n), .axis = {__VA_ARGS__}
#define ISLANDS      AXES(3, SF_AXIS_TRIAL, SF_AXIS_GENERATION, SF_AXIS_ISLAND)
#define SEQUENCES    AXES(1, SF_AXIS_SEQUENCE)
#define MIGRANTS     AXES(1, SF_AXIS_MIGRANT)
#define LEVELS       AXES(1, SF_AXIS_LEVEL), .flags = SF_FIELD_WHOLE
#define SCALE(name_) AXES(1, name_), .type = SF_TYPE_I64, .flags = SF_FIELD_SCALE | SF_FIELD_DERIVED, .at = at_index

const sf_field sf_fields[] = {
    {"/provenance/program", TEXT_IN_VIEW(program), .units = "", .description = "the program that wrote the file"},
    {"/provenance/version", TEXT_IN_VIEW(version), .units = "", .description = "its version"},
    {"/provenance/revision", TEXT_IN_VIEW(revision), .units = "", .description = "git revision it was built from"},
    {"/provenance/schema", SF_TYPE_I32, IN_VIEW(schema), .units = "", .description = "version of this file's schema"},

    {"/search/lattice", TEXT_IN_VIEW(lattice), .units = "", .description = "lattice the chain lies on"},
    {"/search/letters", TEXT_IN_VIEW(letters), .units = "",
     .description = "the alphabet; letter i is how element i of a sequence is written"},
    {"/search/length", SF_TYPE_I32, IN_VIEW(length), .units = "residue", .description = "residues of a sequence"},
    {"/search/n_scores", SF_TYPE_I32, IN_VIEW(n_scores), .units = "score", .description = "width of a histogram"},
    {"/search/min_score", SF_TYPE_I32, IN_VIEW(min_score), .units = "score",
     .description = "score that the first entry of a histogram counts"},
    {"/search/witness_size", SF_TYPE_I32, IN_VIEW(witness_size), .units = "character",
     .description = "room that an example solution takes, with a closing zero"},
    {"/search/seed", SF_TYPE_U64, IN_VIEW(config.seed), .units = "", .description = "seed of all random numbers"},
    {"/search/population", SF_TYPE_I32, IN_VIEW(config.population), .units = "individual",
     .description = "individuals of an island"},
    {"/search/generations", SF_TYPE_I64, IN_VIEW(config.generations), .units = "generation",
     .description = "the last generation the run was asked for; generation 0 is the initial population"},
    {"/search/trials", SF_TYPE_I32, IN_VIEW(config.trials), .units = "trial",
     .description = "independent runs of the whole archipelago"},
    {"/search/islands", SF_TYPE_I32, IN_VIEW(config.islands), .units = "island", .description = "islands of a trial"},
    {"/search/elites", SF_TYPE_I32, IN_VIEW(config.elites), .units = "individual",
     .description = "individuals carried over unchanged"},
    {"/search/mutation_rate", SF_TYPE_U64, IN_VIEW(config.mutation_rate), .units = "1e-9",
     .description = "probability that an element is mutated, in parts per thousand million"},
    {"/search/migration_interval", SF_TYPE_I64, IN_VIEW(config.migration_interval), .units = "generation",
     .description = "generations from one migration epoch to the next; 0: no migration"},
    {"/search/migration_delay", SF_TYPE_I64, IN_VIEW(config.migration_delay), .units = "epoch",
     .description = "epochs from sending a migrant to taking it in"},
    {"/search/migrants", SF_TYPE_I32, IN_VIEW(config.migrants), .units = "individual",
     .description = "migrants that an island sends at an epoch"},
    {"/search/selection", SF_TYPE_I32, IN_VIEW(config.selection), .units = "",
     .description = "how parents are drawn; 0: in proportion to fitness"},
    {"/search/crossover", SF_TYPE_I32, IN_VIEW(config.crossover), .units = "",
     .description = "how parents are crossed; 0: at one point"},
    {"/search/survival", SF_TYPE_I32, IN_VIEW(config.survival), .units = "",
     .description = "who survives; 0: the elites, then children in place of all others"},
    {"/search/fitness", SF_TYPE_I32, IN_VIEW(config.fitness), .units = "",
     .description = "what the search maximises; 0: the number of distinct scores"},
    {"/search/topology", SF_TYPE_I32, IN_VIEW(config.topology), .units = "",
     .description = "where migrants go; 0: round a ring"},
    {"/search/keep_populations", SF_TYPE_I32, IN_VIEW(config.keep_populations), .units = "",
     .description = "1: the populations of every generation are kept, 0: only the last"},

    {"/progress/generation", SF_TYPE_I64, IN_VIEW(generation), .units = "generation",
     .description = "the last generation that is complete on every island; -1: none"},
    {"/progress/sequences", SF_TYPE_I64, IN_VIEW(n_sequences), .units = "sequence",
     .description = "complete rows of /sequences"},
    {"/progress/migrants", SF_TYPE_I64, IN_VIEW(n_migrants), .units = "migrant",
     .description = "complete rows of /migration"},
    {"/progress/levels", SF_TYPE_I64, IN_VIEW(n_levels), .units = "level", .description = "rows of /levels"},

    {"/sequences/letters", SF_TYPE_LETTERS, SEQUENCES, SF_FIELD_SCALE, "",
     "the sequence, the lesser of a chain and its reverse; sorted in a finished file", at_sequence},

    {"/dimensions/trial", SCALE(SF_AXIS_TRIAL), .units = "", .description = "number of the trial"},
    {"/dimensions/generation", SCALE(SF_AXIS_GENERATION), .units = "generation",
     .description = "number of the generation; 0 is the initial population"},
    {"/dimensions/island", SCALE(SF_AXIS_ISLAND), .units = "", .description = "number of the island within its trial"},
    {"/dimensions/individual", SCALE(SF_AXIS_INDIVIDUAL), .units = "",
     .description = "number of the individual within its population"},
    {"/dimensions/score", SF_TYPE_I64, AXES(1, SF_AXIS_SCORE), SF_FIELD_SCALE | SF_FIELD_DERIVED, "contact",
     "the score that an entry of a histogram counts", at_score},
    {"/dimensions/migrant", SCALE(SF_AXIS_MIGRANT), .units = "", .description = "row of the migration log"},
    {"/dimensions/level", AXES(1, SF_AXIS_LEVEL), .type = SF_TYPE_I64,
     .flags = SF_FIELD_SCALE | SF_FIELD_DERIVED | SF_FIELD_WHOLE, .at = at_index, .offset = 1, .units = "",
     .description = "rank of the level; 1 is the best"},
    {"/dimensions/star", AXES(1, SF_AXIS_STAR), .type = SF_TYPE_I64,
     .flags = SF_FIELD_SCALE | SF_FIELD_DERIVED | SF_FIELD_WHOLE, .at = at_index, .offset = 1, .units = "star",
     .description = "number of stars that a threshold is for"},

    {"/trajectory/best", SF_TYPE_I32, ISLANDS, .units = "score", .description = "highest fitness of the population",
     IN_STATS(best)},
    {"/trajectory/worst", SF_TYPE_I32, ISLANDS, .units = "score", .description = "lowest fitness of the population",
     IN_STATS(worst)},
    {"/trajectory/sum", SF_TYPE_I64, ISLANDS, .units = "score",
     .description = "sum of the fitness of the population; the mean is sum / population", IN_STATS(sum)},
    {"/trajectory/n_at_best", SF_TYPE_I32, ISLANDS, .units = "individual",
     .description = "individuals whose fitness is the island's best of this generation", IN_STATS(n_at_best)},
    {"/trajectory/n_at_best_known", SF_TYPE_I32, ISLANDS, SF_FIELD_DERIVED | SF_FIELD_WHOLE, "individual",
     "individuals whose fitness is the highest of all /sequences", at_best_known},
    {"/trajectory/n_distinct", SF_TYPE_I32, ISLANDS, .units = "sequence",
     .description = "distinct sequences of the population, a chain and its reverse being one", IN_STATS(n_distinct)},

    {"/sequences/histogram", SF_TYPE_U64, AXES(2, SF_AXIS_SEQUENCE, SF_AXIS_SCORE), SF_FIELD_COUNTS, "conformation",
     "conformations of each score; the fill value (2^64 - 1) where there are some but they were not counted, 2^64 - 2 "
     "where it is not known whether there are any",
     at_histogram},
    {"/sequences/distinct_scores", SF_TYPE_I32, SEQUENCES, 0, "score",
     "number of scores that conformations have: the fitness", at_fitness},
    {"/sequences/best_score", SF_TYPE_I32, SEQUENCES, 0, "contact", "highest score of a conformation", at_best_score},
    {"/sequences/exact", SF_TYPE_U8, SEQUENCES, 0, "",
     "1: it is known of every score whether a conformation has it, 0: a limit ended the work", at_exact},
    {"/sequences/first_trial", SF_TYPE_I32, SEQUENCES, .units = "",
     .description = "trial that first asked for the sequence (least of trial, generation, island, individual)",
     IN_PLACE(trial)},
    {"/sequences/first_generation", SF_TYPE_I64, SEQUENCES, .units = "generation",
     .description = "generation of that place", IN_PLACE(generation)},
    {"/sequences/first_island", SF_TYPE_I32, SEQUENCES, .units = "", .description = "island of that place",
     IN_PLACE(island)},
    {"/sequences/first_individual", SF_TYPE_I32, SEQUENCES, .units = "", .description = "individual of that place",
     IN_PLACE(individual)},

    {"/population/last", SF_TYPE_LETTERS, AXES(3, SF_AXIS_TRIAL, SF_AXIS_ISLAND, SF_AXIS_INDIVIDUAL),
     SF_FIELD_WHOLE | SF_FIELD_BRED, "", "the population after the last complete generation", at_last_population},
    {"/population/all", SF_TYPE_LETTERS, AXES(4, SF_AXIS_TRIAL, SF_AXIS_GENERATION, SF_AXIS_ISLAND, SF_AXIS_INDIVIDUAL),
     SF_FIELD_KEPT, "", "the population of every generation", at_population},

    {"/migration/trial", SF_TYPE_I32, MIGRANTS, .units = "", .description = "trial of the migrant", IN_MIGRANT(trial)},
    {"/migration/from", SF_TYPE_I32, MIGRANTS, .units = "", .description = "island that sent it", IN_MIGRANT(from)},
    {"/migration/to", SF_TYPE_I32, MIGRANTS, .units = "", .description = "island that it goes to", IN_MIGRANT(to)},
    {"/migration/index", SF_TYPE_I32, MIGRANTS, .units = "",
     .description = "its number among the migrants sent together, from 0", IN_MIGRANT(index)},
    {"/migration/sent", SF_TYPE_I64, MIGRANTS, .units = "generation", .description = "generation it was sent in",
     IN_MIGRANT(sent)},
    {"/migration/taken", SF_TYPE_I64, MIGRANTS, .units = "generation",
     .description = "generation it is taken in, or would be", IN_MIGRANT(taken)},
    {"/migration/fate", SF_TYPE_I32, MIGRANTS, .units = "", .description = "0: in flight, 1: taken, 2: refused",
     IN_MIGRANT(fate)},
    {"/migration/letters", SF_TYPE_LETTERS, MIGRANTS, .units = "",
     .description = "the migrant's sequence, as it was sent", .at = at_migrant_letters},

    {"/levels/sequence", SF_TYPE_I64, LEVELS, .units = "", .description = "row of /sequences that the level is made of",
     .at = at_level_row},
    {"/levels/letters", SF_TYPE_LETTERS, LEVELS | SF_FIELD_DERIVED, .units = "", .description = "its sequence",
     .at = at_level_sequence},
    {"/levels/distinct_scores", SF_TYPE_I32, LEVELS | SF_FIELD_DERIVED, .units = "score",
     .description = "number of scores that its conformations have", .at = at_level_sequence, .offset = 1},
    {"/levels/best_score", SF_TYPE_I32, LEVELS | SF_FIELD_DERIVED, .units = "contact",
     .description = "highest score of a conformation", .at = at_level_sequence, .offset = 2},
    {"/levels/stars", SF_TYPE_I32, AXES(2, SF_AXIS_LEVEL, SF_AXIS_STAR), SF_FIELD_WHOLE, "contact",
     "least score for one, two and three stars; -1 where the rule gives none", at_star},
    {"/levels/solutions", SF_TYPE_SOLUTION, AXES(2, SF_AXIS_LEVEL, SF_AXIS_STAR), SF_FIELD_WHOLE, "",
     "a conformation with just that score: steps R=+x L=-x U=+y D=-y F=+z B=-z; empty where there is none",
     at_solution},
};

const size_t sf_n_fields = sizeof sf_fields / sizeof sf_fields[0];

const sf_field *sf_field_find(const char *name)
{
    for (size_t n = 0; n < sf_n_fields; n++) {
        if (strcmp(sf_fields[n].name, name) == 0)
            return &sf_fields[n];
    }
    return NULL;
}

const char *sf_axis_name(sf_axis axis)
{
    static const char *const name[SF_N_AXES] = {"trial", "generation", "island", "individual", "sequence",
                                                "score", "migrant",    "level",  "star"};
    return name[axis];
}

size_t sf_view_size(const sf_view *view, sf_axis axis)
{
    switch (axis) {
    case SF_AXIS_TRIAL:
        return (size_t)view->config.trials;
    case SF_AXIS_GENERATION:
        return (size_t)(view->generation + 1);
    case SF_AXIS_ISLAND:
        return (size_t)view->config.islands;
    case SF_AXIS_INDIVIDUAL:
        return (size_t)view->config.population;
    case SF_AXIS_SEQUENCE:
        return (size_t)view->n_sequences;
    case SF_AXIS_SCORE:
        return (size_t)view->n_scores;
    case SF_AXIS_MIGRANT:
        return (size_t)view->n_migrants;
    case SF_AXIS_LEVEL:
        return (size_t)view->n_levels;
    case SF_AXIS_STAR:
    case SF_N_AXES:
        break;
    }
    return 3;
}

bool sf_field_present(const sf_view *view, const sf_field *field)
{
    if ((field->flags & SF_FIELD_WHOLE) && view->live)
        return false;
    if ((field->flags & SF_FIELD_KEPT) && !view->config.keep_populations)
        return false;
    return !(field->flags & SF_FIELD_BRED) || view->generation >= 0;
}

int sf_field_growing(const sf_field *field)
{
    for (int k = 0; k < field->rank; k++) {
        sf_axis axis = field->axis[k];
        if (axis == SF_AXIS_GENERATION || axis == SF_AXIS_SEQUENCE || axis == SF_AXIS_MIGRANT)
            return k;
    }
    return -1;
}

size_t sf_field_bytes(const sf_view *view, const sf_field *field)
{
    size_t n = 0;
    switch (field->type) {
    case SF_TYPE_U8:
        return 1;
    case SF_TYPE_I32:
        return 4;
    case SF_TYPE_I64:
    case SF_TYPE_U64:
        return 8;
    case SF_TYPE_TEXT:
        n = strlen((const char *)view + field->offset);
        break;
    case SF_TYPE_LETTERS:
        n = (size_t)view->length;
        break;
    case SF_TYPE_SOLUTION:
        n = (size_t)view->witness_size - 1;
        break;
    }
    return n ? n : 1;
}

void sf_field_store(sf_view *view, const sf_field *field, const size_t *index, uint8_t *stored)
{
    const uint8_t *value = field->at(view, field, index);
    if (field->type == SF_TYPE_I32) { /* most values are of these */
        memcpy(stored, value, 4);
        return;
    }
    if (field->type == SF_TYPE_I64 || field->type == SF_TYPE_U64) {
        memcpy(stored, value, 8);
        return;
    }
    size_t n = sf_field_bytes(view, field);
    if (field->type == SF_TYPE_LETTERS) {
        for (size_t k = 0; k < n; k++)
            stored[k] = (uint8_t)view->letters[value[k]];
    } else if (field->type == SF_TYPE_TEXT || field->type == SF_TYPE_SOLUTION) {
        size_t used = strnlen((const char *)value, n);
        memcpy(stored, value, used);
        memset(stored + used, 0, n - used);
    } else {
        memcpy(stored, value, n);
    }
}

bool sf_field_take(sf_view *view, const sf_field *field, const size_t *index, const uint8_t *stored)
{
    uint8_t *value = field->at(view, field, index);
    if (field->type == SF_TYPE_I32) {
        memcpy(value, stored, 4);
        return true;
    }
    if (field->type == SF_TYPE_I64 || field->type == SF_TYPE_U64) {
        memcpy(value, stored, 8);
        return true;
    }
    size_t n = sf_field_bytes(view, field);
    if (field->type == SF_TYPE_LETTERS) {
        for (size_t k = 0; k < n; k++) {
            const char *letter = stored[k] ? strchr(view->letters, stored[k]) : NULL;
            if (!letter)
                return false;
            value[k] = (uint8_t)(letter - view->letters);
        }
        return true;
    }
    if (field->type == SF_TYPE_SOLUTION) { /* letters, then zeros only */
        size_t used = strnlen((const char *)stored, n);
        for (size_t k = 0; k < n; k++) {
            if (k < used ? stored[k] <= ' ' || stored[k] > '~' : stored[k] != 0)
                return false;
        }
        value[n] = 0;
    }
    memcpy(value, stored, n);
    return true;
}

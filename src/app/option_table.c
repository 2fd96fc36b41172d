/* All options of the program, as data; nothing else in `app` lists them. */
#include "app/options.h"

#include <string.h>

#include "starfold/engine.h"
#include "starfold/lattice.h"
#include "starfold/problem.h"

#define FIELD(member) .offset = offsetof(sf_settings, member)
#define GROUP(group_title, array)                                                                                      \
    {                                                                                                                  \
        .title = group_title, .n = sizeof array / sizeof array[0], .option = array                                     \
    }

enum { ENGINES_MAX = 16, MILLIARD = 1000000000 };

static const char *const *format_names(void)
{
    static const char *const names[] = {"text", "json", NULL};
    return names;
}

/* auto, then what the core has. */
static const char *const *engine_names(void)
{
    static const char *names[ENGINES_MAX + 2];
    if (!names[0]) {
        const char *const *core = sf_engine_names();
        for (int i = 0; i < ENGINES_MAX && core[i]; i++)
            names[i + 1] = core[i];
        names[0] = "auto";
    }
    return names;
}

/* plain, then what the core has. */
static const char *const *recount_names(void)
{
    static const char *names[ENGINES_MAX + 2];
    if (!names[0]) {
        const char *const *core = sf_engine_names();
        for (int i = 0; i < ENGINES_MAX && core[i]; i++)
            names[i + 1] = core[i];
        names[0] = "plain";
    }
    return names;
}

static const char *const *known_names(void)
{
    static const char *const names[] = {"auto", "histograms", "scores", NULL};
    return names;
}

static const char *const *selection_names(void)
{
    static const char *const names[] = {[SF_SELECTION_PROPORTIONAL] = "proportional", NULL};
    return names;
}

static const char *const *crossover_names(void)
{
    static const char *const names[] = {[SF_CROSSOVER_ONE_POINT] = "one-point", NULL};
    return names;
}

static const char *const *survival_names(void)
{
    static const char *const names[] = {[SF_SURVIVAL_GENERATIONAL] = "generational", NULL};
    return names;
}

static const char *const *fitness_names(void)
{
    static const char *const names[] = {[SF_FITNESS_DISTINCT_SCORES] = "distinct-scores", NULL};
    return names;
}

static const char *const *topology_names(void)
{
    static const char *const names[] = {[SF_TOPOLOGY_RING] = "ring", NULL};
    return names;
}

static const sf_option common[] = {
    {"help", NULL, SF_OPTION_FLAG, FIELD(help), .help = "show this and stop"},
    {"quiet", NULL, SF_OPTION_FLAG, FIELD(quiet), .help = "no progress and no remarks on standard error"},
    {"threads", "N", SF_OPTION_INTEGER, FIELD(threads), NULL, 1, 4096,
     .help = "threads of each rank (default: OMP_NUM_THREADS or SLURM_CPUS_PER_TASK; else all cores for one rank, 1 for "
             "several)"},
    {"format", "NAME", SF_OPTION_CHOICE, FIELD(format), "text", .choices = format_names, .help = "how results are printed"},
    {"perf", "FILE.h5", SF_OPTION_TEXT, FIELD(perf), .help = "write where the time went, memory and layout to FILE.h5"},
};
const sf_option_group sf_group_common = GROUP("Common options", common);

static const sf_option problem[] = {
    {"lattice", "NAME", SF_OPTION_CHOICE, FIELD(lattice), "square", .choices = sf_lattice_names, .result = true,
     .help = "where the chain folds"},
    {"score-model", "NAME|FILE", SF_OPTION_MODEL, FIELD(score_model), "hp", .result = true,
     .help = "alphabet and contact weights: hp, hpnx (with charges), or a text file with a symmetric matrix; weights are of "
             "-100 to 100, and a chain's scores, from the least to the greatest there could be, at most 512"},
};
const sf_option_group sf_group_problem = GROUP("Puzzle", problem);

static const sf_option length[] = {
    {"length", "N", SF_OPTION_INTEGER, FIELD(length), NULL, SF_LENGTH_MIN, SF_LENGTH_MAX, .why = SF_LENGTH_WHY,
     .help = "residues of a sequence (needed)"},
};
const sf_option_group sf_group_length = GROUP("Length", length);

#define MACHINE                                                                                                        \
    {"machine", "FILE", SF_OPTION_TEXT, FIELD(machine),                                                                \
     .help = "estimates go by what FILE says of this machine, the same for each job; a missing FILE is measured and written"}

static const sf_option engine[] = {
    {"engine", "NAME", SF_OPTION_CHOICE, FIELD(engine), "auto", .choices = engine_names,
     .help = "how conformations are counted; what is counted is the same by each. bound proves which scores there are and "
             "counts only the highest"},
    {"memory-limit", "SIZE", SF_OPTION_BYTES, FIELD(memory_limit), NULL, 1, UINT64_C(1) << 60,
     .help = "most memory an engine may take, as 512M or 4G (default: what the machine has free)"},
    {"explain", NULL, SF_OPTION_FLAG, FIELD(explain),
     .help = "say what would be done, with time and memory, and stop; with status 2 where it would be refused"},
    {"refuse-over", "TIME", SF_OPTION_DURATION, FIELD(refuse_over_ms), NULL, 1, UINT64_C(1) << 50,
     .help = "do not begin what is estimated to take longer"},
    MACHINE,
};
const sf_option_group sf_group_engine = GROUP("Engine", engine);

static const sf_option table[] = {
    {"table", "T.h5", SF_OPTION_TEXT, FIELD(table),
     .help = "engine table reads the contact maps of this file, which 'starfold table build' wrote, and builds none"},
    {"table-cache", "DIR", SF_OPTION_TEXT, FIELD(table_cache),
     .help = "a folder of such files (default: STARFOLD_CACHE), made where it alone is missing: what engine table or a census "
             "misses there is built once and kept, also when several jobs want it at a time; auto still takes the engine that "
             "takes least, a table that is there costing only its reading"},
};
const sf_option_group sf_group_table = GROUP("Tables", table);

static const sf_option table_build[] = {
    {"output", "T.h5", SF_OPTION_TEXT, FIELD(output), .help = "build: the file to write (needed)"},
    {"force", NULL, SF_OPTION_FLAG, FIELD(force), .help = "build: replace an existing file"},
    {"memory-limit", "SIZE", SF_OPTION_BYTES, FIELD(memory_limit), NULL, 1, UINT64_C(1) << 60,
     .help = "build: most memory each rank may take, as 512M or 4G (default: what the machine has free)"},
    {"explain", NULL, SF_OPTION_FLAG, FIELD(explain),
     .help = "build: say what time, memory and disk it takes, and stop; with status 2 where it would be refused"},
    {"refuse-over", "TIME", SF_OPTION_DURATION, FIELD(refuse_over_ms), NULL, 1, UINT64_C(1) << 50,
     .help = "build: do not begin what is estimated to take longer"},
    MACHINE,
};
const sf_option_group sf_group_table_build = GROUP("Table", table_build);

static const sf_option proof[] = {
    {"top-counts", "K", SF_OPTION_INTEGER, FIELD(top_counts), "1", 0, SF_SCORES_MAX,
     .help = "engine bound, no other: how many of the highest scores are counted, not only proven; 0: the set of scores is all "
             "that is wanted, by engine table or bound, at any length"},
    {"node-limit", "N", SF_OPTION_NATURAL, FIELD(node_limit), NULL, 1, UINT64_MAX,
     .help = "nodes a sequence may take; ends with what is proven. Only engine bound has nodes: auto takes it then, others "
             "refuse"},
};
const sf_option_group sf_group_proof = GROUP("Proof", proof);

static const sf_option enumerate[] = {
    {"file", "FILE", SF_OPTION_TEXT, FIELD(file),
     .help = "read sequences from FILE (-: standard input), one a line, all of one length; "
             "blanks around them do not count"},
    {"max-seconds", "TIME", SF_OPTION_DURATION, FIELD(max_ms), NULL, 1, UINT64_C(1) << 50,
     .help = "end after this time with what is proven by then; auto takes engine bound where counting is estimated to take "
             "longer"},
    {"length", "N", SF_OPTION_INTEGER, FIELD(length), NULL, SF_LENGTH_MIN, SF_LENGTH_MAX, .why = SF_LENGTH_WHY,
     .help = "refuse sequences of another length"},
    {"solutions", NULL, SF_OPTION_FLAG, FIELD(solutions), .help = "an example conformation for every score"},
};
const sf_option_group sf_group_enumerate = GROUP("Sequences", enumerate);

static const sf_option kept[] = {
    {"output", "F.h5", SF_OPTION_TEXT, FIELD(output),
     .help = "record the answers in F.h5, and meanwhile the finished parts beside it; the same command goes on from there"},
    {"force", NULL, SF_OPTION_FLAG, FIELD(force), .help = "begin anew and replace an existing output"},
    {"checkpoint-seconds", "TIME", SF_OPTION_DURATION, FIELD(checkpoint_ms), "60", 1, UINT64_C(1) << 50,
     .help = "time between records of finished parts"},
    {"time-limit", "TIME", SF_OPTION_DURATION, FIELD(time_limit_ms), NULL, 1, UINT64_C(1) << 50,
     .help = "with --output: stop in time, with a record and status 75 (a SLURM job's end is known by itself)"},
};
const sf_option_group sf_group_kept = GROUP("Long enumerations", kept);

static const sf_option search[] = {
    {"length", "N", SF_OPTION_INTEGER, FIELD(length), "16", SF_LENGTH_MIN, SF_LENGTH_MAX, .result = true, .why = SF_LENGTH_WHY,
     .help = "residues of a sequence"},
    {"seed", "S", SF_OPTION_NATURAL, FIELD(seed), "1", 0, UINT64_MAX, .result = true,
     .help = "of the random numbers; the same seed gives the same file"},
    {"trials", "N", SF_OPTION_INTEGER, FIELD(trials), "1", 1, 1000000, .result = true,
     .help = "independent runs of all islands"},
    {"islands", "N", SF_OPTION_INTEGER, FIELD(islands), "1", 1, 1000000, .result = true, .help = "populations a trial"},
    {"population", "N", SF_OPTION_INTEGER, FIELD(population), "30", 2, 1000000, .result = true,
     .help = "individuals an island"},
    {"generations", "N", SF_OPTION_INTEGER, FIELD(generations), "50", 0, MILLIARD, .result = true,
     .help = "generations to breed after the initial population"},
    {"elites", "N", SF_OPTION_INTEGER, FIELD(elites), "1", 0, 1000000, .result = true,
     .help = "best individuals carried over unchanged; at most the population"},
    {"selection", "NAME", SF_OPTION_CHOICE, FIELD(selection), "proportional", .choices = selection_names,
     .result = true, .help = "how parents are drawn"},
    {"crossover", "NAME", SF_OPTION_CHOICE, FIELD(crossover), "one-point", .choices = crossover_names, .result = true,
     .help = "how two parents make two children"},
    {"mutation-rate", "RATE", SF_OPTION_RATE, FIELD(mutation_rate), "0.1", 0, SF_RATE_ONE, .result = true,
     .help = "probability that an element of a child flips"},
    {"survival", "NAME", SF_OPTION_CHOICE, FIELD(survival), "generational", .choices = survival_names, .result = true,
     .help = "who lives on"},
    {"fitness", "NAME", SF_OPTION_CHOICE, FIELD(fitness), "distinct-scores", .choices = fitness_names, .result = true,
     .help = "what is bred for"},
    {"topology", "NAME", SF_OPTION_CHOICE, FIELD(topology), "ring", .choices = topology_names, .result = true,
     .help = "which island sends to which"},
    {"migration-interval", "N", SF_OPTION_INTEGER, FIELD(migration_interval), "10", 0, MILLIARD, .result = true,
     .help = "generations between migrations; 0: none"},
    {"migration-delay", "N", SF_OPTION_INTEGER, FIELD(migration_delay), "1", 1, 1000000, .result = true,
     .help = "migrations between sending and taking in"},
    {"migrants", "N", SF_OPTION_INTEGER, FIELD(migrants), "1", 0, 1000000, .result = true,
     .help = "individuals sent at a time; at most the population"},
    {"known", "NAME", SF_OPTION_CHOICE, FIELD(known), "auto", .choices = known_names, .result = true,
     .help = "what is found out of each sequence: its whole histogram, or its set of scores with counts at the top; auto: "
             "histograms as far as tables go (24 residues square, 17 cubic), scores beyond where engine bound can. Engine "
             "table finds sets of scores, too, where it takes less"},
    {"top-counts", "K", SF_OPTION_INTEGER, FIELD(top_counts), "0", 0, SF_SCORES_MAX, .result = true,
     .help = "where sets of scores are stored (refused elsewhere): how many of the highest are counted too (by engine bound "
             "slow for chains of few H, which reach their best in many ways); with 0 engine table is some 5 to 25 times "
             "faster"},
    {"node-limit", "N", SF_OPTION_NATURAL, FIELD(node_limit), NULL, 1, UINT64_MAX, .result = true,
     .help = "where sets of scores are stored (refused elsewhere): nodes that the proof of a sequence may take; its fitness is "
             "what is proven"},
    {"keep-populations", NULL, SF_OPTION_FLAG, FIELD(keep_populations), .result = true,
     .help = "store every generation's population, not only the last"},
};
const sf_option_group sf_group_search = GROUP("Search", search);

static const sf_option run[] = {
    {"output", "RUN.h5", SF_OPTION_TEXT, FIELD(output), .help = "the run file to write (needed to run)"},
    {"force", NULL, SF_OPTION_FLAG, FIELD(force), .help = "replace an existing output"},
    {"config", "FILE", SF_OPTION_TEXT, FIELD(config), .help = "read options from an INI file: NAME = VALUE, names as here"},
    {"preset", "NAME", SF_OPTION_TEXT, FIELD(preset),
     .help = "paper: the experiment of the paper (length 16, square, 25 trials of one island, population 30, 50 generations)"},
};
const sf_option_group sf_group_run = GROUP("Run", run);

static const sf_option output[] = {
    {"checkpoint-interval", "N", SF_OPTION_INTEGER, FIELD(checkpoint_interval), "0", 0, MILLIARD,
     .help = "generations between checkpoints; 0: by time alone"},
    {"checkpoint-seconds", "TIME", SF_OPTION_DURATION, FIELD(checkpoint_ms), "60", 0, UINT64_C(1) << 50,
     .help = "time between checkpoints; 0: by generations alone; unless given, a hundred times what one takes where that is "
             "more"},
    {"time-limit", "TIME", SF_OPTION_DURATION, FIELD(time_limit_ms), NULL, 1, UINT64_C(1) << 50,
     .help = "stop in time, with a checkpoint and status 75; seconds or [D-]H:M:S (a SLURM job's end is known by itself)"},
};
const sf_option_group sf_group_output = GROUP("Checkpoints and limits", output);

static const sf_option levels[] = {
    {"count", "K", SF_OPTION_INTEGER, FIELD(count), "10", 1, 1000000, .help = "how many levels"},
};
const sf_option_group sf_group_levels = GROUP("Levels", levels);

static const sf_option verify[] = {
    {"recount", "NAME", SF_OPTION_CHOICE, FIELD(recount), "plain", .choices = recount_names,
     .help = "how histograms are counted again; plain takes hours beyond some 26 residues square, 17 cubic"},
    {"sample", "K", SF_OPTION_INTEGER, FIELD(sample), NULL, 1, MILLIARD,
     .help = "count only K sequences again, evenly spread (default: all)"},
    {"refuse-over", "TIME", SF_OPTION_DURATION, FIELD(refuse_over_ms), NULL, 1, UINT64_C(1) << 50,
     .help = "do not begin what is estimated to take longer"},
};
const sf_option_group sf_group_verify = GROUP("Verify", verify);

static const sf_option copy[] = {
    {"output", "COPY.h5", SF_OPTION_TEXT, FIELD(output), .help = "the file to write (default: RUN.repaired.h5)"},
    {"force", NULL, SF_OPTION_FLAG, FIELD(force), .help = "replace an existing copy"},
};
const sf_option_group sf_group_copy = GROUP("Copy", copy);

static const sf_option census[] = {
    {"histograms", NULL, SF_OPTION_FLAG, FIELD(histograms),
     .help = "count every sequence's whole histogram too, and tell which there are (takes 100 bytes a sequence)"},
    {"output", "C.h5", SF_OPTION_TEXT, FIELD(output),
     .help = "write the fitness and best score of every sequence, and the histograms, to a file"},
    {"force", NULL, SF_OPTION_FLAG, FIELD(force), .help = "replace an existing output"},
};
const sf_option_group sf_group_census = GROUP("Census", census);

/* The paper: three-star puzzles of 16 residues on the square lattice. */
static const sf_preset_pair paper[] = {
    {"length", "16"},      {"lattice", "square"},   {"trials", "25"}, {"islands", "1"},
    {"population", "30"},  {"generations", "50"},   {"elites", "1"},  {"mutation-rate", "0.1"},
    {NULL, NULL},
};

const char *const *sf_preset_names(void)
{
    static const char *const names[] = {"paper", NULL};
    return names;
}

const sf_preset_pair *sf_preset_find(const char *name)
{
    return strcmp(name, "paper") == 0 ? paper : NULL;
}

void sf_settings_search(const sf_settings *settings, sf_search_config *config)
{
    sf_search_config_init(config);
    config->seed = settings->seed;
    config->population = (int32_t)settings->population;
    config->generations = settings->generations;
    config->trials = (int32_t)settings->trials;
    config->islands = (int32_t)settings->islands;
    config->elites = (int32_t)settings->elites;
    config->mutation_rate = settings->mutation_rate;
    config->migration_interval = settings->migration_interval;
    config->migration_delay = settings->migration_delay;
    config->migrants = (int32_t)settings->migrants;
    config->selection = (sf_selection)settings->selection;
    config->crossover = (sf_crossover)settings->crossover;
    config->survival = (sf_survival)settings->survival;
    config->fitness = (sf_fitness)settings->fitness;
    config->topology = (sf_topology)settings->topology;
    config->keep_populations = settings->keep_populations;
}

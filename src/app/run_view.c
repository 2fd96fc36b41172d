/* Reading for `info` and `levels`. Whether a run that is not finished still goes on is told by its lock, not by what
 * the file says of itself: a killed run could not write that down. */
#include "app/run_view.h"

#include <string.h>

/* A machine that went down may have lost parts of the file of a run that went on; its checkpoint was synced. */
int sf_run_view_open(sf_run_view *view, const char *path, sf_error *err)
{
    memset(view, 0, sizeof *view);
    if (strlen(path) >= SF_TEXT_SIZE)
        return sf_fail(err, SF_EINPUT, "the name of the run is too long; at most %d characters", SF_TEXT_SIZE - 1);
    sf_run_paths_init(&view->paths, path);
    if (sf_path_is_folder(path))
        return sf_fail(err, SF_EINPUT, "'%.300s' is a folder; name a run file", path);
    sf_error failed = {0, ""};
    int code = sf_run_file_read(&view->data, path, &failed);
    view->checkpoint = sf_path_exists(view->paths.checkpoint) || sf_path_exists(view->paths.previous);
    if (code == SF_EFORMAT && view->checkpoint) {
        const char *saved = sf_path_exists(view->paths.checkpoint) ? view->paths.checkpoint : view->paths.previous;
        view->from_checkpoint = sf_run_file_read(&view->data, saved, NULL) == 0;
    }
    if (code && !view->from_checkpoint)
        return sf_fail(err, code, "%s", failed.text);
    view->state = view->data.meta.state;
    if (strcmp(view->state, "finished") != 0)
        view->state = sf_run_paths_held(&view->paths, view->holder) ? "running" : "stopped";
    return 0;
}

void sf_run_view_close(sf_run_view *view)
{
    sf_run_data_free(&view->data);
}

const char *sf_run_view_option(const sf_run_view *view, const char *name)
{
    for (size_t i = 0; i < view->data.meta.n_config; i++) {
        if (strcmp(view->data.config[i].name, name) == 0)
            return view->data.config[i].value;
    }
    return "";
}

int sf_run_view_problem(sf_run_view *view, sf_problem *problem, sf_error *err)
{
    const char *lattice_name = sf_run_view_option(view, "lattice"),
               *model_name = sf_run_view_option(view, "score-model");
    const sf_lattice *lattice = sf_lattice_find(lattice_name);
    if (!lattice || sf_score_model_from_line(&view->model, model_name, NULL) != 0)
        return sf_fail(err, SF_EFORMAT,
                       "%.200s holds a search on lattice '%.40s' with score model '%.40s', unknown here",
                       view->paths.output, lattice_name, model_name);
    int code = sf_problem_init(problem, lattice, &view->model, view->data.record.length, err);
    if (!code && problem->n_scores != view->data.record.n_scores)
        code = sf_fail(err, SF_EFORMAT, "%.200s has histograms of %d scores where %d are expected", view->paths.output,
                       view->data.record.n_scores, problem->n_scores);
    return code;
}

#!/usr/bin/python3
"""Draws the figures of the paper from a run file of starfold, and from nothing else.

  fitness.png      best and mean fitness over the generations, averaged over the trials, with their spread (figure 3, left)
  top.png          puzzles at the highest fitness known, over the generations (figure 3, right)
  histograms.png   the scores of all conformations of a sequence of low and one of high fitness (figure 4)

Beside each figure stands a CSV file with the numbers in it. The spread is the standard deviation over the trials; of
several islands in a trial, best is the best of them, the mean is over all individuals, and the puzzles are summed up.
"""
import argparse
import csv
import os
import sys

sys.dont_write_bytecode = True  # the program's folder may be anybody's
from given import fail, lacking, load_pyplot, read_file

try:
    import numpy as np
except ImportError as missing_module:
    lacking(missing_module)

NOT_COUNTED = np.uint64(2**64 - 1)
UNKNOWN = np.uint64(2**64 - 2)
SCHEMA = 1
BLUE, ORANGE = "#1f5fa8", "#d2691e"


class Run:
    """What the figures need of a run file, live ones included."""

    def __init__(self, path):
        self.path = path
        read_file(path, "Starfold run", "run file", SCHEMA, self.read)

    def read(self, file):
        done = int(file["progress/generation"][()]) + 1
        rows = int(file["progress/sequences"][()])
        if done < 1:
            fail(f"{self.path}: holds no generation yet")
        if rows < 1:
            fail(f"{self.path}: holds no sequence yet")
        self.population = int(file["search/population"][()])
        self.length = int(file["search/length"][()])
        self.lattice = file["search/lattice"][()].decode("ascii")
        self.best = file["trajectory/best"][:, :done, :].astype(np.int64)
        self.sum = file["trajectory/sum"][:, :done, :]
        self.n_at_best = file["trajectory/n_at_best"][:, :done, :].astype(np.int64)
        self.letters = file["sequences/letters"][:rows]
        self.fitness = file["sequences/distinct_scores"][:rows]
        self.histogram = file["sequences/histogram"][:rows]
        self.scores = file["dimensions/score"][:]
        shape = self.best.shape
        if min(shape) < 1 or self.sum.shape != shape or self.n_at_best.shape != shape or self.population < 1:
            raise ValueError("the trajectories differ in size")
        if self.histogram.shape != (rows, len(self.scores)) or not len(self.letters) == len(self.fitness) == rows:
            raise ValueError("the sequences differ in size")


def write_table(out, name, header, rows):
    with open(os.path.join(out, name), "w", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def save(figure, out, name):
    # No version of matplotlib in the file, so that the same run gives the same picture.
    figure.savefig(os.path.join(out, name), dpi=150, metadata={"Software": None})


def spread(values):
    """Mean and standard deviation over the trials (axis 0); one trial has none."""
    deviation = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])
    return values.mean(axis=0), deviation


def band(axes, x, values, colour, label):
    mean, deviation = spread(values)
    axes.plot(x, mean, color=colour, label=f"{label}, mean over the trials")
    if len(values) > 1:
        low, high = values.min(axis=0), values.max(axis=0)  # the spread goes no further than what was seen
        axes.fill_between(x, np.maximum(mean - deviation, low), np.minimum(mean + deviation, high), color=colour,
                          alpha=0.2, linewidth=0, label="± one standard deviation")
    return mean, deviation


def new_axes(plt, title, ylabel):
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("generation")
    axes.set_ylabel(ylabel)
    axes.grid(alpha=0.3)
    return figure, axes


def title_of(run):
    trials, _, islands = run.best.shape
    return (f"{trials} trial{'s' * (trials > 1)}, {islands} island{'s' * (islands > 1)} of {run.population}, "
            f"{run.lattice} lattice, length {run.length}")


def draw_fitness(plt, run, out):
    x = np.arange(run.best.shape[1])
    best = run.best.max(axis=2).astype(float)
    mean = run.sum.sum(axis=2) / (run.population * run.best.shape[2])
    figure, axes = new_axes(plt, title_of(run), "fitness (distinct scores)")
    best_line = band(axes, x, best, BLUE, "best")
    mean_line = band(axes, x, mean, ORANGE, "mean of the population")
    axes.legend(loc="lower right")
    save(figure, out, "fitness.png")
    write_table(out, "fitness.csv", ["generation", "best", "best_sd", "mean", "mean_sd"],
                [[g] + [f"{v:.6f}" for v in row] for g, row in enumerate(zip(*best_line, *mean_line))])


def draw_top(plt, run, out):
    x = np.arange(run.best.shape[1])
    top = int(run.fitness.max())
    number = np.where(run.best == top, run.n_at_best, 0).sum(axis=2).astype(float)
    figure, axes = new_axes(plt, title_of(run), f"puzzles with the highest fitness, {top}")
    line = band(axes, x, number, BLUE, "puzzles")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right")
    save(figure, out, "top.png")
    write_table(out, "top.csv", ["generation", "puzzles", "puzzles_sd"],
                [[g] + [f"{v:.6f}" for v in row] for g, row in enumerate(zip(*line))])


def choose(run):
    """The first sequence in the order of the file, among those that are fully counted, of low and of high fitness.

    Low is the least fitness above one: a sequence without any contact makes no figure."""
    counted = ~((run.histogram == NOT_COUNTED) | (run.histogram == UNKNOWN)).any(axis=1)
    if not counted.any():
        return []
    order = np.argsort(run.letters, kind="stable")
    order = order[counted[order]]
    fitness = run.fitness[order]
    high = order[fitness == fitness.max()][0]
    some = fitness > 1
    low = order[fitness == (fitness[some] if some.any() else fitness).min()][0]
    return [("low", low), ("high", high)]


def draw_histograms(plt, run, out):
    chosen = choose(run)
    if not chosen:
        return
    figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    shown = max(int(np.flatnonzero(run.histogram[row]).max(initial=0)) for _, row in chosen) + 1
    table = []
    for axes, (name, row) in zip(panels, chosen):
        letters = run.letters[row].decode("ascii")
        counts = run.histogram[row][:shown].astype(float)
        axes.bar(run.scores[:shown], counts, color=ORANGE if name == "low" else BLUE)
        axes.set_yscale("symlog", linthresh=1)
        axes.set_title(f"{letters}\nfitness {run.fitness[row]}", fontsize=9)
        axes.set_xlabel("score")
        table += [[name, letters, run.fitness[row], score, count]
                  for score, count in zip(run.scores[:shown], run.histogram[row][:shown])]
    panels[0].set_ylabel("conformations")
    save(figure, out, "histograms.png")
    write_table(out, "histograms.csv", ["which", "sequence", "fitness", "score", "conformations"], table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN.h5", help="run file of starfold")
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the figures; made where it is missing")
    options = parser.parse_args()
    run = Run(options.run)
    plt = load_pyplot()
    try:
        os.makedirs(options.out, exist_ok=True)
        draw_fitness(plt, run, options.out)
        draw_top(plt, run, options.out)
        draw_histograms(plt, run, options.out)
    except OSError as error:
        fail(f"{options.out}: cannot be written: {error.strerror or error}")


if __name__ == "__main__":
    main()

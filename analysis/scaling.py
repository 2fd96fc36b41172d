#!/usr/bin/python3
"""Draws scaling studies, files of scripts/scaling, and nothing else.

  KIND.png         left the speed-up over the workers (ranks x threads) with the ideal line, right the efficiency; a line
                   for each number of threads a rank. KIND is strong or weak, as the study is.
  KIND_phases.png  the median time of each phase over the points

Beside them stands KIND.csv with the numbers. Points with more workers than cores have no speed-up: they are hollow in
the picture of the phases and absent from the other.
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

SCHEMA = 1
COLOURS = ["#1f5fa8", "#d2691e", "#2e8b57", "#8b3a8b", "#7a7a7a", "#b8860b"]


class Study:
    def __init__(self, path):
        read_file(path, "Starfold scaling study", "scaling study", SCHEMA, self.read)

    def read(self, file):
        self.kind, self.cores = str(file.attrs["kind"]), int(file.attrs["cores"])
        self.command = str(file.attrs["command"])
        self.ranks, self.threads = file["ranks"][:], file["threads"][:]
        self.over = file["beyond_cores"][:].astype(bool)
        self.seconds, self.median = file["seconds"][:], file["median"][:]
        self.speedup, self.efficiency = file["speedup"][:], file["efficiency"][:]
        self.phases = file["phases"][:]
        self.names = [name.decode("ascii") for name in file["phase"][:]]
        n = len(self.ranks)
        columns = [self.threads, self.over, self.seconds, self.median, self.speedup, self.efficiency, self.phases]
        if self.kind not in ("strong", "weak") or n < 1 or any(len(column) != n for column in columns):
            raise ValueError("the points differ in number")
        if self.seconds.ndim != 2 or self.phases.shape != (*self.seconds.shape, len(self.names)):
            raise ValueError("the times differ in size")
        self.workers = self.ranks.astype(np.int64) * self.threads


def median_of(values):
    """Over the repetitions that were run; NaN where none was."""
    return np.array([np.nan if np.isnan(row).all() else np.nanmedian(row) for row in values])


def lines(study):
    """Points of one number of threads each, by workers, without those beyond the cores."""
    for colour, threads in enumerate(sorted(set(study.threads.tolist()))):
        rows = [row for row in np.argsort(study.workers, kind="stable")
                if study.threads[row] == threads and not study.over[row] and np.isfinite(study.speedup[row])]
        yield COLOURS[colour % len(COLOURS)], f"{threads} thread{'s' * (threads > 1)} a rank", rows


def draw_speedup(plt, study, out):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    largest = max(2, int(study.workers[~study.over].max(initial=1)))
    left.plot([1, largest], [1, largest], color="black", linewidth=0.8, linestyle="--", label="ideal")
    right.axhline(1, color="black", linewidth=0.8, linestyle="--", label="ideal")
    for colour, label, rows in lines(study):
        left.plot(study.workers[rows], study.speedup[rows], marker="o", color=colour, label=label)
        right.plot(study.workers[rows], study.efficiency[rows], marker="o", color=colour, label=label)
    for axes, name in ((left, "speed-up" if study.kind == "strong" else "speed-up (work per time)"), (right, "efficiency")):
        axes.set_xlabel("workers (ranks x threads)")
        axes.set_ylabel(name)
        axes.grid(alpha=0.3)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_ylim(bottom=0)
    left.legend(loc="upper left")
    title = study.command if len(study.command) <= 100 else study.command[:97] + "..."
    figure.suptitle(f"{study.kind} scaling on {study.cores} cores: {title}", fontsize=9)
    figure.savefig(os.path.join(out, f"{study.kind}.png"), dpi=150, metadata={"Software": None})


def draw_phases(plt, study, out):
    rows = [row for row in np.lexsort((study.threads, study.workers)) if np.isfinite(study.median[row])]
    figure, axes = plt.subplots(figsize=(max(5, 0.8 * len(rows) + 2), 4), layout="constrained")
    bottom, x = np.zeros(len(rows)), np.arange(len(rows))
    for k, name in enumerate(study.names):
        height = np.nan_to_num(median_of(study.phases[:, :, k])[rows])
        colour = COLOURS[k % len(COLOURS)]
        axes.bar(x, height, bottom=bottom, color=["none" if study.over[row] else colour for row in rows],
                 edgecolor=colour, label=name)
        bottom += height
    axes.set_xticks(x, [f"{study.ranks[row]} x {study.threads[row]}" for row in rows])
    axes.set_xlabel("ranks x threads (hollow: more workers than cores)")
    axes.set_ylabel("seconds on rank 0, median")
    axes.legend()
    figure.savefig(os.path.join(out, f"{study.kind}_phases.png"), dpi=150, metadata={"Software": None})


def text(value):
    return "" if np.isnan(value) else f"{value:.6f}"


def write_table(study, out):
    with open(os.path.join(out, f"{study.kind}.csv"), "w", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["ranks", "threads", "workers", "beyond_cores", "runs", "median_s", "speedup", "efficiency",
                         *[f"{name}_s" for name in study.names]])
        for row in np.lexsort((study.threads, study.workers)):
            writer.writerow([study.ranks[row], study.threads[row], study.workers[row], int(study.over[row]),
                             int(np.isfinite(study.seconds[row]).sum()), text(study.median[row]), text(study.speedup[row]),
                             text(study.efficiency[row]),
                             *[text(median_of(study.phases[:, :, k])[row]) for k in range(len(study.names))]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", metavar="STUDY.h5", help="file of scripts/scaling")
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the figures; made where it is missing")
    options = parser.parse_args()
    study = Study(options.study)
    plt = load_pyplot()
    try:
        os.makedirs(options.out, exist_ok=True)
        draw_speedup(plt, study, options.out)
        draw_phases(plt, study, options.out)
        write_table(study, options.out)
    except OSError as error:
        fail(f"{options.out}: cannot be written: {error.strerror or error}")


if __name__ == "__main__":
    main()

"""figures.py on run files of a made-up search: the plotted numbers against a plain recount, pictures that repeat, and one
clear line for every file that is none.

    test_figures.py FIGURES_PY MAKE_SAMPLE
"""
import csv
import filecmp
import os
import statistics
import subprocess
import sys
import tempfile
import unittest

import h5py

FIGURES, MAKE_SAMPLE = sys.argv[1:3]
FILES = ["fitness.csv", "fitness.png", "histograms.csv", "histograms.png", "top.csv", "top.png"]


def draw(run, out):
    return subprocess.run([sys.executable, FIGURES, run, "--out", out], capture_output=True, text=True, check=False)


def table(path):
    with open(path, encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="starfold figures ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def sample(self, name, *arguments):
        subprocess.run([MAKE_SAMPLE, self.path(name), *map(str, arguments)], check=True)
        return self.path(name)

    def drawn(self, run, out):
        result = draw(run, self.path(out))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.path(out))), FILES)
        return self.path(out)

    def test_numbers(self):
        run = self.sample("run.h5", 5, 3, 12)
        out = self.drawn(run, "out")
        rows, top = table(os.path.join(out, "fitness.csv")), table(os.path.join(out, "top.csv"))
        self.assertEqual(len(rows), 13)
        with h5py.File(run, "r") as file:
            highest = max(file["sequences/distinct_scores"])
            t = {name: file["trajectory"][name][()].tolist() for name in file["trajectory"]}
        for g, row in enumerate(rows):
            best = [max(t["best"][trial][g]) for trial in range(5)]
            mean = [sum(t["sum"][trial][g]) / 18 for trial in range(5)]
            number = [sum(t["n_at_best_known"][trial][g]) for trial in range(5)]
            plain = [sum(n for b, n in zip(t["best"][trial][g], t["n_at_best"][trial][g]) if b == highest)
                     for trial in range(5)]
            self.assertEqual(number, plain)
            self.assertAlmostEqual(float(row["best"]), statistics.mean(best), places=5)
            self.assertAlmostEqual(float(row["best_sd"]), statistics.stdev(best), places=5)
            self.assertAlmostEqual(float(row["mean"]), statistics.mean(mean), places=5)
            self.assertAlmostEqual(float(row["mean_sd"]), statistics.stdev(mean), places=5)
            self.assertAlmostEqual(float(top[g]["puzzles"]), statistics.mean(number), places=5)
        chosen = table(os.path.join(out, "histograms.csv"))
        self.assertEqual({row["which"] for row in chosen}, {"low", "high"})
        for which in ("low", "high"):
            counts = [int(row["conformations"]) for row in chosen if row["which"] == which]
            letters = next(row["sequence"] for row in chosen if row["which"] == which)
            self.assertEqual(sum(counts), 2 ** letters.count("P"))  # that is how the made-up search counts

    def test_repeats(self):
        run = self.sample("run.h5", 2, 1, 4)
        one, two = self.drawn(run, "one"), self.drawn(run, "two")
        self.assertEqual(filecmp.cmpfiles(one, two, FILES, shallow=False)[0], FILES)

    def test_live_and_small(self):
        self.drawn(self.sample("live.h5", 2, 2, 9, "live"), "live")
        self.drawn(self.sample("first.h5", 1, 1, 0), "first")

    def refused(self, run, part, out="out"):
        result = draw(run, self.path(out))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, r"\Afigures\.py: [^\n]*\n\Z")
        self.assertIn(part, result.stderr)

    def test_refused(self):
        self.refused(self.path("none.h5"), "no such file")
        with open(self.path("text.h5"), "w", encoding="ascii") as file:
            file.write("HPHP\n" * 100)
        self.refused(self.path("text.h5"), "cannot be read as HDF5")
        self.refused(self.folder, "cannot be read as HDF5")
        with h5py.File(self.path("other.h5"), "w") as file:
            file["x"] = 1
        self.refused(self.path("other.h5"), "no run file")
        self.refused(self.sample("begun.h5", 1, 1, -1), "no generation yet")
        for name in ("trajectory/sum", "sequences", "progress/generation", "search/lattice"):
            run = self.sample("run.h5", 2, 1, 4)
            with h5py.File(run, "r+") as file:
                del file[name]
            self.refused(run, "is damaged")
        run = self.sample("run.h5", 2, 1, 4)
        with h5py.File(run, "r+") as file:
            file.attrs["schema"] = 99
        self.refused(run, "schema version 99")
        run = self.sample("run.h5", 2, 1, 4)
        with h5py.File(run, "r+") as file:
            del file["trajectory/sum"]
            file["trajectory/sum"] = [1, 2, 3]
        self.refused(run, "is damaged")
        elsewhere = self.sample("elsewhere.h5", 2, 1, 4)
        for name in ("trajectory", "trajectory/sum"):
            run = self.sample("run.h5", 2, 1, 4)
            with h5py.File(run, "r+") as file:
                del file[name]
                file[name] = h5py.ExternalLink(elsewhere, name)
            self.refused(run, f"{name} is a link to elsewhere")
        run = self.sample("run.h5", 2, 1, 4)
        with open(self.path("file"), "w", encoding="ascii"):
            pass
        self.refused(run, "cannot be written", "file")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

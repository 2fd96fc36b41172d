#!/usr/bin/python3
"""run writes a run file that h5py reads; info and levels tell what is in it."""
import json
import os
import unittest

import h5py
import numpy
from starfold_app import PATIENCE_S, Case, start
from test_enumerate import walk_score

SMALL = ["--length", "12", "--population", "10", "--generations", "8", "--trials", "2", "--islands", "3",
         "--migration-interval", "2", "--seed", "5"]


class Run(Case):
    def setUp(self):
        super().setUp()
        self.output = self.path("run.h5")

    def test_file(self):
        result = self.good("run", "--output", self.output, *SMALL)
        self.assertEqual(result.out, "")
        self.assertEqual(len(result.err.splitlines()), 1)
        self.assertEqual(sorted(os.listdir(self.folder)), ["run.h5", "run.perf.h5"])  # no checkpoint, no lock
        with h5py.File(self.output) as file:
            best = file["/trajectory/best"][:]
            self.assertEqual(best.shape, (2, 9, 3))
            self.assertEqual(file["/population/last"].shape[:3], (2, 3, 10))
            letters = [row.decode() for row in file["/sequences/letters"][:]]
            self.assertEqual(letters, sorted(set(letters)))
            for sequence in letters:
                self.assertLessEqual(sequence, sequence[::-1])
            fitness = file["/sequences/distinct_scores"][:]
            histogram = file["/sequences/histogram"][:]
            numpy.testing.assert_array_equal(fitness, (histogram > 0).sum(axis=1))
            numpy.testing.assert_array_equal(histogram.sum(axis=1), 15037)
            self.assertEqual(fitness.max(), best.max())
        with h5py.File(self.path("run.perf.h5")) as file:
            self.assertGreater(len(file), 0)

    def test_histograms_are_those_of_enumerate(self):
        self.good("run", "--quiet", "--output", self.output, *SMALL)
        with h5py.File(self.output) as file:
            letters = [row.decode() for row in file["/sequences/letters"][:50]]
            histogram = file["/sequences/histogram"][:50]
        for result, row in zip(self.json("enumerate", "--engine", "walk", *letters)["results"], histogram):
            self.assertEqual(result["histogram"], list(row[:len(result["histogram"])]))
            self.assertEqual(sum(row[len(result["histogram"]):]), 0)

    def test_info(self):
        self.good("run", "--quiet", "--output", self.output, *SMALL)
        text = self.good("info", self.output).out
        for part in ("finished", "8 of 8", "12 residues, square lattice", "seed 5", "(command line)"):
            self.assertIn(part, text)
        self.assertNotRegex(text, r"(?m) $|\S\(command|\b1 (trials|islands)")
        document = self.json("info", self.output)
        self.assertEqual((document["state"], document["generation"], document["trials"]), ("finished", 8, 2))
        self.assertEqual(document["config"]["seed"], {"value": "5", "origin": "command line"})
        with h5py.File(self.output) as file:
            self.assertEqual(document["sequences"], len(file["/sequences/letters"]))
            self.assertEqual(document["best_fitness"], file["/sequences/distinct_scores"][:].max())

    def test_levels(self):
        self.good("run", "--quiet", "--output", self.output, *SMALL)
        levels = self.json("levels", self.output)["levels"]
        self.assertEqual(len(levels), 10)
        keys = [(-level["distinct_scores"], -level["max_score"], level["sequence"]) for level in levels]
        self.assertEqual(keys, sorted(keys))
        for level in levels:
            best = level["max_score"]
            self.assertEqual(level["stars"], [best // 2, best - 1, best])
            for solution, threshold in zip(level["solutions"], level["stars"]):
                self.assertEqual(walk_score(level["sequence"], solution["walk"]), solution["score"])
                self.assertGreaterEqual(solution["score"], threshold)
        with h5py.File(self.output) as file:
            self.assertEqual([row.decode() for row in file["/levels/letters"][:]], [v["sequence"] for v in levels])
            self.assertEqual([[w.decode() for w in row] for row in file["/levels/solutions"][:]],
                             [[s["walk"] for s in v["solutions"]] for v in levels])
        self.assertEqual(len(self.json("levels", "--count", "3", self.output)["levels"]), 3)
        self.assertIn("***", self.good("levels", self.output).out)

    def test_long_chains(self):
        """Beyond tables sets of scores are proven and stored; the examples reach the best scores."""
        words = ["run", "--quiet", "--length", "28", "--population", "6", "--generations", "2"]
        self.good(*words, "--output", self.output)
        with h5py.File(self.output) as file:
            histogram, best = file["/sequences/histogram"][:], file["/sequences/best_score"][:]
            self.assertTrue((histogram[:, 0] == 2 ** 64 - 1).all())  # some, not counted
            self.assertTrue(file["/sequences/exact"][:].all())
        for level in self.json("levels", self.output)["levels"]:
            for solution in level["solutions"]:
                self.assertEqual(walk_score(level["sequence"], solution["walk"]), solution["score"])
            if level["solutions"]:
                self.assertEqual(level["solutions"][2]["score"], level["max_score"])
        self.assertGreater(best.max(), 5)
        other = self.path("other.h5")
        self.good(*words, "--output", other, "--threads", "2", ranks=3)
        with open(self.output, "rb") as a, open(other, "rb") as b:
            self.assertTrue(a.read() == b.read())
        self.refused(*words, "--engine", "walk", "--output", self.path("x.h5"),
                     says=["walk", "sets of scores", "auto table bound"])
        self.refused(*words, "--length", "12", "--engine", "bound", "--output", self.path("x.h5"),
                     says=["bound", "whole histograms", "auto table walk"])

    def test_existing_output(self):
        self.good("run", "--quiet", "--output", self.output, *SMALL)
        with open(self.output, "rb") as file:
            before = file.read()
        self.refused("run", "--output", self.output, *SMALL, says=["exists", "--force"])
        with open(self.output, "rb") as file:
            self.assertEqual(file.read(), before)
        self.good("run", "--quiet", "--force", "--output", self.output, *SMALL, "--seed", "6")
        with open(self.output, "rb") as file:
            self.assertNotEqual(file.read(), before)

    def test_quiet_and_progress(self):
        long_run = ["run", "--output", self.output, "--length", "16", "--generations", "1000000", "--time-limit", "4"]
        result = start(*long_run, "--quiet")
        out, err = result.communicate(timeout=PATIENCE_S)
        self.assertEqual((result.returncode, out), (75, ""))
        self.assertEqual(len(err.splitlines()), 1)  # how to go on, nothing else
        result = start(*long_run[:-2], "--force")
        self.addCleanup(self.end, result)
        self.assertRegex(result.stderr.readline(), r"^generation \d+ of 1000000, best \d+, .*left\n$")
        result.terminate()
        out, err = result.communicate(timeout=PATIENCE_S)
        self.assertEqual(result.returncode, 75)
        self.assertNotIn("\r", err)

    def test_explain(self):
        text = self.good("run", "--explain", *SMALL).out
        self.assertIn("would be taken", text)
        self.assertEqual(json.loads(self.good("run", "--explain", "--format", "json", *SMALL).out)["length"], 12)
        self.assertEqual(os.listdir(self.folder), [])

    def test_what_is_known(self):
        """--known decides what a file holds, and which engines may fill it; by default by the length."""
        for length, known, engine in ((24, "auto", "walk"), (25, "auto", "bound"), (25, "histograms", "walk"),
                                      (25, "scores", "bound")):
            chosen = self.json("run", "--explain", "--length", length, "--known", known, "--generations", 0,
                               "--trials", 1)["engine"]
            self.assertEqual(chosen == "bound", engine == "bound", (length, known, chosen))
        self.refused("run", "--length", 25, "--engine", "walk", "--output", self.path("a.h5"), says="--known")
        self.refused("run", "--length", 12, "--engine", "bound", "--output", self.path("a.h5"), says="--known")
        for known in ("histograms", "auto"):
            self.refused("run", "--length", 12, "--known", known, "--top-counts", 2, "--output", self.path("a.h5"),
                         says=["--top-counts", "whole histograms", "leave it out"])
        options = ("--length", 12, "--generations", 3, "--quiet")
        self.good("run", *options, "--output", self.path("all.h5"))
        self.good("run", *options, "--known", "scores", "--top-counts", 2, "--output", self.path("top.h5"))
        with h5py.File(self.path("all.h5")) as full, h5py.File(self.path("top.h5")) as top:
            self.assertTrue((full["sequences/letters"][:] == top["sequences/letters"][:]).all())
            self.assertTrue((full["sequences/distinct_scores"][:] == top["sequences/distinct_scores"][:]).all())
            counted = top["sequences/histogram"][:] < 2**64 - 2
            self.assertTrue((full["sequences/histogram"][:][counted] == top["sequences/histogram"][:][counted]).all())
            self.assertFalse(counted.all())
        self.good("verify", self.path("top.h5"))

    def test_sets_by_each_engine(self):
        """With --known scores the file is the same whichever engine is taken; auto takes the cheaper."""
        for lattice, length, model in (("square", 14, "hp"), ("cubic", 9, "hp"), ("square", 9, "hpnx")):
            for top_counts in (0, 1, 3):
                files = []
                for n, (engine, threads) in enumerate((("bound", 1), ("table", 1), ("table", 3), ("auto", 2))):
                    path = self.path(f"{n}.h5")
                    self.good("run", "--length", length, "--lattice", lattice, "--score-model", model, "--known", "scores",
                              "--top-counts", top_counts, "--generations", 6, "--islands", 2, "--engine", engine,
                              "--threads", threads, "--output", path, "--force", "--quiet")
                    with open(path, "rb") as file:
                        files.append(file.read())
                self.assertEqual([file == files[0] for file in files], [True] * 4, (lattice, model, top_counts))
        table = self.path("t.h5")
        self.good("table", "build", "--length", 14, "--output", table, "--quiet")
        words = ["run", "--length", 14, "--known", "scores", "--generations", 9, "--islands", 3, "--quiet"]
        self.good(*words, "--output", self.path("a.h5"))
        self.good(*words, "--output", self.path("b.h5"), "--table", table, ranks=2)
        with open(self.path("a.h5"), "rb") as a, open(self.path("b.h5"), "rb") as b:
            self.assertTrue(a.read() == b.read())
        explained = self.json(*words, "--explain")
        self.assertEqual(explained["engine"], "table")
        self.assertEqual([e["engine"] for e in explained["engines"] if not e["possible"]], ["walk"])
        self.assertEqual(self.json(*words, "--node-limit", 50, "--explain")["engine"], "bound")
        self.refused(*words, "--engine", "walk", "--output", self.path("c.h5"), says="allowed: auto table bound")
        self.refused(*words, "--engine", "table", "--node-limit", 50, "--output", self.path("c.h5"), says="engine bound alone")
        for length, known in (20, "histograms"), (20, "auto"):
            self.refused("run", "--length", length, "--known", known, "--node-limit", 100, "--output", self.path("c.h5"),
                         says=["--node-limit", "whole histograms"])

    def test_info_of_what_is_known(self):
        """info says what auto has come to store, and how many fitness values are lower values alone."""
        words = ["--generations", 2, "--islands", 1, "--population", 10, "--seed", 1]
        for name, more, known in (
            ("whole", ["--length", 10], "histograms"),
            ("sets", ["--length", 24, "--known", "scores"], "scores"),
            ("limited", ["--length", 24, "--known", "scores", "--node-limit", 50], "scores"),
        ):
            output = self.path(name + ".h5")
            self.good("run", *more, *words, "--output", output)
            document, text = self.json("info", output), self.good("info", output).out
            self.assertEqual(document["known"], known)
            self.assertEqual(document["sequences_not_proven"] > 0, name == "limited")
            self.assertEqual("lower value" in text, name == "limited")
            self.assertEqual("the whole histogram" in text, name == "whole")


if __name__ == "__main__":
    unittest.main()

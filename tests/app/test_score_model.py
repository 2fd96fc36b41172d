#!/usr/bin/python3
"""Score models from files: counted, searched, resumed and verified; what is wrong with a file is said in one line."""
import itertools
import os
import unittest

import h5py
from starfold_app import Case, run

STEPS = {"R": (1, 0), "L": (-1, 0), "U": (0, 1), "D": (0, -1)}
WEIGHTS = {"AA": 2, "AB": -1, "BA": -1, "BB": 1}
MODEL = "# two letters, one weight below 0\n  A  B\nA 2 -1\nB -1 1\n"


def score_of(sequence, walk):
    """The sum of the weights of all contacts, or None where the walk meets itself."""
    sites = [(0, 0)]
    for letter in walk:
        sites.append((sites[-1][0] + STEPS[letter][0], sites[-1][1] + STEPS[letter][1]))
    if len(set(sites)) < len(sites):
        return None
    return sum(WEIGHTS[sequence[i] + sequence[j]] for i in range(len(sites)) for j in range(i + 2, len(sites))
               if abs(sites[i][0] - sites[j][0]) + abs(sites[i][1] - sites[j][1]) == 1)


def all_walks_histogram(sequence):
    """Every walk from a site by brute force, without symmetry; walks off the line count 8 times, the line 4 times."""
    counts = {}
    for walk in itertools.product(STEPS, repeat=len(sequence) - 1):
        score = score_of(sequence, walk)
        if score is not None:
            counts[score] = counts.get(score, 0) + (1 if len(set(walk)) > 1 else 2)
    return {score: count // 8 for score, count in counts.items()}


class ScoreModel(Case):
    def setUp(self):
        super().setUp()
        self.model = self.write("m.txt", MODEL)

    def test_span(self):
        """What spans too many scores is refused; weights with a common divisor are told to be divided by it."""
        scaled = self.write("scaled.txt", "H P\nH 100 0\nP 0 0\n")
        self.refused("enumerate", "H" * 12, "--score-model", scaled,
                     says=["spans 601 scores, at most 512", "divide the weights by 100"])
        prime = self.write("prime.txt", "H P\nH 97 1\nP 1 0\n")
        self.refused("enumerate", "H" * 12, "--score-model", prime, says=["at most 512", "smaller weights"])
        self.assertIn("at most 512", " ".join(self.good("enumerate", "--help").out.split()))

    def test_brute_force(self):
        for sequence in ("ABBAABB", "AAAAAAA", "BABABAB"):
            result = self.json("enumerate", "--score-model", self.model, "--solutions", sequence)["results"][0]
            found = {result["min_score"] + i: n for i, n in enumerate(result["histogram"]) if n}
            self.assertEqual(found, all_walks_histogram(sequence))
            self.assertEqual(result["scores_reachable"], sorted(found))
            self.assertEqual([s["score"] for s in result["solutions"]], sorted(found))

    def test_built_in_charges(self):
        result = self.json("enumerate", "--score-model", "hpnx", "HPNH", "PXXN", "PXXP")["results"]
        self.assertEqual([r["scores_reachable"] for r in result], [[0, 4], [0, 1], [-1, 0]])

    def test_run(self):
        options = ("--score-model", self.model, "--length", 10, "--seed", 3, "--quiet")
        self.good("run", *options, "--generations", 6, "--output", self.path("long.h5"))
        self.good("run", *options, "--generations", 3, "--output", self.path("short.h5"))
        self.good("run", *options, "--generations", 6, "--engine", "walk", "--output", self.path("walk.h5"))
        os.remove(self.model)  # what is stored is the model, not the name of its file
        self.good("resume", self.path("short.h5"), "--generations", 6, "--quiet")
        with open(self.path("long.h5"), "rb") as a, open(self.path("short.h5"), "rb") as b, \
                open(self.path("walk.h5"), "rb") as c:
            whole = a.read()
            self.assertEqual(b.read(), whole)
            self.assertEqual(c.read(), whole)
        self.good("verify", self.path("long.h5"), ranks=2)
        for level in self.json("levels", self.path("long.h5"), "--count", 2)["levels"]:
            for solution in level["solutions"]:
                self.assertEqual(score_of(level["sequence"], solution["walk"]), solution["score"])
        with h5py.File(self.path("long.h5")) as file:
            self.assertEqual(file["config"].attrs["score-model"], "AB:2,-1;1")

    def test_same_model(self):
        hp = self.write("hp.txt", "H P\nH 1 0\nP 0 0\n")
        for name, model in (("a", "hp"), ("b", hp), ("c", "HP:1,0;0")):
            self.good("run", "--score-model", model, "--length", 8, "--quiet", "--output", self.path(name + ".h5"))
        with h5py.File(self.path("a.h5")) as a, h5py.File(self.path("b.h5")) as b, h5py.File(self.path("c.h5")) as c:
            self.assertEqual({f["config"].attrs["score-model"] for f in (a, b, c)}, {"hp"})

    def test_bad(self):
        for text, expected in ((MODEL.replace("B -1", "B 1"), "line 4: the matrix is not symmetric"),
                               ("A A\nA 1 0\nA 0 1\n", "names a letter twice"), ("A B\nA 1 0\n", "letter B is missing"),
                               ("A B\nA 1 101\nB 101 0\n", "'101' is no integer of -100 to 100"),
                               ("\0\0", "has a zero byte")):
            bad = self.write("bad.txt", text)
            for words in (("enumerate", "ABAB"), ("census", "--length", 6),
                          ("run", "--length", 6, "--output", self.path("bad.h5"))):
                result = run(*words, "--score-model", bad)
                self.assertEqual((result.status, result.out, result.err.count("\n")), (2, "", 1), str(result))
                self.assertIn(expected, result.err)
        self.assertFalse(os.path.exists(self.path("bad.h5")))
        for model in ("nofile", "AB:1", self.folder):
            result = run("enumerate", "--score-model", model, "ABAB", ranks=2 if model == "nofile" else 0)
            self.assertEqual((result.status, result.err.count("\n")), (2, 1), str(result))


if __name__ == "__main__":
    unittest.main()

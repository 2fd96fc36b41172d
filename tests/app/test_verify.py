#!/usr/bin/python3
"""verify finds what is wrong in a run file; digest tells contents apart, not layouts; repair makes a killed file whole."""
import os
import shutil
import unittest

import h5py
import numpy
from starfold_app import Case, run, start, until

SEARCH = ["--length", "10", "--population", "8", "--generations", "6", "--trials", "2", "--islands", "2",
          "--migration-interval", "2", "--seed", "3"]


class Verify(Case):
    def setUp(self):
        super().setUp()
        self.output = self.path("run.h5")
        self.good("run", "--quiet", "--output", self.output, *SEARCH)

    def changed(self, change):
        """A copy of the run in which `change` was at work."""
        copy = self.path("changed.h5")
        shutil.copy(self.output, copy)
        with h5py.File(copy, "r+") as file:
            change(file)
        return copy

    def test_good(self):
        self.assertIn("holds what it claims", self.good("verify", self.output).out)
        document = self.json("verify", self.output)
        self.assertIs(document["verified"], True)
        self.assertEqual(document["sequences"], document["sequences_checked"])
        self.assertEqual((document["populations_checked"], document["levels_checked"]), (4, 10))
        self.assertEqual(document["digest"], self.json("digest", self.output)["digest"])
        for words in (["--recount", "table"], ["--recount", "walk", "--threads", "2"]):
            self.assertEqual(self.json("verify", self.output, *words), document)
        self.assertEqual(self.json("verify", self.output, ranks=3), document)
        self.assertEqual(self.json("verify", self.output, "--sample", "5")["sequences_checked"], 5)

    def test_kept_populations(self):
        output = self.path("kept.h5")
        self.good("run", "--quiet", "--output", output, *SEARCH, "--keep-populations")
        self.assertEqual(self.json("verify", output)["populations_checked"], 2 * 7 * 2)
        with h5py.File(output, "r+") as file:
            populations = file["/population/all"]
            one = populations[1, 3, 0, 5]
            populations[1, 3, 0, 5] = next(other for other in populations[1, 3, 0] if other != one)
        self.refused("verify", output, status=1, says=["kept.h5", "trial 1 generation 3 island 0"])

    def test_differences(self):
        def histogram(file):
            rows = file["/sequences/histogram"]
            row = rows[7]
            row[0] += 1
            row[1] -= 1
            rows[7] = row

        def trajectory(file):
            file["/trajectory/sum"][1, 6, 0] += 1

        def fitness(file):
            file["/trajectory/n_distinct"][0, 6, 1] -= 1

        def solution(file):
            rows = file["/levels/solutions"]
            rows[2, 1] = numpy.bytes_(b"R" * 9)

        def crossing(file):
            rows = file["/levels/solutions"]
            rows[2, 1] = numpy.bytes_(b"RLRLRLRLR")

        def stars(file):
            file["/levels/stars"][1, 0] += 1

        for change, says in ((stars, "/levels/stars row 1"), (histogram, ["/sequences/histogram row 7", "score 0"]),
                             (trajectory, "/trajectory/sum of trial 1 generation 6 island 0"),
                             (fitness, "/trajectory/n_distinct of trial 0 generation 6 island 1"),
                             (solution, "/levels/solutions row 2, 2 stars"),
                             (crossing, "/levels/solutions row 2, 2 stars")):
            copy = self.changed(change)
            self.refused("verify", copy, status=1, says=["changed.h5", *([says] if isinstance(says, str) else says)])
        self.refused("verify", self.changed(histogram), ranks=3, status=1, says="/sequences/histogram row 7")

    def test_digest(self):
        digest = self.good("digest", self.output).out
        self.assertRegex(digest, r"^[0-9a-f]{64}  .*run.h5\n$")
        def value(file):
            file["/sequences/first_trial"][0] += 1

        self.assertNotEqual(self.json("digest", self.changed(value))["digest"], digest.split()[0])
        self.refused("digest", self.folder, says="folder")
        self.refused("digest", self.path("none.h5"), says="none.h5")
        self.refused("digest", self.write("text", "no HDF5"), says="text")

    def test_long_chains(self):
        """How long the plain walk takes is told, or refused, before it begins."""
        output = self.path("long.h5")
        self.good("run", "--quiet", "--length", "28", "--population", "4", "--generations", "0", "--output", output)
        self.refused("verify", output, "--sample", "2", "--refuse-over", "5", says=["2 sequences of 28", "--refuse-over"])
        self.good("verify", output, "--sample", "2", "--recount", "bound", "--refuse-over", "1:0:0")
        process = start("verify", output, "--sample", "2")
        self.addCleanup(self.end, process)
        line = process.stderr.readline()
        self.assertIn("counting 2 sequences of 28 residues again (--recount plain) takes about", line)
        self.assertEqual(self.good("verify", self.output).err, "")

    def test_repair(self):
        output = self.path("killed.h5")
        process = start("run", "--output", output, "--quiet", "--length", "12", "--generations", "1000000")
        self.begun(process, output)
        self.assertTrue(until(lambda: self.json("info", output)["generation"] > 100))
        process.kill()
        process.communicate()
        with open(output, "rb") as file:
            before = file.read()
        self.good("repair", output)
        with open(output, "rb") as file:
            self.assertEqual(file.read(), before)
        killed, repaired = self.json("info", output), self.json("info", self.path("killed.repaired.h5"))
        for key in ("generation", "sequences", "best_fitness", "config"):
            self.assertEqual(killed[key], repaired[key])
        with h5py.File(self.path("killed.repaired.h5")) as file:
            self.assertIn("trajectory", file)
        self.good("verify", "--sample", "50", self.path("killed.repaired.h5"))
        self.refused("repair", output, says=["exists", "--force"])
        self.refused("repair", output, "--output", output, says="replace the run itself")
        result = run("repair", output, "--output", self.path("no/copy.h5"))
        self.assertIn(result.status, (1, 2))
        self.assertEqual(len(result.err.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""Every allocation of the program's own made to fail in turn, in each command: status 1 and one line that says so, or,
where it was for a courtesy, the answer as always. What is going on is given back: scripts/sanitize.sh runs this test
with a program that AddressSanitizer watches, and a leak has a status of its own.

A few dozen allocations of each command are tried, from a random one on (STARFOLD_TEST_SEED); STARFOLD_TORTURE=all tries
them all."""
import os
import random
import shutil
import subprocess
import unittest

from faulty import ALL, SEED, SHIM
from starfold_app import PROGRAM, Case, run

FEW = 10
SEARCH = ["--length", "8", "--islands", "2", "--generations", "4", "--population", "4", "--migration-interval", "2"]
CHAIN = "HPHPPHHPHHPH"
COMMANDS = [
    ["run", "--output", "NEW", *SEARCH, "--checkpoint-interval", "2"],
    ["run", "--output", "NEW", *SEARCH, "--keep-populations", "--known", "scores", "--score-model", "hp"],
    ["run", "--output", "NEW", *SEARCH, "--config", "CONFIG"],
    ["resume", "RUN", "--generations", "6"],
    ["enumerate", "--engine", "table", "--solutions", "--format", "json", CHAIN],
    ["enumerate", "--engine", "walk", CHAIN, CHAIN[::-1]],
    ["enumerate", "--engine", "bound", "--lattice", "cubic", CHAIN],
    ["enumerate", "--file", "CHAINS", "--explain"],
    ["enumerate", "--score-model", "HPN:4,0,0;-1,1;-1", "HPNNPH"],
    ["enumerate", "--engine", "walk", "--output", "NEW", CHAIN, CHAIN[::-1]],
    ["census", "--length", "8"],
    ["census", "--length", "8", "--histograms", "--output", "NEW"],
    ["table", "build", "--length", "9", "--output", "NEW"],
    ["info", "RUN", "--format", "json"],
    ["levels", "RUN"],
    ["verify", "RUN"],
    ["repair", "RUN", "--output", "NEW"],
    ["digest", "RUN"],
    ["doctor", "--format", "json"],
]


def watched():
    """Whether AddressSanitizer is in the program; it wants to be the first library otherwise."""
    listed = subprocess.run(["ldd", PROGRAM], stdout=subprocess.PIPE, text=True).stdout
    return "libasan" in listed


class Memory(Case):
    def setUp(self):
        super().setUp()
        self.environment = {"LD_PRELOAD": SHIM, "FAULT_FOLDER": "memory", "FAULT_HOW": "ENOMEM"}
        if watched():
            self.environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        self.work = self.path("work")
        self.names = {"NEW": os.path.join(self.work, "new.h5"), "RUN": os.path.join(self.work, "run.h5"),
                      "CONFIG": self.write("run.ini", "[run]\nseed = 4\n"), "CHAINS": self.write("chains", CHAIN + "\n")}
        self.run_file = self.path("whole.h5")
        self.good("run", "--quiet", "--output", self.run_file, *SEARCH)

    def begin(self):
        shutil.rmtree(self.work, ignore_errors=True)
        os.mkdir(self.work)
        shutil.copy(self.run_file, self.names["RUN"])

    def tried(self, words, **fault):
        self.begin()
        return run(*[self.names.get(word, word) for word in words], "--threads", "1", "--quiet",
                   env={**self.environment, **fault})

    def test_each(self):
        chosen = random.Random(SEED)
        for words in COMMANDS:
            count = self.path("count")
            good = self.tried(words, FAULT_COUNT=count)
            self.assertEqual(good.status, 0, f"{words}: {good}")
            with open(count) as file:
                total = int(file.read())
            self.assertGreater(total, 0, words)
            step = 1 if ALL else max(1, total // FEW)
            failed = 0
            for at in range(1 + chosen.randrange(step), total + 1, step):
                what = f"{' '.join(words)}: allocation {at} of {total}, seed {SEED}"
                result = self.tried(words, FAULT_AT=str(at))
                failed += result.status != 0
                if result.status == 0:
                    self.assertEqual(result.err, "", what)
                    continue
                self.assertEqual((result.status, len(result.err.splitlines())), (1, 1), f"{what}: {result}")
                self.assertTrue(result.err.startswith("starfold: "), f"{what}: {result}")
                self.assertIn("memory", result.err, what)
                left = [name for name in os.listdir(self.work) if name.endswith((".tmp", ".next", ".new", ".lock"))]
                self.assertEqual(left, [], what)
            self.assertGreater(failed, 0, words)
            print(f"{failed:5} of {total:5} allocations fail the command: {' '.join(words)}", flush=True)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""A rank is killed at a random moment, again and again; every file opens, and the end is that of an undisturbed run.

STARFOLD_KILLS=N makes N kills (the long test: 200) instead of a few; STARFOLD_TEST_SEED repeats a run."""
import os
import random
import subprocess
import time
import unittest

import h5py
from starfold_app import PATIENCE_S, Case, kill, outlived, ranks_of, start

KILLS = int(os.environ.get("STARFOLD_KILLS", "5"))
SEED = int(os.environ.get("STARFOLD_TEST_SEED", random.randrange(10 ** 9)))
SEARCH = ["--length", "13", "--trials", "2", "--islands", "3", "--population", "10", "--generations", "4000",
          "--migration-interval", "3", "--seed", "8", "--keep-populations"]


class Kills(Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.output = self.path("run.h5")

    def kill_one(self, process, ranks):
        """Ends a random rank after a random time; False when the run was faster."""
        time.sleep(self.random.uniform(0.05, 1.5))
        victims = ranks_of(process) if ranks else [process.pid]
        if process.poll() is None and victims:
            kill(self.random.choice(victims))
        try:
            process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail("the job hangs after the death of a rank")
        self.assertEqual(outlived(victims), [])
        return process.returncode != 0

    def check_files(self):
        for name in sorted(os.listdir(self.folder)):
            if name in ("run.h5", "run.h5.checkpoint", "run.h5.checkpoint.previous"):
                with h5py.File(self.path(name)) as file:
                    self.assertIn("provenance", file, name)
                self.good("info", self.path(name))

    def test_kills(self):
        print("seed", SEED, flush=True)
        whole = self.path("whole.h5")
        self.good("run", "--quiet", "--output", whole, *SEARCH)
        kills = attempts = 0
        while kills < KILLS:
            attempts += 1
            self.assertLess(attempts, 20 * KILLS, "the run is too fast to be killed; give it more generations")
            ranks = self.random.choice([0, 2, 3])
            more = ["--quiet", "--threads", "1", "--checkpoint-seconds", "0.2"]
            words = ["run", "--force", "--output", self.output, *SEARCH]
            if os.path.exists(self.output):
                words = ["resume", self.output]
            killed = self.kill_one(start(*words, *more, ranks=ranks), ranks)
            self.check_files()
            kills += killed
            if not killed:  # it came to its end: begin anew
                self.compare(whole)
                os.remove(self.output)
        if not os.path.exists(self.output):
            return
        self.good("resume", self.output, "--quiet")
        self.compare(whole)

    def compare(self, whole):
        with open(whole, "rb") as a, open(self.output, "rb") as b:
            self.assertTrue(a.read() == b.read(), f"another file than without kills, seed {SEED}")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""Every call that changes a file made to go wrong in turn, in the whole program: killed before it or in the middle of it,
no space, over quota, a bad disk, half a write; and every allocation. Each time the run file opens, what is said is one
line, nothing stray is left, and going on ends with the bytes of an undisturbed run.

A few calls of every kind are tried, from a random one on (STARFOLD_TEST_SEED); STARFOLD_TORTURE=all tries them all.
STARFOLD_TORTURE_TABLE=FILE appends what was done, one line a kind of fault."""
import os
import random
import shutil
import unittest

import h5py

from faulty import ALL, NAMES, SEED, SHIM
from starfold_app import PATIENCE_S, Case, run

SEARCH = ["--length", "10", "--trials", "2", "--islands", "3", "--population", "6", "--generations", "12",
          "--migration-interval", "3"]
SHORT = [word if word != "12" else "5" for word in SEARCH]
OTHER = ["--length", "9", "--generations", "3", "--population", "4"]
OPTIONS = ["--quiet", "--threads", "1", "--checkpoint-interval", "4"]
KEPT = {"run.h5", "run.h5.checkpoint", "run.h5.checkpoint.previous", "run.perf.h5"}


class Faults(Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.work = self.path("work")
        self.output = os.path.join(self.work, "run.h5")
        os.mkdir(self.work)
        whole = self.path("whole.h5")
        self.good("run", "--output", whole, *SEARCH, *OPTIONS)
        self.whole = self.bytes_of(whole)

    @staticmethod
    def bytes_of(path):
        with open(path, "rb") as file:
            return file.read()

    def broken(self, words, how, at, folder=None, sticky=False, ranks=0, rank=None):
        """Runs the command with one fault."""
        fault = {"LD_PRELOAD": SHIM, "FAULT_FOLDER": folder or self.work, "FAULT_HOW": how, "FAULT_AT": str(at)}
        if sticky:
            fault["FAULT_STICKY"] = "1"
        if rank is not None:
            fault["FAULT_RANK"] = str(rank)
        return run(*words, env=fault, ranks=ranks, timeout=PATIENCE_S)

    def count(self, words, folder=None, **more):
        path = self.path("count")
        result = run(*words, env={"LD_PRELOAD": SHIM, "FAULT_FOLDER": folder or self.work, "FAULT_COUNT": path,
                                  "FAULT_RANK": "0"}, **more)
        self.assertEqual(result.status, 0, result)
        return int(self.bytes_of(path))

    def begin(self, template):
        shutil.rmtree(self.work)
        if template:
            shutil.copytree(template, self.work)
        else:
            os.mkdir(self.work)

    def check_opens(self):
        for name in ("run.h5", "run.h5.checkpoint", "run.h5.checkpoint.previous"):
            path = os.path.join(self.work, name)
            if os.path.exists(path):
                with h5py.File(path) as file:
                    self.assertIn("provenance", file, self.what)
        if os.path.exists(self.output):  # a checkpoint is read when the run goes on
            self.good("info", self.output)

    def check_ends_well(self, again):
        """Going on, or beginning when nothing came to be, ends with the expected bytes and nothing beside them."""
        exists = any(os.path.exists(os.path.join(self.work, name)) for name in KEPT - {"run.perf.h5"})
        result = run(*(again if exists else ["run", "--output", self.output, *SEARCH, *OPTIONS]))
        self.assertEqual(result.status, 0, f"{self.what}: going on: {result}")
        self.assertTrue(self.bytes_of(self.output) == self.whole, f"{self.what}: other bytes")
        left = set(os.listdir(self.work)) | {"run.perf.h5"}  # a finished run is not touched to time it again
        self.assertEqual(left, {"run.h5", "run.perf.h5"}, self.what)

    def check_said(self, result, how, ranks):
        lines = result.err.splitlines()
        self.assertEqual((result.status, len(lines)), (1, 1), f"{self.what}: {result}")
        self.assertTrue(lines[0].startswith("starfold: rank " if ranks else "starfold: "), f"{self.what}: {result}")
        if how in NAMES:
            self.assertIn(NAMES[how], lines[0], self.what)

    def try_all(self, name, words, how, few, template=None, again=None, sticky=False, ranks=0):
        """One fault after the other over the whole command."""
        self.begin(template)
        total = self.count(words, ranks=ranks)
        few *= 20 if ALL and ranks else 1
        step = 1 if ALL and not ranks else max(1, total // few)
        tried, done = 0, 0
        for at in range(1 + self.random.randrange(step), total + 1, step):
            self.what = f"{name}, {how} at call {at} of {total}, seed {SEED}"
            self.begin(template)
            result = self.broken(words, how, at, sticky=sticky, ranks=ranks, rank=0 if ranks else None)
            if how in ("kill", "torn"):
                self.assertIn(result.status, (-9, 137), f"{self.what}: {result}")
            elif result.status != 0:  # what is only a courtesy may fail unheard
                self.check_said(result, how, ranks)
                self.assertLessEqual(set(os.listdir(self.work)), KEPT, f"{self.what}: {result}")
            done += result.status == 0
            self.check_opens()
            self.check_ends_well(again or ["resume", self.output, "--quiet"])
            tried += 1
        if table := os.environ.get("STARFOLD_TORTURE_TABLE"):
            with open(table, "a") as file:
                file.write(f"{name:28}{how:8}{'every later one too' if sticky else 'once':22}"
                           f"{total:7} calls{tried:7} tried{done:7} went unharmed\n")
        self.assertGreater(tried, 0)

    def fresh(self):
        return ["run", "--output", self.output, *SEARCH, *OPTIONS]

    def test_kill(self):
        self.try_all("run", self.fresh(), "kill", 8)
        self.try_all("run", self.fresh(), "torn", 5)

    def test_disk(self):
        self.try_all("run", self.fresh(), "ENOSPC", 6, sticky=True)
        self.try_all("run", self.fresh(), "EDQUOT", 2, sticky=True)
        self.try_all("run", self.fresh(), "EIO", 4)
        self.try_all("run", self.fresh(), "ENOSPC", 3)

    def test_short_writes(self):
        self.try_all("run", self.fresh(), "short", 2)
        self.try_all("run", self.fresh(), "short", 1, sticky=True)

    def template(self, *commands):
        """A folder as commands with faults left it."""
        self.begin(None)
        for words, how, at in commands:
            self.what = "making a folder"
            result = self.broken(words, how, at)
            self.assertEqual(result.status, -9 if how == "kill" else 0, result)
        path = self.path("template")
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.work, path)
        return path

    def test_resume(self):
        at = self.count(self.fresh()) // 2
        killed = self.template((self.fresh(), "kill", at))
        words = ["resume", self.output, *OPTIONS]
        for how, few in (("kill", 5), ("torn", 2), ("ENOSPC", 2), ("EIO", 2)):
            self.try_all("resume a killed run", words, how, few, killed, sticky=how == "ENOSPC")

    def test_more_generations(self):
        short = self.template((["run", "--output", self.output, *SHORT, *OPTIONS], "none", 0))
        words = ["resume", self.output, "--generations", "12", *OPTIONS]
        again = ["resume", self.output, "--generations", "12", "--quiet"]
        for how, few in (("kill", 6), ("ENOSPC", 2)):
            self.try_all("more generations", words, how, few, short, again, sticky=how == "ENOSPC")

    def test_force(self):
        other = self.template((["run", "--output", self.output, *OTHER, *OPTIONS], "none", 0))
        words = ["run", "--force", "--output", self.output, *SEARCH, *OPTIONS]
        self.try_all("replace a run", words, "kill", 5, other, again=self.after_force())

    def after_force(self):
        return ["run", "--force", "--output", self.output, *SEARCH, *OPTIONS]

    def test_ranks(self):
        self.try_all("run on 3 ranks", self.fresh(), "ENOSPC", 2, sticky=True, ranks=3)
        self.try_all("run on 2 ranks", self.fresh(), "kill", 2, ranks=2)

    def test_memory(self):
        for ranks, rank, few in ((0, None, 12), (3, 2, 2), (2, 0, 1)):
            self.begin(None)
            total = self.count(self.fresh(), folder="memory", ranks=ranks)
            few *= 20 if ALL and ranks else 1
            step = 1 if ALL and not ranks else max(1, total // few)
            for at in range(1 + self.random.randrange(step), total + 1, step):
                self.what = f"{ranks} ranks, allocation {at} of {total}, seed {SEED}"
                self.begin(None)
                result = self.broken(self.fresh(), "ENOMEM", at, "memory", ranks=ranks, rank=rank)
                if result.status != 0:
                    self.check_said(result, "ENOMEM", ranks)
                    self.assertIn("memory", result.err, self.what)
                    self.assertLessEqual(set(os.listdir(self.work)), KEPT, f"{self.what}: {result}")
                self.check_opens()
                self.check_ends_well(["resume", self.output, "--quiet"])


if __name__ == "__main__":
    unittest.main()

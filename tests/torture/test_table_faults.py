#!/usr/bin/python3
"""`starfold table build`, and a cache that is filled, with one call of the program going wrong: the disk full, a write
torn, a kill, an allocation refused. Nothing half written stands under the name, one line tells, no rank is left, and the
next try writes the same bytes."""
import errno
import os
import random
import shutil
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "app"))
from starfold_app import Case, run  # noqa: E402

# Where LD_PRELOAD can name it: it takes a blank or a colon in a path for the end of it.
SHIM_FOLDER = tempfile.TemporaryDirectory(prefix="starfold-shim-", dir="/tmp")
SHIM = shutil.copy(os.environ["STARFOLD_FAULT_SHIM"], SHIM_FOLDER.name)
ALL = os.environ.get("STARFOLD_TORTURE") == "all"
SEED = int(os.environ.get("STARFOLD_TEST_SEED", random.randrange(10 ** 9)))
LENGTH = "19"  # maps of two words, in 12 chunks
PATIENCE_S = 30
NAMES = {name: os.strerror(getattr(errno, name)) for name in ("ENOSPC", "EDQUOT", "EIO")}


class TableFaults(Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.work = self.path("work")
        self.output = os.path.join(self.work, "t.h5")
        self.words = ["table", "build", "--length", LENGTH, "--output", self.output, "--quiet", "--threads", "1"]
        os.mkdir(self.work)
        self.good(*self.words)
        self.whole = self.bytes_of(self.output)

    @staticmethod
    def bytes_of(path):
        with open(path, "rb") as file:
            return file.read()

    def fault(self, words, how, at, folder=None, sticky=False, ranks=0, rank=0):
        fault = {"LD_PRELOAD": SHIM, "FAULT_FOLDER": folder or self.work, "FAULT_HOW": how, "FAULT_AT": str(at),
                 "FAULT_RANK": str(rank), "FAULT_COUNT": self.path("count")}
        if sticky:
            fault["FAULT_STICKY"] = "1"
        begin = time.monotonic()
        result = run(*words, env=fault, ranks=ranks, timeout=120)
        self.assertLess(time.monotonic() - begin, PATIENCE_S, f"{self.what}: {result}")
        return result

    def clear(self, old):
        shutil.rmtree(self.work)
        os.mkdir(self.work)
        if old is not None:
            with open(self.output, "wb") as file:
                file.write(old)

    def try_all(self, how, few, words=None, output=None, folder=None, sticky=False, ranks=0, rank=0, old=None):
        words, output = words or self.words, output or self.output
        self.clear(old)
        self.what = "counting"
        result = self.fault(words, "none", 0, folder, ranks=ranks, rank=rank)
        self.assertEqual(result.status, 0, result)
        total = int(self.bytes_of(self.path("count")))
        step = 1 if ALL and not ranks else max(1, total // few)
        for at in range(1 + self.random.randrange(step), total + 1, step):
            self.what = f"{how} at call {at} of {total}, {ranks} ranks, seed {SEED}"
            self.clear(old)
            result = self.fault(words, how, at, folder, sticky, ranks, rank)
            if how in ("kill", "torn"):
                self.assertIn(result.status, (-9, 137), f"{self.what}: {result}")
            elif result.status != 0:  # what is only a courtesy may fail unheard
                lines = result.err.splitlines()
                self.assertEqual((result.status, len(lines)), (1, 1), f"{self.what}: {result}")
                self.assertTrue(lines[0].startswith("starfold: rank " if ranks else "starfold: "), f"{self.what}: {result}")
                if how in NAMES:
                    self.assertIn(NAMES[how], lines[0], self.what)
                self.assertLessEqual(set(os.listdir(self.work)), {"t.h5", "cache"}, f"{self.what}: {result}")
            if os.path.exists(output):
                self.assertTrue(self.bytes_of(output) in (self.whole, old), f"{self.what}: {result}")
            again = run(*words, *([] if words[0] != "table" else ["--force"]))
            self.assertEqual(again.status, 0, f"{self.what}: again: {again}")
            self.assertTrue(self.bytes_of(output) == self.whole, f"{self.what}: other bytes")
            self.assertLessEqual(set(os.listdir(os.path.dirname(output))), {os.path.basename(output)}, self.what)

    def test_disk(self):
        self.try_all("ENOSPC", 8, sticky=True)
        self.try_all("ENOSPC", 4)
        self.try_all("EIO", 3)
        self.try_all("EDQUOT", 2, sticky=True)
        self.try_all("short", 2)

    def test_kill(self):
        self.try_all("kill", 6)
        self.try_all("torn", 3)

    def test_force(self):
        old = b"what was there"
        words = [*self.words, "--force"]
        self.try_all("ENOSPC", 3, words, sticky=True, old=old)
        self.try_all("kill", 3, words, old=old)

    def test_ranks(self):
        self.try_all("ENOSPC", 3, sticky=True, ranks=3)
        self.try_all("EIO", 2, ranks=2)
        self.try_all("kill", 2, ranks=2)

    def test_memory(self):
        self.try_all("ENOMEM", 10, folder="memory")
        self.try_all("ENOMEM", 3, folder="memory", ranks=3, rank=2)

    def test_cache(self):
        cache = os.path.join(self.work, "cache")
        words = ["census", "--length", LENGTH, "--table-cache", cache, "--threads", "1"]
        output = os.path.join(cache, f"square-{LENGTH}-HP-v1.h5")
        self.try_all("ENOSPC", 3, words, output, sticky=True)
        self.try_all("kill", 3, words, output)


if __name__ == "__main__":
    unittest.main()

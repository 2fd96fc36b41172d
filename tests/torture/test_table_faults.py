#!/usr/bin/python3
"""`starfold table build`, and a cache that is filled, with one call of the program going wrong: the disk full, a write
torn, a kill, an allocation refused. Nothing half written stands under the name, one line tells, no rank is left, and the
next try writes the same bytes."""
import os
import unittest

from faulty import SEED, Faulty
from starfold_app import run

LENGTH = "19"  # maps of two words, in 12 chunks


class TableFaults(Faulty):
    def setUp(self):
        super().setUp()
        self.output = os.path.join(self.work, "t.h5")
        self.words = ["table", "build", "--length", LENGTH, "--output", self.output, "--quiet", "--threads", "1"]
        self.good(*self.words)
        self.whole = self.bytes_of(self.output)

    def begin_with(self, old):
        self.clear()
        if old is not None:
            with open(self.output, "wb") as file:
                file.write(old)

    def try_all(self, how, few, words=None, output=None, folder=None, sticky=False, ranks=0, rank=0, old=None):
        words, output = words or self.words, output or self.output
        self.begin_with(old)
        total = self.count(words, folder, ranks, rank)
        for at in self.calls(total, few, ranks):
            self.what = f"{how} at call {at} of {total}, {ranks} ranks, seed {SEED}"
            self.begin_with(old)
            result = self.fault(words, how, at, folder, sticky, ranks, rank)
            if how in ("kill", "torn"):
                self.assertNotEqual(result.status, 0, self.what)
            self.check(result, how, ranks, {"t.h5", "cache"})
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
        words = ["census", "--length", LENGTH, "--table-cache", cache, "--threads", "1", "--quiet"]
        output = os.path.join(cache, f"square-{LENGTH}-HP-v1.h5")
        self.try_all("ENOSPC", 3, words, output, sticky=True)
        self.try_all("kill", 3, words, output)


if __name__ == "__main__":
    unittest.main()

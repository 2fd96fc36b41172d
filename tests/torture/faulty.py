"""What the tests share that run the program with one call going wrong (fault_shim.c)."""
import errno
import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "app"))
from starfold_app import PATIENCE_S, Case, run  # noqa: E402

# Where LD_PRELOAD can name it: it takes a blank or a colon in a path for the end of it.
SHIM_FOLDER = tempfile.TemporaryDirectory(prefix="starfold-shim-", dir="/tmp")
SHIM = shutil.copy(os.environ["STARFOLD_FAULT_SHIM"], SHIM_FOLDER.name)
ALL = os.environ.get("STARFOLD_TORTURE") == "all"
SEED = int(os.environ.get("STARFOLD_TEST_SEED", random.randrange(10 ** 9)))
NAMES = {name: os.strerror(getattr(errno, name)) for name in ("ENOSPC", "EDQUOT", "EIO")}


class Faulty(Case):
    """Commands that write to the folder self.work."""

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.work = self.path("work")
        self.what = "at first"
        os.mkdir(self.work)

    @staticmethod
    def bytes_of(path):
        with open(path, "rb") as file:
            return file.read()

    def clear(self):
        shutil.rmtree(self.work)
        os.mkdir(self.work)

    def fault(self, words, how, at, folder=None, sticky=False, ranks=0, rank=0):
        """Runs the command while call number `at` of a rank goes wrong; it must end."""
        fault = {"LD_PRELOAD": SHIM, "FAULT_FOLDER": folder or self.work, "FAULT_HOW": how, "FAULT_AT": str(at),
                 "FAULT_RANK": str(rank), "FAULT_COUNT": self.path("count")}
        if sticky:
            fault["FAULT_STICKY"] = "1"
        return run(*words, env=fault, ranks=ranks, timeout=PATIENCE_S)

    def count(self, words, folder, ranks, rank):
        """How many calls could go wrong."""
        self.what = "counting"
        result = self.fault(words, "none", 0, folder, ranks=ranks, rank=rank)
        self.assertEqual(result.status, 0, result)
        return int(self.bytes_of(self.path("count")))

    def calls(self, total, few, ranks):
        """About `few` of them, evenly spread; all where that is asked for."""
        step = 1 if ALL and not ranks else max(1, total // few)
        return range(1 + self.random.randrange(step), total + 1, step)

    def check(self, result, how, ranks, may_be_there):
        """One line says what went wrong, and nothing else is left; or the process was killed, which may leave anything."""
        if how in ("kill", "torn"):
            self.assertIn(result.status, (-9, 137, 0), f"{self.what}: {result}")
        elif result.status != 0:  # what is only a courtesy may fail unheard
            lines = result.err.splitlines()
            self.assertEqual((result.status, len(lines)), (1, 1), f"{self.what}: {result}")
            self.assertTrue(lines[0].startswith("starfold: rank " if ranks else "starfold: "), f"{self.what}: {result}")
            self.assertIn(NAMES.get(how, "memory" if how == "ENOMEM" else ""), lines[0], self.what)
            self.assertLessEqual(set(os.listdir(self.work)), set(may_be_there), f"{self.what}: {result}")

#!/usr/bin/python3
"""How often a checkpoint is written: by default each minute, but no sooner than after a hundred times what one takes;
with --checkpoint-seconds as often as told. The program's clock runs fast, so that minutes pass in no time; what is
asserted holds on a machine of any speed."""
import os
import shutil
import sys
import tempfile
import unittest

import h5py

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "app"))
from starfold_app import Case  # noqa: E402

# Where LD_PRELOAD can name it: it takes a blank or a colon in a path for the end of it.
SHIM_FOLDER = tempfile.TemporaryDirectory(prefix="starfold-shim-", dir="/tmp")
SHIM = shutil.copy(os.environ["STARFOLD_CLOCK_SHIM"], SHIM_FOLDER.name)


class Pace(Case):
    def search(self, rate, generations, *more):
        """(checkpoints, what they took, what the search took), in seconds as the program saw them. Two come at the begin."""
        folder = tempfile.mkdtemp(prefix="starfold pace ", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.addCleanup(shutil.rmtree, folder)
        self.good("run", "--quiet", "--output", os.path.join(folder, "run.h5"), "--length", "14", "--islands", "2",
                  "--generations", str(generations), "--threads", "1", *more,
                  env={"LD_PRELOAD": SHIM, "CLOCK_RATE": str(rate)})
        with h5py.File(os.path.join(folder, "run.perf.h5")) as file:
            said = [float(file[name][()]) for name in ("checkpoints", "time_checkpoints", "time_search")]
        print("{:.0f} checkpoints took {:.0f} s of {:.0f} s".format(*said), *more, flush=True)
        return said

    def test_pace(self):
        generations, told = 500, 0
        while told <= 4:  # a fast machine has done with them before the first minute
            generations *= 2
            self.assertLess(generations, 10 ** 6)
            told, taken, total = self.search(5000, generations, "--checkpoint-seconds", "60")
        count, taken, total = self.search(5000, generations)
        self.assertLess(count, told)
        self.assertLessEqual((count - 3) * 100 * taken / count / 4, total)  # one may take a quarter of the mean

    def test_goes_on(self):
        """Seldom is not never."""
        count, taken, total = self.search(5000, 12000)
        self.assertTrue(count > 2 or total <= 1.5 * (60 + 100 * taken))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""The file of a running search, killed at one write after the other (io_make_killed): wherever there is a file, every
dataset of it is read whole, and the rows that it counts are those of the file that was not killed. The made-up search
outgrows its file several times, so that kills fall into the writing of a larger one too.

Every seventh write is tried, from a random one on (STARFOLD_TEST_SEED); STARFOLD_TORTURE=all tries them all."""
import os
import random
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

MAKE = sys.argv.pop(1)
ALL = os.environ.get("STARFOLD_TORTURE") == "all"
SEED = int(os.environ.get("STARFOLD_TEST_SEED", random.randrange(10 ** 9)))
GENERATIONS, ROOM = 9, 1000
# Written over, a word each, until the block that they belong to is counted.
CHANGING = {"/migration/fate", "/sequences/first_trial", "/sequences/first_generation", "/sequences/first_island",
            "/sequences/first_individual"}


def datasets(path):
    """All values by name, however many rows there are."""
    values = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, it: values.update({it.name: it[()]}) if isinstance(it, h5py.Dataset) else None)
    return values


def counted(name, values, progress):
    """The rows that are complete."""
    if name.startswith("/sequences/"):
        return values[:progress["sequences"]]
    if name.startswith("/migration/") or name == "/dimensions/migrant":
        return values[:progress["migrants"]]
    if name == "/dimensions/generation":
        return values[:progress["generation"] + 1]
    if name.startswith("/trajectory/") or name == "/population/all":
        return values[:, :progress["generation"] + 1]
    return values


class Killed(unittest.TestCase):
    def check(self, path, whole):
        values = datasets(path)
        self.assertEqual(set(values), set(whole), path)
        progress = {name: int(values["/progress/" + name]) for name in ("generation", "sequences", "migrants")}
        for name in values:
            mine = counted(name, values[name], progress)
            if name.startswith("/progress/") or name in CHANGING:
                continue
            self.assertTrue(numpy.array_equal(mine, counted(name, whole[name], progress)), f"{path}: {name}")
        return progress["generation"]

    def test_every_write(self):
        step = 1 if ALL else 7
        first = 1 + random.Random(SEED).randrange(step)
        with tempfile.TemporaryDirectory(prefix="starfold-test-") as folder:
            said = subprocess.run([MAKE, folder, str(GENERATIONS), str(ROOM), str(first), str(step)],
                                  capture_output=True, text=True, check=True)
            whole = datasets(os.path.join(folder, "whole.h5"))
            names = sorted(name for name in os.listdir(folder) if name.endswith(".h5") and name != "whole.h5")
            reached = [self.check(os.path.join(folder, name), whole) for name in names]
        print(f"{said.stdout.strip()}, every {step}-th from {first} on (seed {SEED}): {len(names)} files, all whole")
        self.assertLessEqual(set(range(GENERATIONS)), set(reached))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""Where options come from: default, preset, file, command line; the later wins and the run file tells which it was."""
import unittest

import h5py
from starfold_app import Case

SMALL = ["--length", "8", "--population", "6", "--generations", "3", "--trials", "1"]


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


class Config(Case):
    def config(self, *words):
        """{option: (value, origin)} of the run file of this run."""
        output = self.path("run.h5")
        self.good("run", "--quiet", "--force", "--output", output, *words)
        with h5py.File(output) as file:
            values, origins = file["/config"].attrs, file["/config/origin"].attrs
            self.assertEqual(sorted(values), sorted(origins))
            return {name: (text(values[name]), text(origins[name])) for name in values}

    def test_origins(self):
        path = self.write("run.ini", "# remark\n[search]\nseed = 7\npopulation = 9 ; a remark\ngenerations = 2\n"
                                     "mutation-rate = 0.250\n[other]\nkeep-populations = yes\npreset = paper\n")
        config = self.config("--config", path, "--population", "6", "--trials=2", "--length", "8")
        self.assertEqual(config["seed"], ("7", "file"))
        self.assertEqual(config["population"], ("6", "command line"))
        self.assertEqual(config["trials"], ("2", "command line"))
        self.assertEqual(config["generations"], ("2", "file"))
        self.assertEqual(config["mutation-rate"], ("0.25", "file"))
        self.assertEqual(config["keep-populations"], ("true", "file"))
        self.assertEqual(config["lattice"], ("square", "preset"))
        self.assertEqual(config["elites"], ("1", "preset"))
        self.assertEqual(config["topology"], ("ring", "default"))
        self.assertEqual(config["selection"], ("proportional", "default"))

    def test_only_what_can_change_results(self):
        config = self.config(*SMALL, "--threads", "1", "--quiet", "--checkpoint-seconds", "3", "--engine", "walk")
        self.assertEqual(sorted(config), sorted(
            "lattice score-model length seed trials islands population generations elites selection crossover "
            "mutation-rate survival fitness topology migration-interval migration-delay migrants keep-populations known "
            "top-counts node-limit".split()))

    def test_output_from_file(self):
        output = self.path("from file.h5")
        path = self.write("run.ini", f"output = {output}\nquiet = true\nlength = 8\ngenerations = 2\n")
        self.assertEqual(self.good("run", "--config", path).err, "")
        with h5py.File(output) as file:
            self.assertEqual(text(file["/config"].attrs["generations"]), "2")

    def test_last_of_two_wins(self):
        self.assertEqual(self.config(*SMALL, "--seed", "1", "--seed", "18446744073709551615")["seed"],
                         ("18446744073709551615", "command line"))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""census gives the published numbers of all sequences, alone and over ranks; with other letters what enumerate gives."""
import itertools
import unittest

from starfold_app import Case, counts, table
from test_enumerate import LATTICES, trimmed


class Census(Case):
    def check(self, census, row):
        self.assertEqual(census["length"], int(row["N"]))
        self.assertEqual(census["lattice"], LATTICES[row["dim"]])
        self.assertEqual(census["sequences"], 2 ** int(row["N"]))
        self.assertEqual(census["fitness_histogram"], trimmed([0] + counts(row["fitness_histogram_from_1"])))
        self.assertEqual(census["max_score_histogram"], trimmed(counts(row["best_score_histogram_from_0"])))
        self.assertEqual(census["sequences_with_gaps"], int(row["n_sequences_with_gap(fitness<max_score+1)"]))

    def test_published(self):
        unique = {(row["dim"], row["N"]): int(row["sequences_unique_ground_state_directed"])
                  for row in table("designing_sequences.csv")}
        n_rows = 0
        for row in table("fitness_all_sequences.csv"):
            if int(row["N"]) <= {"2": 14, "3": 10}[row["dim"]]:
                census = self.json("census", "--length", row["N"], "--lattice", LATTICES[row["dim"]])
                self.check(census, row)
                self.assertEqual(census["unique_best"], unique[row["dim"], row["N"]])
                n_rows += 1
        self.assertGreater(n_rows, 15)

    def test_euler_300(self):
        for row in table("project_euler_300.csv"):
            if int(row["N"]) <= 15:
                census = self.json("census", "--length", row["N"])
                self.assertEqual(sum(s * n for s, n in enumerate(census["max_score_histogram"])),
                                 int(row["sum_max_contacts"]))

    def test_ranks_and_engines(self):
        alone = self.good("census", "--length", "12", "--format", "json").out
        self.assertEqual(self.good("census", "--length", "12", "--format", "json", "--engine", "walk").out, alone)
        self.assertEqual(self.good("census", "--length", "12", "--format", "json", "--threads", "2", ranks=3).out, alone)

    def by_enumerating(self, model, length, *options):
        """The census from the histogram of every sequence."""
        letters = model.split(":")[0]
        words = self.write("all.txt", "".join("".join(w) + "\n" for w in itertools.product(letters, repeat=length)))
        census = {"sequences_with_gaps": 0, "unique_best": 0, "sequences": 0, "fitness_histogram": [],
                  "max_score_histogram": []}
        for result in self.json("enumerate", "--score-model", model, "--file", words, *options)["results"]:
            reached = [i for i, n in enumerate(result["histogram"]) if n]
            for key, i in (("fitness_histogram", len(reached)), ("max_score_histogram", reached[-1])):
                census[key] += [0] * (i + 1 - len(census[key]))
                census[key][i] += 1
            census["sequences_with_gaps"] += reached[-1] - reached[0] + 1 > len(reached)
            census["unique_best"] += result["histogram"][reached[-1]] == 1
            census["sequences"] += 1
            census["min_score"] = result["min_score"]
        return census

    def test_score_models(self):
        for model, length, lattice in (("AB:2,-1;1", 9, "square"), ("HP:0,0;3", 8, "cubic"),
                                       ("ABC:-3,2,0;5,-1;1", 6, "square"),
                                       ("ABCDE:1,2,3,4,5;0,-1,-2,-3;7,7,7;1,0;-5", 4, "cubic")):
            options = ("--length", length, "--lattice", lattice, "--score-model", model)
            census = self.json("census", *options)
            expected = self.by_enumerating(model, length, "--lattice", lattice, "--engine", "walk")
            self.assertEqual({key: census[key] for key in expected}, expected)
            self.assertEqual(self.json("census", *options, "--engine", "table", "--threads", 2, ranks=2), census)
            self.assertIn("<- would be taken", self.good("census", *options, "--explain").out)

    def test_scaled_hp(self):
        """Weights that mean plain HP in other words give plain HP's numbers."""
        hp = self.json("census", "--length", 11)
        for model in ("HP:0,0;1", "HP:4,0;0", "PH:0,0;100"):
            other = self.json("census", "--length", 11, "--score-model", model)
            unit = max(int(w) for w in model.replace(";", ",").split(":")[1].split(","))
            self.assertEqual(other["fitness_histogram"], hp["fitness_histogram"])
            self.assertEqual(other["max_score_histogram"][::unit], hp["max_score_histogram"])
            self.assertEqual(other["unique_best"], hp["unique_best"])

    def test_text(self):
        text = self.good("census", "--length", "9").out
        self.assertIn("all sequences of 9 residues on the square lattice", text)
        self.assertIn("512", text)

    def test_explain(self):
        self.assertIn("would be taken", self.good("census", "--length", "16", "--explain").out)

    def test_too_long(self):
        self.refused("census", "--length", "18", "--lattice", "cubic", says="3 to 17 residues")
        self.refused("census", "--length", "25", says="3 to 24")
        self.refused("census", "--length", "13", "--score-model", "hpnx", says="3 to 12 residues")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""census gives the published numbers of all sequences, alone and over ranks."""
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

    def test_text(self):
        text = self.good("census", "--length", "9").out
        self.assertIn("all sequences of 9 residues on the square lattice", text)
        self.assertIn("512", text)

    def test_explain(self):
        self.assertIn("would be taken", self.good("census", "--length", "16", "--explain").out)

    def test_too_long(self):
        self.refused("census", "--length", "18", "--lattice", "cubic", says="3 to 17 residues")
        self.refused("census", "--length", "25", says="3 to 24")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""Engine bound beside engine walk, which have nothing in common: of random chains the best score, the set of scores and the
counts of the two highest scores are the same.

STARFOLD_TEST_SEED repeats a run; STARFOLD_TEST_LONG takes more and longer chains."""
import os
import random
import unittest

from starfold_app import Case

SEED = int(os.environ.get("STARFOLD_TEST_SEED", random.randrange(10 ** 9)))
SHARES_OF_H = (0.5, 0.35, 0.65, 0.8)
# lattice, score model, letters, residues, chains
QUICK = (("square", "hp", "HP", 19, 12), ("square", "hp", "HP", 22, 6), ("cubic", "hp", "HP", 13, 8),
         ("square", "hpnx", "HPNX", 13, 4), ("cubic", "hpnx", "HPNX", 9, 4))
LONG = (("square", "hp", "HP", 22, 80), ("square", "hp", "HP", 24, 60), ("square", "hp", "HP", 26, 30),
        ("square", "hp", "HP", 28, 8), ("cubic", "hp", "HP", 15, 40), ("cubic", "hp", "HP", 16, 24),
        ("square", "hpnx", "HPNX", 15, 20), ("cubic", "hpnx", "HPNX", 11, 20))


class CrossCheck(Case):
    def chains(self, letters, length, n):
        def letter(share):
            return letters[0] if self.random.random() < share else self.random.choice(letters[1:])

        return ["".join(letter(SHARES_OF_H[i % len(SHARES_OF_H)]) for _ in range(length)) for i in range(n)]

    def check(self, lattice, model, chains):
        words = ["enumerate", "--lattice", lattice, "--score-model", model, "--quiet", *chains]
        counted = self.json(*words, "--engine", "walk", timeout=3600)["results"]
        proven = self.json(*words, "--engine", "bound", "--top-counts", "2", timeout=3600)["results"]
        for count, proof in zip(counted, proven):
            where = f"{lattice} {model} {count['sequence']}, seed {SEED}"
            self.assertEqual((count["engine"], proof["engine"], count["exact"], proof["exact"]),
                             ("walk", "bound", True, True), where)
            for name in ("sequence", "max_score", "min_score", "scores_reachable", "stars", "conformations"):
                self.assertEqual(count[name], proof[name], where)
            top = [score - count["min_score"] for score in count["scores_reachable"][-2:]]
            self.assertEqual(len(count["histogram"]), len(proof["histogram"]), where)
            for entry, (number, known) in enumerate(zip(count["histogram"], proof["histogram"])):
                if known is not None or entry in top:
                    self.assertEqual(number, known, where)

    def test_bound_and_walk(self):
        print("seed", SEED, flush=True)
        self.random = random.Random(SEED)
        for lattice, model, letters, length, n in LONG if "STARFOLD_TEST_LONG" in os.environ else QUICK:
            with self.subTest(lattice=lattice, model=model, length=length):
                self.check(lattice, model, self.chains(letters, length, n))


if __name__ == "__main__":
    unittest.main()

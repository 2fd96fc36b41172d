#!/usr/bin/python3
"""One configuration gives one file, byte for byte: any ranks, threads and instruction set; another seed another one."""
import unittest

from starfold_app import Case

SEARCH = ["--length", "14", "--trials", "3", "--islands", "5", "--population", "12", "--generations", "13",
          "--migration-interval", "3", "--migrants", "2", "--seed", "11"]


class Identity(Case):
    def bytes_of(self, *words, **more):
        output = self.path("run.h5")
        self.good("run", "--quiet", "--force", "--output", output, *SEARCH, *words, **more)
        with open(output, "rb") as file:
            return file.read()

    def test_layouts_and_instruction_sets(self):
        expected = self.bytes_of("--threads", "1", "--engine", "walk", env={"STARFOLD_ISA": "portable"})
        self.assertTrue(self.bytes_of() == expected, "no launcher, defaults")
        for ranks in (1, 2, 3, 4):
            for threads in (1, 2):
                for isa in ("portable", "avx2", "avx512"):
                    got = self.bytes_of("--threads", threads, ranks=ranks, env={"STARFOLD_ISA": isa})
                    self.assertTrue(got == expected, f"{ranks} ranks, {threads} threads, {isa}")
        self.assertFalse(self.bytes_of("--seed", "12") == expected)
        self.assertTrue(self.bytes_of("--seed", "11", "--checkpoint-interval", "2") == expected)

    def test_shared_evaluation(self):
        """Long chains are dealt out over all ranks, also to those without an island."""
        words = ["--length", "20", "--engine", "walk", "--trials", "1", "--islands", "2", "--population", "6",
                 "--generations", "4"]
        expected = self.bytes_of(*words)
        self.assertTrue(self.bytes_of(*words, ranks=4) == expected)

    def test_kept_populations_cubic(self):
        words = ["--lattice", "cubic", "--length", "10", "--keep-populations"]
        expected = self.bytes_of(*words)
        self.assertTrue(self.bytes_of(*words, "--threads", "2", ranks=4) == expected)


if __name__ == "__main__":
    unittest.main()

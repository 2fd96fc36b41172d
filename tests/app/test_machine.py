#!/usr/bin/python3
"""--machine FILE: measured once, then every plan is the same; what the file may not say; --refuse-over, which goes by it."""
import os
import resource
import unittest

from starfold_app import Case, run

CHAIN = "HPHPPHHPHPPHPHHPPHPHHPPHPPHHPH"


class Machine(Case):
    def seconds(self, engine, *words, **how):
        plan = self.json("enumerate", "--explain", "--threads", "1", *words, **how)
        return next(entry["seconds"] for entry in plan["engines"] if entry["engine"] == engine)

    def test_made_once(self):
        path = self.path("here.txt")
        first = self.good("enumerate", "--explain", "--machine", path, CHAIN).out
        with open(path) as file:
            text = file.read()
        self.assertRegex(text, r"\A#.*\nbuild \d+\.\d{3}\nscan \d+\.\d{3}\nwalk \d+\.\d{3}\n\Z")
        self.assertIn("here.txt, beside the machine", first)
        for _ in range(2):
            self.assertEqual(self.good("enumerate", "--explain", "--machine", path, CHAIN).out, first)
        with open(path) as file:
            self.assertEqual(file.read(), text)
        self.assertEqual(os.listdir(self.folder), ["here.txt"])

    def test_scales(self):
        """Estimates are in proportion to it, for all ranks; results do not know of it."""
        one = self.write("one.txt", "build 1\nscan 1\nwalk 1\n")
        slow = self.write("slow.txt", "# old\n\nwalk 10\nscan 1\nbuild 3 \n")
        walk = self.seconds("walk", "--machine", one, CHAIN)
        self.assertAlmostEqual(self.seconds("walk", "--machine", slow, CHAIN) / walk, 10, delta=0.1)
        self.assertAlmostEqual(self.seconds("walk", "--machine", slow, CHAIN, ranks=2) / walk, 5, delta=0.1)
        answers = [self.good("enumerate", "--machine", path, CHAIN[:18]).out for path in (one, slow)]
        self.assertEqual(answers[0].replace("engine table", "engine walk"), answers[1].replace("engine table", "engine walk"))

    def test_refuse_over(self):
        """It is held against all that is asked for, whatever the lengths."""
        path = self.write("one.txt", "build 1\nscan 1\nwalk 1\n")
        words = ["--engine", "walk", "--threads", "1", "--machine", path]
        first, second = CHAIN[:20], CHAIN[:19]
        each = [self.seconds("walk", *words[4:], chain) for chain in (first, second)]
        limit = f"{max(each) + min(each) / 2:.3f}"
        self.good("enumerate", *words, "--refuse-over", limit, first)
        self.good("enumerate", *words, "--refuse-over", limit, second)
        self.refused("enumerate", *words, "--refuse-over", limit, first, second, says="--refuse-over")

    def test_refused(self):
        for text, says in (("build 1\nscan 1\n", "does not tell 'walk'"), ("walk x\n", "line 1"), ("walk nan\n", "line 1"),
                           ("walk 0\n", "line 1"), ("build 1\nscan 1\nwalk -1\n", "line 3"), ("walk 1 2\n", "line 1"),
                           ("\0\n", "does not tell"), ("walk 1e999\n", "line 1"), ("w" * 1000, "line 1"),
                           ("", "does not tell")):
            path = self.write("bad.txt", text)
            self.refused("enumerate", "HPHPPH", "--machine", path, says=["bad.txt", says])
            with open(path) as file:
                self.assertEqual(file.read(), text)
        self.refused("enumerate", "HPHPPH", "--machine", self.folder, says="not a file")
        self.refused("enumerate", "HPHPPH", "--machine", self.path("no/such.txt"), says="cannot write", status=1)
        self.refused("census", "--length", "6", "--machine", self.write("x", "walk 1\n"), says="does not tell 'build'", ranks=2)
        full = self.path("full")
        os.mkdir(full)
        self.refused("enumerate", "HPHPPH", "--machine", os.path.join(full, "m"), says="cannot write", status=1,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        self.assertEqual(os.listdir(full), [])
        path = self.path("bad.txt")
        self.refused("enumerate", "HPHPPH", "--machine", path, "--output", path, says="--machine")
        self.assertEqual(run("table", "build", "--length", "8", "--explain", "--machine", self.path("t.txt")).status, 0)


if __name__ == "__main__":
    unittest.main()

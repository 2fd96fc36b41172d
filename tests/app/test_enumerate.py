#!/usr/bin/python3
"""enumerate gives the published histograms, as text and as JSON, alone and over ranks."""
import json
import subprocess
import unittest

from starfold_app import Case, counts, table

STEPS = {"R": (1, 0, 0), "L": (-1, 0, 0), "U": (0, 1, 0), "D": (0, -1, 0), "F": (0, 0, 1), "B": (0, 0, -1)}
LATTICES = {"2": "square", "3": "cubic"}


def walk_score(sequence, walk):
    """Score of a walk, or None when it meets itself; written apart from the program."""
    sites = [(0, 0, 0)]
    for letter in walk:
        sites.append(tuple(a + b for a, b in zip(sites[-1], STEPS[letter])))
    if len(set(sites)) != len(sequence) or len(sites) != len(sequence):
        return None
    return sum(1 for i in range(len(sites)) for j in range(i + 2, len(sites))
               if sequence[i] == sequence[j] == "H" and sum(abs(a - b) for a, b in zip(sites[i], sites[j])) == 1)


def trimmed(histogram):
    while len(histogram) > 1 and histogram[-1] == 0:
        histogram = histogram[:-1]
    return histogram


class Enumerate(Case):
    def check(self, result, row):
        histogram = trimmed(counts(row["histogram_reduced_from_0"]))
        best = len(histogram) - 1
        self.assertEqual(result["sequence"], row["sequence"])
        self.assertEqual(result["lattice"], LATTICES[row["dim"]])
        self.assertEqual(result["length"], len(row["sequence"]))
        self.assertIs(result["exact"], True)
        self.assertEqual(result["min_score"], 0)
        self.assertEqual(result["histogram"], histogram)
        self.assertEqual(result["conformations"], int(row["reduced_conformations"]))
        self.assertEqual(result["distinct_scores"], int(row["fitness_distinct_scores"]))
        self.assertEqual(result["max_score"], best)
        self.assertEqual(result["scores_reachable"], [s for s, n in enumerate(histogram) if n])
        self.assertEqual(result["stars"], [best // 2, best - 1, best] if best >= 3 else [None] * 3)
        self.assertIn(result["engine"], ("table", "walk", "bound"))
        self.assertNotIn("solutions", result)

    def rows(self, dim, longest):
        return [row for row in table("hp_histograms.csv")
                if row["dim"] == dim and int(row["N"]) <= longest and row["histogram_reduced_from_0"]]

    def test_published(self):
        for dim, longest in (("2", 18), ("3", 12)):
            rows = self.rows(dim, longest)
            self.assertGreater(len(rows), 2)
            results = self.json("enumerate", "--lattice", LATTICES[dim], *[row["sequence"] for row in rows])["results"]
            self.assertEqual(len(results), len(rows))
            for result, row in zip(results, rows):
                self.check(result, row)

    def test_every_engine(self):
        row = next(r for r in self.rows("2", 18) if int(r["N"]) >= 12)
        for engine in ("auto", "table", "walk"):
            result = self.json("enumerate", "--engine", engine, row["sequence"])["results"][0]
            self.check(result, row)
            if engine != "auto":
                self.assertEqual(result["engine"], engine)

    def test_ranks_and_threads(self):
        rows = self.rows("2", 18)
        words = ["enumerate", "--format", "json", "--engine", "walk", "--threads", "2", *[row["sequence"] for row in rows]]
        alone = self.good(*words).out
        self.assertEqual(self.good(*words, ranks=3).out, alone)
        words[4] = "table"
        several = json.loads(self.good(*words, ranks=2).out)["results"]
        for result, row in zip(several, rows):
            self.check(result, row)

    def test_order_and_copies(self):
        asked = ["HHPPHH", "HPHPPHH", "HHPPHPH", "hhpphh", "HPPPH", "HHPPHPH", "HHPPHH"]
        results = self.json("enumerate", *asked)["results"]
        self.assertEqual([r["sequence"] for r in results], [text.upper() for text in asked])
        self.assertEqual(results[1]["histogram"], results[2]["histogram"])  # a chain and its reverse
        for result in results:
            alone = self.json("enumerate", result["sequence"])["results"][0]
            self.assertEqual(alone["histogram"], result["histogram"])

    def test_solutions(self):
        for lattice, sequence in (("square", "HPHPPHHPHPPHPH"), ("cubic", "HHHHHHHH")):
            result = self.json("enumerate", "--solutions", "--lattice", lattice, sequence)["results"][0]
            self.assertEqual([s["score"] for s in result["solutions"]], result["scores_reachable"])
            for solution in result["solutions"]:
                self.assertEqual(walk_score(sequence, solution["walk"]), solution["score"])

    def test_gap(self):
        result = self.json("enumerate", "--lattice", "cubic", "HHHHHHHH")["results"][0]
        self.assertEqual(result["scores_reachable"], [0, 1, 2, 3, 5])
        self.assertEqual(result["distinct_scores"], 5)
        self.assertEqual(result["histogram"][4], 0)

    def test_file(self):
        path = self.write("some.txt", "HHPPHH\r\nHPHPHP\nHHHHHH")
        self.assertEqual([r["sequence"] for r in self.json("enumerate", "--file", path)["results"]],
                         ["HHPPHH", "HPHPHP", "HHHHHH"])
        self.assertEqual(self.good("enumerate", "--file", path, ranks=2).out, self.good("enumerate", "--file", path).out)

    def test_file_of_standard_input(self):
        """Rank 0 reads it, and blanks around a sequence do not count."""
        path = self.write("blanks.txt", "  HHPPHH\n\tHPHPHP \r\nHHHHHH")
        for ranks in 0, 2:
            with open(path) as file:
                results = self.json("enumerate", "--file", "-", stdin=file, ranks=ranks)["results"]
            self.assertEqual([r["sequence"] for r in results], ["HHPPHH", "HPHPHP", "HHHHHH"])
        self.refused("enumerate", "--file", "-", says="'standard input' holds no sequence")
        path = self.write("blank.txt", "HHPPHH\n  \nHPHPHP")
        with open(path) as file:
            self.refused("enumerate", "--file", "-", stdin=file, says="standard input line 2 is empty")

    def test_text(self):
        text = self.good("enumerate", "HPHPPHHPHPPHPH", "HHHH", "--solutions").out
        self.assertIn("HPHPPHHPHPPHPH", text)
        self.assertIn("14 residues, square lattice", text)
        self.assertIn("110,188", text)
        self.assertIn("stars            none", text)

    def test_max_seconds(self):
        long, short = self.json("enumerate", "--engine", "walk", "--max-seconds", "3", "HPHPH" * 8, "HPHPPHH")["results"]
        self.assertEqual((long["exact"], long["best_lower"], long["scores_reachable"]), (False, 0, [0]))
        self.assertGreaterEqual(long["best_upper"], 12)
        self.assertEqual(set(long["histogram"]), {None})
        self.assertEqual((short["exact"], short["histogram"]), (True, [83, 14, 1]))
        self.assertNotIn("best_lower", short)
        # numbers beyond 53 bits are strings of digits
        huge = self.json("enumerate", "--engine", "walk", "--max-seconds", "0.1", "H" * 42)["results"][0]
        self.assertRegex(huge["conformations"], r"^\d{18}$")
        text = self.good("enumerate", "--engine", "walk", "--max-seconds", "0.5", "HPHPH" * 8, ranks=2).out
        self.assertIn("not proven to the end", text)

    def test_bound(self):
        """The set of scores and the top counts, proven; what a limit leaves open is told."""
        for dim, longest in (("2", 18), ("3", 12)):
            rows = self.rows(dim, longest)
            results = self.json("enumerate", "--engine", "bound", "--top-counts", "2", "--lattice", LATTICES[dim],
                                *[row["sequence"] for row in rows])["results"]
            for result, row in zip(results, rows):
                histogram = trimmed(counts(row["histogram_reduced_from_0"]))
                reachable = [s for s, n in enumerate(histogram) if n]
                self.assertEqual((result["engine"], result["exact"]), ("bound", True))
                self.assertEqual(result["scores_reachable"], reachable)
                self.assertEqual(result["distinct_scores"], len(reachable))
                self.assertEqual(result["conformations"], int(row["reduced_conformations"]))
                for score, n in enumerate(result["histogram"]):
                    self.assertIn(n, (histogram[score], None) if histogram[score] else (0,))
                for score in reachable[-2:]:
                    self.assertEqual(result["histogram"][score], histogram[score])

    def test_set_alone(self):
        """--top-counts 0: the set of scores and no count, the same by table and bound, at a short length too."""
        sequences = ["HPHPPHHPHPPHPHHP", "HHHHHHHHHHHHHHHH", "PPPPPPPPPPPPPPPP", "HPPHPPHPPHPPHPPH"]
        whole = self.json("enumerate", *sequences, "--engine", "walk")["results"]
        for engine in ("table", "bound", "auto"):
            sets = self.json("enumerate", *sequences, "--top-counts", "0", "--engine", engine)["results"]
            for one, other in zip(whole, sets):
                for key in ("scores_reachable", "distinct_scores", "max_score", "stars", "exact", "conformations"):
                    self.assertEqual(one[key], other[key], (engine, key))
                self.assertEqual(other["histogram"], [None if n else 0 for n in one["histogram"]])
        self.refused("enumerate", *sequences, "--top-counts", "0", "--engine", "walk", says="take table or bound")
        output = self.path("sets.h5")
        words = ["enumerate", *sequences, "--top-counts", "0", "--output", output]
        first = self.good(*words, "--engine", "table").out
        self.assertEqual(self.good(*words, "--engine", "table").out.replace("read from the file", "engine table"), first)
        self.refused("enumerate", *sequences, "--output", output, says="top-counts")

    def test_bound_limits(self):
        words = ["enumerate", "--engine", "bound", "HPHPPHHPHPPHPHHPPHPHHPHHPPHPHPHPPHHPHHPHPPHPHPHH"]
        limited = self.json(*words, "--node-limit", "1000")["results"][0]
        self.assertIs(limited["exact"], False)
        self.assertLess(limited["best_lower"], limited["best_upper"])
        self.assertEqual(limited["stars"], [None] * 3)
        self.assertEqual(self.json(*words, "--node-limit", "1000", "--threads", "2", ranks=2)["results"][0], limited)
        timed = self.json(*words, "--max-seconds", "1")["results"][0]
        self.assertIs(timed["exact"], False)
        self.assertGreaterEqual(timed["best_upper"], timed["best_lower"])
        self.refused(*words, "--node-limit", "0", says=["--node-limit", "allowed is 1"])
        self.refused(*words, "--max-seconds", "0", says=["--max-seconds", "0.001 at least"])
        self.refused(*words, "--top-counts", "-1", says=["--top-counts", "allowed is 0"])

    def test_counts_ended_by_a_limit(self):
        """Scores that are proven with counts that a limit has ended are not called exact, in text, JSON and the file."""
        words = ["enumerate", "--engine", "bound", "HPHPPHHPHPPHPHHPPHPH", "--top-counts", "2"]
        seen = set()
        for limit in "100", "1500", "6000", "1000000":
            output = self.path(f"limited{limit}.h5")
            result = self.json(*words, "--node-limit", limit)["results"][0]
            text = self.good(*words, "--node-limit", limit, "--output", output).out
            scores = [s for s in result["scores_reachable"] if s > result["max_score"] - 2]
            counted = all(result["histogram"][s] is not None for s in scores)
            self.assertEqual(result["exact"], result["scores_exact"] and counted)
            self.assertEqual(", exact\n" in text, result["exact"])
            self.assertEqual("scores exact, counts not finished" in text, result["scores_exact"] and not counted)
            dumped = subprocess.run(["h5dump", "-y", "-d", "/sequences/exact", output], capture_output=True, text=True)
            self.assertEqual(dumped.stdout.split("DATA {")[1].split("}")[0].strip(), str(int(result["exact"])))
            seen.add((result["scores_exact"], result["exact"]))
        self.assertLessEqual({(True, False), (True, True)}, seen)

    def test_auto_within_limits(self):
        """auto proves what cannot be counted in the time there is, or where nodes are limited; nothing ignores a limit."""
        chain = "HPHPPHHPHPPHPHHPPHPHHPPHPPHHHPHH"
        for limit in ["--max-seconds", "30", "--threads", "1"], ["--node-limit", "100000000"]:
            result = self.json("enumerate", chain, *limit)["results"][0]
            self.assertEqual((result["engine"], result["exact"], result["max_score"]), ("bound", True, 15), limit)
        explained = self.json("enumerate", chain, "--max-seconds", "2", "--explain")
        self.assertEqual(explained["engine"], "bound")
        self.assertIn("--max-seconds is less", self.good("enumerate", chain, "--max-seconds", "2", "--explain").out)
        self.assertEqual(self.json("enumerate", chain, "--max-seconds", "100000", "--explain")["engine"], "walk")
        self.assertNotEqual(self.json("enumerate", "HHPPHHPH", "--max-seconds", "60")["results"][0]["engine"], "bound")
        self.assertIs(self.json("enumerate", chain, "--node-limit", "10")["results"][0]["exact"], False)
        for engine in "walk", "table":
            self.refused("enumerate", "HHPPHHPH", "--engine", engine, "--node-limit", "5", says="engine bound alone")
            self.refused("enumerate", "HHPPHHPH", "--engine", engine, "--top-counts", "2", says="--top-counts")

    def test_time_left(self):
        """With time enough a limit changes nothing: neither the counts nor the sequences of a batch that are hard."""
        for words in (["--lattice", "cubic", "HPHPPHHPHPPHPHHPPHPH"],
                      ["--top-counts", "2", "HPHPPHHPHPPHPHHPPHPHHPHH", "PPHPPHHPPPPHHPPPPHHPPPPHH",
                       "HHPPHHPPHHPPHHPPHHPP"]):
            words = ["enumerate", "--engine", "bound", "--format", "json", *words]
            whole = self.good(*words).out
            self.assertEqual(self.good(*words, "--max-seconds", "10000").out, whole)
            self.assertEqual(self.good(*words, "--max-seconds", "10000", ranks=2).out, whole)
            self.assertEqual(self.good(*words, "--max-seconds", "10000", "--node-limit", "1000000000").out, whole)

    def test_time_over(self):
        """What was proven of a sequence that the time did not suffice for is told, and is true."""
        long = "HHHHHHHHHHHHPHPHPPHHPPHHPPHPPHHPPHHPPHPPHHPPHHPPHPHPHHHHHHHHHHHH"
        for limit in [], ["--node-limit", "100000000000"]:
            for ranks in 1, 2:
                words = ["enumerate", "--engine", "bound", long, "--max-seconds", "0.5", *limit]
                result = self.json(*words, ranks=ranks)["results"][0]
                self.assertLessEqual(result["max_score"], 42)
                self.assertGreaterEqual(len(result["histogram"]), 43)
                self.assertEqual(result["histogram"][43:], [None] * (len(result["histogram"]) - 43))

    def test_examples_in_time(self):
        """Examples of a long chain: found for every score; or, when the time is over, said not to be."""
        chain = "PPPHHPPHHPPPPPHHHHHHHPPHHPPPPHHPPHPP"
        words = ["enumerate", "--engine", "bound", "--top-counts", "0", "--solutions"]
        result = self.json(*words, chain, "--max-seconds", "300")["results"][0]
        self.assertEqual([(one["score"], walk_score(chain, one["walk"])) for one in result["solutions"]],
                         [(score, score) for score in range(15)])
        endless = "HHPHPHPHPHHHHPHPPPHPPPHPPPPHPPPHPPPHPHHHHPHPHPHPHH"
        result = self.json(*words, endless, "--max-seconds", "0.2")["results"][0]
        self.assertFalse(result["exact"])
        self.assertEqual(result["solutions"][0]["walk"], "R" * 49)
        for one in result["solutions"]:
            self.assertIn(one["walk"] and walk_score(endless, one["walk"]), (None, one["score"]))
        for seconds in "0.2", "2":  # how many scores are seen by then depends on the machine
            out = self.good(*words, endless, "--max-seconds", seconds).out
            for line in out.split("example\n")[1].splitlines():
                self.assertRegex(line, r"not counted  ([RLUD]{49}|none found in time)$|unknown$| 0$")

    def test_bound_by_all_ranks(self):
        """A tree large enough to be cut into tasks: ranks share it, whatever the limit leaves open."""
        words = ["enumerate", "--engine", "bound", "--threads", "1", "--format", "json", "HPHPHHPHHHPPPPPPHHPPHHHHHPHPHH"]
        for limit in [], ["--node-limit", "60000"], ["--node-limit", "200000"]:
            alone = self.good(*words, *limit).out
            for ranks in 2, 3:
                self.assertEqual(self.good(*words, *limit, ranks=ranks).out, alone)
        self.assertEqual(self.json(*words[:-3], *words[-1:], ranks=2)["results"][0]["histogram"][13], 732)

    def test_long_chains_choose_bound(self):
        result = self.json("enumerate", "HPHPPHHPHPPHPHHPPHPHHPHHPPHPHPHPPHHP")["results"][0]
        self.assertEqual((result["engine"], result["exact"], result["max_score"]), ("bound", True, 14))
        self.assertEqual(result["histogram"], [None] * 14 + [475])

    def test_explain(self):
        text = self.good("enumerate", "--explain", "HPHPPHHPHPPHPH").out
        self.assertIn("would be taken", text)
        document = self.json("enumerate", "--explain", "HPHPPHHPHPPHPH")
        self.assertIn(document["engine"], ("table", "walk"))


if __name__ == "__main__":
    unittest.main()

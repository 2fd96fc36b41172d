#!/usr/bin/python3
"""census gives the published numbers of all sequences, alone and over ranks; with other letters what enumerate gives."""
import itertools
import json
import os
import unittest

from starfold_app import Case, counts, run, table
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

    def test_one_table_or_shards(self):
        """Under a limit on memory: shards of the maps, for all sequences together and for other letters."""
        files = []
        for words in (["--length", "20", "--threads", "1"],
                      ["--length", "15", "--threads", "1", "--score-model", "AB:2,-1;1", "--engine", "table"]):
            limit = 0.75 * self.json("census", *words[:2], "--threads", "1", "--explain")["memory_bytes"]
            if "--engine" in words:  # batches of sequences take some of what is allowed, the table the rest
                chain = self.json("enumerate", "A" * 15, *words[2:], "--explain")["engines"]
                limit = 1.3 * next(e for e in chain if e["engine"] == "table")["memory_bytes"]
            alone = self.good("census", *words, "--output", self.path("alone.h5"), "--force", "--format", "json").out
            for limit in (["--memory-limit", str(int(limit))], []):
                name = f"{len(files)}.h5"
                explained = self.json("census", *words, *limit, "--explain", ranks=3)
                place = explained.get("place") or next(e for e in explained["engines"] if e["engine"] == "table")["place"]
                self.assertEqual(place == "in 3 shards", bool(limit), explained)
                self.assertEqual(self.good("census", *words, *limit, "--format", "json", "--output",
                                           self.path(name), ranks=3).out, alone)
                with open(self.path(name), "rb") as ours, open(self.path("alone.h5"), "rb") as right:
                    self.assertEqual(ours.read(), right.read())
                files.append(name)

    def test_two_letters_together(self):
        """Another model of two letters: all together as sequence by sequence, whoever counts; room for it or not."""
        for model, more in (("AB:2,-1;1", []), ("AB:-1,0;0", ["--histograms"]), ("AB:0,0;3", ["--histograms"]),
                            ("AB:30,-7;11", ["--histograms"])):
            words = ["census", "--length", "11", "--score-model", model, "--format", "json", *more, "--output"]
            right = self.good(*words, self.path("each.h5"), "--engine", "table", "--force").out
            for options, ranks in ((["--threads", "1"], 1), (["--threads", "2"], 2), (["--threads", "1"], 3)):
                self.assertEqual(self.good(*words, self.path("a.h5"), "--force", *options, ranks=ranks).out, right)
                with open(self.path("a.h5"), "rb") as ours, open(self.path("each.h5"), "rb") as each:
                    self.assertEqual(ours.read(), each.read())
        words = ["census", "--length", "16", "--score-model", "AB:2,-1;1", "--threads", "1", "--explain"]
        self.assertIn("together from the table", self.good(*words).out)
        self.assertIn("together from the table", self.good(*words[:-1], "--memory-limit", "8M", "--explain").out)
        self.assertIn("32,896 sequences", self.good(*words[:-1], "--memory-limit", "2M", "--explain").out)

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

    def test_histograms(self):
        census = self.json("census", "--length", "8", "--histograms")
        given = census["histograms"]
        shapes = {}
        names = [format(i, "08b").translate({48: "H", 49: "P"}) for i in range(256)]
        text = self.write("all.txt", "".join(name + "\n" for name in names))
        for result in self.json("enumerate", "--file", text)["results"]:
            shapes.setdefault(tuple(trimmed(result["histogram"])), []).append(result["sequence"])
        width = len(census["max_score_histogram"])
        self.assertEqual(given["distinct"], len(shapes))
        self.assertEqual(given["most_shared"], max(map(len, shapes.values())))
        self.assertEqual(sum(entry["sequences"] for entry in given["by_fitness"]), 256)
        for entry in given["by_fitness"]:
            mine = [shape for shape in shapes if sum(n > 0 for n in shape) == entry["fitness"]]
            self.assertEqual(entry["distinct"], len(mine))
            for score in range(width):
                counts_here = sorted((shape + (0,) * width)[score] for shape in mine for _ in shapes[shape])
                self.assertEqual(entry["least"][score], counts_here[0])
                self.assertEqual(entry["median"][score], counts_here[(len(counts_here) - 1) // 2])
                self.assertEqual(entry["greatest"][score], counts_here[-1])
        text = self.good("census", "--length", "8", "--histograms").out
        self.assertIn(f"distinct histograms          {len(shapes)}", text)

    def test_file(self):
        """The same bytes however it was made; info and digest know it."""
        path, other = self.path("a.h5"), self.path("b.h5")
        words = ["census", "--length", "11", "--histograms", "--format", "json", "--output"]
        said = self.json(*words, path)
        with open(path, "rb") as file:
            right = file.read()
        for how, more in [(["--threads", "3"], {}), (["--threads", "2"], {"ranks": 3}), (["--engine", "walk"], {}),
                          ([], {"env": {"STARFOLD_ISA": "portable"}}), (["--engine", "table"], {"ranks": 2})]:
            self.assertEqual(self.json(*words, other, "--force", *how, **more), said, f"{how} {more}")
            with open(other, "rb") as file:
                self.assertEqual(file.read(), right, f"{how} {more}")
        about = self.json("info", path)
        self.assertEqual(about["kind"], "census")
        for key in ["length", "lattice", "sequences", "unique_best", "max_score_histogram", "sequences_with_gaps"]:
            self.assertEqual(about[key], said[key], key)
        self.assertEqual(trimmed(about["fitness_histogram"]), said["fitness_histogram"])
        self.assertEqual(about["distinct_histograms"], said["histograms"]["distinct"])
        self.assertIn("all sequences of 11 residues", self.good("info", path).out)
        self.assertEqual(len(self.good("digest", path).out.split()[0]), 64)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.h5", "b.h5"])

    def test_file_contents(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("this Python has no h5py")
        path = self.path("a.h5")
        for length, more in [(7, []), (8, []), (6, ["--engine", "walk"]), (7, ["--lattice", "cubic"])]:
            self.good("census", "--length", length, "--histograms", "--output", path, "--force", *more)
            names = [format(i, f"0{length}b").translate({48: "H", 49: "P"}) for i in range(2 ** length)]
            text = self.write("all.txt", "".join(name + "\n" for name in names))
            results = self.json("enumerate", "--file", text, *more)["results"]
            with h5py.File(path) as file:
                width = int(file["census/n_scores"][()])
                shapes = {}
                for result in results:
                    shape = (trimmed(result["histogram"]) + [0] * width)[:width]
                    shapes.setdefault(tuple(shape), []).append(result["sequence"])
                self.assertEqual(file["sequences/fitness"][:].tolist(), [r["distinct_scores"] for r in results])
                self.assertEqual(file["sequences/best_score"][:].tolist(), [r["max_score"] for r in results])
                self.assertEqual(file["shapes/histogram"][:].tolist(), [list(shape) for shape in sorted(shapes)])
                self.assertEqual(file["shapes/sequences"][:].tolist(), [len(shapes[shape]) for shape in sorted(shapes)])
                self.assertEqual(file["shapes/letters"].asstr()[:].tolist(), [min(shapes[shape]) for shape in sorted(shapes)])
                self.assertEqual(file["shapes/histogram"].dims[1][0][:].tolist(), list(range(width)))

    def test_more_letters(self):
        """A model of three letters with negative weights, sequence by sequence."""
        model = self.write("three.txt", "    H P X\nH  1 0 -1\nP  0 0 0\nX -1 0 1\n")
        path, other = self.path("a.h5"), self.path("b.h5")
        words = ["census", "--length", "6", "--score-model", model, "--histograms", "--format", "json", "--output"]
        said = self.json(*words, path)
        self.assertEqual(said["sequences"], 3 ** 6)
        self.assertEqual(sum(entry["sequences"] for entry in said["histograms"]["by_fitness"]), 3 ** 6)
        self.json(*words, other, ranks=2)
        with open(path, "rb") as one, open(other, "rb") as two:
            self.assertEqual(one.read(), two.read())
        self.assertEqual(self.json("info", path)["min_score"], said["min_score"])

    def test_file_refused(self):
        path = self.path("a.h5")
        self.good("census", "--length", "6", "--output", path)
        self.refused("census", "--length", "6", "--output", path, says=["exists", "--force"])
        self.refused("census", "--length", "6", "--output", self.folder, says="is a folder")
        self.refused("census", "--length", "6", "--output", self.path("no/a.h5"), says="/no'")
        self.refused("census", "--length", "20", "--histograms", "--memory-limit", "100M",
                     says=["with --histograms", "needs", "100 MiB are allowed"])
        self.refused("census", "--length", "20", "--histograms", "--engine", "walk", "--memory-limit", "64M",
                     says=["histograms of all sequences", "64"])
        with open(path, "rb") as file:
            whole = file.read()
        for n, damaged in enumerate([whole[:1000], whole[:-1], whole[:4000] + b"x" + whole[4001:]]):
            broken = self.path(f"broken{n}.h5")
            with open(broken, "wb") as file:
                file.write(damaged)
            self.refused("info", broken, says=broken)
        self.refused("census", "--length", "6", "--output", "/dev/full", "--force", says="is a device")

    def test_text(self):
        text = self.good("census", "--length", "9").out
        self.assertIn("all sequences of 9 residues on the square lattice", text)
        self.assertIn("512", text)

    def test_explain(self):
        self.assertIn("would be taken", self.good("census", "--length", "16", "--explain").out)

    def test_memory_explained(self):
        """--explain is refused where the work is, after what it would take."""
        together = ("census", "--length", 18, "--memory-limit", "3M")
        each = ("census", "--length", 10, "--score-model", "hpnx", "--threads", 1)
        many = (*each, "--histograms", "--memory-limit", "20M")
        for words in (together, many):
            line = self.refused(*words, says="are allowed")
            explained = run(*words, "--explain")
            self.assertEqual((explained.status, explained.err), (2, line + "\n"))
            self.assertIn("a rank", explained.out)
            self.assertNotIn("would be taken", explained.out)
            explained = run(*words, "--explain", "--format", "json")
            self.assertEqual((explained.status, explained.err), (2, line + "\n"))
            answer = json.loads(explained.out)
            self.assertIsNone(answer["engine"])
            self.assertEqual(answer["refused"], line[len("starfold: "):])
        build = ("table", "build", "--length", 20, "--memory-limit", "1M")
        line = self.refused(*build, "--output", self.path("t.h5"), says="may be used")
        explained = run(*build, "--explain")
        self.assertEqual((explained.status, explained.err), (2, line + "\n"))
        self.assertIn("of disk", explained.out)
        self.assertEqual(self.good(*each, "--memory-limit", "1M").out, self.good(*each).out)

    def test_too_long(self):
        self.refused("census", "--length", "18", "--lattice", "cubic", says="3 to 17 residues")
        self.refused("census", "--length", "25", says="3 to 24")
        self.refused("census", "--length", "13", "--score-model", "hpnx", says="3 to 12 residues")


if __name__ == "__main__":
    unittest.main()

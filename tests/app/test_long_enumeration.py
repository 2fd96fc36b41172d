#!/usr/bin/python3
"""enumerate --output: killed at random moments and started again on other layouts, it ends with the bytes of an undisturbed
one; files and checkpoints of other questions are refused and left as they are.

STARFOLD_TEST_SEED repeats a run."""
import json
import os
import random
import re
import shutil
import signal
import time
import unittest

import h5py
import numpy as np
from starfold_app import PATIENCE_S, Case, counts, kill, outlived, ranks_of, run, start, table

SEED = int(os.environ.get("STARFOLD_TEST_SEED", random.randrange(10 ** 9)))
CHAINS = ["HPHPPHHPHPPHPHHPPHPHHPPH", "HHPPHPPHPPHPPHPPHPPHPPHH", "HPHPPHHPHPPHPHHPPHPHHPPH", "PPHHPPHHPPHHPPHHPPHHPPHP"]


class LongEnumeration(Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.file = self.write("chains.txt", "\n".join(CHAINS) + "\n")
        self.output = self.path("answers.h5")

    def bytes(self, path):
        with open(path, "rb") as file:
            return file.read()

    def whole(self, *more, **how):
        path = self.path("whole.h5")
        self.good("enumerate", "--quiet", "--file", self.file, "--output", path, *more, **how)
        return path

    def checkpoint(self, *more):
        """Leaves a checkpoint beside self.output, with some of the parts, however slow the machine is."""
        words = ["enumerate", "--quiet", "--file", self.file, "--engine", "walk", "--threads", "1", "--output", self.output]
        limit, parts_done = 0.3, 0
        while parts_done == 0:
            result = run(*words, "--time-limit", f"{limit:.1f}", *more)
            self.assertEqual(result.status, 75, result)
            self.assertRegex(result.err, r"stopped by the time limit .*go on with the same command")
            self.assertEqual(len(result.err.splitlines()), 1, result)
            self.assertFalse(os.path.exists(self.output))
            if os.path.exists(self.output + ".checkpoint"):
                with h5py.File(self.output + ".checkpoint") as file:
                    parts_done = np.unpackbits(file["progress/done"][()]).sum()
            limit *= 1.5
        if os.path.exists(self.output + ".checkpoint.previous"):  # there is one where the first try counted no part
            os.remove(self.output + ".checkpoint.previous")
        return self.output + ".checkpoint"

    def test_kills(self):
        print("seed", SEED, flush=True)
        whole = self.whole("--engine", "walk")
        kills = 0
        for attempt in range(60):
            ranks, threads = self.random.choice([0, 2, 3]), self.random.choice([1, 2])
            process = start("enumerate", "--quiet", "--file", self.file, "--engine", "walk", "--output", self.output,
                            "--checkpoint-seconds", "0.05", "--threads", threads, ranks=ranks)
            time.sleep(self.random.uniform(0.05, 0.8))
            victims = ranks_of(process) if ranks else [process.pid]
            if process.poll() is None and victims:
                kill(self.random.choice(victims))
            process.communicate(timeout=PATIENCE_S)
            self.assertEqual(outlived(victims), [])
            kills += process.returncode != 0
            if process.returncode == 0 or kills == 6:
                break
        self.good("enumerate", "--quiet", "--file", self.file, "--output", self.output, ranks=2)
        self.assertTrue(self.bytes(self.output) == self.bytes(whole), f"other bytes than without kills, seed {SEED}")
        self.assertEqual(sorted(os.listdir(self.folder)), ["answers.h5", "chains.txt", "whole.h5"])

    def test_layouts(self):
        """Any engine that counts, ranks and threads: the same bytes."""
        self.file = self.write("short.txt", "\n".join(chain[:18] for chain in CHAINS) + "\n")
        first = self.bytes(self.whole("--engine", "walk", "--threads", "2"))
        for more, how in ((["--engine", "walk", "--threads", "1"], {"ranks": 3}), (["--engine", "table"], {}),
                          (["--engine", "auto"], {"ranks": 2, "env": {"STARFOLD_ISA": "portable"}})):
            self.assertTrue(self.bytes(self.whole("--force", *more, **how)) == first, more)

    def test_signal(self):
        for number in (signal.SIGUSR1, signal.SIGTERM):
            process = start("enumerate", "--quiet", "HPHPPHHPHPPHPHHPPHPHHPPHPPHHPHPP", "--engine", "walk", "--output",
                            self.output)
            self.begun(process, self.output + ".lock")
            process.send_signal(number)
            err = process.communicate(timeout=PATIENCE_S)[1]
            self.assertEqual(process.returncode, 75, err)
            self.assertIn("go on with the same command", err)
            self.assertFalse(os.path.exists(self.output))

    def test_content(self):
        """What the file says is what is printed, in the order given; each puzzle is there once."""
        whole = self.whole()
        asked = self.json("enumerate", "--file", self.file)["results"]
        with h5py.File(whole) as file:
            letters = file["asked/letters"].asstr()[()]
            self.assertEqual(list(letters), CHAINS)
            self.assertEqual(len(file["sequences/letters"]), 3)
            for i, result in enumerate(asked):
                row = file["asked/sequence"][i]
                histogram = list(file["sequences/histogram"][row])
                self.assertEqual(histogram[:len(result["histogram"])], result["histogram"])
                self.assertEqual(sum(histogram), result["conformations"])
                self.assertEqual(file["sequences/best_score"][row], result["max_score"])
                self.assertEqual(file["sequences/distinct_scores"][row], result["distinct_scores"])
                self.assertEqual(file["sequences/exact"][row], 1)
            self.assertEqual(dict(file["config"].attrs)["lattice"], "square")
            self.assertEqual(file["sequences/histogram"].dims[1].keys(), ["score"])
        self.good("digest", whole)

    def test_finished(self):
        whole = self.whole()
        before = os.stat(whole).st_mtime_ns
        again = self.json("enumerate", "--file", self.file, "--output", whole)["results"]
        self.assertEqual(os.stat(whole).st_mtime_ns, before)
        fresh = self.json("enumerate", "--file", self.file)["results"]
        for a, b in zip(again, fresh):
            self.assertEqual(a["engine"], "file")
            self.assertEqual({**a, "engine": ""}, {**b, "engine": ""})
        others = ((["HPHPPHHPHPPHPHHPPHPHHPPH"], "sequences"), (["--file", self.file, "--lattice", "cubic"], "lattice"),
                  (["--file", self.file, "--engine", "bound"], "engine"))
        kept = self.bytes(whole)
        for words, says in others:
            self.refused("enumerate", *words, "--output", whole, says=["whole.h5", says, "--force"])
        self.assertEqual(self.bytes(whole), kept)
        self.good("enumerate", "HPHPPHHPHPPHPHHP", "--output", whole, "--force")
        self.assertEqual(len(self.json("enumerate", "HPHPPHHPHPPHPHHP", "--output", whole)["results"]), 1)

    def test_other_checkpoints(self):
        checkpoint = self.checkpoint()
        kept = self.bytes(checkpoint)
        about = self.json("info", checkpoint)
        self.assertEqual([about[key] for key in ("kind", "state", "length", "asked", "sequences", "engine")],
                         ["enumeration", "checkpoint", 24, 4, 3, "walk"])
        self.assertTrue(0 < about["parts_done"] < about["parts"], about)
        self.assertIn("a checkpoint; go on with the command", self.good("info", checkpoint).out)
        model = self.write("two.txt", "  H P\nH 0 1\nP 1 0\n")
        more = ["--output", self.output]
        there = sorted(os.listdir(self.folder))
        self.refused("enumerate", CHAINS[1], *more, says=["sequences", "--force"])
        self.refused("enumerate", "--file", self.file, "--lattice", "cubic", *more, says=["lattice", "--force"])
        self.refused("enumerate", "--file", self.file, "--engine", "table", *more, says=["engine walk", "--force"])
        self.refused("enumerate", "--file", self.file, "--engine", "bound", *more, says=["engine", "--force"], ranks=2)
        self.refused("enumerate", "--file", self.file, "--score-model", model, *more, says=["score", "--force"])
        self.assertEqual(self.bytes(checkpoint), kept)
        self.assertEqual(sorted(os.listdir(self.folder)), there)

    def test_refuse_over(self):
        """Only what is left counts: of a checkpoint, its share; nothing of a finished file."""
        words = ["enumerate", "--quiet", "--engine", "walk", "--threads", "1", "--output", self.output, CHAINS[0] + "HP",
                 "--machine", self.write("machine.txt", "build 1\nscan 1\nwalk 1\n")]

        def refused_seconds(**how):
            line = self.refused(*words, "--refuse-over", "0.001", says="--refuse-over", **how)
            number, unit = re.search(r"walk would take about ([0-9.]+) (us|ms|s)\b", line).groups()
            return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit], line

        whole = refused_seconds()[0]
        self.assertEqual(sorted(os.listdir(self.folder)), ["chains.txt", "machine.txt"])
        share, limit = 0, 0.2
        while share < 0.5 and not os.path.exists(self.output):
            run(*words, "--time-limit", f"{limit:.3f}")
            limit *= 1.05  # at some time a part is done in it
            if os.path.exists(self.output + ".checkpoint"):
                with h5py.File(self.output + ".checkpoint") as file:
                    share = np.unpackbits(file["progress/done"][()]).sum() / int(file["progress"].attrs["parts"])
        if not os.path.exists(self.output):
            kept = self.bytes(self.output + ".checkpoint")
            left, line = refused_seconds(ranks=2)
            self.assertIn("what is left for engine walk would take", line)
            self.assertLess(left, 0.8 * whole)
            self.assertEqual(self.bytes(self.output + ".checkpoint"), kept)
            self.good(*words)
        self.good(*words, "--refuse-over", "0.001")

    def test_limit_below_a_part(self):
        """The user is told that it gets nowhere."""
        chain = "HPHPPHHPHPPHPHHPPHPHHPPHPPHHPHPPHHPPHPHP"
        for engine, more, says in (("walk", "", r"a part takes about \d"), ("bound", "HPPH" * 6, "a part is the whole proof")):
            limit, err = 0.5, "before a part"
            while "before a part" in err:  # the engine was not even open
                stopped = run("enumerate", "--quiet", "--engine", engine, "--threads", "1", "--time-limit", limit, "--output",
                              self.path(engine + ".h5"), chain + more)
                self.assertEqual(stopped.status, 75, stopped)
                limit, err = 2 * limit, stopped.err
            self.assertRegex(err, rf"\Astarfold: stopped by the time limit with 0 of \d+ parts counted \(none now: {says}")

    def test_damaged_checkpoints(self):
        whole = self.whole("--engine", "walk")
        checkpoint = self.checkpoint()
        good = self.bytes(checkpoint)
        shutil.copy(checkpoint, self.output + ".checkpoint.previous")
        for damaged in (good[:len(good) // 2], b"", b"no HDF5", good[:3000] + bytes([good[3000] ^ 1]) + good[3001:]):
            with open(checkpoint, "wb") as file:
                file.write(damaged)
            os.rename(self.output + ".checkpoint.previous", self.path("aside"))
            self.refused("enumerate", "--quiet", "--file", self.file, "--output", self.output, says="checkpoint",
                         status=run("digest", checkpoint).status if not damaged else 2)
            os.rename(self.path("aside"), self.output + ".checkpoint.previous")
            self.assertEqual(self.bytes(checkpoint), damaged)
        shutil.copy(self.output + ".checkpoint.previous", self.path("aside"))
        shutil.copy(checkpoint, self.output + ".checkpoint.previous")
        self.refused("enumerate", "--quiet", "--file", self.file, "--output", self.output, says=["previous", "--force"])
        os.rename(self.path("aside"), self.output + ".checkpoint.previous")
        self.good("enumerate", "--file", self.file, "--output", self.output)
        self.assertEqual(self.bytes(self.output), self.bytes(whole))

    def test_not_ours(self):
        self.good("run", "--quiet", "--length", "8", "--generations", "2", "--output", self.output)
        self.refused("enumerate", "HPHPPH", "--output", self.output, says=["not an enumeration", "--force"])
        self.good("info", self.output)
        self.refused("enumerate", "HPHPPH", "--output", self.path("no/such.h5"), says="does not exist")
        self.refused("enumerate", "HPHPPH", "HPHP", "--output", self.path("x.h5"), says="one length")
        self.refused("enumerate", "HPHPPH", "--time-limit", "5", says="--output")
        self.refused("enumerate", "HPHPPH", "--output", self.path("x.h5"), "--max-seconds", "5", says="--time-limit")

    def test_bound(self):
        """What was proven is recorded as that: no number where none was counted."""
        chain = "HPHPPHHPHPPHPHHPPHPHHPPHPPHHPHPPHPHH"
        self.good("enumerate", "--output", self.output, chain)
        with h5py.File(self.output) as file:
            histogram = file["sequences/histogram"][0]
            self.assertEqual((file["config"].attrs["proven"], file["sequences/exact"][0]), ("1", 1))
        answer = self.json("enumerate", "--output", self.output, chain)["results"][0]
        about = self.json("info", self.output)
        self.assertEqual([about[key] for key in ("kind", "state", "best_fitness", "sequences_at_best")],
                         ["enumeration", "finished", answer["distinct_scores"], 1])
        self.assertIn("counts of the highest", self.good("info", self.output).out)
        for number, shown in zip(histogram, answer["histogram"]):
            self.assertEqual(None if number == 2 ** 64 - 1 else number, shown)
        self.refused("enumerate", "--output", self.output, chain, "--top-counts", "2", says="top-counts")
        self.refused("enumerate", "--output", self.output, chain[:-2], says="another question (length)")
        self.good("enumerate", "--output", self.path("counted.h5"), "HHPPHHPH")
        self.refused("enumerate", "--output", self.path("counted.h5"), "HHPPHHPH", "--node-limit", "5", says="(node-limit)")

    def test_published(self):
        """The published histograms of longer chains, through ranks and the file."""
        for dim, lattice, low, high in (("2", "square", 20, 24), ("3", "cubic", 13, 16)):
            rows = [row for row in table("hp_histograms.csv") if row["dim"] == dim and low <= int(row["N"]) <= high
                    and row["histogram_reduced_from_0"]]
            for row in rows[:4]:
                words = ["enumerate", "--engine", "walk", "--lattice", lattice, row["sequence"], "--force", "--output",
                         self.output, "--format", "json", "--quiet"]
                result = json.loads(self.good(*words, ranks=2).out)["results"][0]
                wanted = counts(row["histogram_reduced_from_0"])
                self.assertEqual(result["histogram"], wanted[:len(result["histogram"])])
                self.assertEqual(sum(result["histogram"]), int(row["reduced_conformations"]))


if __name__ == "__main__":
    unittest.main()

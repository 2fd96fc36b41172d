#!/usr/bin/python3
"""A run that was stopped, killed or extended ends with the bytes of an undisturbed one."""
import os
import re
import shutil
import signal
import time
import unittest

from starfold_app import PATIENCE_S, Case, run, start

SEARCH = ["--length", "14", "--trials", "2", "--islands", "3", "--population", "10", "--generations", "60",
          "--migration-interval", "3", "--seed", "21"]
LONG = ["--length", "14", "--trials", "2", "--islands", "3", "--population", "10", "--generations", "1000000",
        "--migration-interval", "3", "--seed", "21"]


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Resume(Case):
    def setUp(self):
        super().setUp()
        self.output = self.path("run.h5")

    def undisturbed(self, *words):
        output = self.path("whole.h5")
        self.good("run", "--quiet", "--force", "--output", output, *(words or SEARCH))
        return read(output)

    def begin(self, words=LONG, **more):
        """A run that has written its first checkpoint."""
        process = start("run", "--output", self.output, "--quiet", "--checkpoint-interval", "5", *words, **more)
        return self.begun(process, self.output + ".checkpoint.previous")

    def ended(self, process, says):
        out, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual((process.returncode, out), (75, ""), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn(says, err)
        self.assertIn(f"go on with: starfold resume {self.output}", err)

    def generation(self):
        return self.json("info", self.output)["generation"]

    def finish_at(self, extra=20, **more):
        """Resumes to a few generations more than are done, and compares with a run to there without a break."""
        self.good("info", self.output)
        checkpoint = self.output + ".checkpoint"
        done = self.json("info", checkpoint)["generation"]
        self.good("resume", self.output, "--quiet", "--generations", done + extra, **more)
        words = list(LONG)
        words[words.index("--generations") + 1] = str(done + extra)
        self.assertTrue(read(self.output) == self.undisturbed(*words))

    def test_finished(self):
        expected = self.undisturbed()
        shutil.copy(self.path("whole.h5"), self.output)
        before = os.stat(self.output)
        result = self.good("resume", self.output)
        self.assertIn("finished", result.err)
        after = os.stat(self.output)
        self.assertEqual((before.st_mtime_ns, before.st_ino), (after.st_mtime_ns, after.st_ino))
        self.assertTrue(read(self.output) == expected)
        self.assertEqual(self.good("resume", self.output, "--quiet").err, "")

    def test_more_generations(self):
        words = list(SEARCH)
        words[words.index("--generations") + 1] = "25"
        for kept in ([], ["--keep-populations"]):
            self.good("run", "--quiet", "--force", "--output", self.output, *words, *kept)
            self.good("resume", self.output, "--quiet", "--generations", "60", "--threads", "2")
            self.assertTrue(read(self.output) == self.undisturbed(*SEARCH, *kept))
        self.refused("resume", self.output, "--generations", "59", says=["--generations", "60"])

    def test_another_configuration(self):
        self.undisturbed()
        for option, value, was in (("seed", "22", "21"), ("population", "11", "10"), ("lattice", "cubic", "square"),
                                   ("mutation-rate", "0.2", "0.1"), ("length", "15", "14")):
            self.refused("resume", self.path("whole.h5"), f"--{option}", value, says=[f"--{option} is {value}", was])
        self.good("resume", self.path("whole.h5"), "--seed", "21", "--mutation-rate", "0.10")

    def test_every_option(self):
        """Each option of --help that the run was begun with is refused by name when it differs; each other one may."""
        self.undisturbed()
        whole = self.path("whole.h5")
        model = self.write("model.txt", "  H P\nH 2 1\nP 1 0\n")
        self.good("table", "build", "--length", "14", "--output", self.path("table.h5"), "--quiet")
        other = {"length": 15, "seed": 22, "trials": 3, "islands": 4, "population": 11, "elites": 2, "mutation-rate": 0.2,
                 "migration-interval": 4, "migration-delay": 2, "migrants": 2, "known": "scores", "top-counts": 1,
                 "node-limit": 5, "keep-populations": None, "lattice": "cubic", "score-model": model}
        only_one = {"selection", "crossover", "survival", "fitness", "topology"}  # there is one value
        may = {"generations": 62, "checkpoint-interval": 2, "checkpoint-seconds": 1, "time-limit": 100, "engine": "walk",
               "memory-limit": "1G", "explain": None, "refuse-over": "1:0:0", "table": self.path("table.h5"),
               "table-cache": self.path("cache"), "machine": self.path("machine.txt"), "quiet": None,
               "threads": 2, "format": "json", "perf": self.path("p.h5")}
        listed = re.findall(r"^  --([a-z-]+)", self.good("resume", "--help").out, re.MULTILINE)
        self.assertEqual(set(listed) - {"help"}, set(other) | only_one | set(may))
        for name, value in other.items():
            words = [f"--{name}"] + ([] if value is None else [value])
            was = self.refused("resume", whole, *words, says=[f"--{name} is ", "the run was begun with"])
            self.assertNotIn("--generations", was)
        expected = read(whole)
        for name, value in may.items():
            self.good("resume", whole, f"--{name}", *([] if value is None else [value]))
        for name in ("engine", "memory-limit", "table", "table-cache", "threads", "perf"):
            words = list(SEARCH)
            words[words.index("--generations") + 1] = "20"
            self.good("run", "--quiet", "--force", "--output", self.output, *words)
            self.good("resume", self.output, "--generations", "60", f"--{name}", may[name])
            self.assertTrue(read(self.output) == expected, name)

    def test_where(self):
        """Where it goes on is told, once; --explain tells of what is left, and touches nothing."""
        process = self.begin()
        process.send_signal(signal.SIGUSR1)
        self.ended(process, "a signal")
        done = self.json("info", self.output + ".checkpoint")["generation"]
        kept = {name: os.stat(self.path(name)).st_mtime_ns for name in os.listdir(self.folder)}
        told = self.good("resume", self.output, "--explain", "--generations", done + 20)
        self.assertIn(" 20 generations more, which ask for at most\n1,080 sequences of 14 residues", told.out)
        self.assertEqual(told.err, "")
        self.assertEqual({name: os.stat(self.path(name)).st_mtime_ns for name in os.listdir(self.folder)}, kept)
        lines = self.good("resume", self.output, "--generations", done + 20, ranks=2).err.splitlines()
        self.assertEqual(lines[0], f"{self.output} goes on at generation {done} of {done + 20}")
        self.assertEqual([line for line in lines[1:] if "goes on" in line], [])
        self.assertEqual(self.good("resume", self.output, "--generations", done + 21, "--quiet").err, "")

    def test_signals(self):
        for number in (signal.SIGUSR1, signal.SIGTERM):
            process = self.begin()
            process.send_signal(number)
            self.ended(process, "a signal")
            self.finish_at()
            for name in os.listdir(self.folder):
                os.remove(self.path(name))

    def test_stop_file(self):
        process = self.begin()
        open(self.output + ".stop", "w").close()
        self.ended(process, "the stop file")
        self.assertFalse(os.path.exists(self.output + ".stop"))
        self.finish_at(ranks=3)

    def test_time_limit(self):
        result = run("run", "--output", self.output, "--quiet", *LONG, "--time-limit", "1")
        self.assertEqual(result.status, 75)
        self.assertIn("the time limit", result.err)
        self.finish_at()

    def test_chain_of_pieces(self):
        """Many short pieces by time, on changing layouts, equal one long run."""
        words = list(LONG)
        words[words.index("--generations") + 1] = "12000"
        begin = time.monotonic()
        expected = self.undisturbed(*words)
        limit, pieces = (time.monotonic() - begin) / 6, 0
        while pieces <= 2:  # the machine may have more or less to do by now: then the pieces are made shorter
            limit = max(limit, 0.01)
            result = run("run", "--force", "--output", self.output, "--quiet", *words, "--time-limit", f"{limit:.3f}")
            pieces = 1
            while result.status == 75 and pieces < 20:
                result = run("resume", self.output, "--quiet", "--time-limit", f"{limit:.3f}", "--threads", 1 + pieces % 2)
                pieces += 1
            if result.status == 75:  # the rest in one piece
                result = run("resume", self.output, "--quiet")
            self.assertEqual(result.status, 0, result)
            self.assertTrue(read(self.output) == expected)
            limit /= 3

    def test_kill(self):
        process = self.begin()
        process.kill()
        process.communicate()
        document = self.json("info", self.output)
        self.assertEqual((document["state"], document["checkpoint"]), ("stopped", True))
        self.assertIn("resume", self.good("info", self.output).out)
        self.good("levels", self.output)
        self.finish_at()

    def test_kill_in_the_first_generation(self):
        """Long chains take minutes to evaluate; a run can go on from the moment its file is there."""
        words = ["--length", "30", "--known", "histograms", "--generations", "1"]
        process = self.begun(start("run", "--output", self.output, "--quiet", *words), self.output)
        process.kill()
        process.communicate()
        result = run("resume", self.output, "--time-limit", "1")
        self.assertEqual(result.status, 75, result)

    def test_damaged_checkpoint(self):
        process = self.begin()
        process.kill()
        process.communicate()
        with open(self.output + ".checkpoint", "r+b") as file:
            file.truncate(1000)
        result = run("resume", self.output, "--time-limit", "1")
        self.assertEqual(result.status, 75, result)
        self.assertIn("the checkpoint before the last", result.err)

    def test_lock(self):
        process = self.begin()
        try:
            self.refused("run", "--output", self.output, "--force", *LONG, says=["written by", str(process.pid)])
            self.refused("resume", self.output, says=["written by", str(process.pid)])
            document = self.json("info", self.output)
            self.assertEqual(document["state"], "running")
            self.assertIn(str(process.pid), self.good("info", self.output).out)
        finally:
            process.kill()
            process.communicate()
        self.assertEqual(run("resume", self.output, "--quiet", "--time-limit", "0.5").status, 75)

    def test_stopped_under_mpi(self):
        process = self.begin(ranks=3)
        process.send_signal(signal.SIGUSR1)  # mpirun hands it to every rank
        self.ended(process, "a signal")
        self.finish_at(ranks=2)


if __name__ == "__main__":
    unittest.main()

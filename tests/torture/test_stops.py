#!/usr/bin/python3
"""Wishes to stop, in every form, to one rank or to all, also in the middle of a long evaluation: status 75, one line, long
before the end; and going on ends with the bytes of an undisturbed run."""
import os
import random
import shutil
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "app"))
from starfold_app import PATIENCE_S, Case, outlived, ranks_of, run, start  # noqa: E402

SEED = int(os.environ.get("STARFOLD_TEST_SEED", random.randrange(10 ** 9)))
LONG = os.environ.get("STARFOLD_TORTURE") == "all"
ENDLESS = ["--length", "13", "--trials", "2", "--islands", "3", "--population", "10", "--generations", "1000000",
           "--migration-interval", "3", "--seed", "21", "--checkpoint-interval", "50"]
DEAR = ["--length", "28", "--known", "histograms", "--engine", "walk", "--islands", "3", "--population", "40",
        "--generations", "100"]


class Stops(Case):
    def setUp(self):
        super().setUp()
        self.output = self.path("run.h5")
        self.random = random.Random(SEED)

    def begin(self, words, waits_for, **more):
        for name in os.listdir(self.folder):
            os.remove(self.path(name))
        process = start("run", "--output", self.output, "--quiet", "--threads", "1", *words, **more)
        return self.begun(process, self.output + waits_for)

    def ended(self, process, *says):
        out, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual((process.returncode, out), (75, ""), err)
        self.assertEqual(len(err.splitlines()), 1, err)
        for part in says:
            self.assertIn(part, err)
        self.assertIn(f"go on with: starfold resume {self.output}", err)
        left = {"run.h5", "run.h5.checkpoint", "run.h5.checkpoint.previous"}
        self.assertLessEqual(set(os.listdir(self.folder)) - {"whole.h5", "whole.perf.h5"}, left)

    def finish(self, words, **more):
        """Going on to a few generations more gives what a run to there gives."""
        done = self.json("info", self.output + ".checkpoint")["generation"]
        self.good("resume", self.output, "--quiet", "--generations", done + 10, **more)
        words = list(words)
        words[words.index("--generations") + 1] = str(done + 10)
        self.good("run", "--quiet", "--force", "--output", self.path("whole.h5"), *words)
        with open(self.output, "rb") as a, open(self.path("whole.h5"), "rb") as b:
            self.assertTrue(a.read() == b.read())

    def test_signal_to_one_rank(self):
        for rank in (0, 2):
            process = self.begin(ENDLESS, ".checkpoint.previous", ranks=3)
            os.kill(ranks_of(process)[rank], signal.SIGUSR1)
            self.ended(process, "a signal")
        self.finish(ENDLESS, ranks=2)

    def test_term(self):
        process = self.begin(ENDLESS, ".checkpoint.previous")
        process.send_signal(signal.SIGTERM)
        self.ended(process, "a signal")
        self.finish(ENDLESS)

    def test_term_to_the_launcher(self):
        """It may kill the ranks a second later: what they do not write in that time, the last checkpoint holds."""
        for _ in range(5 if LONG else 1):
            process = self.begin(ENDLESS, ".checkpoint.previous", ranks=3)
            ranks = ranks_of(process)
            time.sleep(self.random.uniform(0, 0.5))
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE_S)
            self.assertNotEqual(process.returncode, 0)
            self.assertEqual(outlived(ranks), [])
            self.finish(ENDLESS, ranks=2)

    def test_in_a_long_evaluation(self):
        """The initial population would take minutes: nothing of it is waited for."""
        for way in ("file", "one", "all"):
            process = self.begin(DEAR, "", ranks=3)
            time.sleep(self.random.uniform(0.5, 2))
            if way == "file":
                open(self.output + ".stop", "w").close()
            elif way == "one":
                os.kill(ranks_of(process)[1], signal.SIGUSR1)
            else:
                process.send_signal(signal.SIGUSR1)
            self.ended(process, "the stop file" if way == "file" else "a signal", "before the first generation")
            self.assertFalse(os.path.exists(self.output + ".stop"))
        result = run("resume", self.output, "--time-limit", "1", "--quiet")
        self.assertEqual(result.status, 75, result)

    def test_while_a_table_is_made(self):
        """Every rank makes one of its own, which takes seconds; none is waited for."""
        words = ["--length", "24", "--engine", "table", "--generations", "100000", "--memory-limit", "100G"]
        for ranks in (0, 2):
            process = start("run", "--force", "--output", self.output, "--quiet", "--threads", "1", *words, ranks=ranks)
            self.begun(process, self.output + ".lock")
            open(self.output + ".stop", "w").close()
            self.ended(process, "before the first generation")
            self.assertFalse(os.path.exists(self.output + ".stop"))

    def test_time_limit(self):
        for words, ranks in ((ENDLESS, 0), (DEAR, 2)):
            result = run("run", "--force", "--output", self.output, "--quiet", *words, "--time-limit", "2", ranks=ranks,
                         timeout=PATIENCE_S)
            self.assertEqual((result.status, len(result.err.splitlines())), (75, 1), result)
            self.assertIn("the time limit", result.err)

    def test_end_of_a_slurm_job(self):
        """10 seconds are left for writing, and twice what that takes; a job that is over is not ours."""
        for left, least in ((20, 3), (4, 0)):
            begin = time.monotonic()
            end = {"SLURM_JOB_END_TIME": str(int(time.time()) + left), "SLURM_JOB_ID": "1"}
            result = run("run", "--force", "--output", self.output, "--quiet", *ENDLESS, env=end)
            took = time.monotonic() - begin
            self.assertEqual(result.status, 75, result)
            self.assertIn("the time limit", result.err)
            self.assertGreaterEqual(took, least, f"{left} s left")
        over = {"SLURM_JOB_END_TIME": str(int(time.time()) - 1000), "SLURM_JOB_ID": "1"}
        self.good("run", "--force", "--output", self.output, "--quiet", "--length", "10", env=over)

    def test_end_of_a_slurm_job_that_does_not_tell(self):
        """Where the environment is silent squeue is asked; what it says may be late, no time, or never come."""
        os.mkdir(self.path("bin"))
        squeue = self.write("bin/squeue", "")
        os.chmod(squeue, 0o755)
        job = {"SLURM_JOB_ID": "17", "PATH": self.path("bin") + ":" + os.environ["PATH"]}
        for says, least in (("sleep 1; echo 0:20", 3), ("echo 1-00:00:05 | cut -c 3-", 0)):
            self.write("bin/squeue", f'#!/bin/sh\n[ "$*" = "--noheader --jobs 17 --format %L" ] || exit 1\n{says}\n')
            begin = time.monotonic()
            result = run("run", "--force", "--output", self.output, "--quiet", *ENDLESS, env=job)
            took = time.monotonic() - begin
            self.assertEqual(result.status, 75, result)
            self.assertIn("the time limit", result.err)
            self.assertGreaterEqual(took, least, says)
        for says in ("echo 1-00:00:00", "echo UNLIMITED", "echo INVALID; exit 1", "echo", "exec sleep 1000", "echo 9:",
                     "yes x", "exit 1"):
            self.write("bin/squeue", f"#!/bin/sh\n{says}\n")
            self.good("run", "--force", "--output", self.output, "--quiet", "--length", "10", env=job, timeout=PATIENCE_S)
        self.good("run", "--force", "--output", self.output, "--quiet", "--length", "10",
                  env={"SLURM_JOB_ID": "17", "PATH": "/nowhere"})
        shutil.rmtree(self.path("bin"))

    def test_signal_at_once(self):
        """Also while MPI begins, nothing but the run's own handler answers, which the program sets before all else."""
        for delay in (0, 0.1, 0.3, 0.6):
            process = start("run", "--force", "--output", self.output, "--quiet", *ENDLESS, ranks=2)
            self.addCleanup(self.end, process)
            ranks = self.watching(process, 2, signal.SIGUSR1)
            time.sleep(delay)
            os.kill(ranks[1], signal.SIGUSR1)
            self.ended(process, "a signal")

    def test_second_signal(self):
        """A rank that cannot end politely, since another one is held, leaves at once; the last checkpoint holds."""
        process = self.begin(ENDLESS, ".checkpoint.previous", ranks=2)
        self.signal_twice(process, ranks_of(process))
        out, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual((process.returncode, out, len(err.splitlines())), (75, "", 1), err)
        self.assertIn(f"go on with: starfold resume {self.output}", err)
        self.finish(ENDLESS)

    def test_chain_of_pieces(self):
        """20 short pieces on changing layouts equal one long run."""
        pieces = 20 if LONG else 6
        words = list(ENDLESS)
        words[words.index("--generations") + 1] = str(200 * pieces)
        result = None
        for piece in range(1, pieces + 1):
            ranks, threads = self.random.choice([(0, 1), (0, 2), (2, 1), (3, 1), (3, 2)])
            more = ["--quiet", "--threads", threads, "--generations", 200 * piece]
            first = ["run", "--output", self.output, *words] if piece == 1 else ["resume", self.output]
            if self.random.random() < 0.3:
                result = run(*first, *more, "--time-limit", "0.7", ranks=ranks)
                self.assertIn(result.status, (0, 75), result)
                first = ["resume", self.output]
            result = self.good(*first, *more, ranks=ranks)
        self.good("run", "--quiet", "--output", self.path("whole.h5"), *words)
        with open(self.output, "rb") as a, open(self.path("whole.h5"), "rb") as b:
            self.assertTrue(a.read() == b.read(), f"seed {SEED}")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/python3
"""`enumerate --output`, with its records of finished parts, and `census --output`, with one call going wrong: the disk
full, over quota, bad, a write torn, a kill, an allocation refused; and every wish to stop. One line tells, nothing half
written stands under a name, no rank is left, and the same command ends with the same bytes."""
import os
import signal
import time
import unittest

from faulty import SEED, Faulty
from starfold_app import PATIENCE_S, outlived, ranks_of, run, start

CHAINS = ["HPHPPHHPHPPHPHHP", "HHPPHPPHPPHPPHPP", "PPHHPPHHPPHHPPHH"]
DEAR = "HPHPPHHPHPPHPHHPPHPHHPPHPPHHPHPP"  # minutes, in parts of a fraction of a second


class Answers(Faulty):
    def setUp(self):
        super().setUp()
        self.output = os.path.join(self.work, "a.h5")


class Faults(Answers):
    def try_all(self, words, again, how, few, kept=(), folder=None, sticky=False, ranks=0, rank=0):
        self.clear()
        total = self.count(words, folder, ranks, rank)
        whole = self.bytes_of(self.output)
        failed = 0
        for at in self.calls(total, few, ranks):
            self.what = f"{words[0]}, {how} at call {at} of {total}, {ranks} ranks, seed {SEED}"
            self.clear()
            result = self.fault(words, how, at, folder, sticky, ranks, rank)
            failed += result.status != 0
            self.check(result, how, ranks, {"a.h5", *kept})
            if os.path.exists(self.output):
                self.assertTrue(self.bytes_of(self.output) == whole, f"{self.what}: {result}")
            for name in set(kept) & set(os.listdir(self.work)):
                self.good("digest", os.path.join(self.work, name))
            result = run(*again)
            self.assertEqual(result.status, 0, f"{self.what}: again: {result}")
            self.assertTrue(self.bytes_of(self.output) == whole, f"{self.what}: other bytes")
            self.assertEqual(os.listdir(self.work), ["a.h5"], self.what)
        self.assertGreater(failed, 0, self.what)

    def try_enumerate(self, *more, **how):
        words = ["enumerate", "--quiet", "--engine", "walk", "--output", self.output, "--threads", "1", *CHAINS]
        self.try_all([*words, "--checkpoint-seconds", "0.001"], words, *more,
                     kept={"a.h5.checkpoint", "a.h5.checkpoint.previous"}, **how)

    def try_census(self, *more, **how):
        words = ["census", "--quiet", "--length", "10", "--histograms", "--output", self.output, "--threads", "1"]
        self.try_all(words, [*words, "--force"], *more, **how)

    def test_disk(self):
        for this in (self.try_enumerate, self.try_census):
            this("ENOSPC", 6, sticky=True)
            this("EDQUOT", 2, sticky=True)
            this("EIO", 1000)  # every call alone: HDF5 writes small datasets where an error is easily lost

    def test_kill(self):
        for this in (self.try_enumerate, self.try_census):
            this("kill", 6)
            this("torn", 3)

    def test_ranks(self):
        for this in (self.try_enumerate, self.try_census):
            this("ENOSPC", 2, sticky=True, ranks=3)
            this("kill", 2, ranks=2)

    def test_memory(self):
        for this in (self.try_enumerate, self.try_census):
            this("ENOMEM", 8, folder="memory")
            this("ENOMEM", 2, folder="memory", ranks=3, rank=2)


class Stops(Answers):
    """Minutes of work; each wish to stop is obeyed, also when only one rank hears it."""

    def start(self, *more, **how):
        self.clear()
        words = ["enumerate", "--quiet", "--engine", "walk", "--threads", "1", DEAR, "--output",
                 self.output, "--checkpoint-seconds", "0.05", *more]
        process = start(*words, **how)
        self.addCleanup(self.end, process)
        return process

    def begin(self, *more, **how):
        return self.begun(self.start(*more, **how), self.output + ".checkpoint")

    def ended(self, process, says, left=("a.h5.checkpoint", "a.h5.checkpoint.previous")):
        out, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual((process.returncode, out, len(err.splitlines())), (75, "", 1), err)
        self.assertIn(says, err)
        self.assertIn("go on with", err)
        self.assertIn("the same command", err)
        self.assertLessEqual(set(os.listdir(self.work)), set(left))
        if os.path.exists(self.output + ".checkpoint"):
            self.good("digest", self.output + ".checkpoint")

    def test_file(self):
        for ranks in (0, 3):
            process = self.begin(ranks=ranks)
            open(self.output + ".stop", "w").close()
            self.ended(process, "the stop file")

    def test_signal_through_mpirun(self):
        process = self.begin(ranks=3)
        process.send_signal(signal.SIGUSR1)
        self.ended(process, "a signal")

    def test_signal_to_one_rank(self):
        for rank in (0, 2):
            process = self.begin(ranks=3)
            pids = ranks_of(process)
            os.kill(pids[rank], signal.SIGUSR1)
            self.ended(process, "a signal")
            self.assertEqual(outlived(pids), [])

    def test_times(self):
        self.ended(self.start("--time-limit", "3", ranks=2), "the time limit")
        end = {"SLURM_JOB_END_TIME": str(int(time.time()) + 14), "SLURM_JOB_ID": "1"}
        self.ended(self.start(env=end), "the time limit")

    def test_second_signal(self):
        process = self.begin(ranks=2)
        self.signal_twice(process, ranks_of(process))
        self.ended(process, "a second signal", set(os.listdir(self.work)))


if __name__ == "__main__":
    unittest.main()

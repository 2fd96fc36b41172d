#!/usr/bin/env python3
"""Memory: what --explain tells is kept, a limit is refused in one line or met with shards, and no result depends on it."""
import os
import subprocess
import sys
import unittest

from starfold_app import MPI_ENVIRONMENT, PROGRAM, Case

SEQUENCES = ["HPHPPHHPHPPHPHHPPHPH", "HHHHHHHHHHHHHHHHHHHH", "HPHPHHPPHPHPHHHPPHPH"]

# Runs the program and tells the most memory it had: a parent of its own, since the children of one add up.
PEAK = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Memory(Case):
    def peak(self, *words):
        result = subprocess.run([sys.executable, "-c", PEAK, PROGRAM, *words], stdout=subprocess.PIPE, text=True,
                                env={**os.environ, **MPI_ENVIRONMENT})
        self.assertEqual(result.returncode, 0)
        return int(result.stdout)

    def table(self, *words, **more):
        engines = self.json("enumerate", *words, "--explain", **more)["engines"]
        return next(engine for engine in engines if engine["engine"] == "table")

    def check_kept(self, told, words, small):
        taken = self.peak(*words) - self.peak(*small)
        self.assertLess(abs(told - taken), 0.2 * taken + (4 << 20), f"{words}: told {told}, taken {taken}")

    @unittest.skipIf("ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ, "checkers take memory themselves")
    def test_kept(self):
        for threads in ("1", "2"):
            options = ["--engine", "table", "--threads", threads]
            self.check_kept(self.table(SEQUENCES[0], *options)["memory_bytes"],
                            ["enumerate", SEQUENCES[0], *options], ["enumerate", "HHHHHH", *options])
            for census in (["census", "--score-model", "hpnx", "--length", "10", "--threads", threads],
                           ["census", "--score-model", "hpnx", "--length", "10", "--histograms", "--threads", threads]):
                engines = self.json(*census, "--explain")["engines"]
                told = next(engine for engine in engines if engine["engine"] == "table")["memory_bytes"]
                self.check_kept(told, census, ["census", "--length", "6", "--threads", threads])
            census = ["census", "--lattice", "cubic", "--length", "15", "--histograms", "--threads", threads]
            self.check_kept(self.json(*census, "--explain")["memory_bytes"], census,
                            ["census", "--length", "6", "--threads", threads])
            census = ["census", "--score-model", "hpnx", "--length", "10", "--memory-limit", "2M", "--threads", threads]
            self.assertLess(self.peak(*census) - self.peak("census", "--length", "6", "--threads", threads), 5 << 20)
            census = ["census", "--length", "20", "--threads", threads]
            self.check_kept(self.json(*census, "--explain")["memory_bytes"], census,
                            ["census", "--length", "6", "--threads", threads])

    def test_refused(self):
        words = ["enumerate", SEQUENCES[0], "--engine", "table", "--memory-limit", "4M"]
        self.refused(*words, says=["needs", "4.0 MiB are allowed"])
        self.refused(*words, says=["needs", "4.0 MiB are allowed"], ranks=2)
        self.refused("census", "--length", "20", "--memory-limit", "4M", says="memory")

    def test_places(self):
        words = ["enumerate", *SEQUENCES, "--engine", "table", "--threads", "1"]
        alone = self.good(*words).out
        whole = self.table(*words[1:])["memory_bytes"]
        limit = str(whole * 2 // 3)
        self.assertEqual(self.table(*words[1:], ranks=2)["place"], "one copy a node")
        shards = self.table(*words[1:], "--memory-limit", limit, ranks=3)
        self.assertEqual((shards["place"], shards["shards"]), ("in 3 shards", 3))
        self.assertLess(shards["memory_bytes"], int(limit))
        self.assertEqual(self.good(*words, ranks=2).out, alone)
        self.assertEqual(self.good(*words, "--memory-limit", limit, ranks=3).out, alone)
        no_room = {"OMPI_MCA_osc_sm_backing_directory": "/there is no such folder"}
        self.assertEqual(self.good(*words, ranks=2, env=no_room).out, alone)

    def test_same_run_file(self):
        words = ["run", "--length", "18", "--islands", "3", "--generations", "6", "--engine", "table", "--threads", "1",
                 "--quiet", "--output"]
        need = self.table("HPHPPHHPHPPHPHHPPH", "--threads", "1")["memory_bytes"]
        files = []
        for i, more in enumerate([{}, {"ranks": 2}, {"ranks": 3, "limit": need * 2 // 3}]):
            limit = ["--memory-limit", str(more.pop("limit"))] if "limit" in more else []
            self.good(*words, self.path(f"{i}.h5"), *limit, **more)
            with open(self.path(f"{i}.h5"), "rb") as file:
                files.append(file.read())
        self.assertEqual(files[0], files[1])
        self.assertEqual(files[0], files[2])


if __name__ == "__main__":
    unittest.main()

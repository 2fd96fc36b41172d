"""scripts/scaling and analysis/scaling.py: a small study, run for real with the program or with one that stands in its
place, its numbers against a plain recount, and one clear line for every bad word or file.

    test_scaling.py SCALING ANALYSIS_PY STARFOLD MPIEXEC
"""
import csv
import os
import resource
import statistics
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np

SCALING, ANALYSIS, STARFOLD, MPIEXEC = sys.argv[1:5]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "PATH": os.path.dirname(MPIEXEC) + os.pathsep + os.environ["PATH"]}
for name in [name for name in ENVIRONMENT if name.startswith("SLURM_")]:
    del ENVIRONMENT[name]  # a job of the site must not shape the test

# Stands in the place of the program: takes its --perf file ready-made, notes how it was called.
STAND_IN = """#!/bin/sh
echo "$OMP_NUM_THREADS $*" >>"{folder}/calls"
while [ $# -gt 0 ]; do
    [ "$1" != --perf ] || cp "{folder}/perf.h5" "$2"
    shift
done
if [ -e "{folder}/endless" ]; then # but for the first time
    while [ -e "{folder}/endless" ] && [ -e "{folder}/began" ]; do sleep 0.1; done
    : >"{folder}/began"
fi
if [ -e "{folder}/break" ]; then echo 'starfold: it broke' >&2; exit 1; fi
if [ -e "{folder}/differ" ]; then cat "{folder}/calls"; else echo answer; fi
"""


class Scaling(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="starfold scaling ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.study = self.path("study.h5")

    def path(self, name):
        return os.path.join(self.folder, name)

    def stand_in(self):
        with h5py.File(self.path("perf.h5"), "w") as file:
            for name in ("start", "open", "count", "write"):
                file[f"phase/{name}"] = 0.25
            file["resident_memory_max"] = 1e6
        with open(self.path("program"), "w", encoding="ascii") as file:
            file.write(STAND_IN.format(folder=self.folder))
        os.chmod(self.path("program"), stat.S_IRWXU)
        return self.path("program")

    def scale(self, *words, status=0, says=""):
        done = subprocess.run([sys.executable, SCALING, *map(str, words)], capture_output=True, text=True, check=False,
                              env=ENVIRONMENT, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(says, done.stderr)
        return done

    def calls(self):
        with open(self.path("calls"), encoding="utf-8") as file:
            return file.read().splitlines()

    def draw(self, study):
        return subprocess.run([sys.executable, ANALYSIS, study, "--out", self.path("out")], capture_output=True, text=True,
                              check=False)

    def test_real(self):
        """A search by the program itself; the run files of all layouts are compared by the script."""
        self.scale("strong", "--ranks", "1,2", "--threads", "1,2", "--repeat", "2", "--cores", "2", "--starfold", STARFOLD,
                   "--launch", "mpirun", "--output", self.study, "--", "run", "--length", "10", "--islands", "3")
        with h5py.File(self.study, "r") as file:
            data = {name: file[name][()] for name in file if isinstance(file[name], h5py.Dataset)}
            self.assertEqual(len(file["results"].attrs), 1)
            self.assertEqual(file["seconds"].dims[1].label, "repetition")
        self.assertEqual(list(zip(data["ranks"], data["threads"])), [(1, 1), (1, 2), (2, 1), (2, 2)])
        self.assertEqual(data["beyond_cores"].tolist(), [0, 0, 0, 1])
        self.assertEqual(sorted(data["order"].ravel().tolist()), list(range(8)))
        self.assertTrue((data["phases"] >= 0).all())
        self.assertTrue((data["phases"].sum(axis=2) <= data["seconds"]).all())
        medians = [statistics.median(row) for row in data["seconds"]]
        for k in range(4):
            self.assertAlmostEqual(data["median"][k], medians[k])
            if k < 3:
                self.assertAlmostEqual(data["speedup"][k], medians[0] / medians[k])
                self.assertAlmostEqual(data["efficiency"][k], medians[0] / medians[k] / [1, 2, 2][k])
        self.assertTrue(np.isnan(data["speedup"][3]) and np.isnan(data["efficiency"][3]))
        drawn = self.draw(self.study)
        self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["strong.csv", "strong.png", "strong_phases.png"])
        with open(self.path("out/strong.csv"), encoding="ascii", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["workers"] for row in rows], ["1", "2", "2", "4"])
        self.assertEqual(rows[3]["speedup"], "")
        self.assertAlmostEqual(float(rows[0]["median_s"]), medians[0], places=5)
        self.assertEqual(os.listdir(self.folder).count("study.h5.tmp"), 0)

    def test_goes_on(self):
        program = self.stand_in()
        words = ["--threads", "1,2", "--cores", "2", "--launch", "none", "--starfold", program, "--output", self.study]
        with open(self.path("break"), "w", encoding="ascii"):
            pass
        self.scale("strong", *words, "--", "census", "--length", "9", status=1, says="status 1: starfold: it broke")
        self.assertFalse(os.path.exists(self.study))
        os.remove(self.path("break"))
        self.scale("strong", *words, "--repeat", "2", "--", "census", "--length", "9")
        self.assertEqual(len(self.calls()), 5)
        self.assertTrue(any(call.startswith("2 census --length 9 --threads 2 --quiet --perf ") for call in self.calls()))
        self.scale("strong", *words, "--repeat", "2", "--", "census", "--length", "9")
        self.assertEqual(len(self.calls()), 5)  # nothing was missing
        with h5py.File(self.study, "r+") as file:
            file["seconds"][1, 0] = np.nan
        self.scale("strong", *words, "--repeat", "2", "--", "census", "--length", "9")
        self.assertEqual(len(self.calls()), 6)
        self.scale("strong", *words, "--repeat", "2", "--", "census", "--length", "10", status=2,
                   says="another study (command)")
        self.scale("strong", *words, "--repeat", "3", "--", "census", "--length", "9", status=2,
                   says="another study (the grid)")
        with h5py.File(self.study, "r+") as file:
            del file["memory"]
            file["memory"] = h5py.ExternalLink("/etc/passwd", "/memory")
        self.scale("strong", *words, "--repeat", "2", "--", "census", "--length", "9", status=2,
                   says="memory is a link to elsewhere")

    def test_killed_and_full(self):
        """Killed in the middle of a run, or with no room for the file, the study stays as it was and can go on."""
        program = self.stand_in()
        words = ["strong", "--threads", "1,2", "--repeat", "2", "--cores", "2", "--launch", "none", "--starfold", program,
                 "--output", self.study, "--", "census"]
        self.scale(*words[:4], "1", *words[5:])
        with open(self.study, "rb") as file:
            before = file.read()
        os.remove(self.study)
        full = subprocess.run([sys.executable, SCALING, *words], capture_output=True, text=True, check=False, env=ENVIRONMENT,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2,) * 2))
        self.assertEqual(full.returncode, 1, full.stderr)
        self.assertIn("cannot be written", full.stderr)
        self.assertNotIn("Traceback", full.stderr)
        self.assertFalse(os.path.exists(self.study) or os.path.exists(self.study + ".tmp"))
        with open(self.path("endless"), "w", encoding="ascii"):
            pass
        process = subprocess.Popen([sys.executable, SCALING, *words], stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        while not os.path.exists(self.study):
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        process.kill()
        process.wait()
        with h5py.File(self.study, "r") as file:
            done = int(np.isfinite(file["seconds"][()]).sum())
        self.assertEqual(done, 1)
        os.remove(self.path("endless"))
        self.scale(*words)
        with h5py.File(self.study, "r") as file:
            self.assertTrue(np.isfinite(file["seconds"][()]).all())

    def test_weak(self):
        program = self.stand_in()
        self.scale("weak", "--threads", "1,3", "--repeat", "1", "--cores", "2", "--launch", "none", "--starfold", program,
                   "--output", self.study, "--", "run", "--islands", "{4*workers}", "--seed={workers}")
        self.assertEqual(sorted(call.split(" --output")[0] for call in self.calls()),
                         ["1 run --islands 4 --seed=1", "3 run --islands 12 --seed=3"])
        with h5py.File(self.study, "r") as file:
            self.assertEqual(file["speedup"][0], 1)
            self.assertTrue(np.isnan(file["speedup"][1]))
        self.assertEqual(self.draw(self.study).returncode, 0)

    def test_results_differ(self):
        program = self.stand_in()
        with open(self.path("differ"), "w", encoding="ascii"):
            pass
        self.scale("strong", "--threads", "1,2", "--launch", "none", "--starfold", program, "--output", self.study, "--",
                   "census", status=1, says="are not those of another layout")

    def test_refused(self):
        words = ["--output", self.study, "--"]
        self.scale("strong", "--ranks", "0", *words, "census", status=2, says="no list of positive numbers")
        self.scale("strong", "--ranks", "1,x", *words, "census", status=2, says="no list of positive numbers")
        self.scale("strong", *words, "census", "--threads", "2", status=2, says="--threads in the command")
        self.scale("strong", *words, "enumerate", "HPH", "--output", "x.h5", status=2, says="--output in the command")
        self.scale("weak", *words, "census", status=2, says="needs {workers}")
        self.scale("strong", *words, "run", "--islands", "{workers}", status=2, says="must not have it")
        self.scale("strong", "--launch", "none", "--ranks", "2", *words, "census", status=2, says="runs one rank")
        self.scale("strong", "--launch", "none", "--starfold", self.path("none"), *words, "census", status=2,
                   says="cannot be started")
        with open(self.study, "w", encoding="ascii") as file:
            file.write("HPHP\n" * 100)
        self.scale("strong", "--launch", "none", *words, "census", status=2, says="cannot be read as a scaling study")

    def refused(self, path, part):
        done = self.draw(path)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"\Ascaling\.py: [^\n]*\n\Z")
        self.assertIn(part, done.stderr)

    def test_damaged(self):
        self.refused(self.path("none.h5"), "no such file")
        self.refused(self.folder, "cannot be read as HDF5")
        with h5py.File(self.path("other.h5"), "w") as file:
            file["x"] = 1
        self.refused(self.path("other.h5"), "no scaling study")
        self.scale("strong", "--repeat", "1", "--launch", "none", "--starfold", self.stand_in(), "--output", self.study, "--",
                   "census")
        for name, value in [("seconds", [1.0, 2.0]), ("phases", np.zeros((1, 1, 2))), ("ranks", None), ("phase", 3.0)]:
            with open(self.study, "rb") as file:
                whole = file.read()
            with h5py.File(self.study, "r+") as file:
                del file[name]
                if value is not None:
                    file[name] = value
            self.refused(self.study, "is damaged")
            with open(self.study, "wb") as file:
                file.write(whole)
        with open(self.path("secret"), "wb") as file:
            file.write(np.arange(1.0).tobytes())
        with h5py.File(self.path("elsewhere.h5"), "w") as file:
            file["ranks"] = np.array([1], dtype=np.int32)
        layout = h5py.VirtualLayout(shape=(1,), dtype="f8")
        layout[:] = h5py.VirtualSource(self.study, "median", shape=(1,))
        for name, put in [("ranks", lambda file: file.update(ranks=h5py.ExternalLink(self.path("elsewhere.h5"), "ranks"))),
                          ("ranks", lambda file: file.update(ranks=h5py.SoftLink("/threads"))),
                          ("speedup", lambda file: file.create_dataset("speedup", (1,), "f8",
                                                                       external=[(self.path("secret"), 0, 8)])),
                          ("speedup", lambda file: file.create_virtual_dataset("speedup", layout))]:
            with h5py.File(self.study, "r+") as file:
                del file[name]
                put(file)
            self.refused(self.study, "elsewhere" if name == "ranks" else "another file")
            with open(self.study, "wb") as file:
                file.write(whole)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

#!/usr/bin/python3
"""Every wrong input ends with status 2 and one line that says what was wrong and what is allowed."""
import os
import stat
import unittest

import h5py
from starfold_app import Case, run


class BadInput(Case):
    def test_command(self):
        self.refused(says="no command given")
        self.refused("enumerat", "HHHH", says=["'enumerat'", "'enumerate'"])
        self.refused("xyzzy", says=["'xyzzy'", "run, resume, enumerate, census"])
        self.refused("help", "xyzzy", says="xyzzy")

    def test_option(self):
        self.refused("run", "--populaton", "5", says=["'--populaton'", "'--population'"])
        self.refused("run", "--pop", "5", says=["'--pop'", "'--population'"])  # no abbreviations
        self.refused("enumerate", "-z", "HHHH", says="'-z'")
        self.refused("enumerate", "--frobnicate", "HHHH", says=["--frobnicate", "--help"])
        self.refused("enumerate", "HHHH", "--lattice", says="--lattice needs a value")
        self.refused("enumerate", "HHHH", "--solutions=2", says="--solutions takes no value")
        self.refused("census", "--length", "8", "HHHH", says="'HHHH'")
        self.refused("info", says="RUN.h5")
        self.refused("levels", "a.h5", "b.h5", says="'b.h5'")

    def test_sequences(self):
        self.refused("enumerate", says="--file")
        self.refused("enumerate", "", says=["0 residues", "3 to 64"])
        self.refused("enumerate", "HP", says=["2 residues", "3 to 64"])
        self.refused("enumerate", "H" * 65, says=["65 residues", "3 to 64", "arrays of 64"])
        self.refused("enumerate", "--length", "65", "HH", says=["allowed is 3 to 64", "arrays of 64"])
        self.refused("run", "--length", "65", says=["allowed is 3 to 64", "arrays of 64"])
        self.refused("enumerate", "H" * 100000, says=["100000 residues", "3 to 64"])
        self.refused("enumerate", "HHHH", "HHXHH", says=["sequence 2", "'X'", "HP", "3"])
        self.refused("enumerate", "HH\nH", says=["sequence 1", "allows the letters HP"])
        self.refused("enumerate", "--lattice", "hexagonal", "HHHH", says=["'hexagonal'", "square cubic"])
        self.refused("enumerate", "--score-model", "mj", "HHHH", says=["'mj'", "hp"])
        self.refused("enumerate", "--format", "xml", "HHHH", says=["'xml'", "text json"])
        self.refused("enumerate", "--length", "5", "HHHH", says=["4 residues", "5"])
        self.refused("enumerate", "--length", "2", "HH", says="allowed is 3 to 64")

    def test_engine(self):
        self.refused("enumerate", "--engine", "magic", "HHHH", says=["'magic'", "auto table walk"])
        self.refused("enumerate", "--engine", "table", "H" * 40, says=["40", "3 to 24"])
        self.refused("enumerate", "--engine", "walk", "H" * 60, says=["60 residues", "64 bits", "engine bound"])
        self.refused("enumerate", "--engine", "walk", "H" * 65, says=["65 residues", "3 to 64"])
        # a table that would not fit is refused with its size before anything is built
        self.refused("enumerate", "--engine", "table", "--memory-limit", "1M", "H" * 22, says=["MiB", "memory"])
        self.refused("enumerate", "--memory-limit", "1M", "HPPH" * 10, says="engine bound needs")
        self.refused("enumerate", "--engine", "walk", "--refuse-over", "0.001", "HP" * 11, says=["--refuse-over"])
        self.refused("enumerate", "HHHH", env={"STARFOLD_ISA": "mmx"}, says=["STARFOLD_ISA", "mmx", "portable"])
        for threads in ("0", "-1", "two", "1.5", "99999999999999999999"):
            self.refused("enumerate", "--threads", threads, "HHHH", says=["--threads", "allowed is 1 to"])

    def test_file(self):
        self.refused("enumerate", "--file", self.path("none"), says=["none", "No such file"])
        self.refused("enumerate", "--file", self.folder, says="folder")
        self.refused("enumerate", "--file", self.write("empty", ""), says="no sequence")
        self.refused("enumerate", "--file", self.write("gap", "HHHH\n\nHHPH\n"), says="line 2 is empty")
        for mark in ">;#":
            self.refused("enumerate", "--file", self.write("heads", f"{mark}one\nHHPH\n"),
                         says=["line 1", f"'{mark}'", "without headers"])
        self.refused("enumerate", "--file", self.write("mixed", "HHHH\nHHPHH\n"), says=["line 2", "5", "4"])
        self.refused("enumerate", "--file", self.write("letter", "HHHH\nHHZH\n"), says=["line 2", "'Z'", "HP"])
        self.refused("enumerate", "--file", self.write("zero", "HHHH\nHH\0H\n"), says="not a text file")
        self.refused("enumerate", "--file", self.write("good", "HHHH\n"), "HHHH", says="not both")

    def test_census(self):
        self.refused("census", says="--length")
        for length in ("2", "0", "-3", "abc", "3.5", "65"):
            self.refused("census", "--length", length, says=["--length", "allowed is 3 to"])
        self.refused("census", "--length", "60", says="60")

    def test_search(self):
        run = ["run", "--output", self.path("never.h5")]
        for option, values in {
            "population": ["1", "0", "-2", "x", ""],
            "generations": ["-1", "1e3"],
            "trials": ["0"],
            "islands": ["0"],
            "mutation-rate": ["1.1", "-0.1", "2", "0.1234567890123", "nan", "inf", "1e-1", "."],
            "seed": ["-1", "18446744073709551616", "0x10"],
            "length": ["2", "65"],
            "migration-delay": ["0"],
            "time-limit": ["0", "soon", "1:2:3:4"],
            "memory-limit": ["0", "12Q"],
            "selection": ["best"],
            "topology": ["star"],
            "fitness": ["9"],
        }.items():
            for value in values:
                self.refused(*run, f"--{option}={value}", says=[f"--{option} ", "allowed"])
        self.refused(*run, "--population", "4", "--elites", "5", says=["elites", "5"])
        self.refused(*run, "--population", "4", "--migrants", "5", says=["migrants", "5"])
        self.refused(*run, "--preset", "papre", says=["'papre'", "paper"])
        self.assertEqual(os.listdir(self.folder), [])  # nothing was begun

    def test_output(self):
        self.refused("run", "--preset", "paper", says="--output")
        plain = self.write("plain", "text")
        for output, part in ((self.path("no/where.h5"), "does not exist"), (os.path.join(plain, "run.h5"), "plain"),
                             ("/proc/starfold-run.h5", "/proc"), (self.folder, "is a folder")):
            self.refused("run", "--output", output, "--length", "6", says=part)
        self.refused("run", "--output", plain, "--length", "6", says=["exists", "--force", "resume"])
        with open(plain) as file:
            self.assertEqual(file.read(), "text")

    def test_no_file(self):
        """--force replaces files, never what is not one; a pipe stands here for /dev/null, which root could lose."""
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        for words in (["run", "--length", "6", "--generations", "1"], ["table", "build", "--length", "6"],
                      ["census", "--length", "6"], ["enumerate", "HHPPHH"]):
            for force in ([], ["--force"]):
                self.refused(*words, "--output", pipe, *force, says=["pipe", "name a file"])
        self.refused("run", "--length", "6", "--output", pipe, "--force", ranks=2, says="name a file")
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
        self.assertEqual(os.listdir(self.folder), ["pipe"])

    def test_perf(self):
        """What --perf cannot write is told before the work, not after it."""
        for perf, says in ((self.path("no/p.h5"), "No such file"), (self.folder, "is a folder"),
                           (os.path.join(self.write("plain", ""), "p.h5"), "Not a directory")):
            for ranks in (0, 2):
                self.refused("enumerate", "HHPPHH", "--perf", perf, ranks=ranks, says=says)

    def test_perf_replaces_timings_only(self):
        kept, timings = self.write("kept.txt", "precious\n"), self.path("p.h5")
        for ranks in (0, 2):
            self.refused("enumerate", "HHPPHH", "--perf", kept, ranks=ranks, says="holds no timings")
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious\n")
        for _ in range(2):
            self.good("enumerate", "HHPPHH", "--perf", timings)

    def test_same_file(self):
        """What is read is not replaced, whatever name it goes by."""
        table, names, run = self.path("t.h5"), self.write("names", "HHPPHH\n"), self.path("run.h5")
        self.good("table", "build", "--length", "6", "--output", table, "--quiet")
        self.good("run", "--length", "6", "--generations", "1", "--output", run, "--quiet")
        os.symlink("t.h5", self.path("link"))
        before = {name: os.stat(self.path(name)).st_ino for name in os.listdir(self.folder)}
        for other in (table, self.path("link"), os.path.join(self.folder, ".", "t.h5")):
            self.refused("census", "--length", "6", "--table", table, "--output", other, "--force", says="of --table")
            self.refused("census", "--length", "6", "--table", table, "--perf", other, says=["--perf", "of --table"])
        self.refused("enumerate", "--file", names, "--output", names, "--force", says="of --file")
        self.refused("enumerate", "HHPPHH", "--output", self.path("e.h5"), "--perf", self.path("e.h5"), says="of --output")
        self.refused("info", run, "--perf", run, says="of the command line")
        self.refused("repair", run, "--output", os.path.join(self.folder, ".", "run.h5"), "--force", says="the run itself")
        self.assertEqual({name: os.stat(self.path(name)).st_ino for name in os.listdir(self.folder)}, before)

    def test_output_names(self):
        """What is said of a name is true, and the same by every command that writes."""
        os.mkfifo(self.path("pipe"))
        target = self.write("target.h5", "keep this")
        os.symlink("target.h5", self.path("link.h5"))
        run = self.path("run.h5")
        self.good("run", "--length", "6", "--generations", "1", "--output", run, "--quiet")
        os.symlink("run.h5", self.path("run_link.h5"))
        commands = (["run", "--length", "6", "--generations", "1"], ["enumerate", "HHPPHH"], ["census", "--length", "6"],
                    ["table", "build", "--length", "6"], ["repair", run])
        for command in commands:
            for name, says in (("pipe/", "ends with '/'"), ("none/", "ends with '/'"),
                               ("n" * 250, "has a name of 250 letters"), ("link.h5", "is a link")):
                self.refused(*command, "--output", self.path(name), "--force", says=["the output", says])
        self.refused("resume", self.path("run_link.h5"), "--generations", "2", says="is a link")
        with open(target) as file:
            self.assertEqual(file.read(), "keep this")
        self.assertEqual(set(os.listdir(self.folder)),
                         {"pipe", "target.h5", "link.h5", "run.h5", "run_link.h5", "run.perf.h5"})

    def test_explain(self):
        """What a command would be refused with, --explain is refused with: the same line and status, below what it tells."""
        out, little = ["--output", self.path("x.h5")], ["--memory-limit", "1M"]
        late = ["--refuse-over", "0.001", "--machine", self.write("m.txt", "build 1\nscan 1\nwalk 1\n")]
        chain = "HPHPPHHPHPPHPHHPPHPH"
        self.good("run", "--quiet", "--length", "16", "--generations", "2", "--output", self.path("run.h5"))
        for words in (["run", "--length", "18", "--engine", "table", *little, *out], ["run", "--length", "18", *late, *out],
                      ["resume", self.path("run.h5"), "--generations", "9000000", *late],
                      ["enumerate", chain, "--engine", "table", *little], ["enumerate", chain, "--engine", "walk", *late],
                      ["enumerate", "HPHPPH", chain, "--engine", "table", *late], ["enumerate", "H" * 60, "--engine", "walk"],
                      ["census", "--length", "16", *little], ["census", "--length", "16", *late],
                      ["census", "--length", "9", "--engine", "walk", *late],
                      ["table", "build", "--length", "18", *little, *out], ["table", "build", "--length", "18", *late, *out]):
            for ranks in (0, 2) if words[0] in ("resume", "census") else (0,):
                before = sorted(os.listdir(self.folder))
                line = self.refused(*words, ranks=ranks)
                for form in ([], ["--format", "json"]):
                    told = run(*words, "--explain", *form, ranks=ranks)
                    self.assertEqual((told.status, told.err.splitlines()), (2, [line]), words)
                    self.assertGreater(len(told.out.splitlines()), 1, words)
                    self.assertTrue("would be taken" not in told.out or "HPHPPH" in words, words)
                self.assertEqual(sorted(os.listdir(self.folder)), before, words)

    def test_run_files(self):
        text = self.write("text.h5", "this is no HDF5 file\n")
        for command in ("info", "levels", "resume"):
            self.refused(command, self.path("none.h5"), says="none.h5")
            self.refused(command, text, says="text.h5")
        for command in ("info", "levels"):
            self.refused(command, self.folder, says="folder")
        self.refused("levels", "--count", "0", text, says="allowed is 1 to")
        census = self.path("census.h5")
        self.good("census", "--length", "5", "--output", census)
        for command in ("levels", "verify", "repair"):
            self.refused(command, census, says=["not a run file", "but a census; starfold info tells of it"])
        self.good("run", "--quiet", "--length", "5", "--generations", "1", "--output", self.path("run.h5"))
        with h5py.File(self.path("study.h5"), "w") as file:
            file.attrs["title"] = "Starfold scaling study"
        for command in ("info", "levels", "verify", "resume"):
            self.refused(command, self.path("run.perf.h5"), says="but the timings and layout of a run or command; h5dump")
            self.refused(command, self.path("study.h5"), says="but a scaling study; analysis/scaling.py draws it")

    def test_config(self):
        def refused(text, says):
            path = self.write("run.ini", text)
            self.refused("run", "--config", path, "--output", self.path("x.h5"), says=says)

        refused("population = 1\n", ["run.ini line 1: population is '1'", "allowed is 2 to"])
        refused("# a remark\n\n[search]\npopulaton = 5\n", ["line 4", "'populaton'", "'population'"])
        refused("seed = 1\nseed = 2\n", ["line 2", "twice"])
        refused("seed = 1\nthis is no assignment\n", ["line 2"])
        refused("preset = papre\n", ["papre", "paper"])
        refused("lattice = hexagonal\n", ["hexagonal", "square cubic"])
        refused("force = perhaps\n", ["force", "true and false"])
        refused("seed = " + "1" * 500 + "\n", ["line 1", "long"])
        refused("help = true\n", ["help"])
        self.refused("run", "--config", self.path("none.ini"), says=["none.ini", "No such file"])
        self.refused("run", "--config", self.folder, says="folder")
        os.mkfifo(self.path("pipe.ini"))
        self.refused("run", "--config", self.path("pipe.ini"), says="is no regular file")

    def test_lock_of_another(self):
        """A lock file that leads elsewhere is left alone, and so is what it leads to; a pipe is not waited for."""
        precious = self.write("precious.txt", "keep this")
        lock = self.path("x.h5.lock")
        for make in (os.symlink, os.link, lambda _, path: os.mkfifo(path)):
            make(precious, lock)
            self.refused("run", "--output", self.path("x.h5"), "--length", "6", "--generations", "1",
                         says=[lock, "is a link or no regular file", "remove it"])
            self.assertTrue(os.path.lexists(lock))
            os.unlink(lock)
            with open(precious) as file:
                self.assertEqual(file.read(), "keep this")
        self.good("run", "--quiet", "--output", self.path("x.h5"), "--length", "6", "--generations", "1")
        os.mkfifo(lock)
        self.good("info", self.path("x.h5"))

    def test_under_mpi(self):
        """One line and the same status with several ranks; nothing hangs."""
        plain = self.write("plain.h5", "text")
        for words, says in ((["enumerate", "HHXH"], "'X'"),
                            (["run", "--population", "1", "--output", self.path("x.h5")], "allowed is 2 to"),
                            (["run", "--output", plain], "exists"),
                            (["run", "--output", self.path("no/x.h5")], "does not exist"),
                            (["enumerate", "--file", self.path("none")], "No such file"),
                            (["enumerate", "--engine", "table", "H" * 40], "40"),
                            (["resume", plain], "plain.h5"),
                            (["info", plain], "plain.h5")):
            self.refused(*words, ranks=3, says=says)


if __name__ == "__main__":
    unittest.main()

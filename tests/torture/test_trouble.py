#!/usr/bin/python3
"""Trouble around a run: a disk that is full, two jobs at one output, ranks that die, that do not know of each other or
that read different files. One line, the right status, within seconds, nothing lost."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "app"))
from starfold_app import MPI_ENVIRONMENT, PATIENCE_S, PROGRAM, Case, outlived, ranks_of, run, start  # noqa: E402

ENDLESS = ["--length", "13", "--islands", "3", "--population", "20", "--generations", "1000000", "--seed", "4",
           "--migration-interval", "5", "--quiet", "--threads", "1"]
LONG = os.environ.get("STARFOLD_TORTURE") == "all"


class FullDisk(Case):
    """A small file system of its own, that fills during the run, at a checkpoint or at the end."""

    def setUp(self):
        super().setUp()
        self.disk = tempfile.mkdtemp(prefix="starfold disk ")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.disk], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        if mounted.returncode != 0:
            os.rmdir(self.disk)
            print(f"SKIP: no small disk can be mounted here: {mounted.stdout.strip()}", flush=True)
            self.skipTest("mounting is not allowed")
        self.addCleanup(self.unmount)
        self.output = os.path.join(self.disk, "run.h5")
        self.ballast = os.path.join(self.disk, "ballast")

    def unmount(self):
        subprocess.run(["umount", "-l", self.disk], check=False)
        os.rmdir(self.disk)

    def fill(self, leave_bytes):
        """Writes a file that leaves so much room."""
        room = os.statvfs(self.disk)
        with open(self.ballast, "wb") as file:
            file.write(b"x" * max(0, room.f_bavail * room.f_frsize - leave_bytes))

    def failed(self, result, says="No space left on device"):
        self.assertEqual((result.status, len(result.err.splitlines())), (1, 1), result)
        self.assertIn(says, result.err)
        left = {"ballast", "run.h5", "run.h5.checkpoint", "run.h5.checkpoint.previous"}
        self.assertLessEqual(set(os.listdir(self.disk)), left)
        if os.path.exists(self.output):
            self.good("info", self.output)
            self.good("info", self.output + ".checkpoint")

    def goes_on(self, words):
        """With room again, to some generations more."""
        os.path.exists(self.ballast) and os.remove(self.ballast)
        done = self.json("info", self.output + ".checkpoint")["generation"] + 3
        self.good("resume", self.output, "--quiet", "--generations", done)
        words = list(words)
        words[words.index("--generations") + 1] = str(done)
        whole = self.path("whole.h5")
        self.good("run", "--force", "--output", whole, *words)
        with open(whole, "rb") as a, open(self.output, "rb") as b:
            self.assertTrue(a.read() == b.read())

    def test_fills_by_itself(self):
        for ranks in (0, 2) if LONG else (2,):
            for name in os.listdir(self.disk):
                os.remove(os.path.join(self.disk, name))
            result = run("run", "--output", self.output, *ENDLESS, "--checkpoint-interval", "20", "--force",
                         ranks=ranks)
            self.failed(result, "starfold: rank 0: " if ranks else "No space left on device")
            subprocess.run(["mount", "-o", "remount,size=64m", self.disk], check=True)
            self.goes_on(ENDLESS)
            for name in os.listdir(self.disk):
                os.remove(os.path.join(self.disk, name))
            subprocess.run(["mount", "-o", "remount,size=1m", self.disk], check=True)

    def test_at_the_checkpoint_and_at_the_end(self):
        words = list(ENDLESS)
        words[words.index("--generations") + 1] = "60"
        self.fill(0)
        self.failed(run("run", "--output", self.output, *words))
        for room in range(4096, 400000, 20000 if LONG else 80000):
            for name in os.listdir(self.disk):
                os.remove(os.path.join(self.disk, name))
            self.fill(room)
            result = run("run", "--output", self.output, *words, "--checkpoint-interval", "10")
            if result.status == 0:
                self.assertGreaterEqual(room, 200000)
                continue
            self.failed(result)
            if os.path.exists(self.output):
                self.goes_on(words)

    def test_repair_without_room(self):
        words = ["--length", "10", "--generations", "1000000", "--quiet"]
        process = self.begun(start("run", "--output", self.output, *words), self.output)
        process.send_signal(signal.SIGUSR1)
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 75)
        self.fill(2000)
        result = run("repair", self.output)
        self.assertEqual((result.status, len(result.err.splitlines())), (1, 1), result)
        self.assertIn("No space left on device", result.err)
        self.assertNotIn("run.repaired.h5", os.listdir(self.disk))


class Jobs(Case):
    def setUp(self):
        super().setUp()
        self.output = self.path("run.h5")

    def begin(self, **more):
        process = start("run", "--output", self.output, *ENDLESS, "--checkpoint-interval", "20", **more)
        return self.begun(process, self.output + ".checkpoint.previous")

    def test_two_jobs(self):
        """The second is refused, on every number of ranks, and disturbs nothing; a lock of the dead holds nobody up."""
        process = self.begin(ranks=2)
        for words in (["run", "--force", "--output", self.output, *ENDLESS], ["resume", self.output]):
            for ranks in (0, 2):
                self.refused(*words, ranks=ranks, says=["is being written by process"])
        pids = ranks_of(process)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        self.assertTrue(os.path.exists(self.output + ".lock"))
        self.assertEqual(run("resume", self.output, "--quiet", "--time-limit", "0.5").status, 75)
        self.assertFalse(os.path.exists(self.output + ".lock"))

    def test_dead_rank(self):
        """Whichever dies, the job ends, one of those that are left tells, and no rank is left behind."""
        for rank in (0, 1, 2) if LONG else (0, 2):
            for name in os.listdir(self.folder):
                os.remove(self.path(name))
            process = self.begin(ranks=3)
            pids = ranks_of(process)
            self.assertEqual(len(pids), 3)
            os.kill(pids[rank], signal.SIGKILL)
            out, err = process.communicate(timeout=PATIENCE_S)
            self.assertEqual((process.returncode, out), (137, ""))
            self.assertEqual(err, f"starfold: rank {rank} on {os.uname().nodename} is gone: killed, perhaps for want of "
                                  f"memory, or crashed; go on with: starfold resume {self.output}\n")
            self.assertEqual(outlived(pids), [])
            self.good("info", self.output)
        self.assertEqual(run("resume", self.output, "--quiet", "--time-limit", "0.5").status, 75)

    def test_dead_rank_of_any_command(self):
        """Those that write no run file tell as well, and leave nothing that stops the next try."""
        chain = "HPHPPHHPHPPHPHHPPHPHHPPHPP"
        walk = ["enumerate", "--engine", "walk", "--lattice", "cubic", chain]
        again, same = "give the same command again", "go on with the same command"
        output = self.path("t.h5")
        table = ["table", "build", "--length", "24", "--output", output]
        census = ["census", "--length", "20", "--engine", "walk", "--output", output]
        found = self.path("found.h5")
        self.good("run", "--quiet", "--output", found, "--length", "20", "--engine", "table", "--generations", "100")
        verify = ["verify", found, "--recount", "walk"]
        known = set(os.listdir(self.folder))
        for words, rank, advice in ((walk, 1, again), (table, 0, again), (table, 2, again), (census, 2, again),
                                    (verify, 1, again), ([*walk, "--output", output, "--checkpoint-seconds", "0.01"], 2, same)):
            process = start(*words, "--quiet", "--threads", "1", ranks=3)
            self.addCleanup(self.end, process)
            pids = self.watching(process, 3)
            if advice == same:
                self.begun(process, output + ".checkpoint")
            os.kill(pids[rank], signal.SIGKILL)
            out, err = process.communicate(timeout=PATIENCE_S)
            self.assertEqual((process.returncode, out), (137, ""), words)
            self.assertEqual(err, f"starfold: rank {rank} on {os.uname().nodename} is gone: killed, perhaps for want of "
                                  f"memory, or crashed; {advice}\n", words)
            self.assertEqual(outlived(pids), [], words)
            self.assertFalse(os.path.exists(output), words)
            left = {"t.h5.lock", "t.h5.checkpoint", "t.h5.checkpoint.previous", "t.h5.checkpoint.next"}
            self.assertLessEqual(set(os.listdir(self.folder)) - known, left, words)

    def test_term_to_any_command(self):
        """Who asks for the end gets it, without a word of dead ranks."""
        process = start("census", "--length", "20", "--engine", "walk", "--quiet", ranks=3)
        self.addCleanup(self.end, process)
        pids = self.watching(process, 3)
        process.terminate()
        out, err = process.communicate(timeout=PATIENCE_S)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual((out, [line for line in err.splitlines() if line.startswith("starfold:")]), ("", []))
        self.assertEqual(outlived(pids), [])

    def test_copies_that_do_not_know_of_each_other(self):
        """What srun without a PMI does: rank 0 of 1, three times. One tells, all refuse."""
        told = []
        for task in range(3):
            job = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "3", "SLURM_NTASKS": "3",
                   "SLURM_PROCID": str(task)}
            result = run("run", "--output", self.output, *ENDLESS, env=job)
            self.assertEqual((result.status, result.out), (2, ""), result)
            told += result.err.splitlines()
        self.assertEqual(len(told), 1, told)
        self.assertIn("srun --mpi=pmix", told[0])
        self.assertEqual(os.listdir(self.folder), [])

    def test_different_files(self):
        """Every rank reads the configuration; a node may have another file of that name."""
        for rank in range(3):
            os.mkdir(self.path(str(rank)))
            self.write(f"{rank}/run.ini", f"length = 10\ngenerations = {7 if rank == 2 else 5}\n")
        script = 'cd "$0/$OMPI_COMM_WORLD_RANK" && exec "$@"'
        result = subprocess.run([os.environ["STARFOLD_MPIEXEC"], "-q", "-np", "3", "sh", "-c", script, self.folder, PROGRAM,
                                 "run", "--config", "run.ini", "--output", self.output],
                                env={**os.environ, **MPI_ENVIRONMENT}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, timeout=PATIENCE_S)
        self.assertEqual((result.returncode, len(result.stderr.splitlines())), (2, 1), result.stderr)
        self.assertIn("starfold: rank 2: --generations is '7' here but '5' on rank 0", result.stderr)
        self.assertFalse(os.path.exists(self.output))
        shutil.rmtree(self.path("2"))
        os.mkdir(self.path("2"))
        result = subprocess.run([os.environ["STARFOLD_MPIEXEC"], "-q", "-np", "3", "sh", "-c", script, self.folder, PROGRAM,
                                 "run", "--config", "run.ini", "--output", self.output],
                                env={**os.environ, **MPI_ENVIRONMENT}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, timeout=PATIENCE_S)
        self.assertEqual((result.returncode, len(result.stderr.splitlines())), (2, 1), result.stderr)
        self.assertIn("starfold: rank 2: cannot read the configuration 'run.ini'", result.stderr)

    def test_read_only_folder(self):
        """root writes everywhere, so the folder is of a file system that lets nobody."""
        self.refused("run", "--output", "/proc/run.h5", *ENDLESS, says=["cannot write in the folder '/proc'"])
        self.refused("run", "--output", "/proc/run.h5", *ENDLESS, ranks=2, says=["cannot write in the folder '/proc'"])

    def test_unreadable_table(self):
        bad = self.write("bad.table", "no table\n")
        for ranks in (0, 2):
            if "--table " in self.good("run", "--help").out:
                self.refused("run", "--table", bad, "--output", self.output, *ENDLESS, ranks=ranks, says=["bad.table"])


if __name__ == "__main__":
    unittest.main()

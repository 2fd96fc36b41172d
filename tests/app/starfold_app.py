"""What the tests of the program share: they run the real executable and look at what a user sees.

STARFOLD, STARFOLD_MPIEXEC and STARFOLD_TEST_DATA come from CTest (CMakeLists.txt)."""
import csv
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["STARFOLD"]
DATA = os.environ["STARFOLD_TEST_DATA"]
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PMIX_MCA_gds": "hash",  # or mpirun may hang when a rank is killed while it starts, see scripts/mpi-env.sh
}


def start(*words, ranks=0, env=None, cwd=None, stdin=subprocess.DEVNULL, **more):
    """The program as a process; ranks=0: without a launcher."""
    command = [PROGRAM, *[str(w) for w in words]]
    environment = {**os.environ, **MPI_ENVIRONMENT, **(env or {})}
    if ranks:
        command = [os.environ["STARFOLD_MPIEXEC"], "-q", "-np", str(ranks), *command]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=stdin,
                            text=True, env=environment, cwd=cwd, **more)


class Result:
    def __init__(self, process, timeout):
        try:
            self.out, self.err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        self.status = process.returncode

    def __str__(self):
        return f"status {self.status}\n--- out\n{self.out}\n--- err\n{self.err}"


def run(*words, timeout=300, **more):
    return Result(start(*words, **more), timeout)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"  # a zombie is dead
    except OSError:
        return False


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def ranks_of(process):
    """Process numbers of the ranks, in their order: children of mpirun that are the program already. None when it is over."""
    pids = []
    try:
        for task in os.listdir(f"/proc/{process.pid}/task"):
            with open(f"/proc/{process.pid}/task/{task}/children") as file:
                pids += [int(word) for word in file.read().split()]
    except OSError:
        return []
    return sorted(pid for pid in pids if name_of(pid) == "starfold")


def outlived(pids, patience_s=10):
    """Those of the processes that are still there after the patience: a launcher may end a moment before its ranks."""
    deadline = time.monotonic() + patience_s
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [pid for pid in pids if alive(pid)]


def table(name):
    """Rows of a file of tests/data as dictionaries."""
    with open(os.path.join(DATA, name), newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def counts(text):
    return [int(word) for word in text.split()]


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="starfold app ")  # with a space, as users have them
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def good(self, *words, **more):
        result = run(*words, **more)
        self.assertEqual(result.status, 0, f"{words}: {result}")
        return result

    def json(self, *words, **more):
        return json.loads(self.good(*words, "--format", "json", **more).out)

    @staticmethod
    def end(process):
        process.kill()
        process.communicate()

    def begun(self, process, path):
        """The process, which has made that file by now; when the test ends, it is ended."""
        self.addCleanup(self.end, process)
        deadline = time.monotonic() + 60
        while not os.path.exists(path):
            self.assertIsNone(process.poll(), "it ended by itself")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        return process

    def refused(self, *words, says=(), status=2, **more):
        """The command ends with the status and one line from starfold that has all of `says`."""
        result = run(*words, **more)
        self.assertEqual(result.status, status, f"{words}: {result}")
        lines = [line for line in result.err.splitlines() if line.strip()]
        self.assertEqual(len(lines), 1, f"{words}: {result}")
        self.assertTrue(lines[0].startswith("starfold: "), f"{words}: {result}")
        self.assertEqual(result.out, "", f"{words}: {result}")
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, lines[0], f"{words}")
        return lines[0]

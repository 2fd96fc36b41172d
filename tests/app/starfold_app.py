"""What the tests of the program share: they run the real executable and look at what a user sees.

No test may fail because the machine is slow or busy. So nothing is waited for by the clock: a test waits until what it needs
is there, PATIENCE_S at most, which only what hangs takes; and that something ended early is seen from what it says, not from
how long it took.

STARFOLD, STARFOLD_MPIEXEC and STARFOLD_TEST_DATA come from CTest (CMakeLists.txt)."""
import csv
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["STARFOLD"]
DATA = os.environ["STARFOLD_TEST_DATA"]
PATIENCE_S = 240
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


def run(*words, timeout=600, **more):
    return Result(start(*words, **more), timeout)


def until(condition, patience_s=PATIENCE_S, pause_s=0.02):
    """Waits for the condition; whether it came."""
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause_s)
    return True


def state_of(pid):
    """The letter of ps: T when it is held, Z when it is dead but not forgotten, "" when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def alive(pid):
    return state_of(pid) not in ("", "Z")


def catches(pid, number):
    """Whether the process has a handler of its own for the signal, which would end it before."""
    try:
        with open(f"/proc/{pid}/status") as file:
            caught = next(line for line in file if line.startswith("SigCgt:"))
    except OSError:
        return False
    return int(caught.split()[1], 16) >> (number - 1) & 1 == 1


def kill(pid):
    """Nothing happens to one that has just ended."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def rank_of(pid):
    """What mpirun told the process, None when that is not the program yet. Process numbers tell nothing: they begin anew."""
    try:
        with open(f"/proc/{pid}/comm") as file:
            name = file.read().strip()
        with open(f"/proc/{pid}/environ", "rb") as file:
            told = [word for word in file.read().split(b"\0") if word.startswith(b"OMPI_COMM_WORLD_RANK=")]
    except OSError:
        return None
    return int(told[0].partition(b"=")[2]) if name == "starfold" and told else None


def ranks_of(process):
    """Process numbers of the ranks, in their order: children of mpirun that are the program already. None when it is over."""
    pids = []
    try:
        for task in os.listdir(f"/proc/{process.pid}/task"):
            with open(f"/proc/{process.pid}/task/{task}/children") as file:
                pids += [int(word) for word in file.read().split()]
    except OSError:
        return []
    ranks = {rank_of(pid): pid for pid in pids}
    return [ranks[rank] for rank in sorted(rank for rank in ranks if rank is not None)]


def outlived(pids):
    """Those of the processes that do not end: a launcher may end a moment before its ranks."""
    until(lambda: not any(alive(pid) for pid in pids))
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
        self.assertTrue(until(lambda: os.path.exists(path) or process.poll() is not None), f"waited for {path}")
        self.assertIsNone(process.poll(), "it ended by itself")
        return process

    def watching(self, process, n, number=signal.SIGTERM):
        """The ranks, once each has a handler for the signal."""
        self.assertTrue(until(lambda: process.poll() is not None or (
            len(ranks_of(process)) == n and all(catches(pid, number) for pid in ranks_of(process)))))
        self.assertIsNone(process.poll(), "it ended by itself")
        return ranks_of(process)

    def signal_twice(self, process, ranks):
        """One rank is held, so that the other cannot end in order, and leaves at a second signal. That counts as one when it
        comes a second after the first was heard, which may take a while: it is sent again and again."""
        first, held = ranks
        os.kill(held, signal.SIGSTOP)
        self.assertTrue(until(lambda: state_of(held) == "T"))
        os.kill(first, signal.SIGUSR1)
        time.sleep(1.5)
        self.assertIsNone(process.poll(), "it left at the first signal")
        deadline = time.monotonic() + PATIENCE_S
        while process.poll() is None:
            self.assertLess(time.monotonic(), deadline, "a second signal is not heard")
            if alive(first):
                os.kill(first, signal.SIGUSR1)
            until(lambda: process.poll() is not None, 1.5)

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

"""Contact-map tables on disk: the same bytes on any layout, read by every command, refused when wrong, one cache for
several jobs."""
import fcntl
import json
import os
import resource
import shutil
import signal
import struct
import sys
import unittest

import h5py

from starfold_app import DATA, PATIENCE_S, Case, alive, catches, ranks_of, run, start, state_of, until

SEQUENCE = "HPHPPHHPHPPHPHHP"
SEARCH = ["--length", "16", "--generations", "12", "--islands", "2", "--population", "8", "--quiet"]


def locked(path):
    """Whether some process has the lock, not only made its file."""
    try:
        with open(path, "rb") as file:
            asked = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            return struct.unpack("hhqqi", fcntl.fcntl(file, fcntl.F_GETLK, asked))[0] != fcntl.F_UNLCK
    except FileNotFoundError:
        return False


class Table(Case):
    def build(self, name, length=16, *words, **more):
        path = self.path(name)
        self.good("table", "build", "--length", length, "--output", path, "--quiet", *words, **more)
        return path

    def bytes_of(self, path):
        with open(path, "rb") as file:
            return file.read()

    def until(self, what, condition):
        self.assertTrue(until(condition, pause_s=0.005), what)


class Build(Table):
    def test_same_bytes(self):
        for lattice, length in (("square", 16), ("square", 19), ("cubic", 11), ("square", 4)):
            first = self.bytes_of(self.build("first.h5", length, "--lattice", lattice, "--threads", 1, "--force"))
            for ranks, threads in ((0, 2), (1, 1), (2, 1), (2, 2), (3, 1), (3, 2)):
                other = self.build("other.h5", length, "--lattice", lattice, "--threads", threads, "--force", ranks=ranks)
                self.assertTrue(self.bytes_of(other) == first, f"{lattice} {length}, {ranks} ranks, {threads} threads")
        self.assertEqual(set(os.listdir(self.folder)), {"first.h5", "other.h5"})

    def test_info(self):
        path = self.build("t.h5", 16)
        out = self.good("table", "info", path).out
        for part in (path, "16 residues, square lattice, letters HP", "31,940, of at most 9 contacts", "802,075\n"):
            self.assertIn(part, out)
        info = self.json("table", "info", path)
        self.assertEqual((info["lattice"], info["length"], info["letters"]), ("square", 16, "HP"))
        self.assertEqual((info["maps"], info["conformations"], info["max_contacts"], info["schema"]), (31940, 802075, 9, 1))
        self.assertEqual(info["file_bytes"], os.path.getsize(path))
        self.assertEqual(info["memory_bytes"], 12 * 31940)
        self.assertEqual(run("table", "info", path, ranks=2).out, out)
        self.assertEqual(self.good("info", path).out, out)
        self.assertEqual((self.json("info", path), info["kind"]), (info, "table"))
        digests = {self.good("digest", p).out.split()[0] for p in (path, self.build("u.h5", 16, ranks=2))}
        self.assertEqual(len(digests), 1)

    def test_what_the_file_says(self):
        """The histogram of a sequence, from the file alone, as anyone with h5py would make it."""
        path = self.build("t.h5", 16)
        with h5py.File(path) as file:
            low, count, pairs = file["maps/low"][:], file["maps/count"][:], file["layout/pairs"][:]
            self.assertEqual(file["maps/low"].compression, "gzip")
            self.assertTrue(file["maps/low"].shuffle and file["maps/low"].fletcher32)
            for name in ("maps/low", "maps/count", "layout/pairs", "table/length"):
                self.assertTrue({"units", "description"} <= set(file[name].attrs), name)
            self.assertEqual(file["table/conformations"][()], count.sum())
        mask = sum(1 << bit for bit, (a, b) in enumerate(pairs) if SEQUENCE[a] == SEQUENCE[b] == "H")
        histogram = [0] * 10
        for value, n in zip(low.tolist(), count.tolist()):
            histogram[bin(value & mask).count("1")] += n
        while histogram[-1] == 0:
            histogram.pop()
        self.assertEqual(self.json("enumerate", SEQUENCE)["results"][0]["histogram"], histogram)

    def test_schema(self):
        """The table in analysis/README.md says of every dataset what the file says."""
        wanted = []

        def add(name, dataset):
            if isinstance(dataset, h5py.Dataset):
                kind, bits = dataset.dtype.kind, 8 * dataset.dtype.itemsize
                wanted.append("| " + " | ".join([
                    f"`/{name}`", "text" if kind == "S" else {"i": "int", "u": "uint"}[kind] + str(bits),
                    ", ".join(dimension.label for dimension in dataset.dims) or "-", dataset.attrs["units"] or "-",
                    dataset.attrs["description"]]) + " |")

        with h5py.File(self.build("t.h5", 19)) as file:
            file.visititems(add)
            self.assertEqual(file.attrs["title"], "Starfold table of contact maps")
        with open(os.path.join(DATA, "../../analysis/README.md"), encoding="utf-8") as file:
            section = file.read().partition("\n## The table of contact maps\n")[2].partition("\n## ")[0]
        self.assertEqual([line for line in section.split("\n") if line.startswith("| `/")], wanted)

    def test_explain(self):
        out = self.good("table", "build", "--length", 20, "--explain").out
        for part in ("910,972 contact maps of 20 residues on the square lattice", "of memory a rank", "of disk"):
            self.assertIn(part, out)
        plan = self.json("table", "build", "--length", 16, "--explain")
        self.assertEqual(plan["maps"], 31940)
        size = os.path.getsize(self.build("t.h5", 16))
        self.assertTrue(size / 1.4 < plan["disk_bytes"] < size * 1.4, (size, plan))
        self.assertTrue(plan["seconds"] > 0 and plan["memory_bytes"] > 12 * 31940)

    def test_refused(self):
        path, other = self.build("t.h5", 8), self.path("new.h5")
        before = self.bytes_of(path)
        to = ["--output", other]
        self.refused("table", says="table needs build")
        self.refused("table", "make", says=["'starfold table make'", "'starfold table build'"])
        self.refused("table", "info", says="starfold table info T.h5")
        self.refused("table", "info", path, "more", says="'more' is too much")
        self.refused("table", "build", path, "--length", 8, *to, says="too much")
        self.refused("table", "build", *to, says="--length is needed")
        self.refused("table", "build", "--length", 8, says="--output is needed")
        self.refused("table", "build", "--length", 25, *to, says=["3 to 24 residues on the square lattice, not 25"])
        self.refused("table", "build", "--length", 18, "--lattice", "cubic", *to, says="3 to 17 residues")
        self.refused("table", "build", "--length", 18, "--memory-limit", "1M", *to, says=["MiB may be used"])
        self.refused("table", "build", "--length", 24, "--refuse-over", "0.01", *to, says="--refuse-over")
        self.refused("table", "build", "--length", 8, "--output", self.folder, says="is a folder")
        self.refused("table", "build", "--length", 8, "--output", self.path("no/t.h5"), says="does not exist")
        self.refused("table", "build", "--length", 8, "--output", path, says=["exists", "--force"])
        for ranks in (2, 3):
            self.refused("table", "build", "--length", 8, "--output", path, says=["exists", "--force"], ranks=ranks)
        self.assertEqual(self.bytes_of(path), before)
        self.assertEqual(os.listdir(self.folder), ["t.h5"])

    def test_two_writers(self):
        path = self.path("t.h5")
        with open(path + ".lock", "w") as lock:
            lock.write("process 1 on there\n")
            lock.flush()
            fcntl.lockf(lock, fcntl.LOCK_EX)
            self.refused("table", "build", "--length", 8, "--output", path,
                         says=["is being written by process 1 on there"])
        self.build("t.h5", 8)  # what is left of a lock holds nobody
        self.assertEqual(os.listdir(self.folder), ["t.h5"])

    def test_file_size_limit(self):
        """ulimit -f, or the largest file of a file system: an error like a full disk, nothing left half written."""
        small = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))}
        for words in (["table", "build", "--length", 16, "--output", self.path("t.h5")],
                      ["census", "--length", 12, "--histograms", "--output", self.path("c.h5")],
                      ["enumerate", SEQUENCE, "--engine", "walk", "--output", self.path("e.h5")],
                      ["enumerate", SEQUENCE, "--engine", "table", "--table-cache", self.folder],
                      ["run", *SEARCH, "--output", self.path("r.h5")]):
            self.refused(*words, "--quiet", status=1, says="File too large", **small)
            self.assertEqual(os.listdir(self.folder), [], words)

    def test_asked_to_end(self):
        """SIGTERM to all ranks is a wish: nobody is called dead."""
        process = start("table", "build", "--length", "23", "--output", self.path("t.h5"), "--quiet", ranks=3)
        self.until("the build begins", lambda: os.path.exists(self.path("t.h5.lock")) or process.poll() is not None)
        process.terminate()
        out, err = process.communicate(timeout=PATIENCE_S)
        self.assertNotEqual(process.returncode, 0)
        self.assertNotIn("is gone", err)
        self.assertFalse(os.path.exists(self.path("t.h5")))

    def test_killed(self):
        """Nothing stands under the name, no rank is left, and the next build succeeds."""
        path = self.path("t.h5")
        process = start("table", "build", "--length", "23", "--output", path, "--quiet", ranks=2)
        self.until("the build begins", lambda: os.path.exists(path + ".lock") or process.poll() is not None)
        ranks = ranks_of(process)
        self.assertEqual(len(ranks), 2)
        os.kill(ranks[1], signal.SIGKILL)
        _, err = process.communicate(timeout=PATIENCE_S)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn("starfold: rank 1 on", err)
        self.assertIn("give the same command again", err)
        self.until("all ranks are gone", lambda: not any(alive(pid) for pid in ranks))
        self.assertFalse(os.path.exists(path))
        self.build("t.h5", 8)
        self.assertEqual(os.listdir(self.folder), ["t.h5"])


class Use(Table):
    def test_every_command(self):
        path = self.build("t.h5")
        table = ["--table", path]
        one = self.json("enumerate", SEQUENCE, "--engine", "table")
        census, few = self.good("census", "--length", 16).out, self.good("census", "--length", 9).out
        short = self.build("short.h5", 9)
        self.good("run", *SEARCH, "--output", self.path("run.h5"))
        whole = self.bytes_of(self.path("run.h5"))
        for ranks in (0, 2, 3):
            self.assertEqual(self.json("enumerate", SEQUENCE, *table, ranks=ranks), one)
            self.assertEqual(self.good("census", "--length", 16, *table, ranks=ranks).out, census)
            if ranks != 3:  # sequence by sequence
                self.assertEqual(self.good("census", "--length", 9, "--engine", "table", "--table", short, ranks=ranks).out,
                                 few)
            other = self.path("other.h5")
            self.good("run", *SEARCH, "--output", other, "--force", *table, ranks=ranks)
            self.assertTrue(self.bytes_of(other) == whole, f"{ranks} ranks")
        with h5py.File(self.path("other.perf.h5")) as file:
            self.assertEqual(file["options/table"][()].decode(), path)

    def test_resume(self):
        path, other = self.build("t.h5"), self.path("run.h5")
        self.good("run", *SEARCH, "--output", self.path("whole.h5"))
        self.good("run", *SEARCH, "--output", other, "--generations", "5")
        self.good("resume", other, "--generations", "12", "--table", path, "--quiet", ranks=2)
        self.assertTrue(self.bytes_of(other) == self.bytes_of(self.path("whole.h5")))
        self.refused("resume", other, "--generations", "20", "--table", self.path("no.h5"), says="No such file")

    def test_wrong(self):
        path = self.build("t.h5")
        whole = self.bytes_of(path)
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 4
        out = self.path("run.h5")
        wrong = {
            self.path("missing.h5"): "No such file",
            self.write("text.h5", "no table\n"): "is not an HDF5 file",
            self.build("shorter.h5", 15): "15 residues on the square lattice",
            self.build("cubic.h5", 11, "--lattice", "cubic"): "11 residues on the cubic lattice",
            self.build("letters.h5", 16, "--score-model", "hpnx"): "letters HPNX",
        }
        for name, content, says in (("cut.h5", whole[:-100], "it was cut"), ("flip.h5", flipped, "is damaged"),
                                    ("empty.h5", b"", "it is empty")):
            with open(self.path(name), "wb") as file:
                file.write(content)
            wrong[self.path(name)] = says
        self.good("run", *SEARCH, "--output", self.path("a_run.h5"))
        wrong[self.path("a_run.h5")] = "not a table of contact maps but a run file"
        for table, says in wrong.items():
            line = self.refused("enumerate", SEQUENCE, "--table", table, says=[table, says])
            self.assertIn(";", line) if "No such" not in says and "a run file" not in says else None
            self.refused("census", "--length", 16, "--table", table, says=[table, says])
            self.refused("census", "--length", 16, "--engine", "table", "--table", table, says=[table, says])
            self.refused("run", *SEARCH, "--output", out, "--table", table, says=[table, says])
            for name in os.listdir(self.folder):
                self.assertFalse(name.startswith("run.h5"), name)
        for ranks in (2, 3):
            self.refused("census", "--length", 16, "--table", self.path("flip.h5"), says="is damaged", ranks=ranks)
        self.refused("enumerate", SEQUENCE, "HPHPPHHPHPPHPHHPPH", "--table", path, says="asked for are 18 residues")
        self.refused("enumerate", SEQUENCE, "--engine", "walk", "--table", path, says="leave one of them out")
        self.refused("census", "--length", 16, "--engine", "walk", "--table", path, says="leave one of them out")
        self.refused("run", "--length", 36, "--output", out, "--table", path, says="chains of 3 to 24 residues")
        self.refused("table", "info", self.path("flip.h5"), says=["is damaged", "starfold table build"])


class Signals(Table):
    def test_stopped(self):
        """What is written at the end leaves nothing behind when it is stopped, and says so."""
        output = self.path("x.h5")
        for command in (["table", "build", "--length", 23], ["census", "--length", 23]):
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
                process = start(*command, "--threads", 1, "--output", output)
                self.addCleanup(self.end, process)  # the lock's file is there a moment before its guard
                self.until("the lock is guarded", lambda: process.poll() is not None or (
                    os.path.exists(output + ".lock") and catches(process.pid, number)))
                process.send_signal(number)
                out, err = process.communicate(timeout=PATIENCE_S)
                self.assertEqual((process.returncode, out), (1, ""), err)
                self.assertEqual(err, "starfold: stopped by a signal; nothing was written\n")
                self.assertEqual(os.listdir(self.folder), [], command)


class Cache(Table):
    NAME = "square-16-HP-v1.h5"

    def setUp(self):
        super().setUp()
        self.cache = self.path("cache")

    def holds(self, *names):
        self.assertEqual(set(os.listdir(self.cache)), set(names))

    def test_fills_and_finds(self):
        one = self.json("enumerate", SEQUENCE, "--engine", "table")
        first = self.good("enumerate", SEQUENCE, "--engine", "table", "--format", "json", env={"STARFOLD_CACHE": self.cache})
        self.assertEqual(first.err, f"remark: the table cache '{self.cache}' was not there; made that folder\n")
        self.assertEqual(json.loads(first.out), one)
        again = self.good("enumerate", SEQUENCE, "--engine", "table", "--format", "json", "--table-cache", self.cache)
        self.assertEqual((json.loads(again.out), again.err), (one, ""))
        self.holds(self.NAME)
        self.assertTrue(self.bytes_of(os.path.join(self.cache, self.NAME)) == self.bytes_of(self.build("t.h5")))
        before = os.stat(os.path.join(self.cache, self.NAME))
        census = self.good("census", "--length", 16).out
        for ranks in (0, 2):
            self.assertEqual(self.good("census", "--length", 16, env={"STARFOLD_CACHE": self.cache}, ranks=ranks).out, census)
        after = os.stat(os.path.join(self.cache, self.NAME))
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        self.good("run", *SEARCH, "--output", self.path("a.h5"), "--table-cache", self.cache, ranks=2)
        self.good("run", *SEARCH, "--output", self.path("b.h5"))
        self.assertTrue(self.bytes_of(self.path("a.h5")) == self.bytes_of(self.path("b.h5")))
        self.good("census", "--length", 9, "--lattice", "cubic", "--table-cache", self.cache, ranks=3)
        self.holds(self.NAME, "cubic-9-HP-v1.h5")

    def test_refused(self):
        use = ["census", "--length", 16, "--table-cache", self.cache]
        self.good(*use)
        path = os.path.join(self.cache, self.NAME)
        whole = self.bytes_of(path)
        with open(path, "wb") as file:
            file.write(whole[:-100])
        for ranks in (0, 2):
            self.refused(*use, says=[path, "it was cut", "remove that file, and it is built anew"], ranks=ranks)
        os.replace(self.build("t.h5", 15), path)
        self.refused(*use, says=[path, "15 residues", "remove that file, and it is built anew"])
        os.unlink(path)
        self.good(*use)
        self.assertTrue(self.bytes_of(path) == whole)
        self.holds(self.NAME)
        self.refused("census", "--length", 16, "--table-cache", path, says="is not a folder")
        self.refused("census", "--length", 16, "--table-cache", self.path("no/such"), says="cannot be made")
        self.refused("census", "--length", 16, env={"STARFOLD_CACHE": self.path("no/such")}, says="cannot be made")

    def test_auto(self):
        """Told by an option or by the environment, auto takes what takes least: a single chain is walked, unless the table is
        there and costs only its reading."""
        chain = "HPHPPHHPHPPHPHHPPHPHHP"
        for told in ({"env": {"STARFOLD_CACHE": self.cache}}, {}):
            words = [] if told else ["--table-cache", self.cache]
            self.assertEqual(self.json("enumerate", chain, *words, "--explain", **told)["engine"], "walk")
            self.assertEqual(self.json("enumerate", chain, *words, **told)["results"][0]["engine"], "walk")
            self.assertFalse(os.path.exists(self.cache))
        many = self.write("many", "".join(f"{SEQUENCE[:10]}{k:06b}\n".replace("0", "H").replace("1", "P") for k in range(64)))
        words = ["enumerate", "--file", many, "--explain"]
        seconds = [{e["engine"]: e["seconds"] for e in self.json(*words, "--table-cache", self.cache)["engines"]}]
        self.good("run", *SEARCH, "--output", self.path("a.h5"), "--table-cache", self.cache)
        self.holds(self.NAME)  # auto took the table for so many sequences
        seconds += [{e["engine"]: e["seconds"] for e in self.json(*words, *cached, **told)["engines"]} for cached, told in
                    ((["--table-cache", self.cache], {}), ([], {"env": {"STARFOLD_CACHE": self.cache}}))]
        self.assertLess(seconds[1]["table"], seconds[0]["table"])
        self.assertLess(seconds[2]["table"], seconds[0]["table"])

    def test_unwritable(self):
        """A folder that cannot be written to is no reason to stop: one remark, and the table is built in memory."""
        plain = self.good("census", "--length", 10).out
        for ranks in (0, 2):
            result = self.good("census", "--length", 10, "--table-cache", "/proc", ranks=ranks)
            self.assertEqual(result.out, plain)
            self.assertRegex(result.err, r"^remark: cannot write in the table cache '/proc' \(.+\); the table is built in "
                                         r"memory and not kept\n$")
        self.assertEqual(self.good("census", "--length", 10, "--table-cache", "/proc", "--quiet").err, "")

    def test_two_jobs(self):
        """Several jobs want one table at a time: one builds it, all have the same answer."""
        words = ["census", "--length", "18", "--table-cache", self.cache]
        jobs = [start(*words), start(*words), start(*words, ranks=2)]
        outs = [job.communicate(timeout=PATIENCE_S) for job in jobs]
        self.assertEqual([job.returncode for job in jobs], [0, 0, 0], outs)
        self.assertEqual({out for out, _ in outs}, {self.good("census", "--length", 18).out})
        self.holds("square-18-HP-v1.h5")

    def test_builder_dies(self):
        """The second job waits for the first, and takes over when that is killed."""
        words = ["census", "--length", "20", "--table-cache", self.cache]
        name = os.path.join(self.cache, "square-20-HP-v1.h5")
        first, held = None, False
        while not held:  # again where the table was built before the first could be held
            shutil.rmtree(self.cache, ignore_errors=True)
            first = start(*words)
            self.addCleanup(self.end, first)
            self.until("the first has the lock", lambda: locked(name + ".lock") or first.poll() is not None)
            first.send_signal(signal.SIGSTOP)
            self.until("it is held", lambda: state_of(first.pid) in "TZ")
            held = not os.path.exists(name) and first.poll() is None
            if not held:
                self.end(first)
        second = start(*words)
        self.addCleanup(self.end, second)
        line = second.stderr.readline()
        self.assertTrue(line.startswith(f"waiting for {name}, built by process {first.pid} on "), line)
        self.assertIsNone(second.poll())
        os.kill(first.pid, signal.SIGKILL)
        first.communicate(timeout=PATIENCE_S)
        out, err = second.communicate(timeout=PATIENCE_S)
        self.assertEqual(second.returncode, 0, err)
        self.assertEqual(out, self.good("census", "--length", 20, "--table", name).out)
        self.holds("square-20-HP-v1.h5")

    def test_stopped_while_waiting(self):
        os.mkdir(self.cache)
        with open(os.path.join(self.cache, self.NAME + ".lock"), "w") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            search = start("run", *[w for w in SEARCH if w != "--quiet"], "--output", self.path("r.h5"), "--table-cache",
                           self.cache)
            line = search.stderr.readline()
            self.assertTrue(line.startswith("waiting for "), line)
            search.send_signal(signal.SIGUSR1)
            _, err = search.communicate(timeout=PATIENCE_S)
            self.assertEqual(search.returncode, 75, err)
            self.assertEqual(len(err.splitlines()), 1, err)
        self.good("resume", self.path("r.h5"), "--table-cache", self.cache, "--quiet")


if __name__ == "__main__":
    sys.exit(unittest.main())

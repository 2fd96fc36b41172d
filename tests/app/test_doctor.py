#!/usr/bin/python3
"""doctor tells what the launch looks like and warns of traps."""
import json
import os
import subprocess
import unittest

from starfold_app import MPI_ENVIRONMENT, PATIENCE_S, PROGRAM, Case


class Doctor(Case):
    @staticmethod
    def cores_of(text):
        """{0, 1, 2, 5} of "0-2,5"."""
        pairs = [part.split("-") for part in text.split(",")]
        return {core for pair in pairs for core in range(int(pair[0]), int(pair[-1]) + 1)}

    def test_ranks_on_one_core(self):
        """Ranks bound to one core of several, as some launchers bind them, share it."""
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one core only")
        document = self.json("doctor", ranks=3, env={"OMPI_MCA_hwloc_base_binding_policy": "none"})
        self.assertNotIn("share cores", " ".join(document["warnings"]))
        script = self.write("bound", '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 2 ] && exec "$@"\nexec taskset -c 0 "$@"\n')
        os.chmod(script, 0o755)
        result = subprocess.run([os.environ["STARFOLD_MPIEXEC"], "-q", "-np", "3", script, PROGRAM, "doctor"],
                                env={**os.environ, **MPI_ENVIRONMENT}, stdout=subprocess.PIPE, text=True, timeout=PATIENCE_S)
        self.assertIn("2 threads in all have cores 0 alone", result.stdout)

    def test_alone(self):
        document = self.json("doctor", "--threads", "1", "--output", self.path("run.h5"))
        self.assertEqual(document["folder"], self.folder)
        self.assertEqual(document["locking"], "works")
        self.assertEqual(document["mpi_threads"], "not initialised")
        self.assertIn("Open MPI", document["mpi"])
        self.assertRegex(document["hdf5"], r"^1\.\d+\.\d+$")
        self.assertEqual(len(document["ranks"]), 1)
        rank, cores = document["ranks"][0], os.sched_getaffinity(0)
        self.assertEqual((rank["host"], rank["threads"], rank["cores"]), (os.uname().nodename, 1, len(cores)))
        self.assertEqual(self.cores_of(rank["affinity"]), cores)
        self.assertIn(document["hdf5_thread_safe"], (True, False))
        self.assertGreater(rank["memory_free_bytes"], 1 << 20)
        self.assertGreater(document["disk_free_bytes"], 0)
        self.assertEqual(os.listdir(self.folder), [])
        self.assertIn("  ranks           1\n", self.good("doctor").out)

    def test_threads_that_share_cores(self):
        document = self.json("doctor", "--threads", "1000", ranks=2)
        self.assertEqual([rank["threads"] for rank in document["ranks"]], [1000, 1000])
        self.assertIn(document["mpi_threads"], ("funneled", "serialized", "multiple"))
        warnings = " ".join(document["warnings"])
        self.assertIn("rank 1 on", warnings)
        self.assertIn("--bind-to none", warnings)
        self.assertIn("2000 threads in all", warnings)

    def test_folder_and_disk(self):
        document = self.json("doctor", "--output", "/proc/run.h5", "--generations", "900000000", "--population", "100000")
        warnings = " ".join(document["warnings"])
        self.assertIn("cannot be written", warnings)
        self.assertGreater(int(document["expected_bytes"]), 10 ** 15)
        document = self.json("doctor", "--output", self.path("run.h5"), "--generations", "900000000", "--population", "100000")
        self.assertIn("the disk has", " ".join(document["warnings"]))

    def test_control_groups(self):
        """The limits of the job's group, or of one above it, are told; the tree of groups is one of the test's own, laid
        over the machine's in a name space where root is. Version 2 and version 1."""
        for version in (2, 1):
            root = self.path(f"groups {version}")
            memory, cpu = (root, root) if version == 2 else (os.path.join(root, "memory"), os.path.join(root, "cpu"))
            files = {os.path.join(memory, "job", "step", "unlimited"): ""}
            if version == 2:
                files.update({f"{root}/job/memory.max": 3 << 30, f"{root}/job/memory.current": (2 << 30) + (1 << 28),
                              f"{root}/job/memory.stat": f"anon 5\ninactive_file {1 << 28}\n",
                              f"{root}/job/cpu.max": "150000 100000",
                              f"{root}/job/step/memory.max": "max", f"{root}/job/step/memory.current": 7,
                              f"{root}/job/step/cpu.max": "max 100000"})
                line = "0::/job/step\n"
            else:
                files.update({f"{memory}/job/memory.limit_in_bytes": 3 << 30,
                              f"{memory}/job/memory.usage_in_bytes": (2 << 30) + (1 << 28),
                              f"{memory}/job/memory.stat": f"total_inactive_file {1 << 28}\n",
                              f"{cpu}/job/cpu.cfs_quota_us": 150000, f"{cpu}/job/cpu.cfs_period_us": 100000})
                line = "4:memory:/job/step\n3:cpu,cpuacct:/job\n"
            for path, text in files.items():
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(f"{text}\n")
            lines = self.write(f"cgroup {version}", line)
            script = 'mount --bind "$0" /sys/fs/cgroup && mount --bind "$1" /proc/$$/cgroup && shift && exec "$@"'
            result = subprocess.run(["unshare", "--mount", "sh", "-c", script, root, lines, PROGRAM, "doctor", "--format",
                                     "json", "--threads", "2", "--output", self.path("run.h5")],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
            if result.returncode in (1, 32) and ("unshare" in result.stderr or "mount" in result.stderr):
                print(f"SKIP: no name space of its own can be had here: {result.stderr.strip()}", flush=True)
                self.skipTest("no name space of its own can be had here")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            document = json.loads(result.stdout)
            self.assertEqual(int(document["memory_free_bytes"]), 1 << 30)
            self.assertEqual(document["core_limit"], 1.5)
            self.assertIn("the control group allows 1.50 cores, the ranks on this host have 2 threads",
                          " ".join(document["warnings"]))

    def test_copies_that_do_not_know_of_each_other(self):
        task = {"SLURM_JOB_ID": "1", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}
        self.refused("enumerate", "HHHH", env=task, says=["4", "--mpi=pmix"])


if __name__ == "__main__":
    unittest.main()

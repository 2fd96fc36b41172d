#!/usr/bin/python3
"""doctor tells what the launch looks like and warns of traps."""
import os
import subprocess
import unittest

from starfold_app import MPI_ENVIRONMENT, PROGRAM, Case


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
                                env={**os.environ, **MPI_ENVIRONMENT}, stdout=subprocess.PIPE, text=True, timeout=60)
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

    def test_copies_that_do_not_know_of_each_other(self):
        task = {"SLURM_JOB_ID": "1", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}
        self.refused("enumerate", "HHHH", env=task, says=["4", "--mpi=pmix"])


if __name__ == "__main__":
    unittest.main()

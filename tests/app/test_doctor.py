#!/usr/bin/python3
"""doctor tells what the launch looks like and warns of traps."""
import os
import unittest

from starfold_app import Case


class Doctor(Case):
    def test_alone(self):
        document = self.json("doctor", "--threads", "1", "--output", self.path("run.h5"))
        self.assertEqual(document["folder"], self.folder)
        self.assertEqual(document["locking"], "works")
        self.assertEqual(document["mpi_threads"], "not initialised")
        self.assertIn("Open MPI", document["mpi"])
        self.assertRegex(document["hdf5"], r"^1\.\d+\.\d+$")
        self.assertEqual(document["ranks"], [{"host": os.uname().nodename, "threads": 1,
                                              "cores": len(os.sched_getaffinity(0))}])
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

#!/usr/bin/python3
"""Every command has a help that names its options; the program tells its version and its commands."""
import unittest

from starfold_app import Case, run

OPTIONS = {
    "run": "--output --force --config --preset --length --seed --trials --islands --population --generations --elites "
           "--selection --crossover --mutation-rate --survival --fitness --topology --migration-interval --migrants "
           "--time-limit --checkpoint-interval --checkpoint-seconds --lattice --score-model --explain --engine",
    "resume": "--generations --time-limit --checkpoint-interval --checkpoint-seconds",
    "enumerate": "--file --engine --solutions --lattice --top-counts --node-limit --max-seconds --refuse-over --explain",
    "census": "--length --lattice --explain --histograms --output --force",
    "levels": "--count",
    "info": "",
    "verify": "--recount --sample --refuse-over",
    "repair": "--output --force",
    "digest": "",
    "doctor": "--output --length",
}


class Help(Case):
    def test_commands(self):
        overview = self.good("--help").out
        for command, options in OPTIONS.items():
            self.assertIn(f"  {command} ", overview)
            text = self.good(command, "--help").out
            self.assertEqual(text, self.good("help", command).out)
            self.assertTrue(text.startswith(f"Usage: starfold {command} "))
            for option in (options + " --help --threads --quiet --format").split():
                self.assertIn(f"  {option} ", text, command)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_ranges_and_defaults_are_told(self):
        text = " ".join(self.good("run", "--help").out.split())
        self.assertIn("individuals an island (default 30; 2 to 1000000)", text)
        self.assertIn("(default 0.1)", text)
        self.assertIn("square | cubic (default square)", text)

    def test_help_wins_over_mistakes(self):
        self.assertIn("Usage", self.good("run", "--population", "1", "--help").out)

    def test_version(self):
        self.assertRegex(self.good("--version").out, r"^starfold \d+\.\d+\.\d+")

    def test_full_output_is_noticed(self):
        with open("/dev/full", "w") as full:
            import subprocess
            from starfold_app import PROGRAM
            result = subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("starfold: cannot write standard output", result.stderr)

    def test_under_mpi_once(self):
        result = run("enumerate", "--help", ranks=3)
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertEqual(result.out.count("Usage:"), 1)


if __name__ == "__main__":
    unittest.main()

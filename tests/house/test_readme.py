#!/usr/bin/env python3
"""Runs what the README shows: test_readme.py TREE STARFOLD-FOLDER.

Each ```console block is a list of commands (`$ ...`) with their standard output. Commands run one after the other in an
empty folder that has analysis/, scripts/ and the program on PATH; each must end with status 0. Where output is shown it must be
that, line by line; a line `...` stands for any lines.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def commands(text):
    """(command, [lines of output]) of all console blocks, in order."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.S | re.M):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *output = part.rstrip("\n").split("\n")
            yield command, output


def matches(shown, printed):
    """True when the printed text is the shown lines; a line `...` stands for any number of lines."""
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, printed) is not None


def main(tree, program_folder):
    n_commands = n_failed = 0
    environment = dict(os.environ, PATH=f"{program_folder}:{os.environ['PATH']}")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("analysis", "scripts"):
            (Path(folder) / name).symlink_to(tree / name)
        for command, shown in commands((tree / "README.md").read_text()):
            script = f'. "{tree}/scripts/mpi-env.sh"\n{command}'
            done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, check=False)
            n_commands += 1
            if done.returncode != 0 or (shown and not matches(shown, done.stdout)):
                n_failed += 1
                print(f"$ {command}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
                print("but the README shows:", *shown, sep="\n")
    print(f"{n_commands} commands of the README, {n_failed} failed")
    return 1 if n_failed or n_commands < 5 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2]))

#!/usr/bin/env python3
"""Checks the rules of the house: who includes whom, which symbols each floor uses, headers, READMEs, length and format.

A rule is a generator of findings, one line each: file, line where there is one, what is wrong, what is allowed. The
rules are proven able to fail by test_check_house.py, which builds small houses with one fault each.

    check_house.py --root TREE [--archive FLOOR=LIB.a]... [--cc COMPILER] [--include FOLDER]... [--ctest LISTING]
"""
import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# floor -> the floors it may include beside itself ("public" is include/starfold).
FLOORS = {
    "public": set(),
    "core": {"public"},
    "io": {"core", "public"},
    "dist": {"core", "public"},
    "app": {"io", "dist", "core", "public"},
    "bench": {"io", "dist", "core", "public"},
}
# Inside core each folder may include itself and what stands left of it.
CORE_ORDER = ["base", "lattice", "walk", "contacts", "engines", "puzzle", "search"]
# Of these folders others see one header only: the search knows no chains and no lattices.
SEARCH_SEES = "core/puzzle/puzzle.h"
SYSTEM_HEADERS = [
    (re.compile(r"mpi(-ext)?\.h$"), {"dist", "app", "bench"}, "MPI"),
    (re.compile(r"(hdf5(_hl)?|H5\w*)\.h$"), {"io"}, "HDF5"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')

MPI = re.compile(r"^(P?MPI_|ompi_|mpi_)")
HDF5 = re.compile(r"^H5")
PRINTS = re.compile(
    r"^(stdout|stderr|v?printf|__v?printf_chk|puts|putchar(_unlocked)?|perror|psignal|v?syslog|v?warnx?|v?errx?)$")
EXITS = re.compile(r"^(_?exit|_Exit|quick_exit|abort|P?MPI_Abort)$")
# floor -> (pattern of undefined symbols, why they do not belong there)
FORBIDDEN_SYMBOLS = {
    "core": [(MPI, "calls MPI"), (HDF5, "calls HDF5"), (PRINTS, "prints"), (EXITS, "ends the program")],
    "io": [(MPI, "calls MPI"), (PRINTS, "prints"), (EXITS, "ends the program")],
    "dist": [(HDF5, "calls HDF5"), (PRINTS, "prints"), (EXITS, "ends the program")],
}
# sf_comm_abort: ending all ranks takes MPI, and app, who alone calls it, does not.
ALLOWED_SYMBOLS = {("dist", "comm.c.o", "MPI_Abort"), ("dist", "comm.c.o", "_Exit")}

TEXT_SUFFIXES = {".c", ".h", ".py", ".sh", ".sbatch", ".cmake", ".md", ".txt", ".ini", ".yml"}
CODE_SUFFIXES = {".c", ".h", ".py", ".sh", ".sbatch"}
MAX_LINES = 600
MAX_COLUMNS = 128
FOLDERS_WITH_README = ["src", "jobs", "analysis", "tests"]
TEST_FLOORS = ["core", "io", "dist", "app"]


def listed_files(root):
    """All files of the tree that are ours: what build folders, results and dot folders hold is not."""
    skipped = re.compile(r"^(build.*|results|__pycache__|\..*)$")
    stack = [root]
    while stack:
        for path in sorted(stack.pop().iterdir()):
            if path.is_dir() and not path.is_symlink():
                if not (skipped.match(path.name) and (path.parent == root or path.name == "__pycache__")):
                    stack.append(path)
            elif path.is_file():
                yield path


def is_text(path):
    if path.suffix in TEXT_SUFFIXES:
        return True
    if path.suffix:
        return False
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def floor_of(relative):
    parts = relative.parts
    if parts[0] == "include":
        return "public"
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def resolve(root, source, name):
    """The file of the tree that a quoted include means, relative to the root; None when there is none."""
    for base in (source.parent, root / "src", root / "include"):
        if (base / name).is_file():
            return (base / name).resolve().relative_to(root.resolve())
    return None


def check_core_order(target, relative):
    own, other = relative.parts[2], target.parts[2]
    for folder in (own, other):
        if folder not in CORE_ORDER:
            return f"core has no folder '{folder}' in its order {' '.join(CORE_ORDER)}"
    if CORE_ORDER.index(other) > CORE_ORDER.index(own):
        return f"core/{own} may include only {' '.join(CORE_ORDER[:CORE_ORDER.index(own) + 1])}"
    if own == "search" and other == "puzzle" and str(target) != f"src/{SEARCH_SEES}":
        return f"of the puzzles core/search may include only {SEARCH_SEES}"
    return None


def check_include(root, path, kind, name):
    """What is wrong with one include line of a source file, or None."""
    relative = path.relative_to(root)
    floor = floor_of(relative)
    for pattern, floors, what in SYSTEM_HEADERS:
        if pattern.search(name) and floor not in floors:
            return f"{what} belongs to {' and '.join(sorted(floors))}, not to {floor}"
    if kind == "<":
        return None
    target = resolve(root, path, name)
    if target is None:
        return "no such file in src/ or include/; system headers go in <>"
    other = floor_of(target)
    if other != floor and other not in FLOORS[floor]:
        return f"{floor} may include only {' '.join(sorted(FLOORS[floor] | {floor}))}"
    if floor == "core" and other == "core":
        return check_core_order(target, relative)
    return None


def rule_includes(root, options):
    for path in listed_files(root):
        relative = path.relative_to(root)
        if path.suffix not in (".c", ".h") or relative.parts[0] not in ("src", "include"):
            continue
        if floor_of(relative) not in FLOORS:
            yield f"{relative}: stands on no floor; there are src/{{core,io,dist,app,bench}} and include/starfold"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            wrong = match and check_include(root, path, *match.groups())
            if wrong:
                yield f"{relative}:{number}: includes {match.group(2)}: {wrong}"


def rule_symbols(root, options):
    for floor, archive in options.archive:
        listing = subprocess.run(["nm", "-A", archive], capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            where, symbol = line.rsplit(None, 2)[0], line.split()[-1].split("@")[0]
            member = where.split(":")[1] if ":" in where else where
            kind = line.split()[-2]
            if kind == "U":
                for pattern, what in FORBIDDEN_SYMBOLS[floor]:
                    if pattern.match(symbol) and (floor, member, symbol) not in ALLOWED_SYMBOLS:
                        yield f"{floor}: {member} uses {symbol}: {floor} never {what}"
            elif kind in "TDBRC" and not symbol.startswith(("sf_", ".")):  # a dot: the compiler's own
                yield f"{floor}: {member} offers {symbol}: names seen from outside start with sf_"


def rule_headers(root, options):
    """Every header compiles alone, under the project's own warnings."""
    if not options.cc:
        return
    ours = ("src", "include")
    headers = [p for p in listed_files(root) if p.suffix == ".h" and p.relative_to(root).parts[0] in ours]
    folders = [root / "src", root / "include"] + options.include

    def compile_alone(header):
        command = [options.cc, "-std=gnu11", "-D_GNU_SOURCE", "-fopenmp", "-fsyntax-only"]
        command += ["-Wall", "-Wextra", "-Werror"]
        for folder in folders:
            command += ["-isystem" if folder in options.include else "-I", str(folder)]
        source = f'#include "{header}"\n'
        return subprocess.run(command + ["-x", "c", "-"], input=source, capture_output=True, text=True, check=False)

    with ThreadPoolExecutor(2) as pool:
        for header, done in zip(headers, pool.map(compile_alone, headers)):
            if done.returncode != 0:
                first = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr.strip())
                yield f"{header.relative_to(root)}: does not compile alone: {first}"


def rule_readmes(root, options):
    """The folders open with a README that names each of their sub-folders, and READMEs point only at what exists."""
    for folder in FOLDERS_WITH_README:
        readme = root / folder / "README.md"
        if not readme.is_file():
            yield f"{folder}/README.md: missing; {folder}/ opens with a short map"
            continue
        text = readme.read_text()
        for child in sorted(readme.parent.iterdir()):
            if child.is_dir() and child.name != "__pycache__" and not re.search(rf"\b{re.escape(child.name)}/", text):
                yield f"{folder}/README.md: does not name its folder {child.name}/"
    for readme in listed_files(root):
        if readme.suffix == ".md":
            for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", readme.read_text()):
                if "://" not in link and not (readme.parent / link).exists():
                    yield f"{readme.relative_to(root)}: points at {link}, which does not exist"


def rule_length(root, options):
    for path in listed_files(root):
        if path.suffix in CODE_SUFFIXES:
            lines = len(path.read_text().splitlines())
            if lines > MAX_LINES:
                yield f"{path.relative_to(root)}: {lines} lines, over {MAX_LINES}: two ideas in one file?"


def rule_format(root, options):
    for path in listed_files(root):
        if not is_text(path):
            continue
        relative, text = path.relative_to(root), path.read_text()
        if text and not text.endswith("\n"):
            yield f"{relative}: does not end with a newline"
        for number, line in enumerate(text.split("\n"), 1):
            if "\t" in line:
                yield f"{relative}:{number}: a tab"
            if line != line.rstrip():
                yield f"{relative}:{number}: blanks at the end of the line"
            if path.suffix in CODE_SUFFIXES and len(line) > MAX_COLUMNS:
                yield f"{relative}:{number}: {len(line)} columns, over {MAX_COLUMNS}"
        if path.suffix in (".c", ".h") and not text.startswith("/*"):
            yield f"{relative}:1: the file does not open with a comment that says what it is"


def rule_tests(root, options):
    """Every test_*.c stands where the build looks for it, has tests, and is a test that ctest knows."""
    for path in listed_files(root / "tests"):
        relative = path.relative_to(root)
        if not (path.name.startswith("test_") and path.suffix == ".c") or path.name == "test_main.c":
            continue
        floor = relative.parts[1]
        if len(relative.parts) != 3 or floor not in TEST_FLOORS:
            yield f"{relative}: not in tests/{{{','.join(TEST_FLOORS)}}}, so it is never built"
            continue
        table = re.search(r"test_cases\[\]\s*=\s*\{(.*?)\};", path.read_text(), re.S)
        if not table or not re.search(r'\{\s*"', table.group(1)):
            yield f"{relative}: has no tests in a table test_cases[]"
        if options.ctest is not None and f"{floor}.{path.stem}" not in options.ctest:
            yield f"{relative}: ctest has no test {floor}.{path.stem}"


RULES = [rule_includes, rule_symbols, rule_headers, rule_readmes, rule_length, rule_format, rule_tests]


def parse_archive(text):
    floor, _, path = text.partition("=")
    if floor not in FORBIDDEN_SYMBOLS or not path:
        raise argparse.ArgumentTypeError(f"FLOOR=LIB.a with FLOOR of {' '.join(FORBIDDEN_SYMBOLS)}, not '{text}'")
    return floor, path


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--archive", type=parse_archive, action="append", default=[])
    parser.add_argument("--cc")
    parser.add_argument("--include", type=Path, action="append", default=[])
    parser.add_argument("--ctest-folder", help="build folder whose tests `ctest -N` lists")
    options = parser.parse_args(arguments)
    options.ctest = None
    if options.ctest_folder:
        command = ["ctest", "--test-dir", options.ctest_folder, "-N"]
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        options.ctest = set(re.findall(r"Test\s+#\d+: (\S+)", listing))
    return options


def main(arguments):
    options = parse_options(arguments)
    n_findings = 0
    for rule in RULES:
        for finding in rule(options.root, options):
            print(f"{rule.__name__[5:]}: {finding}")
            n_findings += 1
    print(f"{n_findings} findings by {len(RULES)} rules")
    return 1 if n_findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

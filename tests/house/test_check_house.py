#!/usr/bin/env python3
"""Proves that each rule of check_house.py can fail: a small clean house passes, and each fault seeded into it is found
by exactly the rule that is meant for it."""
import argparse
import subprocess
import tempfile
import unittest
from pathlib import Path

import check_house

HEADER = "/* {0} */\n#ifndef {1}\n#define {1}\nint {2}(void);\n#endif\n"
CLEAN = {
    "include/starfold/error.h": HEADER.format("Errors.", "SF_ERROR_H", "sf_error_check"),
    "src/core/base/stream.h": HEADER.format("Streams.", "SF_STREAM_H", "sf_stream_next"),
    "src/core/base/stream.c": '/* Streams. */\n#include "core/base/stream.h"\nint sf_stream_next(void) { return 0; }\n',
    "src/core/puzzle/puzzle.h": '/* Puzzles. */\n#include "core/base/stream.h"\n',
    "src/core/puzzle/hp.h": "/* One kind. */\nextern int sf_hp;\n",
    "src/core/search/search.h": '/* Search. */\n#include "core/puzzle/puzzle.h"\n#include "starfold/error.h"\n',
    "src/io/file.h": '/* Files. */\n#include "core/search/search.h"\n',
    "src/dist/comm.h": '/* Ranks. */\n#include "core/search/search.h"\n',
    "src/app/app.h": '/* The program. */\n#include "io/file.h"\n#include "dist/comm.h"\n',
    "src/README.md": "core/ io/ dist/ app/\n",
    "jobs/README.md": "jobs\n",
    "analysis/README.md": "analysis\n",
    "tests/README.md": "core/\n",
    "tests/core/test_stream.c": '/* T. */\nconst test_case test_cases[] = {{"next", next}, {NULL, NULL}};\n',
}


class House(unittest.TestCase):
    def findings(self, changes=None, floors=None):
        """{rule: [finding]} of the clean house with these files changed; floors: {floor: C source} to compile."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in {**CLEAN, **(changes or {})}.items():
                if text is not None:
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    (root / name).write_text(text)
            archives = [(floor, self.archive(root, floor, source)) for floor, source in (floors or {}).items()]
            options = argparse.Namespace(root=root, cc="cc", include=[], archive=archives, ctest={"core.test_stream"})
            found = {rule.__name__[5:]: list(rule(root, options)) for rule in check_house.RULES}
        return {name: lines for name, lines in found.items() if lines}

    @staticmethod
    def archive(root, floor, source):
        built = root / "build"
        built.mkdir(exist_ok=True)
        (built / "part.c").write_text(source)
        subprocess.run(["cc", "-w", "-fno-builtin", "-c", "part.c", "-o", f"{floor}.o"], cwd=built, check=True)
        subprocess.run(["ar", "rc", f"{floor}.a", f"{floor}.o"], cwd=built, check=True)
        return str(built / f"{floor}.a")

    def assert_found(self, rule, text, changes=None, floors=None):
        found = self.findings(changes, floors)
        self.assertEqual(list(found), [rule], found)
        self.assertEqual(len(found[rule]), 1, found)
        self.assertIn(text, found[rule][0])

    def assert_include_found(self, path, line, text):
        # `rule_headers` is about something else: the included file exists and compiles.
        self.assert_found("includes", text, {path: f"/* Seeded. */\n{line}\n"})

    def test_clean_house_passes(self):
        sources = {floor: "int sf_part(void);\nint sf_part(void) { return 0; }\n" for floor in ("core", "io", "dist")}
        self.assertEqual(self.findings(floors=sources), {})

    def test_floors(self):
        self.assert_include_found("src/core/base/up.c", '#include "io/file.h"', "core may include only")
        self.assert_include_found("src/io/up.c", '#include "dist/comm.h"', "io may include only")
        self.assert_include_found("src/dist/up.c", '#include "io/file.h"', "dist may include only")
        self.assert_include_found("src/io/up.c", '#include "../app/app.h"', "io may include only")
        self.assert_include_found("include/starfold/up.h", '#include "core/base/stream.h"', "public may include only")

    def test_core_order(self):
        self.assert_include_found("src/core/base/up.c", '#include "core/puzzle/puzzle.h"', "core/base may include only")
        self.assert_include_found("src/core/engines/up.c", '#include "../search/search.h"', "core/engines may include")
        self.assert_include_found("src/core/extra/up.c", '#include "core/base/stream.h"', "no folder 'extra'")
        self.assert_include_found("src/core/search/up.c", '#include "core/puzzle/hp.h"', "only core/puzzle/puzzle.h")

    def test_libraries(self):
        self.assert_include_found("src/core/base/up.c", "#include <mpi.h>", "MPI belongs to")
        self.assert_include_found("src/io/up.c", "#include <mpi.h>", "MPI belongs to")
        self.assert_include_found("src/app/up.c", "#include <hdf5.h>", "HDF5 belongs to io")
        self.assert_include_found("src/dist/up.c", "#include <H5public.h>", "HDF5 belongs to io")

    def test_unknown_places(self):
        self.assert_include_found("src/core/base/up.c", '#include "stdio.h"', "no such file")
        self.assert_found("includes", "stands on no floor", {
            "src/attic/up.c": "/* Seeded. */\n", "src/README.md": "core/ io/ dist/ app/ attic/\n"})

    def test_symbols(self):
        for floor, call in [("core", "MPI_Init"), ("core", "H5Fopen"), ("core", "printf"), ("core", "exit"),
                            ("core", "abort"), ("io", "MPI_Init"), ("io", "puts"), ("dist", "H5Fopen"),
                            ("dist", "MPI_Abort"), ("dist", "exit")]:
            with self.subTest(floor=floor, call=call):
                source = f"void {call}();\nvoid sf_part(void);\nvoid sf_part(void) {{ {call}(); }}\n"
                self.assert_found("symbols", call, floors={floor: source})
        self.assert_found("symbols", "stderr", floors={
            "core": "#include <stdio.h>\nvoid sf_part(FILE **f);\nvoid sf_part(FILE **f) { *f = stderr; }\n"})
        self.assert_found("symbols", "start with sf_", floors={"core": "int helper(void) { return 0; }\n"})

    def test_headers(self):
        self.assert_found("headers", "does not compile alone", {"src/io/bad.h": "/* Bad. */\nsize_t sf_bad(void);\n"})

    def test_readmes(self):
        self.assert_found("readmes", "jobs/README.md: missing", {"jobs/README.md": None})
        self.assert_found("readmes", "does not name its folder app/", {"src/README.md": "core/ io/ dist/\n"})
        self.assert_found("readmes", "points at gone.md", {
            "README.md": "[a](gone.md) [b](src/README.md#top) [c](http://x)\n"})

    def test_length_and_format(self):
        self.assert_found("length", "601 lines", {"src/io/long.c": "/* Long. */\n" + "int sf_x;\n" * 600})
        for text, what in [("/* A. */\n\tint sf_x;\n", "a tab"), ("/* A. */\nint sf_x; \n", "blanks at the end"),
                           ("/* " + "a" * 130 + " */\n", "columns"), ("/* A. */", "newline"),
                           ("int sf_x;\n", "comment")]:
            with self.subTest(what=what):
                self.assert_found("format", what, {"src/io/a.c": text})
        self.assert_found("format", "a tab", {"scripts/tool": "#!/bin/sh\n\ttrue\n"})

    def test_tests(self):
        empty = "/* T. */\nconst test_case test_cases[] = {{NULL, NULL}};\n"
        self.assert_found("tests", "has no tests", {"tests/core/test_stream.c": empty})
        for name, what in [("tests/attic/test_a.c", "never built"), ("tests/core/test_a.c", "no test core.test_a")]:
            with self.subTest(what=what):
                readme = {"tests/README.md": "core/ attic/\n"}
                self.assert_found("tests", what, {name: CLEAN["tests/core/test_stream.c"], **readme})


if __name__ == "__main__":
    unittest.main()

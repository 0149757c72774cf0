# SPDX-License-Identifier: Apache-2.0
"""Plants variables that outlive a call in a library, and constants that look like them."""
import subprocess
import unittest

from tree import TreeCase

SCRIPT = "check_globals.py"


class CheckGlobals(TreeCase):
    def library(self, folder, text, compiler="gcc"):
        """Plants src/<folder>/a.c and makes build/release/libweft_<folder>.a of it."""
        source = self.plant(f"src/{folder}/a.c", text)
        build = self.root / "build" / "release"
        build.mkdir(parents=True, exist_ok=True)
        subprocess.run([compiler, "-fPIC", "-O1", "-c", source, "-o", build / "a.c.o"], check=True)
        library = build / f"libweft_{folder}.a"
        library.unlink(missing_ok=True)
        subprocess.run(["ar", "rcs", library, build / "a.c.o"], check=True)

    def test_constants(self):
        self.library("base", "static int f(void) { return 1; }\n"
                             "const int wf_one = 1;\n"
                             "const char *const wf_names[] = { \"a\", \"b\" };\n"
                             "int (*const wf_calls[])(void) = { f };\n")
        self.assert_clean(SCRIPT)

    def test_nothing_built(self):
        self.assert_clean(SCRIPT)

    def test_variables(self):
        for name, text in (
            ("bss", "int wf_x;\n"),
            ("data", "int wf_x = 3;\n"),
            ("thread", "_Thread_local int wf_x;\n"),
            ("pointers", "const char *wf_x[] = { \"a\" };\n"),
            ("static", "static volatile int wf_x;\nint f(void) { return wf_x++; }\n"),
        ):
            with self.subTest(name):
                self.library("wire", text)
                self.assert_finds(SCRIPT, "src/wire/a.c:3", "'wf_x' is a mutable variable")

    def test_static_of_a_function(self):
        self.library("sim", "int f(void)\n{\n\tstatic int calls;\n\treturn calls++;\n}\n")
        self.assert_finds(SCRIPT, "src/sim/a.c:5", "'calls' is a mutable variable")

    def test_the_highest_level_may(self):
        self.library("cli", "int wf_x;\n")
        self.library("compat", "int wf_x;\n")
        self.assert_clean(SCRIPT)


if __name__ == "__main__":
    unittest.main()

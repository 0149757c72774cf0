# SPDX-License-Identifier: Apache-2.0
"""Plants tests that pass or fail for no reason, and some that look like it and are right."""
import unittest

from tree import LICENCE, TreeCase

SCRIPT = "check_bats.py"
HEAD = f"# {LICENCE}\n# x.bats - a file of a test.\n"


class CheckBats(TreeCase):
    def find(self, what, *lines, name="tests/cli/a.bats"):
        """What is wrong is found in the first of the lines of a test."""
        self.plant(name, "@test \"a\" {\n" + "".join(f"\t{line}\n" for line in lines) + "}\n",
                   head=HEAD)
        self.assert_finds(SCRIPT, f"{name}:4", what)

    def clean(self, *lines, name="tests/cli/a.bats"):
        self.plant(name, "@test \"a\" {\n" + "".join(f"\t{line}\n" for line in lines) + "}\n",
                   head=HEAD)
        self.assert_clean(SCRIPT)

    def test_sleep(self):
        self.find("a fixed sleep", "sleep 1", "true")

    def test_sleep_behind_something(self):
        self.find("a fixed sleep", "begin; sleep 0.5", "true")

    def test_sleep_in_common(self):
        self.find("a fixed sleep", "sleep 1", "true", name="tests/live/common.bash")

    def test_sleep_with_a_reason(self):
        self.clean("sleep 1 # time: it is measured", "# time: what is", "# tested", "sleep 2")

    def test_a_program_that_sleeps(self):
        self.clean("sleep 1000 &", "on h1 sh -c 'sleep 1000; true'", "unshare -n sleep 3 &",
                   "cat <<-END", "\tsleep 5", "END", "asleep 1")

    def test_run(self):
        self.find("nobody looks at the status", "run weft list", "[[ \"$output\" == *x* ]]")

    def test_run_before_another(self):
        self.find("nobody looks at the status", "run weft list", "run -0 weft show",
                  "[ \"$status\" -eq 0 ]")

    def test_run_that_is_looked_at(self):
        self.clean("run weft list", "[[ \"$output\" == *x* ]]", "[ \"$status\" -eq 0 ]",
                   "run -1 weft down", "run ! grep -q x y", "\"$WEFT\" run s.yaml")

    def test_true(self):
        self.find("without a word why it may fail", "weft down || true", "true")

    def test_colon(self):
        self.find("without a word why it may fail", "x=$(weft down || :)", "true")

    def test_true_with_a_reason(self):
        self.clean("weft down || true # there may be none", "kill -9 \"$pid\" 2>/dev/null || true",
                   "weft exec sh -c 'x || true'")

    def test_true_in_teardown(self):
        self.plant("tests/cli/a.bats", "teardown() {\n\tweft down || true\n}\n", head=HEAD)
        self.assert_clean(SCRIPT)

    def test_and(self):
        self.find("heard by nobody", "[ \"$status\" -eq 2 ] && says \"$err\" \"x\"", "true")

    def test_and_that_is_heard(self):
        self.clean("if [ a ] && [ b ]; then", "\ttrue", "fi", "[ a ] && [ b ] || false",
                   "[[ a && b ]]", "while true; do", "\tx && break", "done",
                   "says \"a && b\"", "f() { x && y; }", "[ a ] && [ b ]")

    def test_loop(self):
        self.find("checks nothing when its list is empty", "for f in $(ls x); do", "\tgrep -q a \"$f\"",
                  "done")

    def test_loop_that_is_not_empty(self):
        self.clean("for f in $(seq 3); do", "\tgrep -q a \"$f\"", "done",
                   "# some: the last line counted them", "for f in $(ls x); do", "\tgrep -q a \"$f\"",
                   "done", "for f in $(ls x); do", "\trm \"$f\"", "done")

    def test_c(self):
        self.plant("tests/unit/a.c", "\tusleep(5);\n")
        self.assert_finds(SCRIPT, "tests/unit/a.c:3", "a fixed sleep")

    def test_c_with_a_reason(self):
        self.plant("tests/unit/a.c", "\tusleep(5); /* time: it passes */\n"
                   "\t/* time: it passes */\n\tnanosleep(&t, NULL);\n\tasleep(5);\n")
        self.assert_clean(SCRIPT)

    def test_python(self):
        self.plant("tests/live/a.py", "time.sleep(5)\n", head=HEAD)
        self.assert_finds(SCRIPT, "tests/live/a.py:3", "a fixed sleep")


if __name__ == "__main__":
    unittest.main()

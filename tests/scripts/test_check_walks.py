# SPDX-License-Identifier: Apache-2.0
"""Plants walks through code, with steps that are there and steps that are not."""
import unittest

from tree import TreeCase

SCRIPT = "check_walks.py"
DOC = "docs/architecture.md"


class CheckWalks(TreeCase):
    def walk(self, *steps):
        self.plant(DOC, "".join(f"{line}\n" for line in ("```", *steps, "```")), head="")

    def test_steps_that_are_there(self):
        self.plant("src/base/a.c", "static int f(void)\n{\n\treturn g();\n}\n\nint wf_h(int a)\n{\n}\n")
        self.walk("base/a.c    f() wf_h()   says it", "---", "then it is over")
        self.assert_clean(SCRIPT)

    def test_a_call_is_not_enough(self):
        self.plant("src/base/a.c", "static int f(void)\n{\n\treturn g();\n}\n")
        self.walk("base/a.c    f() g()")
        self.assert_finds(SCRIPT, f"{DOC}:2", "g() is not in src/base/a.c")

    def test_no_such_file(self):
        self.walk("base/b.c    f()")
        status, lines = self.check(SCRIPT)
        self.assertEqual(status, 1)
        self.assertEqual(lines[0], f"{DOC}:2: there is no src/base/b.c")

    def test_text_is_no_step(self):
        self.plant(DOC, "base/b.c  f() is told of here\n", head="")
        status, lines = self.check(SCRIPT)
        self.assertEqual(status, 1)
        self.assertIn("there is no walk", lines[0])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Plants comments in lines that are too long, and lines that may be as long."""
import unittest

from tree import TreeCase

SCRIPT = "check_comments.py"


def wide(columns, first="/* ", last=" */", tabs=0):
    """A line of that many columns, with tabs in front."""
    return "\t" * tabs + first + "x" * (columns - 8 * tabs - len(first + last)) + last + "\n"


class CheckComments(TreeCase):
    def test_hundred_passes(self):
        self.plant("src/base/a.c", wide(100) + wide(100, tabs=3) + "/*\n" + wide(100, " * ", "") +
                   " */\n")
        self.assert_clean(SCRIPT)

    def test_too_long(self):
        self.plant("src/base/a.c", "int x;\n" + wide(101))
        self.assert_finds(SCRIPT, "src/base/a.c:4", "a line of 101 characters; at most 100")

    def test_tabs_count_eight(self):
        self.plant("include/weft/a.h", wide(101, tabs=2))
        self.assert_finds(SCRIPT, "include/weft/a.h:3", "a line of 101 characters")

    def test_inside_of_a_block(self):
        self.plant("tests/unit/a.c", "/*\n * x\n" + wide(110, " * ", "") + " */\n")
        self.assert_finds(SCRIPT, "tests/unit/a.c:5", "a line of 110 characters")

    def test_behind_code(self):
        self.plant("bench/a.c", wide(105, "int x; /* ", " */"))
        self.assert_finds(SCRIPT, "bench/a.c:3", "a line of 105 characters")

    def test_two_comments_in_a_line_are_one(self):
        self.plant("src/base/a.c", wide(105, "/* a */ int x; /* ", " */"))
        self.assert_finds(SCRIPT, "src/base/a.c:3", "a line of 105 characters")

    def test_rest_of_line_comments(self):
        self.plant("fuzz/a.c", wide(120, "// ", ""))
        self.assert_finds(SCRIPT, "fuzz/a.c:3", "a line of 120 characters")

    def test_text_is_no_comment(self):
        self.plant("src/base/a.c", wide(120, 'char x[] = "/* ', ' */";'))
        self.assert_clean(SCRIPT)

    def test_letters_count_not_bytes(self):
        self.plant("src/base/a.c", "/* " + "µ" * 94 + " */\n")
        self.assert_clean(SCRIPT)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Plants functions and files that are too long, and tables that may be."""
import unittest

from tree import TreeCase

SCRIPT = "check_sizes.py"


def body(lines):
    return "".join(f"\tuse({i});\n" for i in range(lines))


def function(lines, first="int wf_f(int a)"):
    """A function of that many lines in all, its first line and its braces included."""
    return f"{first}\n{{\n{body(lines - 3)}}}\n"


class CheckSizes(TreeCase):
    def test_short(self):
        self.plant("src/base/a.c", function(60) + "\n" + function(60, "static void wf_g(void)"))
        self.assert_clean(SCRIPT)

    def test_long_is_mentioned(self):
        self.plant("src/base/a.c", function(61))
        status, lines = self.check(SCRIPT)
        self.assertEqual(status, 0)
        self.assertEqual(lines, ["src/base/a.c:3: warning: wf_f() has 61 lines; 60 is better"])

    def test_hundred_passes(self):
        self.plant("src/base/a.c", function(100))
        self.assertEqual(self.check(SCRIPT)[0], 0)

    def test_too_long(self):
        self.plant("src/base/a.c", "int x;\n\n" + function(101))
        self.assert_finds(SCRIPT, "src/base/a.c:5", "wf_f() has 101 lines; at most 100")

    def test_signature_on_many_lines_counts(self):
        self.plant("src/base/a.c", function(100, "static struct wf_x *wf_f(int a,\n\tint b)"))
        self.assert_finds(SCRIPT, "src/base/a.c:3", "wf_f() has 101 lines")

    def test_attributes_in_front(self):
        first = "__attribute__((noinline)) WF_MUST_USE int wf_f(struct wf_x *x)"
        self.plant("src/base/a.c", function(101, first))
        self.assert_finds(SCRIPT, "src/base/a.c:3", "wf_f() has 101 lines")

    def test_braces_in_text_do_not_count(self):
        odd = 'int wf_f(void)\n{\n\tputs("{{{ // \\" /*");\n\t/* { */ // {\n\tputc(\'{\');\n}\n'
        self.plant("src/base/a.c", odd + function(101, "int wf_g(void)"))
        self.assert_finds(SCRIPT, "src/base/a.c:9", "wf_g() has 101 lines")

    def test_branches_of_the_preprocessor(self):
        text = ("#ifdef A\nint wf_f(int a) {\n#else\nint wf_f(void) {\n#endif\n\treturn 0;\n}\n"
                "#define M(x) \\\n\tdo { \\\n\t\tx\n")
        self.plant("src/base/a.c", text + function(101, "int wf_g(void)"))
        self.assert_finds(SCRIPT, "src/base/a.c:13", "wf_g() has 101 lines")

    def test_for_loops_and_structs(self):
        text = ("struct __attribute__((aligned(64))) wf_x {\n\tint (*f)(int);\n};\n"
                "enum wf_e { A, B };\n"
                "int wf_f(void)\n{\n\tfor (int i = 0; i < 3; i++) {\n\t\tuse(i);\n\t}\n}\n")
        self.plant("src/base/a.c", text + function(101, "int wf_g(void)"))
        self.assert_finds(SCRIPT, "src/base/a.c:13", "wf_g() has 101 lines")

    def test_inline_in_a_header_for_both_languages(self):
        self.plant("include/weft/a.h", '#ifdef __cplusplus\nextern "C" {\n#endif\n'
                   + function(101, "static inline int wf_f(void)")
                   + "#ifdef __cplusplus\n}\n#endif\n")
        self.assert_finds(SCRIPT, "include/weft/a.h:6", "wf_f() has 101 lines")

    def test_file(self):
        self.plant("src/base/a.c", "int x;\n" * 998)
        self.assert_clean(SCRIPT)
        self.plant("src/base/a.c", "int x;\n" * 999)
        self.assert_finds(SCRIPT, "src/base/a.c:1", "1001 lines", "at most 1000")

    def test_header(self):
        self.plant("include/weft/a.h", "int x;\n" * 299)
        self.assert_finds(SCRIPT, "include/weft/a.h:1", "301 lines", "at most 300")

    def test_tables_do_not_count(self):
        rows = "\t{ 1, { 2, 3 } },\n" * 2000
        self.plant("src/base/a.c", f"static const struct wf_row rows[] = {{\n{rows}}};\n")
        self.plant("tests/unit/base/test_a.c",
                   f"static void test_a(void **state)\n{{\n\tconst int t[] = {{\n{rows}\t}};\n}}\n")
        self.assert_clean(SCRIPT)

    def test_code_after_a_table_counts(self):
        table = "static const int t[] = {\n\t1,\n\t2,\n};\n"
        self.plant("src/base/a.c", table + function(101))
        self.assert_finds(SCRIPT, "src/base/a.c:7", "wf_f() has 101 lines")


if __name__ == "__main__":
    unittest.main()

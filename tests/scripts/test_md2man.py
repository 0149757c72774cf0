# SPDX-License-Identifier: Apache-2.0
"""What Markdown becomes in a manual page; and that a page is not made of docs that are not true."""
import pathlib
import subprocess
import sys
import unittest

from tree import ROOT, TreeCase

sys.path.insert(0, str(ROOT / "scripts"))
import md2man  # noqa: E402

HEAD = "<!-- man: weft-x: what it is -->\n\n# Title\n\n"
SCHEMA = '''const char *const wf_record_schema[] = {
	"PRAGMA user_version = 6",

	/*
	 * Things, a row each. And more of them.
	 */
	"CREATE TABLE thing (\\n"
	"\\tid   INTEGER PRIMARY KEY,\\n"
	"\\tname TEXT NOT NULL,    -- 'a', and\\n"
	"\\t                       -- so on\\n"
	"\\t" WF_RECORD_COLUMN_SIZE ",\\n"
	"\\tPRIMARY KEY (name, size)\\n"
	")",
	NULL,
};
'''.replace("INTEGER PRIMARY KEY", "INTEGER")
# What a column is may have a name.
HEADER = '''#define WF_RECORD_OLDEST 6
#define WF_RECORD_COLUMN_SIZE "size REAL /* how large */"
'''
RESULTS = HEAD + '''## Tables

<!-- man: put tables -->
<!-- man: omit -->
| table | a row is | columns |
|---|---|---|
| `thing` | one | `id`, `name` (`a`, `b`), `size` |

<!-- man: end -->
'''


def body(markdown):
    """The page without what every page begins with."""
    return md2man.page(HEAD + markdown, "5", "x.md").split("what it is\n", 1)[1]


class Md2Man(unittest.TestCase):
    def shows(self, markdown, want):
        """What people see of it at 60 columns, without the heading that text without one gets."""
        page = md2man.page(HEAD + markdown, "5", "x.md")
        command = ["groff", "-ww", "-t", "-man", "-Tutf8", "-P-cbou", "-rcR=1", "-rLL=60n"]
        made = subprocess.run(command, input=page, text=True, capture_output=True, check=True)
        self.assertEqual(made.stderr, "")
        lines = made.stdout.split("what it is\n\n")[1].split("\nweft")[0].rstrip().removeprefix("DESCRIPTION\n")
        self.assertEqual("\n".join(line.rstrip() for line in lines.split("\n")), want.strip("\n"))

    def test_paragraphs_and_sections(self):
        self.shows("One.\nTwo.\n\nThree.\n\n## A *part*: b\n\nFour.\n\n### Less\n\nFive.\n",
                   "       One.  Two.\n\n       Three.\n\nA PART: B\n       Four.\n\n   Less\n       Five.")

    def test_code_is_as_it_is(self):
        code = "a: {b: 1}   # 'c' `d` ~e^ \\f -g --h\n.i\n'j\n\n\tk"
        want = "\n".join("           " + line.expandtabs(4) if line else "" for line in code.split("\n"))
        self.shows(f"```yaml\n{code}\n```\n", want)
        self.shows("Before:\n\n\t.a\n\n\t  b\n\nAfter.", "       Before:\n\n           .a\n\n             b\n\n       After.")

    def test_words(self):
        self.assertIn("\\fB\\-\\-out\\fR and \\fBstrong\\fR, \\fIsoft\\fR 2*3*4 a_b_c", body("`--out` and **strong**, *soft* 2*3*4 a_b_c"))
        self.assertIn("\\fBa*b*c\\fR", body("`a*b*c`"))
        self.assertIn("\\fBx, \\(gay\\fR".replace("\\(ga", ""), body("**x, `y`**"))
        self.assertIn("10 \\[u00B5]s \\[u2013] a ... \\e", body("10 µs – a … \\"))
        self.shows("`.x` is\n.y and 'z\n", "       .x is .y and 'z")
        self.shows("'z", "       'z")

    def test_links(self):
        self.shows("See [jobs.md](jobs.md), [the model](jobs.md#a), [scenario.md](scenario.md).",
                   "       See docs/jobs.md, the model (docs/jobs.md),\n       weft-scenario(5).")
        self.shows("[A](https://a.b/c) `[d](e)`", "       A (https://a.b/c) [d](e)")

    def test_lists(self):
        self.shows("- **One**: a\n  b\n- Two\n\nThen.", "       • One: a b\n\n       • Two\n\n       Then.")

    def test_tables(self):
        self.shows("| a | b |\n|---|---|\n| `c` | d \\| e |\n| f | g |\n", "       c      d | e\n\n       f      g")
        self.assertIn("a\tb\tc\n1\t\t3\n.TE\n.PP\nThen.", body("| a | b | c |\n|---|---|---|\n| 1 | | 3 |\n\nThen."))
        self.shows("| a | b | c |\n|---|---|---|\n| 1 | " + "2 " * 20 + "| 3 |\n",
                   "       a   b                         c\n       1   2 2 2 2 2 2 2 2 2 2 2 2   3\n           2 2 2 2 2 2 2 2")
        self.shows("| a | b | c | d |\n|---|---|---|---|\n| 1 | 2 | | 4 |\n", "       1      b: 2\n              d: 4")

    def test_directives(self):
        page = md2man.page(HEAD + "A.\n\n<!-- man: put x -->\n<!-- man: omit -->\nB.\n\n<!-- man: end -->\nC.\n"
                           "<!-- D -->\n<!-- man: see a-b(1), c(5) -->\n", "5", "x.md", {"x": [".SS Put"]})
        self.assertIn("A.\n.SS Put\nC.\n.SH SEE ALSO\n.BR a\\-b (1),\n.BR c (5)\n", page)
        self.assertNotIn("B.", page)
        self.assertNotIn("D", page.split("DESCRIPTION")[1].split("SEE")[0])
        with self.assertRaises(ValueError):
            md2man.page("# Title\n", "5", "x.md")


PER = {"fabric.ecn.b": '["host", "port"]', "fabric.ecn.c": '["switch"]'}


class Man5(TreeCase):
    def make(self, results=RESULTS, schema=SCHEMA):
        self.plant("docs/results.md", results, head="")
        self.plant("src/results/record_schema.c", schema)
        self.plant("src/results/record_priv.h", HEADER)
        status, said = self.check("man5.py", "results", str(self.root / "out.5"))
        out = self.root / "out.5"
        return status, "\n".join(said), out.read_text() if out.exists() else ""

    def test_tables(self):
        status, said, out = self.make()
        self.assertEqual((status, said), (0, ""))
        self.assertIn(".SS thing\nThings, a row each.\nAnd more of them.\n", out)
        self.assertIn("id\tinteger\t\nname\ttext\t\\&'a', and so on\nsize\treal\thow large\n.TE\n", out)

    def test_docs_lack_a_column(self):
        status, said, out = self.make(RESULTS.replace(", `size`", ""))
        self.assertEqual((status, out), (1, ""))
        self.assertIn("docs/results.md: table thing has the columns id, name, size", said)

    def test_docs_have_a_table_more(self):
        status, said, _ = self.make(RESULTS.replace("| `thing`", "| `other` | one | `a` |\n| `thing`"))
        self.assertEqual(status, 1)
        self.assertIn("docs/results.md: there is no table other", said)

    def test_docs_lack_a_table(self):
        more = SCHEMA.replace("\tNULL,\n", '\t"CREATE TABLE more (\\n"\n\t"\\ta INTEGER\\n"\n\t")",\n\tNULL,\n')
        status, said, _ = self.make(schema=more)
        self.assertEqual(status, 1)
        self.assertIn("docs/results.md: table more has the columns a", said)

    def test_parameters(self):
        names = ["name", "run.until", "compare.seeds", "topology.kind", "fabric.mtu", *(f"fabric.ecn.{c}" for c in "abcd")]
        rows = [f'{{"name": "{n}", "unit": "time", "default": "1-2", "range": "0ps..1us|auto", "help": "h of {n}", '
                f'"per": {PER.get(n, "[]")}, "changes": {"false" if n.endswith("c") else "true"}}}' for n in names]
        parameters = self.plant("p.json", '{"parameters": [' + ",".join(rows) + "]}", head="")
        self.plant("docs/scenario.md", HEAD + "<!-- man: put parameters -->\n", head="")
        out = self.root / "out.5"
        self.assertEqual(self.check("man5.py", "scenario", str(out), str(parameters))[0], 0)
        self.assertIn(".TP\n\\fBfabric.ecn.a\\fR\nh of fabric.ecn.a.\nDefault \\fB1\\-2\\fR; 0ps to 1us, or auto (time).\n",
                      out.read_text())
        self.assertIn("or auto (time). Of each host, port; may change.\n.TP\n\\fBfabric.ecn.c", out.read_text())
        self.assertIn("or auto (time). Of each switch.\n.TP\n\\fBfabric.ecn.d", out.read_text())
        sections = [line[4:] for line in out.read_text().splitlines() if line.startswith(".SS")]
        self.assertEqual(sections, ["name and seed", "run and compare", "topology", "fabric", "fabric.ecn"])


if __name__ == "__main__":
    unittest.main()

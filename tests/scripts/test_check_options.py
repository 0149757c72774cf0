# SPDX-License-Identifier: Apache-2.0
"""Plants tables of options that do not agree with each other or with their pages."""
import json
import shutil
import unittest

from tree import TreeCase

SCRIPT = "check_options.py"


def option(name, letter="", argument="", help="Does it.", old="", old_letter="", gone=False):
    return {"name": name, "letter": letter, "argument": argument, "help": help, "more": "", "old": old,
            "old_letter": old_letter, "required": False, "repeatable": False, "gone": gone}


def command(name, *options, text=None, roff=None):
    """A command whose two pages are made from its options, unless they are given."""
    shown = [o for o in options if not o["gone"]]
    heads = [("-%s, " % o["letter"] if o["letter"] else "    ") + "--" + o["name"] + " " + o["argument"]
             for o in shown]
    lines = "".join("  %s\n        %s\n" % (head, o["help"]) for head, o in zip(heads, shown))
    items = "".join(".TP\n%s\n%s\n" % (head.strip().replace("-", "\\-"), o["help"])
                    for head, o in zip(heads, shown))
    return {"name": name, "summary": "do it", "operands": "", "options": list(options),
            "text": text or f"usage: weft {name}\n\nText.\n\nOptions:\n{lines}\nSee also:\n  weft(1)\n",
            "roff": roff or f".TH WEFT 1 \"\" \"weft\" \"\"\n.SH NAME\nweft \\- do it\n.SH SYNOPSIS\n"
                            f"weft {name}\n.SH DESCRIPTION\nText.\n.SH OPTIONS\n{items}"
                            ".SH SEE ALSO\nweft(1)\n"}


@unittest.skipIf(shutil.which("mandoc") is None, "mandoc is missing")
class CheckOptions(TreeCase):
    def found(self, *commands, **others):
        """What the check prints of these tables."""
        (self.root / "tables.json").write_text(json.dumps({"commands": commands, **others}))
        status, lines = self.check(SCRIPT, "tables.json")
        self.assertEqual(status, 1 if lines else 0, lines)
        return lines

    def test_agreement(self):
        out = option("out", "o", "PATH")
        self.assertEqual(self.found(command("run", out, option("ports")), command("report", out)), [])

    def test_another_letter(self):
        self.assertEqual(
            self.found(command("run", option("name", "n", "NAME")), command("up", option("name", "N", "NAME"))),
            ["weft up: --name has another letter than in weft run: 'N', not 'n'"])

    def test_another_argument(self):
        lines = self.found(command("run", option("out", argument="FILE")), command("up", option("out")))
        self.assertEqual(lines, ["weft up: --out has another argument than in weft run: '', not 'FILE'"])

    def test_another_meaning(self):
        lines = self.found(command("run", option("threads", help="Of one.")),
                           command("sweep", option("threads", help="At once.")))
        self.assertEqual(
            lines, ["weft sweep: --threads has another meaning than in weft run: 'At once.', not 'Of one.'"])

    def test_a_letter_for_two(self):
        lines = self.found(command("run", option("name", "n")), command("perf", option("iters", "n")))
        self.assertEqual(lines, ["weft perf: -n is --iters, and --name in weft run"])

    def test_an_old_letter_may_be_anothers(self):
        self.assertEqual(self.found(command("run", option("name", "n")),
                                    command("perf", option("iters", old_letter="n"))), [])

    def test_a_spelling_twice(self):
        lines = self.found(command("run", option("out", "o"), option("only", old_letter="o")))
        self.assertEqual(lines, ["weft run: -o is there 2 times"])
        lines = self.found(command("run", option("out"), option("output", old="out")))
        self.assertEqual(lines, ["weft run: --out is there 2 times"])

    def test_undocumented(self):
        rows = [option("out", "o"), option("secret")]
        hidden = command("run", rows[0])
        self.assertEqual(self.found(dict(hidden, options=rows)), ["weft run: its page says nothing of --secret"])
        self.assertEqual(self.found(dict(hidden, options=[])), ["weft run: its page has --out, which is no option"])
        self.assertEqual(self.found(command("run", option("out", help=" "))), ["weft run: --out has no help"])

    def test_what_is_gone(self):
        self.assertEqual(self.found(command("run", option("out"), option("drop-in", gone=True))), [])
        told = command("run", option("drop-in"))
        told["options"][0]["gone"] = True
        self.assertEqual(self.found(told), ["weft run: --drop-in is of an older version, and its page tells of it"])

    def test_pages_that_differ(self):
        page = command("run", option("out", "o", "PATH"))
        said = dict(page, text=page["text"].replace("Text.", "Text. And more."))
        self.assertEqual(self.found(said), ["weft run: only its help has and, more."])
        # A line that begins with a full stop is a request to roff, and is lost.
        lost = dict(page, roff=page["roff"].replace("Does it.", "Does\n.it"))
        self.assertEqual(self.found(lost), ["weft run: only its help has it."])
        overview = {"text": page["text"], "roff": said["roff"].replace("Text.", "Words.")}
        self.assertEqual(self.found(page, overview=overview),
                         ["weft: only its help has text.", "weft: only its manual has words."])
        older = dict(page, roff=page["roff"].replace(".SH SEE", ".SH BUGS\nNone.\n.SH SEE"))
        self.assertEqual(self.found(older), ["weft run: only its manual has bugs, none."])


if __name__ == "__main__":
    unittest.main()

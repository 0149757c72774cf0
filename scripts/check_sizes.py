#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_sizes.py [ROOT] - fail when a function, a .c file or a header is too long.

A function is at most 100 lines from its first line to its closing brace, and is mentioned when it
is over 60; a .c file is at most 1000 lines and a header 300. The lines of brace-initialised tables
do not count. The reader knows just enough C for this: comments, literals, directives, braces.
"""
import pathlib
import re
import sys

FUNCTION_HARD = 100
FUNCTION_SOFT = 60
FILE_LINES = {".c": 1000, ".h": 300}
FOLDERS = ("src", "include", "tests", "bench", "fuzz")

DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:[^\n]*\\\n)*[^\n]*", re.M)
COMMENT_OR_LITERAL = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
TOKEN = re.compile(r'@[ien]|\n|\w+|""|\S')


def blank(match):
    """The same lines without their text; a literal stays one token."""
    text = match[0]
    lines = "\n" * text.count("\n")
    return lines if text.startswith("/") else '""'


def blank_directive(match):
    """A conditional becomes a mark that the reader understands; the rest goes."""
    marks = {"if": "@i ", "ifdef": "@i ", "ifndef": "@i ", "else": "@e ", "elif": "@e ",
             "endif": "@n "}
    return marks.get(match[1], "") + "\n" * match[0].count("\n")


def tokens(text):
    """Yields (line, token) of what is left without comments and directives."""
    text = COMMENT_OR_LITERAL.sub(blank, text)
    text = DIRECTIVE.sub(blank_directive, text)
    line = 1
    for match in TOKEN.finditer(text):
        if match[0] == "\n":
            line += 1
        else:
            yield line, match[0]


class Reader:
    """Follows the braces of one file and notes its functions and tables."""

    def __init__(self):
        self.open = []  # (kind, first line, name) of each brace that is open
        self.saved = []  # copies of open, for #else
        self.before = []  # tokens of the statement so far
        self.first = 0  # its first line
        self.functions = []  # (name, first line, last line)
        self.tables = []  # (first line, last line)

    def kind(self):
        """What an opening brace after the tokens in before is, and a function's name."""
        before = self.before
        if self.inside("table") or before[-1:] == ["="]:
            return "table", ""
        if before[:1] == ["extern"] and before[-1:] == ['""']:
            return "extern", ""
        if all(kind == "extern" for kind, _, _ in self.open) and self.declares_function():
            return "function", self.function_name()
        return "block", ""

    def inside(self, kind):
        return bool(self.open) and self.open[-1][0] == kind

    def declares_function(self):
        """Whether before reads like `int f(void)`, attributes included."""
        before = self.before
        if "(" not in before or "=" in before:
            return False
        first = before.index("(")
        if first >= 2 and before[first - 2] in ("struct", "union", "enum"):
            return before[first - 1] != "__attribute__"
        return before[-1] == ")" or before[-1].isupper()

    def function_name(self):
        """The first word before a parenthesis that is no attribute and no macro."""
        for word, following in zip(self.before, self.before[1:]):
            if following == "(" and re.match(r"[A-Za-z_]\w*[a-z]", word) and "__attr" not in word:
                return word
        return self.before[0]

    def opened(self, line):
        kind, name = self.kind()
        first = self.first if kind == "function" else line
        self.open.append((kind, first, name))
        self.before = []

    def closed(self, line):
        if not self.open:
            return
        kind, first, name = self.open.pop()
        self.before = []
        if kind == "function":
            self.functions.append((name, first, line))
        elif kind == "table" and not self.inside("table"):
            self.tables.append((first, line))

    def read(self, text):
        for line, token in tokens(text):
            if token == "@i":
                self.saved.append((list(self.open), list(self.before), self.first))
            elif token == "@e" and self.saved:
                state = self.saved[-1]
                self.open, self.before, self.first = list(state[0]), list(state[1]), state[2]
            elif token == "@n" and self.saved:
                self.saved.pop()
            elif token == "{":
                self.opened(line)
            elif token == "}":
                self.closed(line)
            elif token == ";" and self.before.count("(") <= self.before.count(")"):
                self.before = []
            else:
                if not self.before:
                    self.first = line
                self.before.append(token)
        return self


def table_lines(tables, first, last):
    """How many lines between first and last are a table's, its brace lines apart."""
    return sum(max(0, end - start - 1) for start, end in tables if first <= start and end <= last)


def errors(path, shown):
    """Yields (is an error, message) for one file."""
    text = path.read_text(errors="replace")
    reader = Reader().read(text)
    lines = text.count("\n")
    counted = lines - table_lines(reader.tables, 1, lines)
    limit = FILE_LINES[path.suffix]
    if counted > limit:
        yield True, f"{shown}:1: {counted} lines, tables apart; at most {limit}"
    for name, first, last in reader.functions:
        length = last - first + 1 - table_lines(reader.tables, first, last)
        if length > FUNCTION_HARD:
            yield True, f"{shown}:{first}: {name}() has {length} lines; at most {FUNCTION_HARD}"
        elif length > FUNCTION_SOFT:
            yield False, (f"{shown}:{first}: warning: {name}() has {length} lines; "
                          f"{FUNCTION_SOFT} is better")


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    failed = False
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            for bad, message in errors(path, path.relative_to(root)):
                print(message)
                failed = failed or bad
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

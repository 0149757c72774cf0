#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_comments.py [ROOT] - fail when a line with a comment is longer than 100 characters.

clang-format keeps lines of code within 100 columns but does not reflow comments. A tab goes to the
next multiple of 8.
"""
import pathlib
import sys

from check_sizes import COMMENT_OR_LITERAL, FOLDERS

COLUMNS = 100


def long_lines(text):
    """Yields (line number, columns) of the lines that are too long and have a comment in them."""
    lines = text.split("\n")
    seen = 0
    for match in COMMENT_OR_LITERAL.finditer(text):
        if not match[0].startswith("/"):
            continue
        first = text.count("\n", 0, match.start()) + 1
        last = first + match[0].count("\n")
        for number in range(max(first, seen + 1), last + 1):
            columns = len(lines[number - 1].expandtabs(8))
            if columns > COLUMNS:
                yield number, columns
        seen = max(seen, last)


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    failed = False
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]")):
            for number, columns in long_lines(path.read_text(errors="replace")):
                print(f"{path.relative_to(root)}:{number}: a comment in a line of {columns} "
                      f"characters; at most {COLUMNS}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

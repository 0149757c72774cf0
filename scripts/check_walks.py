#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what docs/architecture.md names as a step of a walk is there.

usage: check_walks.py [ROOT]

A step is a line of a code block that begins with a file below src/, followed by functions as name():
each of them has to be defined or declared in that file.
"""

import os
import re
import sys

DOC = "docs/architecture.md"
STEP = re.compile(r"^([a-z0-9_]+(?:/[a-z0-9_]+)*\.[ch])\s+(\S.*)$")
NAME = re.compile(r"\b(\w+)\(\)")


def steps(path):
    """(line number, file, functions) of each step in the code blocks of a page."""
    inside = False
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.startswith("```"):
                inside = not inside
            match = STEP.match(line) if inside else None
            if match:
                yield number, match.group(1), NAME.findall(match.group(2))


def has(text, name):
    """Whether name() begins in text: its line starts at the margin and is no call."""
    return re.search(rf"^\w[^;=\n]*\b{name}\(", text, re.M) is not None


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    found = bad = 0
    doc = os.path.join(root, DOC)
    for number, file, names in steps(doc) if os.path.exists(doc) else []:
        path = os.path.join(root, "src", file)
        if not os.path.exists(path):
            print(f"{DOC}:{number}: there is no src/{file}")
            bad += 1
            continue
        with open(path, encoding="utf-8") as f:
            text = f.read()
        found += len(names)
        for name in names:
            if not has(text, name):
                print(f"{DOC}:{number}: {name}() is not in src/{file}")
                bad += 1
    if os.path.exists(doc) and found == 0:
        print(f"{DOC}:1: there is no walk; its steps are lines of code blocks: file, then name()")
        bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

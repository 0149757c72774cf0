#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_spdx.py [ROOT] - fail when a source or script does not open with its licence and purpose.

The first line (the second, after #!) names the licence; the one after it says what the file is for.
"""
import pathlib
import sys

FOLDERS = ("src", "include", "tests", "bench", "fuzz", "scripts", "cmake", "web", ".ci")
SUFFIXES = {".c", ".h", ".py", ".sh", ".bats", ".cmake", ".js", ".mjs", ".css"}
LICENCE = "SPDX-License-Identifier: Apache-2.0"
MARKS = " \t/*#\"'"


def is_checked(path):
    return path.is_file() and (path.suffix in SUFFIXES or path.parent.name in ("scripts", ".ci"))


def wrong(text, comments):
    """The line and what is wrong with it, or None; a comment starts with one of comments."""
    lines = text.splitlines()[:5]
    number = 1
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
        number = 2
    if not lines or LICENCE not in lines[0]:
        return number, f"the line '{LICENCE}' is missing"
    purpose = [line for line in lines[1:3] if line.strip(MARKS)]
    if not purpose or purpose[0].lstrip()[:1] not in comments:
        return number + 1, "a line that says what the file is for is missing"
    return None


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    failed = False
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if not is_checked(path) or "__pycache__" in path.parts:
                continue
            slashes = path.suffix in (".c", ".h", ".js", ".mjs", ".css")
            comments = ("/", "*") if slashes else ("#", '"')
            found = wrong(path.read_text(errors="replace"), comments)
            if found:
                print(f"{path.relative_to(root)}:{found[0]}: {found[1]}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the prototypes in include/weft into what libweft is linked with.

usage: api_symbols.py HEADER... FOLDER

Writes into FOLDER: weft.map (the version script of the shared library) and weft.keep (what the
static library leaves global). Whatever a header declares is exported, and nothing else.
"""
import re
import sys
from pathlib import Path

# Its number is that of the library's soname: both change when what is there does.
NODE = "WEFT_1"
PROTOTYPE = re.compile(r"(?:^|[\s*])(weft_[a-z0-9_]+)\s*\((?!\s*\*)")


def functions(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    text = text.replace('extern "C" {', "")
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", " ", text)
    for statement in text.split(";"):
        match = PROTOTYPE.search(statement)
        if match and not statement.strip().startswith(("typedef", "static")):
            yield match[1]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    *headers, out = sys.argv[1:]
    names = sorted({name for path in headers for name in functions(Path(path).read_text())})
    if not names:
        sys.exit("api_symbols.py: the headers declare no function")
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    listed = "".join(f"\t\t{name};\n" for name in names)
    (out / "weft.map").write_text(f"{NODE} {{\n\tglobal:\n{listed}\tlocal:\n\t\t*;\n}};\n")
    (out / "weft.keep").write_text("".join(f"{name}\n" for name in names))


if __name__ == "__main__":
    main()

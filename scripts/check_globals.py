#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_globals.py [BUILD] - fail on a variable that outlives a call, in the libraries of BUILD.

Everything below the highest level of scripts/layers.txt hangs on a context that is passed, so that
two fabrics fit in one process. What the compiler put in a writable section is such a variable, be
it at file scope or a `static` in a function; constant tables are in read-only sections, or in
.data.rel.ro where they hold addresses. BUILD is build/release unless told: it has no sanitizers,
which add variables of their own.
"""
import pathlib
import re
import subprocess
import sys

import layers

MEMBER = re.compile(r"^(\S+)\.o:\s+file format")
# Value, flags, section, size, name, as `objdump -t` prints them.
SYMBOL = re.compile(r"^[0-9a-f]+ .{7} (\S+)\t[0-9a-f]+ (?:\.\w+ )?(\S+)$")
WRITABLE = re.compile(r"^(\.(data|bss|tdata|tbss)(\..*)?|\*COM\*)$")


def writable_symbols(library):
    """Yields (source file's name, variable) for all that is in the library's writable sections."""
    command = ["objdump", "-t", str(library)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    source = ""
    for line in text.splitlines():
        member = MEMBER.match(line)
        symbol = SYMBOL.match(line)
        if member:
            source = member[1]
        elif symbol and symbol[2] != symbol[1] and not symbol[1].startswith(".data.rel.ro"):
            if WRITABLE.match(symbol[1]):
                yield source, symbol[2]


def place(sources, source, name):
    """file:line where the variable is first named; objects do not tell for data."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for path in sorted(sources.rglob(source)):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if word.search(line):
                return f"{path}:{number}"
    return f"{sources}/{source}:1"


def errors(library, sources):
    for source, symbol in sorted(set(writable_symbols(library))):
        # A static of a function is `function.name` to clang and `name.number` to gcc.
        name = [part for part in symbol.split(".") if not part.isdigit()][-1]
        yield (f"{place(sources, source, name)}: '{name}' is a mutable variable that outlives a "
               "call; hang it on a context")


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    build = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "build" / "release"
    table, _ = layers.read()
    top = max(layer.level for layer in table.values())
    failed = False
    for folder, layer in table.items():
        library = build / f"libweft_{folder}.a"
        if layer.level == top or not library.exists():
            continue
        for message in errors(library, root / "src" / folder):
            print(message.removeprefix(f"{root}/"))
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_globals.py [BUILD] - fail on a variable that outlives a call, in the libraries of BUILD.

Everything below the highest level of scripts/layers.txt hangs on a context that is passed, so that
two fabrics fit in one process. What the compiler put in a writable section is such a variable, be
it at file scope or a `static` in a function; constant tables are in read-only sections, or in
.data.rel.ro where they hold addresses. BUILD is build/clang unless told: it has neither sanitizers,
which add variables of their own, nor link-time optimisation.
"""
import pathlib
import re
import subprocess
import sys

import layers

# Value, flags, section, size, name, as `objdump -t` prints them.
SYMBOL = re.compile(r"^[0-9a-f]+ .{7} (\S+)\t[0-9a-f]+ (?:\.\w+ )?(\S+)$")
WRITABLE = re.compile(r"^(\.(data|bss|tdata|tbss)(\..*)?|\*COM\*)$")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def writable_symbols(library):
    """The names of the variables in the library's writable sections."""
    for line in run("objdump", "-t", str(library)).splitlines():
        match = SYMBOL.match(line)
        if match is None or match[2] == match[1]:
            continue
        if WRITABLE.match(match[1]) and not match[1].startswith(".data.rel.ro"):
            yield match[2]


def places(library):
    """{name: file:line} from the debug information."""
    found = {}
    for line in run("nm", "-l", str(library)).splitlines():
        text, tab, place = line.partition("\t")
        if tab:
            found[text.split()[-1]] = place
    return found


def errors(library, root):
    names = sorted(set(writable_symbols(library)))
    where = places(library) if names else {}
    for name in names:
        place = where.get(name, f"{library.name}:1").removeprefix(f"{root}/")
        yield f"{place}: '{name}' is a mutable variable that outlives its function; pass a context"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    build = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "build" / "clang"
    table, _ = layers.read()
    top = max(layer.level for layer in table.values())
    failed = False
    for folder, layer in table.items():
        library = build / f"libweft_{folder}.a"
        if layer.level == top or not library.exists():
            continue
        for message in errors(library, root):
            print(message)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

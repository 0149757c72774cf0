#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns src/compat/verbs/symbols.txt into what libibverbs.so.1 is linked with.

usage: verbs_symbols.py SYMBOLS FOLDER

Writes into FOLDER: stubs.c (functions that weft does not have) and ibverbs.map (a linker version
script).
"""
import sys
from pathlib import Path

HEAD = "/* SPDX-License-Identifier: Apache-2.0 */\n/* Made from symbols.txt by verbs_symbols.py. */\n"
BODY = {
    "int": ("int", "return EOPNOTSUPP;"),
    "-1": ("int", "errno = EOPNOTSUPP;\n\treturn -1;"),
    "NULL": ("void *", "errno = EOPNOTSUPP;\n\treturn NULL;"),
    "void": ("void", ""),
}
# Private nodes of rdma-core 25 to 65, and some that may come: they are empty, so that a reference
# to any of them is bound to the definition without a version.
PRIVATE_NODES = range(14, 121)


def read(path):
    rows = []
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) not in (2, 3) or (len(words) == 3 and words[2] not in BODY):
            sys.exit(f"{path}:{number}: a row is: symbol version [int | -1 | NULL | void]")
        rows.append((words[0], words[1], words[2] if len(words) == 3 else None))
    return rows


def stubs(rows):
    text = HEAD + "#include <errno.h>\n#include <stddef.h>\n"
    for name, _, kind in rows:
        kind, body = BODY[kind]
        text += f"\n{kind} {name}(void);\n{kind} {name}(void)\n{{\n\t{body}\n}}\n"
    return text


def version_key(version):
    return [int(part) for part in version.split(".")]


def version_map(public):
    text = ""
    previous = ""
    for version in sorted({v for _, v, _ in public}, key=version_key):
        names = "".join(f"\t\t{n};\n" for n, v, _ in public if v == version)
        text += f"IBVERBS_{version} {{\n\tglobal:\n{names}"
        # What is not listed has no version: private functions, the C library's. Our own is hidden.
        text += "\tlocal:\n\t\twf_*;\n\t\twv_*;\n\t\twx_*;\n" if not previous else ""
        text += f"}}{previous};\n"
        previous = f" IBVERBS_{version}"
    for number in PRIVATE_NODES:
        text += f"IBVERBS_PRIVATE_{number} {{\n}};\n"
    return text


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = read(sys.argv[1])
    out = Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    public = [r for r in rows if r[1] != "private"]
    (out / "stubs.c").write_text(stubs([r for r in rows if r[2]]))
    (out / "ibverbs.map").write_text(version_map(public))


if __name__ == "__main__":
    main()

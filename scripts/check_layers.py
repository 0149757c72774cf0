#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_layers.py [--rights] [ROOT] - fail when a folder includes what it may not.

The table is scripts/layers.txt below ROOT, which is the repository unless told. A file names a
header of weft as "folder/file.h"; <...> is for system headers and for <weft/...>. With
--rights it also fails when the table gives a right that no file of the folder uses, or a link whose
header neither the folder nor one above it includes: the table is what the architecture is, not
what it might be.
"""
import pathlib
import re
import sys

import layers

# What the links of the table are for; of others nothing is known.
LINKS = {"m": {"math.h"}, "threads": {"pthread.h", "threads.h"}, "dl": {"dlfcn.h"},
         "pkg:libfyaml": {"libfyaml.h"}, "pkg:libmicrohttpd": {"microhttpd.h"},
         "pkg:sqlite3": {"sqlite3.h"}, "pkg:zlib": {"zlib.h"}}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:([<"])([^>"]+)[>"]|(\S+))')


def path_name(header):
    return header.rsplit("/", 1)[-1]


class Checker:
    """Knows the table and says what is wrong with an include."""

    def __init__(self, root):
        self.root = root
        self.layers, self.pure = layers.read(root / "scripts" / "layers.txt")
        self.system = layers.read_system(root / "scripts" / "layers.txt")
        self.used = {folder: set() for folder in self.layers}  # folders and headers it includes
        self.system_used = {folder: set() for folder in self.layers}  # system headers, any folder's

    def wrong_system(self, folder, header):
        """Why folder may not include <header>, or None."""
        if folder == "weft":
            allowed, row = self.pure, "include/weft"
        else:
            layer = self.layers[folder]
            self.system_used[folder].add(header)
            if not layer.pure:
                return None
            allowed, row = self.pure | layer.headers, f"{folder}/"
            self.used[folder].add(header)
        if header in allowed:
            return None
        return f"{row} may not include <{header}>: it does no I/O (scripts/layers.txt)"

    def wrong_own(self, folder, header):
        """Why folder may not include "header", or None."""
        target, slash, rest = header.partition("/")
        if not slash or target in (".", ".."):
            return f'"{header}": name a header by its folder, as in "{folder}/{path_name(header)}"'
        if target != "weft" and target not in self.layers:
            return f'"{header}": there is no folder {target}/ in scripts/layers.txt'
        if target == folder:
            return None
        if folder != "weft":
            self.used[folder].add(target)
        if folder == "weft" or target not in self.layers[folder].uses:
            row = "include/weft" if folder == "weft" else f"{folder}/"
            return f"{row} may not include {target}/ (scripts/layers.txt)"
        if rest.endswith("_priv.h"):
            return f'"{header}" is private to {target}/'
        return None

    def wrong_for_posix(self, path, match):
        """Why a file of src/ that is for any POSIX system may not include what it does, or None."""
        header = match[2]
        if self.system.posix is None or self.system.is_linux(path) or match[3] is not None:
            return None
        if match[1] == '"':
            if self.system.is_linux(header):
                return f"{path} is for any POSIX system, \"{header}\" for Linux (scripts/layers.txt)"
            return None
        if header.startswith("weft/") or header in self.system.posix:
            return None
        return f"{path} is for any POSIX system, and <{header}> is not of POSIX (scripts/layers.txt)"

    def wrong_include(self, folder, match):
        if match[3] is not None:
            return f"an include of {match[3]}, a macro, cannot be checked"
        if match[1] == '"' or match[2].startswith("weft/"):
            return self.wrong_own(folder, match[2])
        return self.wrong_system(folder, match[2])

    def file_errors(self, path, folder):
        shown = path.relative_to(self.root)
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            wrong = match and self.wrong_include(folder, match)
            if match and not wrong and folder != "weft":
                inner = path.relative_to(self.root / "src").as_posix()
                wrong = self.wrong_for_posix(inner, match)
            if wrong:
                yield f"{shown}:{number}: {wrong}"

    def unused(self):
        """The rights of the table that nobody uses, when all files have been read."""
        for folder, layer in self.layers.items():
            for right in sorted((layer.uses | layer.headers) - self.used[folder]):
                yield (f"scripts/layers.txt:{layer.line}: {folder}/ may include {right}, "
                       "and no file of it does: take the right away")
            served = set().union(*(self.system_used[other] for other in self.above(folder)))
            for link in sorted(layer.links):
                needed = LINKS.get(link.rstrip("?"))
                if needed is not None and served.isdisjoint(needed):
                    yield (f"scripts/layers.txt:{layer.line}: {folder}/ links {link}, and neither it nor "
                           "what includes it has a header of that: take the link away")

    def above(self, folder):
        """The folder, and those that use it, at first or second hand."""
        found = {folder}
        for other, layer in self.layers.items():  # rows come after those that they name
            if layer.uses & found:
                found.add(other)
        return found

    def errors(self, rights):
        for path in sorted((self.root / "src").rglob("*.[ch]")):
            parts = path.relative_to(self.root / "src").parts
            if len(parts) == 1 or parts[0] not in self.layers:
                shown = path.relative_to(self.root)
                yield f"{shown}:1: its folder is not in scripts/layers.txt"
                continue
            yield from self.file_errors(path, parts[0])
        for path in sorted((self.root / "include").rglob("*.h")):
            yield from self.file_errors(path, "weft")
        if rights:
            yield from self.unused()

def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    args = sys.argv[1:]
    rights = args[:1] == ["--rights"]
    root = pathlib.Path(args[rights]) if len(args) > rights else here
    try:
        found = list(Checker(root).errors(rights))
    except layers.TableError as error:
        found = [str(error)]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

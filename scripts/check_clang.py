#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_clang.py [FILE...] - what clang warns of in every C file that the build compiles, or in these.

The files, fuzzers among them, and their options are those of build/clang, which need not be built. What a
build makes first, such as the page of weft report, is left out.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def look(entry):
    """Returns what clang says of a file, and whether it is content."""
    words, command, skip = shlex.split(entry["command"]), [], False
    for word in words:
        if not skip and word != "-o" and not word.endswith("ccache"):
            command.append(word)
        skip = word == "-o"
    done = subprocess.run(command + ["-fsyntax-only"], cwd=entry["directory"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout, done.returncode == 0


def main():
    wanted = {str(pathlib.Path(name).resolve()) for name in sys.argv[1:]}
    table = json.loads((ROOT / "build" / "clang" / "compile_commands.json").read_text())
    entries = [e for e in table if os.path.exists(e["file"]) and (not wanted or e["file"] in wanted)]
    good = bool(entries)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said, content in pool.map(look, entries):
            sys.stdout.write(said)
            good = good and content
    sys.exit(not good)


if __name__ == "__main__":
    main()

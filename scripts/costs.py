#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""costs.py total | write - how long `make test` takes, by the table tests/costs.txt.

total: prints it in words, for this machine. write: makes the table anew from the logs of the last
run (build/test-logs), which should have been of an otherwise idle machine with two CPUs.
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "costs.txt"
LOGS = ROOT / "build" / "test-logs"
CPUS = 2  # of the machine of which the table is
LEAST = 2  # seconds; what takes less has no row
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# costs.txt - how long stages of `make test` and tests take, in seconds, on an otherwise idle machine with two CPUs.
# CTest begins with the costly tests, so that none is left alone at the end; `make test` says how long it will
# take; `make check` leaves out what takes ten seconds or more. Made by `scripts/costs.py write`.
"""
PASSED = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) \.+\s+Passed\s+([\d.]+) sec")


def stages(text):
    """Yields (stage, seconds) of the lines that scripts/test and the table have: `= stage seconds`."""
    for line in text.splitlines():
        if line.startswith("= "):
            *name, seconds = line[2:].split()
            yield " ".join(name), int(seconds)


def write():
    costs = {}
    for log in sorted(LOGS.glob("ctest-*.log")):
        for line in log.read_text(errors="replace").splitlines():
            found = PASSED.match(line)
            if found and float(found[2]) >= LEAST:
                column = log.stem.removeprefix("ctest-")
                costs.setdefault(found[1], {})[column] = round(float(found[2]))
    lines = [f"= {name} {seconds}" for name, seconds in stages((LOGS / "stages.txt").read_text())]
    order = sorted(costs, key=lambda name: (-max(costs[name].values()), name))
    lines += [f"{name:28} " + " ".join(f"{preset}={seconds}" for preset, seconds in
                                       sorted(costs[name].items())) for name in order]
    TABLE.write_text(HEAD + "\n".join(lines) + "\n")


def total():
    seconds = sum(s for _, s in stages(TABLE.read_text())) * CPUS / min(os.cpu_count() or CPUS, 8)
    print(f"This takes about {max(1, round(seconds / 60))} minutes on {os.cpu_count()} CPUs that are idle.")


if __name__ == "__main__":
    if sys.argv[1:] not in (["total"], ["write"]):
        sys.exit(__doc__.splitlines()[0])
    {"total": total, "write": write}[sys.argv[1]]()

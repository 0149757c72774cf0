#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs weft on the cases of the HPCC simulator (ns-3) and compares: everything has to be the same.

usage: compare_ns3.py [--weft PROGRAM] [--data FOLDER] [--small] [--jobs N] [--list]

FOLDER (tests/data/ns3) has SCENARIO/CC/ with config.txt, fct.txt, pfc.txt and mostly paths.txt of a run
of that simulator, and seeds_SCENARIO/CC_rngN/fct.txt of the same run with RngRun N. With the same seed
weft finishes the same flows after the same number of nanoseconds, and the same pause frames come in
in the same order. Prints a line for each run; exit status 1 when one differs.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

MANY = 100  # flows: a large case


def read_fct(path):
    """{(sip, dip, sport, dport): (size, start, fct, standalone)}"""
    with open(path, encoding="ascii") as f:
        words = [line.split() for line in f]
    return {tuple(w[:4]): tuple(int(x) for x in w[4:8]) for w in words}


def read_pfc(path):
    with open(path, encoding="ascii") as f:
        return [line.split()[:5] for line in f]


class Run:
    """A run of the reference, and what weft makes of it."""

    def __init__(self, data, scenario, name):
        self.name = f"{scenario}/{name}"
        of_seed = re.fullmatch(r"(.+)_rng(\d+)", name)
        self.seed = of_seed.group(2) if of_seed else "1"
        self.theirs = os.path.join(data, scenario, name)
        self.folder = self.theirs
        if scenario.startswith("seeds_"):
            self.folder = os.path.join(data, scenario.removeprefix("seeds_"), of_seed.group(1))
        self.many = len(read_fct(self.file("fct.txt"))) >= MANY

    def file(self, name):
        return os.path.join(self.theirs, name)

    def check(self, weft):
        """What is wrong, in words, or None; and what to print of it."""
        command = [weft, "run", "--quiet", "--seed", self.seed]
        command += ["--hpcc", os.path.join(self.folder, "config.txt")]
        paths = os.path.join(self.folder, "paths.txt")
        if os.path.exists(paths):
            command += ["--paths", paths]
        with tempfile.TemporaryDirectory() as out:
            subprocess.run(command + ["--out", out], check=True)
            return self.compare(read_fct(os.path.join(out, "fct.txt")),
                                read_pfc(os.path.join(out, "pfc.txt")))

    def compare(self, ours, frames):
        theirs = read_fct(self.file("fct.txt"))
        text = f"{len(theirs)} flows"
        if set(ours) != set(theirs):
            return f"{len(ours)} flows finished, not the same {len(theirs)}", text
        other = [abs(ours[k][2] - theirs[k][2]) for k in theirs if ours[k] != theirs[k]]
        if other:
            return f"{len(other)} flows differ, by up to {max(other)} ns", text
        if not os.path.exists(self.file("pfc.txt")):
            return None, text
        want = read_pfc(self.file("pfc.txt"))
        text += f", {len(want)} pause frames"
        if frames != want:
            return f"{len(frames)} pause frames, or others than these {len(want)}", text
        return None, text


def find_runs(data):
    runs = []
    for scenario in sorted(os.listdir(data)):
        top = os.path.join(data, scenario)
        for name in sorted(os.listdir(top)) if os.path.isdir(top) else []:
            if os.path.isfile(os.path.join(top, name, "fct.txt")):
                runs.append(Run(data, scenario, name))
    return runs


def main():
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description="compares weft with the HPCC simulator")
    parser.add_argument("--weft", default=os.environ.get("WEFT", "weft"))
    parser.add_argument("--data", default=os.path.join(top, "tests/data/ns3"))
    parser.add_argument("--small", action="store_true", help="leave the large cases out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="only list the runs")
    args = parser.parse_args()
    runs = [r for r in find_runs(args.data) if not (args.small and r.many)]
    if args.list:
        print("\n".join(r.name for r in runs))
        return 0
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for run, (wrong, text) in zip(runs, pool.map(lambda r: r.check(args.weft), runs)):
            print(f"{'BAD' if wrong else 'same':5s} {run.name:36s} {wrong or text}")
            bad += wrong is not None
    print(f"{len(runs)} runs, {bad} differ")
    return 1 if bad or not runs else 0


if __name__ == "__main__":
    sys.exit(main())

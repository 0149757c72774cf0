#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs weft on the cases of the HPCC simulator (ns-3) and compares.

usage: compare_ns3.py [--weft PROGRAM] [--data FOLDER] [--small] [--jobs N] [--list]

FOLDER (tests/data/ns3) has SCENARIO/CC/ with config.txt, paths.txt, fct.txt and pfc.txt of that
simulator, and seeds_SCENARIO/CC_rngN/fct.txt of other seeds of its marking. Prints a line for each
case; exit status 1 when a bound is violated. The bounds (docs/validation.md has the reasons):

  unloaded    m_*, and pfconly: every FCT within 0.1 %, PFC frames within 1 %
  determined  dctcp, hpcc: every FCT within 1 %, the mean within 0.2 %; with 100 flows and more the
              median difference below 1 %, slowdown p50, p95, p99 of each size within 2 %
  random      dcqcn, timely: mean and largest FCT, averaged over seeds, within 3 % of the
              reference's average; with 100 flows and more slowdown p50, p95, p99 of all flows
              inside the spread of the reference's seeds, widened by 2 % (where the reference has
              one seed, that one inside the spread of weft's, widened by 2 %)
  loss        g_*: with the reference's own seeds every FCT within 0.1 %, and the same runs never
              end; the mean FCT over 20 seeds within 5 %. Without marks, FCTs differ by whole
              isolated losses
"""

import argparse
import concurrent.futures
import os
import re
import statistics
import subprocess
import sys
import tempfile

MANY = 100  # flows: a case is compared by distribution
SEEDS = 10
SEEDS_MANY = 5
SEEDS_LOSS = 20
BUCKETS = [("<=10K", 10e3), ("10K-100K", 100e3), ("100K-1M", 1e6), ("1M-5M", 5e6), (">5M", 1e18)]
PERCENTILES = (50, 95, 99)
LONE_LOSS = {"dcqcn": 4316}  # ns that a loss costs which no other is near to (two hops of 100 Gb/s)


def read_fct(path):
    """{(sip, dip, sport, dport): (size, fct, standalone)}"""
    flows = {}
    with open(path, encoding="ascii") as f:
        for line in f:
            w = line.split()
            flows[tuple(w[:4])] = (int(w[4]), int(w[6]), int(w[7]))
    return flows


def count_lines(path):
    with open(path, encoding="ascii") as f:
        return sum(1 for _ in f)


def read_averages(data):
    """{(scenario, cc): (seeds, mean FCT, largest FCT)}, ns, of runs that are not all in the folder"""
    averages = {}
    path = os.path.join(data, "summary_seeds.tsv")
    if os.path.exists(path):
        with open(path, encoding="ascii") as f:
            for w in (line.rstrip("\n").split("\t") for line in list(f)[1:]):
                key = (w[0].removeprefix("seeds_"), w[1])
                averages[key] = (int(w[2]), float(w[3]) * 1000, float(w[7]) * 1000)
    return averages


def percentile(values, p):
    """The smallest value with p per cent of all at or below it."""
    values = sorted(values)
    return values[min(len(values) - 1, max(0, -(-len(values) * p // 100) - 1))]


def slowdowns(flows, low=0, high=1e18):
    return [max(1.0, fct / alone) for size, fct, alone in flows.values() if low < size <= high]


def average(runs, fn):
    return statistics.mean(fn([fct for _, fct, _ in r.values()]) for r in runs)


def off(ours, theirs):
    """Relative difference."""
    return ours / theirs - 1 if theirs else float(ours != 0)


class Case:
    """A folder with a run of the reference, and what weft makes of it."""

    def __init__(self, data, folder):
        self.folder = os.path.join(data, folder)
        self.scenario, self.name = folder.split("/")
        self.cc = re.sub(r"_rng\d+$", "", self.name)
        self.theirs = read_fct(os.path.join(self.folder, "fct.txt"))
        self.pfc = count_lines(os.path.join(self.folder, "pfc.txt"))
        self.seeds = [self.theirs]
        number = re.search(r"_rng(\d+)$", self.name)
        self.numbers = [int(number.group(1)) if number else 1]  # of seeds, where they are cases
        other = os.path.join(data, "seeds_" + self.scenario)
        for name in sorted(os.listdir(other)) if os.path.isdir(other) else []:
            if re.fullmatch(re.escape(self.cc) + r"_rng\d+", name):
                run = read_fct(os.path.join(other, name, "fct.txt"))
                if run != self.theirs:
                    self.seeds.append(run)
        self.many = len(self.theirs) >= MANY
        self.averages = read_averages(data).get((self.scenario, self.cc))
        self.runs = []
        self.frames = []

    def kind(self):
        if self.scenario.startswith("g_"):
            return "loss"
        if self.scenario.startswith("m_") or self.cc == "pfconly":
            return "unloaded"
        return "determined" if self.cc in ("dctcp", "hpcc") else "random"

    def wanted_seeds(self):
        if self.kind() == "loss":
            return max(SEEDS_LOSS, *self.numbers)
        if self.kind() != "random" or self.cc.startswith("timely"):
            return 1
        return SEEDS_MANY if self.many else SEEDS

    def run(self, weft):
        command = [weft, "run", "--quiet", "--hpcc", os.path.join(self.folder, "config.txt")]
        paths = os.path.join(self.folder, "paths.txt")
        if os.path.exists(paths):
            command += ["--paths", paths]
        for seed in range(1, self.wanted_seeds() + 1):
            with tempfile.TemporaryDirectory() as out:
                subprocess.run(command + ["--seed", str(seed), "--out", out], check=True)
                self.runs.append(read_fct(os.path.join(out, "fct.txt")))
                self.frames.append(count_lines(os.path.join(out, "pfc.txt")))
        return self

    def check(self):
        """What is wrong, in words, and what to print of it."""
        ours = self.runs[0]
        if self.kind() != "loss" and set(ours) != set(self.theirs):
            return [f"{len(ours)} flows finished, not the same {len(self.theirs)}"], ""
        return getattr(self, "check_" + self.kind())(ours)

    def differences(self, ours):
        return [abs(off(ours[k][1], self.theirs[k][1])) for k in self.theirs]

    def summary(self, ours):
        d = self.differences(ours)
        same = sum(x == 0 for x in d)
        mean = off(average([ours], statistics.mean), average([self.theirs], statistics.mean))
        return d, mean, (f"FCT max {max(d):.3%} mean {mean:+.3%}, {same} of {len(d)} equal; "
                         f"PFC {self.frames[0]} / {self.pfc}")

    def check_unloaded(self, ours):
        d, _, text = self.summary(ours)
        wrong = [f"an FCT is off by {max(d):.3%}"] if max(d) > 0.001 else []
        if abs(off(self.frames[0], self.pfc)) > 0.01:
            wrong.append(f"{self.frames[0]} PFC frames, not {self.pfc}")
        return wrong, text

    def check_determined(self, ours):
        d, mean, text = self.summary(ours)
        wrong = []
        if not self.many:
            if max(d) > 0.01:
                wrong.append(f"an FCT is off by {max(d):.2%}")
            if abs(mean) > 0.002:
                wrong.append(f"the mean FCT is off by {mean:+.2%}")
            return wrong, text
        if statistics.median(d) > 0.01:
            wrong.append(f"the median FCT is off by {statistics.median(d):.2%}")
        low = 0
        for name, high in BUCKETS:
            a, b = slowdowns(self.theirs, low, high), slowdowns(ours, low, high)
            for p in PERCENTILES if a else ():
                x = off(percentile(b, p), percentile(a, p))
                if abs(x) > 0.02:
                    wrong.append(f"slowdown p{p} of {name} is off by {x:+.1%}")
            low = high
        return wrong, text + f"; median {statistics.median(d):.3%}"

    def check_random(self, ours):
        if self.many:
            return self.check_spread()
        wrong, parts = [], []
        seeds = self.averages[0] if self.averages else len(self.seeds)
        for i, (name, fn) in enumerate((("mean", statistics.mean), ("max", max))):
            theirs = self.averages[i + 1] if self.averages else average(self.seeds, fn)
            x = off(average(self.runs, fn), theirs)
            if abs(x) > 0.03:
                wrong.append(f"the {name} FCT is off by {x:+.1%}")
            parts.append(f"{name} {x:+.2%}")
        return wrong, (f"FCT over {len(self.runs)} / {seeds} seeds: " +
                       ", ".join(parts) + f"; PFC {self.frames[0]} / {self.pfc}")

    def check_spread(self):
        wrong, parts = [], []
        for p in PERCENTILES:
            theirs = [percentile(slowdowns(r), p) for r in self.seeds]
            ours = [percentile(slowdowns(r), p) for r in self.runs]
            x = statistics.mean(ours)
            inside = min(theirs) * 0.98 <= x <= max(theirs) * 1.02
            if len(theirs) == 1:
                inside = min(ours) * 0.98 <= theirs[0] <= max(ours) * 1.02
            if not inside:
                wrong.append(f"slowdown p{p} is {x:.3f}, not {min(theirs):.3f}-{max(theirs):.3f}")
            parts.append(f"p{p} {x:.3f} [{min(theirs):.3f}, {max(theirs):.3f}]")
        return wrong, f"slowdown over {len(self.runs)} / {len(self.seeds)} seeds: " + ", ".join(parts)

    def check_loss(self, ours):
        del ours
        wrong = []
        ours = [fct for run in self.runs[:SEEDS_LOSS] for _, fct, _ in run.values()]
        theirs = [fct for run in self.seeds for _, fct, _ in run.values()]
        same = 0
        for number, run in zip(self.numbers, self.seeds):
            mine = self.runs[number - 1]
            if set(mine) != set(run) or any(abs(off(mine[k][1], run[k][1])) > 0.001 for k in run):
                wrong.append(f"seed {number} differs")
            same += mine == run
        mean = off(statistics.mean(ours), statistics.mean(theirs))
        if abs(mean) > 0.05:
            wrong.append(f"the mean FCT is off by {mean:+.1%}")
        text = (f"FCT mean {mean:+.2%} over {SEEDS_LOSS} / {len(self.seeds)} seeds, "
                f"{same} of {len(self.seeds)} seeds equal")
        if self.cc in LONE_LOSS:
            whole = sum((f - theirs[0]) % LONE_LOSS[self.cc] == 0 for f in ours)
            text += f"; {whole} of {len(ours)} differ by whole losses"
            if 2 * whole < len(ours):
                wrong.append(f"a loss does not cost {LONE_LOSS[self.cc]} ns")
        return wrong, text

    def print_buckets(self):
        low = 0
        for name, high in BUCKETS:
            a, b = slowdowns(self.theirs, low, high), slowdowns(self.runs[0], low, high)
            if a:
                cells = [f"p{p} {percentile(b, p):7.3f} / {percentile(a, p):7.3f}"
                         for p in PERCENTILES]
                print(f"    {name:9s} {len(a):4d} flows  " + "  ".join(cells))
            low = high


def merge_losses(cases):
    """The seeds of a case with losses are one case."""
    merged = {}
    for c in cases:
        key = (c.scenario, c.cc) if c.kind() == "loss" else (c.scenario, c.name)
        if key in merged:
            merged[key].seeds += c.seeds
            merged[key].numbers += c.numbers
        else:
            merged[key] = c
    return list(merged.values())


def find_cases(data, small):
    cases = []
    for scenario in sorted(os.listdir(data)):
        top = os.path.join(data, scenario)
        if not os.path.isdir(top) or scenario.startswith(("seeds_", "inputs")):
            continue
        for name in sorted(os.listdir(top)):
            if os.path.isfile(os.path.join(top, name, "config.txt")):
                cases.append(Case(data, scenario + "/" + name))
    cases = merge_losses(cases)
    return [c for c in cases if not (small and c.many)]


def main():
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description="compares weft with the HPCC simulator")
    parser.add_argument("--weft", default=os.environ.get("WEFT", "weft"))
    parser.add_argument("--data", default=os.path.join(top, "tests/data/ns3"))
    parser.add_argument("--small", action="store_true", help="leave the large cases out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="only list the cases")
    args = parser.parse_args()
    cases = find_cases(args.data, args.small)
    bad = 0
    if args.list:
        for c in cases:
            print(f"{c.scenario}/{c.cc} {c.kind()} {len(c.theirs)} flows")
        return 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for c in pool.map(lambda case: case.run(args.weft), cases):
            wrong, text = c.check()
            print(f"{'BAD' if wrong else 'ok':5s} {c.scenario + '/' + c.cc:28s} {text}")
            if c.many:
                c.print_buckets()
            for w in wrong:
                print(f"    {w}")
            bad += bool(wrong)
    print(f"{len(cases)} cases, {bad} outside the bounds")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

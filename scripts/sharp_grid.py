#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All-reduces with and without reduction in the fabric's switches (SHARP), as docs/validation.md has them.

usage: sharp_grid.py [--weft PROGRAM] [--grid NAME] [--check | --write] [--small]

Three tables:

  paper    128 hosts of 100 Gb/s at Switch-IB 2 switches, beside what was measured there (COMHPC 2016)
  hosts    64 hosts of 200 Gb/s at Quantum switches, one process each, no software in the way: switches that reduce
           beside the best of recursive doubling, 4-ing and 8-ing, halving and doubling, and a ring
  nccl     64 servers of eight H100s with eight NICs of 400 Gb/s on rails: what NCCL takes without and with CollNet

  --check  compare with docs/validation.md: times within 1 %; exit status 1 where not
  --write  put them there, between the lines <!-- sharp_grid.py NAME --> and <!-- end -->
  --small  only rows that take no time, for tests; not with --write
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from math import prod

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "validation.md")
KIB, MIB = 1 << 10, 1 << 20
SAME = 0.01
SIZES = [8, 256, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB]
SMALL = 4 * KIB
BEFORE = 20000  # ns
NO_SOFTWARE = "launch: 0, net: {simple: 0, ll: 0, ll128: 0, tree: {simple: 0, ll: 0, ll128: 0}, collnet: 0}"


def size(n):
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if n >= unit:
            return "%d %s" % (n // unit, name)
    return "%d B" % n


def run(weft, topology, fabric, job, files=()):
    """What a job came to: its time in us, its first group."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (*files, ("s.yaml", "topology: {%s}\nfabric: {%s}\njob: {%s}\nrun: {until: 10s}\n" % (
                topology, fabric, job))):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        out = subprocess.run([weft, "run", os.path.join(folder, "s.yaml"), "--quiet", "--json"], stdout=subprocess.PIPE,
                             check=False)
    if out.returncode != 0:
        sys.exit("sharp_grid.py: weft ended with status %d for %s" % (out.returncode, job))
    result = json.loads(out.stdout)["runs"][0]
    if not result["finished"]:
        sys.exit("sharp_grid.py: %s did not finish" % job)
    return result["job"]["end_ps"] / 1e6, (result["job"]["groups"] or [None])[0]


def recursive(n, hosts, radix):
    """A schedule in GOAL of recursive k-ing: in each round a host exchanges all it has with radix - 1 others, and has the
    sum of radix times as many then. Buffers of the receives are there before it begins, as MPI's are."""
    radices = []
    while hosts % (radix * prod(radices)) == 0:
        radices.append(radix)
    if prod(radices) < hosts:
        radices.append(hosts // prod(radices))
    assert prod(radices) == hosts
    lines = ["num_ranks %d" % hosts]
    for rank in range(hosts):
        lines += ["rank %d {" % rank, "w: calc %d" % BEFORE]
        step, before = 1, ["w"]
        for k, f in enumerate(radices):
            digit, now = rank // step % f, []
            for j in range(1, f):
                to, of = (rank + ((digit + d) % f - digit) * step for d in (j, -j))
                lines += ["r%d_%d: recv %db from %d tag %d" % (k, j, n, of, k),
                          "s%d_%d: send %db to %d tag %d" % (k, j, n, to, k)]
                lines += ["s%d_%d requires %s" % (k, j, b) for b in before]
                now.append("r%d_%d" % (k, j))
            step, before = step * f, now
        lines.append("}")
    return "\n".join(lines) + "\n"


def without(weft, n, topology, fabric, hosts, radix):
    took, _ = run(weft, topology, fabric, "kind: goal, file: r.goal, gpus_per_server: 1",
                  [("r.goal", recursive(n, hosts, radix))])
    return took - BEFORE / 1e3


def bare(n, how):
    return "bytes: %d, gpus_per_server: 1, %s, %s" % (n, NO_SOFTWARE, how)


def paper(weft, n):
    """Measured: 6.01 to 2.83 us for 8 bytes, 16 % less where results are multicast, and 46.93 to 14.48 us for 4,096."""
    before, after = {8: (6.01, 2.83 * 0.84), 4 * KIB: (46.93, 14.48)}[n]
    topology = "kind: leaf-spine, hosts: 128, radix: 36, host_rate: 100Gbps"
    fabric = "profile: ib-hdr, switch: {latency: 90ns}"
    took, _ = run(weft, topology, fabric + ", sharp: {enabled: true, generation: switch-ib-2, operations: 32}",
                  bare(n, "collnet: true, algorithm: collnet-chain"))
    ways = [without(weft, n, topology, fabric, 128, radix) for radix in (2, 4, 8)]
    return [size(n), "%.2f" % after, "%.2f" % took, "%+.0f %%" % (100 * (took / after - 1)), "%.2f" % before,
            *("%.2f" % way for way in ways)]


def hosts(weft, n):
    topology = "kind: leaf-spine, hosts: 64, radix: 40, host_rate: 200Gbps"
    sharp, _ = run(weft, topology, "profile: ib-hdr, sharp: {enabled: true}",
                   bare(n, "collnet: true, algorithm: collnet-chain"))
    ways = {"halving and doubling": run(weft, topology, "profile: ib-hdr", bare(n, "algorithm: halving-doubling"))[0],
            "ring": run(weft, topology, "profile: ib-hdr", bare(n, "algorithm: ring, protocol: simple"))[0]}
    for radix, name in ((2, "doubling"), (4, "4-ing"), (8, "8-ing")):
        ways["recursive " + name] = without(weft, n, topology, "profile: ib-hdr", 64, radix)
    best = min(ways, key=ways.get)
    return [size(n), "%s %.2f" % (best, ways[best]), "%.2f" % ways["recursive doubling"], "%.2f" % sharp,
            "%.1f" % (ways[best] / sharp), "%.1f" % (ways["recursive doubling"] / sharp)]


def nccl(weft, n):
    topology = "kind: rail, hosts: 512, gpus: 8, radix: 64, host_rate: 400Gbps"
    without, tree = run(weft, topology, "profile: ib-ndr", "bytes: %d" % n)
    took, group = run(weft, topology, "profile: ib-ndr, sharp: {enabled: true}", "bytes: %d, collnet: true" % n)
    return [size(n), "%s/%s %.1f" % (tree["algorithm"], tree["protocol"], without),
            "%s %.1f" % (group["algorithm"], took), "%.2f" % (without / took),
            "%.2f" % (tree["nccl_estimate_ps"] / group["nccl_estimate_ps"]), "%.0f" % (group["busbw"] / 1e9)]


GRIDS = {
    "paper": (paper, [8, 4 * KIB], ["", "switches reduce, measured, us", "simulated, us", "difference", "without, measured, us",
                                     "recursive doubling, us", "4-ing, us", "8-ing, us"]),
    "hosts": (hosts, SIZES, ["", "without, the best, us", "recursive doubling, us", "switches reduce, us", "gain",
                             "gain over doubling"]),
    "nccl": (nccl, [8, 32 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB],
             ["", "without, us", "switches reduce, us", "gain", "gain, NCCL's model", "busbw, GB/s"]),
}


def pattern(name):
    return re.compile(r"(<!-- sharp_grid\.py %s -->\n)(.*?)(<!-- end -->)" % name, re.S)


def page():
    with open(PAGE, encoding="utf-8") as f:
        return f.read()


def numbers(cell):
    return [float(x) for x in re.findall(r"\d+\.\d+", cell)]


def is_same(row, was):
    if was is None or len(row) != len(was):
        return False
    for x, y in zip(row, was):
        if re.sub(r"[\d.]+", "", x) != re.sub(r"[\d.]+", "", y):
            return False
        if any(abs(a - b) > SAME * max(a, b) + 0.011 for a, b in zip(numbers(x), numbers(y))):
            return False
    return True


def check(name, rows):
    found = pattern(name).search(page())
    was = {}
    for line in (found.group(2) if found else "").split("\n"):
        cells = [c.strip() for c in line.split("|")[1:-1]]
        if cells:
            was[cells[0]] = cells
    wrong = [row for row in rows if not is_same(row, was.get(row[0]))]
    for row in wrong:
        print("docs/validation.md, %s\n  recorded: %s\n  measured: %s" % (name, was.get(row[0]), row), file=sys.stderr)
    return not wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    parser.add_argument("--weft", default=os.path.join(ROOT, "build", "release", "weft"))
    parser.add_argument("--grid", choices=list(GRIDS))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    if args.write and args.small:
        parser.error("--small leaves rows out; without --write")
    status = 0
    for name, (one, sizes, head) in GRIDS.items():
        if args.grid not in (None, name) or (args.small and name == "nccl"):
            continue
        rows = [one(args.weft, n) for n in sizes if not args.small or n <= SMALL]
        lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
        lines.insert(1, "|" + "---|" * len(head))
        print("\n".join([name, "", *lines, ""]), flush=True)
        if args.write:
            if pattern(name).search(page()) is None:
                sys.exit("sharp_grid.py: docs/validation.md has no mark <!-- sharp_grid.py %s -->" % name)
            text = pattern(name).sub(lambda m, t=lines: m.group(1) + "\n".join(t) + "\n" + m.group(3), page())
            with open(PAGE, "w", encoding="utf-8") as f:
                f.write(text)
        if args.check and not check(name, rows):
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

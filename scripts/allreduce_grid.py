#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All-reduces over numbers of GPUs and sizes: what weft simulates beside what NCCL's tuning model estimates.

usage: allreduce_grid.py [--weft PROGRAM] [--grid NAME] [--check | --write] [--small | --all] [--jobs N] [--threads N]
                         [--gpus N,...] [--sizes SIZE,...] [--fabric NAME] [--set KEY=VALUE ...]

Servers of eight H100s with eight NICs of 400 Gb/s on rails, radix 64. Prints a table of each grid: algorithm
and protocol, NCCL's estimate and the simulated time in us and the difference, in bold what is outside 15 %. Then how
many are outside, and what they took. Cells of more than 512 GiB (GPUs times size) are simulated with --all only: 4,096
GPUs with 8 GiB take an hour and a half of CPU. Without it they have what docs/validation.md has.

  --grid   one of those below; without it all of them
  --check  compare with docs/validation.md: the same choices, times within 1 %; exit status 1 where not
  --write  put them there, between the lines <!-- allreduce_grid.py NAME --> and <!-- end -->
  --small  only cells that take no time, for tests; not with --write
  --all    the largest cells, too
  --jobs   so many at a time (1), with --threads threads each (1)
  --gpus, --sizes, --fabric, --set
           a grid of your own instead, of which nothing is left out
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "validation.md")
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
NEAR = 0.15  # of NCCL's estimate
SAME = 0.01  # of what the page has
SMALL_BYTES = 256 * MIB  # GPUs times size at most, with --small
SMALL_GPUS = 256
USUAL_BYTES = 512 * GIB  # without --all
SIZES = [8, 32 * KIB, 256 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 256 * MIB, GIB, 2 * GIB,
         4 * GIB, 8 * GIB]

GRIDS = {
    "ib-ndr": {
        "fabric": "ib-ndr",
        "settings": {},
        "sizes": SIZES,
        "gpus": [8, 16, 64, 256, 1024, 2048, 4096],
    },
    "rings": {
        "fabric": "ib-ndr",
        "settings": {"job.nvls": "false"},
        "sizes": [4 * MIB, 16 * MIB, 64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB, GIB, 2 * GIB, 8 * GIB],
        "gpus": [8, 16, 64, 256],
    },
    "roce-400g-spray": {
        "fabric": "roce-400g-spray",
        "settings": {},
        "sizes": [n for n in SIZES if n <= 256 * MIB],
        "gpus": [8, 16, 64, 256],
    },
}


def size(n):
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if n >= unit:
            return "%d %s" % (n // unit, name)
    return "%d B" % n


def parse_size(text):
    found = re.fullmatch(r"(\d+)\s*(B|KiB|MiB|GiB|)", text.strip())
    if found is None:
        raise argparse.ArgumentTypeError("%s: write 8, 32KiB, 2MiB or 1GiB" % text)
    return int(found.group(1)) * {"": 1, "B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB}[found.group(2)]


class Cell:
    """One all-reduce: what NCCL's model says of it, and what was simulated."""

    def __init__(self, weft, gpus, n, grid, simulate, threads=1):
        text = "topology: {kind: rail, hosts: %d, gpus: 8, radix: 64, host_rate: 400Gbps}\n" % gpus
        text += "fabric: %s\njob: {bytes: %d}\nrun: {until: %s}\n" % (grid["fabric"], n, "100s" if simulate else "1ns")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cell.yaml")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            command = [weft, "run", path, "--quiet", "--json", "--threads", str(threads)]
            for name, value in grid["settings"].items():
                command += ["--set", "%s=%s" % (name, value)]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as run:
                out = run.stdout.read()
                _, status, usage = os.wait4(run.pid, 0)
                run.returncode = os.waitstatus_to_exitcode(status)
        if run.returncode != 0:
            raise SystemExit("allreduce_grid.py: %d GPUs, %s: weft ended with status %d" % (gpus, size(n), run.returncode))
        result = json.loads(out)["runs"][0]
        group = result["job"]["groups"][0]
        if simulate and not result["finished"]:
            raise SystemExit("allreduce_grid.py: %d GPUs, %s did not finish" % (gpus, size(n)))
        self.gpus, self.n, self.simulated = gpus, n, simulate
        self.way = "%s/%s" % (group["algorithm"], group["protocol"])
        self.estimate = group["nccl_estimate_ps"] / 1e6
        self.took = (group["end_ps"] - group["begin_ps"]) / 1e6 if simulate else None
        self.cpu = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss / 1e6  # GB
        self.hops = result["hops"] if simulate else 0

    def take(self, was):
        """Has the time that the page has, if it is of the same choice."""
        found = parse_cell(was)
        if found is not None and found[0] == self.way and abs(found[1] - self.estimate) <= SAME * self.estimate:
            self.took = found[2]
            self.simulated = self.took is not None

    def off(self):
        return self.took / self.estimate - 1 if self.simulated else 0

    def is_near(self):
        return abs(self.off()) <= NEAR

    def text(self):
        if not self.simulated:
            return "%s %.1f" % (self.way, self.estimate)
        mark = "" if self.is_near() else "**"
        return "%s %.1f, %s%.1f%s (%+.0f %%)" % (self.way, self.estimate, mark, self.took, mark, 100 * self.off())


def is_small(gpus, n):
    return gpus <= SMALL_GPUS and gpus * n <= SMALL_BYTES


def measure(args, name, grid):
    was = page_cells(grid, recorded(name)) if name in GRIDS else {}

    def one(key):
        gpus, n = key
        simulate = args.all or name not in GRIDS or gpus * n <= USUAL_BYTES
        cell = Cell(args.weft, gpus, n, grid, simulate, args.threads)
        if not simulate:
            cell.take(was.get(key, ""))
        print("%d GPUs, %s: %s; %.1f s of CPU, %.2f GB" % (gpus, size(n), cell.text(), cell.cpu, cell.memory),
              file=sys.stderr, flush=True)
        return cell

    keys = [(gpus, n) for gpus in grid["gpus"] for n in grid["sizes"] if not args.small or is_small(gpus, n)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        return dict(zip(keys, pool.map(one, keys)))


def table(grid, cells):
    lines = ["| | " + " | ".join("%d GPUs" % gpus for gpus in grid["gpus"]) + " |", "|---" * (1 + len(grid["gpus"])) + "|"]
    for n in grid["sizes"]:
        row = [cells[gpus, n].text() if (gpus, n) in cells else "" for gpus in grid["gpus"]]
        lines.append("| " + " | ".join([size(n), *row]) + " |")
    done = [c for c in cells.values() if c.simulated]
    far = [c for c in done if not c.is_near()]
    lines += ["", "%d of %d cells simulated, %d of them outside %.0f %%%s" % (
        len(done), len(cells), len(far), 100 * NEAR,
        (": " + "; ".join("%d GPUs, %s (%s, %+.0f %%)" % (c.gpus, size(c.n), c.way, 100 * c.off()) for c in far) if far else "")
        + ".")]
    return lines


def costs(grid, cells):
    """What the costliest cell of each number of GPUs took, of those simulated now."""
    lines = ["", "| GPUs | costliest cell | packet-hops | CPU, user and system | memory |", "|---|---|---|---|---|"]
    for gpus in grid["gpus"]:
        done = [c for c in cells.values() if c.hops > 0 and c.gpus == gpus]
        if done:
            c = max(done, key=lambda cell: cell.cpu)
            lines.append("| %d | %s | %.1f million | %.1f s | %.2f GB |" % (gpus, size(c.n), c.hops / 1e6, c.cpu,
                                                                      max(d.memory for d in done)))
    return lines


def pattern(name):
    return re.compile(r"(<!-- allreduce_grid\.py %s -->\n)(.*?)(<!-- end -->)" % re.escape(name), re.S)


def recorded(name):
    with open(PAGE, encoding="utf-8") as f:
        found = pattern(name).search(f.read())
    if found is None:
        sys.exit("allreduce_grid.py: docs/validation.md has no mark <!-- allreduce_grid.py %s -->" % name)
    return found.group(2)


def put(name, lines):
    recorded(name)
    with open(PAGE, encoding="utf-8") as f:
        whole = f.read()
    whole = pattern(name).sub(lambda m: m.group(1) + "\n".join(lines) + "\n" + m.group(3), whole)
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(whole)


def page_cells(grid, text):
    """{(gpus, size): what the page has}"""
    cells = {}
    for line in text.split("\n"):
        words = [w.strip() for w in line.split("|")[1:-1]]
        if len(words) == 1 + len(grid["gpus"]) and re.fullmatch(r"\d+ [KMG]?i?B", words[0]):
            for gpus, word in zip(grid["gpus"], words[1:]):
                cells[gpus, parse_size(words[0].replace(" ", ""))] = word
    return cells


def parse_cell(text):
    """(way, estimate, time or None) of a cell of the page; None: it is none"""
    found = re.fullmatch(r"(\S+) ([\d.]+)(?:, \**([\d.]+)\** \([-+]\d+ %\))?", text)
    if found is None:
        return None
    return found.group(1), float(found.group(2)), float(found.group(3)) if found.group(3) is not None else None


def same(was, cell):
    found = parse_cell(was)
    if found is None or found[0] != cell.way or (found[2] is not None) != cell.simulated:
        return False
    pairs = [(found[1], cell.estimate)]
    if cell.simulated:
        pairs.append((found[2], cell.took))
    return all(abs(x - y) <= SAME * x for x, y in pairs)


def check(name, grid, cells):
    was = page_cells(grid, recorded(name))
    wrong = [c for key, c in cells.items() if not same(was.get(key, ""), c)]
    for c in wrong:
        print("docs/validation.md, %s, %d GPUs, %s\n  recorded: %s\n  measured: %s" % (
            name, c.gpus, size(c.n), was.get((c.gpus, c.n), "(nothing)"), c.text()), file=sys.stderr)
    return not wrong


def own_grid(args):
    return {
        "fabric": args.fabric,
        "settings": dict(s.split("=", 1) for s in args.set),
        "sizes": args.sizes or SIZES,
        "gpus": args.gpus,
    }


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    parser.add_argument("--weft", default=os.path.join(ROOT, "build", "release", "weft"))
    parser.add_argument("--grid", choices=list(GRIDS))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--gpus", type=lambda s: [int(n) for n in s.split(",")])
    parser.add_argument("--sizes", type=lambda s: [parse_size(n) for n in s.split(",")])
    parser.add_argument("--fabric", default="ib-ndr")
    parser.add_argument("--set", action="append", default=[])
    args = parser.parse_args()
    if args.write and args.small:
        parser.error("--small leaves cells out; without --write")
    if args.gpus is not None and (args.check or args.write):
        parser.error("a grid of your own is not on the page; without --check and --write")
    grids = {"own": own_grid(args)} if args.gpus is not None else GRIDS
    status = 0
    for name, grid in grids.items():
        if args.grid not in (None, name):
            continue
        cells = measure(args, name, grid)
        lines = table(grid, cells)
        print("\n".join([name, "", *lines, *costs(grid, cells), ""]), flush=True)
        if args.write:
            put(name, lines)
        if args.check and not check(name, grid, cells):
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what is claimed of InfiniBand and RoCE, and what was published, with weft.

usage: claims.py [--weft PROGRAM] [--check | --write] [--full] [--small] [--only NAME,...] [--list]

Every claim is one or more scenarios, examples/claim-*.yaml, and some statements that its figures make
true or false; examples/validate-*.yaml are set-ups of published measurements. Prints the figures, the
statements and the verdict of each.

  --check  compare with docs/claims.md and docs/validation.md: the same statements hold, and figures
           are within 1 %; exit status 1 where not
  --write  put them there, between the lines <!-- claims.py NAME --> and <!-- end -->
  --full   also what takes minutes: larger runs, more seeds, the validation
  --small  only what takes no time, for builds with sanitizers
"""

import argparse
import json
import math
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = [os.path.join(ROOT, "docs", "claims.md"), os.path.join(ROOT, "docs", "validation.md")]
TOLERANCE = 0.01
LINE = 400e9  # bit/s
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Weft:
    """The program under test."""

    def __init__(self, program):
        self.program = program

    def call(self, command, *args):
        done = subprocess.run([self.program, command, *args], stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            sys.exit("claims.py: weft %s %s: status %d" % (command, " ".join(args), done.returncode))
        return done.stdout

    def perf(self, *args):
        """{fabric: its part of the JSON}"""
        out = json.loads(self.call("perf", "--json", *args))
        return {f["fabric"]: f for f in out["fabrics"]}

    @staticmethod
    def arguments(scenario, settings):
        args = [os.path.join(ROOT, "examples", scenario), "--quiet"]
        fabrics = settings.pop("fabric", None)
        if fabrics is not None:
            args += ["--fabric", fabrics]
        for name, value in settings.items():
            args += ["--set", "%s=%s" % (name.replace("__", "."), value)]
        return args

    def run(self, scenario, **settings):
        """{fabric: its part of the JSON}; a__b stands for the parameter a.b"""
        out = json.loads(self.call("run", *self.arguments(scenario, settings), "--json"))
        for r in out["runs"]:
            if not r["finished"]:
                sys.exit("claims.py: %s on %s did not finish" % (scenario, r["fabric"]))
        return {r["fabric"]: r for r in out["runs"]}

    def query(self, sql, scenario, **settings):
        """Rows of a query to the results file."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.db")
            self.call("run", *self.arguments(scenario, settings), "--record", path, "--sample", "none",
                      "--events", "none")
            db = sqlite3.connect(path)
            rows = db.execute(sql).fetchall()
            db.close()
            return rows


class Block:
    """What goes between two marks of a page: tables, statements, and what follows from them."""

    def __init__(self):
        self.lines = []
        self.held = []

    def table(self, head, rows):
        self.lines += ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        self.lines += ["| " + " | ".join(row) + " |" for row in rows] + [""]

    def statements(self, rows):
        """rows: (what is said, what was found, whether it holds)"""
        self.held = [bool(holds) for _, _, holds in rows]
        self.table(["it is said", "found", "holds"],
                   [(said, found, "yes" if holds else "no") for said, found, holds in rows])
        self.lines += ["**%s.**" % self.verdict(), ""]

    def verdict(self):
        if all(self.held):
            return "Holds"
        return "Holds in part" if any(self.held) else "Does not hold"

    def text(self):
        return "\n".join(self.lines)


def figure(x, digits=3):
    """A number with so many significant digits."""
    if x == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(x))))
    return "%.*f" % (places, x)


def times(x):
    return figure(x) + " times"


def percent(x):
    return "%s %%" % figure(100 * x)


def size(n):
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if n >= unit:
            return "%d %s" % (n // unit, name)
    return "%d B" % n


def about(x, published):
    """Within a fifth."""
    return abs(x - published) <= published / 5


def job_us(run):
    return run["job"]["end_ps"] / 1e6


def busbw(run):
    """Of the first collective, in GB/s."""
    return run["job"]["groups"][0]["busbw"] / 1e9


# The claims. Each takes a Weft and returns a Block.


def write(weft):
    fabrics = ["ib-ndr", "roce-400g", "tcp-400g"]
    names = ",".join(fabrics)
    one = weft.perf("--fabric", names, "--size", "8,8M", "--iters", "50")
    three = weft.perf("--fabric", names, "--size", "8", "--iters", "50", "--hops", "3", "--test", "lat")
    stream = weft.run("claim-write.yaml")
    lat = {f: one[f]["latency"][0]["mean_ps"] / 1e6 for f in fabrics}
    bw = {f: one[f]["bandwidth"][1]["average_bps"] / 8e9 for f in fabrics}
    # 26 bytes around 4096 on InfiniBand; 62 of headers and 20 of preamble and gap on Ethernet.
    most = {"ib-ndr": 50 * 4096 / 4122, "roce-400g": 50 * 4096 / 4178}
    b = Block()
    b.table(["", *fabrics], [
        ["RDMA write of 8 B, one switch", *(figure(lat[f]) + " us" for f in fabrics)],
        ["the same, three switches",
         *(figure(three[f]["latency"][0]["mean_ps"] / 1e6) + " us" for f in fabrics)],
        ["writes of 8 MiB", *(figure(bw[f]) + " GB/s" for f in fabrics)],
        ["one write of 256 MiB (claim-write.yaml)",
         *(figure(stream[f]["goodput_bps"] / 8e9) + " GB/s" for f in fabrics)],
        ["50 GB/s less headers", figure(most["ib-ndr"]) + " GB/s", figure(most["roce-400g"]) + " GB/s", "-"],
    ])
    b.statements([
        ("the same bandwidth on both", "RoCE has %s of InfiniBand's" % percent(bw["roce-400g"] / bw["ib-ndr"]),
         bw["roce-400g"] > 0.97 * bw["ib-ndr"]),
        ("50 GB/s less headers", "within %s of it" % percent(max(1 - bw[f] / most[f] for f in most)),
         all(bw[f] > 0.99 * most[f] for f in most)),
        ("a write takes about 1 us on InfiniBand", figure(lat["ib-ndr"]) + " us", 0.8 <= lat["ib-ndr"] <= 1.3),
        ("1.5 to 2 us on RoCE", figure(lat["roce-400g"]) + " us", 1.5 <= lat["roce-400g"] <= 2),
        ("tens of us through the kernel's TCP", figure(lat["tcp-400g"]) + " us", 10 <= lat["tcp-400g"] < 100),
    ])
    return b


def tree(weft):
    small, large = [8, 512, 4 * KIB, 32 * KIB], [MIB, 16 * MIB, 256 * MIB]
    ratio = {}
    rows = []
    for n in small + large:
        row = [size(n)]
        for what, scenario in (("bare", "claim-tree-bare.yaml"), ("nccl", "claim-tree-nccl.yaml")):
            # Large ones go over rings, as NCCL would send them; without NVLink that is another matter.
            if n == large[-1] and what == "bare":
                row += ["-", "-", "-"]
                continue
            r = weft.run(scenario, job__bytes=n, job__algorithm="ring" if n == large[-1] else "tree")
            ib, roce = job_us(r["ib-ndr"]), job_us(r["roce-400g-spray"])
            ratio[what, n] = roce / ib
            row += [figure(ib) + " us", figure(roce) + " us", figure(roce / ib)]
        rows.append(row)
    b = Block()
    b.table(["all-reduce", "network alone: ib-ndr", "roce-400g-spray", "ratio", "with NCCL's costs: ib-ndr",
             "roce-400g-spray", "ratio"], rows)
    bare, nccl = ([ratio[w, n] for n in small] for w in ("bare", "nccl"))
    between = "%s to %s times"
    b.statements([
        ("8 B is 1.5 to 2 times slower on RoCE: the network alone", times(bare[0]), 1.5 <= bare[0] <= 2),
        ("so is everything up to 32 KB", between % (figure(min(bare)), figure(max(bare))),
         min(bare) >= 1.5 and max(bare) <= 2),
        ("the same, of NCCL on GPUs", between % (figure(min(nccl)), figure(max(nccl))),
         min(nccl) >= 1.5 and max(nccl) <= 2),
        ("large ones take the same", times(ratio["nccl", large[-1]]) + " at 256 MiB",
         ratio["nccl", large[-1]] <= 1.02),
    ])
    return b


def mfu(weft):
    fabrics = ["ib-ndr", "roce-400g-spray", "roce-400g", "roce-400g-mistuned"]
    rows, got = [], {}
    for label, change in (("2 micro-batches a step", {}), ("the same, 4 queue pairs a connection",
                          {"job__qps_per_connection": 4}), ("3 micro-batches", {"job__micro_batches": 3})):
        r = weft.run("claim-mfu.yaml", **change)
        got[label] = {f: r[f]["job"]["train"]["mfu_ppm"] / 1e6 for f in fabrics}
        rows.append([label, *(percent(got[label][f]) for f in fabrics)])
    base, qps, three = got.values()
    b = Block()
    b.table(["MFU", *fabrics], rows)
    b.statements([
        ("tuned, RoCE is within a few percent of InfiniBand",
         "%s less when sprayed, %s with ECMP and 4 queue pairs" % (
             percent(1 - base["roce-400g-spray"] / base["ib-ndr"]), percent(1 - qps["roce-400g"] / qps["ib-ndr"])),
         min(base["roce-400g-spray"] / base["ib-ndr"], qps["roce-400g"] / qps["ib-ndr"]) >= 0.95),
        ("badly tuned, MFU falls below 30 %", percent(base["roce-400g-mistuned"]),
         base["roce-400g-mistuned"] < 0.30),
        ("that is a third less", percent(1 - base["roce-400g-mistuned"] / base["ib-ndr"]) + " less",
         base["roce-400g-mistuned"] < 0.7 * base["ib-ndr"]),
        ("from the mid-40s, the same job", "from %s; a job that begins at %s falls to %s" % (
            percent(base["ib-ndr"]), percent(three["ib-ndr"]), percent(three["roce-400g-mistuned"])),
         any(g["ib-ndr"] >= 0.43 and g["roce-400g-mistuned"] < 0.30 for g in (base, three))),
    ])
    return b


LOST = ["0", "0.01%", "0.1%", "1%"]
RECOVERY = ["go-back-n", "selective"]


def loss(weft):
    sql = ("SELECT r.label, max(CASE v.name WHEN 'goodput' THEN v.value END) / 8e9,"
           " max(CASE v.name WHEN 'job_end' THEN v.value END) / 1e6,"
           " max(CASE v.name WHEN 'local_ack_timeout_err' THEN v.value END)"
           " FROM run r JOIN value v ON v.run = r.id GROUP BY r.id")
    stream, reduce = {}, {}
    rows = []
    for lost in LOST:
        row = [lost.replace("%", " %")]
        for got, scenario, column, seeds in ((stream, "claim-loss.yaml", 1, 5),
                                             (reduce, "claim-loss-all-reduce.yaml", 2, 3)):
            seen = {r: [] for r in RECOVERY}
            for seed in range(1, seeds + 1 if lost != "0" else 2):
                for found in weft.query(sql, scenario, seed=seed, fabric__link__loss=lost):
                    seen[found[0]].append((found[column], found[3] or 0))
            for r in RECOVERY:
                got[lost, r] = statistics.mean(value for value, _ in seen[r])
                waits = statistics.mean(timeouts for _, timeouts in seen[r])
                unit = "GB/s" if got is stream else "us"
                row.append("%s %s, %s timeouts" % (figure(got[lost, r]), unit, figure(waits, 2)))
        rows.append(row)
    b = Block()
    b.table(["loss on each link", "stream, go-back-n", "stream, selective", "5 all-reduces, go-back-n",
             "5 all-reduces, selective"], rows)
    part = {k: v / stream["0", k[1]] for k, v in stream.items()}
    slower = {k: v / reduce["0", k[1]] for k, v in reduce.items()}
    b.statements([
        ("a stream with go-back-N falls sharply", "%s of the bandwidth are left at 0.1 %%, %s at 1 %%" % (
            percent(part["0.1%", "go-back-n"]), percent(part["1%", "go-back-n"])), part["1%", "go-back-n"] < 0.5),
        ("already at 0.01 %", percent(part["0.01%", "go-back-n"]) + " are left",
         part["0.01%", "go-back-n"] < 0.9),
        ("selective repeat keeps the bandwidth at 0.1 %", percent(part["0.1%", "selective"]) + " are left",
         part["0.1%", "selective"] >= 0.95),
        ("and at 1 %", percent(part["1%", "selective"]) + " are left", part["1%", "selective"] >= 0.9),
        ("selective repeat saves an all-reduce at 0.1 %", "%s slower, with go-back-N %s" % (
            times(slower["0.1%", "selective"]), times(slower["0.1%", "go-back-n"])),
         slower["0.1%", "selective"] < 1.1),
    ])
    return b


PAIRS = ("SELECT label, avg(bw), min(bw) FROM (SELECT r.id, r.label,"
         " sum(f.bytes) * 8e12 / (max(f.end_ps) - min(f.start_ps)) AS bw"
         " FROM flow f JOIN run r ON r.id = f.run GROUP BY r.id, f.src) GROUP BY id ORDER BY id")


def pairs(weft, settings):
    """The table of runs that differ in what settings say; and {fabric: mean share of the line}."""
    means, worst = {}, {}
    for change in settings:
        for fabric, mean, slowest in weft.query(PAIRS, "claim-collisions.yaml", **change):
            means.setdefault(fabric, []).append(mean / 10e9)
            worst.setdefault(fabric, []).append(slowest / 10e9)
    mean = {f: statistics.mean(m) for f, m in means.items()}
    b = Block()
    b.table(["paths", "mean pair, of the line", "slowest pair"],
            [[f, percent(mean[f]), percent(min(worst[f]))] for f in mean])
    return b, mean


def collisions(weft):
    b, mean = pairs(weft, [{}])

    def near(name, published):
        return abs(mean[name] - published) <= 0.05

    b.statements([
        ("one path for each pair gets 38 %, within 5 points", percent(mean["one path per pair"]),
         near("one path per pair", 0.38)),
        ("adaptive routing gets 77 %, within 5 points: by bytes", percent(mean["adaptive, by bytes"]),
         near("adaptive, by bytes", 0.77)),
        ("the same by grades", percent(mean["adaptive, by grades"]), near("adaptive, by grades", 0.77)),
    ])
    return b


def collisions_full(weft):
    return pairs(weft, [{"seed": s} for s in (1, 2, 3)])[0]


def storage(weft):
    fabrics = ["ib-ndr", "roce-400g-spray", "own lossless"]
    rows, job = [], {}
    for what in ("burst", "steady"):
        scenario = "claim-storage-%s.yaml" % what
        for label, change in (("alone", {"traffic__start": "50ms"}), ("in the job's class", {}),
                              ("in their own class", {"traffic__class": 4})):
            r = weft.run(scenario, **change)
            row = ["%s, reads %s" % (what, label) if label != "alone" else what + ", the job alone"]
            for f in fabrics:
                job[what, label, f] = job_us(r[f])
                reads = r[f]["flow_completion_ps"]["p99"] / 1e6
                row.append("%s us%s" % (figure(job_us(r[f])), "" if label == "alone" else
                                        ", reads %s us" % figure(reads)))
            rows.append(row)
    b = Block()
    b.table(["all-reduce, and p99 of the reads", *fabrics], rows)

    def slower(what, label):
        return [job[what, label, f] / job[what, "alone", f] - 1 for f in fabrics]

    found = {k: slower(*k) for k in (("burst", "in the job's class"), ("burst", "in their own class"),
                                     ("steady", "in the job's class"), ("steady", "in their own class"))}
    spread = {k: "%s to %s slower" % (percent(min(v)), percent(max(v))) for k, v in found.items()}
    b.statements([
        ("storage in the job's class hurts the all-reduce: a burst", spread["burst", "in the job's class"],
         min(found["burst", "in the job's class"]) > 0.1),
        ("the same, a steady load", spread["steady", "in the job's class"],
         min(found["steady", "in the job's class"]) > 0.1),
        ("a class of its own protects the job from a burst", spread["burst", "in their own class"],
         max(found["burst", "in their own class"]) < 0.05),
        ("and from a steady load", spread["steady", "in their own class"],
         max(found["steady", "in their own class"]) < 0.05),
        ("credits spare InfiniBand that", "a burst costs it %s, RoCE %s" % (
            percent(found["burst", "in the job's class"][0]), percent(found["burst", "in the job's class"][1])),
         found["burst", "in the job's class"][0] < 0.5 * found["burst", "in the job's class"][1]),
    ])
    return b


# Published measurements.


def nccl_table(weft, sizes, **settings):
    """nccl-tests' columns; and {fabric: busbw of each size}."""
    fabrics = ["ib-ndr", "roce-400g-spray", "roce-400g"]
    rows, got = [], {f: {} for f in fabrics}
    for n in sizes:
        r = weft.run("validate-tolly.yaml", job__bytes=n, **settings)
        row = [str(n)]
        for f in fabrics:
            group = r[f]["job"]["groups"][0]
            got[f][n] = busbw(r[f])
            row += [figure((group["end_ps"] - group["begin_ps"]) / 1e6), figure(group["algbw"] / 1e9),
                    figure(got[f][n])]
        rows.append(row)
    b = Block()
    b.table(["size (B)", *("%s: time (us) | algbw (GB/s) | busbw (GB/s)" % f for f in fabrics)], rows)
    b.lines[1] = "|" + "---|" * (1 + 3 * len(fabrics))
    return b, got


def averages(b, got, ranges):
    b.table(["average busbw (GB/s) over doubling sizes", *got],
            [["%s to %s" % (size(low), size(high)),
              *(figure(statistics.mean(v for n, v in g.items() if low <= n <= high)) for g in got.values())]
             for low, high in ranges])


def tolly_all_reduce(weft):
    sizes = [8, 1 * KIB, 32 * KIB, 256 * KIB, *(MIB << i for i in range(11))]
    b, got = nccl_table(weft, sizes)
    averages(b, got, [(MIB, GIB), (4 * MIB, GIB), (8 * MIB, GIB), (16 * MIB, GIB), (256 * MIB, GIB)])
    return b


def tolly_all_to_all(weft):
    sizes = [64 * KIB, 256 * KIB, *(MIB << i for i in range(9))]
    b, got = nccl_table(weft, sizes, job__kind="all-to-all", job__algorithm="auto")
    averages(b, got, [(MIB, 256 * MIB), (4 * MIB, 256 * MIB), (16 * MIB, 256 * MIB), (64 * MIB, 256 * MIB)])
    return b


def uplinks(weft):
    rows = []
    for n in (16 * MIB, 64 * MIB, 256 * MIB):
        for label, fabric, seeds, change in (("ECMP", "roce-400g", 5, {}),
                                             ("ECMP, 4 queue pairs", "roce-400g", 5,
                                              {"job__qps_per_connection": 4}),
                                             ("sprayed", "roce-400g-spray", 1, {})):
            bw = {}
            for blocking, radix in ((2, 12), (1, 16)):
                bw[blocking] = statistics.mean(
                    busbw(weft.run("validate-uplinks.yaml", fabric=fabric, seed=seed, job__bytes=n,
                                   topology__blocking=blocking, topology__radix=radix, **change)[fabric])
                    for seed in range(1, seeds + 1))
            rows.append([size(n), label, figure(bw[2]), figure(bw[1]), percent(bw[1] / bw[2] - 1)])
    b = Block()
    b.table(["ring all-reduce", "paths", "busbw, 2:1 (GB/s)", "busbw, 1:1 (GB/s)", "gain"], rows)
    return b


# name: (what makes it, how long it takes)
BLOCKS = {
    "write": (write, "small"),
    "tree": (tree, "normal"),
    "mfu": (mfu, "full"),
    "loss": (loss, "normal"),
    "collisions": (collisions, "normal"),
    "collisions-full": (collisions_full, "full"),
    "storage": (storage, "normal"),
    "tolly-all-reduce": (tolly_all_reduce, "full"),
    "tolly-all-to-all": (tolly_all_to_all, "full"),
    "uplinks": (uplinks, "full"),
}


def pattern(name):
    return re.compile(r"(<!-- claims\.py %s -->\n)(.*?)(<!-- end -->)" % re.escape(name), re.S)


def find(name):
    """The page that has the block, and the text between its marks."""
    for page in PAGES:
        with open(page, encoding="utf-8") as f:
            found = pattern(name).search(f.read())
        if found is not None:
            return page, found.group(2)
    sys.exit("claims.py: no page has the mark <!-- claims.py %s -->" % name)


def put(name, text):
    page, _ = find(name)
    with open(page, encoding="utf-8") as f:
        whole = f.read()
    whole = pattern(name).sub(lambda m: m.group(1) + text + "\n" + m.group(3), whole)
    with open(page, "w", encoding="utf-8") as f:
        f.write(whole)


NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def differences(name, text):
    """Lines that differ from the page in words, or in a number by more than the tolerance."""
    page, recorded = find(name)
    was = [line for line in recorded.split("\n") if line]
    now = [line for line in text.split("\n") if line]
    told = []
    for i in range(max(len(was), len(now))):
        a = was[i] if i < len(was) else "(nothing)"
        b = now[i] if i < len(now) else "(nothing)"
        same = NUMBER.sub("#", a) == NUMBER.sub("#", b) and all(
            abs(float(x) - float(y)) <= TOLERANCE * abs(float(x))
            for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))
        if not same:
            told.append("%s, %s\n  recorded: %s\n  measured: %s" % (os.path.relpath(page, ROOT), name, a, b))
    return told


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    parser.add_argument("--weft", default=os.path.join(ROOT, "build", "release", "weft"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", type=lambda s: s.split(","))
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    wanted = {"small"} | (set() if args.small else {"normal"}) | ({"full"} if args.full else set())
    names = args.only or [n for n, (_, cost) in BLOCKS.items() if cost in wanted]
    for name in names:
        if name not in BLOCKS:
            sys.exit("claims.py: there is no %s; there are %s" % (name, ", ".join(BLOCKS)))
    if args.list:
        print("\n".join(names))
        return 0
    weft = Weft(args.weft)
    status = 0
    for name in names:
        text = BLOCKS[name][0](weft).text()
        print("%s\n\n%s" % (name, text), flush=True)
        if args.write:
            put(name, text)
        if args.check:
            for told in differences(name, text):
                print(told, file=sys.stderr)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what each profile leads to, and writes the table of docs/profiles.md.

usage: profiles.py [--weft PROGRAM] [--write] [--seeds N] [--only NAME,...]

Two set-ups, at the rate a profile is made for, queue pairs that always have work, seeds 1 to N (3):

  incast  16 hosts send to one through one switch: payload that the receiver got, of its line; the queue before it
          (largest, and the median of samples after the start); pauses; Jain's index of the senders' shares
  victim  eight hosts of a leaf send to one of another leaf, over four spines; a ninth sends to a third
          leaf, where nobody else sends: what arrives there, of the line

Each for 20 ms at 400 Gb/s, and as many bytes of the line at other rates.

Prints the table; --write puts it between <!-- profiles.py --> and <!-- end --> of docs/profiles.md.
"""

import argparse
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "profiles.md")
SENDERS = 16
VICTIMS_NEIGHBOURS = 8
SPINES = 4

# Name in the table, fabric, rate of the links in Gb/s.
ROWS = [
    ("roce-400g", "roce-400g", 400),
    ("- CNPs paced per queue pair", {"profile": "roce-400g", "cc.cnp_per": "qp"}, 400),
    ("- the same, marked at enqueue", {"profile": "roce-400g", "cc.cnp_per": "qp", "ecn.at": "enqueue"}, 400),
    ("roce-400g-nocc", "roce-400g-nocc", 400),
    ("roce-400g-lossy", "roce-400g-lossy", 400),
    ("roce-400g-mistuned", "roce-400g-mistuned", 400),
    ("roce-400g-sonic", "roce-400g-sonic", 400),
    ("- CNPs paced per queue pair", {"profile": "roce-400g-sonic", "cc.cnp_per": "qp"}, 400),
    ("roce-400g-th5", "roce-400g-th5", 400),
    ("- CNPs paced per queue pair", {"profile": "roce-400g-th5", "cc.cnp_per": "qp"}, 400),
    ("roce-400g-meta", "roce-400g-meta", 400),
    ("roce-400g-spray", "roce-400g-spray", 400),
    ("roce-100g", "roce-100g", 100),
    ("roce-40g-azure", "roce-40g-azure", 40),
    ("uec-400g", "uec-400g", 400),
    ("tcp-400g", "tcp-400g", 400),
    ("ib-ndr", "ib-ndr", 400),
]


def incast(rate):
    """Nodes 0 to 16 are hosts, 17 is the switch."""
    links = ["%d %d %dGbps 0.000025ms 0" % (h, SENDERS + 1, rate) for h in range(SENDERS + 1)]
    text = "%d 1 %d\n%d\n" % (SENDERS + 2, len(links), SENDERS + 1) + "\n".join(links) + "\n"
    return text, [{"kind": "incast", "target": 0, "fanin": SENDERS, "size": "1000MB", "op": "write", "class": 3}]


def victim(rate):
    """Host 0 in leaf C, 1 (to 0) in leaf A, 2 in leaf B, 3 to 10 (to 2) in leaf A."""
    hosts = 3 + VICTIMS_NEIGHBOURS
    a, b, c = hosts, hosts + 1, hosts + 2
    spines = list(range(c + 1, c + 1 + SPINES))
    leaf = {0: c, 1: a, 2: b}
    links = ["%d %d %dGbps 0.000025ms 0" % (h, leaf.get(h, a), rate) for h in range(hosts)]
    links += ["%d %d %dGbps 0.00015ms 0" % (s, t, rate) for s in (a, b, c) for t in spines]
    switches = [a, b, c] + spines
    text = "%d %d %d\n" % (hosts + len(switches), len(switches), len(links))
    text += " ".join(map(str, switches)) + "\n" + "\n".join(links) + "\n"
    flows = [
        {"kind": "incast", "target": 0, "fanin": 1, "size": "1000MB", "op": "write", "class": 3},
        {"kind": "incast", "target": 2, "fanin": VICTIMS_NEIGHBOURS, "size": "1000MB", "op": "write", "class": 3},
    ]
    return text, flows


class Run:
    """One simulation, and its samples."""

    def __init__(self, weft, make, fabric, rate, seed):
        # As many bytes of the line at every rate: 20 ms at 400 Gb/s.
        self.end = 20e-3 * 400 / rate
        self.line = rate * 1e9
        topology, traffic = make(rate)
        with tempfile.TemporaryDirectory() as folder:
            names = {n: os.path.join(folder, n) for n in ("t.topo", "s.json", "r.db")}
            with open(names["t.topo"], "w", encoding="utf-8") as f:
                f.write(topology)
            scenario = {
                "topology": {"kind": "hpcc", "file": "t.topo"},
                "fabric": [fabric],
                "traffic": traffic,
                "run": {"until": "%dus" % round(self.end * 1e6)},
            }
            with open(names["s.json"], "w", encoding="utf-8") as f:
                json.dump(scenario, f)
            args = [weft, "run", names["s.json"], "--quiet", "--json", "--seed", str(seed)]
            args += ["--record", names["r.db"], "--events", "none", "--sample", "%dus" % round(self.end * 1e6 / 400)]
            done = subprocess.run(args, stdout=subprocess.PIPE, check=False)
            if done.returncode not in (0, 1):
                sys.exit("profiles.py: weft: status %d" % done.returncode)
            self.result = json.loads(done.stdout)["runs"][0]
            self.samples = {}
            db = sqlite3.connect(names["r.db"])
            query = "SELECT node, measure, queue, port, t_ps, value FROM reading ORDER BY t_ps"
            for node, measure, queue, port, t, value in db.execute(query):
                if measure in ("hca_tx_bytes", "hca_rx_bytes") or measure == "queue_bytes" and queue != 6:
                    self.samples.setdefault((node, measure, port, queue), []).append((t * 1e-12, value))
            db.close()

    def at(self, key, time):
        """The last value sampled up to a time."""
        value = 0
        for t, v in self.samples.get(key, []):
            if t > time:
                break
            value = v
        return value

    def of_host(self, host, measure):
        """What a host's counter of payload counted, in bits/s."""
        for key in self.samples:
            if key[0] == host and key[1] == measure:
                return self.at(key, self.end) * 8 / self.end
        return 0

    def queue_median(self):
        """Of the queue that was longest, after the first quarter."""
        queues = [k for k in self.samples if k[1] == "queue_bytes"]
        if not queues:
            return 0
        key = max(queues, key=lambda k: max(v for t, v in self.samples[k]))
        times = [self.end / 4 + i * self.end / 400 for i in range(300)]
        return statistics.median(self.at(key, t) for t in times)


def jain(shares):
    return sum(shares) ** 2 / (len(shares) * sum(s * s for s in shares)) if any(shares) else 0


def measure(weft, fabric, rate, seeds):
    """Lists over the seeds."""
    out = {n: [] for n in ("goodput", "max", "median", "pauses", "drops", "jain", "victim")}
    for seed in range(1, seeds + 1):
        run = Run(weft, incast, fabric, rate, seed)
        out["goodput"].append(100 * run.of_host("h0", "hca_rx_bytes") / run.line)
        out["max"].append(run.result["total"]["max_queue_bytes"] / 1e6)
        out["median"].append(run.queue_median() / 1e6)
        out["pauses"].append(run.result["total"]["pauses_sent"])
        out["drops"].append(run.result["packets_dropped"])
        shares = [run.of_host("h%d" % h, "hca_tx_bytes") for h in range(1, SENDERS + 1)]
        out["jain"].append(jain(shares))
        headroom = run.result.get("headroom_bytes", 0), run.result.get("headroom_needed_bytes", 0)
        run = Run(weft, victim, fabric, rate, seed)
        out["victim"].append(100 * run.of_host("h0", "hca_rx_bytes") / run.line)
        out["drops"][-1] += run.result["packets_dropped"]
    return out, headroom


def spread(values, form):
    """The median, and the range where it shows."""
    low, mid, high = (form % v for v in (min(values), statistics.median(values), max(values)))
    return mid if low == high else "%s (%s to %s)" % (mid, low, high)


def cells(name, out, headroom):
    room = "-" if headroom[1] == 0 else "%.0f of %.0f KB" % (headroom[0] / 1e3, headroom[1] / 1e3)
    return [
        name,
        spread(out["goodput"], "%.0f") + " %",
        spread(out["max"], "%.1f") + " MB",
        spread(out["median"], "%.2f") + " MB",
        spread(out["pauses"], "%d"),
        spread(out["jain"], "%.2f"),
        spread(out["victim"], "%.0f") + " %",
        spread(out["drops"], "%d"),
        room,
    ]


HEAD = [
    "profile", "received", "queue, largest", "queue, median", "pauses", "Jain", "victim", "dropped, both", "headroom",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default=os.path.join(ROOT, "build", "release", "weft"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    only = [n for n in args.only.split(",") if n]
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for name, fabric, rate in ROWS:
        profile = fabric if isinstance(fabric, str) else fabric["profile"]
        if only and profile not in only:
            continue
        lines.append("| " + " | ".join(cells(name, *measure(args.weft, fabric, rate, args.seeds))) + " |")
        print(lines[-1], flush=True)
    if args.write:
        with open(PAGE, encoding="utf-8") as f:
            text = f.read()
        table = "<!-- profiles.py -->\n" + "\n".join(lines) + "\n<!-- end -->"
        text = re.sub(r"<!-- profiles\.py -->\n.*?<!-- end -->", lambda m: table, text, flags=re.S)
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main()

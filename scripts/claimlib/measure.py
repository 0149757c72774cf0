# SPDX-License-Identifier: Apache-2.0
"""How a claim is measured: weft runs on several seeds, figures with their spread, and the rule of the verdict."""

import concurrent.futures
import json
import math
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINE = 400e9  # bit/s
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SEEDS = 5


class Weft:
    """The program under test. Runs are made on seeds 1 to n, jobs of them at a time."""

    def __init__(self, program, seeds=SEEDS, jobs=1):
        self.program = program
        self.seeds = list(range(1, seeds + 1))
        self.jobs = jobs
        self.free = threading.Semaphore(jobs)

    def call(self, command, *args, unfinished=False):
        """What weft prints. Its status is 1 where flows are unfinished at run.until, which is an error unless wanted."""
        with self.free:
            done = subprocess.run([self.program, command, *args], stdout=subprocess.PIPE, check=False)
        if done.returncode != 0 and not (unfinished and done.returncode == 1):
            sys.exit("claims.py: weft %s %s: status %d" % (command, " ".join(args), done.returncode))
        return done.stdout

    def each(self, items, function):
        """What a function gives for each of the items, in their order."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(function, items))

    def perf(self, *args):
        """{fabric: its part of the JSON}"""
        out = json.loads(self.call("perf", "--json", *args))
        return {f["fabric"]: f for f in out["fabrics"]}

    @staticmethod
    def arguments(scenario, settings):
        args = [os.path.join(ROOT, "examples", scenario), "--quiet"]
        fabrics = settings.pop("fabric", None)
        if fabrics is not None:
            args += ["--fabric", ",".join(fabrics) if isinstance(fabrics, list) else fabrics]
        for name, value in settings.items():
            args += ["--set", "%s=%s" % (name.replace("__", "."), value)]
        return args

    def run(self, scenario, unfinished=False, **settings):
        """{fabric: its part of the JSON}; a__b stands for the parameter a.b"""
        out = json.loads(self.call("run", *self.arguments(scenario, settings), "--json", unfinished=unfinished))
        for r in out["runs"]:
            if not r["finished"] and not unfinished:
                sys.exit("claims.py: %s on %s did not finish" % (scenario, r["fabric"]))
        return {r["fabric"]: r for r in out["runs"]}

    def compare(self, scenario, **settings):
        """{fabric: its part of the JSON of a comparison}, on one seed"""
        out = json.loads(self.call("compare", *self.arguments(scenario, settings), "--seeds", "1", "--json"))
        return {f["fabric"]: f for f in out["fabrics"]}

    def over(self, scenario, **settings):
        """The same for each seed: a list."""
        return self.each(self.seeds, lambda seed: self.run(scenario, seed=seed, **settings))

    def recorded(self, read, scenario, sample="none", events="none", unfinished=False, **settings):
        """What a function reads from the results file, for each seed: a list."""
        def one(seed):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "r.db")
                args = self.arguments(scenario, {"seed": seed, **settings})
                self.call("run", *args, "--record", path, "--sample", sample, "--events", events, unfinished=unfinished)
                db = sqlite3.connect(path)
                got = read(db)
                db.close()
                return got

        return self.each(self.seeds, one)

    def queries(self, sql, scenario, **settings):
        """Rows of a query to the results file, for each seed: a list."""
        return self.recorded(lambda db: db.execute(sql).fetchall(), scenario, **settings)


def word(held):
    """Whether a statement holds: yes, if it does on every seed; no, if on none; else on how many. What does not
    depend on a seed is a single truth."""
    held = list(held) if isinstance(held, (list, tuple)) else [held]
    if all(held):
        return "yes"
    if not any(held):
        return "no"
    return "on %d of %d seeds" % (sum(map(bool, held)), len(held))


class Block:
    """What goes between two marks of a page: tables, statements, and what follows from them; and files that go with it."""

    head = ["it is said", "found", "holds"]

    def __init__(self):
        self.lines = []
        self.words = []
        self.files = {}

    def table(self, head, rows):
        self.lines += ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        self.lines += ["| " + " | ".join(row) + " |" for row in rows] + [""]

    def statements(self, rows):
        """rows: (what is said, what was found, whether it holds: a truth, or one for each seed)"""
        self.words = [word(held) for _, _, held in rows]
        self.table(self.head,
                   [(said, found, w) for (said, found, _), w in zip(rows, self.words)])
        self.lines += ["**%s.**" % self.verdict(), ""]

    def verdict(self):
        """Holds only if every statement does on every seed; does not hold only if none does on any."""
        if all(w == "yes" for w in self.words):
            return "Holds"
        return "Does not hold" if all(w == "no" for w in self.words) else "Holds in part"

    def text(self):
        return "\n".join(self.lines)


def figure(x, digits=3):
    """A number with so many significant digits."""
    if x == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(x))))
    return "%.*f" % (places, x)


def span(values, unit="", scale=1, digits=3):
    """Median, and from least to most where that shows, with a unit."""
    low, mid, high = (figure(scale * x, digits) for x in (min(values), statistics.median(values), max(values)))
    text = mid if low == high else "%s (%s to %s)" % (mid, low, high)
    return "%s %s" % (text, unit) if unit else text


def counts(values, unit):
    """The same of whole numbers."""
    low, mid, high = min(values), statistics.median_low(values), max(values)
    return "%d%s %s" % (mid, "" if low == high else " (%d to %d)" % (low, high), unit)


def percent(values):
    """Of a share, or of the shares on several seeds."""
    return span(values if isinstance(values, list) else [values], "%", 100)


def times(values):
    return span(values if isinstance(values, list) else [values], "times")


def size(n):
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if n >= unit:
            return "%d %s" % (n // unit, name)
    return "%d B" % n


def of(runs, fabric, value):
    """A value of a fabric's runs, one for each seed."""
    return [value(r[fabric]) for r in runs]


def ratio(a, b):
    """Seed by seed."""
    return [x / y for x, y in zip(a, b)]


def all_of(values, test):
    """Seed by seed, whether a test holds."""
    return [test(v) for v in values]


def job_us(run):
    return run["job"]["end_ps"] / 1e6


def busbw(run):
    """Of the first collective, in GB/s."""
    return run["job"]["groups"][0]["busbw"] / 1e9


def mfu_of(run):
    return run["job"]["train"]["mfu_ppm"] / 1e6
